/* SPDX-License-Identifier: MIT */
#include "slice_rows.h"
#include <read/file/identity.h>

#include <core/fields.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES 4096u /* of values, for the next row in the same place */

void hodo_slice_rows_init(struct hodo_slice_rows *r, const struct hodo_read *reader, bool values)
{
	*r = (struct hodo_slice_rows){ .values = values, .ids = (int64_t)(hodo_read_identity(reader) >> 33 << 32) };
}

/* --------------------------------------------------------------------- memory */

static struct hodo_slice_row *new_row(struct hodo_slice_rows *r)
{
	struct hodo_slice_row *row = r->free;

	if (row) {
		r->free = row->next;
	} else {
		row = hodo_arena_zero(&r->memory, sizeof(*row));
		if (!row)
			return NULL;
		row->older = r->newest;
		r->newest = row;
	}
	return row;
}

void hodo_slice_rows_done(struct hodo_slice_rows *r, struct hodo_slice_row *row)
{
	if (row->room > KEPT_BYTES) {
		free(row->values);
		row->values = NULL;
		row->room = 0;
	}
	row->next = r->free;
	r->free = row;
}

void hodo_slice_rows_free(struct hodo_slice_rows *r)
{
	for (struct hodo_slice_row *row = r->newest; row; row = row->older)
		free(row->values);
	hodo_arena_free(&r->memory);
	*r = (struct hodo_slice_rows){ 0 };
}

static const struct hodo_read_value *value_of(const struct hodo_read_event *e, uint32_t i)
{
	return i < e->cls->ncontext ? &e->context[i] : &e->values[i - e->cls->ncontext];
}

static size_t bytes_of(const struct hodo_read_value *v)
{
	return v->type < HODO_TYPE_STR ? 0 : (size_t)v->count * hodo_fields_element_size((uint8_t)v->type);
}

/* The values of the event, which live until the next one. */
static int copy_values(struct hodo_slice_row *row, const struct hodo_read_event *e)
{
	uint32_t n = e->cls->ncontext + e->cls->nfields;
	size_t bytes = n * sizeof(*row->values) + 1;
	char *to;

	for (uint32_t i = 0; i < n; i++)
		bytes += bytes_of(value_of(e, i));
	if (bytes > row->room) {
		free(row->values);
		row->values = malloc(bytes);
		row->room = row->values ? bytes : 0;
	}
	if (!row->values)
		return -ENOMEM;
	row->cls = e->cls;
	to = (char *)(row->values + n);
	for (uint32_t i = 0; i < n; i++) {
		size_t len = bytes_of(value_of(e, i));

		row->values[i] = *value_of(e, i);
		if (row->values[i].type < HODO_TYPE_STR)
			continue;
		memcpy(to, row->values[i].data, len);
		row->values[i].data = to;
		to += len;
	}
	return 0;
}

/* ------------------------------------------------------------------------ rows */

static const char *word_of(const struct hodo_slice *slice)
{
	if (slice->kind == HODO_SLICE_ASYNC)
		return "async";
	if (slice->kind == HODO_SLICE_CALL)
		return "call";
	return slice->cls->role == HODO_READ_ROLE_SYSCALL_BEGIN ? "syscall" : "span";
}

int hodo_slice_rows_begin(struct hodo_slice_rows *r, struct hodo_slice *slice, const struct hodo_read_event *e)
{
	const struct hodo_slice_row *parent = slice->parent ? slice->parent->whole : NULL;
	const struct hodo_track *on = slice->kind == HODO_SLICE_ASYNC ? slice->began_on : slice->track;
	struct hodo_slice_row *row;

	if (slice->kind == HODO_SLICE_RUNNING || slice->flags & HODO_SLICE_CONTINUED)
		return 0;
	row = new_row(r);
	if (!row)
		return -ENOMEM;
	*row = (struct hodo_slice_row){
		.kind = slice->kind,
		.word = word_of(slice),
		.process = on->process,
		.pid = e ? e->pid : on->process->pid,
		.tid = e ? e->tid : on->tid,
		.comm = e ? e->comm : on->name,
		.cpu = e ? e->cpu : INT32_MIN,
		.name = slice->name,
		.object = slice->place && *slice->place->object ? slice->place->object : NULL,
		.function = slice->function,
		.depth = slice->depth,
		.begin_ns = slice->begin_ns,
		.off_cpu_ns = -1,
		.id = ++r->ids,
		.parent_id = parent ? parent->id : 0,
		.parent = parent ? parent->name : NULL,
		.values = row->values,
		.room = row->room,
		.older = row->older,
	};
	slice->whole = row;
	return r->values && e && slice->kind != HODO_SLICE_CALL ? copy_values(row, e) : 0;
}

/* When it ended, and how. */
static void set_end(struct hodo_slice_row *row, const char *state, int64_t end_ns, uint64_t self_ns, bool known)
{
	row->state = state;
	row->known = known;
	row->end_ns = end_ns > row->begin_ns ? end_ns : row->begin_ns;
	row->self_ns = (int64_t)self_ns;
}

struct hodo_slice_row *hodo_slice_rows_end(struct hodo_slice *slice, const struct hodo_read_event *e)
{
	struct hodo_slice_row *row = slice->whole;
	uint32_t flags = slice->flags;
	const char *state = flags & HODO_SLICE_OPEN ? "open" : flags & HODO_SLICE_END_LOST ? "end_lost" :
			    flags & HODO_SLICE_LEFT ? "left" : "ended";

	if (!row || slice->kind == HODO_SLICE_CALL || flags & HODO_SLICE_SPLIT)
		return NULL;
	set_end(row, state, slice->end_ns, slice->self_ns + slice->earlier_self_ns,
		!(flags & (HODO_SLICE_OPEN | HODO_SLICE_END_LOST)));
	if (e && e->off_cpu)
		row->off_cpu_ns = (int64_t)e->off_cpu->ns;
	if (e && slice->kind == HODO_SLICE_ASYNC)
		row->end_tid = e->tid;
	return row;
}

struct hodo_slice_row *hodo_slice_rows_call(struct hodo_slice *slice, const struct hodo_read_call *call)
{
	struct hodo_slice_row *row = slice->whole;
	uint32_t flags = call->flags;
	const char *state = flags & HODO_READ_CALL_NO_EXIT ? "no_exit" :
			    flags & HODO_READ_CALL_EXIT_LOST ? "exit_lost" :
			    flags & HODO_READ_CALL_OPEN ? "open" :
			    flags & HODO_READ_CALL_LEFT ? "left" : "ended";

	if (!row)
		return NULL;
	row->pid = call->process->pid;
	row->tid = call->tid;
	row->comm = call->comm;
	row->begin_ns = call->entry_ns;
	set_end(row, state, call->end_ns, call->self_ns,
		!(flags & (HODO_READ_CALL_NO_EXIT | HODO_READ_CALL_EXIT_LOST | HODO_READ_CALL_OPEN)));
	return row;
}
