/* SPDX-License-Identifier: MIT */
/* thread.c - the thread tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_thread = { 0 };
