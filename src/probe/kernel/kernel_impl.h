/* SPDX-License-Identifier: MIT */
/* kernel_impl.h - shared by the files of this folder: the kernel's types. */
#pragma once

#include "kprobe.h"

#include <bpf/btf.h>

#include <base/near.h>
#include <base/why.h>

/* types.c. Ids are of the btf. */
/* Without const, volatile and typedefs. NULL: no such type. */
const struct btf_type *hodo_kprobe_type(const struct btf *btf, uint32_t *id);
/* Its offset, in bits, and its type. bits: of a bit field, else 0. False: no such member. */
struct hodo_kprobe_member {
	uint32_t type, offset_bits, bits;
};
bool hodo_kprobe_find_member(const struct btf *btf, const struct btf_type *t, const char *name,
			     struct hodo_kprobe_member *found);
void hodo_kprobe_near_members(const struct btf *btf, const struct btf_type *t, struct hodo_near *near);
/* "struct dentry", for messages. */
const char *hodo_kprobe_type_name(const struct btf *btf, uint32_t id, char *text, size_t size);
/* enum hodo_type of a number or a pointer; 0: neither. */
uint8_t hodo_kprobe_scalar(const struct btf *btf, uint32_t id);
/* Whether texts consist of it: char, and unsigned char by that name. */
bool hodo_kprobe_is_char(const struct btf *btf, uint32_t id);
bool hodo_kprobe_is_const(const struct btf *btf, uint32_t id);

/* The function's prototype; NULL: not among the types. */
const struct btf_type *hodo_kprobe_prototype(const struct btf *btf, const char *function);
/* Where the parameter is at the function's entry; false: not in a single word. */
bool hodo_kprobe_place(const struct btf *btf, const struct btf_type *prototype, uint32_t parameter,
		       struct hodo_kprobe_value *v);

/* walk.c: the program of one value. Its place: what was reached, or memory `offset` bytes from there. */
struct hodo_kprobe_walk {
	const struct hodo_spec *probe;
	const char *event;
	const struct btf *btf;
	const struct btf_type *prototype; /* NULL: not known */
	struct hodo_kprobe_value *v;
	uint32_t type; /* 0: not known */
	int64_t offset;
	bool in_memory;
	uint32_t bits, shift; /* of a bit field */
	const char *what; /* the current part, for messages */
	struct hodo_why *why;
};
/* Fills in v, initially all zero. 0; or a negative errno with a message. */
int hodo_kprobe_walk(struct hodo_kprobe_walk *w, const struct hodo_spec_value *text);
