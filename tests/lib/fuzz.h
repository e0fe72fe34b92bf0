/* SPDX-License-Identifier: MIT */
/* fuzz.h - what fuzzers share. Without libFuzzer, fuzz_replay.c runs them over their corpus. */
#ifndef HODO_TESTS_FUZZ_H
#define HODO_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static inline void fuzz_check(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz: %s\n", what);
		abort();
	}
}

#endif
