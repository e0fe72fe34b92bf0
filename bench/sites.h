/* SPDX-License-Identifier: MIT */
/* sites.h - the two measured events, by Hodoscope or (BENCH_LTTNG) by LTTng-UST: all else is one source. */
#ifndef BENCH_SITES_H
#define BENCH_SITES_H

#ifdef BENCH_LTTNG
#include "lttng_bench.h"
#define BENCH_NUM(i, value) lttng_ust_tracepoint(bench, num, i, value)
#define BENCH_STR(i, text) lttng_ust_tracepoint(bench, str, i, text)
#else
#include <hodo/trace.h>
#define BENCH_NUM(i, value) HODO_EVENT(bench, num, i, value)
#define BENCH_STR(i, text) HODO_EVENT(bench, str, i, text)
#endif

#endif
