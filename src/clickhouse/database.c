/* SPDX-License-Identifier: MIT */
#include "database.h"

#include "names.h"
#include "views.h"

#include <base/scope.h>
#include <errno.h>
#include <read/table/schema.h>

#define SCHEMA HODO_ROWS_OF_TABLES
#define LOADS  "hodo_loads"

static void add_table(const struct hodo_clickhouse *c, struct hodo_text *sql, const char *table)
{
	clickhouse_quote_name(sql, c->options.database);
	hodo_text_printf(sql, ".%s", table);
}

/* The one number that a statement has for an answer. */
static int ask_number(struct hodo_clickhouse *c, struct hodo_text *sql, unsigned bytes, uint64_t *number)
{
	int err = clickhouse_run(c, sql);
	struct clickhouse_answer a = clickhouse_answer(c);

	sql->len = 0;
	if (err)
		return err;
	return clickhouse_answer_number(&a, bytes, number) && a.at == a.end ? 0 : clickhouse_answer_bad(c);
}

static int is_there(struct hodo_clickhouse *c, const char *tables, uint64_t *n)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_add(&sql, "SELECT count() FROM system.tables WHERE database = ");
	clickhouse_quote_text(&sql, c->options.database);
	hodo_text_printf(&sql, " AND name IN (%s) FORMAT RowBinary", tables);
	return ask_number(c, &sql, 8, n);
}

/* Not the statement that makes it where it is there: who only inserts need not be allowed to. */
static int make_database(struct hodo_clickhouse *c)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	uint64_t n = 0;
	int err;

	hodo_text_add(&sql, "SELECT count() FROM system.databases WHERE name = ");
	clickhouse_quote_text(&sql, c->options.database);
	hodo_text_add(&sql, " FORMAT RowBinary");
	err = ask_number(c, &sql, 8, &n);
	if (err || n)
		return err;
	hodo_text_add(&sql, "CREATE DATABASE IF NOT EXISTS ");
	clickhouse_quote_name(&sql, c->options.database);
	return clickhouse_run(c, &sql);
}

static int make_tables(struct hodo_clickhouse *c)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	uint64_t n = 0;
	int err = is_there(c, "'events', 'spans', 'calls', 'waits', 'samples', 'losses', 'processes', 'hosts'", &n);

	if (err)
		return err;
	if (n)
		return hodo_why(&c->why, -ESTALE, "database %s has tables that are not ours: name another one with "
				"--database", c->options.database);
	hodo_text_add(&sql, "CREATE TABLE IF NOT EXISTS ");
	add_table(c, &sql, LOADS);
	hodo_text_add(&sql, " (recording UInt64, hodo_load UInt64, complete UInt8, path String, "
			    "time DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY (recording, hodo_load)");
	err = clickhouse_run(c, &sql);
	sql.len = 0;
	hodo_text_add(&sql, "CREATE TABLE IF NOT EXISTS ");
	add_table(c, &sql, SCHEMA);
	hodo_text_add(&sql, " (version UInt32, views UInt32, time DateTime DEFAULT now()) ENGINE = MergeTree "
			    "ORDER BY (version, views)");
	return err ? err : clickhouse_run(c, &sql);
}

static int note(struct hodo_clickhouse *c, unsigned views)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_add(&sql, "INSERT INTO ");
	add_table(c, &sql, SCHEMA);
	hodo_text_printf(&sql, " (version, views) VALUES (%u, %u)", HODO_ROWS_VERSION, views);
	return clickhouse_run(c, &sql);
}

/* Of what is noted, the highest. */
static int ask_version(struct hodo_clickhouse *c, const char *column, uint64_t *version)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_printf(&sql, "SELECT max(%s) FROM ", column);
	add_table(c, &sql, SCHEMA);
	hodo_text_add(&sql, " FORMAT RowBinary");
	return ask_number(c, &sql, 4, version);
}

int clickhouse_database_open(struct hodo_clickhouse *c, uint64_t *views)
{
	uint64_t there = 0, version = 0;
	int err = make_database(c);

	*views = 0;
	err = err ? err : is_there(c, "'" SCHEMA "'", &there);
	if (!err && !there)
		err = make_tables(c);
	err = err ? err : ask_version(c, "version", &version);
	/* Nobody has come so far as to note it. */
	if (!err && version == 0)
		return note(c, 0);
	err = err ? err : ask_version(c, "views", views);
	if (err || version == HODO_ROWS_VERSION)
		return err;
	return hodo_why(&c->why, -ESTALE, "the tables in database %s are of version %llu, and this hodo makes "
			"version %u: name another database with --database%s", c->options.database,
			(unsigned long long)version, HODO_ROWS_VERSION,
			version > HODO_ROWS_VERSION ? ", or use a newer hodo" : "");
}

int clickhouse_database_note(struct hodo_clickhouse *c)
{
	return note(c, CH_VIEWS);
}

/* --------------------------------------------------------------------------- recordings */

/* which: what the load's number follows. */
static int count_loads(struct hodo_clickhouse *c, const struct clickhouse_load *l, const char *which, uint64_t *n)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_add(&sql, "SELECT count() FROM ");
	add_table(c, &sql, LOADS);
	hodo_text_printf(&sql, " WHERE recording = %llu AND %s%llu FORMAT RowBinary",
			 (unsigned long long)l->recording, which, (unsigned long long)l->load);
	return ask_number(c, &sql, 8, n);
}

static int note_load(struct hodo_clickhouse *c, const struct clickhouse_load *l, unsigned complete)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };

	hodo_text_add(&sql, "INSERT INTO ");
	add_table(c, &sql, LOADS);
	hodo_text_printf(&sql, " (recording, hodo_load, complete, path) VALUES (%llu, %llu, %u, ",
			 (unsigned long long)l->recording, (unsigned long long)l->load, complete);
	clickhouse_quote_text(&sql, l->path);
	hodo_text_char(&sql, ')');
	return clickhouse_run(c, &sql);
}

int clickhouse_database_begin(struct hodo_clickhouse *c, const struct clickhouse_load *l)
{
	uint64_t others = 0, ours = 0;
	int err = count_loads(c, l, "hodo_load != ", &others);

	if (!err && others)
		return hodo_why(&c->why, -ESTALE, "database %s has other events of this recording, and would have "
				"some twice: give the same options as then, or name another one with --database",
				c->options.database);
	err = err ? err : count_loads(c, l, "hodo_load = ", &ours);
	return err || ours ? err : note_load(c, l, 0);
}

int clickhouse_database_complete(struct hodo_clickhouse *c, const struct clickhouse_load *l)
{
	uint64_t n = 0;
	int err = count_loads(c, l, "complete AND hodo_load = ", &n);

	return err || n ? err : note_load(c, l, 1);
}
