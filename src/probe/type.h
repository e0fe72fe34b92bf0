/* SPDX-License-Identifier: MIT */
/*
 * type.h - types of debug information, as far as values of probes need them. It is hostile: whatever refers to other
 * parts of it is followed a bounded number of times.
 */
#ifndef HODO_PROBE_TYPE_H
#define HODO_PROBE_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct hodo_text;

/* A type, of which the outer dimensions of an array may have been gone into already. */
struct hodo_ctype {
	Dwarf_Die die; /* no typedef or qualifier */
	Dwarf_Die named; /* the same with these, for its name */
	uint8_t tag_known; /* 0: void, or none is known */
	uint8_t dimension;
};

/* What DW_AT_type of it says. False: it has none. */
bool hodo_ctype_of(Dwarf_Die *of, struct hodo_ctype *type);
int hodo_ctype_tag(const struct hodo_ctype *t); /* DW_TAG_*, 0: none */
bool hodo_ctype_is_pointer(const struct hodo_ctype *t);
bool hodo_ctype_is_reference(const struct hodo_ctype *t);
bool hodo_ctype_is_array(const struct hodo_ctype *t);
bool hodo_ctype_is_aggregate(const struct hodo_ctype *t); /* struct, class, union */
bool hodo_ctype_is_char(const struct hodo_ctype *t);      /* what strings are made of */
unsigned hodo_ctype_encoding(const struct hodo_ctype *t); /* DW_ATE_*, of an enum its type's; 0: it has none */
uint64_t hodo_ctype_size(const struct hodo_ctype *t);     /* bytes; 0: not known */
uint64_t hodo_ctype_align(const struct hodo_ctype *t);    /* bytes, 1 or more */
/* What a pointer or reference leads to. False: to nothing that is known. */
bool hodo_ctype_target(const struct hodo_ctype *t, struct hodo_ctype *to);
/* An element of an array, and how many there are; 0: that is not said. */
bool hodo_ctype_element(const struct hodo_ctype *t, struct hodo_ctype *to, uint64_t *count);

/* The whole struct for one that is only declared in this unit. */
void hodo_ctype_complete(struct hodo_ctype *t, Dwarf *dwarf);

struct hodo_ctype_member {
	const char *name; /* NULL: an anonymous struct or union */
	struct hodo_ctype type;
	uint64_t offset;
	uint8_t bit_at, bits; /* of a bit field, from `offset` on; bits 0: it is none */
	bool base, odd; /* a base class; its place is not known (virtual bases) */
};

/* Calls each for every member, base classes too, in order, until it returns other than 0, which is returned. */
typedef int (*hodo_ctype_member_fn)(void *arg, const struct hodo_ctype_member *m);
int hodo_ctype_members(const struct hodo_ctype *t, hodo_ctype_member_fn each, void *arg);
/* The member of that name, in anonymous members and base classes too; its offset is that in t. */
bool hodo_ctype_find(const struct hodo_ctype *t, const char *name, struct hodo_ctype_member *found);

/* As C has it: "const char *", "struct node *", "int [4]". */
void hodo_ctype_put(const struct hodo_ctype *t, struct hodo_text *to);

#endif
