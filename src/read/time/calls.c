/* SPDX-License-Identifier: MIT */
/*
 * calls.c - turns func:* events into calls, with core/shadow: a shadow for each thread, a table of parked
 * frames for each process, both growing. Times in a shadow are ns.
 *
 * A trace does not say where a thread's stack is: frames left behind are parked (see shadow.h), and closed
 * when their place is reused or at the end.
 */
#include "calls.h"

#include <base/order.h>
#include <base/vec.h>
#include <read/event/losses.h>
#include <read/file/class.h>

#include <errno.h>
#include <stdlib.h>

#define SP_EXPECTED 4352u /* bytes */

/* ------------------------------------------------------------------- how calls end */

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

static void tell(void (*op)(void *data, const struct hodo_read_call *call), const struct calls_thread *t,
		 const struct hodo_frame *f, uint64_t end, uint32_t flags)
{
	const struct hodo_read_call call = call_of(t, f, end, flags);

	if (op)
		op(t->process->calls->data, &call);
}

/* A frame without an exit takes no time: its time, except for its children's, goes back to the caller. */
static void give_back(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t now)
{
	if ((f->thread & HODO_CALL_NO_EXIT) && s->n)
		s->frames[s->n - 1].children -= now - f->entry - f->children;
}

/* What became of a call without an exit, if nothing was lost between two times; else it may have returned. If
 * an event shows that it is over, until is before that event, which may itself be the last one before a loss. */
static uint32_t unless_lost(const struct calls_thread *t, uint64_t from, uint64_t until, uint32_t flag)
{
	return hodo_losses_between(t->process->pub, HODO_LOSSES_ANY_CPU, (int64_t)from, (int64_t)until) ?
	       HODO_READ_CALL_EXIT_LOST : flag;
}

/* Why there is no exit: 0 if none is expected. A separate function, since most calls have one. */
static __attribute__((noinline)) uint32_t without_exit(const struct calls_thread *t, const struct hodo_frame *f)
{
	const struct hodo_read_calls *c = t->process->calls;
	bool left = f->parked && f->lane; /* and it is not a waiting coroutine's */

	if (f->thread & HODO_CALL_NO_EXIT)
		return c->ending && !left ? HODO_READ_CALL_OPEN : 0;
	/* Nothing shows it to be over since it was last seen. */
	if (c->ending && !left)
		return unless_lost(t, f->parked ? f->parked : hodo_calls_thread(t->process, f->thread)->last_ns,
				   (uint64_t)c->now_ns, HODO_READ_CALL_OPEN);
	return unless_lost(t, f->entry, (left ? f->parked : (uint64_t)c->now_ns) - 1, HODO_READ_CALL_LEFT);
}

static void closed(struct hodo_shadow *s, const struct hodo_frame *f, enum hodo_frame_end end, uint64_t now)
{
	struct calls_thread *t = (struct calls_thread *)(void *)s;
	struct hodo_read_calls *c = t->process->calls;
	bool no_exit = f->thread & HODO_CALL_NO_EXIT, returned = end == HODO_FRAME_RETURNED && !no_exit;
	uint32_t flags = returned ? 0 : without_exit(t, f);

	if (!f->parked)
		give_back(s, f, now);
	c->totals.returned += returned;
	c->totals.open += flags == HODO_READ_CALL_OPEN && !no_exit;
	c->totals.left += flags == HODO_READ_CALL_LEFT;
	c->totals.exit_lost += flags == HODO_READ_CALL_EXIT_LOST;
	tell(c->ops.leave, t, f, flags == HODO_READ_CALL_OPEN ? (uint64_t)c->now_ns : now, flags);
}

static void parked(struct hodo_shadow *s, const struct hodo_frame *f)
{
	struct calls_thread *t = (struct calls_thread *)(void *)s;

	give_back(s, f, f->parked);
	tell(t->process->calls->ops.away, t, f, f->parked,
	     f->lane ? unless_lost(t, f->entry, f->parked - 1, HODO_READ_CALL_LEFT) : 0);
}

