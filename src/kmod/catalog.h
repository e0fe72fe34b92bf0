/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* catalog.h - the catalogue of a recording: what its events are. Written under hodo_lock. */
#ifndef HODO_KMOD_CATALOG_H
#define HODO_KMOD_CATALOG_H

#include "event.h"
#include "memory.h"

/* 0, or -ENOSPC: counted there as lost. */
int hodo_catalog_event(struct hodo_memory *memory, const struct hodo_event *event);
int hodo_catalog_labels(struct hodo_memory *memory, const struct hodo_labels *labels);
/* Another kind of record, whole but for its size; size bytes, 8-aligned or padded with what follows as zeros. */
int hodo_catalog_append(struct hodo_memory *memory, struct hodo_record *record, size_t size);

#endif
