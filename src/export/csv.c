/* SPDX-License-Identifier: MIT */
/*
 * csv.c - each event as a row (RFC 4180), with a column for each field name in the recording, ready for a
 * spreadsheet or a data frame. The events are counted first: classes without events have no columns.
 */
#define _GNU_SOURCE
#include "export.h"
#include <base/csv.h>
#include <base/intern.h>
#include <read/text/text.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_ROOM  (5 * HODO_FORMAT_INTEGER_MAX) /* ts, cpu, pid, tid, commas */
#define NO_COLUMN  UINT32_MAX
/* Each row has a comma for each column. Spreadsheets and databases take about as many. */
#define COLUMNS_MAX 1000u
#define MORE        COLUMNS_MAX /* for further fields: a JSON object */

static const char *const fixed[] = { "ts", "cpu", "pid", "tid", "comm", "name", "text", "function", "host" };
enum { HAS_TEXT = 6, HAS_FUNCTION, HAS_HOST, NFIXED };

/* A value's source and destination. */
struct csv_cell {
	uint32_t column; /* after the fixed ones */
	uint32_t from;   /* index in the context and then the fields */
	const char *key; /* of MORE; else NULL */
};

struct csv_class {
	struct hodo_text name; /* as a cell */
	uint32_t addr; /* the field that is a function's address; NO_COLUMN: there is none */
	uint32_t ncells;
	struct csv_cell cells[]; /* ascending columns; those of MORE last, in the order of the fields */
};

struct csv {
	struct hodo_export *e;
	struct hodo_strings columns; /* names, COLUMNS_MAX at most */
	bool more; /* whether there is that column */
	struct hodo_text object; /* of that column, or a name */
	bool text, function; /* whether there are these columns */
	struct hodo_map classes; /* struct csv_class by struct hodo_read_class */
	struct hodo_arena keys;
	const struct hodo_read_class *last; /* of the last event */
	const struct csv_class *last_class; /* of last; NULL: it has none */
};

/* ------------------------------------------------------------------------- cells */

static void put_value(const struct csv *c, const struct hodo_read_value *v)
{
	static const struct hodo_read_field plain = { .name = "" };
	uint32_t element = v->type & ~(uint32_t)HODO_TYPE_ARRAY;
	bool is_float = element == HODO_TYPE_F32 || element == HODO_TYPE_F64, array = v->type & HODO_TYPE_ARRAY;
	struct hodo_text *out = c->e->out;

	if (v->type == HODO_TYPE_STR) {
		if (!v->null)
			hodo_csv_text(out, v->data, v->count);
		return;
	}
	if (array)
		hodo_text_char(out, '"');
	/* Not "NaN", whose quotes would end the cell's. The quotes of bytes in JSON are also right here. */
	if (is_float)
		hodo_read_add_value(out, &plain, v, c->e->text->c);
	else
		hodo_read_add_value_json(out, v, c->e->text->c);
	if (array)
		hodo_text_char(out, '"');
}

/* ----------------------------------------------------------------------- columns */

/* The number of a column; NO_COLUMN: there is none of that name. */
static uint32_t find_column(const struct csv *c, const char *name)
{
	const void *column = hodo_map_find_bytes(&c->columns.map, name, strlen(name));

	return column ? hodo_map_index(&c->columns.map, column) : NO_COLUMN;
}

static bool has_column(const struct csv_class *k, uint32_t column)
{
	for (uint32_t i = 0; i < k->ncells; i++)
		if (k->cells[i].column == column)
			return true;
	return false;
}

/* Gives the class a cell in the column with that name, or another one if that is taken. */
static bool add_cell(struct csv *c, const char *prefix, const char *name, uint32_t from, struct csv_class *k)
{
	struct csv_cell cell = { .from = from };
	struct hodo_text *full = &c->object;

	for (unsigned again = 1; again == 1 || (cell.column != NO_COLUMN && has_column(k, cell.column)); again++) {
		full->len = 0;
		hodo_text_printf(full, "%s%s", prefix, name);
		if (again > 1)
			hodo_text_printf(full, "_%u", again);
		cell.column = find_column(c, hodo_text_string(full));
	}
	if (cell.column == NO_COLUMN && c->columns.map.n == COLUMNS_MAX) {
		cell.column = MORE;
		cell.key = hodo_arena_copy(&c->keys, full->data, full->len);
		c->more = true;
	} else if (cell.column == NO_COLUMN) {
		cell.column = hodo_strings_add(&c->columns, full->data);
	}
	k->cells[k->ncells++] = cell;
	return !full->error && cell.column != HODO_STRINGS_NONE && (cell.column != MORE || cell.key);
}

