/* SPDX-License-Identifier: MIT */
/*
 * csv.c - each event as a row (RFC 4180): a column for each field name that the recording has, so that a spreadsheet
 * or a data frame takes them as they are. The events are counted first: classes without events have no columns.
 */
#define _GNU_SOURCE
#include "export.h"
#include <base/intern.h>
#include <read/text.h>

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXED_ROOM (6 * HODO_FORMAT_INTEGER_MAX) /* ts, cpu, pid, tid, commas, newline */
#define CELL_ROOM  (HODO_FORMAT_FLOAT_MAX + 2)   /* of a scalar, with its comma */
#define NO_COLUMN  UINT32_MAX
/* Each row has a comma for each column. Spreadsheets and databases take about as many. */
#define COLUMNS_MAX 1000u
#define MORE        COLUMNS_MAX /* for what is beyond: an object of JSON */

static const char *const fixed[] = { "ts", "cpu", "pid", "tid", "comm", "name", "text", "function" };
enum { HAS_TEXT = 6, HAS_FUNCTION, NFIXED };

/* Where a value comes from and goes to. */
struct csv_cell {
	uint32_t column; /* behind the fixed ones */
	uint32_t from;   /* index in the context and then the fields */
	char *key;       /* of MORE; else NULL */
};

struct csv_class {
	char *name; /* with its comma, as it stands in the row */
	size_t name_len;
	uint32_t addr; /* the field that is a function's address; NO_COLUMN: there is none */
	uint32_t ncells;
	struct csv_cell cells[]; /* ascending columns; those of MORE, last, as the fields stand */
};

/* Of a map by the address of a struct hodo_read_class. */
struct csv_known {
	uint64_t address;
	struct csv_class *class;
};

struct csv {
	struct hodo_export *e;
	struct hodo_strings columns; /* names, COLUMNS_MAX at most */
	bool more; /* whether there is that column */
	struct hodo_read_text *object; /* of that column */
	bool text, function; /* whether there are these columns */
	struct hodo_map classes;
	const struct hodo_read_class *last; /* of the last event, … */
	const struct csv_class *last_class;
};

/* ------------------------------------------------------------------------- cells */

/* A text as a cell; one that is empty has quotes, unlike a value that is not there. */
static char *put_text(char *o, const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + len;
	bool quoted = len == 0 || text[0] == ' ' || text[len - 1] == ' ';

	for (size_t i = 0; i < len && !quoted; i++)
		quoted = p[i] == ',' || p[i] == '"' || p[i] == '\n' || p[i] == '\r';
	if (quoted)
		*o++ = '"';
	while (p < end) {
		unsigned n = *p < 0x80 ? 1 : hodo_utf8(p, end);

		if (n == 0) { /* as in JSON: the character of that number */
			*o++ = (char)(0xc0 | *p >> 6);
			*o++ = (char)(0x80 | (*p++ & 0x3f));
			continue;
		}
		if (*p == '"')
			*o++ = '"';
		memcpy(o, p, n);
		o += n;
		p += n;
	}
	if (quoted)
		*o++ = '"';
	return o;
}

static size_t value_room(const struct hodo_read_value *v)
{
	if (v->type & HODO_TYPE_ARRAY)
		return (size_t)v->count * (HODO_FORMAT_FLOAT_MAX + 1) + 6;
	return v->type >= HODO_TYPE_STR ? (size_t)v->count * 2 + 3 : CELL_ROOM;
}

