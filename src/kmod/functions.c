/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* functions.c - entry and exit of the kernel's functions. */
#include "kmod.h"

int hodo_functions_init(void)
{
	return 0;
}

void hodo_functions_exit(void)
{
}

int hodo_functions_start(const struct hodo_functions_config *config)
{
	return -EOPNOTSUPP;
}

void hodo_functions_stop(void)
{
}
