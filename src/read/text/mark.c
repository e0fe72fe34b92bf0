/* SPDX-License-Identifier: MIT */
/*
 * mark.c - printf's formatting of recorded values.
 *
 * The format comes from a file and is not trusted: each conversion is parsed, matched with the recorded type,
 * and rebuilt for snprintf().
 */
#include "text.h"

#include <stdio.h>

#define SIZE_LIMIT      1024u /* width and precision */
#define CONVERSIONS_MAX 64u   /* of one format */

#define FLAGS           "-+ #0"

struct conversion {
	char flags[sizeof(FLAGS)]; /* those of FLAGS that it has */
	int width;                 /* negative: with - */
	int precision;             /* -1: none */
	unsigned bits;             /* size of the integer, from the length modifier */
	unsigned index;            /* of the argument, from 1 on; 0: the next one */
	char type;
	const char *end; /* behind it */
};

static const char *parse_number(const char *p, unsigned *number)
{
	unsigned n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		n = n > SIZE_LIMIT ? n : n * 10 + (unsigned)(*p - '0');
	*number = n > SIZE_LIMIT ? SIZE_LIMIT : n;
	return p;
}

static const char *parse_flags(const char *p, struct conversion *c)
{
	for (; *p && strchr(FLAGS "'I", *p); p++)
		if (strchr(FLAGS, *p) && !strchr(c->flags, *p))
			c->flags[strlen(c->flags)] = *p;
	return p;
}

static const char *parse_length(const char *p, struct conversion *c)
{
	c->bits = 32;
	if (p[0] == 'h') {
		c->bits = p[1] == 'h' ? 8 : 16;
		return p + (p[1] == 'h' ? 2 : 1);
	}
	if (*p && strchr("lLqjzt", *p)) {
		c->bits = 64;
		return p + (p[0] == 'l' && p[1] == 'l' ? 2 : 1);
	}
	return p;
}

/* Parses the conversion after a '%'. false if it does not print a value. */
static bool parse(const char *p, struct conversion *c)
{
	const char *digits = p;
	unsigned n;

	*c = (struct conversion){ .precision = -1 };
	p = parse_number(p, &n);
	if (p > digits && *p == '$') {
		c->index = n;
		p++;
	} else {
		p = digits;
	}
	p = parse_flags(p, c);
	p = parse_number(p, &n);
	c->width = strchr(c->flags, '-') ? -(int)n : (int)n;
	if (*p == '.') {
		p = parse_number(p + 1, &n);
		c->precision = (int)n;
	}
	p = parse_length(p, c);
	if (!*p || !strchr("diouxXcspfFeEgGaA", *p))
		return false;
	c->type = *p;
	c->end = p + 1;
	return true;
}

static bool is_real(const struct conversion *c)
{
	return strchr("fFeEgGaA", c->type);
}

static void put_number(struct hodo_read_text *t, const struct conversion *c, const struct hodo_read_value *v)
{
	unsigned unused = 64 - c->bits;
	uint64_t n = v->u << unused;
	char format[sizeof(FLAGS) + 8];
	locale_t old;

	n = strchr("di", c->type) ? (uint64_t)((int64_t)n >> unused) : n >> unused;
	if (!*c->flags && !c->width && c->precision < 0 && strchr("diu", c->type)) {
		if (c->type == 'u')
			hodo_text_u64(&t->out, n);
		else
			hodo_text_i64(&t->out, (int64_t)n);
		return;
	}
	snprintf(format, sizeof(format), "%%%s*.*%s%c", c->flags, is_real(c) ? "" : "ll", c->type);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	old = uselocale(t->c);
	if (is_real(c))
		hodo_text_printf(&t->out, format, c->width, c->precision, v->f);
	else
		hodo_text_printf(&t->out, format, c->width, c->precision, (long long)n);
	uselocale(old);
#pragma GCC diagnostic pop
}

/* NULL as in glibc. */
static void put_string(struct hodo_read_text *t, const struct conversion *c, const struct hodo_read_value *v)
{
	const char *text = v->null ? "(null)" : v->data;
	int len = v->null ? 6 : (int)v->count; /* 65,535 at most */

	if (c->precision >= 0 && c->precision < len)
		len = v->null ? 0 : c->precision;
	hodo_text_printf(&t->out, "%*.*s", c->width, len, text);
}

/* The value in its default form, if the conversion does not fit it. */
static void put_own(struct hodo_read_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	const struct hodo_read_field bare = { .name = f->name, .type = f->type };

	hodo_read_add_value(&t->out, &bare, v, t->c);
}

static void convert(struct hodo_read_text *t, const struct conversion *c, const struct hodo_read_field *f,
		   const struct hodo_read_value *v)
{
	bool integer = v->type < HODO_TYPE_F32 || v->type == HODO_TYPE_PTR;
	bool real = v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64;

	if (c->type == 's' && v->type == HODO_TYPE_STR)
		put_string(t, c, v);
	else if (c->type == 'c' && integer)
		hodo_text_printf(&t->out, "%*c", c->width, (char)v->u);
	else if (c->type == 'p' && integer)
		hodo_text_printf(&t->out, "%*p", c->width, (void *)(uintptr_t)v->u);
	else if ((strchr("diouxX", c->type) && integer) || (is_real(c) && real))
		put_number(t, c, v);
	else
		put_own(t, f, v);
}

int hodo_read_text_mark(struct hodo_read_text *text, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	const char *p = cls->format;
	unsigned next = 1, done = 0;

	if (cls->kind != HODO_KIND_MARK)
		return 0;
	while (*p) {
		const char *percent = strchrnul(p, '%');
		struct conversion c;
		unsigned index;

		hodo_text_bytes(&text->out, p, (size_t)(percent - p));
		p = percent;
		if (!*p)
			break;
		if (p[1] == '%') {
			hodo_text_char(&text->out, '%');
			p += 2;
			continue;
		}
		index = parse(p + 1, &c) ? (c.index ? c.index : next++) : 0;
		if (index == 0 || index > cls->nfields || done++ >= CONVERSIONS_MAX) {
			hodo_text_char(&text->out, *p++); /* prints itself */
			continue;
		}
		convert(text, &c, &cls->fields[index - 1], &event->values[index - 1]);
		p = c.end;
	}
	return text->out.error;
}
