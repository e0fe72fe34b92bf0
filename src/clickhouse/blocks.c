/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "names.h"

#include <base/map.h>
#include <base/number.h>
#include <base/scope.h>
#include <base/text.h>
#include <core/fields.h>
#include <read/table/batch.h>
#include <read/table/schema.h>

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------ rows as RowBinary */

struct clickhouse_row_form {
	const struct hodo_rows_table *table;
	const struct hodo_rows_column *members; /* of HODO_ROWS_FIELDS */
	const bool *nullable; /* by column */
	locale_t c;           /* that of C */
	struct hodo_text *scratch;
};

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

/* Appends a row's columns, those that each table begins with excepted. */
static void clickhouse_row_put(struct hodo_text *to, const struct clickhouse_row_form *form,
			       const struct hodo_rows_batch *b, uint32_t row)
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

/* ----------------------------------------------------------------------- tables */

#define BLOCK_ROWS  (512u << 10)
#define BLOCK_BYTES (24u << 20)
#define PENDING_MAX (96u << 20) /* of all tables and days */
#define DAY_NS      86400000000000ll
#define DAY_MAX     65535 /* what a Date holds: the year 2149 */

struct clickhouse_block_table {
	struct clickhouse_table t;
	struct clickhouse_row_form form;
	bool nullable[HODO_ROWS_COLUMNS_MAX];
	uint64_t number; /* of its name: clickhouse_number() */
};

/* The rows of a table and day, the last of which are gathered. */
struct clickhouse_block {
	uint64_t key; /* table << 16 | day */
	uint64_t next; /* the number of the next row */
	uint64_t first; /* of the block that is open */
	uint32_t n;     /* its rows; 0: none is open */
	uint32_t range; /* of the table's, the first one that does not end before next */
	struct hodo_text rows;
};

int clickhouse_blocks_open(struct clickhouse_blocks *b)
{
	b->days = (struct hodo_map)HODO_MAP_KEPT(uint64_t);
	b->locale = newlocale(LC_ALL_MASK, "C", NULL);
	b->tables = calloc(hodo_rows_ntables(b->schema), sizeof(*b->tables));
	return b->tables && b->locale ? 0 : hodo_why(&b->c->why, -ENOMEM, "no memory");
}

void clickhouse_blocks_close(struct clickhouse_blocks *b)
{
	for (uint32_t i = 0; b->tables && i < hodo_rows_ntables(b->schema); i++) {
		if (b->tables[i])
			clickhouse_table_close(&b->tables[i]->t);
		free(b->tables[i]);
	}
	for (uint32_t i = 0; i < b->days.n; i++)
		hodo_text_free(&((struct clickhouse_block *)hodo_map_kept_at(&b->days, i))->rows);
	hodo_map_free(&b->days);
	hodo_text_free(&b->scratch);
	if (b->locale)
		freelocale(b->locale);
	free(b->tables);
}

/* The table with that number, whether rows come or not. */
static int use_table(struct clickhouse_blocks *b, uint32_t number)
{
	const struct hodo_rows_table *rows = hodo_rows_table(b->schema, number);
	struct clickhouse_block_table *t = b->tables[number];

	if (t)
		return 0;
	t = b->tables[number] = calloc(1, sizeof(*t));
	if (!t)
		return hodo_why(&b->c->why, -ENOMEM, "no memory");
	for (uint32_t i = 0; i < rows->ncolumns; i++)
		t->nullable[i] = clickhouse_nullable(rows, i);
	t->form = (struct clickhouse_row_form){ rows, hodo_rows_members(b->schema), t->nullable, b->locale,
						 &b->scratch };
	t->number = clickhouse_number(rows->name);
	return clickhouse_table_open(b->c, &t->t, rows, b->load);
}

/* ----------------------------------------------------------------------------- blocks */

/*
 * The statement that takes a block. It takes all rows or none: one thread makes one part of them. It takes them once:
 * none is taken if one of them is there; another client that sends the same at the same time has the same id of the
 * statement, and waits; and a body that was cut off has fewer rows.
 */
static void add_statement(struct clickhouse_blocks *b, const struct clickhouse_block *block, struct hodo_text *sql,
			  uint32_t n)
{
	struct clickhouse_table *t = &b->tables[block->key >> 16]->t;

	hodo_text_printf(sql, "INSERT INTO %s (%s) SELECT * FROM block WHERE ", hodo_text_string(&t->name),
			 hodo_text_string(&t->columns));
	hodo_text_printf(sql, "(SELECT count() FROM block) = %u AND (SELECT count() FROM %s WHERE " CH_LOAD " = %llu AND "
			 CH_DAY " = toDate(%u) AND " CH_BLOCK " >= %llu AND " CH_BLOCK " < %llu) = 0",
			 n, hodo_text_string(&t->name), (unsigned long long)b->load, (unsigned)(block->key & 0xffff),
			 (unsigned long long)block->first, (unsigned long long)(block->first + n));
}

