/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - the list of event patterns of a recording (-e): what was requested, what was found, and names
 * similar to what was not.
 */
#ifndef HODO_RECORD_PATTERN_H
#define HODO_RECORD_PATTERN_H

#include "catalog.h"

#include <read/event/pattern.h>

/* Checks off the events of a catalogue from index first on: their names (a span's also without .begin and
 * .end), or their fields. */
void hodo_pattern_see_fields(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first);
void hodo_pattern_see(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first);

#endif
