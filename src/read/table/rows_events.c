/* SPDX-License-Identifier: MIT */
/* rows_events.c - an event as a row of the table of all events, and of its class's. */
#include "rows_impl.h"

#include <core/fields.h>
#include <errno.h>
#include <read/event/fields.h>
#include <read/text/text.h>

/* ----------------------------------------------------------------------- values */

static bool has_value(const struct hodo_read_value *v)
{
	return v->type != HODO_TYPE_STR || !v->null;
}

/* What varies in length: what was read lives until the next event. A byte of an array may be anything. */
static struct hodo_rows_bytes copy_value(struct hodo_rows_batch *b, const struct hodo_read_value *v)
{
	struct hodo_rows_bytes copy;
	uint8_t *bools;

	if (v->type == HODO_TYPE_STR)
		return hodo_rows_utf8(b, v->data, v->count);
	copy = hodo_rows_copy(b, v->data, (size_t)v->count * hodo_fields_element_size((uint8_t)v->type), v->count);
	bools = v->type == (HODO_TYPE_BOOL | HODO_TYPE_ARRAY) ? (uint8_t *)copy.data : NULL;
	for (uint32_t i = 0; bools && i < v->count; i++)
		bools[i] = bools[i] != 0;
	return copy;
}

static void put_value(struct hodo_rows_batch *b, uint32_t column, const struct hodo_read_value *v)
{
	void *at;

	if (column == UINT32_MAX || !hodo_rows_wants(b, column) || !has_value(v))
		return;
	if (v->type >= HODO_TYPE_STR) {
		hodo_rows_put_bytes(b, column, copy_value(b, v));
		return;
	}
	at = hodo_rows_at(b, column);
	if (!at)
		return;
	if (v->type == HODO_TYPE_F32)
		*(float *)at = (float)v->f;
	else if (v->type == HODO_TYPE_BOOL)
		*(uint8_t *)at = v->u != 0;
	else if (b->columns[column].bytes == 8)
		*(uint64_t *)at = v->u;
	else if (b->columns[column].bytes == 4)
		*(uint32_t *)at = (uint32_t)v->u;
	else
		memcpy(at, &v->u, b->columns[column].bytes); /* the lowest bytes of an integer come first */
}

static uint32_t label_of(struct hodo_rows *r, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	bool has = f->labels && v->type < HODO_TYPE_STR;

	return has ? rows_name(r, hodo_read_label(f->labels, v->i)) : HODO_STRINGS_NONE;
}

static struct hodo_rows_cell cell_of(struct hodo_rows_batch *b, uint32_t member, const struct hodo_read_value *v)
{
	struct hodo_rows_cell cell = { .member = member, .u = v->u };

	if (v->type >= HODO_TYPE_STR) {
		struct hodo_rows_bytes bytes = copy_value(b, v);

		cell.data = bytes.data;
		cell.n = bytes.n;
	} else if (v->type == HODO_TYPE_F32) {
		cell.f = (float)v->f;
	} else if (v->type == HODO_TYPE_BOOL) {
		cell.u = v->u != 0;
	}
	return cell;
}

static void put_columns(struct hodo_rows *r, struct hodo_rows_batch *b, const struct class_plan *plan,
			const struct hodo_read_class *cls, const struct hodo_read_value *context,
			const struct hodo_read_value *values)
{
	for (uint32_t i = 0; i < plan->nplaces; i++) {
		const struct hodo_read_value *v = i < cls->ncontext ? &context[i] : &values[i - cls->ncontext];
		const struct hodo_rows_place *place = &plan->places[i];

		put_value(b, place->column, v);
		if (place->label != UINT32_MAX && hodo_rows_wants(b, place->label))
			hodo_rows_put_name(b, place->label, label_of(r, hodo_class_field(cls, i), v));
	}
}

void rows_put_fields(struct hodo_rows *r, struct hodo_rows_batch *b, uint32_t column, const struct class_plan *plan,
		     const struct hodo_read_class *cls, const struct hodo_read_value *context,
		     const struct hodo_read_value *values)
{
	struct hodo_rows_cell *cells;
	uint32_t n = 0;

	if (r->flat)
		put_columns(r, b, plan, cls, context, values);
	if (r->flat || !hodo_rows_wants(b, column))
		return;
	cells = hodo_rows_alloc(b, plan->ncells * sizeof(*cells) + 1);
	for (uint32_t i = 0; cells && i < plan->nplaces; i++) {
		const struct hodo_read_value *v = i < cls->ncontext ? &context[i] : &values[i - cls->ncontext];
		const struct hodo_rows_place *place = &plan->places[i];

		if (place->member != UINT32_MAX && has_value(v))
			cells[n++] = cell_of(b, place->member, v);
		if (place->member_label != UINT32_MAX) {
			uint32_t label = label_of(r, hodo_class_field(cls, i), v);

			if (label != HODO_STRINGS_NONE)
				cells[n++] = (struct hodo_rows_cell){ .member = place->member_label, .u = label };
		}
	}
	hodo_rows_put_bytes(b, column, (struct hodo_rows_bytes){ cells, n });
}

