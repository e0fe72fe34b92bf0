/* SPDX-License-Identifier: MIT */
/*
 * columns.c - hodo/columns.h: batches of one table, shown as arrays. What has one size stays where the batch has it;
 * texts, bytes and arrays are put one behind the other. A batch that has more rows than are wanted is given in pieces.
 */
#include "rows.h"
#include "rows_impl.h"

#include <base/escape.h>
#include <base/intern.h>
#include <base/map.h>
#include <core/fields.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BATCH_ROWS  16384u      /* if the caller does not say how many: what is written stays in a cache */
#define BATCH_BYTES (64u << 20) /* of what varies in length; a row may have more */

struct column {
	struct hodo_read_column pub; /* first */
	bool varies;
	void *values; /* of a batch, if it varies */
	size_t room;  /* bytes of values */
	uint32_t *offsets;
	uint8_t *valid; /* of pieces */
};

struct hodo_read_columns {
	struct hodo_read *reader;
	struct hodo_rows_schema *tables;
	const struct hodo_rows_table *table;
	struct hodo_rows *rows;
	struct column *columns; /* as the table has them */
	bool *used;
	const struct hodo_read_column **wanted;
	struct hodo_read_batch batch, schema;
	uint32_t max_rows, at; /* at: rows of the rows' batch that were given */
	int failed;
};

/* -------------------------------------------------------------------------- which */

/* Those of the table, as they are shown. */
static int make_columns(struct hodo_read_columns *c, const struct hodo_read_columns_options *o)
{
	static const uint32_t fields[] = { [HODO_READ_TABLE_EVENTS] = EVENTS_FIELDS,
					   [HODO_READ_TABLE_SPANS] = SPANS_FIELDS,
					   [HODO_READ_TABLE_CALLS] = CALLS_FIELDS };

	c->columns = calloc(c->table->ncolumns, sizeof(*c->columns));
	c->used = calloc(c->table->ncolumns, sizeof(*c->used));
	c->wanted = calloc((o->names ? o->nnames : c->table->ncolumns) + 1, sizeof(*c->wanted));
	if (!c->columns || !c->used || !c->wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->table->ncolumns; i++) {
		const struct hodo_rows_column *column = &c->table->columns[i];
		bool name = column->type == HODO_ROWS_NAME;

		c->columns[i].varies = !name && column->type >= HODO_TYPE_STR;
		c->columns[i].pub = (struct hodo_read_column){
			.size = sizeof(c->columns[i].pub),
			.name = column->name,
			.type = name ? HODO_TYPE_STR : column->type,
			.bytes = name ? 4 : c->columns[i].varies ? hodo_fields_element_size((uint8_t)column->type) :
								   hodo_fields_fixed_size((uint8_t)column->type),
			.dictionary = name,
			.label = name && i >= fields[o->table],
		};
	}
	return 0;
}

static bool is_shown(const struct hodo_read_columns *c, const struct hodo_read_columns_options *o, uint32_t i)
{
	return c->columns[i].pub.type != HODO_TYPE_NONE && (o->table != HODO_READ_TABLE_EVENTS || i != EVENTS_JSON);
}

static uint32_t find_column(const struct hodo_read_columns *c, const struct hodo_read_columns_options *o,
			    const char *name)
{
	uint32_t i = 0;

	while (i < c->table->ncolumns && (!is_shown(c, o, i) || strcasecmp(c->columns[i].pub.name, name) != 0))
		i++;
	return i;
}

static int fail(const struct hodo_read_columns_options *o, int err, const char *what, const char *name)
{
	char shown[64 * HODO_ESCAPED_MAX];

	*hodo_escape_plain(shown, name, strnlen(name, 63), false) = 0;
	if (o->error)
		snprintf(o->error, o->error_bytes, what, shown);
	return err;
}

static int use_columns(struct hodo_read_columns *c, const struct hodo_read_columns_options *o)
{
	uint32_t n = o->names ? o->nnames : c->table->ncolumns;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t column = o->names ? find_column(c, o, o->names[i]) : i;

		if (column == c->table->ncolumns)
			return fail(o, -ENOENT, "there is no column '%s'", o->names[i]);
		if (!is_shown(c, o, column))
			continue;
		c->wanted[c->schema.ncolumns++] = &c->columns[column].pub;
		c->used[column] = true;
	}
	if (o->json && o->table == HODO_READ_TABLE_EVENTS) {
		c->columns[EVENTS_JSON].pub.name = "json";
		c->used[EVENTS_JSON] = true;
		c->schema.json = &c->columns[EVENTS_JSON].pub;
	}
	c->schema.size = sizeof(c->schema);
	c->schema.columns = c->wanted;
	c->batch = c->schema;
	return 0;
}

/* ------------------------------------------------------------------- new and free */

static int open_rows(struct hodo_read_columns *c, const struct hodo_read_columns_options *o)
{
	const struct hodo_rows_source source = { .schema = c->tables, .reader = c->reader, .number = (uint32_t)o->table,
						 .columns = c->used, .batch_rows = c->max_rows,
						 .pending_bytes = BATCH_BYTES, .flat = true };

	return hodo_rows_open(&c->rows, &source);
}

