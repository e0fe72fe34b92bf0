/* SPDX-License-Identifier: MIT */
/* parse.c - parses a probe in the kernel; compile.c resolves the names. */
#include "kernel_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#define PREFIX "kprobe:"
#define INDEX_MAX 0xffffffu

int hodo_kprobe_fail(char *why, size_t size, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return err;
}

bool hodo_kprobe_is(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* Splits a copy of the text, see take_name(). */
struct parser {
	char *at;
	char *why;
	size_t size;
};

static int fail(struct parser *p, const char *what)
{
	return hodo_kprobe_fail(p->why, p->size, -EINVAL, "%s: at '%s'", what, p->at);
}

static void skip_spaces(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* The next character, if it is that one. */
static bool take(struct parser *p, const char *token)
{
	size_t len = strlen(token);

	skip_spaces(p);
	if (strncmp(p->at, token, len) != 0)
		return false;
	p->at += len;
	return true;
}

static bool is_part(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

/* An identifier, NUL-terminated, or NULL. */
static char *take_name(struct parser *p, const char *prefixes)
{
	char *name, *to;

	skip_spaces(p);
	name = p->at;
	if (*p->at && strchr(prefixes, *p->at))
		p->at++;
	if (!is_part(*p->at, true))
		return NULL;
	while (is_part(*p->at, false))
		p->at++;
	/* Moved one place to the left, to make room for the NUL: there is only a token already read, or a
	 * space. */
	to = name - 1;
	memmove(to, name, (size_t)(p->at - name));
	to[p->at - name] = '\0';
	return to;
}

static bool take_number(struct parser *p, uint64_t max, uint64_t *number)
{
	char *end;

	skip_spaces(p);
	if (!isdigit((unsigned char)*p->at))
		return false;
	errno = 0;
	*number = strtoull(p->at, &end, 0);
	if (errno || *number > max)
		return false;
	p->at = end;
	return true;
}

static int take_step(struct parser *p, struct hodo_kprobe_text_value *v, bool member)
{
	struct hodo_kprobe_step *s;
	uint64_t number;

	if (v->nsteps == HODO_KPROBE_STEPS_TEXT_MAX)
		return fail(p, "too many members");
	s = &v->step[v->nsteps++];
	*s = (struct hodo_kprobe_step){ 0 };
	if (member) {
		s->member = take_name(p, "");
		return s->member ? 0 : fail(p, "a member's name is missing");
	}
	if (!take_number(p, INDEX_MAX, &number) || !take(p, "]"))
		return fail(p, "an element is [NUMBER]");
	s->number = (uint32_t)number;
	return 0;
}

static int take_value(struct parser *p, struct hodo_kprobe_text_value *v)
{
	int err = 0;

	*v = (struct hodo_kprobe_text_value){ .follows = take(p, "*") };
	v->root = take_name(p, "$%");
	if (!v->root)
		return fail(p, "a value is an argument's name, $arg1, $retval, $duration or %register");
	if (!v->follows && v->root[0] != '$' && v->root[0] != '%' && take(p, "=")) {
		v->name = v->root;
		v->follows = take(p, "*");
		v->root = take_name(p, "$%");
		if (!v->root)
			return fail(p, "a value is missing after '='");
	}
	while (!err) {
		if (take(p, "->") || take(p, "."))
			err = take_step(p, v, true);
		else if (take(p, "["))
			err = take_step(p, v, false);
		else
			break;
	}
	if (!err && take(p, ":")) {
		v->type = take_name(p, "");
		err = v->type ? 0 : fail(p, "a type is missing after ':'");
	}
	return err;
}

static int take_values(struct parser *p, struct hodo_kprobe_text *t)
{
	t->listed = true;
	if (take(p, ")"))
		return 0;
	do {
		int err;

		if (t->n == HODO_FIELDS_MAX)
			return fail(p, "too many values");
		err = take_value(p, &t->value[t->n++]);
		if (err)
			return err;
	} while (take(p, ","));
	return take(p, ")") ? 0 : fail(p, "a ',' or ')' is missing");
}

/* Names of the kernel's functions may have dots in them. */
static int take_function(struct parser *p, struct hodo_kprobe_text *t)
{
	char *name = p->at;

	while (is_part(*p->at, p->at == name) || (p->at > name && *p->at == '.'))
		p->at++;
	if (p->at == name)
		return fail(p, "a function's name is missing");
	if (*p->at && strchr("*?[", *p->at))
		return fail(p, "a probe is for one function, not for a pattern: give each function its own");
	memmove(name - 1, name, (size_t)(p->at - name)); /* as take_name() */
	name[p->at - name - 1] = '\0';
	t->function = name - 1;
	return 0;
}

static int parse(struct parser *p, struct hodo_kprobe_text *t)
{
	int err = take_function(p, t);
	size_t len;

	if (err)
		return err;
	if (take(p, "+") && !take_number(p, UINT32_MAX, &t->offset))
		return fail(p, "an offset is +0x12, or +18");
	t->returns = take(p, "%return");
	if (t->returns && t->offset)
		return fail(p, "%return takes no offset: a function may return at several places");
	if (take(p, "("))
		err = take_values(p, t);
	skip_spaces(p);
	if (err || *p->at)
		return err ? err : fail(p, "a probe is FUNCTION, FUNCTION+0x12 or FUNCTION%return, then (VALUES)");
	len = (size_t)snprintf(t->event, sizeof(t->event), PREFIX "%s", t->function);
	if (len < sizeof(t->event) && t->offset)
		len += (size_t)snprintf(t->event + len, sizeof(t->event) - len, "+0x%x", (unsigned int)t->offset);
	if (len < sizeof(t->event) && t->returns)
		len += (size_t)snprintf(t->event + len, sizeof(t->event) - len, "%%return");
	return len < sizeof(t->event) ? 0 : fail(p, "the function's name is too long");
}

int hodo_kprobe_parse(struct hodo_kprobe_text *t, const char *text, char *why, size_t size)
{
	struct parser p = { .why = why, .size = size };
	int err;

	memset(t, 0, sizeof(*t));
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 127 || ((unsigned char)*c < ' ' && !isspace((unsigned char)*c)))
			return hodo_kprobe_fail(why, size, -EINVAL, "a probe has ASCII characters only, and "
						"no control characters");
	t->text = strdup(text);
	if (!t->text)
		return hodo_kprobe_fail(why, size, -ENOMEM, "out of memory");
	p.at = t->text + strlen(PREFIX);
	err = parse(&p, t);
	if (err)
		hodo_kprobe_text_free(t);
	return err;
}

void hodo_kprobe_text_free(struct hodo_kprobe_text *t)
{
	free(t->text);
	t->text = NULL;
}

int hodo_kprobe_list_add(struct hodo_kprobe_list *list, const char *text, char *why, size_t size)
{
	struct hodo_kprobe_text t;
	int err = hodo_kprobe_parse(&t, text, why, size);

	if (err)
		return err;
	for (uint32_t i = 0; i < list->n && !err; i++)
		if (strcmp(list->probe[i].event, t.event) == 0)
			err = hodo_kprobe_fail(why, size, -EEXIST, "there are two probes %s: give all "
					       "values in one", t.event);
	if (!err && list->n == HODO_KPROBES_MAX)
		err = hodo_kprobe_fail(why, size, -E2BIG, "more than %u probes", HODO_KPROBES_MAX);
	if (!err && hodo_vec_push(list->probe, list->n, t) < 0)
		err = hodo_kprobe_fail(why, size, -ENOMEM, "out of memory");
	if (err)
		hodo_kprobe_text_free(&t);
	return err;
}

void hodo_kprobe_list_free(struct hodo_kprobe_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		hodo_kprobe_text_free(&list->probe[i]);
	free(list->probe);
	*list = (struct hodo_kprobe_list){ 0 };
}
