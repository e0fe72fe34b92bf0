/* SPDX-License-Identifier: MIT */
#ifndef BENCH_MANY_FUNCTIONS_H
#define BENCH_MANY_FUNCTIONS_H

#include <stdint.h>

#define MANY_TABLE 16

/* many_run_00() and so on come from copies of one object. */
#define MANY_RUN_TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
void many_run(uint32_t x, uint32_t *table);

#endif
