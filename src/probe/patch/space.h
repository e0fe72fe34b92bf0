/* SPDX-License-Identifier: MIT */
/*
 * space.h - the address space of a process, to find room near code: what is mapped, and our pages with their
 * slots. Only bookkeeping: nothing is mapped. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HODO_PROBE_PAGE_BYTES 4096u
#define HODO_PROBE_SLOT_ALIGN 16u /* slots take whole pieces of this size, and share none */

struct hodo_probe_page {
	uint64_t addr;
	uint64_t used[HODO_PROBE_PAGE_BYTES / HODO_PROBE_SLOT_ALIGN / 64]; /* a bit for each piece */
	uint32_t free; /* bytes, the longest run of free pieces */
};

struct hodo_probe_range {
	uint64_t start, end;
};

/* All zero: nothing is mapped. */
struct hodo_probe_space {
	struct hodo_probe_range *taken; /* sorted and disjoint, once settled */
	uint32_t ntaken;
	bool unsettled;
	struct hodo_probe_page *pages; /* ours, by address */
	uint32_t npages;
};

/* Marks a range as taken. 0 or -ENOMEM. */
int hodo_probe_space_take(struct hodo_probe_space *s, uint64_t start, uint64_t end);
/*
 * Marks what a /proc/PID/maps lists as taken, with margins: for the heap and stacks to grow, and so that
 * nothing of ours is next to the program's memory. Ignores invalid lines. 0 or -ENOMEM.
 */
int hodo_probe_space_maps(struct hodo_probe_space *s, const char *maps);
/* Marks pages as taken that belong to a part of a plan which is complete. 0 or -ENOMEM. */
int hodo_probe_space_take_pages(struct hodo_probe_space *s, const struct hodo_probe_page *pages, uint32_t n);
void hodo_probe_space_free(struct hodo_probe_space *s);

/* Frees a slot's bytes; its pages stay ours. */
void hodo_probe_space_give(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes);

/* ------------------------------------------------------- for place.c and build_object.c */

void hodo_probe_space_settle(struct hodo_probe_space *s);
/* Whether nothing is mapped there, and nothing of ours. */
bool hodo_probe_space_is_free(const struct hodo_probe_space *s, uint64_t start, uint64_t bytes);
/* The first of our pages that ends after the address; s->npages: none. */
uint32_t hodo_probe_space_page(const struct hodo_probe_space *s, uint64_t address);
/*
 * Whether a slot can be there: in our pages, and, if fresh, in memory that can become ours. If not, *next:
 * the next candidate, after the obstacle.
 */
bool hodo_probe_space_fits(const struct hodo_probe_space *s, uint64_t slot, uint32_t bytes, bool fresh, uint64_t *next);
/* Puts a fitting slot there. 0 or -ENOMEM. */
int hodo_probe_space_put(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes);
