/* SPDX-License-Identifier: MIT */
/* shorts.c - finds an address from the bits of it in a call's record (hodo/abi.h). */
#include <read/read_impl.h>

#define PLACE_BITS 14 /* addresses of 16 KiB share a place in shorts->near */

static bool has(const struct hodo_short *o, uint64_t bits, uint64_t ticks, uint64_t *address)
{
	*address = o->start + ((bits - o->start) & (HODO_SHORT_SPAN - 1));
	return *address < o->end && ticks >= o->from && ticks < o->until;
}

uint64_t hodo_read_shorts_address(struct hodo_shorts *shorts, uint64_t bits, uint64_t ticks)
{
	uint32_t *near = &shorts->near[bits >> PLACE_BITS & (sizeof(shorts->near) / sizeof(*shorts->near) - 1)];
	uint64_t address;

	if (*near < shorts->n && has(&shorts->object[*near], bits, ticks, &address))
		return address;
	for (uint32_t i = 0; i < shorts->n; i++) {
		if (has(&shorts->object[i], bits, ticks, &address)) {
			*near = i;
			return address;
		}
	}
	return bits;
}
