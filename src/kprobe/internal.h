/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of this folder have in common: the kernel's types. */
#ifndef HODO_KPROBE_INTERNAL_H
#define HODO_KPROBE_INTERNAL_H

#include "kprobe.h"

#include <bpf/btf.h>

#include <base/near.h>

/* Puts the line into why; returns err. */
int hodo_kprobe_fail(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* types.c. Ids are of the btf. */
/* Without const, volatile and names of types. NULL: there is no such type. */
const struct btf_type *hodo_kprobe_type(const struct btf *btf, uint32_t *id);
/* How far in, in bits, and its type. bits: of a bit field, else 0. False: there is no such member. */
struct hodo_kprobe_member {
	uint32_t type, offset_bits, bits;
};
bool hodo_kprobe_find_member(const struct btf *btf, const struct btf_type *t, const char *name,
			     struct hodo_kprobe_member *found);
void hodo_kprobe_near_members(const struct btf *btf, const struct btf_type *t, struct hodo_near *near);
/* "struct dentry", for messages. */
const char *hodo_kprobe_type_name(const struct btf *btf, uint32_t id, char *text, size_t size);
/* enum hodo_type of a number or a pointer; 0: it is neither. */
uint8_t hodo_kprobe_scalar(const struct btf *btf, uint32_t id);
/* Whether texts are made of it: char, and unsigned char by that name. */
bool hodo_kprobe_is_char(const struct btf *btf, uint32_t id);
bool hodo_kprobe_is_const(const struct btf *btf, uint32_t id);

/* The function's prototype; NULL: the types have none of that name. */
const struct btf_type *hodo_kprobe_prototype(const struct btf *btf, const char *function);
/* Where the parameter is as the function begins; false: nowhere that one word could be taken from. */
bool hodo_kprobe_place(const struct btf *btf, const struct btf_type *prototype, uint32_t parameter,
		       struct hodo_kprobe_value *v);

/* walk.c: the program of one value. Where it is: at what was reached, or in memory, `offset` behind it. */
struct hodo_kprobe_walk {
	const struct hodo_kprobe_text *probe;
	const struct btf *btf;
	const struct btf_type *prototype; /* NULL: not known */
	struct hodo_kprobe_value *v;
	uint32_t type; /* 0: not known */
	int64_t offset;
	bool in_memory;
	uint32_t bits, shift; /* of a bit field */
	const char *what; /* the part that is looked at, for messages */
	char *why;
	size_t size;
};
/* v, all zero, becomes it. 0; or a negative errno, having said why. */
int hodo_kprobe_walk(struct hodo_kprobe_walk *w, const struct hodo_kprobe_text_value *text);

#endif
