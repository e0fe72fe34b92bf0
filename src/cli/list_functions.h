/* SPDX-License-Identifier: MIT */
/* list_functions.h - hodo list: the functions of a file, or those that a recording has events of. */
#ifndef HODO_CLI_LIST_FUNCTIONS_H
#define HODO_CLI_LIST_FUNCTIONS_H

#include <base/map.h>
#include <hodo/read.h>
#include <stdio.h>
#include <sym/sym.h>

#include <export/symbols.h>

#include "table.h"

struct hodo_listed_function {
	uint64_t id; /* of a recording: hodo_place.id */
	const char *name;
	const char *object;
	uint64_t addr;            /* in the file */
	enum hodo_read_slot slot; /* 0: of a recording */
	uint32_t exits;
	uint64_t events; /* of a recording */
};

struct hodo_function_list {
	struct hodo_listed_function *functions; /* by name */
	uint32_t n;
	uint64_t traceable; /* of a recording: in its objects */
	uint32_t objects;   /* … which are so many */
	bool recording;
	struct hodo_sym *sym;
	struct hodo_symbols *symbols;
	struct hodo_map seen; /* of a recording: its functions are these */
};

/* The traceable functions of a file. 0 or -ENOMEM. */
int hodo_function_list_file(struct hodo_function_list *l, struct hodo_read_elf *elf, const char *path);
/* Adds those of another file, which must stay; object: what is shown as its path. 0 or -ENOMEM. */
int hodo_function_list_merge(struct hodo_function_list *to, const struct hodo_function_list *from,
			     const char *object);
/* How many functions are traceable in the recording's objects. */
void hodo_function_list_objects(struct hodo_function_list *l, const struct hodo_read *r);
/* The functions that its events are of. 0, -ENOMEM, -EIO. */
int hodo_function_list_recording(struct hodo_function_list *l, struct hodo_read *r, const char *path);
void hodo_function_list_free(struct hodo_function_list *l);

extern const struct hodo_columns hodo_function_columns, hodo_seen_function_columns;
struct hodo_table hodo_function_table(const struct hodo_function_list *l);
/* The one line that stands for them where they are not asked for. */
void hodo_function_list_count(struct hodo_text *to, const struct hodo_function_list *l, const char *path);

#endif
