/* SPDX-License-Identifier: MIT */
/* check.c - checks whether a file is a valid plan: its addresses and bytes must be consistent. */
#include "engine.h"

#include <core/search.h>
#include <user/objects/objects.h>

#define JUMP 0xe9
#define USER_END (1ull << 47)

/* The entries of a table; NULL: they lie outside the file. */
static const void *table(const struct hodo_engine_plan *p, const struct hodo_plan_table *t, size_t size,
			 uint64_t bytes)
{
	if (t->offset % 8 || t->offset > bytes || t->n > (bytes - t->offset) / size)
		return 0;
	return p->file + t->offset;
}

static bool check_pages(const struct hodo_engine_plan *p, uint64_t bytes)
{
	uint64_t end = HODO_PAGE;

	for (uint32_t i = 0; i < p->head->pages.n; i++) {
		const struct hodo_plan_pages *x = &p->pages[i];

		if ((x->addr | x->offset | x->bytes) % HODO_PAGE || !x->bytes || x->addr < end || x->addr >= USER_END ||
		    x->bytes > USER_END - x->addr || x->offset > bytes || x->bytes > bytes - x->offset)
			return false;
		end = x->addr + x->bytes;
	}
	return true;
}

static bool in_pages(const struct hodo_engine_plan *p, uint64_t addr, uint64_t len, uint32_t flags)
{
	uint32_t n = hodo_search(i, p->head->pages.n, p->pages[i].addr > addr);
	const struct hodo_plan_pages *x = &p->pages[n ? n - 1 : 0];

	return n && x->flags == flags && addr - x->addr < x->bytes && len <= x->bytes - (addr - x->addr);
}

/* int3, or a byte that begins no instruction in 64-bit mode: otherwise, nobody could tell where a thread was. */
static bool traps(uint8_t byte)
{
	static const uint8_t list[] = { 0xcc, 0x06, 0x0e, 0x16, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
					0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xea };

	for (size_t i = 0; i < sizeof(list); i++) {
		if (byte == list[i])
			return true;
	}
	return false;
}

static bool has_trap(const struct hodo_engine_plan *p, uint64_t addr)
{
	uint32_t i = hodo_engine_trap_index(p, addr);

	return i < p->head->traps.n && p->traps[i].from == addr;
}

static bool check_window(const struct hodo_engine_plan *p, const struct hodo_plan_window *w)
{
	bool jump = w->flags & HODO_PLAN_JUMP;
	int32_t distance;

	hodo_rest(300);
	if (w->len < (jump ? sizeof(w->jump) : 1) || w->len > HODO_PLAN_WINDOW_BYTES || w->addr >= USER_END ||
	    w->boundaries & ~(jump ? 0x1eu : 0u) || !has_trap(p, w->addr))
		return false;
	for (unsigned k = 1; k < sizeof(w->jump); k++) {
		if (w->boundaries >> k & 1 && (!traps(w->jump[k]) || !has_trap(p, w->addr + k)))
			return false;
	}
	__builtin_memcpy(&distance, w->jump + 1, sizeof(distance));
	if (!jump)
		return true;
	return w->jump[0] == JUMP && in_pages(p, w->addr + sizeof(w->jump) + (uint64_t)(int64_t)distance, 1, 0);
}

static bool check_windows(const struct hodo_engine_plan *p)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->windows[i].addr < end || !check_window(p, &p->windows[i]))
			return false;
		end = p->windows[i].addr + p->windows[i].len;
	}
	return true;
}

static bool check_traps(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->traps.n; i++) {
		if ((i && p->traps[i].from <= p->traps[i - 1].from) || !in_pages(p, p->traps[i].to, 1, 0))
			return false;
	}
	return true;
}

static bool check_fixes(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->fixes.n; i++) {
		const struct hodo_plan_fix *x = &p->fixes[i];

		if (x->import >= HODO_PLAN_IMPORTS || x->addr % 8 || !in_pages(p, x->addr, 8, HODO_PLAN_DATA))
			return false;
	}
	return true;
}

/* Nothing refers to pages then, and nothing would map them. */
static bool check_empty(const struct hodo_plan *head)
{
	return head->windows.n || !head->pages.n;
}

static bool check_functions(const struct hodo_engine_plan *p)
{
	uint32_t n = p->head->windows.n;

	for (uint32_t i = 0; i < p->head->functions.n; i++) {
		const struct hodo_plan_function *f = &p->functions[i];

		if ((i && f->addr <= p->functions[i - 1].addr) || (f->entry >= n && f->entry != HODO_PLAN_NO_WINDOW) ||
		    f->first > n || f->exits > n - f->first)
			return false;
	}
	return true;
}

/* The registry checks the descriptors' contents. */
static bool check_events(const struct hodo_engine_plan *p, uint64_t bytes)
{
	for (uint32_t i = 0; i < p->head->events.n; i++) {
		const struct hodo_plan_event *e = &p->events[i];
		const struct hodo_desc *desc = (const void *)(p->file + (e->desc < bytes ? e->desc : 0));

		if (e->desc % 8 || e->desc > bytes || e->bytes > bytes - e->desc || e->bytes < sizeof(*desc) ||
		    desc->kind != HODO_KIND_EVENT || e->window >= p->head->windows.n || e->state % 8 ||
		    e->semaphore % 2 || e->semaphore >= USER_END ||
		    !in_pages(p, e->state, sizeof(struct hodo_plan_state), HODO_PLAN_DATA))
			return false;
	}
	return true;
}

static bool check_replacements(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->replacements.n; i++) {
		const struct hodo_plan_replacement *r = &p->replacements[i];

		if (r->window >= p->head->windows.n || r->original % 8 || r->original >= USER_END ||
		    !in_pages(p, r->first, 1, 0))
			return false;
	}
	return true;
}

/* The contents of a description are trusted, like the slot's code. */
static bool check_frames(const struct hodo_engine_plan *p, uint64_t bytes)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < p->head->frames.n; i++) {
		const struct hodo_plan_frame *f = &p->frames[i];

		if (f->slot < end || !f->bytes || !in_pages(p, f->slot, f->bytes, 0) ||
		    f->window >= p->head->windows.n || f->header > bytes ||
		    bytes - f->header < HODO_PLAN_FRAME_HEADER_BYTES)
			return false;
		end = f->slot + f->bytes;
	}
	return true;
}

bool hodo_engine_check(struct hodo_engine_plan *p, uint64_t bytes)
{
	const struct hodo_plan *h = p->head;

	if (bytes < sizeof(*h) || __builtin_memcmp(h->magic, HODO_PLAN_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != HODO_ABI_VERSION || h->bytes != bytes)
		return false;
	p->pages = table(p, &h->pages, sizeof(*p->pages), bytes);
	p->windows = table(p, &h->windows, sizeof(*p->windows), bytes);
	p->traps = table(p, &h->traps, sizeof(*p->traps), bytes);
	p->fixes = table(p, &h->fixes, sizeof(*p->fixes), bytes);
	p->functions = table(p, &h->functions, sizeof(*p->functions), bytes);
	p->frames = table(p, &h->frames, sizeof(*p->frames), bytes);
	p->events = table(p, &h->events, sizeof(*p->events), bytes);
	p->replacements = table(p, &h->replacements, sizeof(*p->replacements), bytes);
	return p->pages && p->windows && p->traps && p->fixes && p->functions && p->events && p->frames &&
	       p->replacements && check_empty(h) && check_pages(p, bytes) && check_traps(p) &&
	       check_windows(p) && check_fixes(p) && check_functions(p) && check_events(p, bytes) &&
	       check_frames(p, bytes) && check_replacements(p);
}
