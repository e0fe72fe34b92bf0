/* SPDX-License-Identifier: MIT */
/* mangled_impl.h - between mangled.c (names) and mangled_type.c (types, template arguments, expressions). */
#ifndef HODO_CORE_MANGLED_IMPL_H
#define HODO_CORE_MANGLED_IMPL_H

#include "mangled.h"
#include <stdbool.h>
#include <stdint.h>

#define HODO_MANGLED_DEPTH_MAX 100     /* of nesting */
#define HODO_MANGLED_STEPS_MAX 20000   /* rules tried, for one name */
#define HODO_MANGLED_PARTS_MAX 512     /* parts that can be referred to */
#define HODO_MANGLED_TEXT_MAX (1u << 20)

/* A part: a name, the first so many bytes of one, or something else (then not written). */
struct hodo_mangled_part {
	uint32_t start, end;
	bool nested; /* what stands behind N and its qualifiers */
	bool name;
};

struct hodo_mangled {
	const char *text, *p, *end;
	char *out;
	size_t size, n;
	unsigned quiet;  /* > 0: nothing is written */
	unsigned depth;
	unsigned steps;
	bool replay;     /* going through a part again: no new ones */
	uint32_t nparts; /* counted beyond HODO_MANGLED_PARTS_MAX, too */
	const char *last; /* the name written last, for constructors; not terminated */
	size_t last_len;
	struct hodo_mangled_part part[HODO_MANGLED_PARTS_MAX];
};

/* Rules: true if one was there, and is behind us. */
bool hodo_mangled_type(struct hodo_mangled *m);
bool hodo_mangled_types(struct hodo_mangled *m, char end); /* any number of them, and end */
bool hodo_mangled_template_args(struct hodo_mangled *m);
bool hodo_mangled_expression(struct hodo_mangled *m);
bool hodo_mangled_full_name(struct hodo_mangled *m);
bool hodo_mangled_encoding(struct hodo_mangled *m); /* up to the E behind it */
bool hodo_mangled_source_name(struct hodo_mangled *m);
bool hodo_mangled_unqualified(struct hodo_mangled *m);
bool hodo_mangled_substitution(struct hodo_mangled *m);
bool hodo_mangled_index(struct hodo_mangled *m); /* "[n]_" */
/* What stands between start and here can be referred to from now on. */
void hodo_mangled_add_part(struct hodo_mangled *m, const char *start, bool nested, bool is_name);
/* Of an operator in an expression: how many operands follow; -1: not a plain one. */
int hodo_mangled_operands(const struct hodo_mangled *m);

static inline char peek_at(const struct hodo_mangled *m, size_t i)
{
	return (size_t)(m->end - m->p) > i ? m->p[i] : 0;
}
static inline char peek(const struct hodo_mangled *m) { return peek_at(m, 0); }

static inline bool take(struct hodo_mangled *m, char c)
{
	if (peek(m) != c)
		return false;
	m->p++;
	return true;
}

static inline bool take2(struct hodo_mangled *m, char a, char b)
{
	if (peek(m) != a || peek_at(m, 1) != b)
		return false;
	m->p += 2;
	return true;
}

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/* false: too deep or too long; else leave() is due. */
static inline bool enter(struct hodo_mangled *m)
{
	if (m->depth >= HODO_MANGLED_DEPTH_MAX || m->steps >= HODO_MANGLED_STEPS_MAX)
		return false;
	m->depth++;
	m->steps++;
	return true;
}

static inline bool leave(struct hodo_mangled *m, bool good)
{
	m->depth--;
	return good;
}

static inline bool number(struct hodo_mangled *m, size_t *value)
{
	if (!is_digit(peek(m)))
		return false;
	for (*value = 0; is_digit(peek(m)); m->p++) {
		*value = *value * 10 + (size_t)(peek(m) - '0');
		if (*value > HODO_MANGLED_TEXT_MAX)
			return false;
	}
	return true;
}

#endif