/* Only recordings of several hosts say whose an event is. */
static bool has_hosts(const struct csv *c)
{
	return hodo_read_nhosts(c->e->reader) > 1;
}

static const char *prefix_of(const struct csv *c, const char *name)
{
	for (unsigned i = 0; i < NFIXED; i++)
		if (strcmp(name, fixed[i]) == 0 && (i != HAS_HOST || has_hosts(c)))
			return "field_";
	return "";
}

static int by_column(const void *a, const void *b)
{
	const struct csv_cell *x = a, *y = b;

	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int make_class(struct csv *c, const struct hodo_read_class *cls)
{
	uint32_t n = cls->ncontext + cls->nfields;
	struct csv_class *k = hodo_map_keep_u64(&c->classes, (uintptr_t)cls, sizeof(*k) + n * sizeof(*k->cells));

	if (!k)
		return -ENOMEM;
	k->addr = NO_COLUMN;
	for (uint32_t i = 0; i < n; i++) {
		bool context = i < cls->ncontext;
		const struct hodo_read_field *f = context ? &cls->context[i] : &cls->fields[i - cls->ncontext];

		if (!add_cell(c, context ? "context_" : prefix_of(c, f->name), f->name, i, k))
			return -ENOMEM;
		if (!context && cls->kind == HODO_KIND_FUNCTION && f->type == HODO_TYPE_PTR &&
		    strcmp(f->name, "addr") == 0)
			k->addr = i - cls->ncontext;
	}
	hodo_csv_text(&k->name, cls->name, strlen(cls->name));
	qsort(k->cells, k->ncells, sizeof(*k->cells), by_column);
	c->text |= cls->kind == HODO_KIND_MARK;
	c->function |= k->addr != NO_COLUMN;
	return k->name.error;
}

static int make_columns(struct csv *c)
{
	struct hodo_read *r = c->e->reader;
	int err;

	/* The same columns for every time range: files may be joined. */
	hodo_read_limit(r, INT64_MIN, INT64_MAX);
	err = hodo_read_count(r, NULL);
	hodo_read_limit(r, c->e->since_ns, c->e->until_ns);
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses && !err; k++)
			if (p->classes[k]->count)
				err = make_class(c, p->classes[k]);
	}
	return err;
}

static void put_header(struct csv *c)
{
	struct hodo_text *out = c->e->out;

	for (unsigned i = 0; i < NFIXED; i++) {
		if ((i == HAS_TEXT && !c->text) || (i == HAS_FUNCTION && !c->function) ||
		    (i == HAS_HOST && !has_hosts(c)))
			continue;
		if (i > 0)
			hodo_text_add(out, ",");
		hodo_text_add(out, fixed[i]);
	}
	for (uint32_t i = 0; i < c->columns.map.n; i++) {
		const struct hodo_bytes *name = hodo_map_at(&c->columns.map, i);

		hodo_text_char(out, ',');
		hodo_csv_text(out, name->data, name->len);
	}
	if (c->more) {
		char name[16] = ",more";

		for (unsigned again = 2; find_column(c, name + 1) != NO_COLUMN; again++)
			snprintf(name, sizeof(name), ",more_%u", again);
		hodo_text_add(out, name);
	}
	hodo_text_add(out, "\n");
}

/* -------------------------------------------------------------------------- rows */

static const struct hodo_read_value *value_of(const struct hodo_read_event *event, uint32_t from)
{
	return from < event->cls->ncontext ? &event->context[from] : &event->values[from - event->cls->ncontext];
}

/* Fields without a column, as an object; len 0: none. */
static void make_object(struct csv *c, const struct csv_class *k, const struct hodo_read_event *event)
{
	struct hodo_json j = { .text = &c->object };

	c->object.len = 0;
	for (uint32_t i = 0; i < k->ncells; i++) {
		const struct csv_cell *cell = &k->cells[i];

		if (cell->column != MORE)
			continue;
		if (c->object.len == 0)
			hodo_json_object(&j, NULL);
		hodo_read_add_value_json(hodo_json_value(&j, cell->key), value_of(event, cell->from), c->e->text->c);
	}
	if (c->object.len > 0)
		hodo_json_end(&j);
	hodo_text_fail(c->e->out, c->object.error);
}

