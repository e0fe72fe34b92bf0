/* SPDX-License-Identifier: MIT */
/* filter_compile.c - the part of the filter parser that needs user space: floating-point numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "filter_compile.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/filter.h>

#define NUMBER_MAX 128 /* bytes of a floating-point constant */

static int read_real(const char *number, size_t n, uint64_t unit_ns, uint64_t *value)
{
	locale_t c_locale;
	char text[NUMBER_MAX], *end;
	double d;

	if (n >= sizeof(text))
		return -EINVAL;
	memcpy(text, number, n);
	text[n] = '\0';
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	d = strtod_l(text, &end, c_locale); /* the user's locale may use a comma */
	freelocale(c_locale);
	if (end != text + n)
		return -EINVAL;
	if (!isfinite(d))
		return -ERANGE;
	if (!unit_ns) {
		memcpy(value, &d, sizeof(d));
		return 0;
	}
	d = rint(d * (double)unit_ns);
	if (d >= 0x1p63)
		return -ERANGE;
	*value = (uint64_t)d;
	return 0;
}

int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			size_t error_size)
{
	static const struct hodo_filter_lexer lexer = { .real = read_real };
	struct hodo_filter_parser p;

	p.lexer = &lexer;
	return hodo_filter_parse(&p, expr, code, size, len, error, error_size);
}

int hodo_filter_compile_live(const char *expr, uint8_t *code, size_t size, size_t *len, struct hodo_why *why)
{
	int err = hodo_filter_compile(expr, code, size, len, why->text, sizeof(why->text));

	if (err || !hodo_filter_names_var(code, HODO_FILTER_OFF_CPU))
		return err;
	return hodo_why(why, -EINVAL, "$off_cpu is known when a recording is read: use it with hodo print, report or "
			"stat");
}
