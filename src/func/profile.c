/* SPDX-License-Identifier: MIT */
/* profile.c - the profile tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_profile = { 0 };
