/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* syscalls.c - system calls by name. */
#include "kmod.h"

int hodo_syscalls_init(void)
{
	return 0;
}

void hodo_syscalls_exit(void)
{
}
