/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* catalog.h - the catalogue of a recording: what its events are. Written under hodo_lock. */
#ifndef HODO_KMOD_CATALOG_H
#define HODO_KMOD_CATALOG_H

#include "event.h"
#include "memory.h"

/* 0, or -ENOSPC: counted there as lost. */
int hodo_catalog_event(struct hodo_memory *memory, const struct hodo_event *event);
/* The id under which the catalogue has an event that is the same in all but its id; 0: it has none. */
uint16_t hodo_catalog_find(struct hodo_memory *memory, const struct hodo_event *event);
int hodo_catalog_labels(struct hodo_memory *memory, const struct hodo_labels *labels);
/* For people, through the recorder. */
void hodo_catalog_warning(struct hodo_memory *memory, const char *text);

#endif
