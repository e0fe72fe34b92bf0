/* SPDX-License-Identifier: MIT */
/* spec.c - parses the text of a probe: its place, and its values. */
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <core/fields.h>
#include <core/function_pattern.h>
#include <core/glob.h>
#include <hodo/abi_kernel.h>

#define DEPTH_MAX 16u /* nested parentheses */

#define BIT(n) (1u << (n))

/* What a probe can have, which depends on whose code it is in. */
struct hodo_spec_rules {
	bool kernel;   /* functions are the kernel's: C's names, in no file; elsewhere C++'s, files and lines, too */
	bool pointers; /* &EXPR and (EXPR, LENGTH) */
	uint32_t bases, types; /* bits of enum hodo_spec_base, and of enum hodo_type for a FORM */
	const char *places, *variables, *forms; /* for messages */
};

static const struct hodo_spec_rules in_program = {
	.pointers = true, .types = ~0u,
	.bases = BIT(HODO_SPEC_ARG) | BIT(HODO_SPEC_RETVAL) | BIT(HODO_SPEC_ARGS) | BIT(HODO_SPEC_LOCALS),
	.places = "FUNCTION, FUNCTION%return, FUNCTION+OFFSET, FILE:LINE or 0xADDRESS",
	.variables = "$arg1 to $arg99, $retval, $args and $locals",
	.forms = "str, char, bool, i8 to i64, u8 to u64, f32, f64 and ptr",
};
static const struct hodo_spec_rules in_kernel = {
	.kernel = true, .types = ~(BIT(HODO_TYPE_CHAR) | BIT(HODO_TYPE_F32) | BIT(HODO_TYPE_F64)),
	.bases = BIT(HODO_SPEC_ARG) | BIT(HODO_SPEC_RETVAL) | BIT(HODO_SPEC_DURATION) | BIT(HODO_SPEC_STACK),
	.places = "FUNCTION, FUNCTION%return or FUNCTION+OFFSET",
	.variables = "$arg1 to $arg99, $retval, $duration and $stack0 to $stack63",
	.forms = "str, bool, i8 to i64, u8 to u64 and ptr",
};

static const struct {
	const char *word; /* a number follows, if `most` is not 0 */
	uint8_t base, least, most;
} variables[] = {
	{ "$arg", HODO_SPEC_ARG, 1, 99 },      { "$stack", HODO_SPEC_STACK, 0, HODO_KPROBE_STACK_MAX },
	{ "$retval", HODO_SPEC_RETVAL, 0, 0 }, { "$duration", HODO_SPEC_DURATION, 0, 0 },
	{ "$args", HODO_SPEC_ARGS, 0, 0 },     { "$locals", HODO_SPEC_LOCALS, 0, 0 },
};

struct piece {
	const char *text;
	size_t len;
};

#define SHOWN(piece) (int)(piece).len, (piece).text

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
	return !s->object || hodo_function_file_is(s->object, strlen(s->object), path, soname);
}

/* Copies len bytes and a NUL into the spec; there is always room for parts of its text. */
static const char *keep(struct hodo_spec *s, const char *text, size_t len)
{
	char *to = s->pool + s->pool_at;

	if (len >= s->pool_bytes - s->pool_at)
		return "";
	memcpy(to, text, len);
	to[len] = 0;
	s->pool_at += len + 1;
	return to;
}

/* Decimal, hexadecimal with 0x, and octal in the kernel's. Where it ends; NULL: no number, or more than `most`. */
static const char *parse_number(const struct hodo_spec *s, const char *at, const char *end, uint64_t most, uint64_t *to)
{
	bool hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	uint64_t base = hex ? 16 : s->rules->kernel && at < end && *at == '0' ? 8 : 10, v = 0;
	const char *from = at += hex ? 2 : 0;

	for (; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned digit = isdigit(c) ? (unsigned)(c - '0') : isxdigit(c) ? (unsigned)(tolower(c) - 'a' + 10) : 16;

		if (digit >= base)
			break;
		if (v > (most - digit) / base)
			return NULL;
		v = v * base + digit;
	}
	*to = v;
	return at > from ? at : NULL;
}

/* ------------------------------------------------------------------------- places */

/* The whole text as a number. */
static bool number(const struct hodo_spec *s, struct piece p, uint64_t *to)
{
	return p.len && parse_number(s, p.text, p.text + p.len, UINT64_MAX, to) == p.text + p.len;
}

