/* SPDX-License-Identifier: MIT */
/*
 * work.h - the functions whose calls are measured: work.c is compiled twice into
 * each program, as plain_… without, and as traced_… with what the tracer needs.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>

/* fib(n) takes 2 * fib(n + 1) - 1 calls: none is inlined or made a jump. */
uint64_t plain_fib(uint64_t n);
uint64_t traced_fib(uint64_t n);
/* One step of a random sequence. */
uint64_t plain_step(uint64_t x);
uint64_t traced_step(uint64_t x);

#endif
