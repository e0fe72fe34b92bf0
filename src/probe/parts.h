/* SPDX-License-Identifier: MIT */
/* parts.h - what the files of object.h do for each other. */
#ifndef HODO_PROBE_PARTS_H
#define HODO_PROBE_PARTS_H

#include "object.h"

/* A function by its frame description. */
struct hodo_probe_frame {
	uint64_t start, end;
	bool signal; /* augmentation "S" */
	bool part;   /* its stack frame is not that of an entry */
};

/* Takes each; other than 0 ends it, and is returned. */
typedef int (*hodo_probe_frame_fn)(void *arg, const struct hodo_probe_frame *f);
/* The descriptions of an .eh_frame that is loaded at the address; what is damaged ends them. */
int hodo_probe_frames(const uint8_t *bytes, size_t len, uint64_t address, hodo_probe_frame_fn each, void *arg);

/* Reads what the file has as code. 0, -EBADMSG, -EFBIG, -EIO, -ENOMEM. */
int hodo_probe_code_read(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Adds the functions of the file. 0, -ENOMEM. */
int hodo_probe_functions_find(struct hodo_probe_object *o, const struct hodo_elf *e);
/* Puts them in order, each once, none over another. */
void hodo_probe_functions_sort(struct hodo_probe_object *o);

/* A function while it is decoded: what it may jump through, by the addresses that its instructions name. */
struct hodo_probe_tables {
	const struct hodo_probe_object *o;
	const struct hodo_elf *e;
	const struct hodo_probe_segment *segment;
	uint64_t start, end; /* of the function */
	uint64_t since;      /* where the code begins that goes on to here */
	uint64_t list[64];
	uint32_t n;
	bool jumps; /* it has indirect jumps */
};

/* exits.c: notes what an instruction of a function says of where calls end. 0 or -ENOMEM. */
int hodo_probe_exits_take(struct hodo_probe_object *o, uint32_t function, const struct hodo_instruction *i,
			  uint64_t addr, const struct hodo_probe_tables *tables);
/* Drops those of the function that are indirect jumps: they are through tables, and lead on in it. */
void hodo_probe_exits_drop_tables(struct hodo_probe_object *o, struct hodo_probe_function *f);
/* When all is decoded: finds parts, and which exits are certain. */
void hodo_probe_exits_settle(struct hodo_probe_object *o);

/* Marks what is not to be replaced, marks.c. 0 or -ENOMEM. */
int hodo_probe_mark_own(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Marks addresses within functions that relocations put into data, tables.c. 0 or -EBADMSG: some may be missing. */
int hodo_probe_mark_labels(struct hodo_probe_object *o, const struct hodo_elf *e);

/* Marks what the tables lead to that a function reads. */
void hodo_probe_tables_add(struct hodo_probe_tables *t, uint64_t address);
/* Returns how many targets there were. */
uint32_t hodo_probe_tables_mark(const struct hodo_probe_tables *t);

#endif
