/* SPDX-License-Identifier: MIT */
/* probe_live.h - hodo probe add, list, remove: the probes of a running recording. */
#pragma once

#include <cli/options.h>

/* Words: add|list|remove, a pid or a program, probes. The exit status. */
int hodo_probe_live(const struct hodo_args *a);
