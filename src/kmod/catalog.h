/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* catalog.h - the catalogue of a recording: what its events are. Written under hodo_lock. */
#pragma once

#include "event.h"
#include "memory.h"

/* 0, or -ENOSPC: counted there as lost. */
int hodo_catalog_event(struct hodo_memory *memory, const struct hodo_event *event);
/* The id of the catalogue's event that equals this one in everything except its id; 0: none. */
uint16_t hodo_catalog_find(struct hodo_memory *memory, const struct hodo_event *event);
int hodo_catalog_labels(struct hodo_memory *memory, const struct hodo_kernel_labels *labels);
/* A message for the user, through the recorder. */
void hodo_catalog_warning(struct hodo_memory *memory, const char *text);
