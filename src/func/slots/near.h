/* SPDX-License-Identifier: MIT */
/* near.h - for the readers of slots: places within reach of near calls, and where functions begin. */
#pragma once

#include "slots.h"
#include <user/objects/imports.h>
#include <func/hooks.h>

/* near.c; under the control lock */

/* A stub that jumps to hodo_func_hooks[hook], within reach of near calls from all of text … end; 0: not
 * possible. It stays forever. */
HODO_HIDDEN uintptr_t hodo_near_stub(uintptr_t text, uintptr_t end, enum hodo_hook hook);
/* Zeroed memory exactly there, writable until it is sealed: then read and execute. bytes: whole pages. */
HODO_HIDDEN bool hodo_near_map(uintptr_t at, size_t bytes);
HODO_HIDDEN bool hodo_near_seal(uintptr_t at, size_t bytes);

/* x86_64/near.S */
#define HODO_NEAR_STUB_BYTES 16u
extern HODO_HIDDEN const uint8_t hodo_x86_near[]; /* by enum hodo_hook, HODO_NEAR_STUB_BYTES each */

/* code.c */
#define HODO_XRAY_FILLER { 0x0f, 0x1f, 0x40, 0x00 } /* a no-op: the rest of a prepared sled */
HODO_HIDDEN bool hodo_xray_ours(const uint8_t *call, bool exit); /* whether it is the call of a prepared sled */

/* starts.c */

/* First addresses of functions, from the unwinders' search table (.eh_frame_hdr). */
struct hodo_starts {
	uintptr_t origin;
	const int32_t (*entry)[2];
	uint32_t n;
};
HODO_HIDDEN void hodo_starts_read(const struct dl_phdr_info *info, struct hodo_starts *starts);
/* The last one at or before addr, 0: none. *next: the one after it, or ~0. */
HODO_HIDDEN uintptr_t hodo_starts_find(const struct hodo_starts *starts, uintptr_t addr, uintptr_t *next);

/* imports.c: adds all slots that call them. always: they stay calls. */
HODO_HIDDEN void hodo_scan_imports(struct hodo_scan *scan, const struct hodo_dynamic *d,
				   const struct hodo_import *imports, unsigned n, enum hodo_slot_kind kind,
				   bool always);

/* entry_only.c: for each object, once: looks for -pg, even if functions are not wanted. */
HODO_HIDDEN void hodo_mcount_look(const struct hodo_dynamic *d);
