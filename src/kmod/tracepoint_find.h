/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tracepoint_find.h - the kernel's tracepoints by name: few of them are exported. */
#pragma once

#include <linux/tracepoint.h>

/* One of vmlinux's; NULL: this kernel has none of that name. Sleeps. */
struct tracepoint *hodo_tracepoint_find(const char *name);
