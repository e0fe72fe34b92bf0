/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "cluster.h"
#include "names.h"

#include <base/map.h>
#include <base/scope.h>
#include <base/vec.h>
#include <core/fields.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES      8u /* names for a column, and times that somebody else changes the table meanwhile */
#define FIELD_NAME "fields.name"
#define FIELD_TEXT "fields.value"

/* A column that the server has. */
struct there {
	struct hodo_bytes name;
	char type[64]; /* as it says; longer ones are none of ours */
	bool taken;    /* by a column of the recording */
};

/* What is wanted of the server's table. */
struct making {
	struct hodo_clickhouse *c;
	struct clickhouse_table *t;
	const char *plain; /* the table's name, not quoted */
	struct hodo_map there; /* struct there */
	struct hodo_text add, alter; /* columns to add, as CREATE and as ALTER have them */
	uint32_t nadded, ntaken;
};

bool clickhouse_nullable(const struct hodo_rows_table *table, uint32_t column)
{
	const char *name = table->columns[column].name;
	uint32_t type = table->columns[column].type;
	/* pid, tid and cpu of what happens in threads are always known. */
	bool head = table->ncolumns > HODO_ROWS_TID && strcmp(table->columns[HODO_ROWS_TID].name, "tid") == 0 &&
		    column < HODO_ROWS_HEAD;

	return type != HODO_ROWS_NAME && type != HODO_ROWS_FIELDS && !(type & HODO_TYPE_ARRAY) && !head &&
	       strcmp(name, "ts") != 0;
}

/* --------------------------------------------------------------------------- columns */

static int read_columns(struct making *m)
{
	struct hodo_clickhouse *c = m->c;
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct clickhouse_answer a;
	int err;

	hodo_text_add(&sql, "SELECT name, type FROM system.columns WHERE database = ");
	clickhouse_quote_text(&sql, c->options.database);
	hodo_text_add(&sql, " AND table = ");
	clickhouse_quote_text(&sql, m->plain);
	hodo_text_add(&sql, " FORMAT RowBinary");
	err = clickhouse_run(c, &sql);
	a = clickhouse_answer(c);
	hodo_map_free(&m->there);
	m->there = (struct hodo_map)HODO_MAP_BYTES(struct there);
	while (!err && a.at < a.end) {
		const char *name, *type;
		size_t name_len, type_len;
		struct there *there;

		if (!clickhouse_answer_text(&a, &name, &name_len) || !clickhouse_answer_text(&a, &type, &type_len))
			return clickhouse_answer_bad(c);
		there = hodo_map_add_bytes(&m->there, name, name_len, NULL);
		if (!there)
			return hodo_why(&c->why, -ENOMEM, "no memory");
		snprintf(there->type, sizeof(there->type), "%.*s", (int)(type_len < 64 ? type_len : 63), type);
	}
	return err;
}

static void list(struct hodo_text *to, const char *name)
{
	if (to->len)
		hodo_text_add(to, ", ");
	clickhouse_quote_name(to, name);
}

/* 1: it is there, or is to be added; 0: the name has another type, or belongs to another column. */
static int take(struct making *m, const char *name, const char *type)
{
	bool is_new;
	struct there *there = hodo_map_add_bytes(&m->there, name, strlen(name), &is_new);

	if (!there)
		return hodo_why(&m->c->why, -ENOMEM, "no memory");
	if (is_new) {
		snprintf(there->type, sizeof(there->type), "%s", type);
		list(&m->add, name);
		hodo_text_printf(&m->add, " %s", type);
		hodo_text_add(&m->alter, m->nadded++ ? ", ADD COLUMN " : "ADD COLUMN ");
		clickhouse_quote_name(&m->alter, name);
		hodo_text_printf(&m->alter, " %s", type);
	} else if (there->taken || strcmp(there->type, type) != 0) {
		return 0;
	}
	there->taken = true;
	list(&m->t->columns, name);
	hodo_text_printf(&m->t->structure, "%sc%u %s", m->ntaken ? ", " : "", m->ntaken, type);
	m->ntaken++;
	return 1;
}

