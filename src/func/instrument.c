/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - slots of -finstrument-functions: calls of
 * __cyg_profile_func_enter and _exit, which libc has too, and does nothing in.
 * libhodo comes in front of libc's.
 *
 * The calls are not used where they do not come to libhodo: the program has functions
 * of that name itself. If another library has them, in front of which
 * libhodo came (it is preloaded), they are passed on to that one, for good.
 */
#include "near.h"

extern HODO_HIDDEN void hodo_x86_enter(void *, void *), hodo_x86_exit(void *, void *);

#ifdef __x86_64__

extern HODO_HIDDEN void *hodo_x86_enter_to, *hodo_x86_exit_to;

static const char enter_name[] = "__cyg_profile_func_enter", exit_name[] = "__cyg_profile_func_exit";

/* libc's do: nothing is lost where they are not called. */
static bool returns_at_once(uintptr_t function)
{
	const uint8_t *p = (const uint8_t *)function;

	if (__builtin_memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0)
		p += 4;
	return *p == 0xc3;
}

/* The function of that name, in whatever object, that is called while libhodo's is there; NULL: none of use. */
static void *other(const char *name)
{
	uintptr_t next = hodo_imports_resolve(name, true);

	return next && !returns_at_once(next) ? (void *)next : 0;
}

/* Whether the calls come to libhodo, to be used. */
static bool settle(void)
{
	static bool settled, usable;
	void *enter, *exit;
	uintptr_t first;

	if (settled)
		return usable;
	settled = true;
	first = hodo_imports_resolve(enter_name, false);
	enter = other(enter_name);
	exit = other(exit_name);
	usable = !enter && !exit && (!first || first == (uintptr_t)hodo_x86_enter);
	if (!enter && !exit) {
		enter = (void *)(hodo_x86_near + HODO_HOOK_ENTRY_SP * HODO_NEAR_STUB_BYTES);
		exit = (void *)(hodo_x86_near + HODO_HOOK_EXIT_SP * HODO_NEAR_STUB_BYTES);
	}
	hodo_store_release(&hodo_x86_enter_to, enter);
	hodo_store_release(&hodo_x86_exit_to, exit);
	return usable;
}

void hodo_scan_instrument(struct hodo_scan *scan)
{
	const struct hodo_import imports[2] = {
		{ enter_name, (uintptr_t)hodo_x86_enter, HODO_SLOT_CALL, HODO_AT_ENTRY, false },
		{ exit_name, (uintptr_t)hodo_x86_exit, HODO_SLOT_CALL, HODO_AT_EXIT, false },
	};
	struct hodo_dynamic dynamic;

	if (!hodo_dynamic_read(scan->info, &dynamic))
		return;
	hodo_mcount_look(&dynamic);
	if (hodo_imports_any(&dynamic, imports, 2) && settle())
		hodo_imports_scan(scan, &dynamic, imports, 2);
}

#else

void hodo_scan_instrument(struct hodo_scan *scan)
{
}

#endif
