/* SPDX-License-Identifier: MIT */
/* columns_store.c - the memory of columns: fixed for values of one size, growing for what varies in length. */
#include "columns_impl.h"

#include <base/escape.h>
#include <core/fields.h>
#include <stdlib.h>

struct known_text {
	uint64_t address;
	uint32_t number;
};

/* ---------------------------------------------------------------------- columns */

static bool varies(const struct column *column)
{
	return column->pub.type >= HODO_TYPE_STR && !column->pub.dictionary;
}

struct column *columns_new(const char *name, uint32_t type, bool dictionary, bool whole)
{
	struct column *column = calloc(1, sizeof(*column));

	if (!column)
		return NULL;
	column->pub.size = sizeof(column->pub);
	column->pub.name = strdup(name);
	column->pub.type = type;
	column->pub.bytes = dictionary ? 4 : type < HODO_TYPE_STR ? hodo_fields_fixed_size((uint8_t)type) :
								hodo_fields_element_size((uint8_t)type);
	column->pub.dictionary = dictionary;
	column->whole = whole;
	if (!column->pub.name) {
		free(column);
		return NULL;
	}
	return column;
}

struct column *columns_add(struct hodo_read_columns *c, const char *name, uint32_t type, bool dictionary, bool whole)
{
	struct column *column = columns_new(name, type, dictionary, whole);

	if (column && hodo_vec_push(c->columns, c->ncolumns, column) < 0) {
		columns_free_column(column);
		return NULL;
	}
	return column;
}

int columns_want(struct column *column)
{
	if (column->valid)
		return 0;
	if (varies(column))
		column->offsets = calloc(HODO_READ_BATCH_ROWS + 1, sizeof(*column->offsets));
	else
		column->values = calloc(HODO_READ_BATCH_ROWS, column->pub.bytes);
	if (!column->offsets && !column->values)
		return -ENOMEM;
	column->valid = calloc(HODO_READ_BATCH_ROWS / 8, 1);
	return column->valid ? 0 : -ENOMEM;
}

void columns_free_column(struct column *column)
{
	free((char *)column->pub.name);
	free(column->valid);
	free(column->values);
	free(column->offsets);
	free(column);
}

void columns_clear(struct column *column)
{
	if (!column->valid)
		return;
	if (!column->whole)
		memset(column->valid, 0, HODO_READ_BATCH_ROWS / 8);
	/* Rows without a value have 0. */
	if (!column->whole && !column->offsets)
		memset(column->values, 0, (size_t)column->rows * column->pub.bytes);
	column->nvalid = 0;
	column->rows = 0;
	column->used = 0;
}

static void fill_offsets(struct column *column, uint32_t rows)
{
	uint32_t at = (uint32_t)(column->used / column->pub.bytes);

	for (; column->rows < rows; column->rows++)
		column->offsets[column->rows + 1] = at;
}

void columns_publish(struct column *column, uint32_t rows)
{
	if (!column->valid)
		return;
	if (column->offsets)
		fill_offsets(column, rows);
	column->rows = rows;
	column->pub.nulls = rows - column->nvalid;
	column->pub.valid = column->pub.nulls ? column->valid : NULL;
	column->pub.values = column->values;
	column->pub.offsets = column->offsets;
}

/* ----------------------------------------------------------------------- values */

/* NULL: no memory. */
static char *room_for(struct column *column, size_t len)
{
	size_t room = column->room ? column->room : 4096;
	void *values;

	while (room < column->used + len)
		room *= 2;
	if (room > column->room) {
		values = realloc(column->values, room);
		if (!values)
			return NULL;
		column->values = values;
		column->room = room;
	}
	return (char *)column->values + column->used;
}

static bool is_ascii(const char *p, size_t n)
{
	unsigned char any = 0;

	for (size_t i = 0; i < n; i++)
		any |= (unsigned char)p[i];
	return any < 0x80;
}

int columns_put_bytes(struct hodo_read_columns *c, struct column *column, const void *data, uint32_t n)
{
	size_t len = (size_t)n * column->pub.bytes;
	bool text = column->pub.type == HODO_TYPE_STR, bools = column->pub.type == (HODO_TYPE_BOOL | HODO_TYPE_ARRAY);
	char *to = room_for(column, text ? 2 * len : len);

	if (!to && len)
		return -ENOMEM;
	fill_offsets(column, c->rows);
	if (text && !is_ascii(data, len))
		len = (size_t)(hodo_escape_utf8(to, data, len, 0) - to);
	else if (len)
		memcpy(to, data, len);
	for (size_t i = 0; bools && i < len; i++)
		to[i] = to[i] != 0;
	column->used += len;
	c->bytes += len;
	column->valid[c->rows / 8] |= (uint8_t)(1u << c->rows % 8);
	column->nvalid++;
	fill_offsets(column, c->rows + 1);
	return 0;
}

int columns_put_value(struct hodo_read_columns *c, struct column *column, const struct hodo_read_value *v)
{
	void *at;

	if (v->type >= HODO_TYPE_STR)
		return v->type == HODO_TYPE_STR && v->null ? 0 : columns_put_bytes(c, column, v->data, v->count);
	at = columns_at(c, column);
	if (v->type == HODO_TYPE_F32)
		*(float *)at = (float)v->f;
	else if (v->type == HODO_TYPE_BOOL)
		*(uint8_t *)at = v->u != 0;
	else if (column->pub.bytes == 8)
		*(uint64_t *)at = v->u;
	else if (column->pub.bytes == 4)
		*(uint32_t *)at = (uint32_t)v->u;
	else if (column->pub.bytes == 2)
		*(uint16_t *)at = (uint16_t)v->u;
	else
		*(uint8_t *)at = (uint8_t)v->u;
	return 0;
}

/* ------------------------------------------------------------------------ texts */

uint32_t columns_number(struct hodo_read_columns *c, const char *text)
{
	struct known_text *known;
	bool is_new;
	size_t len;
	char *to;

	if (!c->known.entry_bytes)
		c->known = (struct hodo_map)HODO_MAP(struct known_text, address);
	known = hodo_map_add_u64(&c->known, (uintptr_t)text, &is_new);
	if (!known)
		return UINT32_MAX;
	if (!is_new)
		return known->number;
	len = strlen(text);
	c->scratch.len = 0;
	to = hodo_text_room(&c->scratch, 2 * len + 1);
	known->number = to ? hodo_strings_add_bytes(&c->texts, to, (size_t)(hodo_escape_utf8(to, text, len, 0) - to)) :
			     HODO_STRINGS_NONE;
	if (known->number == HODO_STRINGS_NONE)
		hodo_map_remove(&c->known, known);
	return known->number;
}

const char *hodo_read_columns_text(const struct hodo_read_columns *columns, uint32_t number)
{
	return number < columns->texts.map.n ? hodo_strings_at(&columns->texts, number) : NULL;
}
