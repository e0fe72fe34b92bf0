/* SPDX-License-Identifier: MIT */
/* latency.c - the latency tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_latency = { 0 };
