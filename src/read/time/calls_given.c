/* SPDX-License-Identifier: MIT */
/* calls_given.c - passes calls to the reader's ops. */
#include "calls.h"

static struct hodo_read_call call_of(const struct calls_thread *t, const struct hodo_frame *f, uint64_t end,
				     uint32_t flags)
{
	const struct calls_thread *own = hodo_calls_thread(t->process, f->thread & ~HODO_CALL_NO_EXIT);
	uint64_t total = end - f->entry;

	return (struct hodo_read_call){
		.size = sizeof(struct hodo_read_call),
		.process = t->process->pub,
		.comm = own->comm,
		.function = f->function,
		.user = f->user,
		.entry_ns = (int64_t)f->entry,
		.end_ns = (int64_t)end,
		.self_ns = total > f->children ? total - f->children : 0,
		.tid = own->tid,
		.depth = f->depth,
		.flags = flags | (f->thread & HODO_CALL_NO_EXIT ? HODO_READ_CALL_NO_EXIT : 0),
	};
}

void hodo_calls_enter(struct hodo_read_calls *c, const struct calls_thread *t, struct hodo_frame *f, uint32_t flags)
{
	struct hodo_read_call call = call_of(t, f, f->entry, flags);

	c->totals.calls++;
	if (c->ops.enter)
		c->ops.enter(c->data, &call);
	f->user = call.user;
}

void hodo_calls_tell(void (*op)(void *data, const struct hodo_read_call *call), const struct calls_thread *t,
		     const struct hodo_frame *f, uint64_t end, uint32_t flags)
{
	const struct hodo_read_call call = call_of(t, f, end, flags);

	if (op)
		op(t->process->calls->data, &call);
}
