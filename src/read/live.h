/* SPDX-License-Identifier: MIT */
/*
 * live.h - what events mean that are read as they happen, from a process's memory: the roles, base names and keys that
 * a recording's classes have (role.c, pairs.c), for classes that a catalogue names one by one.
 *
 * Only those are kept that begin or end something, or are counters. Who has their events in the order of their times
 * pairs them as pairs.h says.
 */
#ifndef HODO_READ_LIVE_H
#define HODO_READ_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <hodo/read.h>

#define HODO_LIVE_CLASSES_MAX 4096u /* a class takes some kilobytes; processes are hostile */

struct hodo_live; /* the classes of one process */

struct hodo_live *hodo_live_new(bool kernel); /* NULL: no memory */
void hodo_live_free(struct hodo_live *live); /* NULL is allowed */

/* What a catalogue says of a class: its types, and the fields' names, which need not stay. */
struct hodo_live_class {
	uint32_t id, kind, nfields;
	const char *name;
	const uint8_t *types;
	const char *const *fields;
};

/* 0: also of what is not kept; -ENOSPC: there are too many; -EEXIST: the id is known; -EINVAL; -ENOMEM. */
int hodo_live_add(struct hodo_live *live, const struct hodo_live_class *class);

/*
 * The class of an id: its role and its base name, which stand as long as live does; of its fields the types. NULL: it
 * is not kept.
 */
const struct hodo_read_class *hodo_live_class(const struct hodo_live *live, uint32_t id);

/* The values of a whole event: class->nfields of them. payload must not change meanwhile. */
void hodo_live_values(const struct hodo_read_class *class, const uint8_t *payload, struct hodo_read_value *values);

/* Code of an object that is short (struct hodo_record_object); equal: it is not, and nothing is to be done. 0 or
 * -ENOMEM. */
int hodo_live_short(struct hodo_live *live, uint64_t start, uint64_t end);
void hodo_live_forget_shorts(struct hodo_live *live);
/* The address of which a call's record has these bits. */
uint64_t hodo_live_address(struct hodo_live *live, uint64_t bits);

#endif
