/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* buffers.c - buffers/cpuN: one ring each, mapped by its reader. */
#include "kmod.h"

int hodo_buffers_init(void)
{
	return 0;
}
