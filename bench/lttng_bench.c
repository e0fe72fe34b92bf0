/* SPDX-License-Identifier: MIT */
/* lttng_bench.c - the code of LTTng-UST's provider. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_bench.h"
