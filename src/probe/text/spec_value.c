/* SPDX-License-Identifier: MIT */
/* spec_value.c - parses the values of a probe; see spec.h. */
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <hodo/abi.h>

#define DEPTH_MAX 16u /* nested parentheses */

static const struct {
	const char *name;
	uint8_t type;
} forms[] = {
	{ "str", HODO_TYPE_STR },  { "string", HODO_TYPE_STR }, { "bool", HODO_TYPE_BOOL }, { "char", HODO_TYPE_CHAR },
	{ "i8", HODO_TYPE_I8 },    { "i16", HODO_TYPE_I16 },    { "i32", HODO_TYPE_I32 },   { "i64", HODO_TYPE_I64 },
	{ "s8", HODO_TYPE_I8 },    { "s16", HODO_TYPE_I16 },    { "s32", HODO_TYPE_I32 },   { "s64", HODO_TYPE_I64 },
	{ "u8", HODO_TYPE_U8 },    { "u16", HODO_TYPE_U16 },    { "u32", HODO_TYPE_U32 },   { "u64", HODO_TYPE_U64 },
	{ "f32", HODO_TYPE_F32 },  { "f64", HODO_TYPE_F64 },    { "ptr", HODO_TYPE_PTR },
};

struct parser {
	struct hodo_spec *spec;
	const char *at, *end;
	unsigned depth;
	char *error;
};

static bool fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->error, HODO_SPEC_ERROR, format, args);
	va_end(args);
	return false;
}

static char next(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
	return p->at < p->end ? *p->at : 0;
}

static bool take(struct parser *p, const char *token)
{
	size_t len = strlen(token);

	next(p);
	if ((size_t)(p->end - p->at) < len || memcmp(p->at, token, len) != 0)
		return false;
	p->at += len;
	return true;
}

/* The faulty text, for messages. */
#define HERE(p) (int)((p)->end - (p)->at > 40 ? 40 : (p)->end - (p)->at), (p)->at

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* A name, perhaps with :: for C++; NULL: none. */
static const char *take_name(struct parser *p, bool qualified)
{
	const char *from;

	next(p);
	from = p->at;
	if (p->at < p->end && isdigit((unsigned char)*p->at))
		return NULL;
	while (p->at < p->end && (is_name(*p->at) || (qualified && p->end - p->at > 2 && memcmp(p->at, "::", 2) == 0)))
		p->at += *p->at == ':' ? 2 : 1;
	return p->at == from ? NULL : hodo_spec_keep(p->spec, from, (size_t)(p->at - from));
}

static bool take_number(struct parser *p, uint64_t most, uint64_t *to)
{
	bool hex = take(p, "0x") || take(p, "0X");
	const char *from;
	uint64_t v = 0;

	next(p);
	for (from = p->at; p->at < p->end; p->at++) {
		unsigned char c = (unsigned char)*p->at;
		unsigned digit = isdigit(c) ? (unsigned)(c - '0') : (unsigned)(tolower(c) - 'a' + 10);

		if (!(hex ? isxdigit(c) : isdigit(c)))
			break;
		v = v * (hex ? 16 : 10) + digit;
		if (v > most)
			return false;
	}
	*to = v;
	return p->at > from;
}

/* -------------------------------------------------------------------- expressions */

static struct hodo_spec_step *add(struct parser *p, struct hodo_spec_expr *e, uint8_t kind)
{
	if (e->n == HODO_SPEC_STEPS_MAX) {
		fail(p, "more than %u steps in one value", HODO_SPEC_STEPS_MAX);
		return NULL;
	}
	e->step[e->n] = (struct hodo_spec_step){ .kind = kind };
	return &e->step[e->n++];
}

static bool take_special(struct parser *p, struct hodo_spec_expr *e)
{
	const char *from = p->at, *name = take_name(p, false);

	if (name && strncmp(name, "arg", 3) == 0 && isdigit((unsigned char)name[3])) {
		e->base = HODO_SPEC_ARG;
		e->name = name;
		e->number = strtoul(name + 3, NULL, 10);
		if (e->number >= 1 && e->number <= 99 && strlen(name) <= 5)
			return true;
	} else if (name) {
		e->name = name;
		e->base = strcmp(name, "retval") == 0 ? HODO_SPEC_RETVAL : strcmp(name, "args") == 0 ? HODO_SPEC_ARGS :
			  strcmp(name, "locals") == 0 ? HODO_SPEC_LOCALS : HODO_SPEC_NAME;
		if (e->base != HODO_SPEC_NAME)
			return true;
	}
	p->at = from;
	return fail(p, "'$%.*s': there are $arg1 to $arg99, $retval, $args and $locals", HERE(p));
}

static bool take_expr(struct parser *p, struct hodo_spec_expr *e);

static bool take_base(struct parser *p, struct hodo_spec_expr *e)
{
	const char *from;

	if (take(p, "(")) {
		if (!take_expr(p, e))
			return false;
		return take(p, ")") || fail(p, "a ( is not closed before '%.*s'", HERE(p));
	}
	if (take(p, "$"))
		return take_special(p, e);
	next(p);
	from = p->at;
	if (take(p, "%")) {
		if (!take_name(p, false))
			return fail(p, "'%.*s' is not a register such as %%rdi", HERE(p));
		e->base = HODO_SPEC_REGISTER;
		e->name = hodo_spec_keep(p->spec, from, (size_t)(p->at - from));
		return true;
	}
	if (isdigit((unsigned char)next(p))) {
		e->base = HODO_SPEC_NUMBER;
		return take_number(p, INT32_MAX, &e->number) || fail(p, "a number is at most %d", INT32_MAX);
	}
	e->base = HODO_SPEC_NAME;
	e->name = take_name(p, true);
	return e->name || fail(p, *from && from < p->end ? "'%.*s': a value is a name, $arg1, $retval or %%REGISTER, with "
			       "->member, .member or [N]" : "a value is missing%.*s", HERE(p));
}

