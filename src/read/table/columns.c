/* SPDX-License-Identifier: MIT */
/* columns.c - a table in columns: which it has, and its batches. See columns_impl.h. */
#include "columns_impl.h"
#include <read/event/off_cpu.h>
#include <read/event/select.h>

#include <base/escape.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ----------------------------------------------------------------------- which */

static bool begins(const struct hodo_read_class *cls)
{
	return cls->role == HODO_READ_ROLE_SPAN_BEGIN || cls->role == HODO_READ_ROLE_BEGIN ||
	       cls->role == HODO_READ_ROLE_SYSCALL_BEGIN;
}

static bool has_rows(const struct hodo_read_columns *c, const struct hodo_read_class *cls)
{
	if (c->table == HODO_READ_TABLE_CALLS || (c->table == HODO_READ_TABLE_SPANS && !begins(cls)))
		return false;
	return hodo_select_has_class(c->reader->select, cls);
}

/* Calls each() for every class that has rows; what it returns but 0 ends it. */
static int each_class(struct hodo_read_columns *c,
		      int (*each)(struct hodo_read_columns *c, const struct hodo_read_class *cls))
{
	int err = 0;

	for (uint32_t i = 0; i < c->reader->ntraces && !err; i++) {
		const struct hodo_read_process *p = &c->reader->traces[i]->pub;

		for (uint32_t k = 0; k < p->nclasses && !err; k++)
			err = has_rows(c, p->classes[k]) ? each(c, p->classes[k]) : 0;
	}
	return err;
}

static int is_mark(struct hodo_read_columns *c, const struct hodo_read_class *cls)
{
	(void)c;
	return cls->kind == HODO_KIND_MARK;
}

static int add_event_columns(struct hodo_read_columns *c)
{
	if (each_class(c, is_mark)) {
		c->text = columns_add(c, "text", HODO_TYPE_STR, false, false);
		if (!c->text)
			return -ENOMEM;
	}
	c->name = columns_add(c, "name", HODO_TYPE_STR, true, true);
	return c->name ? 0 : -ENOMEM;
}

/* Columns of all tables. 0 or -ENOMEM. */
static int add_head(struct hodo_read_columns *c)
{
	bool known = c->table != HODO_READ_TABLE_CALLS; /* where it began */

	return columns_add(c, "ts", HODO_TYPE_I64, false, true) &&
	       columns_add(c, "host", HODO_TYPE_STR, true, false) &&
	       columns_add(c, "process", HODO_TYPE_STR, true, false) &&
	       columns_add(c, "pid", HODO_TYPE_U32, false, true) &&
	       columns_add(c, "thread", HODO_TYPE_STR, true, false) &&
	       columns_add(c, "tid", HODO_TYPE_U32, false, true) &&
	       columns_add(c, "cpu", HODO_TYPE_I32, false, known) ? 0 : -ENOMEM;
}

static int add_columns(struct hodo_read_columns *c)
{
	int err = add_head(c);

	if (!err)
		err = c->table == HODO_READ_TABLE_EVENTS ? add_event_columns(c) : columns_slices_add(c);
	c->nfixed = c->ncolumns;
	return err ? err : each_class(c, columns_add_fields);
}

static struct column *find_column(const struct hodo_read_columns *c, const char *name)
{
	for (uint32_t i = 0; i < c->ncolumns; i++)
		if (strcasecmp(c->columns[i]->pub.name, name) == 0)
			return c->columns[i];
	return NULL;
}

static int fail(const struct hodo_read_columns_options *o, int err, const char *what, const char *name)
{
	char shown[64 * HODO_ESCAPED_MAX];

	*hodo_escape_plain(shown, name, strnlen(name, 63), false) = 0;
	if (o->error)
		snprintf(o->error, o->error_bytes, what, shown);
	return err;
}

static int want_columns(struct hodo_read_columns *c, const struct hodo_read_columns_options *o)
{
	uint32_t n = o->names ? o->nnames : c->ncolumns;
	int err = 0;

	c->wanted = calloc(n + 1, sizeof(*c->wanted));
	if (!c->wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++) {
		struct column *column = o->names ? find_column(c, o->names[i]) : c->columns[i];

		if (!column)
			return fail(o, -ENOENT, "there is no column '%s'", o->names[i]);
		c->wanted[i] = &column->pub;
		err = columns_want(column);
	}
	c->schema = (struct hodo_read_batch){ .size = sizeof(c->schema), .ncolumns = n, .columns = c->wanted };
	c->batch = c->schema;
	return err;
}

/* ------------------------------------------------------------------ new and free */

/* How long threads did not run is found out with the begins, which costs time. */
static int want_off_cpu(struct hodo_read_columns *c)
{
	struct column *column = find_column(c, "off_cpu_ns");

	return column && column->valid && hodo_off_cpu_recorded(c->reader) ? hodo_read_spans(c->reader) : 0;
}

