/* SPDX-License-Identifier: MIT */
/*
 * space.h - the address space of a process, as somebody sees it who looks for room near code: what is mapped, and the
 * pages that are ours with the slots in them. It only reckons: nothing is mapped. One thread at a time.
 */
#ifndef HODO_PROBE_SPACE_H
#define HODO_PROBE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_PROBE_PAGE_BYTES 4096u
#define HODO_PROBE_SLOT_ALIGN 16u /* slots are counted in such pieces, and two have none in common */

struct hodo_probe_page {
	uint64_t addr;
	uint64_t used[HODO_PROBE_PAGE_BYTES / HODO_PROBE_SLOT_ALIGN / 64]; /* a bit a piece */
	uint32_t free; /* bytes, the longest run of free pieces */
};

struct hodo_probe_range {
	uint64_t start, end;
};

/* All zero: nothing is mapped. */
struct hodo_probe_space {
	struct hodo_probe_range *taken; /* in order and apart, once settled */
	uint32_t ntaken;
	bool unsettled;
	struct hodo_probe_page *pages; /* ours, by address */
	uint32_t npages;
};

/* Takes a range out. 0 or -ENOMEM. */
int hodo_probe_space_take(struct hodo_probe_space *s, uint64_t start, uint64_t end);
/*
 * Takes out what the lines of a /proc/PID/maps list, with room around it: for a heap to grow, for stacks, and so that
 * nothing of ours is next to memory of the program. Lines that are none are left out. 0 or -ENOMEM.
 */
int hodo_probe_space_maps(struct hodo_probe_space *s, const char *maps);
void hodo_probe_space_free(struct hodo_probe_space *s);

/* Gives a slot's bytes back; its pages stay ours. */
void hodo_probe_space_give(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes);

/* ------------------------------------------------------- for place.c and build.c */

void hodo_probe_space_settle(struct hodo_probe_space *s);
/* The first of our pages that ends behind the address; s->npages: none. */
uint32_t hodo_probe_space_page(const struct hodo_probe_space *s, uint64_t address);
/*
 * Whether a slot can be there: in pages of ours, and, if fresh, in memory that can become ours. If not, *next: where
 * the next might begin, behind what is in the way.
 */
bool hodo_probe_space_fits(const struct hodo_probe_space *s, uint64_t slot, uint32_t bytes, bool fresh, uint64_t *next);
/* Puts a slot that fits there. 0 or -ENOMEM. */
int hodo_probe_space_put(struct hodo_probe_space *s, uint64_t slot, uint32_t bytes);

#endif
