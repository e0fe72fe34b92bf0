/* SPDX-License-Identifier: MIT */
/*
 * gen.h - writes recordings as docs/format.md describes them, for tests.
 *
 * Shares no code with the recorder or the reader: tests compare both with it.
 * All functions end the program with a message when they cannot write
 * something.
 */
#ifndef HODO_TESTS_READ_GEN_H
#define HODO_TESTS_READ_GEN_H

#include <hodo/abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <lib/records.h>

struct gen_field {
	const char *name;
	uint8_t type;
};

struct gen_trace {
	char dir[4096];
	uint8_t uuid[16];
	FILE *comments, *tsdl;
	char *comments_data, *tsdl_data;
	size_t comments_len, tsdl_len;
	uint64_t freq;
	int64_t offset_s;
	int64_t offset;
	const char *labels_provider, *labels_field; /* of gen_labels(): fields of this name become enums */
	char labels_enum[256];
};

/* Records leave out the two lowest bits of a time. A tick here is GEN_TICK ticks of the trace's clock, which
 * is faster by that factor. Multiply durations in fields by it. */
#define GEN_TICK 4u

/* comm, pid and folder describe the trace; freq 1e9 means the monotonic clock. */
void gen_trace_start(struct gen_trace *t, const char *top, const char *folder, const char *comm, unsigned pid,
		     const char *mode, uint64_t freq, int64_t offset_s, int64_t offset);
/* A line of Hodoscope's in the metadata; the text without its comment marks. */
void gen_comment(struct gen_trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* names and values are lists with commas; call this before the events they apply to. */
void gen_labels(struct gen_trace *t, const char *provider, const char *field, const char *names,
		const char *values);
/* This function percent-encodes format. */
void gen_class(struct gen_trace *t, unsigned id, const char *name, const char *kind, const char *format,
	       const struct gen_field *fields, unsigned nfields);
void gen_trace_end(struct gen_trace *t); /* writes the metadata */

struct gen_stream {
	struct gen_trace *trace;
	FILE *file;
	char path[4096 + 64];
	uint32_t cpu;
	uint64_t seq, discarded, events_total;
	struct hodo_packet head;
	uint8_t *body;
	size_t len, room;
	struct record_anchor anchor; /* of the packet */
};

void gen_stream_start(struct gen_stream *s, struct gen_trace *t, const char *name, uint32_t cpu);
void gen_packet_start(struct gen_stream *s, uint64_t ticks);
/* Begins an event; its fields follow. */
void gen_event(struct gen_stream *s, unsigned id, unsigned tid, uint64_t ticks);
/* A whole event that is a call or return; see record_call(). */
void gen_call(struct gen_stream *s, enum record_form form, unsigned tid, uint64_t ticks, uint64_t function,
	      uint64_t frame);
void gen_put(struct gen_stream *s, const void *data, size_t len);
void gen_u8(struct gen_stream *s, uint8_t v);
void gen_u16(struct gen_stream *s, uint16_t v);
void gen_u32(struct gen_stream *s, uint32_t v);
void gen_u64(struct gen_stream *s, uint64_t v);
void gen_f32(struct gen_stream *s, float v);
void gen_f64(struct gen_stream *s, double v);
void gen_str(struct gen_stream *s, const char *text); /* NULL too */
void gen_str_n(struct gen_stream *s, const void *text, size_t len);
/* n elements of element_bytes; element_bytes 1 for bytes. */
void gen_array(struct gen_stream *s, const void *data, uint32_t n, size_t element_bytes);
/* lost: how many more events the packet's header reports as missing. */
void gen_packet_end(struct gen_stream *s, uint64_t ticks, uint64_t lost);
/* The next packet's events_before skips n events, as after overwriting. */
void gen_skip(struct gen_stream *s, uint64_t n);
void gen_stream_end(struct gen_stream *s);

/* Whole recordings; each function makes top. See scenarios.c. */
void gen_all(const char *top);                    /* every type, two processes, losses, labels, marks */
void gen_fixed(const char *top, uint64_t events); /* two streams of (int, uint64) events */
void gen_text(const char *top, uint64_t events);  /* (int, 11-character text) */
void gen_many(const char *top, unsigned processes);
void gen_random(const char *top, uint64_t seed); /* small, with random values */
void gen_lost_only(const char *top);             /* not ended: the losses' causes are missing */
void gen_short(const char *top, uint64_t rounds); /* 64 calls and returns each */

/* One call or return of gen_short(), by its number. */
struct gen_short_call {
	enum record_form form;
	bool whole; /* recorded as an event, with its full addresses */
	uint32_t tid;
	uint64_t ticks, function, frame;
};
struct gen_short_call gen_short_call(uint64_t i);

#endif
