/* SPDX-License-Identifier: MIT */
/*
 * rows_slices.c - spans, calls and times off a CPU as rows. What a row of the first two says is decided in
 * read/time/slice_rows.c, a row of the third is how a thread waited that runs again.
 */
#include "rows_impl.h"

#include <base/map.h>
#include <core/search.h>
#include <read/event/runs.h>
#include <read/event/select.h>
#include <read/file/reader.h>

#include <errno.h>

#define OBJECTS_EACH 64u /* that are looked at for an address; those of programs do not overlap */

/* Whether the reader selects a row; or a negative errno. */
static int is_taken(struct hodo_rows *r, const struct hodo_read_event *e)
{
	return r->takes ? r->takes(r->takes_data, e) : 1;
}

/* What begins it decides whether it is selected, if what ends it is not seen. */
int rows_slice_begin(void *rows, struct hodo_slice *slice, const struct hodo_read_event *e)
{
	struct hodo_rows *r = rows;
	int err = r->spans || r->calls ? hodo_slice_rows_begin(&r->slices, slice, e) : 0, taken;
	struct hodo_slice_row *row = slice->whole;

	if (err || !row || !r->takes || slice->flags & HODO_SLICE_CONTINUED || slice->kind == HODO_SLICE_CALL)
		return err;
	taken = is_taken(r, e);
	row->taken = taken > 0;
	return taken < 0 ? taken : 0;
}

/* What spans and calls have in common: these columns of theirs. */
struct columns {
	uint32_t state, end, duration, self, depth, id, parent_id, parent;
};

static void put_slice(struct hodo_rows *r, struct hodo_rows_batch *b, const struct columns *c,
		      const struct hodo_slice_row *row)
{
	rows_put_head(r, b, row->process, row->pid, row->tid, row->comm, row->cpu);
	hodo_rows_repeat_name(b, c->state, rows_name(r, row->state));
	if (row->known) {
		hodo_rows_i64(b, c->end, row->end_ns);
		hodo_rows_i64(b, c->duration, row->end_ns - row->begin_ns);
		hodo_rows_i64(b, c->self, row->self_ns);
	}
	hodo_rows_repeat(b, c->depth, row->depth);
	hodo_rows_i64(b, c->id, row->id);
	if (row->parent_id) {
		hodo_rows_i64(b, c->parent_id, row->parent_id);
		hodo_rows_repeat_name(b, c->parent, rows_name(r, row->parent));
	}
}

static int put_span(struct hodo_rows *r, const struct hodo_slice_row *row)
{
	static const struct columns columns = { SPANS_STATE, SPANS_END, SPANS_DURATION, SPANS_SELF,
						SPANS_DEPTH, SPANS_ID, SPANS_PARENT_ID, SPANS_PARENT };
	struct hodo_rows_batch *b = r->spans;
	const struct class_plan *plan;
	int err = hodo_rows_begin(b, row->begin_ns);

	if (err)
		return err;
	put_slice(r, b, &columns, row);
	hodo_rows_put_name(b, SPANS_NAME, rows_name(r, row->name));
	hodo_rows_repeat_name(b, SPANS_KIND, rows_name(r, row->word));
	if (row->kind == HODO_SLICE_ASYNC && row->known)
		hodo_rows_u32(b, SPANS_END_TID, row->end_tid);
	if (row->off_cpu_ns >= 0)
		hodo_rows_i64(b, SPANS_OFF_CPU, row->off_cpu_ns);
	plan = row->cls ? rows_plan(r, row->cls) : NULL;
	if (plan)
		rows_put_fields(r, b, SPANS_FIELDS, plan, row->cls, row->values, row->values + row->cls->ncontext);
	return row->cls && !plan ? -ENOMEM : rows_end(r, b);
}

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

static int put_call(struct hodo_rows *r, const struct hodo_slice_row *row)
{
	static const struct columns columns = { CALLS_STATE, CALLS_END, CALLS_DURATION, CALLS_SELF,
						CALLS_DEPTH, CALLS_ID, CALLS_PARENT_ID, CALLS_PARENT };
	struct hodo_rows_batch *b = r->calls;
	int err = hodo_rows_begin(b, row->begin_ns);

	if (err)
		return err;
	put_slice(r, b, &columns, row);
	if (r->flat)
		hodo_rows_i64(b, CALLS_ADDRESS, (int64_t)row->function);
	else
		hodo_rows_put_name(b, CALLS_FUNCTION, rows_name(r, row->name));
	if (hodo_rows_wants(b, CALLS_OBJECT))
		hodo_rows_repeat_name(b, CALLS_OBJECT,
				      rows_name(r, r->flat ? object_of(row->process, row->begin_ns, row->function) :
							     row->object));
	return rows_end(r, b);
}

/* -------------------------------------------------------------------------- waits */

/* One of the host where the slice is. */
static uint64_t thread_id(const struct hodo_slice *slice, uint32_t tid)
{
	return (uint64_t)slice->track->kernel->host << 32 | tid;
}

/* A thread that runs again says how it waited. */
static int put_wait(struct hodo_rows *r, const struct hodo_slice *slice)
{
	const struct hodo_sched_off *off = slice->sched_off;
	struct hodo_rows_batch *b = r->waits;
	struct thread_name *name = hodo_map_add_u64(&r->threads, thread_id(slice, (uint32_t)slice->id), NULL);
	int err;

	if (!name)
		return -ENOMEM;
	name->comm = slice->name;
	if (!off || off->off_ns == INT64_MIN)
		return 0;
	err = hodo_rows_begin(b, off->off_ns);
	if (err)
		return err;
	rows_put_head(r, b, slice->track->kernel, slice->pid, (uint32_t)slice->id, slice->name, slice->track->cpu);
	hodo_rows_i64(b, WAITS_END, off->on_ns);
	hodo_rows_i64(b, WAITS_DURATION, off->on_ns - off->off_ns);
	if (off->woken_ns != INT64_MIN)
		hodo_rows_i64(b, WAITS_WOKEN, off->woken_ns);
	hodo_rows_put_name(b, WAITS_WHY, rows_name(r, hodo_sched_why_text(off->why)));
	name = off->waker ? hodo_map_find_u64(&r->threads, thread_id(slice, off->waker)) : NULL;
	if (name)
		hodo_rows_put_name(b, WAITS_WAKER, rows_name(r, name->comm));
	if (off->waker)
		hodo_rows_u32(b, WAITS_WAKER_TID, off->waker);
	return rows_end(r, b);
}

int rows_slice_end(void *rows, struct hodo_slice *slice, const struct hodo_read_event *e)
{
	struct hodo_rows *r = rows;
	struct hodo_slice_row *row;
	int err, taken;

	if (slice->kind == HODO_SLICE_RUNNING)
		return r->waits && r->kernel ? put_wait(r, slice) : 0;
	row = hodo_slice_rows_end(slice, e);
	if (!row)
		return 0;
	taken = e || !r->takes ? is_taken(r, e) : row->taken;
	err = taken < 0 ? taken : taken && r->spans ? put_span(r, row) : 0;
	hodo_slice_rows_done(&r->slices, row);
	return err;
}

int rows_slice_call(void *rows, struct hodo_slice *slice, const struct hodo_read_call *call)
{
	struct hodo_slice_row *row = hodo_slice_rows_call(slice, call);
	struct hodo_rows *r = rows;
	int err = 0;

	if (!row)
		return 0;
	if (r->calls && (!r->takes || hodo_select_has_thread(r->reader->select, row->process, row->pid, row->tid,
							     row->comm)))
		err = put_call(r, row);
	hodo_slice_rows_done(&r->slices, row);
	return err;
}
