/* SPDX-License-Identifier: MIT */
/* spec.c - parses the place of a probe; see spec.h. */
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/glob.h>

#include "file_name.h"

struct piece {
	const char *text;
	size_t len;
};

static struct piece trimmed(const char *text, size_t len)
{
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return (struct piece){ text, len };
}

static bool ends_with(struct piece p, const char *end)
{
	size_t n = strlen(end);

	return p.len >= n && memcmp(p.text + p.len - n, end, n) == 0;
}

bool hodo_spec_is_glob(const char *name)
{
	/* In C++, operator* and operator[] are names, and [abi:cxx11] is a part of some. */
	const char *op = strstr(name, "operator"), *sign = name + strcspn(name, "*?[");

	while (*sign == '[' && hodo_glob_tag(sign, strlen(sign)))
		sign += 1 + strcspn(sign + 1, "*?[");
	return *sign && (!op || sign < op);
}

bool hodo_spec_is_of(const struct hodo_spec *s, const char *path, const char *soname)
{
	return !s->object || hodo_probe_file_is(s->object, strlen(s->object), path, soname);
}

/* ------------------------------------------------------------------------- places */

/* Decimal, or hexadecimal with 0x; must be the whole text. */
static bool number(struct piece p, uint64_t *to)
{
	bool hex = p.len > 2 && p.text[0] == '0' && (p.text[1] == 'x' || p.text[1] == 'X');
	uint64_t base = hex ? 16 : 10, v = 0;

	if (!p.len)
		return false;
	for (size_t i = hex ? 2 : 0; i < p.len; i++) {
		unsigned char c = (unsigned char)p.text[i];
		unsigned digit = isdigit(c) ? (unsigned)(c - '0') : hex && isxdigit(c) ? (unsigned)(tolower(c) - 'a' + 10) : 16;

		if (digit >= base || v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	*to = v;
	return true;
}

/* Splits off the object before "!". The ! of operator! does not count. */
static void take_object(struct hodo_spec *s, struct piece *p)
{
	const char *mark = memchr(p->text, '!', p->len);
	struct piece object;

	if (!mark || ends_with((struct piece){ p->text, (size_t)(mark - p->text) }, "operator"))
		return;
	object = trimmed(p->text, (size_t)(mark - p->text));
	s->object = hodo_spec_keep(s, object.text, object.len);
	*p = trimmed(mark + 1, (size_t)(p->text + p->len - mark - 1));
}

/* Whether it consists of something, the last `mark`, and a number. */
static bool take_number(struct hodo_spec *s, struct piece *p, char mark)
{
	const char *at = memrchr(p->text, mark, p->len);
	struct piece before, behind;

	if (!at)
		return false;
	before = trimmed(p->text, (size_t)(at - p->text));
	behind = trimmed(at + 1, (size_t)(p->text + p->len - at - 1));
	if (!before.len || before.text[before.len - 1] == ':' || !number(behind, &s->number))
		return false;
	*p = before;
	return true;
}

static bool is_balanced(struct piece p)
{
	int depth = 0;

	for (size_t i = 0; i < p.len && depth >= 0; i++)
		depth += (p.text[i] == '(') - (p.text[i] == ')');
	return depth == 0;
}

static int take_place(struct hodo_spec *s, struct piece p, char error[HODO_SPEC_ERROR])
{
	take_object(s, &p);
	if (!p.len || (s->object && !*s->object)) {
		snprintf(error, HODO_SPEC_ERROR, "no place: give FUNCTION, FUNCTION%%return, "
			 "FUNCTION+OFFSET, "
			 "FILE:LINE or 0xADDRESS");
		return -EINVAL;
	}
	if (p.len > 1 && p.text[0] == '0' && (p.text[1] == 'x' || p.text[1] == 'X')) {
		s->place = HODO_SPEC_ADDRESS;
		if (number(p, &s->number))
			return 0;
		snprintf(error, HODO_SPEC_ERROR, "'%.*s' is not an address such as 0x1139",
			 (int)p.len, p.text);
		return -EINVAL;
	}
	if (ends_with(p, "%return")) {
		s->place = HODO_SPEC_RETURN;
		p = trimmed(p.text, p.len - strlen("%return"));
	} else if (take_number(s, &p, '+')) {
		s->place = HODO_SPEC_OFFSET;
	} else if (take_number(s, &p, ':')) {
		s->place = HODO_SPEC_LINE;
	}
	if (!p.len || memchr(p.text, '%', p.len)) {
		snprintf(error, HODO_SPEC_ERROR, "'%.*s' is not a function: only %%return can follow one",
			 (int)p.len, p.text);
		return -EINVAL;
	}
	if (!is_balanced(p)) {
		snprintf(error, HODO_SPEC_ERROR, "'%.*s': a ( and its ) must both be given",
			 (int)p.len, p.text);
		return -EINVAL;
	}
	s->name = hodo_spec_keep(s, p.text, p.len);
	return 0;
}

/* -------------------------------------------------------------------------- all */

/* The ( that matches the final ); NULL: none. */
static const char *opening(struct piece p)
{
	size_t depth = 0;

	for (size_t i = p.len; i-- > 0;) {
		depth += p.text[i] == ')';
		if (p.text[i] == '(' && --depth == 0)
			return p.text + i;
	}
	return NULL;
}

static int take_values(struct hodo_spec *s, struct piece *all, char error[HODO_SPEC_ERROR])
{
	const char *open = all->len && all->text[all->len - 1] == ')' ? opening(*all) : NULL;
	struct piece before, inner;

	if (!open) {
		if (all->len == 0 || all->text[all->len - 1] != ')')
			return 0;
		snprintf(error, HODO_SPEC_ERROR, "a ) without its (: put values between parentheses");
		return -EINVAL;
	}
	before = trimmed(all->text, (size_t)(open - all->text));
	if (ends_with(before, "operator"))
		return 0;
	inner = (struct piece){ open + 1, (size_t)(all->text + all->len - open) - 2 };
	s->whole = hodo_spec_keep(s, all->text, all->len);
	s->listed = true;
	*all = before;
	return hodo_spec_values(s, inner.text, inner.len, s->flaw);
}

/* As gdb has it: "f(a) if a > 1". No name has such a word. */
static int refuse_condition(struct piece all, char error[HODO_SPEC_ERROR])
{
	const char *at = memmem(all.text, all.len, " if ", 4);
	struct piece condition = { at ? at + 4 : NULL, at ? (size_t)(all.text + all.len - at) - 4 : 0 };

	if (!at)
		return 0;
	condition = trimmed(condition.text, condition.len);
	snprintf(error, HODO_SPEC_ERROR, "'if %.*s': a probe has no condition: record its events with --filter '%.*s'",
		 (int)(condition.len < 100 ? condition.len : 100), condition.text,
		 (int)(condition.len < 100 ? condition.len : 100), condition.text);
	return -EINVAL;
}

int hodo_spec_parse(struct hodo_spec *s, const char *text, char error[HODO_SPEC_ERROR])
{
	struct piece all = trimmed(text, strnlen(text, HODO_SPEC_TEXT_MAX + 1));
	const char *object;
	int err;

	*s = (struct hodo_spec){ 0 };
	if (all.len > HODO_SPEC_TEXT_MAX) {
		snprintf(error, HODO_SPEC_ERROR, "longer than %u bytes", HODO_SPEC_TEXT_MAX);
		return -EINVAL;
	}
	/* Each byte is copied at most four times, each with a NUL: whole, as place, as the values' texts, and
	 * as their parts. */
	s->pool_bytes = 8 * (all.len + 8);
	s->pool = malloc(s->pool_bytes);
	if (!s->pool)
		return -ENOMEM;
	err = refuse_condition(all, error);
	if (err)
		return err;
	err = take_values(s, &all, error);
	if (err == -ENOMEM || (err && !s->whole))
		return err;
	s->nvalues = err ? 0 : s->nvalues;
	err = take_place(s, all, error);
	/* An invalid list is an error, unless the whole text is a function's name. */
	if (!err && *s->flaw && s->place != HODO_SPEC_FUNCTION) {
		memcpy(error, s->flaw, HODO_SPEC_ERROR);
		err = -EINVAL;
	}
	if (s->place != HODO_SPEC_FUNCTION || !s->whole || !s->name || !*s->name) {
		s->whole = NULL;
	} else if (s->object) {
		object = strchr(s->whole, '!') + 1;
		s->whole = object + strspn(object, " \t");
	}
	return err;
}

void hodo_spec_free(struct hodo_spec *s)
{
	free(s->values);
	free(s->pool);
	*s = (struct hodo_spec){ 0 };
}