static bool same(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t function)
{
	struct calls_thread *t = (struct calls_thread *)(void *)s;
	struct hodo_read_calls *c = t->process->calls;

	return f->function == function ||
	       c->ops.same(c->data, t->process->pub, c->now_ns, f->function, function);
}

/* ----------------------------------------------------------------------- memory */

static bool grow_frames(struct hodo_shadow *s)
{
	int err = hodo_vec_reserve(s->frames, s->max, s->max + 1ull);

	((struct calls_thread *)(void *)s)->process->calls->no_memory |= err < 0;
	return err == 0;
}

static bool grow_parked(struct hodo_parked *p)
{
	struct hodo_parked larger = *p;

	larger.mask = p->mask * 2 + 1;
	larger.count = 0;
	larger.slots = larger.mask < UINT32_MAX ? calloc((size_t)larger.mask + 1, sizeof(*larger.slots)) : NULL;
	if (!larger.slots) {
		((struct calls_process *)(void *)p)->calls->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; p->slots && i <= p->mask; i++)
		if (p->slots[i].at)
			hodo_parked_put(&larger, &p->slots[i]);
	free(p->slots);
	*p = larger;
	return true;
}

/* --------------------------------------------------------- processes and threads */

/* NULL: no memory. */
static struct calls_process *process_of(struct hodo_read_calls *c, const struct hodo_read_process *pub)
{
	struct calls_process *p = c->last;

	if (p && p->pub == pub)
		return p;
	p = hodo_map_keep_u64(&c->processes, (uintptr_t)pub, sizeof(*p));
	if (p && !p->pub) {
		*p = (struct calls_process){ .parked = { .mask = 7, .grow = grow_parked }, .calls = c, .pub = pub,
					     .threads = HODO_MAP_KEPT(uint64_t), .places = HODO_MAP(struct place, at) };
		grow_parked(&p->parked);
	}
	return c->last = p;
}

/* The kernel has a thread 0 on each CPU. Thread ids are below these keys. */
static uint32_t key_of(const struct hodo_read_event *e)
{
	return e->tid == 0 && e->process->kernel ? 0x80000000u | e->cpu : e->tid;
}

/* A function entered here shows that an earlier frame at that place, in any chain, is over: since its
 * thread's last event. */
static void take_place(struct calls_thread *t, uint64_t at)
{
	struct calls_process *p = t->process;
	bool is_new;
	struct place *place = hodo_map_add_u64(&p->places, at, &is_new);
	struct calls_thread *other = place && !is_new ? hodo_calls_thread(p, place->thread) : t;

	p->calls->no_memory |= !place;
	if (other != t)
		hodo_shadow_gone(&other->shadow, at, other->last_ns);
	if (place)
		place->thread = t->shadow.thread;
}

static void start_thread(struct calls_process *p, struct calls_thread *t, uint32_t tid)
{
	t->process = p;
	t->tid = tid;
	t->shadow.thread = p->threads.n - 1;
	t->shadow.parked = &p->parked;
	t->shadow.grow = grow_frames;
	t->shadow.closed = closed;
	t->shadow.park = parked;
	/* Places are new, so all are thread 0's. */
	for (uint32_t i = 0; p->threads.n == 2 && i < hodo_calls_thread(p, 0)->shadow.n; i++) {
		const struct hodo_frame *f = &hodo_calls_thread(p, 0)->shadow.frames[i];

		if (!f->sp && f->at)
			take_place(hodo_calls_thread(p, 0), f->at);
	}
}

/* NULL: no memory. */
static struct calls_thread *thread_of(struct calls_process *p, const struct hodo_read_event *e)
{
	struct calls_thread *t = hodo_map_keep_u64(&p->threads, key_of(e), sizeof(*t));

	if (t && !t->process)
		start_thread(p, t, e->tid);
	if (t)
		t->comm = e->comm;
	return t;
}

/* ----------------------------------------------------------------------- events */

