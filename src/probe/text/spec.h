/* SPDX-License-Identifier: MIT */
/*
 * spec.h - the text of a probe: its place, and its values. resolve.h finds their meaning in a file.
 *
 *	[OBJECT!]FUNCTION           the entry; with * ? [...] of all that match
 *	[OBJECT!]FUNCTION%return    the exits
 *	[OBJECT!]FUNCTION+OFFSET    so many bytes behind the entry, as 16 or 0x10
 *	[OBJECT!]FILE:LINE          the code of a line
 *	[OBJECT!]0xADDRESS          as the file's symbols have it
 *
 * followed by (VALUE, ...), where a VALUE is [NAME=]EXPR[:FORM] or [NAME=](EXPR, LENGTH), bytes in memory. An
 * EXPR is a name, $argN, $retval, $args, $locals or %REGISTER, perhaps preceded by * and &, and followed by
 * ->member, .member and [N].
 *
 * In the kernel, the places are FUNCTION, FUNCTION%return and FUNCTION+OFFSET, without patterns. There are $stackN
 * and $duration, but not $args, $locals, & and (EXPR, LENGTH).
 *
 * Texts are hostile. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <base/why.h>

#define HODO_SPEC_TEXT_MAX   16384u
#define HODO_SPEC_VALUES_MAX 32u /* of one probe: the fields that an event can have */
#define HODO_SPEC_STEPS_MAX  20u /* of one expression */

enum hodo_spec_place {
	HODO_SPEC_FUNCTION, HODO_SPEC_RETURN, HODO_SPEC_OFFSET, HODO_SPEC_LINE, HODO_SPEC_ADDRESS
};

enum hodo_spec_base {
	HODO_SPEC_NAME,     /* of a variable or parameter */
	HODO_SPEC_ARG,      /* $argN: number, from 1 */
	HODO_SPEC_STACK,    /* $stackN: a word, number, from 0 */
	HODO_SPEC_RETVAL,
	HODO_SPEC_DURATION,
	HODO_SPEC_ARGS,     /* all parameters */
	HODO_SPEC_LOCALS,   /* all variables except parameters */
	HODO_SPEC_REGISTER,
	HODO_SPEC_NUMBER    /* of a LENGTH */
};

enum hodo_spec_step_kind { HODO_SPEC_MEMBER, HODO_SPEC_ELEMENT, HODO_SPEC_DEREF, HODO_SPEC_ADDRESS_OF };

struct hodo_spec_step {
	uint8_t kind;       /* enum hodo_spec_step_kind */
	const char *member;
	uint32_t element;
};

/* Steps in order of evaluation: *a->b is member b, then what it points to. */
struct hodo_spec_expr {
	uint8_t base; /* enum hodo_spec_base */
	uint8_t n;
	uint64_t number;
	const char *name; /* as it was written, with its $ or % */
	struct hodo_spec_step step[HODO_SPEC_STEPS_MAX];
};

struct hodo_spec_value {
	const char *text; /* as it was written */
	const char *name; /* NAME=, or the default name */
	uint8_t type;     /* enum hodo_type of FORM; HODO_TYPE_NONE: as declared */
	bool named;       /* there was a NAME= */
	bool bytes;       /* expr and length give the address and number of bytes */
	struct hodo_spec_expr expr, length;
};

/* All texts are the spec's. */
struct hodo_spec {
	const struct hodo_spec_rules *rules;
	uint8_t place;      /* enum hodo_spec_place */
	const char *object; /* NULL: none is named */
	const char *name;   /* of the function, or of the file */
	uint64_t number;    /* offset, line, address */
	struct hodo_spec_value *values;
	uint32_t nvalues;
	bool listed;        /* there are values, perhaps just () */
	/*
	 * f(int) may be the name of a C++ function instead of a value of f: then this is that name, else
	 * NULL. `flaw`: what is wrong with the values if it is not such a name; "": nothing.
	 */
	const char *whole;
	struct hodo_why flaw;
	char *pool;         /* the texts */
	size_t pool_at, pool_bytes;
};

/* 0; -EINVAL, with the reason in why; -ENOMEM. Free it in any case. */
int hodo_spec_parse(struct hodo_spec *s, const char *text, struct hodo_why *why);
int hodo_spec_parse_kernel(struct hodo_spec *s, const char *text, struct hodo_why *why);
void hodo_spec_free(struct hodo_spec *s);

bool hodo_spec_is_glob(const char *name);
/* Whether it names no object, or the file as its object (core/function_pattern.h). */
bool hodo_spec_is_of(const struct hodo_spec *s, const char *path, const char *soname);
