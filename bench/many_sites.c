/* SPDX-License-Identifier: MIT */
/*
 * many_sites.c - 1,000 events, each with one site, in 100 functions; built ten
 * times, with MANY from 0 to 9, for the 10,000 sites of enable.c.
 */
#include <hodo/trace.h>

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b
/* Three times the same, since a macro is not expanded inside itself. */
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN_2(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN_3(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define SITE(n) HODO_EVENT(many, site_##n, x);
#define FUNCTION(n) static __attribute__((noinline)) void run_##n(int x) { TEN(SITE, n) }
#define FUNCTIONS(n) TEN_2(FUNCTION, n)
#define CALL(n) run_##n(x);
#define CALLS(n) TEN_2(CALL, n)

#define ALL(many) ALL_(many)
#define ALL_(many) TEN_3(FUNCTIONS, many) void run_many_##many(int x) { TEN_3(CALLS, many) }

void PASTE(run_many_, MANY)(int x);
ALL(MANY)
