/* SPDX-License-Identifier: MIT */
/* lttng_bench.h - LTTng-UST's provider for the same two events; its macros read this file many times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_bench.h"

#if !defined(LTTNG_BENCH_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_BENCH_H
#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, num, LTTNG_UST_TP_ARGS(int, i, uint64_t, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, i, i)
						       lttng_ust_field_integer(uint64_t, value, value)))
LTTNG_UST_TRACEPOINT_EVENT(bench, str, LTTNG_UST_TP_ARGS(int, i, const char *, text),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, i, i)
						       lttng_ust_field_string(text, text)))
#endif
#include <lttng/tracepoint-event.h>