/* The shadow that an exit belongs to: another thread's, if that thread entered the function. */
static struct hodo_shadow *place_of(struct calls_thread *t, uint64_t at)
{
	const struct place *place = hodo_map_find_u64(&t->process->places, at);
	struct calls_thread *other = place ? hodo_calls_thread(t->process, place->thread) : t;

	return other != t && hodo_shadow_holds(&other->shadow, at) ? &other->shadow : &t->shadow;
}

/* place_of() if only a stack pointer inside the frame is known: the nearest frame of the function, if this
 * thread has none where one is expected (a tail jump's exit has an address a page lower). */
static struct hodo_shadow *place_near(struct calls_thread *t, uint64_t at, uint64_t function)
{
	const struct calls_process *p = t->process;
	struct hodo_shadow *best = &t->shadow;
	uint64_t nearest = hodo_shadow_near(best, at, function);

	for (uint32_t i = 0; i < p->threads.n && nearest > SP_EXPECTED; i++) {
		struct hodo_shadow *other = &hodo_calls_thread(p, i)->shadow;
		uint64_t near = hodo_shadow_near(other, at, function);

		if (near < nearest) {
			nearest = near;
			best = other;
		}
	}
	return best;
}

static void enter(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at, bool sp, bool no_exit)
{
	struct hodo_read_calls *c = t->process->calls;
	struct hodo_read_call call;
	struct hodo_frame *f;

	if (!sp && at && t->process->threads.n > 1) /* nobody enters at 0 */
		take_place(t, at);
	f = hodo_shadow_enter(&t->shadow, at, e->values[0].u, (uint64_t)e->ts_ns, sp);
	if (!f)
		return;
	f->thread |= no_exit ? HODO_CALL_NO_EXIT : 0;
	call = call_of(t, f, f->entry, 0);
	c->totals.calls++;
	if (c->ops.enter)
		c->ops.enter(c->data, &call);
	f->user = call.user;
}

static void landed(struct calls_thread *t, uint64_t at, bool other_stack)
{
	if (at && t->process->threads.n > 1)
		take_place(t, at);
	hodo_shadow_landed(&t->shadow, at, (uint64_t)t->process->calls->now_ns, other_stack);
}

static void leave(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at, bool sp)
{
	struct calls_process *p = t->process;
	struct hodo_shadow *s = p->threads.n == 1 ? &t->shadow :
				sp ? place_near(t, at, e->values[0].u) : place_of(t, at);
	bool outermost = t->shadow.n == 0;

	if (hodo_shadow_exit(s, at, e->values[0].u, (uint64_t)e->ts_ns, sp,
			     p->calls->ops.same && hodo_losses_any(p->pub) ? same : NULL))
		return;
	/* Entered before the fork, by the parent. */
	if (outermost && p->pub->start == HODO_START_FORK && t->tid == p->pub->pid)
		t->shadow.orphans--;
}

int hodo_read_calls_event(struct hodo_read_calls *calls, const struct hodo_read_event *e)
{
	enum hodo_call_event kind = ((const struct hodo_class *)(const void *)e->cls)->call;
	struct calls_process *p;
	struct calls_thread *t;
	uint64_t at;

	if (kind == HODO_CALL_EVENT_NONE)
		return 0;
	p = process_of(calls, e->process);
	t = p ? thread_of(p, e) : NULL;
	if (!t) {
		calls->no_memory = true;
		return -ENOMEM;
	}
	calls->now_ns = e->ts_ns;
	t->last_ns = (uint64_t)e->ts_ns;
	at = e->values[1].u << 3;
	switch (kind) {
	case HODO_CALL_EVENT_ENTRY:
	case HODO_CALL_EVENT_ENTRY_SP:
	case HODO_CALL_EVENT_REACHED:
		enter(t, e, at, kind == HODO_CALL_EVENT_ENTRY_SP, kind == HODO_CALL_EVENT_REACHED);
		break;
	case HODO_CALL_EVENT_EXIT:
	case HODO_CALL_EVENT_EXIT_SP:
		leave(t, e, at, kind == HODO_CALL_EVENT_EXIT_SP);
		break;
	case HODO_CALL_EVENT_LANDED:
	case HODO_CALL_EVENT_SWITCHED:
		landed(t, at, kind == HODO_CALL_EVENT_SWITCHED);
		break;
	case HODO_CALL_EVENT_CALLEE:
		hodo_calls_callee(t, e, at);
		break;
	default:
		hodo_calls_late_event(t, e, kind == HODO_CALL_EVENT_OPEN);
	}
	return calls->no_memory ? -ENOMEM : 0;
}

