/* SPDX-License-Identifier: MIT */
/* number.c - numbers as text. */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

char *hodo_read_put_u64(char *o, uint64_t v)
{
	char buf[20], *p = buf + sizeof(buf);
	size_t len;

	while (v >= 100) {
		p -= 2;
		memcpy(p, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		p -= 2;
		memcpy(p, pairs + 2 * v, 2);
	} else {
		*--p = (char)('0' + v);
	}
	len = (size_t)(buf + sizeof(buf) - p);
	memcpy(o, p, len);
	return o + len;
}

char *hodo_read_put_i64(char *o, int64_t v)
{
	if (v >= 0)
		return hodo_read_put_u64(o, (uint64_t)v);
	*o++ = '-';
	return hodo_read_put_u64(o, -(uint64_t)v);
}

char *hodo_read_put_hex(char *o, uint64_t v)
{
	unsigned digits = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	for (unsigned i = digits; i-- > 0; v >>= 4)
		o[i] = "0123456789abcdef"[v & 15];
	return o + digits;
}

/*
 * Most values have few decimals: v = n / 10^k for a small integer n. Both are
 * exact as doubles, so the division rounds just like reading the decimal does,
 * and equality proves that it reads back the same.
 */
static char *put_short(char *o, double v, bool single)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	double limit = single ? 1e7 : 1e15;

	for (unsigned k = 0; k < sizeof(powers) / sizeof(powers[0]); k++) {
		uint64_t scale = (uint64_t)powers[k], n, whole, part;
		double back;

		if (v * powers[k] > limit)
			return NULL;
		n = (uint64_t)(v * powers[k] + 0.5);
		back = (double)n / powers[k];
		if (single ? (float)back != (float)v : back != v)
			continue;
		whole = n / scale;
		part = n % scale;
		o = hodo_read_put_u64(o, whole);
		*o++ = '.';
		for (unsigned i = k ? k : 1; i-- > 0; part /= 10)
			o[i] = (char)('0' + part % 10);
		return o + (k ? k : 1);
	}
	return NULL;
}

static char *put_long(char *o, double v, bool single)
{
	int n = 0;

	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		n = snprintf(o, PUT_FLOAT_MAX, "%.*g", digits, v);
		if (single ? strtof(o, NULL) == (float)v : strtod(o, NULL) == v)
			break;
	}
	if (!strpbrk(o, ".e")) { /* 64532176: a float looks like one */
		memcpy(o + n, ".0", 3);
		n += 2;
	}
	return o + n;
}

char *hodo_read_put_float(char *o, double v, bool single, bool json, locale_t c)
{
	locale_t old;
	char *end;

	if (!isfinite(v)) {
		const char *s = isnan(v) ? (json ? "\"NaN\"" : "nan")
				: v > 0  ? (json ? "\"Infinity\"" : "inf")
					 : (json ? "\"-Infinity\"" : "-inf");

		return stpcpy(o, s);
	}
	if (signbit(v)) {
		*o++ = '-';
		v = -v;
	}
	end = put_short(o, v, single);
	if (end)
		return end;
	old = uselocale(c);
	end = put_long(o, v, single);
	uselocale(old);
	return end;
}
