/* SPDX-License-Identifier: MIT */
/* stack.c - the stack tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_stack = { 0 };
