/* SPDX-License-Identifier: MIT */
/* record.c - the record tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_record = { 0 };