static int send_block(struct clickhouse_blocks *b, struct clickhouse_block *block)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct clickhouse_block_table *t = b->tables[block->key >> 16];
	struct clickhouse_body body = { 0 };
	char id[96];
	int err;

	snprintf(id, sizeof(id), "hodo-%016llx-%016llx-%u-%llu", (unsigned long long)b->load,
		 (unsigned long long)(t->number ^ clickhouse_number(b->c->options.database)),
		 (unsigned)(block->key & 0xffff), (unsigned long long)block->first);
	add_statement(b, block, &sql, block->n);
	clickhouse_body_begin(&body, hodo_text_string(&sql), hodo_text_string(&t->t.structure));
	hodo_text_bytes(&body.text, block->rows.data, block->rows.len);
	if (sql.error || block->rows.error)
		hodo_text_fail(&body.text, -ENOMEM);
	b->pending -= block->rows.len;
	hodo_text_free(&block->rows);
	err = clickhouse_body_run(b->c, &body, id);
	hodo_text_free(&body.text);
	if (!err) {
		b->sent += block->n;
		t->t.sent = true;
	}
	block->n = 0;
	return err;
}

/* While there is too much of all: the largest block, which makes the fewest parts. */
static int make_room(struct clickhouse_blocks *b)
{
	int err = 0;

	while (!err && b->pending > PENDING_MAX) {
		struct clickhouse_block *largest = NULL;

		for (uint32_t i = 0; i < b->days.n; i++) {
			struct clickhouse_block *block = hodo_map_kept_at(&b->days, i);

			if (block->n && (!largest || block->rows.len > largest->rows.len))
				largest = block;
		}
		if (!largest)
			break;
		err = send_block(b, largest);
	}
	return err;
}

static uint32_t day_of(int64_t ts)
{
	int64_t day = ts / DAY_NS;

	return ts < 0 ? 0 : day > DAY_MAX ? DAY_MAX : (uint32_t)day;
}

static bool is_there(const struct clickhouse_table *t, struct clickhouse_block *block, uint32_t day)
{
	const struct clickhouse_range *r = t->ranges;

	while (block->range < t->nranges &&
	       (r[block->range].day < day ||
		(r[block->range].day == day && r[block->range].first + r[block->range].n <= block->next)))
		block->range++;
	return block->range < t->nranges && r[block->range].day == day && r[block->range].first <= block->next;
}

static int add_row(struct clickhouse_blocks *b, struct clickhouse_block_table *t, const struct hodo_rows_batch *batch,
		   uint32_t row, struct clickhouse_block *block)
{
	uint32_t day = (uint32_t)(block->key & 0xffff);
	bool there = is_there(&t->t, block, day);
	struct hodo_text *to = &block->rows;
	uint16_t short_day = (uint16_t)day;
	size_t before = to->len;
	int err = 0;

	if (block->n && (there || block->n == BLOCK_ROWS || to->len >= BLOCK_BYTES)) {
		err = send_block(b, block);
		before = 0;
	}
	t->t.total++;
	if (err || there) {
		b->before += there;
		block->next++;
		return err;
	}
	if (!block->n)
		block->first = block->next;
	block->n++;
	block->next++;
	hodo_text_bytes(to, &b->load, 8);
	hodo_text_bytes(to, &block->first, 8);
	hodo_text_bytes(to, &short_day, 2);
	clickhouse_row_put(to, &t->form, batch, row);
	if (to->error)
		return hodo_why(&b->c->why, to->error, "no memory");
	b->pending += to->len - before;
	return b->pending > PENDING_MAX ? make_room(b) : 0;
}

int clickhouse_blocks_add(struct clickhouse_blocks *b, const struct hodo_rows_batch *batch)
{
	const int64_t *ts = batch->columns[0].data;
	struct clickhouse_block *block = NULL;
	int err = use_table(b, batch->number);

	for (uint32_t i = 0; !err && i < batch->n; i++) {
		uint64_t key = (uint64_t)batch->number << 16 | day_of(ts[i]);

		if (!block || block->key != key) {
			block = hodo_map_keep_u64(&b->days, key, sizeof(*block));
			if (!block)
				return hodo_why(&b->c->why, -ENOMEM, "no memory");
			block->key = key;
		}
		err = add_row(b, b->tables[batch->number], batch, i, block);
	}
	return err;
}

int clickhouse_blocks_end(struct clickhouse_blocks *b)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < b->days.n; i++) {
		struct clickhouse_block *block = hodo_map_kept_at(&b->days, i);

		if (block->n)
			err = send_block(b, block);
	}
	for (uint32_t i = 0; !err && i < hodo_rows_ntables(b->schema); i++)
		if (b->tables[i] && b->tables[i]->t.sent)
			err = clickhouse_table_verify(b->c, &b->tables[i]->t, b->load);
	return err;
}
