/* SPDX-License-Identifier: MIT */
/*
 * wall.h - how far the host's wall clock can be trusted, as far as the kernel knows: `hodo merge` needs it later to
 * put recordings of several hosts on one timeline.
 */
#ifndef HODO_RECORD_WRITE_WALL_H
#define HODO_RECORD_WRITE_WALL_H

#include <base/text.h>
#include <read/file/wall.h>

struct hodo_clock_sample;

/* The state of the clock, of which a sample was just taken. */
void hodo_wall_sample(const struct hodo_clock_sample *sample, struct hodo_wall *wall);
/* Appends the metadata line of a sample; at: "begin" or "end". None, if it is not known. */
void hodo_wall_text(const struct hodo_wall *wall, const char *at, struct hodo_text *t);

#endif
