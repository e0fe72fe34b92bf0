/* SPDX-License-Identifier: MIT */
/*
 * writer.h - a writer of rings by the published protocol, in plain C and for
 * one thread, against which the recorder's tests compare.
 */
#ifndef TESTS_RECORD_WRITER_H
#define TESTS_RECORD_WRITER_H

#include <stdint.h>

#include <hodo/abi.h>
#include <lib/records.h>

struct writer {
	struct hodo_ring *ring;
	uint8_t *packets;
	uint64_t ring_size;
	uint32_t packet_size;
	enum hodo_mode mode;
	uint32_t cpu;
	uint64_t now;     /* the writer's own clock, in steps of 4 ticks; 0: CLOCK_MONOTONIC */
	uint64_t written; /* attempted: committed and refused */
	uint32_t tid;     /* of the next events, if threads is set; else 7 */
	int threads;
	struct record_anchor anchor; /* of the open packet */
};

/* Event id 1: u64; id 2: str, u32; see writer_catalog(). */
void writer_event(struct writer *w, uint64_t value);
void writer_text(struct writer *w, const char *text, uint32_t value);
void writer_raw(struct writer *w, uint16_t id, const void *fields, uint32_t len);
/* A call or return; see record_call() and writer_catalog_calls(). */
void writer_call(struct writer *w, enum record_form form, uint64_t function, uint64_t frame);
/* Writes a record of each form in turn, with i in it. */
void writer_any(struct writer *w, uint64_t i);

/* Closes the open packet. 0, or -1 if the ring is full (discard mode). */
int writer_switch(struct writer *w);

/* Appends the catalogue of the two events; returns its bytes. */
uint64_t writer_catalog(uint8_t *catalog);
/* Appends func:entry and func:exit at *used. */
#define WRITER_CALL 3
#define WRITER_RETURN 4
void writer_catalog_calls(uint8_t *catalog, uint64_t *used);
/* Appends one record at *used. */
void writer_catalog_event(uint8_t *catalog, uint64_t *used, uint16_t id, const char *name, const uint8_t *types,
			  unsigned int nfields, const char *const *fields);
void writer_catalog_warning(uint8_t *catalog, uint64_t *used, const char *text);

#endif