static bool take_steps(struct parser *p, struct hodo_spec_expr *e)
{
	struct hodo_spec_step *s;
	uint64_t n;

	for (;;) {
		if (take(p, "[")) {
			s = add(p, e, HODO_SPEC_ELEMENT);
			if (!s)
				return false;
			if (!take_number(p, INT32_MAX, &n) || !take(p, "]"))
				return fail(p, "'%.*s': an element is a number, as in [3]", HERE(p));
			s->element = (uint32_t)n;
		} else if (take(p, "->") || take(p, ".")) {
			s = add(p, e, HODO_SPEC_MEMBER);
			if (!s)
				return false;
			s->member = take_name(p, false);
			if (!s->member)
				return fail(p, "'%.*s' is not the name of a member", HERE(p));
		} else {
			return true;
		}
	}
}

static bool take_expr(struct parser *p, struct hodo_spec_expr *e)
{
	bool done;

	if (p->depth == DEPTH_MAX)
		return fail(p, "more than %u nested operators and parentheses", DEPTH_MAX);
	p->depth++;
	if (take(p, "*"))
		done = take_expr(p, e) && add(p, e, HODO_SPEC_DEREF);
	else if (take(p, "&"))
		done = take_expr(p, e) && add(p, e, HODO_SPEC_ADDRESS_OF);
	else
		done = take_base(p, e) && take_steps(p, e);
	p->depth--;
	return done;
}

/* ------------------------------------------------------------------------- values */

/* A value's name: its last member, else its variable, without namespaces. */
static const char *name_of(const struct hodo_spec_expr *e)
{
	const char *name = e->name;

	for (unsigned i = 0; i < e->n; i++)
		name = e->step[i].kind == HODO_SPEC_MEMBER ? e->step[i].member : name;
	name = name ? name : "value";
	for (const char *more = name; (more = strstr(more, "::"));)
		name = more += 2;
	return *name == '%' ? name + 1 : name;
}

static bool take_form(struct parser *p, struct hodo_spec_value *v)
{
	const char *name = take_name(p, false);

	for (unsigned i = 0; name && i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(name, forms[i].name) == 0)
			v->type = forms[i].type;
	return v->type != HODO_TYPE_NONE ||
	       fail(p, "':%s' is not a format: the formats are str, char, bool, i8 to i64, u8 to u64, f32, "
		    "f64 and ptr",
		    name ? name : "");
}

static bool take_value(struct parser *p, struct hodo_spec_value *v)
{
	const char *from, *name;

	next(p);
	from = p->at;
	name = take_name(p, false);
	if (name && next(p) == '=') {
		p->at++;
		v->name = name;
	} else {
		p->at = from;
	}
	next(p);
	from = p->at;
	if (!take(p, "(")) {
		if (!take_expr(p, &v->expr))
			return false;
	} else if (!take_expr(p, &v->expr)) {
		return false;
	} else if (take(p, ",")) {
		v->bytes = true;
		if (!take_expr(p, &v->length))
			return false;
		if (!take(p, ")"))
			return fail(p, "bytes are written (ADDRESS, LENGTH), with a ) before '%.*s'",
				    HERE(p));
	} else if (!take(p, ")")) {
		return fail(p, "a ( is not closed before '%.*s'", HERE(p));
	} else if (!take_steps(p, &v->expr)) {
		return false;
	}
	if (!v->bytes && v->expr.base == HODO_SPEC_NUMBER)
		return fail(p, "a number alone is not a value");
	if ((v->expr.base == HODO_SPEC_ARGS || v->expr.base == HODO_SPEC_LOCALS) && (v->expr.n || v->bytes || v->name))
		return fail(p, "$%s must be the only value: it is several", v->expr.name);
	if (!v->bytes && take(p, ":") && !take_form(p, v))
		return false;
	v->text = hodo_spec_keep(p->spec, from, (size_t)(p->at - from));
	v->name = v->name ? v->name : name_of(&v->expr);
	return true;
}

int hodo_spec_values(struct hodo_spec *s, const char *text, size_t len, char error[HODO_SPEC_ERROR])
{
	struct parser p = { .spec = s, .at = text, .end = text + len, .error = error };

	if (!next(&p))
		return 0;
	do {
		struct hodo_spec_value *v;

		if (s->nvalues == HODO_SPEC_VALUES_MAX) {
			fail(&p, "more than %u values", HODO_SPEC_VALUES_MAX);
			return -EINVAL;
		}
		v = hodo_vec_add(s->values, s->nvalues);
		if (!v)
			return -ENOMEM;
		if (!take_value(&p, v))
			return -EINVAL;
	} while (take(&p, ","));
	if (next(&p)) {
		fail(&p, "'%.*s': values are separated by commas", HERE(&p));
		return -EINVAL;
	}
	return 0;
}