static int take_own(struct making *m, const char *name, const char *type)
{
	int took = take(m, name, type);
	const struct there *there;

	if (took)
		return took < 0 ? took : 0;
	there = hodo_map_find_bytes(&m->there, name, strlen(name));
	return hodo_why(&m->c->why, -ESTALE, "table %s there is another one: its column %s is %s and not %s: name "
			"another database with --database", m->plain, name, there->type, type);
}

/* The first of NAME, NAME_TYPE, NAME_2, … that has the type there, or is not there. */
static int take_field(struct making *m, const struct hodo_rows_column *column, const char *type)
{
	HODO_AUTO(hodo_text_free) struct hodo_text full = { 0 }, name = { 0 };
	int took = 0;

	for (unsigned i = 0; i < TRIES && !took; i++) {
		uint32_t element = column->type & ~(uint32_t)HODO_TYPE_ARRAY;

		full.len = name.len = 0;
		hodo_text_add(&full, column->name);
		if (i == 1)
			hodo_text_printf(&full, "_%s%s", column->type == HODO_ROWS_NAME ? "label" :
					 hodo_fields_type_name((uint8_t)element),
					 column->type != element && column->type != HODO_ROWS_NAME ? "s" : "");
		else if (i > 1)
			hodo_text_printf(&full, "_%u", i);
		clickhouse_safe_name(&name, hodo_text_string(&full), true);
		took = take(m, hodo_text_string(&name), type);
	}
	if (took)
		return took < 0 ? took : 0;
	return hodo_why(&m->c->why, -ESTALE, "table %s there has columns like %s already, all of other types: name "
			"another database with --database", m->plain, column->name);
}

static int take_all(struct making *m)
{
	const struct hodo_rows_table *rows = m->t->rows;
	int err;

	m->t->columns.len = m->t->structure.len = m->add.len = m->alter.len = 0;
	m->nadded = m->ntaken = 0;
	err = take_own(m, CH_LOAD, "UInt64");
	err = err ? err : take_own(m, CH_BLOCK, "UInt64");
	err = err ? err : take_own(m, CH_DAY, "Date");
	for (uint32_t i = 0; !err && i < rows->ncolumns; i++) {
		const struct hodo_rows_column *column = &rows->columns[i];
		char type[32];

		if (column->type == HODO_ROWS_FIELDS) {
			err = take_own(m, FIELD_NAME, "Array(String)");
			err = err ? err : take_own(m, FIELD_TEXT, "Array(String)");
			continue;
		}
		clickhouse_type(column->type, clickhouse_nullable(rows, i), type);
		if (!rows->class_name || i < HODO_ROWS_OWN)
			err = take_own(m, column->name, type);
		else
			err = take_field(m, column, type);
	}
	return err;
}

/* ---------------------------------------------------------------------------- tables */

/* By what the questions ask for, within a block: its rows are next to each other, and a recording's blocks. */
static const char *order_of(const struct hodo_rows_table *rows)
{
	static const struct {
		const char *table, *order;
	} orders[] = {
		{ "events", "name, ts" },    { "spans", "name, ts" },   { "calls", "`function`, ts" },
		{ "waits", "thread, ts" }, { "samples", "name, ts" },
	};

	for (unsigned i = 0; !rows->class_name && i < sizeof(orders) / sizeof(*orders); i++)
		if (strcmp(rows->name, orders[i].table) == 0)
			return orders[i].order;
	return "ts";
}

static int create(struct making *m)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_printf(&sql, "CREATE TABLE IF NOT EXISTS %s (%s, hodo_time DateTime ALIAS "
			 "toDateTime(intDiv(ts, 1000000000))) ENGINE = MergeTree PARTITION BY " CH_DAY " ORDER BY ("
			 CH_LOAD ", " CH_BLOCK ", %s)",
			 hodo_text_string(&m->t->name), hodo_text_string(&m->add), order_of(m->t->rows));
	return clickhouse_run(m->c, &sql);
}

static int alter(struct making *m)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_printf(&sql, "ALTER TABLE %s %s", hodo_text_string(&m->t->name), hodo_text_string(&m->alter));
	return clickhouse_run(m->c, &sql);
}

