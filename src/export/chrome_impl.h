/* SPDX-License-Identifier: MIT */
/* chrome_impl.h - what the files of Chrome's format share. */
#ifndef HODO_EXPORT_CHROME_IMPL_H
#define HODO_EXPORT_CHROME_IMPL_H

#include "export.h"
#include "scheduling.h"
#include <base/map.h>
#include <read/text.h>

/* ,"name":"kv:get","cat":"kv" */
struct chrome_name {
	uint64_t address; /* of the name, which stays where it is */
	char *text;       /* NULL: there was no memory */
	size_t len;
};

struct chrome_class {
	uint64_t address; /* of the struct hodo_read_class */
	struct chrome_name name;
	struct chrome_name *fields; /* "key": */
	uint32_t nfields;
	size_t room; /* of these, and of the labels of their values */
};

struct chrome_known {
	uint64_t address;
};

struct chrome {
	struct hodo_export *e;
	int64_t begin_ns;
	uint64_t rows, nids;
	struct hodo_map classes, names;
	struct chrome_class *last; /* of the last event */
	struct hodo_map known; /* processes that have their names, by address */
	struct hodo_arena memory; /* of these: */
	struct chrome_open *free;
	size_t mark_len; /* of the mark's in e->text */
	bool large, not_finite; /* said so */
};

/* chrome_args.c; NULL: no memory */
const struct chrome_class *chrome_class(struct chrome *c, const struct hodo_read_class *cls);
const struct chrome_name *chrome_name(struct chrome *c, const struct hodo_slice *slice);
/* Adds what the arguments need to room, and makes texts that are part of them. 0 or -ENOMEM. */
int chrome_args_room(struct chrome *c, const struct chrome_class *k, const struct hodo_read_event *event, size_t *room);
/* ,"args":{…}; directly after chrome_args_room(). */
char *chrome_args(struct chrome *c, char *o, const struct chrome_class *k, const struct hodo_read_event *event);
void chrome_free(void *state);

#endif
