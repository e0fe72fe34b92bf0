/* SPDX-License-Identifier: MIT */
/*
 * loader.c - notices dlopen and dlclose.
 *
 * The loader calls an empty function (its address is _r_debug.r_brk) before and after it changes its list of objects,
 * so that debuggers can stop there; new objects are mapped then and their constructors have not run.
 * Replacing dlopen() instead would break callers that depend on $ORIGIN. The function is one return
 * instruction, padded to 16 bytes: there is room for a jump to ours. If it does not look like that, nothing
 * is changed, and objects opened later are left alone: we would not hear of their end either.
 *
 * Called under the loader's lock, so never twice at once, and never while another thread is in that function,
 * which makes the patch safe in a program with threads.
 */
#include <fcntl.h>
#include "opened.h"
#include <user/libc/sys.h>
#include <user/flight/flight.h>
#include <user/libc/libc.h>
#include <user/process/process.h>
#include "objects.h"

static const struct r_debug *debug; /* the loader's own */
static uint64_t unload_mask;
static bool unloading, borrowed;

/*
 * From RT_DELETE until the list is consistent again, objects vanish: the control lock stops other threads
 * from patching code that is being unmapped.
 */
static void loader_changed(void)
{
	if (debug->r_state == RT_DELETE || hodo_namespaces_unload()) {
		if (!unloading) {
			unload_mask = hodo_control_borrow(&borrowed);
			unloading = true;
		}
		return;
	}
	if (debug->r_state != RT_CONSISTENT)
		return;
	if (!unloading)
		unload_mask = hodo_control_borrow(&borrowed);
	unloading = false;
	hodo_libc_objects_settle();
	hodo_objects_scan();
	hodo_flight_objects();
	hodo_sites_patch();
	/* musl's fork() waits for us, and we have borrowed its lock: do it another time. */
	if (!borrowed)
		hodo_opened();
	hodo_control_give_back(unload_mask, borrowed);
}

#ifdef __x86_64__
/* The function is called with the ABI of an ordinary call. */
static bool is_padding(const uint8_t *p, const uint8_t *end)
{
	for (; p < end; p++) {
		/* bytes of which multi-byte no-ops are made: prefixes, 0f 1f, operands, 90, and int3 */
		if (*p != 0x66 && *p != 0x2e && *p != 0x0f && *p != 0x1f && *p != 0x84 && *p != 0x00 &&
		    *p != 0x80 && *p != 0x40 && *p != 0x44 && *p != 0x90 && *p != 0xcc)
			return false;
	}
	return true;
}

void hodo_loader_hook(void)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t *f, *end, jump[14];
	intptr_t distance;
	long len;

	debug = hodo_namespaces_debug();
	if (!debug || !debug->r_brk)
		return; /* a static program */
	hodo_loader_blind = true;
	f = (uint8_t *)debug->r_brk;
	if (__builtin_memcmp(f, endbr, sizeof(endbr)) == 0)
		f += sizeof(endbr);
	end = (uint8_t *)(((uintptr_t)f + 16) & ~(uintptr_t)15);
	distance = (intptr_t)loader_changed - (intptr_t)(f + 5);
	if (distance == (int32_t)distance) {
		jump[0] = 0xe9; /* jmp rel32 */
		__builtin_memcpy(jump + 1, &(int32_t){ (int32_t)distance }, 4);
		len = 5;
	} else { /* linked into an executable, far from the loader: jmp *0(%rip), and the address */
		static const uint8_t far_jump[] = { 0xff, 0x25, 0, 0, 0, 0 };

		__builtin_memcpy(jump, far_jump, 6);
		__builtin_memcpy(jump + 6, &(uintptr_t){ (uintptr_t)loader_changed }, 8);
		len = 14;
	}
	if (*f != 0xc3 || end - f < len || !is_padding(f + 1, end))
		return;
	/* The rest first: until the first byte changes, it is padding, which is never executed. */
	hodo_loader_blind = hodo_patch_write((uintptr_t)(f + 1), jump + 1, (size_t)len - 1) != 0 ||
			    hodo_patch_write((uintptr_t)f, jump, 1) != 0;
}
#else
void hodo_loader_hook(void)
{
	debug = hodo_namespaces_debug();
	hodo_loader_blind = debug && debug->r_brk;
	(void)loader_changed;
}
#endif
