/* SPDX-License-Identifier: MIT */
/* space.c - keeps the books of an address space: what is mapped, and our pages. */
#include "space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/vec.h>
#include <core/search.h>

#define PIECES         (HODO_PROBE_PAGE_BYTES / HODO_PROBE_SLOT_ALIGN)
#define MARGIN         (64u << 10)  /* around all mappings */
#define HEAP_MARGIN    (512u << 20) /* brk() grows a heap; when it cannot, allocators use mappings */
#define STACK_MARGIN   (128u << 20) /* below the first thread's */
#define LOWEST         (1u << 20)   /* the kernel maps nothing near 0 */
#define HIGHEST        0x7ffffffff000ull

/* ------------------------------------------------------------------------- taken */

int hodo_probe_space_take(struct hodo_probe_space *s, uint64_t start, uint64_t end)
{
	struct hodo_probe_range range = { start, end };

	s->unsettled = true;
	return start < end ? hodo_vec_push(s->taken, s->ntaken, range) : 0;
}

static int take_line(struct hodo_probe_space *s, const char *line, size_t len)
{
	static const char heap[] = "[heap]", stack[] = "[stack]";
	uint64_t start, end, below = MARGIN, above = MARGIN;
	char range[64];

	snprintf(range, sizeof(range), "%.*s", (int)(len < sizeof(range) ? len : sizeof(range) - 1), line);
	if (sscanf(range, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || start >= end)
		return 0;
	if (memmem(line, len, heap, sizeof(heap) - 1))
		above = HEAP_MARGIN;
	else if (memmem(line, len, stack, sizeof(stack) - 1))
		below = STACK_MARGIN;
	return hodo_probe_space_take(s, start > below ? start - below : 0,
				     end < UINT64_MAX - above ? end + above : UINT64_MAX);
}

int hodo_probe_space_take_pages(struct hodo_probe_space *s, const struct hodo_probe_page *pages, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0, k; i < n && !err; i = k) {
		for (k = i + 1; k < n && pages[k].addr == pages[k - 1].addr + HODO_PROBE_PAGE_BYTES; k++)
			;
		err = hodo_probe_space_take(s, pages[i].addr, pages[k - 1].addr + HODO_PROBE_PAGE_BYTES);
	}
	hodo_probe_space_settle(s);
	return err;
}

int hodo_probe_space_maps(struct hodo_probe_space *s, const char *maps)
{
	int err = 0;

	while (*maps && !err) {
		size_t len = strcspn(maps, "\n");

		err = take_line(s, maps, len);
		maps += len + (maps[len] == '\n');
	}
	return err;
}

void hodo_probe_space_free(struct hodo_probe_space *s)
{
	free(s->taken);
	free(s->pages);
	*s = (struct hodo_probe_space){ 0 };
}

void hodo_probe_space_settle(struct hodo_probe_space *s)
{
	uint32_t n = 0;

	if (!s->unsettled)
		return;
	hodo_order_sort(s->taken, s->ntaken, hodo_order_u64);
	for (uint32_t i = 0; i < s->ntaken; i++) {
		struct hodo_probe_range *last = n ? &s->taken[n - 1] : NULL;

		if (last && s->taken[i].start <= last->end)
			last->end = s->taken[i].end > last->end ? s->taken[i].end : last->end;
		else
			s->taken[n++] = s->taken[i];
	}
	s->ntaken = n;
	s->unsettled = false;
}

bool hodo_probe_space_is_free(const struct hodo_probe_space *s, uint64_t start, uint64_t bytes)
{
	uint32_t i = hodo_search(k, s->ntaken, s->taken[k].end > start);

	return start >= LOWEST && start + bytes <= HIGHEST && (i == s->ntaken || s->taken[i].start >= start + bytes);
}

/* ------------------------------------------------------------------------- pages */

uint32_t hodo_probe_space_page(const struct hodo_probe_space *s, uint64_t address)
{
	return hodo_search(i, s->npages, s->pages[i].addr + HODO_PROBE_PAGE_BYTES > address);
}

