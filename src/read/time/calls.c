/* SPDX-License-Identifier: MIT */
/*
 * calls.c - turns func:* events into calls, with core/shadow: a shadow for each thread, a table of parked
 * frames for each process, both growing. Times in a shadow are ns.
 *
 * A trace does not say where a thread's stack is: frames left behind are parked (see shadow.h), and closed
 * when their place is reused or at the end. Late calls (late_calls.h) are from func:call, func:open and func:callee.
 */
#include "late_calls.h"

#include <base/map.h>
#include <base/order.h>
#include <base/vec.h>
#include <core/shadow.h>
#include <read/event/losses.h>
#include <read/file/class.h>
#include <read/file/clock.h>

#include <errno.h>
#include <stdlib.h>

#define SP_EXPECTED 4352u /* bytes */
#define NONE UINT32_MAX
#define HODO_CALL_NO_EXIT (1u << 31) /* in hodo_frame.thread, beside the index */

/* Late calls that have ended, of one depth and with no loss between them, inside a call yet to come. */
struct calls_ended {
	uint32_t depth;
	int64_t until; /* the end of the last of them */
	uint64_t sum;
	struct hodo_map same; /* if sums are wanted: of these calls and what is inside them */
	uint32_t first, last; /* of those that are kept */
	int64_t first_ns;
};

struct calls_thread {
	struct hodo_shadow shadow; /* first */
	struct calls_process *process;
	const char *comm;
	uint32_t tid;
	uint64_t last_ns; /* of its last event */
	struct calls_ended *ended; /* in the order of their ends */
	uint32_t nended, ended_room;
	struct hodo_late_call *late; /* kept */
	uint32_t nlate, late_room;
	uint64_t callees_at, callees_ns; /* from func:callee: what the next late call with that frame called */
};

struct calls_process {
	struct hodo_parked parked; /* first */
	struct hodo_read_calls *calls;
	const struct hodo_read_process *pub;
	struct hodo_map threads; /* struct calls_thread by key_of(); hodo_frame.thread is their number */
	struct hodo_map places;  /* of struct place, once there are several threads */
};

/* Which thread last entered a frame at an address: a coroutine may continue in another thread than the one
 * whose chain has its frames. */
struct place {
	uint64_t at;
	uint32_t thread;
};

struct hodo_read_calls {
	struct hodo_read_calls_ops ops;
	void *data;
	struct hodo_map processes; /* struct calls_process by its pub, in the order of their first events */
	struct calls_process *last;
	struct hodo_read_calls_totals totals;
	int64_t now_ns;
	bool ending, no_memory;
	enum hodo_late (*choose)(void *data, const struct hodo_late_call *call);
	bool sums;
	uint32_t nlate; /* kept, of all threads */
};

static struct calls_thread *thread_at(const struct calls_process *p, uint32_t i)
{
	return hodo_map_kept_at(&p->threads, i);
}

/* NULL: no call of it was seen. */
static struct calls_thread *find_thread(const struct hodo_read_calls *c, const struct hodo_read_process *process,
					uint32_t tid)
{
	const struct calls_process *p = hodo_map_kept(&c->processes,
						      hodo_map_find_u64(&c->processes, (uintptr_t)process));

	return p ? hodo_map_kept(&p->threads, hodo_map_find_u64(&p->threads, tid)) : NULL;
}

/* How long calls with a number took, without those inside another of them. */
struct same {
	uint64_t user, ns;
};

static const struct calls_ended nothing = { .until = INT64_MIN, .same = HODO_MAP(struct same, user), .first = NONE,
					    .last = NONE, .first_ns = INT64_MAX };

/* -------------------------------------------------- inside which call late ones are */

/* Whether calls that ended deeper than this one are inside it. */
static bool are_inside(const struct calls_ended *e, const struct hodo_read_call *call)
{
	/* What took longer is a coroutine's, which has gone on in between. */
	return e->until > call->entry_ns ||
	       (e->sum <= (uint64_t)(call->end_ns - call->entry_ns) &&
		!hodo_losses_between(call->process, HODO_LOSSES_ANY_CPU, e->until, call->end_ns));
}

/* Adds the smaller one to the larger one. */
static void add_same(struct calls_thread *t, struct hodo_map *to, struct hodo_map *from)
{
	struct hodo_map smaller = from->n < to->n ? *from : *to;

	*to = from->n < to->n ? *to : *from;
	*from = nothing.same;
	for (uint32_t i = 0; i < smaller.n; i++) {
		const struct same *s = hodo_map_at(&smaller, i);
		struct same *sum = hodo_map_add_u64(to, s->user, NULL);

		t->process->calls->no_memory |= !sum;
		if (sum)
			sum->ns += s->ns;
	}
	hodo_map_free(&smaller);
}

/* Adds later ones. */
static void join(struct calls_thread *t, struct calls_ended *e, struct calls_ended *later)
{
	e->until = later->until;
	e->sum += later->sum;
	add_same(t, &e->same, &later->same);
	if (later->first == NONE)
		return;
	*(e->first == NONE ? &e->first : &t->late[e->last].next) = later->first;
	e->last = later->last;
	e->first_ns = e->first_ns < later->first_ns ? e->first_ns : later->first_ns;
}

