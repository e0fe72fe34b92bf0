/* SPDX-License-Identifier: MIT */
/*
 * event_code.h - a slot's code for an event: it gathers the values and enters libhodo like a site, and
 * preserves all registers, flags and the red zone.
 *
 * An unreadable number is 0, an unreadable text "(fault)"; one that the compiler removed is "(absent)".
 */
#pragma once

#include <probe/value/value.h>

/* The most bytes of stack that an event's texts and byte ranges take: less than a guard page. */
#define HODO_PROBE_DATA_MAX 3072u

enum hodo_probe_event_part {
	HODO_EVENT_PLACE, /* the event, at any place */
	HODO_EVENT_BEGIN, /* for one at exits: the code at the entry */
	HODO_EVENT_END    /* for one at exits: the code at an exit; the last field is the call's duration, in ns */
};

struct hodo_probe_event_code {
	uint8_t part; /* enum hodo_probe_event_part */
	const struct hodo_probe_field *fields;
	unsigned nfields;
	uint64_t bias, pc; /* bias of the object; pc: the probe in memory, the value of rip */
	uint64_t site;  /* where libhodo's address is stored (HODO_IMPORT_SITE) */
	uint64_t read;  /* where its reader's address is stored (HODO_IMPORT_READ) */
	uint64_t call;  /* where is what is called at the start or end of a call (HODO_IMPORT_CALL_BEGIN, _END) */
	uint64_t function; /* its number there */
	uint64_t state; /* the event's struct hodo_state */
};

/*
 * Writes it, to run at the address, within 2 GiB of site, read, call and state. Returns its size, which does
 * not depend on these addresses; 0: no room, or texts and byte ranges are too long.
 */
size_t hodo_probe_event_code(const struct hodo_probe_event_code *c, uint64_t address, uint8_t *to, size_t room);

/* How far the stack pointer is below the program's when it enters libhodo. */
unsigned hodo_probe_event_stack(const struct hodo_probe_field *fields, unsigned n);