static char *put_value(const struct csv *c, char *o, const struct hodo_read_value *v)
{
	static const struct hodo_read_field plain = { .name = "" };
	uint32_t element = v->type & ~(uint32_t)HODO_TYPE_ARRAY;

	if (v->type == HODO_TYPE_STR)
		return v->null ? o : put_text(o, v->data, v->count);
	if (v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64)
		return hodo_format_float(o, v->f, v->type == HODO_TYPE_F32, false, c->e->c);
	if (v->type < HODO_TYPE_STR)
		return hodo_read_put_value_json(o, v, c->e->c);
	/* The quotes that bytes have in JSON are right here as well. */
	if (v->type == HODO_TYPE_BYTES)
		return hodo_read_put_value_json(o, v, c->e->c);
	*o++ = '"';
	/* Not "NaN", whose quotes would end the cell's. */
	if (element == HODO_TYPE_F32 || element == HODO_TYPE_F64)
		o = hodo_read_put_value(o, &plain, v, c->e->c);
	else
		o = hodo_read_put_value_json(o, v, c->e->c);
	*o++ = '"';
	return o;
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

/* Gives the class a cell in the column of that name; in another one if it has one there already. */
static bool add_cell(struct csv *c, const char *prefix, const char *name, uint32_t from, struct csv_class *k)
{
	struct csv_cell *cell = &k->cells[k->ncells];
	size_t bytes = strlen(prefix) + strlen(name) + 16;
	char *full = malloc(bytes);

	if (!full)
		return false;
	*cell = (struct csv_cell){ .from = from };
	snprintf(full, bytes, "%s%s", prefix, name);
	cell->column = find_column(c, full);
	for (unsigned again = 2; cell->column != NO_COLUMN && has_column(k, cell->column); again++) {
		snprintf(full, bytes, "%s%s_%u", prefix, name, again);
		cell->column = find_column(c, full);
	}
	k->ncells++;
	if (cell->column == NO_COLUMN && c->columns.map.n == COLUMNS_MAX) {
		cell->column = MORE;
		cell->key = full;
		c->more = true;
		return true;
	}
	if (cell->column == NO_COLUMN)
		cell->column = hodo_strings_add(&c->columns, full);
	free(full);
	return cell->column != HODO_STRINGS_NONE;
}

static const char *prefix_of(const char *name)
{
	for (unsigned i = 0; i < NFIXED; i++)
		if (strcmp(name, fixed[i]) == 0)
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

static void free_class(struct csv_class *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->ncells; i++)
		free(k->cells[i].key);
	free(k->name);
	free(k);
}

static struct csv_class *make_class(struct csv *c, const struct hodo_read_class *cls)
{
	uint32_t n = cls->ncontext + cls->nfields;
	struct csv_class *k = calloc(1, sizeof(*k) + n * sizeof(*k->cells));
	size_t len = strlen(cls->name);
	char *o;

	if (!k)
		return NULL;
	k->addr = NO_COLUMN;
	o = k->name = malloc(len * 2 + 4);
	for (uint32_t i = 0; i < n && o; i++) {
		bool context = i < cls->ncontext;
		const struct hodo_read_field *f = context ? &cls->context[i] : &cls->fields[i - cls->ncontext];

		if (!add_cell(c, context ? "context_" : prefix_of(f->name), f->name, i, k))
			o = NULL;
		if (!context && cls->kind == HODO_KIND_FUNCTION && f->type == HODO_TYPE_PTR &&
		    strcmp(f->name, "addr") == 0)
			k->addr = i - cls->ncontext;
	}
	if (!o) {
		free_class(k);
		return NULL;
	}
	qsort(k->cells, k->ncells, sizeof(*k->cells), by_column);
	o = put_text(o, cls->name, len);
	k->name_len = (size_t)(o - k->name);
	c->text |= cls->kind == HODO_KIND_MARK;
	c->function |= k->addr != NO_COLUMN;
	return k;
}

static int make_columns(struct csv *c)
{
	struct hodo_read *r = c->e->reader;
	int err = hodo_read_count(r, NULL);

	for (uint32_t i = 0; i < hodo_read_nprocesses(r) && !err; i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses && !err; k++) {
			struct csv_known *known;

			if (p->classes[k]->count == 0)
				continue;
			known = hodo_map_add_u64(&c->classes, (uintptr_t)p->classes[k], NULL);
			if (known)
				known->class = make_class(c, p->classes[k]);
			if (!known || !known->class)
				err = -ENOMEM;
		}
	}
	return err;
}

static void put_header(struct csv *c)
{
	struct hodo_text *out = c->e->out;

	for (unsigned i = 0; i < NFIXED; i++) {
		if ((i == HAS_TEXT && !c->text) || (i == HAS_FUNCTION && !c->function))
			continue;
		if (i > 0)
			hodo_text_add(out, ",");
		hodo_text_add(out, fixed[i]);
	}
	for (uint32_t i = 0; i < c->columns.map.n; i++) {
		const struct hodo_bytes *name = hodo_map_at(&c->columns.map, i);
		char *o = hodo_text_room(out, name->len * 2 + 3);

		if (!o)
			return;
		*o = ',';
		out->len += (size_t)(put_text(o + 1, name->data, name->len) - o);
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

/* What has no column of its own. */
static int make_object(struct csv *c, const struct csv_class *k, const struct hodo_read_event *event)
{
	hodo_read_text_clear(c->object);
	for (uint32_t i = 0; i < k->ncells; i++) {
		const struct csv_cell *cell = &k->cells[i];
		const struct hodo_read_value *v = value_of(event, cell->from);
		char *o, *start;

		if (cell->column != MORE)
			continue;
		o = start = hodo_text_room(&c->object->out, strlen(cell->key) * HODO_ESCAPED_MAX + 32 +
							      value_room(v) * HODO_ESCAPED_MAX);
		if (!o)
			return -ENOMEM;
		*o++ = c->object->out.len == 0 ? '{' : ',';
		*o++ = '"';
		o = hodo_escape_json(o, cell->key, strlen(cell->key), HODO_JSON_PLAIN);
		*o++ = '"';
		*o++ = ':';
		o = hodo_read_put_value_json(o, v, c->e->c);
		c->object->out.len += (size_t)(o - start);
	}
	if (c->object->out.len > 0)
		hodo_text_char(&c->object->out, '}');
	return c->object->out.error;
}

static char *put_cells(const struct csv *c, char *o, const struct csv_class *k, const struct hodo_read_event *event)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < k->ncells && k->cells[i].column != MORE; i++) {
		while (at <= k->cells[i].column) {
			*o++ = ',';
			at++;
		}
		o = put_value(c, o, value_of(event, k->cells[i].from));
	}
	memset(o, ',', c->columns.map.n - at);
	o += c->columns.map.n - at;
	if (c->more)
		*o++ = ',';
	if (c->object->out.len > 0)
		o = put_text(o, c->object->out.data, c->object->out.len);
	return o;
}

