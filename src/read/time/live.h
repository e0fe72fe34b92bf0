/* SPDX-License-Identifier: MIT */
/*
 * live.h - the meaning of events that are read as they happen, from a process's memory: the roles, base names
 * and keys of a recording's classes (role.c, pairs.c), for classes that a catalogue adds one by one.
 *
 * Only classes that begin or end something, or are counters, are kept. The caller pairs their events, in
 * order of time, with pairs.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hodo/read.h>

#define HODO_LIVE_CLASSES_MAX 4096u /* a class takes some kilobytes; processes are hostile */

struct hodo_live; /* the classes of one process */

struct hodo_live *hodo_live_new(bool kernel); /* NULL: no memory */
void hodo_live_free(struct hodo_live *live); /* NULL is allowed */

/* A class from a catalogue: its types, and the fields' names, which need not stay. */
struct hodo_live_class {
	uint32_t id, kind, nfields;
	const char *name;
	const uint8_t *types;
	const char *const *fields;
};

/* 0, also if it is not kept; -ENOSPC: too many; -EEXIST: the id is known; -EINVAL; -ENOMEM. */
int hodo_live_add(struct hodo_live *live, const struct hodo_live_class *class);

/*
 * The class with that id: its role and its base name, valid as long as live is; and its fields' types. NULL:
 * not kept.
 */
const struct hodo_read_class *hodo_live_class(const struct hodo_live *live, uint32_t id);

/* The values of a whole event: class->nfields of them. payload must not change meanwhile. */
void hodo_live_values(const struct hodo_read_class *class, const uint8_t *payload, struct hodo_read_value *values);

/* Adds the code of a short object (struct hodo_record_object); if start and end are equal, it is not short:
 * does nothing. 0 or -ENOMEM. */
int hodo_live_short(struct hodo_live *live, uint64_t start, uint64_t end);
void hodo_live_forget_shorts(struct hodo_live *live);
/* The address for these bits of a call's record. */
uint64_t hodo_live_address(struct hodo_live *live, uint64_t bits);
