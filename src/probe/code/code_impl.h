/* SPDX-License-Identifier: MIT */
/* code_impl.h - shared by the files of object.h. */
#pragma once

#include "object.h"

/* A function by its frame description. */
struct hodo_probe_frame {
	uint64_t start, end;
	bool signal; /* augmentation "S" */
	bool part;   /* its stack frame is not that of an entry */
};

/* Takes each; a result other than 0 ends the walk, and is returned. */
typedef int (*hodo_probe_frame_fn)(void *arg, const struct hodo_probe_frame *f);
/* The descriptions of an .eh_frame loaded at the address, up to any damage. */
int hodo_probe_frames(const uint8_t *bytes, size_t len, uint64_t address, hodo_probe_frame_fn each, void *arg);

/* Reads the file's code. 0, -EBADMSG, -EFBIG, -EIO, -ENOMEM. */
int hodo_probe_code_read(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Adds the functions of the file. 0, -ENOMEM. */
int hodo_probe_functions_find(struct hodo_probe_object *o, const struct hodo_elf *e);
/* Sorts them, without duplicates or overlaps. */
void hodo_probe_functions_sort(struct hodo_probe_object *o);

/* A function being decoded: possible jump tables, from addresses in its instructions. */
struct hodo_probe_tables {
	const struct hodo_probe_object *o;
	const struct hodo_elf *e;
	const struct hodo_probe_segment *segment;
	uint64_t start, end; /* of the function */
	uint64_t since;      /* where the code that leads to here begins */
	uint64_t list[64];
	uint32_t n;
	bool jumps; /* it has indirect jumps */
};

/* exits.c: notes whether an instruction of a function ends calls. 0 or -ENOMEM. */
int hodo_probe_exits_take(struct hodo_probe_object *o, uint32_t function, const struct hodo_instruction *i,
			  uint64_t addr, const struct hodo_probe_tables *tables);
/* Drops the function's indirect jumps: they use tables, and stay inside it. */
void hodo_probe_exits_drop_tables(struct hodo_probe_object *o, struct hodo_probe_function *f);
/* After decoding: finds parts, and which exits are certain. */
void hodo_probe_exits_settle(struct hodo_probe_object *o);

/* Marks what must not be replaced, marks.c. 0 or -ENOMEM. */
int hodo_probe_mark_own(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Marks addresses within functions that are relocated in data, tables.c. 0 or -EBADMSG: some may be missing. */
int hodo_probe_mark_labels(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Marks the targets in the tables that a function reads. */
void hodo_probe_tables_add(struct hodo_probe_tables *t, uint64_t address);
/* Returns how many targets there were. */
uint32_t hodo_probe_tables_mark(const struct hodo_probe_tables *t);