static int put_row(struct csv *c, const struct csv_class *k, const struct hodo_read_event *event)
{
	size_t comm_len = strlen(event->comm), mark_len = 0, name_len = 0;
	size_t room = FIXED_ROOM + k->name_len + comm_len * 2 + c->columns.map.n + 8;
	const char *mark = NULL;
	struct hodo_place place = { .name = NULL };
	char *o, *start;

	if (event->cls->kind == HODO_KIND_MARK) {
		hodo_read_text_clear(c->e->text);
		if (hodo_read_text_mark(c->e->text, event) < 0)
			return -ENOMEM;
		mark = hodo_read_text_data(c->e->text, &mark_len);
	}
	if (k->addr != NO_COLUMN) {
		hodo_symbols_find(c->e->symbols, event->process, event->ts_ns, event->values[k->addr].u, &place);
		name_len = strlen(place.name);
	}
	if (c->more && make_object(c, k, event) < 0)
		return -ENOMEM;
	room += c->object->out.len * 2 + 4;
	for (uint32_t i = 0; i < k->ncells; i++)
		room += value_room(value_of(event, k->cells[i].from));
	o = start = hodo_text_room(c->e->out, room + (mark_len + name_len) * 2 + 8);
	if (!o)
		return c->e->out->error;
	o = hodo_format_i64(o, event->ts_ns);
	*o++ = ',';
	o = hodo_format_i64(o, event->cpu);
	*o++ = ',';
	o = hodo_format_u64(o, event->pid);
	*o++ = ',';
	o = hodo_format_u64(o, event->tid);
	*o++ = ',';
	o = put_text(o, event->comm, comm_len);
	*o++ = ',';
	memcpy(o, k->name, k->name_len);
	o += k->name_len;
	if (c->text)
		*o++ = ',';
	if (mark)
		o = put_text(o, mark, mark_len);
	if (c->function)
		*o++ = ',';
	if (place.name)
		o = put_text(o, place.name, name_len);
	o = put_cells(c, o, k, event);
	*o++ = '\n';
	c->e->out->len += (size_t)(o - start);
	return 0;
}

static int on_event(void *state, struct hodo_export *e, const struct hodo_read_event *event)
{
	struct csv *c = state;
	const struct csv_known *known;

	(void)e;
	if (event->cls != c->last) {
		known = hodo_map_find_u64(&c->classes, (uintptr_t)event->cls);
		/* Not counted: it has come since. */
		if (!known)
			return 0;
		c->last_class = known->class;
		c->last = event->cls;
	}
	return put_row(c, c->last_class, event);
}

static int open_csv(void *state, struct hodo_export *e)
{
	struct csv *c = state;
	int err;

	c->e = e;
	c->classes = (struct hodo_map)HODO_MAP(struct csv_known, address);
	c->object = hodo_read_text_new();
	err = c->object ? make_columns(c) : -ENOMEM;
	if (!err)
		put_header(c);
	return err;
}

static void free_csv(void *state)
{
	struct csv *c = state;

	for (uint32_t i = 0; i < c->classes.n; i++)
		free_class(((struct csv_known *)hodo_map_at(&c->classes, i))->class);
	hodo_map_free(&c->classes);
	hodo_strings_free(&c->columns);
	hodo_read_text_free(c->object);
}

const struct hodo_export_format hodo_export_csv = {
	.name = "csv",
	.suffix = "csv",
	.does = "a row for each event, a column for each field: spreadsheets",
	.binary = true, /* texts may hold control characters */
	.state_bytes = sizeof(struct csv),
	.open = open_csv,
	.event = on_event,
	.free = free_csv,
};
