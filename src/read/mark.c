/* SPDX-License-Identifier: MIT */
/*
 * mark.c - printf's formatting of recorded values.
 *
 * The format comes from a file and is trusted in nothing: each conversion is
 * taken apart here, matched with the type that was recorded, and formatted by
 * our own code (floats by snprintf, from a format that is put together anew).
 */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE_LIMIT      1024u /* width and precision */
#define CONVERSIONS_MAX 64u   /* of one format */

struct conversion {
	bool left, plus, space, alt, zero, has_precision;
	unsigned width, precision;
	unsigned bits;  /* of the integer that the length modifier names */
	unsigned index; /* of the argument, from 1 on; 0: the next one */
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
	for (;; p++) {
		switch (*p) {
		case '-':
			c->left = true;
			break;
		case '+':
			c->plus = true;
			break;
		case ' ':
			c->space = true;
			break;
		case '#':
			c->alt = true;
			break;
		case '0':
			c->zero = true;
			break;
		case '\'':
		case 'I':
			break;
		default:
			return p;
		}
	}
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

/* Takes the conversion behind a '%' apart. false if it is none that prints a value. */
static bool parse(const char *p, struct conversion *c)
{
	const char *digits = p;
	unsigned n;

	memset(c, 0, sizeof(*c));
	p = parse_number(p, &n);
	if (p > digits && *p == '$') {
		c->index = n;
		p++;
	} else {
		p = digits;
	}
	p = parse_flags(p, c);
	p = parse_number(p, &c->width);
	if (*p == '.') {
		c->has_precision = true;
		p = parse_number(p + 1, &c->precision);
	}
	p = parse_length(p, c);
	if (!*p || !strchr("diouxXcspfFeEgGaA", *p))
		return false;
	c->type = *p;
	c->end = p + 1;
	return true;
}

/* prefix (sign, 0x), zeros, body, within the width. */
static void pad(struct hodo_read_text *t, const struct conversion *c, const char *prefix, size_t zeros,
	       const void *body, size_t len)
{
	size_t prefix_len = strlen(prefix), all = prefix_len + zeros + len;
	size_t blanks = c->width > all ? c->width - all : 0;
	char *o = hodo_text_room(&t->out, all + blanks);

	if (!o)
		return;
	if (!c->left) {
		memset(o, ' ', blanks);
		o += blanks;
	}
	memcpy(o, prefix, prefix_len);
	memset(o + prefix_len, '0', zeros);
	memcpy(o + prefix_len + zeros, body, len);
	if (c->left)
		memset(o + all, ' ', blanks);
	t->out.len += all + blanks;
}

static void put_integer(struct hodo_read_text *t, const struct conversion *c, uint64_t v)
{
	bool is_signed = c->type == 'd' || c->type == 'i', minus = false;
	char body[24], *end = body;
	const char *prefix = "";
	size_t zeros = 0, len;

	if (c->bits < 64) {
		v &= (1ull << c->bits) - 1;
		if (is_signed && v >> (c->bits - 1))
			v |= ~0ull << c->bits;
	}
	if (is_signed && (int64_t)v < 0) {
		minus = true;
		v = -v;
	}
	if (is_signed)
		prefix = minus ? "-" : c->plus ? "+" : c->space ? " " : "";
	else if (c->alt && v && (c->type == 'x' || c->type == 'X'))
		prefix = c->type == 'x' ? "0x" : "0X";
	if (c->type == 'o') {
		end += snprintf(body, sizeof(body), "%llo", (unsigned long long)v);
	} else if (c->type == 'x' || c->type == 'X') {
		end = hodo_format_hex(body, v);
		for (char *p = body; c->type == 'X' && p < end; p++)
			if (*p >= 'a')
				*p = (char)(*p - 0x20);
	} else {
		end = hodo_format_u64(body, v);
	}
	len = (size_t)(end - body);
	if (c->has_precision && c->precision == 0 && v == 0)
		len = 0;
	if (c->has_precision && c->precision > len)
		zeros = c->precision - len;
	if (c->type == 'o' && c->alt && zeros == 0 && (len == 0 || body[0] != '0'))
		zeros = 1;
	if (c->zero && !c->left && !c->has_precision && c->width > len + strlen(prefix) + zeros)
		zeros = c->width - len - strlen(prefix);
	pad(t, c, prefix, zeros, body, len);
}

static void put_real(struct hodo_read_text *t, const struct conversion *c, double v)
{
	char format[16], *f = format;
	/* Digits before the point, precision, width, sign, exponent. */
	size_t room = 330 + SIZE_LIMIT + (c->width > SIZE_LIMIT ? SIZE_LIMIT : c->width);
	char *o = hodo_text_room(&t->out, room);
	locale_t old;
	int n;

	if (!o)
		return;
	*f++ = '%';
	if (c->left)
		*f++ = '-';
	if (c->plus)
		*f++ = '+';
	if (c->space)
		*f++ = ' ';
	if (c->alt)
		*f++ = '#';
	if (c->zero)
		*f++ = '0';
	f = stpcpy(f, "*.*");
	*f++ = c->type;
	*f = 0;
	old = uselocale(t->c);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(o, room, format, (int)c->width, c->has_precision ? (int)c->precision : -1, v);
#pragma GCC diagnostic pop
	uselocale(old);
	t->out.len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void put_string(struct hodo_read_text *t, const struct conversion *c, const struct hodo_read_value *v)
{
	size_t len = v->count;

	if (c->has_precision && c->precision < len)
		len = c->precision;
	if (v->null) /* as glibc does */
		pad(t, c, "", 0, HODO_NULL_TEXT, c->has_precision && c->precision < 6 ? 0 : 6);
	else
		pad(t, c, "", 0, v->data, len);
}

static void put_pointer(struct hodo_read_text *t, const struct conversion *c, uint64_t v)
{
	char body[20];

	if (!v)
		pad(t, c, "", 0, "(nil)", 5);
	else
		pad(t, c, "0x", 0, body, (size_t)(hodo_format_hex(body, v) - body));
}

/* The value in its own way, where the conversion does not fit it. */
static void put_own(struct hodo_read_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	const struct hodo_read_field bare = { .name = f->name, .type = f->type };
	/* No element of an array takes more characters a byte than that. */
	char *o = hodo_text_room(&t->out, 64 + (size_t)v->count * 8 * HODO_ESCAPED_MAX);

	if (o)
		hodo_read_text_end(t, hodo_read_put_value(o, &bare, v, t->c));
}

static void convert(struct hodo_read_text *t, const struct conversion *c, const struct hodo_read_field *f,
		   const struct hodo_read_value *v)
{
	bool integer = v->type < HODO_TYPE_F32 || v->type == HODO_TYPE_PTR;
	bool real = v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64;
	char byte = (char)v->u;

	if (c->type == 's' && v->type == HODO_TYPE_STR)
		put_string(t, c, v);
	else if (c->type == 'c' && integer)
		pad(t, c, "", 0, &byte, 1);
	else if (c->type == 'p' && integer)
		put_pointer(t, c, v->u);
	else if (strchr("diouxX", c->type) && integer)
		put_integer(t, c, v->u);
	else if (strchr("fFeEgGaA", c->type) && real)
		put_real(t, c, v->f);
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
