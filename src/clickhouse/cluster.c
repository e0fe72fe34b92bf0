/* SPDX-License-Identifier: MIT */
#include "cluster.h"

#include "names.h"

#include <base/scope.h>

void clickhouse_cluster_database(const struct hodo_clickhouse *c, struct hodo_text *name)
{
	hodo_text_printf(name, "%s_%s", c->options.database, c->options.cluster);
}

int clickhouse_cluster_open(struct hodo_clickhouse *c)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 }, name = { 0 };

	clickhouse_cluster_database(c, &name);
	hodo_text_add(&sql, "CREATE DATABASE IF NOT EXISTS ");
	clickhouse_quote_name(&sql, hodo_text_string(&name));
	return clickhouse_run(c, &sql);
}

/* 1: both tables' columns are the same; 0: they are not, or there is none over the cluster. Or a negative errno. */
static int has_columns(struct hodo_clickhouse *c, const char *database, const char *table)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct clickhouse_answer a;
	uint64_t n;
	int err;

	/* A column that is in one of the databases only, or with different types, is there once. */
	hodo_text_add(&sql, "SELECT count() FROM (SELECT name, type FROM system.columns WHERE table = ");
	clickhouse_quote_text(&sql, table);
	hodo_text_add(&sql, " AND database IN (");
	clickhouse_quote_text(&sql, c->options.database);
	hodo_text_add(&sql, ", ");
	clickhouse_quote_text(&sql, database);
	hodo_text_add(&sql, ") GROUP BY name, type HAVING count() = 1) FORMAT RowBinary");
	err = clickhouse_run(c, &sql);
	if (err)
		return err;
	a = clickhouse_answer(c);
	return clickhouse_answer_number(&a, 8, &n) ? n == 0 : clickhouse_answer_bad(c);
}

int clickhouse_cluster_table(struct hodo_clickhouse *c, const char *table)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 }, name = { 0 }, place = { 0 };
	int err;

	clickhouse_cluster_database(c, &name);
	err = has_columns(c, hodo_text_string(&name), table);
	if (err)
		return err > 0 ? 0 : err;
	clickhouse_quote_name(&place, hodo_text_string(&name));
	hodo_text_char(&place, '.');
	clickhouse_quote_name(&place, table);
	/* It has no rows itself. */
	hodo_text_printf(&sql, "DROP TABLE IF EXISTS %s", hodo_text_string(&place));
	err = clickhouse_run(c, &sql);
	sql.len = 0;
	hodo_text_printf(&sql, "CREATE TABLE IF NOT EXISTS %s AS ", hodo_text_string(&place));
	clickhouse_quote_name(&sql, c->options.database);
	hodo_text_char(&sql, '.');
	clickhouse_quote_name(&sql, table);
	hodo_text_add(&sql, " ENGINE = Distributed(");
	clickhouse_quote_text(&sql, c->options.cluster);
	hodo_text_add(&sql, ", ");
	clickhouse_quote_text(&sql, c->options.database);
	hodo_text_add(&sql, ", ");
	clickhouse_quote_text(&sql, table);
	hodo_text_add(&sql, ")");
	return err ? err : clickhouse_run(c, &sql);
}
