/* SPDX-License-Identifier: MIT */
/* list_functions.h - hodo list: the functions of a file, or those that a recording has events of. */
#ifndef HODO_CLI_LIST_FUNCTIONS_H
#define HODO_CLI_LIST_FUNCTIONS_H

#include <hodo/read.h>
#include <stdio.h>
#include <sym/sym.h>

#include <export/symbols.h>

struct hodo_listed_function {
	const char *name;
	const char *object;
	uint64_t addr;            /* in the file */
	enum hodo_read_slot slot; /* 0: of a recording */
	uint32_t exits;
	uint64_t id;     /* of a recording: hodo_place.id */
	uint64_t events; /* of a recording */
};

struct hodo_function_list {
	struct hodo_listed_function *functions; /* by name */
	uint32_t n, room;
	uint64_t traceable; /* of a recording: in its objects */
	uint32_t objects;   /* … which are so many */
	bool recording;
	struct hodo_sym *sym;
	struct hodo_symbols *symbols;
	uint32_t *slots; /* while it is made: by id, index + 1 */
	uint32_t mask;
};

/* The traceable functions of a file. 0 or -ENOMEM. */
int hodo_function_list_file(struct hodo_function_list *l, struct hodo_read_elf *elf, const char *path);
/* Adds those of another file, which must stay; object: what is told as its path. 0 or -ENOMEM. */
int hodo_function_list_merge(struct hodo_function_list *to, const struct hodo_function_list *from,
			     const char *object);
/* How many functions are traceable in the recording's objects. */
void hodo_function_list_objects(struct hodo_function_list *l, const struct hodo_read *r);
/* The functions that its events are of. 0, -ENOMEM, -EIO. */
int hodo_function_list_recording(struct hodo_function_list *l, struct hodo_read *r, const char *path);
void hodo_function_list_free(struct hodo_function_list *l);

void hodo_function_list_text(FILE *f, const struct hodo_function_list *l);
/* "functions":[…] */
void hodo_function_list_json(FILE *f, const struct hodo_function_list *l);
/* The one line that stands for them where they are not asked for. */
void hodo_function_list_count(FILE *f, const struct hodo_function_list *l, const char *path);

#endif
