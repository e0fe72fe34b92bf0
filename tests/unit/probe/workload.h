/* SPDX-License-Identifier: MIT */
/* workload.h - work with the same result each time, most of it done by one library. */
#ifndef HODO_TESTS_PROBE_WORKLOAD_H
#define HODO_TESTS_PROBE_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns a number made of all results. An error ends the process with SIGABRT. Any thread may call them. */
uint64_t workload_zlib(void);
uint64_t workload_sqlite(void);
uint64_t workload_math(void);
uint64_t workload_libc(void);
uint64_t workload_crypto(void);
uint64_t workload_cxx(void); /* exceptions are thrown through the functions of the library */

/* Adds bytes to a result. */
static inline uint64_t workload_add(uint64_t sum, const void *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ull;
	return sum;
}

#ifdef __cplusplus
}
#endif
#endif