static int by_entry_last(const void *a, const void *b)
{
	const struct hodo_frame *x = a, *y = b;

	return hodo_order(y->entry, x->entry);
}

/* Inner ones first: they were entered later. */
static void close_parked(struct calls_process *p)
{
	struct hodo_frame *f = p->parked.slots;
	uint32_t n = 0;

	for (uint32_t i = 0; i <= p->parked.mask; i++)
		if (f[i].at && f[i].sp <= 1)
			f[n++] = f[i];
	hodo_order_sort(f, n, by_entry_last);
	p->parked.count = 0;
	for (uint32_t i = 0; i < n; i++)
		closed(&hodo_calls_thread(p, f[i].thread & ~HODO_CALL_NO_EXIT)->shadow, &f[i], HODO_FRAME_LEFT,
		       f[i].parked);
	memset(f, 0, ((size_t)p->parked.mask + 1) * sizeof(*f));
}

int hodo_read_calls_end(struct hodo_read_calls *calls, int64_t ts_ns)
{
	if (calls->no_memory)
		return -ENOMEM;
	calls->ending = true;
	calls->now_ns = ts_ns;
	for (uint32_t i = 0; i < calls->processes.n; i++) {
		struct calls_process *p = hodo_map_kept_at(&calls->processes, i);

		for (uint32_t k = 0; k < p->threads.n; k++)
			hodo_shadow_clear(&hodo_calls_thread(p, k)->shadow, (uint64_t)ts_ns);
		close_parked(p);
		for (uint32_t k = 0; k < p->threads.n; k++)
			hodo_calls_pass(hodo_calls_thread(p, k));
	}
	calls->ending = false;
	return calls->no_memory ? -ENOMEM : 0;
}

void hodo_read_calls_totals(const struct hodo_read_calls *calls, struct hodo_read_calls_totals *totals)
{
	struct hodo_read_calls_totals all = calls->totals;
	size_t size = totals->size < sizeof(all) ? totals->size : sizeof(all);

	all.size = size;
	for (uint32_t i = 0; i < calls->processes.n; i++) {
		const struct calls_process *p = hodo_map_kept_at(&calls->processes, i);

		for (uint32_t k = 0; k < p->threads.n; k++)
			all.orphans += hodo_calls_thread(p, k)->shadow.orphans;
	}
	memcpy(totals, &all, size);
}

uint32_t hodo_read_calls_depth(const struct hodo_read_calls *calls, const struct hodo_read_process *process,
			       uint32_t tid)
{
	const struct calls_thread *t = hodo_calls_find(calls, process, tid);

	return t ? t->shadow.n : 0;
}

struct hodo_read_calls *hodo_read_calls_new(const struct hodo_read_calls_ops *ops, void *data)
{
	struct hodo_read_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	memcpy(&c->ops, ops, ops->size < sizeof(c->ops) ? ops->size : sizeof(c->ops));
	c->processes = (struct hodo_map)HODO_MAP_KEPT(uint64_t);
	c->data = data;
	return c;
}

void hodo_read_calls_free(struct hodo_read_calls *calls)
{
	if (!calls)
		return;
	for (uint32_t i = 0; i < calls->processes.n; i++) {
		struct calls_process *p = hodo_map_kept_at(&calls->processes, i);

		for (uint32_t k = 0; k < p->threads.n; k++) {
			struct calls_thread *t = hodo_calls_thread(p, k);

			free(t->shadow.frames);
			hodo_calls_late_free(t);
		}
		hodo_map_free(&p->threads);
		free(p->parked.slots);
		hodo_map_free(&p->places);
	}
	hodo_map_free(&calls->processes);
	free(calls);
}
