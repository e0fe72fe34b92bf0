/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tracepoints.c - the kernel's own tracepoints. */
#include "kmod.h"

int hodo_tracepoints_init(void)
{
	return 0;
}

void hodo_tracepoints_exit(void)
{
}
