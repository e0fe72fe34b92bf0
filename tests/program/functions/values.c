/* SPDX-License-Identifier: MIT */
/* values.c - arguments and results in every place that the calling convention has. */
#define _GNU_SOURCE
#include "hazards.h"
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

COUNT(take_doubles);
COUNT(take_floats);
COUNT(take_long_doubles);
COUNT(take_complex);
COUNT(take_complex_long);
COUNT(take_int128);
COUNT(take_pair);
COUNT(take_mixed);
COUNT(take_large);
COUNT(take_bytes);
COUNT(take_many);
COUNT(add_all);
COUNT(add_list);
COUNT(take_sse);
COUNT(take_avx);
COUNT(take_avx512);
COUNT(take_masks);

static int wrong;

static void expect(const char *what, int ok)
{
	if (!ok && wrong++ < 20)
		printf("values: %s differ\n", what);
}

TRACED static double take_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
				  double i, double j)
{
	ENTER(take_doubles);
	double r = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;

	LEAVE(take_doubles);
	return r;
}

TRACED static float take_floats(float a, int b, float c, long d, float e, char f)
{
	ENTER(take_floats);
	float r = a + (float)b * c + (float)d * e + (float)f;

	LEAVE(take_floats);
	return r;
}

TRACED static long double take_long_doubles(long double a, double b, long double c, int d)
{
	ENTER(take_long_doubles);
	long double r = a * c + b + d;

	LEAVE(take_long_doubles);
	return r;
}

TRACED static double complex take_complex(double complex a, float complex b)
{
	ENTER(take_complex);
	double complex r = a * 2 + (double complex)b;

	LEAVE(take_complex);
	return r;
}

/* Returned in two registers of the x87 stack. */
TRACED static long double complex take_complex_long(long double complex a)
{
	ENTER(take_complex_long);
	long double complex r = a * 3 + 1;

	LEAVE(take_complex_long);
	return r;
}

TRACED static __int128 take_int128(__int128 a, __int128 b)
{
	ENTER(take_int128);
	__int128 r = (a << 3) ^ b;

	LEAVE(take_int128);
	return r;
}

struct pair { double x; long n; };
struct mixed { float a, b, c; int d; };
struct large { long numbers[9]; double last; };
struct bytes { char text[13]; };

TRACED static struct pair take_pair(struct pair a, struct pair b)
{
	ENTER(take_pair);
	struct pair r = {a.x + 2 * b.x, a.n - b.n};

	LEAVE(take_pair);
	return r;
}

TRACED static struct mixed take_mixed(struct mixed a, struct pair b, struct mixed c)
{
	ENTER(take_mixed);
	struct mixed r = {a.a + c.b, a.b + c.c, a.c + (float)b.x, a.d + (int)b.n + c.d};

	LEAVE(take_mixed);
	return r;
}

TRACED static struct large take_large(struct large a, int n)
{
	ENTER(take_large);
	struct large r = a;

	for (int i = 0; i < 9; i++)
		r.numbers[i] += n * i;
	r.last *= n;
	LEAVE(take_large);
	return r;
}

TRACED static struct bytes take_bytes(struct bytes a, char b)
{
	ENTER(take_bytes);
	a.text[3] = b;
	LEAVE(take_bytes);
	return a;
}

TRACED static long take_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	ENTER(take_many);
	long r = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;

	LEAVE(take_many);
	return r;
}

TRACED static double add_list(int n, va_list list)
{
	ENTER(add_list);
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 3 == 0 ? va_arg(list, int) : va_arg(list, double);
	LEAVE(add_list);
	return sum;
}

/* al says how many vector registers hold arguments. */
TRACED static double add_all(int n, ...)
{
	ENTER(add_all);
	va_list list;

	va_start(list, n);
	double sum = add_list(n, list);

	va_end(list);
	LEAVE(add_all);
	return sum;
}

static void plain_values(int i)
{
	struct pair p = take_pair((struct pair){i + .5, i}, (struct pair){i, 3});
	struct mixed m = {1, 2, 3, i};
	struct large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, 2.5};
	struct bytes b = {"hello, world"};
	__int128 big = ((__int128)0x123456789abcdef << 64) | (unsigned)i;
	long double complex z = take_complex_long(i + 2.0L * I);

	expect("doubles", take_doubles(i, 2, 3, 4, 5, 6, 7, 8, 9, 10) == i + 384.);
	expect("floats", take_floats(1.5f, 2, .25f, i, 2.f, 'a') == 2.f + 2.f * (float)i + 97.f);
	expect("long doubles", take_long_doubles(1.5L, i, 4, 2) == 8.L + i);
	expect("complex", take_complex(i + 1. * I, 2.f - 1.f * I) == 2 * i + 2. + 1. * I);
	expect("long complex", creall(z) == 3 * i + 1.L && cimagl(z) == 6.L);
	expect("128-bit integers", take_int128(big, i) == ((big << 3) ^ i));
	expect("pairs", p.x == 3 * i + .5 && p.n == i - 3);
	m = take_mixed(m, (struct pair){7, 5}, m);
	expect("mixed structs", m.a == 3 && m.b == 5 && m.c == 10 && m.d == 2 * i + 5);
	l = take_large(l, i);
	expect("large structs", l.numbers[0] == 1 && l.numbers[8] == 9 + 8L * i && l.last == 2.5 * i);
	b = take_bytes(b, (char)(' ' + i % 64));
	expect("bytes", b.text[3] == ' ' + i % 64 && !strcmp(b.text + 4, "o, world"));
	expect("many integers", take_many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10) == i + 384);
	expect("variable arguments", add_all(9, i, .5, 1.5, 2, 2.5, 3.5, 4, 4.5, 5.5) == i + 24.);
	expect("variable arguments without doubles", add_all(1, i) == i);
}

