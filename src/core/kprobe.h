/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kprobe.h - whether a struct hodo_kprobe is as it must be, before the kernel follows what it says. */
#ifndef HODO_CORE_KPROBE_H
#define HODO_CORE_KPROBE_H

#include <hodo/abi_kernel.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

/*
 * The `size` bytes at k, from anywhere, aligned to 8. If they are a probe, its texts: the function's name, the event's,
 * then the fields'; text has room for HODO_FIELDS_MAX + 2. Event and fields can be named so: an event has no '/' and
 * nothing that is not printed, a field is an identifier.
 */
bool hodo_kprobe_check(const struct hodo_kprobe *k, size_t size, const char **text);

/* Bytes that the values take at most. */
uint32_t hodo_kprobe_bytes(const struct hodo_kprobe *k);

#endif
