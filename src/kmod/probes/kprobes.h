/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kprobes.h - probes in any code of the kernel, owned by an open file of /dev/hodo: their events, and reading
 * their values. */
#pragma once

#include <kmod/event.h>

#include <hodo/abi_kernel.h>
#include <linux/ptrace.h>

/* Of one open file. All zero: none. Under hodo_lock. */
struct hodo_kprobes {
	struct list_head list; /* next NULL: not used yet */
	uint32_t n;
};

/* k: from user space, complete; kvfree()d later unless this fails. 0, or a negative errno as for
 * HODO_IOC_KPROBE. */
int hodo_kprobe_add(struct hodo_kprobes *kprobes, struct hodo_kprobe *k);
/* Removes all; no handler runs afterwards. says: reports how many were missed to the running recording. */
void hodo_kprobes_remove(struct hodo_kprobes *kprobes, bool says);

/* The wanted arguments of a call, kept until it returns. */
struct hodo_kprobe_entry {
	uint64_t ns;
	unsigned long argument[HODO_KPROBE_ARGUMENTS];
};

/* kprobes_fetch.c: any context. */
/* What hodo_kprobe_fetch() will need from the entry: a bit for each argument, and HODO_KPROBE_KEEPS_TIME. */
uint32_t hodo_kprobe_keeps(const struct hodo_kprobe *k);
#define HODO_KPROBE_KEEPS_TIME (1u << HODO_KPROBE_ARGUMENTS)
void hodo_kprobe_keep(struct hodo_kprobe_entry *entry, uint32_t keeps, struct pt_regs *regs);
/* Stores the values consecutively; returns their end, at most hodo_kprobe_bytes() later. entry: NULL unless
 * the function returns. */
uint8_t *hodo_kprobe_fetch(const struct hodo_kprobe *k, struct pt_regs *regs, const struct hodo_kprobe_entry *entry,
			   uint8_t *to);
