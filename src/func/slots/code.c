/* SPDX-License-Identifier: MIT */
/* code.c - reads the code at a slot. Also runs in dispatch. */
#include "near.h"
#include "slots.h"

static const uint8_t filler[4] = HODO_XRAY_FILLER;

static bool is_filler(const uint8_t *p)
{
	return p[0] == filler[0] && p[1] == filler[1] && p[2] == filler[2] && p[3] == filler[3];
}

bool hodo_xray_ours(const uint8_t *call, bool exit)
{
	return call[0] == 0xe8 && (!exit || call[5] == 0xc3) && is_filler(call + (exit ? 6 : 5));
}

bool hodo_xray_ready(uintptr_t slot)
{
	const uint8_t *p = (const uint8_t *)slot;

	/* The slot is the jump's distance, or the return instruction. */
	return hodo_xray_ours(p + 1, *p == 0xc3 || *p == 0x90);
}

/*
 * First address of a function, judged by the call in its entry slot; only the code around the call may be
 * read. Within the page, it may be preceded by a jump to it (an XRay sled), an address-size prefix (the
 * linker made a call through the GOT a direct one), or endbr64.
 */
uintptr_t hodo_slot_function(uintptr_t call)
{
	uintptr_t room = call & (HODO_PAGE - 1);
	const uint8_t *p = (const uint8_t *)call;

	if (room >= 2 && p[-2] == 0xeb && hodo_xray_ready(call - 1)) {
		p -= 2;
		room -= 2;
	} else if (room >= 1 && p[-1] == 0x67) {
		p--;
		room--;
	}
	if (room >= 4 && p[-4] == 0xf3 && p[-3] == 0x0f && p[-2] == 0x1e && p[-1] == 0xfa)
		p -= 4;
	return (uintptr_t)p;
}