/* Splits off the object before "!". */
static void take_object(struct hodo_spec *s, struct piece *p)
{
	size_t len = hodo_function_file(p->text, p->len);
	struct piece object = trimmed(p->text, len);

	if (len == p->len)
		return;
	s->object = keep(s, object.text, object.len);
	*p = trimmed(p->text + len + 1, p->len - len - 1);
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
	if (!before.len || before.text[before.len - 1] == ':' || !number(s, behind, &s->number))
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

/* Names of the kernel's functions may have dots in them. */
static int check_kernel_function(const struct piece p, struct hodo_why *why)
{
	for (size_t i = 0; i < p.len; i++) {
		unsigned char c = (unsigned char)p.text[i];

		if (strchr("*?[", c))
			return hodo_why(why, -EINVAL, "a probe is for one function, not for a pattern: give each "
					"function its own");
		if (!isalpha(c) && c != '_' && (i == 0 || (!isdigit(c) && c != '.')))
			return hodo_why(why, -EINVAL, "'%.*s' is not a function: a probe is FUNCTION, FUNCTION+0x12 or "
					"FUNCTION%%return, then (VALUES)", SHOWN(p));
	}
	return 0;
}

static int take_place(struct hodo_spec *s, struct piece p, struct hodo_why *why)
{
	bool kernel = s->rules->kernel;

	if (!kernel)
		take_object(s, &p);
	if (!p.len || (s->object && !*s->object))
		return hodo_why(why, -EINVAL, "no place: give %s", s->rules->places);
	if (!kernel && p.len > 1 && p.text[0] == '0' && (p.text[1] == 'x' || p.text[1] == 'X')) {
		s->place = HODO_SPEC_ADDRESS;
		return number(s, p, &s->number) ? 0 :
		       hodo_why(why, -EINVAL, "'%.*s' is not an address such as 0x1139", SHOWN(p));
	}
	if (ends_with(p, "%return")) {
		s->place = HODO_SPEC_RETURN;
		p = trimmed(p.text, p.len - strlen("%return"));
	} else if (take_number(s, &p, '+')) {
		s->place = HODO_SPEC_OFFSET;
	} else if (!kernel && take_number(s, &p, ':')) {
		s->place = HODO_SPEC_LINE;
	}
	if (!p.len || memchr(p.text, '%', p.len))
		return hodo_why(why, -EINVAL, "'%.*s' is not a function: only %%return can follow one", SHOWN(p));
	if (!is_balanced(p))
		return hodo_why(why, -EINVAL, "'%.*s': a ( and its ) must both be given", SHOWN(p));
	s->name = keep(s, p.text, p.len);
	return kernel ? check_kernel_function(p, why) : 0;
}

/* -------------------------------------------------------------------- expressions */

struct parser {
	struct hodo_spec *spec;
	const char *at, *end;
	unsigned depth;
	struct hodo_why *why;
};

#define FAIL(p, ...) (hodo_why((p)->why, -EINVAL, __VA_ARGS__) == 0)
/* The faulty text, for messages. */
#define HERE(p) (int)((p)->end - (p)->at > 40 ? 40 : (p)->end - (p)->at), (p)->at

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

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* A name, perhaps with :: for C++, and after one of the signs; NULL: none. */
static const char *take_name(struct parser *p, bool qualified, const char *signs)
{
	bool sign = next(p) && strchr(signs, *p->at);
	const char *from = p->at, *name = from + sign;

	if (name < p->end && isdigit((unsigned char)*name))
		return NULL;
	for (p->at = name; p->at < p->end &&
	     (is_name(*p->at) || (qualified && p->end - p->at > 2 && memcmp(p->at, "::", 2) == 0));)
		p->at += *p->at == ':' ? 2 : 1;
	if (p->at > name)
		return keep(p->spec, from, (size_t)(p->at - from));
	p->at = from;
	return NULL;
}

static bool take_digits(struct parser *p, uint64_t *to)
{
	const char *end = next(p) ? parse_number(p->spec, p->at, p->end, INT32_MAX, to) : NULL;

	p->at = end ? end : p->at;
	return end;
}

static struct hodo_spec_step *add(struct parser *p, struct hodo_spec_expr *e, uint8_t kind)
{
	if (e->n == HODO_SPEC_STEPS_MAX) {
		hodo_why(p->why, -EINVAL, "more than %u steps in one value", HODO_SPEC_STEPS_MAX);
		return NULL;
	}
	e->step[e->n] = (struct hodo_spec_step){ .kind = kind };
	return &e->step[e->n++];
}

static bool find_variable(const struct hodo_spec_rules *rules, struct hodo_spec_expr *e)
{
	for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		size_t len = strlen(variables[i].word);
		char *end = NULL;

		if (!(rules->bases & BIT(variables[i].base)) || strncmp(e->name, variables[i].word, len) != 0)
			continue;
		e->base = variables[i].base;
		e->number = isdigit((unsigned char)e->name[len]) ? strtoul(e->name + len, &end, 10) : UINT64_MAX;
		if (variables[i].most ? e->number >= variables[i].least && e->number <= variables[i].most && !*end :
		    !e->name[len])
			return true;
	}
	return false;
}

