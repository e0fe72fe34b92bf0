/* SPDX-License-Identifier: MIT */
/* graph.c - the graph tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_graph = { 0 };
