/* SPDX-License-Identifier: MIT */
/*
 * many_functions.c - MANY thousand functions (1 or 2), each of MANY_STEPS steps (1 or 4), and
 * many_run(), which calls them all once. Programs with tens of thousands are linked
 * from copies of the object, in which many_run() has other names.
 */
#include "many_functions.h"

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b
/* Three times the same, since a macro is not expanded inside itself. */
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN_2(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN_3(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)

/* No two are alike, or the compiler would make them one. */
#define STEP x = x * 1103515245u + __COUNTER__; if (x & 64) table[x % MANY_TABLE] ^= x;
#define STEPS_1 STEP
#define STEPS_4 STEP STEP STEP STEP
#define FUNCTION(n) static __attribute__((noinline)) void many_##n(uint32_t x, uint32_t *table) \
	{ PASTE(STEPS_, MANY_STEPS) }
#define CALL(n) many_##n(x, table);
#define FUNCTIONS_10(n) TEN(FUNCTION, n)
#define CALLS_10(n) TEN(CALL, n)
#define FUNCTIONS_100(n) TEN_2(FUNCTIONS_10, n)
#define CALLS_100(n) TEN_2(CALLS_10, n)
#define FUNCTIONS_1000(n) TEN_3(FUNCTIONS_100, n)
#define CALLS_1000(n) TEN_3(CALLS_100, n)
#define THOUSANDS_1(m) m(a)
#define THOUSANDS_2(m) m(a) m(b)
#define THOUSANDS(m) PASTE(THOUSANDS_, MANY)(m)

THOUSANDS(FUNCTIONS_1000)

#ifdef __clang__
__attribute__((xray_never_instrument))
#endif
__attribute__((no_instrument_function)) void many_run(uint32_t x, uint32_t *table)
{
	THOUSANDS(CALLS_1000)
}
