/* SPDX-License-Identifier: MIT */
/*
 * probe.c - any bytes as code, and as .eh_frame: the planner stays within its bounds whatever it finds. The
 * first byte is the number of functions into which the code is cut.
 */
#include <errno.h>
#include <lib/fuzz.h>
#include <probe/code/code_impl.h>
#include <probe/patch/whole_functions.h>
#include <string.h>

#define AT 0x400000u

static void check_window(const struct hodo_probe_object *o, const struct hodo_probe_planned *p)
{
	const struct hodo_probe_window *w = &p->window;
	const struct hodo_probe_segment *s = &o->segments[0];

	if (w->kind == HODO_PROBE_NONE) {
		fuzz_check(w->reason != HODO_PROBE_FINE, "no probe, and no reason");
		return;
	}
	fuzz_check((w->reason == HODO_PROBE_FINE) == (w->kind == HODO_PROBE_JUMP), "what is no jump has a reason");
	fuzz_check(w->addr >= s->start && w->addr + w->len <= s->end, "a window is in its code");
	fuzz_check(w->len <= HODO_PROBE_WINDOW_BYTES && w->n && w->n <= HODO_PROBE_WINDOW_INSTRUCTIONS,
		   "a window is bounded");
	fuzz_check(w->kind != HODO_PROBE_JUMP || w->len >= HODO_PROBE_JUMP_BYTES, "a jump has room");
	fuzz_check(!memcmp(w->bytes, s->bytes + (w->addr - s->start), w->len), "a window has the bytes of the file");
	fuzz_check(w->hooks && !(w->hooks >> w->n), "hooks are at instructions");
	for (unsigned k = 1; k < w->n; k++)
		fuzz_check(w->at[k] > w->at[k - 1] && w->at[k] < w->len, "instructions are in order");
	for (unsigned k = 1; k < w->n; k++)
		fuzz_check(w->kind != HODO_PROBE_JUMP || w->at[k] >= HODO_PROBE_JUMP_BYTES ||
				   (w->boundaries >> w->at[k] & 1),
			   "each begin of an instruction is a boundary");
}

static void plan(const uint8_t *data, size_t len, unsigned functions, bool enter)
{
	struct hodo_probe_object o = { .enter_windows = enter };
	struct hodo_probe_plan p = { 0 };

	if (hodo_probe_object_add_code(&o, AT, data, len) != 0)
		abort();
	for (unsigned i = 0; i < functions; i++) {
		struct hodo_probe_function f = { .start = AT + len * i / functions,
						 .end = AT + len * (i + 1) / functions - (i & 3) };

		if (hodo_probe_object_add(&o, &f) != 0)
			abort();
	}
	if (hodo_probe_object_decode(&o, NULL) != 0)
		abort();
	for (uint32_t i = 0; i < o.nfunctions; i++)
		if (hodo_probe_plan_function(&p, &o, i, true, true) != 0)
			abort();
	for (uint32_t i = 0; i < p.n; i++)
		check_window(&o, &p.list[i]);
	for (size_t at = 0; at < len; at++) {
		struct hodo_probe_planned one = { 0 };

		hodo_probe_window_at(&o, AT + at, &one.window);
		check_window(&o, &one);
	}
	hodo_probe_plan_free(&p);
	hodo_probe_object_close(&o);
}

static int take_frame(void *arg, const struct hodo_probe_frame *f)
{
	fuzz_check(f->end > f->start, "a frame has bytes");
	return ++*(unsigned *)arg == 4096 ? -E2BIG : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned frames = 0;

	if (len < 2 || len > 1 << 16)
		return 0;
	plan(data + 1, len - 1, 1 + (data[0] & 15), data[0] & 16);
	hodo_probe_frames(data, len, AT, take_frame, &frames);
	return 0;
}