/* The pieces of the page that a slot takes: from *first on; returns how many. */
static unsigned pieces_in(uint64_t page, uint64_t slot, uint32_t bytes, unsigned *first)
{
	uint64_t end = slot + bytes - 1;
	unsigned last = PIECES - 1;

	if (end < page + HODO_PROBE_PAGE_BYTES)
		last = (unsigned)(end - page) / HODO_PROBE_SLOT_ALIGN;
	*first = slot <= page ? 0 : (unsigned)(slot - page) / HODO_PROBE_SLOT_ALIGN;
	return last - *first + 1;
}

static bool is_used(const struct hodo_probe_page *p, unsigned piece)
{
	return p->used[piece / 64] >> piece % 64 & 1;
}

/* Whether the slot's pieces in this page are free; *next: after the last used one. */
static bool is_free(const struct hodo_probe_page *p, uint64_t slot, uint32_t bytes, uint64_t *next)
{
	unsigned first, n = pieces_in(p->addr, slot, bytes, &first);

	for (unsigned k = first + n; k-- > first;) {
		if (!is_used(p, k))
			continue;
		*next = p->addr + (k + 1) * HODO_PROBE_SLOT_ALIGN;
		return false;
	}
	return true;
}

bool hodo_probe_space_fits(const struct hodo_probe_space *s, uint64_t slot, uint32_t bytes, bool fresh, uint64_t *next)
{
	uint64_t first = slot & ~(uint64_t)(HODO_PROBE_PAGE_BYTES - 1);
	uint32_t page = hodo_probe_space_page(s, slot), range;

	if (slot < LOWEST || slot + bytes > HIGHEST) {
		*next = slot < LOWEST ? LOWEST : UINT64_MAX;
		return false;
	}
	for (uint64_t at = first; at < slot + bytes; at += HODO_PROBE_PAGE_BYTES) {
		if (page < s->npages && s->pages[page].addr == at) {
			if (!is_free(&s->pages[page++], slot, bytes, next))
				return false;
			continue;
		}
		*next = at + HODO_PROBE_PAGE_BYTES;
		if (!fresh)
			return false;
		range = hodo_search(i, s->ntaken, s->taken[i].end > at);
		if (range < s->ntaken && s->taken[range].start < at + HODO_PROBE_PAGE_BYTES) {
			*next = s->taken[range].end;
			return false;
		}
	}
	return true;
}

static void measure(struct hodo_probe_page *p)
{
	unsigned run = 0, longest = 0;

	for (unsigned k = 0; k < PIECES; k++) {
		run = is_used(p, k) ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	p->free = longest * HODO_PROBE_SLOT_ALIGN;
}

static void set(struct hodo_probe_page *p, uint64_t slot, uint32_t bytes, bool used)
{
	unsigned first, n = pieces_in(p->addr, slot, bytes, &first);

	for (unsigned k = first; k < first + n; k++) {
		uint64_t bit = (uint64_t)1 << k % 64;

		p->used[k / 64] = used ? p->used[k / 64] | bit : p->used[k / 64] & ~bit;
	}
	measure(p);
}

int hodo_probe_space_put(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes)
{
	uint64_t first = slot & ~(uint64_t)(HODO_PROBE_PAGE_BYTES - 1);

	for (uint64_t at = first; at < slot + bytes; at += HODO_PROBE_PAGE_BYTES) {
		uint32_t page = hodo_probe_space_page(s, at);

		if (page == s->npages || s->pages[page].addr != at) {
			if (!hodo_vec_add(s->pages, s->npages))
				return -ENOMEM;
			memmove(&s->pages[page + 1], &s->pages[page], (s->npages - page - 1) * sizeof(*s->pages));
			s->pages[page] = (struct hodo_probe_page){ .addr = at };
		}
		set(&s->pages[page], slot, bytes, true);
	}
	return 0;
}

void hodo_probe_space_give(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes)
{
	for (uint32_t i = hodo_probe_space_page(s, slot); i < s->npages && s->pages[i].addr < slot + bytes; i++)
		set(&s->pages[i], slot, bytes, false);
}
