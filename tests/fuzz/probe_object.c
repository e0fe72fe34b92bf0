/* SPDX-License-Identifier: MIT */
/* probe_object.c - ELF files of any bytes: their functions, windows, the windows' copies and their places. */
#include <lib/folder.h>
#include <lib/fuzz.h>
#include <probe/patch/place.h>
#include <probe/patch/whole_functions.h>
#include <unistd.h>

#define PROBES_MAX 256u
#define BIAS       0x7f0000000000u

static void place(const struct hodo_probe_plan *p)
{
	struct hodo_probe_space space = { 0 };
	struct hodo_probe_slot slots[PROBES_MAX];
	struct hodo_probe_recipe r[PROBES_MAX];
	uint8_t code[HODO_PROBE_SLOT_BYTES], jump[HODO_PROBE_JUMP_BYTES];
	size_t n = 0;

	for (uint32_t i = 0; i < p->n && n < PROBES_MAX; i++) {
		const struct hodo_probe_window *w = &p->list[i].window;

		if (w->kind == HODO_PROBE_NONE)
			continue;
		fuzz_check(hodo_probe_recipe_make(&r[n], w, BIAS, 16) == 0, "a window has a copy");
		slots[n] = hodo_probe_slot_of(w, &r[n]);
		n++;
	}
	fuzz_check(hodo_probe_place(&space, slots, n) == 0, "places are looked for");
	for (size_t i = 0; i < n; i++) {
		if (!slots[i].slot)
			continue;
		fuzz_check(hodo_probe_recipe_emit(&r[i], slots[i].slot, code, NULL, NULL) == 0, "a place reaches");
		fuzz_check(slots[i].kind != HODO_PROBE_JUMP || hodo_probe_recipe_jump(&r[i], slots[i].slot, jump) == 0,
			   "a place can be reached");
	}
	hodo_probe_space_free(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_probe_object o = { .enter_windows = len & 1 };
	struct hodo_probe_plan p = { 0 };
	enum hodo_probe_reason why;
	struct hodo_elf e;
	char path[32];
	int fd = folder_memory(path, data, len), err = 0;

	if (hodo_elf_open(&e, path) == 0) {
		if (hodo_probe_object_open(&o, &e, &why) == 0) {
			for (uint32_t i = 0; i < o.nfunctions && !err; i++)
				err = hodo_probe_plan_function(&p, &o, i, true, true);
			place(&p);
			hodo_probe_plan_free(&p);
			hodo_probe_object_close(&o);
		}
		hodo_elf_close(&e);
	}
	close(fd);
	return 0;
}