/* -------------------------------------------------------------------- vectors */

TRACED static __m128d take_sse(__m128d a, __m128d b, __m128d c, __m128d d, __m128d e, __m128d f, __m128d g,
			       __m128d h)
{
	ENTER(take_sse);
	__m128d r = a + 2. * b + 3. * c + 4. * d + 5. * e + 6. * f + 7. * g + 8. * h;

	LEAVE(take_sse);
	return r;
}

__attribute__((target("avx"))) TRACED static __m256d take_avx(__m256d a, __m256d b, __m256d c, __m256d d,
							      __m256d e, __m256d f, __m256d g, __m256d h)
{
	ENTER(take_avx);
	__m256d r = a + 2. * b + 3. * c + 4. * d + 5. * e + 6. * f + 7. * g + 8. * h;

	LEAVE(take_avx);
	return r;
}

__attribute__((target("avx512f"))) TRACED static __m512i take_avx512(__m512i a, __m512i b, __m512i c, __m512i d,
								     __m512i e, __m512i f, __m512i g, __m512i h,
								     __m512i i)
{
	ENTER(take_avx512);
	__m512i r = _mm512_add_epi64(_mm512_xor_si512(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d)),
				     _mm512_xor_si512(_mm512_add_epi64(e, f), _mm512_add_epi64(g, h)));

	r = _mm512_add_epi64(r, i);
	LEAVE(take_avx512);
	return r;
}

__attribute__((target("avx512f"))) TRACED static __mmask16 take_masks(__mmask16 a, __m512i b)
{
	ENTER(take_masks);
	__mmask16 r = _mm512_mask_test_epi32_mask(a, b, b);

	LEAVE(take_masks);
	return r;
}

static void sse_values(int i)
{
	__m128d a = {i, 1}, b = {2, i};
	__m128d r = take_sse(a, b, a, b, a, b, a, b);

	expect("128-bit vectors", r[0] == 16. * i + 40 && r[1] == 16 + 20. * i);
}

__attribute__((target("avx"))) static void avx_values(int i)
{
	__m256d a = {i, 1, 2, 3}, b = {4, i, 5, i};
	__m256d r = take_avx(a, b, a, b, a, b, a, b);

	expect("256-bit vectors", r[0] == 16. * i + 80 && r[1] == 16 + 20. * i && r[2] == 132 && r[3] == 48 + 20. * i);
}

__attribute__((target("avx512f"))) static void avx512_values(int i)
{
	__m512i v[9], want;
	long out[8], wanted[8];

	for (int k = 0; k < 9; k++)
		v[k] = _mm512_add_epi64(_mm512_set1_epi64((long)i * 0x123456789abcdefl * (k + 1)),
					_mm512_set_epi64(1, 2, 3, 4, 5, 6, 7, k));
	want = take_avx512(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
	memcpy(out, &want, sizeof(out));
	for (int lane = 0; lane < 8; lane++) {
		long x[9];

		for (int k = 0; k < 9; k++) {
			long all[8];

			memcpy(all, &v[k], sizeof(all));
			x[k] = all[lane];
		}
		wanted[lane] = (((x[0] + x[1]) ^ (x[2] + x[3])) + ((x[4] + x[5]) ^ (x[6] + x[7]))) + x[8];
	}
	expect("512-bit vectors", !memcmp(out, wanted, sizeof(out)));
	expect("masks", take_masks((__mmask16)i, _mm512_set1_epi32(3)) == (__mmask16)i);
}

int scene_values(void)
{
	__builtin_cpu_init();
	int avx = __builtin_cpu_supports("avx"), avx512 = __builtin_cpu_supports("avx512f");

	for (int i = 0; i < 500; i++) {
		plain_values(i);
		sse_values(i);
		if (avx)
			avx_values(i);
		if (avx512)
			avx512_values(i);
	}
	printf("values: %d wrong%s%s\n", wrong, avx ? "" : ", no AVX here", avx512 ? "" : ", no AVX-512 here");
	return wrong != 0;
}
