/* SPDX-License-Identifier: MIT */
/* view_container.h - the page's data (docs/design/view.md): columns, deflated, as base64. */
#ifndef HODO_EXPORT_VIEW_CONTAINER_H
#define HODO_EXPORT_VIEW_CONTAINER_H

#include "deflate.h"

#include <base/json.h>

struct hodo_view_packer {
	struct hodo_deflate deflate;
	struct hodo_text deflated; /* on its way into: */
	struct hodo_text *out;
	unsigned char rest[3]; /* of base64 */
	unsigned nrest;
	uint64_t bytes; /* put in so far */
};

/* To be ended in any case. */
void hodo_view_pack_start(struct hodo_view_packer *packer, struct hodo_text *out);
void hodo_view_pack(struct hodo_view_packer *packer, const void *bytes, size_t len);
/* Zeros up to a multiple of 8. */
void hodo_view_pack_align(struct hodo_view_packer *packer);
/* Writes what is left. 0, or the first error. */
int hodo_view_pack_end(struct hodo_view_packer *packer);

/* A column of a table: puts n values, of data. */
struct hodo_view_column {
	const char *name;
	const char *type; /* "u32" … */
	unsigned bytes;   /* of a value */
	void (*put)(struct hodo_view_packer *packer, const void *data, uint32_t n);
	uint64_t own_n; /* values, where they are not the table's rows; else 0 */
};

struct hodo_view_table {
	const char *name;
	uint32_t n;
	const void *data;
	const struct hodo_view_column *columns; /* ends with name NULL */
};

/* The member "tables" of a header, with its key. */
void hodo_view_tables_json(struct hodo_json *header, const struct hodo_view_table *tables, unsigned n);
/* The whole container: the head's JSON is given, the tables are put. */
void hodo_view_container(struct hodo_view_packer *packer, const char *json, size_t len,
			 const struct hodo_view_table *tables, unsigned n);

#endif
