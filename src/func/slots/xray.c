/* SPDX-License-Identifier: MIT */
/*
 * xray.c - slots of clang -fxray-instrument. Section xray_instr_map lists the sleds:
 *
 *	entry   EB 09 no-ops(9)      jmp over the no-ops
 *	exit    C3 no-ops(10)        ret
 *	tail    EB 09 no-ops(9)      before the jump to another function
 *
 * The no-ops are never executed. So they can be replaced at any time, once:
 *
 *	entry   EB 09 E8 rel32 0F 1F 40 00         EB 00 makes it call
 *	exit    C3 E8 rel32 C3 0F 1F 40 00         90 makes it call, then return
 *
 * and one byte turns the slot on and off. A sled that does not look exactly like this is left alone: the XRay
 * runtime may have patched it (XRAY_OPTIONS=patch_premain=true), and may do so at any time if the program
 * asks. It then overwrites the whole sled, including ours; hodo_xray_ready() detects that before a slot is
 * turned on. A program must not have the XRay runtime patch functions while one of our tracers uses them.
 */
#include "near.h"
#include <user/objects/objects.h>
#include <func/dispatch.h>
#include <func/names/names.h>
#include "slots.h"

#define SLED_BYTES 11

/* An entry of xray_instr_map, which is not aligned. version 0 and 1: absolute addresses; 2: relative to the field. */
struct sled {
	uint64_t address;
	uint64_t function;
	uint8_t kind, always, version, pad[13];
} __attribute__((packed));
enum { SLED_ENTRY = 0, SLED_EXIT = 1, SLED_TAIL = 2, SLED_ENTRY_ARGUMENTS = 3 }; /* others are not functions' */

static const uint8_t filler[4] = HODO_XRAY_FILLER;

/* Whether n bytes are no-op instructions. */
static bool are_noops(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	while (p < end) {
		while (p < end && (*p == 0x66 || *p == 0x2e))
			p++;
		if (p < end && *p == 0x90) {
			p++;
			continue;
		}
		if (end - p < 3 || p[0] != 0x0f || p[1] != 0x1f || (p[2] & 0xc0) == 0xc0 || (p[2] & 0xc7) == 5)
			return false;
		p += 3 + ((p[2] & 7) == 4) + (p[2] >> 6 == 1 ? 1 : p[2] >> 6 == 2 ? 4 : 0);
	}
	return p == end;
}

/* Makes the sled at p ours if it is untouched. Returns whether it is ours now. */
static bool prepare(const uint8_t *p, bool exit, uintptr_t stub, struct hodo_patch *patch)
{
	uintptr_t call = (uintptr_t)p + (exit ? 1 : 2);
	uint8_t bytes[10] = { 0xe8 };
	int32_t distance = (int32_t)(intptr_t)(stub - (call + 5));

	if (exit ? p[0] != 0xc3 && p[0] != 0x90 : p[0] != 0xeb || (p[1] != SLED_BYTES - 2 && p[1] != 0))
		return false;
	__builtin_memcpy(bytes + 1, &distance, 4);
	if (hodo_xray_ours((const uint8_t *)call, exit))
		return __builtin_memcmp((const void *)call, bytes, 5) == 0;
	if (exit ? p[0] != 0xc3 || !are_noops(p + 1, 10) : p[1] != SLED_BYTES - 2 || !are_noops(p + 2, 9))
		return false;
	if (exit)
		bytes[5] = 0xc3;
	__builtin_memcpy(bytes + (exit ? 6 : 5), filler, 4);
	hodo_patch_store(patch, call, bytes, exit ? 10 : 9);
	return true;
}

static uintptr_t field(const struct hodo_scan *scan, uintptr_t place, uint64_t value, uint8_t version)
{
	const struct hodo_func_object *o = scan->object;

	if (version == 2)
		return place + value;
	/* Relocated, or not yet. */
	return value >= o->text && value < o->text_end ? value : o->base + value;
}

static void take(struct hodo_scan *scan, const struct sled *sled, uintptr_t enter, uintptr_t leave,
		 struct hodo_patch *patch)
{
	uintptr_t addr = field(scan, (uintptr_t)sled, sled->address, sled->version);
	uintptr_t function = field(scan, (uintptr_t)sled + 8, sled->function, sled->version);
	bool exit = sled->kind == SLED_EXIT, entry = sled->kind == SLED_ENTRY || sled->kind == SLED_ENTRY_ARGUMENTS;
	bool planned = hodo_planned_has(function);

	/* A plan expects the original sled, not a prepared one. */
	scan->object->left_out |= planned;
	if (sled->version > 2 || sled->kind > SLED_ENTRY_ARGUMENTS || hodo_objects_room(addr, PF_X) < SLED_BYTES ||
	    planned || !prepare((const uint8_t *)addr, exit, entry ? enter : leave, patch))
		return;
	if (exit)
		hodo_scan_add(scan, addr, function, HODO_SLOT_XRAY, HODO_AT_EXIT, 0x90, 0xc3);
	else
		hodo_scan_add(scan, addr + 1, function, HODO_SLOT_XRAY, entry ? HODO_AT_ENTRY : HODO_AT_EXIT, 0,
			      SLED_BYTES - 2);
}

void hodo_scan_xray(struct hodo_scan *scan)
{
	static struct hodo_patch patch; /* too large for small stacks */
	const struct hodo_func_object *o = scan->object;
	struct hodo_names *names;
	uintptr_t map, enter, leave;
	size_t bytes = 0;

	scan->object->left_out = false;
	if (!hodo_patch_possible())
		return;
	names = hodo_scan_names(scan);
	if (!names)
		return;
	map = hodo_names_section(names, "xray_instr_map", &bytes);
	if (!map || hodo_objects_room(map, PF_R) < bytes)
		return;
	enter = hodo_near_stub(o->text, o->text_end, HODO_HOOK_ENTRY);
	leave = hodo_near_stub(o->text, o->text_end, HODO_HOOK_EXIT);
	if (!enter || !leave)
		return;
	hodo_patch_begin(&patch);
	for (size_t i = 0; i < bytes / sizeof(struct sled); i++)
		take(scan, (const struct sled *)map + i, enter, leave, &patch);
	hodo_patch_end(&patch);
}
