/* SPDX-License-Identifier: MIT */
/*
 * records.h - the records of a packet as docs/format.md has them, for tests that write or read some by hand.
 *
 * Shares nothing with the writers, the recorder or the reader, since tests check those against it.
 */
#ifndef HODO_TESTS_RECORDS_H
#define HODO_TESTS_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum record_form { RECORD_CALL, RECORD_RETURN, RECORD_EVENT, RECORD_ANCHOR };
#define RECORD_CALL_BYTES 8u   /* a return, too */
#define RECORD_EVENT_BYTES 6u  /* and an event's fields */
#define RECORD_ANCHOR_BYTES 16u

/* ------------------------------------------------------------------- writing */

/* Each function puts a record at p and returns its bytes. Times are ticks, without their two lowest bits. */
static inline size_t record_anchor(uint8_t *p, uint64_t time, uint32_t tid, uint64_t window)
{
	uint64_t words[2] = { time | RECORD_ANCHOR, tid | window / 256 << 24 };

	memcpy(p, words, sizeof(words));
	return sizeof(words);
}

static inline size_t record_event(uint8_t *p, uint16_t id, uint64_t time)
{
	uint32_t first = ((uint32_t)time & 0x1ffffffc) | RECORD_EVENT;

	memcpy(p, &first, 4);
	memcpy(p + 4, &id, 2);
	return RECORD_EVENT_BYTES;
}

/* form: RECORD_CALL or RECORD_RETURN; function: an address in it; frame: the address of the frame, 8 above a multiple
 * of 16. */
static inline size_t record_call(uint8_t *p, enum record_form form, uint64_t time, uint64_t function, uint64_t frame)
{
	uint64_t word = form | (time & 0x1ffffffc) | (frame / 16 % 1024) << 29 | function / 4 << 39;

	memcpy(p, &word, sizeof(word));
	return sizeof(word);
}

/* What the last anchor of a packet says; all 0: there is none. */
struct record_anchor {
	uint64_t epoch; /* the epoch, and 1 */
	uint64_t window;
	uint32_t tid;
};

/* Puts an anchor at p unless the last one holds for a record of that thread and time, and of that frame's address
 * (0: an event); returns its bytes, or 0. */
static inline size_t record_anchor_for(uint8_t *p, struct record_anchor *last, uint64_t time, uint32_t tid,
				       uint64_t frame)
{
	struct record_anchor a = { (time >> 29) + 1, frame ? (frame - 5000) & ~255ull : last->window, tid };

	if (a.epoch == last->epoch && a.tid == last->tid && (!frame || frame - last->window < 16384))
		return 0;
	*last = a;
	return record_anchor(p, time, tid, a.window);
}

/* ------------------------------------------------------------------- reading */

struct record {
	enum record_form form;
	uint16_t id;       /* of an event */
	uint32_t tid;      /* of the last anchor */
	uint64_t time;     /* multiple of 4 */
	uint64_t window;   /* of the last anchor */
	uint64_t function; /* of a call or return: as much of its address as the record has */
	uint64_t frame;
};

/* Before the first record of a packet. */
static inline struct record record_begin(uint64_t timestamp_begin)
{
	return (struct record){ .time = timestamp_begin & ~3ull };
}

/* Reads the record at p, which follows r's present record; returns its bytes, for an event without its fields. */
static inline size_t record_take(struct record *r, const uint8_t *p)
{
	uint64_t first = 0, rest;

	memcpy(&first, p, RECORD_EVENT_BYTES);
	r->form = (enum record_form)(first & 3);
	if (r->form == RECORD_ANCHOR) {
		memcpy(&first, p, sizeof(first));
		memcpy(&rest, p + sizeof(first), sizeof(rest));
		r->time = first & ~3ull;
		r->tid = rest & 0xffffff;
		r->window = (rest >> 24) * 256;
		return RECORD_ANCHOR_BYTES;
	}
	r->time += (first - r->time) & 0x1ffffffc;
	if (r->form == RECORD_EVENT) {
		r->id = (uint16_t)(first >> 32);
		return RECORD_EVENT_BYTES;
	}
	memcpy(&first, p, sizeof(first));
	r->function = first >> 39 << 2;
	r->frame = r->window + 8;
	while ((r->frame / 16 & 1023) != (first >> 29 & 1023))
		r->frame += 16;
	return RECORD_CALL_BYTES;
}

#endif
