/* SPDX-License-Identifier: MIT */
/* live.c - see live.h. Between the writes of live_set() it calls nothing, since it may be writing to libc. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live.h"

#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <lib/unit.h>

#define HOOK_BYTES 30
#define MAPS_BYTES (1u << 20)
#define INDEX_MASK ((1u << 20) - 1)

/* Where a trap is, and where execution goes on. */
static struct {
	uint64_t addr, to;
} *traps;
static struct live *served;

/* ------------------------------------------------------------------------- find */

struct wanted {
	struct live *l;
	const char *name;
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *w = arg;
	size_t len = strlen(info->dlpi_name), end = strlen(w->name);

	(void)size;
	if (len < end || strcmp(info->dlpi_name + len - end, w->name) != 0)
		return 0;
	snprintf(w->l->path, sizeof(w->l->path), "%s", info->dlpi_name);
	w->l->bias = info->dlpi_addr;
	return 1;
}

static void read_maps(struct hodo_probe_space *s)
{
	char *text = calloc(1, MAPS_BYTES);
	FILE *f = fopen("/proc/self/maps", "r");

	assert_non_null(text);
	assert_non_null(f);
	assert_in_range(fread(text, 1, MAPS_BYTES - 1, f), 100, MAPS_BYTES - 2);
	fclose(f);
	assert_int_equal(hodo_probe_space_maps(s, text), 0);
	free(text);
}

/* ------------------------------------------------------------------------- slots */

/* The hook preserves flags, registers and the red zone. */
static size_t put_hook(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes)
{
	static const uint8_t code[HOOK_BYTES] = {
		0x48, 0x8d, 0x64, 0x24, 0x80,                    /* lea -128(%rsp),%rsp */
		0x9c, 0x50,                                      /* pushf; push %rax */
		0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,              /* movabs $count,%rax */
		0x48, 0xff, 0x00,                                /* incq (%rax) */
		0x58, 0x9d,                                      /* pop %rax; popf */
		0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,           /* lea 128(%rsp),%rsp */
	};
	struct live_probe *p = arg;
	uint64_t *count = &p->counts[instruction];

	(void)address;
	assert_int_equal(bytes, sizeof(code));
	memcpy(to, code, sizeof(code));
	memcpy(to + 9, &count, sizeof(count));
	return sizeof(code);
}

static void index_trap(uint64_t addr, uint64_t to)
{
	uint32_t i = (uint32_t)(addr * 0x9e3779b97f4a7c15ull >> 40) & INDEX_MASK;

	while (traps[i].addr)
		i = (i + 1) & INDEX_MASK;
	traps[i].addr = addr;
	traps[i].to = to;
}

static void put_slot(struct live *l, uint32_t k)
{
	const struct hodo_probe_window *w = &l->plan.list[k].window;
	struct live_probe *p = &l->probes[k];
	uint8_t *to;

	if (!p->slot.slot)
		return;
	to = (uint8_t *)(uintptr_t)p->slot.slot;
	assert_int_equal(hodo_probe_recipe_emit(&p->recipe, p->slot.slot, to, put_hook, p), 0);
	l->jumps += w->kind == HODO_PROBE_JUMP;
	l->traps += w->kind == HODO_PROBE_TRAP;
	p->jump[0] = 0xcc;
	if (w->kind == HODO_PROBE_JUMP)
		assert_int_equal(hodo_probe_recipe_jump(&p->recipe, p->slot.slot, p->jump), 0);
	else
		index_trap(p->recipe.addr, p->slot.slot);
	for (unsigned i = 1; i < w->n; i++)
		if (w->boundaries >> w->at[i] & 1)
			index_trap(p->recipe.addr + w->at[i], p->slot.slot + p->recipe.at[i]);
}

void live_open(struct live *l, const char *name, unsigned how)
{
	struct wanted wanted = { l, name };
	struct hodo_probe_slot *slots;
	struct hodo_elf e;
	enum hodo_probe_reason why;

	*l = (struct live){ .object.enter_windows = how & LIVE_ENTER,
			      .object.no_jumps = how & LIVE_TRAPS };
	assert_int_equal(dl_iterate_phdr(find, &wanted), 1);
	assert_int_equal(hodo_elf_open(&e, l->path), 0);
	assert_int_equal(hodo_probe_object_open(&l->object, &e, &why), 0);
	hodo_elf_close(&e);
	for (uint32_t i = 0; i < l->object.nfunctions; i++)
		assert_int_equal(hodo_probe_plan_function(&l->plan, &l->object, i, true, true), 0);
	l->probes = calloc(l->plan.n, sizeof(*l->probes));
	slots = calloc(l->plan.n, sizeof(*slots));
	traps = calloc(INDEX_MASK + 1, sizeof(*traps));
	assert_true(l->probes && slots && traps);
	for (uint32_t k = 0; k < l->plan.n; k++) {
		const struct hodo_probe_window *w = &l->plan.list[k].window;

		slots[k] = (struct hodo_probe_slot){ .addr = l->bias + w->addr, .low = l->bias + w->addr,
						     .high = l->bias + w->addr, .bytes = 1 };
		if (w->kind == HODO_PROBE_NONE)
			continue;
		assert_int_equal(hodo_probe_recipe_make(&l->probes[k].recipe, w, l->bias, HOOK_BYTES), 0);
		slots[k] = hodo_probe_slot_of(w, &l->probes[k].recipe);
	}
	read_maps(&l->space);
	if (how & LIVE_UNDEFINED)
		hodo_probe_space_take(&l->space, l->bias - (0x35ull << 24), l->bias - (0x32ull << 24));
	assert_int_equal(hodo_probe_place(&l->space, slots, l->plan.n), 0);
	for (uint32_t i = 0; i < l->space.npages; i++)
		assert_ptr_not_equal(mmap((void *)(uintptr_t)l->space.pages[i].addr, HODO_PROBE_PAGE_BYTES,
					  PROT_READ | PROT_WRITE | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), MAP_FAILED);
	for (uint32_t k = 0; k < l->plan.n; k++) {
		bool none = l->plan.list[k].window.kind == HODO_PROBE_NONE;

		assert_true(slots[k].slot != 0);
		l->probes[k].slot = slots[k];
		l->probes[k].slot.slot = none ? 0 : slots[k].slot;
		put_slot(l, k);
	}
	free(slots);
}

