/* SPDX-License-Identifier: MIT */
/* view_container.h - the page's data (docs/design/view.md): a head of JSON, and columns, deflated, as base64. */
#pragma once

#include <export/deflate.h>

#include <base/json.h>

struct hodo_view_container {
	struct hodo_json *head; /* being written; NULL: the columns are being written */
	uint64_t at, rows;      /* head: of the next column; of the table */
	struct hodo_deflate deflate;
	struct hodo_text deflated; /* on its way into: */
	struct hodo_text *out;
	unsigned char rest[3]; /* of base64 */
	unsigned nrest;
	uint64_t bytes; /* put in so far */
};

/*
 * Writes one as an element with that id. The function for the tables is called twice: for the head, whose
 * other members come first, and for the columns. 0, or a negative errno.
 */
int hodo_view_container(struct hodo_text *out, const char *id, void (*head)(struct hodo_json *head, void *data),
			void (*tables)(struct hodo_view_container *container, void *data), void *data);

void hodo_view_table(struct hodo_view_container *container, const char *name, uint64_t rows);
void hodo_view_table_end(struct hodo_view_container *container);
/* Begins a column of n values, "u32" of 4 bytes, … True: put them now. */
bool hodo_view_column(struct hodo_view_container *container, const char *name, const char *type, unsigned bytes,
		      uint64_t n);

static inline void hodo_view_put(struct hodo_view_container *c, const void *bytes, size_t len)
{
	c->bytes += len;
	hodo_text_bytes(&c->deflate.in, bytes, len);
}

static inline void hodo_view_put_value(struct hodo_view_container *c, const void *value, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t i = size; i-- > 0;)
		hodo_view_put(c, (const char *)value + i, 1);
#else
	hodo_view_put(c, value, size);
#endif
}

typedef uint8_t hodo_view_u8;
typedef uint16_t hodo_view_u16;
typedef uint32_t hodo_view_u32;
typedef int32_t hodo_view_i32;
typedef double hodo_view_f64;

/* A column of n values: EXPR of each i. */
#define HODO_VIEW_COLUMN(c, NAME, TYPE, N, EXPR)                                                         \
	do {                                                                                             \
		if (hodo_view_column(c, NAME, #TYPE, sizeof(hodo_view_##TYPE), N)) {                      \
			for (uint32_t i = 0; i < (N); i++) {                                              \
				hodo_view_##TYPE hodo_view_value = (hodo_view_##TYPE)(EXPR);              \
				hodo_view_put_value(c, &hodo_view_value, sizeof(hodo_view_value));        \
			}                                                                                 \
		}                                                                                         \
	} while (0)
