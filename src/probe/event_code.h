/* SPDX-License-Identifier: MIT */
/*
 * event_code.h - what a slot runs for an event: it gathers the values and enters libhodo as a site does, and all
 * registers, flags and the red zone are as before when it is done.
 */
#ifndef HODO_PROBE_EVENT_CODE_H
#define HODO_PROBE_EVENT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "operand.h"

struct hodo_probe_event_code {
	const struct hodo_probe_operand *values;
	unsigned nvalues;
	uint64_t site;  /* where libhodo's address is (HODO_IMPORT_SITE) */
	uint64_t state; /* the event's struct hodo_state */
};

/* Writes it, to run at the address, within 2 GiB of site and state. Returns how many bytes; 0: there is no room. */
size_t hodo_probe_event_code(const struct hodo_probe_event_code *c, uint64_t address, uint8_t *to, size_t room);

#endif