/* Takes the calls that ended inside one; lossy events may leave some for a later one. */
static struct calls_ended take_inside(struct calls_thread *t, const struct hodo_read_call *call)
{
	struct calls_ended inside = nothing;

	while (t->nended && t->ended[t->nended - 1].depth > call->depth &&
	       are_inside(&t->ended[t->nended - 1], call)) {
		struct calls_ended before = t->ended[--t->nended];

		join(t, &before, &inside);
		inside = before;
	}
	return inside;
}

static void add_ended(struct calls_thread *t, const struct hodo_read_call *call, struct calls_ended *e)
{
	struct calls_ended *last = t->nended ? &t->ended[t->nended - 1] : NULL;

	e->depth = call->depth;
	e->until = call->end_ns;
	e->sum = (uint64_t)(call->end_ns - call->entry_ns);
	if (last && last->depth == call->depth &&
	    !hodo_losses_between(call->process, HODO_LOSSES_ANY_CPU, last->until, call->end_ns)) {
		join(t, last, e);
	} else if (hodo_vec_reserve(t->ended, t->ended_room, t->nended + 1) == 0) {
		t->ended[t->nended++] = *e;
	} else {
		t->process->calls->no_memory = true;
		hodo_map_free(&e->same);
	}
}

/* The time of its kind inside it; from now on its own takes the place of that. */
static uint64_t replace_same(struct hodo_read_calls *c, struct hodo_map *same, const struct hodo_read_call *call)
{
	struct same *s = c->sums && call->user ? hodo_map_add_u64(same, call->user, NULL) : NULL;
	uint64_t ns = s ? s->ns : 0;

	c->no_memory |= c->sums && call->user && !s;
	if (s && !(call->flags & HODO_READ_CALL_OPEN))
		s->ns = (uint64_t)(call->end_ns - call->entry_ns);
	return ns;
}

/* --------------------------------------------------------------- kept late calls */

static void pass_enter(struct hodo_read_calls *calls, struct hodo_late_call *call)
{
	if (calls->ops.enter)
		calls->ops.enter(calls->data, &call->pub);
}

static void pass_leave(struct hodo_read_calls *calls, const struct hodo_late_call *call)
{
	if (calls->ops.leave)
		calls->ops.leave(calls->data, &call->pub);
}

/* Keeps a call with what is inside it. */
static void keep(struct calls_thread *t, struct hodo_late_call *call, struct calls_ended *inside)
{
	call->child = inside->first;
	call->next = NONE;
	call->first_ns = call->pub.entry_ns < inside->first_ns ? call->pub.entry_ns : inside->first_ns;
	if (hodo_vec_reserve(t->late, t->late_room, t->nlate + 1) < 0) {
		t->process->calls->no_memory = true;
		return;
	}
	inside->first = inside->last = t->nlate;
	inside->first_ns = call->first_ns;
	t->late[t->nlate++] = *call;
	t->process->calls->nlate++;
}

/* The kept ones, to ops. */
static void pass_kept(struct calls_thread *t)
{
	struct hodo_read_calls *calls = t->process->calls;
	struct hodo_late_call *c = t->late, *outer = NULL;
	uint32_t i = NONE, n = t->nlate;

	for (uint32_t k = t->nended; k-- > 0;) {
		struct calls_ended *e = &t->ended[k];

		if (e->first == NONE)
			continue;
		c[e->last].next = i;
		i = e->first;
		e->first = NONE;
		e->first_ns = INT64_MAX;
	}
	calls->nlate -= n;
	t->nlate = 0;
	while (i != NONE) {
		c[i].outer = outer ? &outer->pub : NULL;
		c[i].last = i + 1 == n;
		pass_enter(calls, &c[i]);
		if (c[i].child != NONE) {
			outer = &c[i];
			i = outer->child;
			continue;
		}
		pass_leave(calls, &c[i]);
		for (; c[i].next == NONE && outer; pass_leave(calls, &c[i])) {
			i = (uint32_t)(outer - c);
			outer = (struct hodo_late_call *)(uintptr_t)outer->outer;
		}
		i = c[i].next;
	}
}

void hodo_calls_late_pass(struct hodo_read_calls *calls, const struct hodo_read_process *process, uint32_t tid)
{
	struct calls_thread *t = find_thread(calls, process, tid);

	if (t)
		pass_kept(t);
}

/* ------------------------------------------------------------------ late calls */

/* That many ticks before the event, in ns. */
static int64_t ticks_before(const struct hodo_read_event *e, uint64_t ticks)
{
	return hodo_read_clock_ns(&e->process->clock, ticks < e->ticks ? e->ticks - ticks : 0);
}

/* After an outermost call: nothing that ended before is inside another. */
static void forget(struct calls_thread *t)
{
	while (t->nended)
		hodo_map_free(&t->ended[--t->nended].same);
}

