/* SPDX-License-Identifier: MIT */
/*
 * event.h - events as the filter machine sees them, made from values that the
 * tests know.
 */
#ifndef TESTS_FILTER_EVENT_H
#define TESTS_FILTER_EVENT_H

#include <hodo/abi.h>

#include <stdbool.h>

#define FIELD_TEXT_MAX 64

struct test_field {
	const char *name;
	uint8_t type;
	int64_t i;     /* integers, and the bits of u64 and ptr */
	double d;      /* f32, f64 */
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

/* Append a field; event_build() comes when all are there. */
void event_int(struct test_event *e, const char *name, uint8_t type, int64_t i);
void event_float(struct test_event *e, const char *name, uint8_t type, double d);
void event_text(struct test_event *e, const char *name, const char *text, size_t len); /* NULL: a NULL text */
void event_data(struct test_event *e, const char *name, uint8_t type, size_t elements);

/* Lay the pieces out, each in a block of its own of exactly its size. */
void event_build(struct test_event *e);
void event_free(struct test_event *e);

/*
 * 1 if the filter takes the event, 0 if not, the negative errno if it does not
 * compile or bind (then with the message in error, of 128 bytes, if not NULL).
 */
int event_filter(const struct test_event *e, const char *expr, char *error);

#endif
