/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* compat.h - what differs between the kernels from 6.1 on; nowhere else is a version asked for. */
#ifndef HODO_KMOD_COMPAT_H
#define HODO_KMOD_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

static inline void hodo_vma_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

#endif
