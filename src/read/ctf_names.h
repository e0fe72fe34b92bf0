/* SPDX-License-Identifier: MIT */
/*
 * ctf_names.h - names in TSDL, which record and export write: those of a structure's members, and any in quotes.
 *
 * Readers of CTF take one underscore off a name's front. So each is written with one more than it has: keywords, and
 * names that begin with one, read back as they are. babeltrace2 2.0.4 compares a name as it is written with those
 * before it as they read, and refuses all of the trace where they are equal: `x`, which is written `_x`, cannot stand
 * behind `_x`. Such a member gets a number behind its name; so does `Bool`, which the underscore makes a keyword, and
 * a name of ours that would be in the way.
 */
#ifndef HODO_READ_CTF_NAMES_H
#define HODO_READ_CTF_NAMES_H

#include <stdint.h>

#include <base/text.h>
#include <hodo/abi.h>

#define HODO_CTF_NAME_SIZE (HODO_NAME_MAX + 24) /* "__", "_length", a number, NUL */

/* As they are written. */
struct hodo_ctf_names {
	char own[HODO_CTF_NAME_SIZE]; /* of the member of ours that stands before the fields */
	struct {
		char length[HODO_CTF_NAME_SIZE], name[HODO_CTF_NAME_SIZE];
	} field[HODO_FIELDS_MAX]; /* the length of what varies stands right before it; "": it has none */
};

/* Of n fields, HODO_FIELDS_MAX at most. own: "" if there is none. */
void hodo_ctf_names(struct hodo_ctf_names *names, const char *own, const char *const *field, const uint8_t *type,
		    unsigned n);

/* For a double-quoted string: printable ASCII; quotes, backslashes and others become '_'. */
void hodo_name_quote(struct hodo_text *t, const char *s);

#endif