static bool take_expr(struct parser *p, struct hodo_spec_expr *e);

static bool take_base(struct parser *p, struct hodo_spec_expr *e)
{
	const char *from;

	if (take(p, "(")) {
		if (!take_expr(p, e))
			return false;
		return take(p, ")") || FAIL(p, "a ( is not closed before '%.*s'", HERE(p));
	}
	if (isdigit((unsigned char)next(p))) {
		e->base = HODO_SPEC_NUMBER;
		return take_digits(p, &e->number) || FAIL(p, "a number is at most %d", INT32_MAX);
	}
	from = p->at;
	e->name = take_name(p, true, "$%");
	e->base = e->name && *e->name == '%' ? HODO_SPEC_REGISTER : HODO_SPEC_NAME;
	if (from < p->end && *from == '$' && (!e->name || !find_variable(p->spec->rules, e))) {
		p->at = from;
		return FAIL(p, "'%.*s': there are %s", HERE(p), p->spec->rules->variables);
	}
	if (!e->name && take(p, "%"))
		return FAIL(p, "'%.*s' is not a register such as %%rdi", HERE(p));
	return e->name || FAIL(p, *from && from < p->end ? "'%.*s': a value is a name, $arg1, $retval or %%REGISTER, with "
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
			if (!take_digits(p, &n) || !take(p, "]"))
				return FAIL(p, "'%.*s': an element is a number, as in [3]", HERE(p));
			s->element = (uint32_t)n;
		} else if (take(p, "->") || take(p, ".")) {
			s = add(p, e, HODO_SPEC_MEMBER);
			if (!s)
				return false;
			s->member = take_name(p, false, "");
			if (!s->member)
				return FAIL(p, "'%.*s' is not the name of a member", HERE(p));
		} else {
			return true;
		}
	}
}

static bool take_expr(struct parser *p, struct hodo_spec_expr *e)
{
	bool done;

	if (p->depth == DEPTH_MAX)
		return FAIL(p, "more than %u nested operators and parentheses", DEPTH_MAX);
	p->depth++;
	if (take(p, "*"))
		done = take_expr(p, e) && add(p, e, HODO_SPEC_DEREF);
	else if (p->spec->rules->pointers && take(p, "&"))
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
	return name + (*name == '%' || *name == '$');
}

static bool take_form(struct parser *p, struct hodo_spec_value *v)
{
	const char *name = take_name(p, false, ""), *known;

	name = !name ? "" : strcmp(name, "string") == 0 ? "str" : strcmp(name, "x") == 0 ? "ptr" : name;
	for (uint8_t type = HODO_TYPE_I8; type <= HODO_TYPE_STR; type++) {
		known = hodo_fields_type_name(type);
		/* s32 is i32 */
		if ((p->spec->rules->types & BIT(type)) &&
		    (strcmp(name, known) == 0 || (*known == 'i' && *name == 's' && strcmp(name + 1, known + 1) == 0)))
			v->type = type;
	}
	return v->type != HODO_TYPE_NONE ||
	       FAIL(p, "':%s' is not a format: the formats are %s", name, p->spec->rules->forms);
}

static bool take_value(struct parser *p, struct hodo_spec_value *v)
{
	bool pointers = p->spec->rules->pointers;
	const char *from, *name;

	next(p);
	from = p->at;
	name = take_name(p, false, "");
	v->named = name && next(p) == '=';
	p->at = v->named ? p->at + 1 : from;
	next(p);
	from = p->at;
	if (!take(p, "(")) {
		if (!take_expr(p, &v->expr))
			return false;
	} else if (!take_expr(p, &v->expr)) {
		return false;
	} else if (pointers && take(p, ",")) {
		v->bytes = true;
		if (!take_expr(p, &v->length))
			return false;
		if (!take(p, ")"))
			return FAIL(p, "bytes are written (ADDRESS, LENGTH), with a ) before '%.*s'", HERE(p));
	} else if (!take(p, ")")) {
		return FAIL(p, "a ( is not closed before '%.*s'", HERE(p));
	} else if (!take_steps(p, &v->expr)) {
		return false;
	}
	if (!v->bytes && v->expr.base == HODO_SPEC_NUMBER)
		return FAIL(p, "a number alone is not a value");
	if ((v->expr.base == HODO_SPEC_ARGS || v->expr.base == HODO_SPEC_LOCALS) &&
	    (v->expr.n || v->bytes || v->named))
		return FAIL(p, "%s must be the only value: it is several", v->expr.name);
	if (!v->bytes && take(p, ":") && !take_form(p, v))
		return false;
	v->text = keep(p->spec, from, (size_t)(p->at - from));
	v->name = v->named ? name : name_of(&v->expr);
	return true;
}

