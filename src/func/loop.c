/* SPDX-License-Identifier: MIT */
/* loop.c - the loop tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_loop = { 0 };