static void put_cells(struct csv *c, const struct csv_class *k, const struct hodo_read_event *event)
{
	struct hodo_text *out = c->e->out;
	uint32_t at = 0; /* columns that have their commas */

	for (uint32_t i = 0; i < k->ncells && k->cells[i].column != MORE; i++) {
		for (; at <= k->cells[i].column; at++)
			hodo_text_char(out, ',');
		put_value(c, value_of(event, k->cells[i].from));
	}
	for (; at < c->columns.map.n + c->more; at++)
		hodo_text_char(out, ',');
	if (!c->more)
		return;
	make_object(c, k, event);
	if (c->object.len > 0)
		hodo_csv_text(out, c->object.data, c->object.len);
}

static int put_row(struct csv *c, const struct csv_class *k, const struct hodo_read_event *event)
{
	struct hodo_text *out = c->e->out;
	char *o = hodo_text_room(out, HEAD_ROOM), *start = o;
	const char *mark;
	size_t len;

	if (!o)
		return out->error;
	o = hodo_format_i64(o, event->ts_ns);
	*o++ = ',';
	o = hodo_format_i64(o, event->cpu);
	*o++ = ',';
	o = hodo_format_u64(o, event->pid);
	*o++ = ',';
	o = hodo_format_u64(o, event->tid);
	*o++ = ',';
	out->len += (size_t)(o - start);
	hodo_csv_text(out, event->comm, strlen(event->comm));
	hodo_text_char(out, ',');
	hodo_text_bytes(out, k->name.data, k->name.len);
	if (c->text)
		hodo_text_char(out, ',');
	if (event->cls->kind == HODO_KIND_MARK) {
		mark = hodo_export_text(c->e, event, &len, hodo_read_text_mark);
		hodo_csv_text(out, mark, len);
	}
	if (c->function)
		hodo_text_char(out, ',');
	if (k->addr != NO_COLUMN) {
		const char *name = hodo_symbols_name_at(c->e->symbols, event, event->values[k->addr].u);

		hodo_csv_text(out, name, strlen(name));
	}
	if (has_hosts(c)) {
		const char *host = event->process->hostname ? event->process->hostname : "";

		hodo_text_char(out, ',');
		hodo_csv_text(out, host, strlen(host));
	}
	put_cells(c, k, event);
	hodo_text_char(out, '\n');
	return out->error;
}

static int on_event(void *state, struct hodo_export *e, const struct hodo_read_event *event)
{
	struct csv *c = state;
	const struct csv_class *k = c->last_class;

	if (event->cls != c->last)
		k = hodo_map_kept(&c->classes, hodo_map_find_u64(&c->classes, (uintptr_t)event->cls));
	/* Not counted: it came later. */
	if (!k)
		return 0;
	c->last_class = k;
	c->last = event->cls;
	return put_row(c, k, event);
}

static int open_csv(void *state, struct hodo_export *e)
{
	struct csv *c = state;
	int err;

	c->e = e;
	c->classes = (struct hodo_map)HODO_MAP_KEPT(uint64_t);
	err = make_columns(c);
	if (!err)
		put_header(c);
	return err;
}

static void free_csv(void *state)
{
	struct csv *c = state;

	for (uint32_t i = 0; i < c->classes.n; i++)
		hodo_text_free(&((struct csv_class *)hodo_map_kept_at(&c->classes, i))->name);
	hodo_map_free(&c->classes);
	hodo_strings_free(&c->columns);
	hodo_text_free(&c->object);
	hodo_arena_free(&c->keys);
}

const struct hodo_export_format hodo_export_csv = {
	.name = "csv",
	.suffix = "csv",
	.whole_names = true,
	.each_event = true,
	.does = "a row for each event, a column for each field: spreadsheets",
	.binary = true, /* texts may hold control characters */
	.state_bytes = sizeof(struct csv),
	.open = open_csv,
	.event = on_event,
	.free = free_csv,
};