static int parse_values(struct hodo_spec *s, struct piece text, struct hodo_why *why)
{
	struct parser p = { .spec = s, .at = text.text, .end = text.text + text.len, .why = why };

	if (!next(&p))
		return 0;
	do {
		struct hodo_spec_value *v;

		if (s->nvalues == HODO_SPEC_VALUES_MAX)
			return hodo_why(why, -EINVAL, "more than %u values", HODO_SPEC_VALUES_MAX);
		v = hodo_vec_add(s->values, s->nvalues);
		if (!v)
			return -ENOMEM;
		if (!take_value(&p, v))
			return -EINVAL;
	} while (take(&p, ","));
	return next(&p) ? hodo_why(why, -EINVAL, "'%.*s': values are separated by commas", HERE(&p)) : 0;
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

static int take_values(struct hodo_spec *s, struct piece *all, struct hodo_why *why)
{
	const char *open = all->len && all->text[all->len - 1] == ')' ? opening(*all) : NULL;
	struct piece before, inner;

	if (!open) {
		if (all->len == 0 || all->text[all->len - 1] != ')')
			return 0;
		return hodo_why(why, -EINVAL, "a ) without its (: put values between parentheses");
	}
	before = trimmed(all->text, (size_t)(open - all->text));
	if (!s->rules->kernel && ends_with(before, "operator"))
		return 0;
	inner = (struct piece){ open + 1, (size_t)(all->text + all->len - open) - 2 };
	s->whole = keep(s, all->text, all->len);
	s->listed = true;
	*all = before;
	return parse_values(s, inner, &s->flaw);
}

/* As gdb has it: "f(a) if a > 1". No name has such a word. */
static int refuse_condition(struct piece all, struct hodo_why *why)
{
	const char *at = memmem(all.text, all.len, " if ", 4);
	struct piece condition = { at ? at + 4 : NULL, at ? (size_t)(all.text + all.len - at) - 4 : 0 };

	if (!at)
		return 0;
	condition = trimmed(condition.text, condition.len);
	condition.len = condition.len < 100 ? condition.len : 100;
	return hodo_why(why, -EINVAL, "'if %.*s': a probe has no condition: record its events with --filter '%.*s'",
			SHOWN(condition), SHOWN(condition));
}

static int parse(struct hodo_spec *s, const struct hodo_spec_rules *rules, const char *text,
		 struct hodo_why *why)
{
	struct piece all = trimmed(text, strnlen(text, HODO_SPEC_TEXT_MAX + 1));
	const char *object;
	int err;

	*s = (struct hodo_spec){ .rules = rules };
	if (all.len > HODO_SPEC_TEXT_MAX)
		return hodo_why(why, -EINVAL, "longer than %u bytes", HODO_SPEC_TEXT_MAX);
	/* Each byte is copied at most four times, each with a NUL: whole, as place, as the values' texts, and
	 * as their parts. */
	s->pool_bytes = 8 * (all.len + 8);
	s->pool = malloc(s->pool_bytes);
	if (!s->pool)
		return -ENOMEM;
	err = refuse_condition(all, why);
	if (err)
		return err;
	err = take_values(s, &all, why);
	if (err == -ENOMEM || (err && !s->whole))
		return err;
	s->nvalues = err ? 0 : s->nvalues;
	err = take_place(s, all, why);
	/* An invalid list is an error, unless the whole text is a function's name. */
	if (!err && s->flaw.text[0] && (rules->kernel || s->place != HODO_SPEC_FUNCTION)) {
		*why = s->flaw;
		err = -EINVAL;
	}
	if (rules->kernel || s->place != HODO_SPEC_FUNCTION || !s->whole || !s->name || !*s->name) {
		s->whole = NULL;
	} else if (s->object) {
		object = strchr(s->whole, '!') + 1;
		s->whole = object + strspn(object, " \t");
	}
	return err;
}

int hodo_spec_parse(struct hodo_spec *s, const char *text, struct hodo_why *why)
{
	return parse(s, &in_program, text, why);
}

int hodo_spec_parse_kernel(struct hodo_spec *s, const char *text, struct hodo_why *why)
{
	return parse(s, &in_kernel, text, why);
}

void hodo_spec_free(struct hodo_spec *s)
{
	free(s->values);
	free(s->pool);
	*s = (struct hodo_spec){ 0 };
}
