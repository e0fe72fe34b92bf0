/* SPDX-License-Identifier: MIT */
/*
 * shadow.c - core/shadow.c: worlds that the input determines, whose truth is
 * known, and entries, exits and landings of arbitrary addresses, for which every
 * frame must be closed exactly once.
 */
#include <stdlib.h>
#include <string.h>

#include <lib/fuzz.h>

#include <unit/core/shadow_world.h>

#define ENTRIES 4096

static unsigned char times[ENTRIES];
static uint64_t entered;

static void closed(struct hodo_shadow *s, const struct hodo_frame *f, enum hodo_frame_end end, uint64_t now)
{
	(void)s;
	(void)end;
	(void)now;
	if (f->user >= entered || times[f->user]++)
		abort();
}

static bool agrees(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t function)
{
	(void)s;
	return f->function == function;
}

/* Four bytes per event: what it is, its address, its function and thread, the address's last bits. */
static void raw(const uint8_t *data, size_t len)
{
	static struct hodo_frame frames[2][40], slots[32];
	struct hodo_parked parked = { .slots = slots, .mask = 31 };
	struct hodo_shadow shadows[2];

	memset(slots, 0, sizeof(slots));
	memset(times, 0, sizeof(times));
	entered = 0;
	for (int i = 0; i < 2; i++)
		shadows[i] = (struct hodo_shadow){ .frames = frames[i], .max = 40, .parked = &parked, .closed = closed,
						   .stack_low = i ? 0 : 0x80000, .stack_high = i ? 0 : 0x100000 };
	for (uint64_t now = 1; len >= 4 && now < ENTRIES; data += 4, len -= 4, now++) {
		struct hodo_shadow *s = &shadows[data[2] >> 7];
		uint64_t at = (uint64_t)data[1] << 14 | (uint64_t)data[3] << 3, function = data[2] & 3;
		struct hodo_frame *f;

		if (data[0] & 1) {
			hodo_shadow_exit(s, at, function, now, data[0] & 2, data[0] & 4 ? agrees : NULL);
			continue;
		}
		if (data[0] >> 4 == 0xe && data[0] != 0xee) {
			hodo_shadow_landed(s, at, now, data[0] & 2);
			continue;
		}
		if (data[0] == 0xfe)
			hodo_shadow_clear(s, now);
		f = hodo_shadow_enter(s, at, function, now, data[0] & 2);
		if (f)
			f->user = entered++;
	}
	for (int i = 0; i < 2; i++)
		hodo_shadow_clear(&shadows[i], ENTRIES);
	for (int i = 0; i < 32; i++)
		if (slots[i].at && slots[i].sp <= 1)
			closed(shadows, &slots[i], HODO_FRAME_LEFT, ENTRIES);
	for (uint64_t i = 0; i < entered; i++)
		if (times[i] != 1)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct world w;
	struct world_options o = { .steps = 5000 };

	if (!len)
		return 0;
	if (data[0] & 0x80) {
		raw(data + 1, len - 1);
		return 0;
	}
	o.stacks_known = data[0] & 1;
	o.coroutines = data[0] & 2;
	o.silent_moves = data[0] & 4;
	o.calm = data[0] & 8 && !o.coroutines;
	o.sp = data[0] & 16 && !o.coroutines && o.stacks_known;
	o.script = data + 1;
	o.script_len = len - 1;
	world_run(&w, &o);
	world_end(&w);
	for (uint32_t i = 0; i < w.nframes; i++)
		if (w.frames[i].closed != !w.frames[i].refused)
			abort();
	world_free(&w);
	return 0;
}