/* ------------------------------------------------------------------------- rows */

/* What an event is as a text, less so many bytes at its end. */
static void put_written(struct hodo_rows *r, struct hodo_rows_batch *b, uint32_t column,
			const struct hodo_read_event *e,
			int (*write)(struct hodo_read_text *text, const struct hodo_read_event *e), size_t less)
{
	const char *text;
	size_t len;

	hodo_read_text_clear(r->text);
	if (write(r->text, e) < 0)
		b->error = -ENOMEM;
	text = hodo_read_text_data(r->text, &len);
	hodo_rows_put_bytes(b, column, hodo_rows_utf8(b, text ? text : "", (uint32_t)(len > less ? len - less : len)));
}

/* What a mark says, and whose address a function's event has; or the event as JSON. */
static void put_said(struct hodo_rows *r, struct hodo_rows_batch *b, const struct class_plan *plan,
		     const struct hodo_read_event *e)
{
	if (plan->mark && hodo_rows_wants(b, HODO_ROWS_TEXT))
		put_written(r, b, HODO_ROWS_TEXT, e, hodo_read_text_mark, 0);
	if (r->flat && hodo_rows_wants(b, EVENTS_JSON))
		put_written(r, b, EVENTS_JSON, e, hodo_read_text_json, 1); /* the newline */
	if (plan->function != UINT32_MAX && r->places.find && hodo_rows_wants(b, HODO_ROWS_FUNCTION)) {
		struct hodo_place place;

		r->places.find(r->places.data, e->process, e->ts_ns, e->values[plan->function].u, &place);
		if (place.named || place.in_file)
			hodo_rows_put_name(b, HODO_ROWS_FUNCTION, rows_name(r, place.name));
	}
}

static int put_class(struct hodo_rows *r, const struct class_plan *plan, const struct hodo_read_event *e)
{
	struct hodo_rows_batch *b = plan->own;
	int err = hodo_rows_begin(b, e->ts_ns);

	if (err)
		return err;
	rows_put_head(r, b, e->process, e->pid, e->tid, e->comm, e->cpu);
	put_said(r, b, plan, e);
	put_columns(r, b, plan, e->cls, e->context, e->values);
	return rows_end(r, b);
}

static int put_event(struct hodo_rows *r, const struct class_plan *plan, const struct hodo_read_event *e)
{
	struct hodo_rows_batch *b = r->events;
	int err = hodo_rows_begin(b, e->ts_ns);

	if (err)
		return err;
	rows_put_head(r, b, e->process, e->pid, e->tid, e->comm, e->cpu);
	hodo_rows_put_name(b, EVENTS_NAME, plan->name);
	put_said(r, b, plan, e);
	rows_put_fields(r, b, EVENTS_FIELDS, plan, e->cls, e->context, e->values);
	return rows_end(r, b);
}

static int put_sample(struct hodo_rows *r, const struct class_plan *plan, const struct hodo_read_event *e)
{
	struct hodo_rows_batch *b = r->samples;
	int err = hodo_rows_begin(b, e->ts_ns);
	double *value;

	if (err)
		return err;
	rows_put_head(r, b, e->process, e->pid, e->tid, e->comm, e->cpu);
	hodo_rows_put_name(b, SAMPLES_NAME, plan->base);
	value = hodo_rows_at(b, SAMPLES_VALUE);
	if (value)
		*value = hodo_value_number(&e->values[0]);
	return rows_end(r, b);
}

int rows_event(void *rows, const struct hodo_read_event *e)
{
	struct hodo_rows *r = rows;
	const struct class_plan *plan = rows_plan(r, e->cls);
	int err = plan ? 0 : -ENOMEM;

	if (!err && r->events)
		err = put_event(r, plan, e);
	if (!err && plan->own)
		err = put_class(r, plan, e);
	if (!err && r->samples && e->cls->role == HODO_READ_ROLE_COUNTER)
		err = put_sample(r, plan, e);
	return err;
}
