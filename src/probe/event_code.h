/* SPDX-License-Identifier: MIT */
/*
 * event_code.h - what a slot runs for an event: it gathers the values and enters libhodo as a site does, and all
 * registers, flags and the red zone are as before when it is done.
 *
 * A number that cannot be read is 0, a text "(fault)"; one that the compiler removed "(absent)".
 */
#ifndef HODO_PROBE_EVENT_CODE_H
#define HODO_PROBE_EVENT_CODE_H

#include "value.h"

/* Bytes that texts and byte ranges of one event take at most, on the stack of who has it: less than a guard page. */
#define HODO_PROBE_DATA_MAX 3072u

enum hodo_probe_event_part {
	HODO_EVENT_PLACE, /* the event, wherever it is */
	HODO_EVENT_BEGIN, /* of one at exits: what is at the entry */
	HODO_EVENT_END    /* … what is at an exit: the last field is how long the call took, in ns */
};

struct hodo_probe_event_code {
	uint8_t part; /* enum hodo_probe_event_part */
	const struct hodo_probe_field *fields;
	unsigned nfields;
	uint64_t bias, pc; /* of the object; of the probe in memory: what rip is */
	uint64_t site;  /* where libhodo's address is (HODO_IMPORT_SITE) */
	uint64_t read;  /* where its reader's is (HODO_IMPORT_READ) */
	uint64_t call;  /* where is what is called at the begin or end of a call (HODO_IMPORT_CALL_BEGIN, _END) */
	uint64_t function; /* its number there */
	uint64_t state; /* the event's struct hodo_state */
};

/*
 * Writes it, to run at the address, within 2 GiB of site, read, call and state. Returns how many bytes, whatever these
 * addresses are; 0: there is no room, or texts and byte ranges are too long.
 */
size_t hodo_probe_event_code(const struct hodo_probe_event_code *c, uint64_t address, uint8_t *to, size_t room);

/* How far the stack pointer is below the program's where it enters libhodo. */
unsigned hodo_probe_event_stack(const struct hodo_probe_field *fields, unsigned n);

#endif
