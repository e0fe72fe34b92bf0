/* SPDX-License-Identifier: MIT */
/*
 * type.h - types in debug information, as far as probes' values need them. The information is hostile:
 * references are followed a bounded number of times.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct hodo_text;

/* A type; outer dimensions of an array may already have been indexed. */
struct hodo_ctype {
	Dwarf_Die die; /* without typedefs and qualifiers */
	Dwarf_Die named; /* the same with these, for its name */
	uint8_t tag_known; /* 0: void, or not known */
	uint8_t dimension;
};

/* Its DW_AT_type. False: none. */
bool hodo_ctype_of(Dwarf_Die *of, struct hodo_ctype *type);
int hodo_ctype_tag(const struct hodo_ctype *t); /* DW_TAG_*, 0: none */
bool hodo_ctype_is_pointer(const struct hodo_ctype *t);
bool hodo_ctype_is_reference(const struct hodo_ctype *t);
bool hodo_ctype_is_array(const struct hodo_ctype *t);
bool hodo_ctype_is_aggregate(const struct hodo_ctype *t); /* struct, class, union */
bool hodo_ctype_is_char(const struct hodo_ctype *t);      /* what strings are made of */
unsigned hodo_ctype_encoding(const struct hodo_ctype *t); /* DW_ATE_*, for an enum its type's; 0: none */
uint64_t hodo_ctype_size(const struct hodo_ctype *t);     /* bytes; 0: not known */
uint64_t hodo_ctype_align(const struct hodo_ctype *t);    /* bytes, 1 or more */
/* The target of a pointer or reference. False: not known. */
bool hodo_ctype_target(const struct hodo_ctype *t, struct hodo_ctype *to);
/* An array's element type, and how many there are; 0: not given. */
bool hodo_ctype_element(const struct hodo_ctype *t, struct hodo_ctype *to, uint64_t *count);

/* Replaces a struct only declared in this unit by its definition. */
void hodo_ctype_complete(struct hodo_ctype *t, Dwarf *dwarf);

struct hodo_ctype_member {
	const char *name; /* NULL: an anonymous struct or union */
	struct hodo_ctype type;
	uint64_t offset;
	uint8_t bit_at, bits; /* of a bit field, from `offset` on; bits 0: not a bit field */
	bool base, odd; /* a base class; its place is not known (virtual bases) */
};

/*
 * Calls each for every member, including base classes, in order, until it returns other than 0; returns that.
 */
typedef int (*hodo_ctype_member_fn)(void *arg, const struct hodo_ctype_member *m);
int hodo_ctype_members(const struct hodo_ctype *t, hodo_ctype_member_fn each, void *arg);
/* The member with that name, also in anonymous members and base classes; its offset is relative to t. */
bool hodo_ctype_find(const struct hodo_ctype *t, const char *name, struct hodo_ctype_member *found);

/* As in C: "const char *", "struct node *", "int [4]". */
void hodo_ctype_put(const struct hodo_ctype *t, struct hodo_text *to);