/* ------------------------------------------------------------------------ running */

/* Calls nothing, and is in no library whose code is changed. */
static void serve(int signal, siginfo_t *info, void *context)
{
	greg_t *at = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	uint64_t addr = (uint64_t)*at - (signal == SIGTRAP); /* int3 leaves the address after itself */
	uint32_t i = (uint32_t)(addr * 0x9e3779b97f4a7c15ull >> 40) & INDEX_MASK;

	(void)info;
	while (traps[i].addr && traps[i].addr != addr)
		i = (i + 1) & INDEX_MASK;
	if (!traps[i].addr)
		__builtin_trap(); /* not one of our traps: the signal is blocked here, and ends the process */
	served->trapped += signal == SIGTRAP;
	served->undefined += signal == SIGILL;
	*at = (greg_t)traps[i].to;
}

static void protect(const struct live *l, int rights)
{
	for (uint32_t i = 0; i < l->object.nsegments; i++) {
		uint64_t from = (l->bias + l->object.segments[i].start) & ~4095ull;
		uint64_t to = (l->bias + l->object.segments[i].end + 4095) & ~4095ull;

		assert_int_equal(mprotect((void *)(uintptr_t)from, to - from, rights), 0);
	}
}

static void write_all(const struct live *l, bool set)
{
	for (uint32_t k = 0; k < l->plan.n; k++) {
		const struct hodo_probe_window *w = &l->plan.list[k].window;
		volatile uint8_t *code = (volatile uint8_t *)(uintptr_t)(l->bias + w->addr);
		unsigned n = w->kind == HODO_PROBE_JUMP ? HODO_PROBE_JUMP_BYTES : w->kind == HODO_PROBE_TRAP;

		for (unsigned i = 0; i < n; i++)
			code[i] = set ? l->probes[k].jump[i] : w->bytes[i];
	}
}

void live_set(struct live *l)
{
	struct sigaction act = { .sa_sigaction = serve, .sa_flags = SA_SIGINFO };

	served = l;
	assert_int_equal(sigaction(SIGTRAP, &act, NULL), 0);
	assert_int_equal(sigaction(SIGILL, &act, NULL), 0);
	for (uint32_t k = 0; k < l->plan.n; k++)
		assert_int_equal(hodo_probe_window_compare(&l->plan.list[k].window,
			(const uint8_t *)(uintptr_t)(l->bias + l->plan.list[k].window.addr)), HODO_PROBE_FINE);
	protect(l, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_all(l, true);
}

void live_unset(struct live *l)
{
	write_all(l, false);
	protect(l, PROT_READ | PROT_EXEC);
}

/* ------------------------------------------------------------------------- counts */

unsigned live_hit(const struct live *l, uint64_t *calls)
{
	unsigned hit = 0;

	*calls = 0;
	for (uint32_t k = 0; k < l->plan.n; k++) {
		uint64_t n = 0;

		for (unsigned i = 0; i < HODO_PROBE_WINDOW_INSTRUCTIONS; i++)
			n += l->probes[k].counts[i];
		hit += n != 0;
		*calls += n;
	}
	return hit;
}

void live_balance(const struct live *l, uint64_t *entries, uint64_t *exits)
{
	*entries = *exits = 0;
	for (uint32_t k = 0; k < l->plan.n; k++) {
		const struct hodo_probe_planned *p = &l->plan.list[k];

		for (unsigned i = 0; i < p->window.n; i++) {
			bool exit = p->exits >> i & 1, entry = i == p->entry;

			*entries += entry ? l->probes[k].counts[i] : 0;
			*exits += exit ? l->probes[k].counts[i] : 0;
		}
	}
}

void live_close(struct live *l)
{
	hodo_probe_plan_free(&l->plan);
	hodo_probe_object_close(&l->object);
	hodo_probe_space_free(&l->space);
	free(l->probes);
	free(traps);
}
