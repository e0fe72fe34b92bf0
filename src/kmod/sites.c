/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sites.c - events of instrumented modules. */
#include "kmod.h"

int hodo_sites_init(void)
{
	return 0;
}

void hodo_sites_exit(void)
{
}
