/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * memory.h - a recording's memory, in the layout of a process's (<hodo/abi.h>), so that the same reader
 * works.
 *
 * It lives as long as anybody holds it: the recording, open files, mappings.
 */
#pragma once

#include <hodo/abi.h>
#include <linux/kref.h>

struct vm_area_struct;

struct hodo_memory {
	struct kref kref;
	struct hodo_layout layout; /* rings: nr_cpu_ids + 1 */
	uint32_t mode;
	struct hodo_shm *shm;
	uint64_t *limited;           /* by event id; NULL: no event has a rate */
	struct hodo_thread *threads; /* HODO_THREADS_MAX */
	uint8_t *catalog;
	uint64_t catalog_size;
	uint8_t *control;            /* a page for each ring: struct hodo_ring */
	uint8_t **data;              /* of each ring; NULL: the CPU has none */
	struct page *zeros;          /* mapped where there is no memory */
};

/* NULL: no memory. rates: with room for counts of what is over its rate. */
struct hodo_memory *hodo_memory_new(uint32_t packet_size, uint64_t ring_size, uint32_t mode, bool rates);
void hodo_memory_get(struct hodo_memory *memory);
void hodo_memory_put(struct hodo_memory *memory); /* NULL: nothing */
static inline struct hodo_ring *hodo_memory_ring(const struct hodo_memory *memory, uint32_t ring)
{
	return (struct hodo_ring *)(memory->control + (size_t)ring * HODO_PAGE);
}

/* mmap() of the whole, or of one ring (control page, packets). Read-only and shared, else -EPERM. -EINVAL: beyond its
 * end. */
int hodo_memory_map(struct hodo_memory *memory, struct vm_area_struct *vma);
int hodo_memory_map_ring(struct hodo_memory *memory, uint32_t ring, struct vm_area_struct *vma);
