/* SPDX-License-Identifier: MIT */
/* load.c - a client of ClickHouse, and what it makes of a recording. */
#include "blocks.h"
#include "cluster.h"
#include "database.h"
#include "views.h"

#include <errno.h>
#include <read/file/identity.h>
#include <base/escape.h>
#include <read/table/rows.h>
#include <stdlib.h>

#define TRIES      2u
#define BATCH_ROWS (16u << 10)
#define BATCH_MAX  (32u << 20) /* bytes of all batches */

/* ------------------------------------------------------------------------------ clients */

const char *hodo_clickhouse_error(struct hodo_clickhouse *c)
{
	hodo_mask_unseen(c->why.text);
	return c->why.text;
}

void hodo_clickhouse_close(struct hodo_clickhouse *c)
{
	if (!c)
		return;
	hodo_http_free(c->http);
	hodo_http_free(c->http_body);
	hodo_text_free(&c->url);
	hodo_text_free(&c->answer);
	free(c);
}

/* The tables that are always there: the views are about them, and so may a question be before there is a row. */
static int make_tables(struct hodo_clickhouse *c)
{
	struct hodo_rows_schema *schema = hodo_rows_schema_new();
	int err = schema ? 0 : hodo_why(&c->why, -ENOMEM, "no memory");

	for (uint32_t i = 0; !err && i < HODO_ROWS_FIXED; i++) {
		struct clickhouse_table t = { 0 };

		err = clickhouse_table_open(c, &t, hodo_rows_table(schema, i), 0);
		clickhouse_table_close(&t);
	}
	if (schema)
		hodo_rows_schema_free(schema);
	return err;
}

static int make_views(struct hodo_clickhouse *c, uint64_t there)
{
	struct hodo_text name = { 0 };
	int err = there < CH_VIEWS ? clickhouse_views_make(c, c->options.database) : 0;

	if (!err && c->options.cluster) {
		clickhouse_cluster_database(c, &name);
		err = clickhouse_views_make(c, hodo_text_string(&name));
		hodo_text_free(&name);
	}
	return err || there >= CH_VIEWS ? err : clickhouse_database_note(c);
}

static int make_all(struct hodo_clickhouse *c)
{
	uint64_t views;
	int err = clickhouse_database_open(c, &views);

	if (!err && c->options.cluster)
		err = clickhouse_cluster_open(c);
	err = err ? err : make_tables(c);
	return err ? err : make_views(c, views);
}

int hodo_clickhouse_open(struct hodo_clickhouse **result, const struct hodo_clickhouse_options *options)
{
	struct hodo_clickhouse *c = calloc(1, sizeof(*c));
	int err;

	*result = c;
	if (!c)
		return -ENOMEM;
	c->options = *options;
	err = clickhouse_connect(c);
	if (err)
		return err;
	err = make_all(c);
	/* IF NOT EXISTS fails where somebody else is making the same; when that is over, it does not. */
	for (unsigned i = 0; i < TRIES && err == -EREMOTEIO; i++)
		err = make_all(c);
	return err;
}

/* --------------------------------------------------------------------------- recordings */

static int send_rows(struct hodo_clickhouse_load *l, struct clickhouse_blocks *b)
{
	const struct hodo_rows_source source = {
		.schema = b->schema,
		.reader = l->reader,
		.places = hodo_symbols_places(l->symbols),
		.recording = l->recording,
		.since_ns = l->since_ns,
		.until_ns = l->until_ns,
		.wants = l->wanted,
		.data = l->data,
		.batch_rows = BATCH_ROWS,
		.pending_bytes = BATCH_MAX,
	};
	const volatile sig_atomic_t *stop = b->c->options.stop;
	const struct hodo_rows_batch *batch;
	struct hodo_rows *rows = NULL;
	int err = hodo_rows_open(&rows, &source), got = 0;

	l->read_failed = err;
	/* Where all is there already, there is no request that would notice. */
	while (!err && (got = hodo_rows_next(rows, &batch)) > 0)
		err = stop && *stop ? -EINTR : clickhouse_blocks_add(b, batch);
	if (got < 0) {
		err = got;
		l->read_failed = true;
	}
	hodo_rows_close(rows);
	return err ? err : clickhouse_blocks_end(b);
}

int hodo_clickhouse_load(struct hodo_clickhouse *c, struct hodo_clickhouse_load *l)
{
	struct hodo_rows_schema *schema = hodo_rows_schema_new();
	struct clickhouse_blocks b = { .c = c, .schema = schema };
	struct clickhouse_load load = { .recording = hodo_read_identity(l->reader), .path = l->recording };
	int err = schema ? hodo_rows_schema_add(schema, l->reader) : -ENOMEM;

	load.load = load.recording ^ l->selection;
	if (err) {
		hodo_why(&c->why, err, "no memory");
	} else {
		if (hodo_rows_schema_omitted(schema))
			l->warn("there are too many event classes or fields: some have no table or column of their own");
		b.load = load.load;
		err = clickhouse_blocks_open(&b);
		err = err ? err : clickhouse_database_begin(c, &load);
		err = err ? err : send_rows(l, &b);
		if (!err && !l->wanted)
			err = clickhouse_database_complete(c, &load);
		l->rows = b.sent;
		l->before = b.before;
		clickhouse_blocks_close(&b);
	}
	if (schema)
		hodo_rows_schema_free(schema);
	return err;
}
