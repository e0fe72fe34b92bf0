/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* compat.h - what differs between the kernels from 6.1 on; nowhere else is a version asked for. */
#ifndef HODO_KMOD_COMPAT_H
#define HODO_KMOD_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
