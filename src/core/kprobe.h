/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kprobe.h - checks a struct hodo_kprobe before the kernel acts on it. */
#pragma once

#include <hodo/abi_kernel.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

/*
 * The `size` bytes at k, from anywhere, aligned to 8. If they are a valid probe, gives its texts: the names
 * of the function, of the event, then of the fields; text has room for HODO_FIELDS_MAX + 2. The names are
 * valid, too: an event's has no '/' and no unprintable character, a field's is an identifier.
 */
bool hodo_kprobe_check(const struct hodo_kprobe *k, size_t size, const char **text);

/* The most bytes that the values can take. */
uint32_t hodo_kprobe_bytes(const struct hodo_kprobe *k);
