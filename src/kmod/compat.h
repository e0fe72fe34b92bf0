/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* compat.h - differences between kernels since 6.1; only this file checks versions. */
#pragma once

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sysfs.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* As sysfs file operations take it. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
typedef const struct bin_attribute hodo_bin_attribute;
#else
typedef struct bin_attribute hodo_bin_attribute;
#endif

static inline void hodo_vma_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * Tracepoints called their probes with preemption off, which computations in event headers rely on. Later
 * kernels leave preemption unchanged.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0) || defined(HODO_TEST_NEWEST)
#define hodo_tracepoint_enter() preempt_disable_notrace()
#define hodo_tracepoint_leave() preempt_enable_notrace()
#else
#define hodo_tracepoint_enter() do { } while (0)
#define hodo_tracepoint_leave() do { } while (0)
#endif

/* Function entry and exit. Earlier, the handlers differed, and could not decline the exit; later, they differ
 * again. */
#if defined(CONFIG_FPROBE) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define HODO_HAVE_FPROBE
#endif

#ifdef CONFIG_DYNAMIC_FTRACE
/* In an ftrace handler: where the return address of the entered function is. */
static __always_inline unsigned long hodo_ftrace_stack(struct ftrace_regs *regs)
{
#ifdef ftrace_regs_get_stack_pointer
	return ftrace_regs_get_stack_pointer(regs);
#else
	return kernel_stack_pointer(&regs->regs);
#endif
}
#endif
