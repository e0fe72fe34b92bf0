/* SPDX-License-Identifier: MIT */
/* columns_rows.c - spans and calls: slice_rows.h says what a row is. Those that do not fit the batch wait for the next
 * one. */
#include "columns_impl.h"
#include <read/event/select.h>

#include <core/search.h>
#include <errno.h>

#define OBJECTS_EACH 64u /* that are looked at for an address; those of programs do not overlap */

/* Their columns, behind the head. */
enum {
	SPANS_NAME = COLUMNS_HEAD, SPANS_KIND, SPANS_STATE, SPANS_END, SPANS_DURATION, SPANS_SELF, SPANS_OFF_CPU,
	SPANS_DEPTH, SPANS_ID, SPANS_PARENT_ID, SPANS_PARENT, SPANS_END_TID
};
enum {
	CALLS_ADDRESS = COLUMNS_HEAD, CALLS_OBJECT, CALLS_STATE, CALLS_END, CALLS_DURATION, CALLS_SELF, CALLS_DEPTH,
	CALLS_ID, CALLS_PARENT_ID, CALLS_PARENT
};

int columns_slices_add(struct hodo_read_columns *c)
{
	static const struct {
		const char *name;
		uint32_t type;
		bool spans, calls, whole;
	} columns[] = {
		{ "name", HODO_TYPE_STR, true, false, true },
		{ "kind", HODO_TYPE_STR, true, false, true },
		{ "address", HODO_TYPE_PTR, false, true, true },
		{ "object", HODO_TYPE_STR, false, true, false },
		{ "state", HODO_TYPE_STR, true, true, true },
		{ "end_ns", HODO_TYPE_I64, true, true, false },
		{ "duration_ns", HODO_TYPE_I64, true, true, false },
		{ "self_ns", HODO_TYPE_I64, true, true, false },
		{ "off_cpu_ns", HODO_TYPE_I64, true, false, false },
		{ "depth", HODO_TYPE_U32, true, true, true },
		{ "id", HODO_TYPE_I64, true, true, true },
		{ "parent_id", HODO_TYPE_I64, true, true, false },
		{ "parent", HODO_TYPE_STR, true, true, false },
		{ "end_tid", HODO_TYPE_U32, true, false, false },
	};
	bool spans = c->table == HODO_READ_TABLE_SPANS;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		bool dictionary = columns[i].type == HODO_TYPE_STR;

		if ((spans ? columns[i].spans : columns[i].calls) &&
		    !columns_add(c, columns[i].name, columns[i].type, dictionary, columns[i].whole))
			return -ENOMEM;
	}
	return 0;
}

/* ------------------------------------------------------------------------ values */

/* Whether a is the better answer than b: mapped at that time, the latest to come; else the one nearest to it. */
static bool is_better(const struct hodo_read_object *a, const struct hodo_read_object *b, int64_t ns)
{
	bool in_a = a->from_ns <= ns && ns < a->until_ns, in_b = b->from_ns <= ns && ns < b->until_ns;

	if (in_a != in_b)
		return in_a;
	if (!in_a && (a->from_ns > ns) != (b->from_ns > ns))
		return a->from_ns <= ns;
	return !in_a && a->from_ns > ns ? a->from_ns < b->from_ns : a->from_ns > b->from_ns;
}

/* NULL: not known. */
static const char *object_of(const struct hodo_read_process *p, int64_t ns, uint64_t address)
{
	const struct hodo_read_object *objects = p->objects, *found = NULL;
	uint32_t behind = hodo_search(i, p->nobjects, objects[i].start > address);

	for (uint32_t i = behind; i-- > 0 && behind - i <= OBJECTS_EACH;)
		if (address < objects[i].end && (!found || is_better(&objects[i], found, ns)))
			found = &objects[i];
	return found ? found->path : NULL;
}

/* What spans and calls have in common; end, depth: where their columns of it begin. Texts are constants, or the
 * reader's. */
static int put_times(struct hodo_read_columns *c, const struct hodo_slice_row *row, uint32_t end, uint32_t depth)
{
	struct column **columns = c->columns;

	if (row->known) {
		columns_put_i64(c, columns[end], row->end_ns);
		columns_put_i64(c, columns[end + 1], row->end_ns - row->begin_ns);
		columns_put_i64(c, columns[end + 2], row->self_ns);
	}
	columns_put_u32(c, columns[depth], row->depth);
	columns_put_i64(c, columns[depth + 1], row->id);
	if (row->parent_id)
		columns_put_i64(c, columns[depth + 2], row->parent_id);
	return columns_put_text(c, columns[depth + 3], row->parent);
}

static int put_span(struct hodo_read_columns *c, const struct hodo_slice_row *row)
{
	const struct columns_plan *plan = row->cls ? columns_plan(c, row->cls) : NULL;
	int err = columns_put_text(c, c->columns[SPANS_NAME], row->name);

	if (!err)
		err = columns_put_text(c, c->columns[SPANS_KIND], row->word);
	if (!err)
		err = columns_put_text(c, c->columns[SPANS_STATE], row->state);
	if (!err)
		err = put_times(c, row, SPANS_END, SPANS_DEPTH);
	if (row->off_cpu_ns >= 0)
		columns_put_i64(c, c->columns[SPANS_OFF_CPU], row->off_cpu_ns);
	if (row->kind == HODO_SLICE_ASYNC && row->known)
		columns_put_u32(c, c->columns[SPANS_END_TID], row->end_tid);
	if (err || !row->cls)
		return err;
	return plan ? columns_put_fields(c, plan, row->cls, row->values, row->values + row->cls->ncontext) : -ENOMEM;
}

