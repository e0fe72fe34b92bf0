/* SPDX-License-Identifier: MIT */
/*
 * filter_event.h - events as the filter machine sees them, made from values that the
 * tests know. The tests that use it also run in a kernel module (tests/world/kernel/unit), which has no
 * floating point: HODO_FILTER_FLOAT is 0 there.
 */
#ifndef TESTS_FILTER_EVENT_H
#define TESTS_FILTER_EVENT_H

#include <core/filter.h>

#include <hodo/abi.h>

#include <stdbool.h>

#define FIELD_TEXT_MAX 64

struct test_field {
	const char *name;
	uint8_t type;
	int64_t i;     /* integers, and the bits of u64 and ptr; without floating point, also those of f32 and f64 */
#if HODO_FILTER_FLOAT
	double d;      /* f32, f64 */
#endif
	bool null;     /* str */
	size_t len;    /* of text, or elements of bytes and arrays */
	char text[FIELD_TEXT_MAX];
};

struct test_event {
	unsigned int n;
	struct test_field fields[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];
	const char *names[HODO_FIELDS_MAX];
	struct hodo_piece pieces[2 * HODO_FIELDS_MAX + 1];
	size_t count;
};

/* These append a field; call event_build() after the last one. */
void event_int(struct test_event *e, const char *name, uint8_t type, int64_t i);
#if HODO_FILTER_FLOAT
void event_float(struct test_event *e, const char *name, uint8_t type, double d);
#else
/* For a constant, which only the compiler evaluates. */
#define event_float(e, name, type, value)                                         \
	do {                                                                      \
		static const double double_bits = (value);                        \
		static const float float_bits = (float)(value);                   \
		event_bits(e, name, type, &double_bits, &float_bits);             \
	} while (0)
void event_bits(struct test_event *e, const char *name, uint8_t type, const void *d, const void *f);
#endif
void event_text(struct test_event *e, const char *name, const char *text, size_t len); /* NULL: a NULL text */
void event_data(struct test_event *e, const char *name, uint8_t type, size_t elements);

/* Lays the pieces out, each in a separate block of exactly its size. */
void event_build(struct test_event *e);
void event_free(struct test_event *e);

/* For tables: what is true with floating point, and what is true without. */
#define FLOATS(with, without) (HODO_FILTER_FLOAT ? (with) : (without))

/* Whether this message refuses an expression for a number that only floating point can hold. */
bool event_wants_floats(const char *error);

/* How many of n random tries are made: fewer where the machine is emulated. */
#ifdef __KERNEL__
#define ROUNDS(n) ((n) / 20)
#else
#define ROUNDS(n) (n)
#endif

/*
 * 1 if the filter accepts the event, 0 if not; a negative errno if it does not
 * compile or bind (the message is then in error, of 128 bytes, if not NULL).
 */
int event_filter(const struct test_event *e, const char *expr, char *error);

/* Binds an expression, which must compile, to the event. `code` has HODO_FILTER_MAX bytes. */
int event_bind(struct hodo_filter *f, uint8_t *code, const char *expr, const struct test_event *e);

#endif