/* func:call, func:open */
static void late_event(struct calls_thread *t, const struct hodo_read_event *e, bool open)
{
	struct hodo_read_calls *calls = t->process->calls;
	int64_t entry = ticks_before(e, e->values[3].u);
	uint32_t end = open ? HODO_READ_CALL_OPEN : e->values[4].u ? HODO_READ_CALL_LEFT : 0;
	struct hodo_late_call call = {
		.pub = {
			.size = sizeof(struct hodo_read_call),
			.process = t->process->pub,
			.comm = t->comm,
			.function = e->values[0].u,
			.entry_ns = entry < e->ts_ns ? entry : e->ts_ns,
			.end_ns = e->ts_ns,
			.tid = t->tid,
			.depth = e->values[2].u < UINT32_MAX ? (uint32_t)e->values[2].u : UINT32_MAX - 1,
			.flags = HODO_READ_CALL_WHOLE | end,
		},
		.index = t->nlate,
	};
	uint64_t total = (uint64_t)(call.pub.end_ns - call.pub.entry_ns);
	struct calls_ended inside = take_inside(t, &call.pub);
	uint64_t children = inside.sum;
	enum hodo_late what;

	if (t->callees_at == e->values[1].u << 3 && t->callees_ns > children)
		children = t->callees_ns; /* includes short ones, which are not recorded individually */
	t->callees_at = t->callees_ns = 0;
	call.pub.self_ns = total > children ? total - children : 0;
	calls->totals.calls++;
	calls->totals.returned += !end;
	calls->totals.left += end == HODO_READ_CALL_LEFT;
	calls->totals.open += open;
	what = calls->choose ? calls->choose(calls->data, &call) : HODO_LATE_NOW;
	if (what == HODO_LATE_NOW)
		pass_enter(calls, &call);
	else if (what == HODO_LATE_KEPT)
		keep(t, &call, &inside);
	call.same_ns = replace_same(calls, &inside.same, &call.pub);
	add_ended(t, &call.pub, &inside);
	if (what == HODO_LATE_NOW)
		pass_leave(calls, &call);
	if (call.pub.depth == 0 || calls->nlate > HODO_LATE_MAX)
		pass_kept(t);
	if (call.pub.depth == 0)
		forget(t);
}

/* func:callee */
static void callee(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at)
{
	t->callees_ns = t->callees_at == at ? t->callees_ns : 0;
	t->callees_at = at;
	t->callees_ns += (uint64_t)(e->ts_ns - ticks_before(e, e->values[3].u));
}

void hodo_calls_late(struct hodo_read_calls *calls,
		     enum hodo_late (*choose)(void *data, const struct hodo_late_call *call), bool sums)
{
	calls->choose = choose;
	calls->sums = sums;
}

static void free_late(struct calls_thread *t)
{
	forget(t);
	free(t->ended);
	free(t->late);
}

/* ------------------------------------------------------------------- how calls end */

static struct hodo_read_call call_of(const struct calls_thread *t, const struct hodo_frame *f, uint64_t end,
				     uint32_t flags)
{
	const struct calls_thread *own = thread_at(t->process, f->thread & ~HODO_CALL_NO_EXIT);
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
		return unless_lost(t, f->parked ? f->parked : thread_at(t->process, f->thread)->last_ns,
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
	struct calls_thread *other = place && !is_new ? thread_at(p, place->thread) : t;

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
	for (uint32_t i = 0; p->threads.n == 2 && i < thread_at(p, 0)->shadow.n; i++) {
		const struct hodo_frame *f = &thread_at(p, 0)->shadow.frames[i];

		if (!f->sp && f->at)
			take_place(thread_at(p, 0), f->at);
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
	struct calls_thread *other = place ? thread_at(t->process, place->thread) : t;

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
		struct hodo_shadow *other = &thread_at(p, i)->shadow;
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
		callee(t, e, at);
		break;
	default:
		late_event(t, e, kind == HODO_CALL_EVENT_OPEN);
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
		closed(&thread_at(p, f[i].thread & ~HODO_CALL_NO_EXIT)->shadow, &f[i], HODO_FRAME_LEFT,
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
			hodo_shadow_clear(&thread_at(p, k)->shadow, (uint64_t)ts_ns);
		close_parked(p);
		for (uint32_t k = 0; k < p->threads.n; k++)
			pass_kept(thread_at(p, k));
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
			all.orphans += thread_at(p, k)->shadow.orphans;
	}
	memcpy(totals, &all, size);
}

uint32_t hodo_read_calls_depth(const struct hodo_read_calls *calls, const struct hodo_read_process *process,
			       uint32_t tid)
{
	const struct calls_thread *t = find_thread(calls, process, tid);

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
			struct calls_thread *t = thread_at(p, k);

			free(t->shadow.frames);
			free_late(t);
		}
		hodo_map_free(&p->threads);
		free(p->parked.slots);
		hodo_map_free(&p->places);
	}
	hodo_map_free(&calls->processes);
	free(calls);
}