static int put_call(struct hodo_read_columns *c, const struct hodo_slice_row *row)
{
	int err = columns_put_text(c, c->columns[CALLS_STATE], row->state);

	columns_put_i64(c, c->columns[CALLS_ADDRESS], (int64_t)row->function);
	if (!err && c->columns[CALLS_OBJECT]->valid)
		err = columns_put_text(c, c->columns[CALLS_OBJECT],
				       object_of(row->process, row->begin_ns, row->function));
	return err ? err : put_times(c, row, CALLS_END, CALLS_DEPTH);
}

/* -------------------------------------------------------------------------- rows */

static int put_row(struct hodo_read_columns *c, struct hodo_slice_row *row)
{
	int err = columns_put_head(c, row->process, row->pid, row->comm, row->tid);

	columns_put_i64(c, c->columns[COLUMN_TS], row->begin_ns);
	if (row->cpu != INT32_MIN)
		columns_put_u32(c, c->columns[COLUMN_CPU], (uint32_t)row->cpu);
	if (!err)
		err = row->kind == HODO_SLICE_CALL ? put_call(c, row) : put_span(c, row);
	c->rows++;
	hodo_slice_rows_done(&c->slices, row);
	return err;
}

static int put_or_wait(struct hodo_read_columns *c, struct hodo_slice_row *row)
{
	if (!row->taken || (row->kind == HODO_SLICE_CALL) != (c->table == HODO_READ_TABLE_CALLS)) {
		hodo_slice_rows_done(&c->slices, row);
		return 0;
	}
	if (!c->waiting && !columns_is_full(c))
		return put_row(c, row);
	row->next = NULL;
	*c->waiting_end = row;
	c->waiting_end = &row->next;
	return 0;
}

int columns_slices_more(struct hodo_read_columns *c)
{
	int err = 0;

	while (c->waiting && !err && !columns_is_full(c)) {
		struct hodo_slice_row *row = c->waiting;

		c->waiting = row->next;
		if (!c->waiting)
			c->waiting_end = &c->waiting;
		err = put_row(c, row);
	}
	return err;
}

/* ------------------------------------------------------------------------ slices */

static int is_taken(struct hodo_read_columns *c, const struct hodo_read_event *e)
{
	return c->takes ? c->takes(c->takes_data, e) : 1;
}

/* What begins it decides whether it is selected, if what ends it is not seen. */
static int begin(void *columns, struct hodo_slice *slice, const struct hodo_read_event *e)
{
	struct hodo_read_columns *c = columns;
	int err = hodo_slice_rows_begin(&c->slices, slice, e), taken = 0;
	struct hodo_slice_row *row = slice->whole;

	if (err || !row || slice->flags & HODO_SLICE_CONTINUED || slice->kind == HODO_SLICE_CALL)
		return err;
	taken = is_taken(c, e);
	row->taken = taken > 0;
	return taken < 0 ? taken : 0;
}

static int end(void *columns, struct hodo_slice *slice, const struct hodo_read_event *e)
{
	struct hodo_slice_row *row = hodo_slice_rows_end(slice, e);
	struct hodo_read_columns *c = columns;
	int taken;

	if (!row)
		return 0;
	taken = e ? is_taken(c, e) : row->taken;
	row->taken = taken > 0;
	return taken < 0 ? taken : put_or_wait(c, row);
}

static int call_over(void *columns, struct hodo_slice *slice, const struct hodo_read_call *call)
{
	struct hodo_slice_row *row = hodo_slice_rows_call(slice, call);
	struct hodo_read_columns *c = columns;

	if (!row)
		return 0;
	row->taken = hodo_select_has_thread(c->reader->select, row->process, row->pid, row->tid, row->comm);
	return put_or_wait(c, row);
}

int columns_slices_open(struct hodo_read_columns *c)
{
	static const struct hodo_timeline_ops ops = { .begin = begin, .end = end, .call = call_over, .no_cpus = true };
	struct hodo_read *r = c->reader;
	bool values = false;

	for (uint32_t i = c->nfixed; i < c->ncolumns; i++)
		values |= c->columns[i]->valid != NULL;
	hodo_slice_rows_init(&c->slices, r, values);
	c->waiting_end = &c->waiting;
	c->timeline = hodo_timeline_new(r, (struct hodo_places){ 0 }, &ops, c);
	if (!c->timeline)
		return -ENOMEM;
	c->takes = r->takes;
	c->takes_data = r->takes_data;
	c->whole = r->whole;
	r->takes = NULL;
	r->whole = false;
	return hodo_timeline_start(c->timeline, 0, 0);
}

void columns_slices_close(struct hodo_read_columns *c)
{
	if (c->takes) {
		c->reader->takes = c->takes;
		c->reader->whole = c->whole;
	}
	hodo_timeline_free(c->timeline);
	hodo_slice_rows_free(&c->slices);
}