/* Until the table is as it must be: somebody else may make it, or add to it, at the same time. */
static int make(struct making *m)
{
	int err = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		bool is_there;
		int last = err;

		err = read_columns(m);
		if (err)
			return err;
		is_there = m->there.n;
		err = take_all(m);
		if (err || !m->nadded)
			return err;
		if (last && i > 1)
			break;
		err = is_there ? alter(m) : create(m);
		/* What was refused may be what somebody else has done. */
		if (err && err != -EREMOTEIO)
			return err;
	}
	return err ? err : hodo_why(&m->c->why, -EREMOTEIO, "table %s does not get its columns", m->plain);
}

static int read_ranges(struct hodo_clickhouse *c, struct clickhouse_table *t, uint64_t load)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct clickhouse_answer a;
	int err;

	hodo_text_printf(&sql, "SELECT " CH_DAY ", " CH_BLOCK ", count() FROM %s WHERE " CH_LOAD " = %llu GROUP BY "
			 CH_DAY ", " CH_BLOCK " ORDER BY " CH_DAY ", " CH_BLOCK " FORMAT RowBinary",
			 hodo_text_string(&t->name), (unsigned long long)load);
	err = clickhouse_run(c, &sql);
	a = clickhouse_answer(c);
	while (!err && a.at < a.end) {
		struct clickhouse_range *last = t->nranges ? &t->ranges[t->nranges - 1] : NULL, *range;
		uint64_t day, first, n;

		if (!clickhouse_answer_number(&a, 2, &day) || !clickhouse_answer_number(&a, 8, &first) ||
		    !clickhouse_answer_number(&a, 8, &n))
			return clickhouse_answer_bad(c);
		if (last && last->day == day && last->first + last->n == first) {
			last->n += n;
			continue;
		}
		range = hodo_vec_add(t->ranges, t->nranges);
		if (!range)
			return hodo_why(&c->why, -ENOMEM, "no memory");
		*range = (struct clickhouse_range){ (uint32_t)day, first, n };
	}
	return err;
}

int clickhouse_table_open(struct hodo_clickhouse *c, struct clickhouse_table *t, const struct hodo_rows_table *rows,
			  uint64_t load)
{
	HODO_AUTO(hodo_text_free) struct hodo_text plain = { 0 };
	struct making m = { .c = c, .t = t };
	int err;

	t->rows = rows;
	clickhouse_safe_name(&plain, rows->name, false);
	m.plain = hodo_text_string(&plain);
	clickhouse_quote_name(&t->name, c->options.database);
	hodo_text_char(&t->name, '.');
	clickhouse_quote_name(&t->name, m.plain);
	err = plain.error || t->name.error ? hodo_why(&c->why, -ENOMEM, "no memory") : make(&m);
	if (!err && c->options.cluster)
		err = clickhouse_cluster_table(c, m.plain);
	if (!err)
		err = read_ranges(c, t, load);
	hodo_map_free(&m.there);
	hodo_text_free(&m.add);
	hodo_text_free(&m.alter);
	return err;
}

void clickhouse_table_close(struct clickhouse_table *t)
{
	hodo_text_free(&t->name);
	hodo_text_free(&t->columns);
	hodo_text_free(&t->structure);
	free(t->ranges);
}

int clickhouse_table_verify(struct hodo_clickhouse *c, struct clickhouse_table *t, uint64_t load)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct clickhouse_answer a;
	uint64_t n;
	int err;

	hodo_text_printf(&sql, "SELECT count() FROM %s WHERE " CH_LOAD " = %llu FORMAT RowBinary",
			 hodo_text_string(&t->name), (unsigned long long)load);
	err = clickhouse_run(c, &sql);
	if (err)
		return err;
	a = clickhouse_answer(c);
	if (!clickhouse_answer_number(&a, 8, &n))
		return clickhouse_answer_bad(c);
	if (n == t->total)
		return 0;
	return hodo_why(&c->why, -EREMOTEIO, "table %s has %llu rows of the %llu of this recording: somebody else "
			"changes them", t->rows->name, (unsigned long long)n, (unsigned long long)t->total);
}
