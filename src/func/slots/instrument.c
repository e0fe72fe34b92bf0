/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - slots of -finstrument-functions: calls of
 * __cyg_profile_func_enter and _exit, which libc also has, as empty functions. libhodo comes before libc.
 * Calls that do not lead to libhodo are not used: see user/objects/imports.c.
 */
#include "near.h"
#include <user/objects/objects.h>
#include <func/dispatch.h>
#include "slots.h"

void hodo_scan_instrument(struct hodo_scan *scan)
{
	struct hodo_import imports[2];
	struct hodo_dynamic dynamic = hodo_dynamic_read(scan->info);

	hodo_mcount_look(&dynamic);
	if (!hodo_imports_instrument(imports) || !hodo_imports_any(&dynamic, imports, 2))
		return;
	hodo_store_release(&hodo_x86_enter_to, (void *)(hodo_x86_near + HODO_HOOK_ENTRY_SP * HODO_NEAR_STUB_BYTES));
	hodo_store_release(&hodo_x86_exit_to, (void *)(hodo_x86_near + HODO_HOOK_EXIT_SP * HODO_NEAR_STUB_BYTES));
	hodo_scan_imports(scan, &dynamic, imports, 2, HODO_SLOT_CALL, false);
}