static int open_columns(struct hodo_read_columns *c, const struct hodo_read_columns_options *o)
{
	int err = add_columns(c);

	if (!err)
		err = want_columns(c, o);
	if (!err && o->json && c->table == HODO_READ_TABLE_EVENTS) {
		c->json = columns_new("json", HODO_TYPE_STR, false, false);
		err = c->json ? columns_want(c->json) : -ENOMEM;
		c->batch.json = c->schema.json = c->json ? &c->json->pub : NULL;
	}
	c->written = hodo_read_text_new();
	if (!c->written)
		err = -ENOMEM;
	if (!err && c->table == HODO_READ_TABLE_SPANS)
		err = want_off_cpu(c);
	if (!err && c->table != HODO_READ_TABLE_EVENTS)
		err = columns_slices_open(c);
	return err;
}

int hodo_read_columns_new(struct hodo_read_columns **columns, struct hodo_read *reader,
			  const struct hodo_read_columns_options *options)
{
	struct hodo_read_columns *c;
	int err;

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
	c->table = options->table;
	c->max_rows = options->rows && options->rows < HODO_READ_BATCH_ROWS ? options->rows : HODO_READ_BATCH_ROWS;
	c->plans = (struct hodo_map)HODO_MAP_KEPT(uint64_t);
	hodo_read_rewind(reader);
	err = open_columns(c, options);
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
	columns_slices_close(c);
	for (uint32_t i = 0; i < c->ncolumns; i++)
		columns_free_column(c->columns[i]);
	free(c->columns);
	free(c->wanted);
	hodo_strings_free(&c->texts);
	hodo_map_free(&c->known);
	hodo_map_free(&c->plans);
	if (c->json)
		columns_free_column(c->json);
	hodo_read_text_free(c->written);
	hodo_text_free(&c->scratch);
	free(c);
}

const struct hodo_read_batch *hodo_read_columns_schema(const struct hodo_read_columns *columns)
{
	return &columns->schema;
}

/* ------------------------------------------------------------------------- rows */

/* What an event is as a text, less so many bytes at its end. */
static int put_written(struct hodo_read_columns *c, struct column *column, const struct hodo_read_event *e,
		       int (*write)(struct hodo_read_text *text, const struct hodo_read_event *e), size_t less)
{
	const char *text;
	size_t len;

	hodo_read_text_clear(c->written);
	if (write(c->written, e) < 0)
		return -ENOMEM;
	text = hodo_read_text_data(c->written, &len);
	return columns_put_bytes(c, column, text ? text : "", (uint32_t)(len > less ? len - less : len));
}

static int put_event(struct hodo_read_columns *c, const struct hodo_read_event *e)
{
	const struct columns_plan *plan = columns_plan(c, e->cls);
	int err = plan ? columns_put_head(c, e->process, e->pid, e->comm, e->tid) : -ENOMEM;

	if (err)
		return err;
	columns_put_i64(c, c->columns[COLUMN_TS], e->ts_ns);
	columns_put_u32(c, c->columns[COLUMN_CPU], (uint32_t)e->cpu);
	if (c->text && c->text->valid && e->cls->kind == HODO_KIND_MARK)
		err = put_written(c, c->text, e, hodo_read_text_mark, 0);
	if (!err && c->json)
		err = put_written(c, c->json, e, hodo_read_text_json, 1); /* the newline */
	if (!err)
		err = columns_put_text(c, c->name, e->cls->name);
	if (!err)
		err = columns_put_fields(c, plan, e->cls, e->context, e->values);
	c->rows++;
	return err;
}

/* Takes events until the batch is full, or there are no more. 0 or a negative errno. */
static int fill(struct hodo_read_columns *c)
{
	const struct hodo_read_event *e;
	int err = columns_slices_more(c);

	while (!err && !c->ended && !columns_is_full(c)) {
		int got = c->timeline ? hodo_timeline_next(c->timeline) : hodo_read_next(c->reader, &e);

		c->ended = got == 0;
		if (got < 0)
			err = got;
		else if (got && !c->timeline)
			err = put_event(c, e);
	}
	return err;
}

int hodo_read_columns_next(struct hodo_read_columns *columns, const struct hodo_read_batch **batch)
{
	struct hodo_read_columns *c = columns;

	*batch = NULL;
	c->rows = 0;
	c->bytes = 0;
	for (uint32_t i = 0; i < c->ncolumns; i++)
		columns_clear(c->columns[i]);
	if (c->json)
		columns_clear(c->json);
	if (!c->failed)
		c->failed = fill(c);
	if (c->failed || !c->rows)
		return c->failed;
	for (uint32_t i = 0; i < c->ncolumns; i++)
		columns_publish(c->columns[i], c->rows);
	if (c->json)
		columns_publish(c->json, c->rows);
	c->batch.rows = c->rows;
	*batch = &c->batch;
	return 1;
}