int hodo_read_columns_new(struct hodo_read_columns **columns, struct hodo_read *reader,
			  const struct hodo_read_columns_options *options)
{
	struct hodo_read_columns *c;
	int err = -ENOMEM;

	*columns = NULL;
	if (options->error && options->error_bytes)
		options->error[0] = 0;
	if ((unsigned)options->table > HODO_READ_TABLE_CALLS)
		return fail(options, -EINVAL, "there is no such table%s", "");
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	hodo_hash_seed();
	c->reader = reader;
	c->max_rows = !options->rows ? BATCH_ROWS :
		      options->rows < HODO_READ_BATCH_ROWS ? options->rows : HODO_READ_BATCH_ROWS;
	hodo_read_rewind(reader);
	c->tables = hodo_rows_schema_flat(reader, (uint32_t)options->table);
	if (c->tables) {
		c->table = hodo_rows_table(c->tables, (uint32_t)options->table);
		err = make_columns(c, options);
		err = err ? err : use_columns(c, options);
		err = err ? err : open_rows(c, options);
	}
	if (err) {
		if (err == -ENOMEM)
			fail(options, err, "out of memory%s", "");
		hodo_read_columns_free(c);
		return err;
	}
	*columns = c;
	return 0;
}

void hodo_read_columns_free(struct hodo_read_columns *c)
{
	if (!c)
		return;
	hodo_rows_close(c->rows);
	for (uint32_t i = 0; c->columns && i < c->table->ncolumns; i++) {
		free(c->columns[i].values);
		free(c->columns[i].offsets);
		free(c->columns[i].valid);
	}
	free(c->columns);
	free(c->used);
	free(c->wanted);
	hodo_rows_schema_free(c->tables);
	free(c);
}

const struct hodo_read_batch *hodo_read_columns_schema(const struct hodo_read_columns *columns)
{
	return &columns->schema;
}

/* ------------------------------------------------------------------------- values */

/* The bits of the rows from `from` on, the first one in the first place. */
static int show_bits(struct column *column, const struct hodo_rows_values *v, uint32_t from, uint32_t rows)
{
	if (!column->valid)
		column->valid = malloc(HODO_READ_BATCH_ROWS / 8);
	if (!column->valid)
		return -ENOMEM;
	memset(column->valid, 0, (rows + 7) / 8);
	column->pub.nulls = 0;
	for (uint32_t i = 0; i < rows; i++) {
		bool has = hodo_rows_has(v, from + i);

		column->valid[i / 8] |= (uint8_t)(has << i % 8);
		column->pub.nulls += !has;
	}
	column->pub.valid = column->pub.nulls ? column->valid : NULL;
	return 0;
}

static int show_varying(struct column *column, const struct hodo_rows_values *v, uint32_t from, uint32_t rows)
{
	const struct hodo_rows_bytes *bytes = (const struct hodo_rows_bytes *)v->data + from;
	uint32_t n = 0;
	size_t room;
	char *to;

	if (!column->offsets)
		column->offsets = malloc((HODO_READ_BATCH_ROWS + 1) * sizeof(*column->offsets));
	if (!column->offsets)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows; i++) {
		column->offsets[i] = n;
		n += hodo_rows_has(v, from + i) ? bytes[i].n : 0;
	}
	column->offsets[rows] = n;
	room = (size_t)n * column->pub.bytes;
	if (room > column->room) {
		free(column->values);
		column->values = malloc(2 * room);
		column->room = column->values ? 2 * room : 0;
		if (!column->values)
			return -ENOMEM;
	}
	to = column->values;
	for (uint32_t i = 0; i < rows; i++) {
		size_t len = (size_t)(column->offsets[i + 1] - column->offsets[i]) * column->pub.bytes;

		if (len)
			memcpy(to, bytes[i].data, len);
		to += len;
	}
	column->pub.values = column->values;
	column->pub.offsets = column->offsets;
	return 0;
}

/* Rows of the rows' batch, from `from` on, as the batch that is given. 0 or -ENOMEM. */
static int show_column(struct column *column, struct hodo_rows_batch *b, uint32_t number, uint32_t from, uint32_t rows)
{
	struct hodo_rows_values *v = &b->columns[number];
	int err = v->data ? 0 : hodo_rows_values_make(b, v);

	column->pub.nulls = b->n - v->nvalid;
	column->pub.valid = column->pub.nulls ? (const uint8_t *)v->valid : NULL;
	if (!err && column->pub.nulls && rows < b->n)
		err = show_bits(column, v, from, rows);
	if (!err && column->varies)
		return show_varying(column, v, from, rows);
	column->pub.values = (const char *)v->data + (size_t)from * v->bytes;
	return err;
}

static int show(struct hodo_read_columns *c)
{
	struct hodo_rows_batch *b = c->rows->given;
	uint32_t left = b->n - c->at;
	int err = 0;

	c->batch.rows = left < c->max_rows ? left : c->max_rows;
	for (uint32_t i = 0; i < c->table->ncolumns && !err; i++)
		if (c->used[i])
			err = show_column(&c->columns[i], b, i, c->at, c->batch.rows);
	c->at += c->batch.rows;
	return err;
}

int hodo_read_columns_next(struct hodo_read_columns *c, const struct hodo_read_batch **batch)
{
	const struct hodo_rows_batch *b = c->rows->given;
	int got = 1;

	*batch = NULL;
	if (!c->failed && (!b || c->at == b->n)) {
		c->at = 0;
		got = hodo_rows_next(c->rows, &b);
	}
	if (!c->failed)
		c->failed = got > 0 ? show(c) : got;
	if (c->failed || !got)
		return c->failed;
	*batch = &c->batch;
	return 1;
}

const char *hodo_read_columns_text(const struct hodo_read_columns *columns, uint32_t number)
{
	const struct hodo_strings *names = &columns->rows->names;

	return number < names->map.n ? hodo_strings_at(names, number) : NULL;
}
