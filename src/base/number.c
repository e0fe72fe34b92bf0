/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

static const uint64_t powers[] = {
	1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull,
	10000000ull, 100000000ull, 1000000000ull, 10000000000ull, 100000000000ull,
	1000000000000ull, 10000000000000ull, 100000000000000ull, 1000000000000000ull,
	10000000000000000ull, 100000000000000000ull, 1000000000000000000ull, 10000000000000000000ull,
};

char *hodo_format_u64(char *o, uint64_t v)
{
	/* Each bit is log10(2) = 1233 / 4096 of a digit. */
	unsigned digits = ((64 - (unsigned)__builtin_clzll(v | 1)) * 1233) >> 12;
	char *end = o + digits + ((v | 1) >= powers[digits]), *p = end;

	while (v >= 100) {
		p -= 2;
		memcpy(p, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p - 2, pairs + 2 * v, 2);
	else
		*--p = (char)('0' + v);
	return end;
}

char *hodo_format_i64(char *o, int64_t v)
{
	if (v >= 0)
		return hodo_format_u64(o, (uint64_t)v);
	*o++ = '-';
	return hodo_format_u64(o, -(uint64_t)v);
}

char *hodo_format_decimal(char *o, int64_t v, unsigned decimals)
{
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v, unit = 1, part;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	if (v < 0)
		*o++ = '-';
	o = hodo_format_u64(o, left / unit);
	part = left % unit;
	if (part)
		*o++ = '.';
	for (; part; part %= unit) {
		unit /= 10;
		*o++ = (char)('0' + part / unit);
	}
	return o;
}

char *hodo_format_hex(char *o, uint64_t v)
{
	unsigned digits = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	for (unsigned i = digits; i-- > 0; v >>= 4)
		o[i] = "0123456789abcdef"[v & 15];
	return o + digits;
}

/* ----------------------------------------------------------------------- floats */

#define FIXED_MIN 1e-5 /* from here on */
#define FIXED_MAX 1e15 /* up to here numbers are written without an exponent, and by our own arithmetic */
typedef unsigned __int128 u128;

static u128 power10(unsigned n)
{
	return n <= 19 ? powers[n] : (u128)powers[19] * powers[n - 19];
}

/* Digits before the point; of 0.00123, -2. */
static int whole_digits_of(double v)
{
	static const double limits[] = { 1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4, 1e5,
					 1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14 };
	int n = 0;

	while (n < (int)(sizeof(limits) / sizeof(limits[0])) && v >= limits[n])
		n++;
	return n - 4;
}

/* Writes n / 10^decimals without the zeros that end it; at least one decimal. */
static char *put_decimal(char *o, uint64_t n, unsigned decimals)
{
	char digits[32], *end;
	unsigned len;

	for (; decimals > 1 && n % 10 == 0; decimals--)
		n /= 10;
	if (decimals == 0)
		return stpcpy(hodo_format_u64(o, n), ".0");
	end = hodo_format_u64(digits, n);
	len = (unsigned)(end - digits);
	if (len > decimals) {
		memcpy(o, digits, len - decimals);
		o += len - decimals;
		*o++ = '.';
		memcpy(o, end - decimals, decimals);
		return o + decimals;
	}
	*o++ = '0';
	*o++ = '.';
	memset(o, '0', decimals - len);
	memcpy(o + decimals - len, digits, len);
	return o + decimals;
}

/*
 * v = m * 2^-shift, rounded to some number of digits: n / 10^decimals. It reads back as v if the error is
 * less than half the distance to v's neighbours, which is decided exactly: |n * 2^shift - m * 10^decimals| <
 * 10^decimals / 2. All of it fits in 128 bits, since FIXED_MIN makes shift at most 69 and decimals 21.
 *
 * A decimal of up to 15 digits (a float: 6) survives being stored, so rounding
 * to that many finds every shorter one, with zeros behind it.
 */
static char *put_fixed(char *o, double v, bool single)
{
	unsigned digits = single ? 6 : 15, digits_max = single ? 9 : 17, shift;
	int whole_digits = whole_digits_of(v);
	uint64_t bits, m, n;

	memcpy(&bits, &v, sizeof(bits));
	m = (bits & ((1ull << 52) - 1)) | 1ull << 52;
	shift = 1075 - (unsigned)(bits >> 52);
	if (single) { /* the other bits are zero */
		m >>= 29;
		shift -= 29;
	}
	for (;; digits++) {
		unsigned decimals = (unsigned)((int)digits - whole_digits);
		u128 scale, product, back, off;

		scale = power10(decimals);
		product = m * scale;
		n = (uint64_t)((product + ((u128)1 << (shift - 1))) >> shift);
		back = (u128)n << shift;
		off = back > product ? back - product : product - back;
		/* Below a power of two the neighbour is half as far. */
		if (digits >= digits_max || off * (m & (m - 1) ? 2 : 4) < scale)
			return put_decimal(o, n, decimals);
	}
}

/* Very large and small numbers, by the C library. Subnormal ones have fewer bits, and so fewer digits. */
static char *put_long(char *o, double v, bool single)
{
	double normal = single ? (double)FLT_MIN : DBL_MIN;
	int n = 0;

	for (int digits = v < normal ? 1 : single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		n = snprintf(o, HODO_FORMAT_FLOAT_MAX, "%.*g", digits, v);
		if (single ? strtof(o, NULL) == (float)v : strtod(o, NULL) == v)
			break;
	}
	if (!strpbrk(o, ".e")) { /* 64532176: a float looks like one */
		memcpy(o + n, ".0", 3);
		n += 2;
	}
	return o + n;
}

char *hodo_format_float(char *o, double v, bool single, bool json, locale_t c)
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
	if (v == 0)
		return stpcpy(o, "0.0");
	if (v >= FIXED_MIN && v < (single ? 1e6 : FIXED_MAX))
		return put_fixed(o, v, single);
	old = uselocale(c);
	end = put_long(o, v, single);
	uselocale(old);
	return end;
}
