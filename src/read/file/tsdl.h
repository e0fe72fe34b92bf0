/* SPDX-License-Identifier: MIT */
/*
 * tsdl.h - the TSDL that record and export write: types, the names of a structure's members, and those in quotes.
 *
 * Readers of CTF remove one leading underscore from a name. So each is written with one more than it has:
 * keywords, and names that begin with one, are read back unchanged. babeltrace2 2.0.4 compares a name as
 * written with earlier ones as read, and refuses the whole trace if they are equal: `x`, written `_x`, cannot
 * follow `_x`. Such a member gets a number after its name; so do `Bool`, which the underscore makes a
 * keyword, and a conflicting name of ours.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <base/text.h>
#include <hodo/abi.h>
#include <hodo/read.h>

/* Declares all that hodo_ctf_type() has. */
void hodo_ctf_declare_types(struct hodo_text *t);
/* The name of a type in enum hodo_type, or of an array's elements. */
const char *hodo_ctf_type(uint8_t type);
/* Whether a field of that type may have labels: an integer. */
bool hodo_ctf_has_labels(uint8_t type);
/* An integer type with n labels, whose values are converted to the type, as in C. */
void hodo_ctf_enum(struct hodo_text *t, uint8_t type, uint32_t n, const char *const *labels, const int64_t *values);
/* The clock, in units of 4 ticks, since records lack a time's two lowest bits. */
void hodo_ctf_clock(struct hodo_text *t, const struct hodo_read_clock *clock);
void hodo_ctf_uuid(struct hodo_text *t, const uint8_t uuid[16]);

#define HODO_CTF_NAME_SIZE (HODO_NAME_MAX + 24) /* "__", "_length", a number, NUL */

/* As they are written. */
struct hodo_ctf_names {
	char own[HODO_CTF_NAME_SIZE]; /* of our member before the fields */
	struct {
		char length[HODO_CTF_NAME_SIZE], name[HODO_CTF_NAME_SIZE];
	} field[HODO_FIELDS_MAX]; /* the length of a variable field comes right before it; "": none */
};

/* For n fields, at most HODO_FIELDS_MAX. own: "" if there is none. */
void hodo_ctf_names(struct hodo_ctf_names *names, const char *own, const char *const *field, const uint8_t *type,
		    unsigned n);

/* For a double-quoted string: printable ASCII; quotes, backslashes and others become '_'. */
void hodo_name_quote(struct hodo_text *t, const char *s);
