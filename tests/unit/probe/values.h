/* SPDX-License-Identifier: MIT */
/*
 * values.h - a program that prints what probes would find in it. Before each call it prints a line: a probe's text
 * and the values that the probe's fields must have, as test_values.c prints what the fetch programs found.
 */
#ifndef HODO_TESTS_PROBE_VALUES_H
#define HODO_TESTS_PROBE_VALUES_H

#include <stdio.h>

#ifdef __OPTIMIZE__
#define OPTIMIZED 1
#else
#define OPTIMIZED 0
#endif

#define APART __attribute__((noinline, noclone))
/* Keeps the value available here, wherever it is, and makes the line have code. */
#define KEEP(x) __asm__ volatile("nop" : : "g"(x) : "memory")
#define EXPECT(probe, ...) (printf("%s\t", probe), printf(__VA_ARGS__), putchar('\n'))

#endif
