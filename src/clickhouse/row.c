/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <base/number.h>
#include <core/fields.h>

static void put_length(struct hodo_text *to, uint64_t n)
{
	uint8_t bytes[10];
	unsigned len = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len++] = (uint8_t)n | 0x80;
	bytes[len++] = (uint8_t)n;
	hodo_text_bytes(to, bytes, len);
}

static void put_text(struct hodo_text *to, const void *data, uint32_t len)
{
	put_length(to, len);
	hodo_text_bytes(to, data, len);
}

static void put_name(struct hodo_text *to, const struct hodo_rows_batch *b, uint32_t number)
{
	struct hodo_rows_bytes name = hodo_rows_name(b, number);

	put_text(to, name.data, name.n);
}

static void put_array(struct hodo_text *to, const struct hodo_rows_bytes *array, uint32_t type)
{
	put_length(to, array->n);
	hodo_text_bytes(to, array->data, (size_t)array->n * hodo_fields_element_size((uint8_t)type));
}

/* ----------------------------------------------------------------- fields, as texts */

static void add_scalar(struct hodo_text *to, uint32_t type, const void *at, locale_t c)
{
	char text[HODO_FORMAT_FLOAT_MAX + HODO_FORMAT_INTEGER_MAX], *end;

	if (type == HODO_TYPE_F32) {
		float value;

		memcpy(&value, at, sizeof(value));
		end = hodo_format_float(text, (double)value, true, true, c);
	} else if (type == HODO_TYPE_F64) {
		double value;

		memcpy(&value, at, sizeof(value));
		end = hodo_format_float(text, value, false, true, c);
	} else if (type == HODO_TYPE_BOOL) {
		hodo_text_add(to, *(const uint8_t *)at ? "true" : "false");
		return;
	} else if (hodo_fields_is_unsigned64((uint8_t)type)) {
		end = hodo_format_u64(text, (uint64_t)hodo_fields_integer((uint8_t)type, at));
	} else {
		end = hodo_format_i64(text, hodo_fields_integer((uint8_t)type, at));
	}
	/* "NaN" and the like, without the quotes. */
	if (*text == '"')
		hodo_text_bytes(to, text + 1, (size_t)(end - text) - 2);
	else
		hodo_text_bytes(to, text, (size_t)(end - text));
}

static void put_hex(struct hodo_text *to, const void *data, uint32_t len)
{
	char *at;

	put_length(to, 2 * (uint64_t)len);
	at = hodo_text_room(to, 2 * (size_t)len);
	if (at)
		to->len += (size_t)(hodo_format_bytes(at, data, len) - at);
}

/* In to, which is empty. */
static void add_cell(struct hodo_text *to, const struct hodo_rows_cell *cell, uint32_t type, locale_t c)
{
	uint32_t element = type & ~(uint32_t)HODO_TYPE_ARRAY;

	if (!(type & HODO_TYPE_ARRAY)) {
		add_scalar(to, type, &cell->u, c);
		return;
	}
	hodo_text_char(to, '[');
	for (uint32_t i = 0; i < cell->n; i++) {
		const char *at = (const char *)cell->data + (size_t)i * hodo_fields_element_size((uint8_t)type);

		if (i)
			hodo_text_char(to, ',');
		add_scalar(to, element, at, c);
	}
	hodo_text_char(to, ']');
}

static void put_cell(struct hodo_text *to, const struct clickhouse_row_form *form, const struct hodo_rows_batch *b,
		     const struct hodo_rows_cell *cell)
{
	uint32_t type = form->members[cell->member].type;

	if (type == HODO_ROWS_NAME) {
		put_name(to, b, (uint32_t)cell->u);
	} else if (type == HODO_TYPE_STR) {
		put_text(to, cell->data, cell->n);
	} else if (type == HODO_TYPE_BYTES) {
		put_hex(to, cell->data, cell->n);
	} else {
		form->scratch->len = 0;
		add_cell(form->scratch, cell, type, form->c);
		put_text(to, form->scratch->data, (uint32_t)form->scratch->len);
		if (form->scratch->error)
			hodo_text_fail(to, form->scratch->error);
	}
}

/* Two arrays: the members' names, and their values. */
static void put_fields(struct hodo_text *to, const struct clickhouse_row_form *form, const struct hodo_rows_batch *b,
		       const struct hodo_rows_bytes *fields)
{
	const struct hodo_rows_cell *cells = fields->data;

	put_length(to, fields->n);
	for (uint32_t i = 0; i < fields->n; i++) {
		const char *name = form->members[cells[i].member].name;

		put_text(to, name, (uint32_t)strlen(name));
	}
	put_length(to, fields->n);
	for (uint32_t i = 0; i < fields->n; i++)
		put_cell(to, form, b, &cells[i]);
}

/* -------------------------------------------------------------------------------- rows */

static void put_value(struct hodo_text *to, const struct clickhouse_row_form *form, const struct hodo_rows_batch *b,
		      const struct hodo_rows_values *v, uint32_t row)
{
	const char *at = (const char *)v->data + (size_t)row * v->bytes;

	if (v->type == HODO_ROWS_NAME)
		put_name(to, b, *(const uint32_t *)(const void *)at);
	else if (v->type == HODO_ROWS_FIELDS)
		put_fields(to, form, b, (const void *)at);
	else if (v->type & HODO_TYPE_ARRAY)
		put_array(to, (const void *)at, v->type);
	else if (v->type >= HODO_TYPE_STR)
		put_text(to, ((const struct hodo_rows_bytes *)(const void *)at)->data,
			 ((const struct hodo_rows_bytes *)(const void *)at)->n);
	else
		hodo_text_bytes(to, at, v->bytes);
}

/* For what is not there: null, or an empty text or array, or two of these. */
static void put_nothing(struct hodo_text *to, uint32_t type, bool nullable)
{
	static const char zeros[8];

	if (nullable)
		hodo_text_char(to, 1);
	else if (type == HODO_ROWS_FIELDS)
		hodo_text_bytes(to, zeros, 2);
	else if (type >= HODO_TYPE_STR)
		hodo_text_char(to, 0);
	else
		hodo_text_bytes(to, zeros, hodo_fields_fixed_size((uint8_t)type));
}

void clickhouse_row_put(struct hodo_text *to, const struct clickhouse_row_form *form, const struct hodo_rows_batch *b,
			uint32_t row)
{
	for (uint32_t i = 0; i < form->table->ncolumns; i++) {
		const struct hodo_rows_values *v = &b->columns[i];

		if (!v->data || !hodo_rows_has(v, row)) {
			put_nothing(to, v->type, form->nullable[i]);
			continue;
		}
		if (form->nullable[i])
			hodo_text_char(to, 0);
		put_value(to, form, b, v, row);
	}
}
