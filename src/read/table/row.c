/* SPDX-License-Identifier: MIT */
/* row.c - what all that makes rows shares: numbers of names, what becomes of a class's events, and a row's end. */
#include "rows_impl.h"

#include <base/escape.h>

/* ----------------------------------------------------------------------- texts */

/* Names that programs give are any bytes. */
static uint32_t make_name(struct hodo_rows *r, const char *text)
{
	size_t len = strnlen(text, UINT16_MAX);
	char *o;

	r->scratch.len = 0;
	o = hodo_text_room(&r->scratch, 2 * len + 1);
	if (!o)
		return HODO_STRINGS_NONE;
	return hodo_strings_add_bytes(&r->names, o, (size_t)(hodo_escape_utf8(o, text, len, 0) - o));
}

uint32_t rows_name(struct hodo_rows *r, const char *text)
{
	uintptr_t address = (uintptr_t)text, slot = (address >> 3 ^ address >> 9) % RECENT;
	struct known_text *known;
	bool is_new;

	if (!text)
		return HODO_STRINGS_NONE;
	if (r->recent[slot].address == address)
		return r->recent[slot].name;
	known = hodo_map_add_u64(&r->texts, address, &is_new);
	if (!known)
		return HODO_STRINGS_NONE;
	if (is_new)
		known->name = make_name(r, text);
	r->recent[slot].address = address;
	r->recent[slot].name = known->name;
	return known->name;
}

uint32_t rows_host(struct hodo_rows *r, const struct hodo_read_process *p)
{
	return rows_name(r, p->hostname && *p->hostname ? p->hostname : NULL);
}

/* ---------------------------------------------------------------------- classes */

static struct hodo_rows_batch *batch_of(struct hodo_rows *r, uint32_t number)
{
	for (uint32_t i = 0; i < r->nbatches; i++)
		if (r->batches[i].number == number)
			return &r->batches[i];
	return NULL;
}

static struct class_plan *make_plan(struct hodo_rows *r, const struct hodo_read_class *cls)
{
	uint32_t n = cls->ncontext + cls->nfields;
	size_t bytes = sizeof(struct class_plan) + n * sizeof(struct hodo_rows_place);
	struct class_plan *plan = hodo_map_keep_u64(&r->plans, (uintptr_t)cls, bytes);
	uint32_t number;

	if (!plan)
		return NULL;
	plan->nplaces = n;
	plan->mark = cls->kind == HODO_KIND_MARK;
	plan->function = UINT32_MAX;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (cls->kind == HODO_KIND_FUNCTION && cls->fields[i].type == HODO_TYPE_PTR &&
		    strcmp(cls->fields[i].name, "addr") == 0)
			plan->function = i;
	number = hodo_rows_places(r->schema, cls, plan->places);
	for (uint32_t i = 0; i < n; i++)
		plan->ncells += (plan->places[i].member != UINT32_MAX) + (plan->places[i].member_label != UINT32_MAX);
	plan->own = number == UINT32_MAX ? NULL : batch_of(r, number);
	plan->name = rows_name(r, cls->name);
	plan->base = rows_name(r, cls->base ? cls->base : cls->name);
	return plan->name != HODO_STRINGS_NONE && plan->base != HODO_STRINGS_NONE ? plan : NULL;
}

const struct class_plan *rows_plan(struct hodo_rows *r, const struct hodo_read_class *cls)
{
	if (cls != r->last) {
		const void *found = hodo_map_find_u64(&r->plans, (uintptr_t)cls);

		r->last_plan = found ? hodo_map_kept(&r->plans, found) : make_plan(r, cls);
		r->last = r->last_plan ? cls : NULL;
	}
	return r->last_plan;
}

void rows_put_head(struct hodo_rows *r, struct hodo_rows_batch *b, const struct hodo_read_process *p, uint32_t pid,
		   uint32_t tid, const char *comm, int32_t cpu)
{
	if (r->head.process != p || r->head.comm != comm) {
		r->head.process = p;
		r->head.comm = comm;
		r->head.host_name = rows_host(r, p);
		r->head.process_name = rows_name(r, p->comm);
		r->head.thread_name = rows_name(r, comm);
	}
	hodo_rows_repeat_name(b, HODO_ROWS_HOST, r->head.host_name);
	hodo_rows_repeat_name(b, HODO_ROWS_PROCESS, r->head.process_name);
	hodo_rows_repeat(b, HODO_ROWS_PID, pid);
	hodo_rows_repeat_name(b, HODO_ROWS_THREAD, r->head.thread_name);
	hodo_rows_repeat(b, HODO_ROWS_TID, tid);
	if (cpu != INT32_MIN)
		hodo_rows_repeat(b, HODO_ROWS_CPU, (uint32_t)cpu);
}

/* Every so many rows the bytes that are pending are added up. */
#define LOOK_ROWS 8192u

static size_t pending_bytes(const struct hodo_rows *r)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < r->nbatches; i++)
		bytes += r->batches[i].n ? hodo_rows_batch_bytes(&r->batches[i]) : 0;
	return bytes;
}

int rows_end(struct hodo_rows *r, struct hodo_rows_batch *b)
{
	if (++b->n >= r->batch_rows || b->used >= r->pending_max)
		r->full = b;
	if (++r->ended_rows % LOOK_ROWS == 0)
		r->too_much = pending_bytes(r) > r->pending_max;
	return b->error;
}
