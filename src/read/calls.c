/* SPDX-License-Identifier: MIT */
/*
 * calls.c - from func:* events to calls, by core/shadow: a shadow a thread, a
 * table of parked frames a process, both growing. Times in a shadow are ns.
 *
 * A trace does not say where a thread's stack is: what leaves frames behind parks them (see shadow.h),
 * and they are closed when their place is taken or at the end.
 */
#include "call_places.h"
#include "internal.h"

#include <core/shadow.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_EXIT (1u << 31) /* in hodo_frame.thread, beside the index */
#define THREAD_CACHE 64u
#define SP_EXPECTED 4352u /* bytes */

enum call_event { EVENT_NONE, EVENT_ENTRY, EVENT_EXIT, EVENT_ENTRY_SP, EVENT_EXIT_SP, EVENT_REACHED, EVENT_CALL,
		  EVENT_CALLEE };

/* Whole calls that have ended, of one depth, and inside of what is to come. */
struct calls_ended {
	uint32_t depth;
	int64_t since; /* when the first of them was entered */
	uint64_t sum;
};

struct calls_thread {
	struct hodo_shadow shadow; /* first */
	struct calls_process *process;
	const char *comm;
	uint32_t tid, index;
	uint32_t key; /* the tid, or whatever else it is found by: see key_of() */
	struct calls_ended *ended; /* depths rise */
	uint32_t nended, ended_room;
	uint64_t callees_at, callees_ns; /* func:callee: what the next whole call with that frame called */
};

struct calls_process {
	struct hodo_parked parked; /* first */
	struct hodo_read_calls *calls;
	const struct hodo_read_process *pub;
	uint8_t *kinds;             /* enum call_event by event id */
	uint32_t nkinds;
	bool lossy;
	struct calls_thread **threads;
	uint32_t nthreads;
	struct hodo_map by_key; /* of struct thread_key, in the order of threads */
	struct calls_thread *cache[THREAD_CACHE];
	struct hodo_map places; /* call_places.h; once there are several threads */
};

struct thread_key {
	uint32_t key;
};

struct known_process {
	const struct hodo_read_process *pub;
	struct calls_process *process;
};

struct hodo_read_calls {
	struct hodo_read_calls_ops ops;
	void *data;
	struct hodo_map processes; /* of struct known_process, in the order of their first events */
	struct calls_process *last;
	struct hodo_read_calls_totals totals;
	int64_t now_ns;
	bool ending, no_memory;
};

/* ---------------------------------------------------------------- what is given out */

static void fill(struct hodo_read_call *call, const struct calls_thread *t, const struct hodo_frame *f)
{
	const struct calls_thread *own = t->process->threads[f->thread & ~NO_EXIT];

	*call = (struct hodo_read_call){
		.size = sizeof(*call),
		.process = t->process->pub,
		.comm = own->comm,
		.function = f->function,
		.user = f->user,
		.entry_ns = (int64_t)f->entry,
		.end_ns = (int64_t)f->entry,
		.tid = own->tid,
		.depth = f->depth,
		.flags = f->thread & NO_EXIT ? HODO_READ_CALL_NO_EXIT : 0,
	};
}

static void set_end(struct hodo_read_call *call, const struct hodo_frame *f, uint64_t end)
{
	uint64_t total = end - f->entry;

	call->end_ns = (int64_t)end;
	call->self_ns = total > f->children ? total - f->children : 0;
}

/* A frame without an exit takes no time: the caller gets back what was put on it but for its children's. */
static void give_back(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t now)
{
	if ((f->thread & NO_EXIT) && s->n)
		s->frames[s->n - 1].children -= now - f->entry - f->children;
}

static void closed(struct hodo_shadow *s, const struct hodo_frame *f, enum hodo_frame_end end, uint64_t now)
{
	struct calls_thread *t = (struct calls_thread *)(void *)s;
	struct hodo_read_calls *c = t->process->calls;
	struct hodo_read_call call;
	bool left = f->parked && f->lane; /* and not by a coroutine that waits */

	if (!f->parked)
		give_back(s, f, now);
	fill(&call, t, f);
	if (!call.flags && end == HODO_FRAME_RETURNED) {
		c->totals.returned++;
	} else if (c->ending && !left) {
		call.flags |= HODO_READ_CALL_OPEN;
		c->totals.open += !(call.flags & HODO_READ_CALL_NO_EXIT);
		now = (uint64_t)c->now_ns;
	} else if (!call.flags) {
		call.flags |= HODO_READ_CALL_LEFT;
		c->totals.left++;
	}
	set_end(&call, f, now);
	if (c->ops.leave)
		c->ops.leave(c->data, &call);
}

static void parked(struct hodo_shadow *s, const struct hodo_frame *f)
{
	struct calls_thread *t = (struct calls_thread *)(void *)s;
	struct hodo_read_calls *c = t->process->calls;
	struct hodo_read_call call;

	give_back(s, f, f->parked);
	if (!c->ops.away)
		return;
	fill(&call, t, f);
	if (f->lane)
		call.flags |= HODO_READ_CALL_LEFT;
	set_end(&call, f, f->parked);
	c->ops.away(c->data, &call);
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
	struct calls_thread *t = (struct calls_thread *)(void *)s;
	uint32_t max = s->max ? s->max * 2 : 4;
	struct hodo_frame *more = max > s->max ? reallocarray(s->frames, max, sizeof(*more)) : NULL;

	if (!more) {
		t->process->calls->no_memory = true;
		return false;
	}
	s->frames = more;
	s->max = max;
	return true;
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
	for (uint32_t i = 0; i <= p->mask; i++)
		if (p->slots[i].at)
			hodo_parked_put(&larger, &p->slots[i]);
	free(p->slots);
	*p = larger;
	return true;
}

/* --------------------------------------------------------- processes and threads */

static enum call_event kind_of(const struct hodo_read_class *cls)
{
	static const struct {
		const char *name;
		uint32_t nfields;
		uint32_t types[5];
	} kinds[] = {
		[EVENT_ENTRY] = { "func:entry", 2, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
		[EVENT_EXIT] = { "func:exit", 2, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
		[EVENT_ENTRY_SP] = { "func:entry_sp", 2, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
		[EVENT_EXIT_SP] = { "func:exit_sp", 2, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
		[EVENT_REACHED] = { "func:reached", 2, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
		[EVENT_CALL] = { "func:call", 5, { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U64,
						   HODO_TYPE_BOOL } },
		[EVENT_CALLEE] = { "func:callee", 5, { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64,
						       HODO_TYPE_U64 } },
	};

	for (unsigned i = EVENT_ENTRY; i <= EVENT_CALLEE; i++) {
		unsigned same_types = 0;

		if (strcmp(cls->name, kinds[i].name) != 0 || cls->nfields < kinds[i].nfields)
			continue;
		while (same_types < kinds[i].nfields && cls->fields[same_types].type == kinds[i].types[same_types])
			same_types++;
		if (same_types == kinds[i].nfields)
			return (enum call_event)i;
	}
	return EVENT_NONE;
}

static struct calls_process *add_process(struct hodo_read_calls *c, const struct hodo_read_process *pub)
{
	struct calls_process *p = calloc(1, sizeof(*p));
	struct known_process *known;

	if (!p)
		return NULL;
	p->nkinds = pub->nclasses ? pub->classes[pub->nclasses - 1]->id + 1 : 0;
	p->kinds = calloc(p->nkinds + 1, 1);
	p->parked.slots = calloc(16, sizeof(*p->parked.slots));
	known = p->kinds && p->parked.slots ? hodo_map_add(&c->processes, &pub, NULL) : NULL;
	if (!known) {
		free(p->kinds);
		free(p->parked.slots);
		free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < pub->nclasses; i++)
		if (pub->classes[i]->kind == HODO_KIND_FUNCTION && pub->classes[i]->id < p->nkinds)
			p->kinds[pub->classes[i]->id] = (uint8_t)kind_of(pub->classes[i]);
	p->parked.mask = 15;
	p->parked.grow = grow_parked;
	p->calls = c;
	p->pub = pub;
	p->by_key = (struct hodo_map)HODO_MAP(struct thread_key, key);
	p->places = (struct hodo_map)HODO_PLACES;
	known->process = p;
	return p;
}

static struct calls_process *find_process(const struct hodo_read_calls *c, const struct hodo_read_process *pub)
{
	const struct known_process *known = hodo_map_find(&c->processes, &pub);

	return known ? known->process : NULL;
}

static struct calls_process *process_at(const struct hodo_read_calls *c, uint32_t i)
{
	return ((const struct known_process *)hodo_map_at(&c->processes, i))->process;
}

/* The kernel's thread 0 is one on each CPU. Its threads' numbers stay below. */
static uint32_t key_of(const struct hodo_read_event *e)
{
	return e->tid == 0 && e->process->kernel ? 0x80000000u | e->cpu : e->tid;
}

static struct calls_thread *find_thread(const struct calls_process *p, uint32_t key)
{
	const struct thread_key *found = hodo_map_find(&p->by_key, &key);

	return found ? p->threads[hodo_map_index(&p->by_key, found)] : NULL;
}

static struct calls_thread *add_thread(struct calls_process *p, uint32_t tid, uint32_t key)
{
	struct calls_thread *t = p->nthreads < (NO_EXIT >> 2) ? calloc(1, sizeof(*t)) : NULL;

	if (!t || hodo_vec_push(p->threads, p->nthreads, t) < 0) {
		free(t);
		return NULL;
	}
	if (!hodo_map_add(&p->by_key, &key, NULL)) {
		p->nthreads--;
		free(t);
		return NULL;
	}
	t->process = p;
	t->tid = tid;
	t->key = key;
	t->index = p->nthreads - 1;
	t->shadow.thread = t->index;
	t->shadow.parked = &p->parked;
	t->shadow.grow = grow_frames;
	t->shadow.closed = closed;
	t->shadow.park = parked;
	for (uint32_t i = 0; p->nthreads == 2 && i < p->threads[0]->shadow.n; i++) {
		const struct hodo_frame *f = &p->threads[0]->shadow.frames[i];
		uint32_t before;

		if (!f->sp && !hodo_places_set(&p->places, f->at, 0, &before))
			p->calls->no_memory = true;
	}
	return t;
}

static struct calls_thread *thread_of(struct calls_process *p, const struct hodo_read_event *e)
{
	uint32_t key = key_of(e);
	struct calls_thread **cached = &p->cache[key % THREAD_CACHE], *t = *cached;

	if (!t || t->key != key) {
		t = find_thread(p, key);
		if (!t)
			t = add_thread(p, e->tid, key);
		if (!t)
			return NULL;
		*cached = t;
	}
	t->comm = e->comm;
	return t;
}

/* ----------------------------------------------------------------------- events */

/* What is entered here proves that an earlier frame of this address is over, in whichever thread's chain it is. */
static void take_place(struct calls_thread *t, uint64_t at, uint64_t now)
{
	struct calls_process *p = t->process;
	uint32_t before;

	if (!hodo_places_set(&p->places, at, t->index, &before))
		p->calls->no_memory = true;
	else if (before != HODO_PLACE_NONE && before != t->index)
		hodo_shadow_gone(&p->threads[before]->shadow, at, now);
}

/* The shadow that an exit belongs to: another thread's, if that entered the function. */
static struct hodo_shadow *place_of(struct calls_thread *t, uint64_t at)
{
	uint32_t who = hodo_places_get(&t->process->places, at);

	if (who == HODO_PLACE_NONE || who == t->index || !hodo_shadow_holds(&t->process->threads[who]->shadow, at))
		return &t->shadow;
	return &t->process->threads[who]->shadow;
}

/* The same where only a stack pointer inside the frame is known: the nearest frame of the function, if this thread has
 * none where one is to be expected (a tail jump's exit tells an address a page lower). */
static struct hodo_shadow *place_near(struct calls_thread *t, uint64_t at, uint64_t function)
{
	const struct calls_process *p = t->process;
	struct hodo_shadow *best = &t->shadow;
	uint64_t nearest = hodo_shadow_near(best, at, function);

	for (uint32_t i = 0; i < p->nthreads && nearest > SP_EXPECTED; i++) {
		uint64_t near = hodo_shadow_near(&p->threads[i]->shadow, at, function);

		if (near < nearest) {
			nearest = near;
			best = &p->threads[i]->shadow;
		}
	}
	return best;
}

static void enter(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at, bool sp, bool no_exit)
{
	struct hodo_read_calls *c = t->process->calls;
	struct hodo_read_call call;
	struct hodo_frame *f;

	if (!sp && t->process->nthreads > 1)
		take_place(t, at, (uint64_t)e->ts_ns);
	f = hodo_shadow_enter(&t->shadow, at, e->values[0].u, (uint64_t)e->ts_ns, sp);
	if (!f)
		return;
	if (no_exit)
		f->thread |= NO_EXIT;
	c->totals.calls++;
	if (!c->ops.enter)
		return;
	fill(&call, t, f);
	c->ops.enter(c->data, &call);
	f->user = call.user;
}

static void leave(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at, bool sp)
{
	struct calls_process *p = t->process;
	struct hodo_shadow *s = p->nthreads == 1 ? &t->shadow :
				sp ? place_near(t, at, e->values[0].u) : place_of(t, at);
	bool outermost = t->shadow.n == 0;

	if (hodo_shadow_exit(s, at, e->values[0].u, (uint64_t)e->ts_ns, sp,
			     p->lossy && p->calls->ops.same ? same : NULL))
		return;
	/* Entered before the fork, by the parent. */
	if (outermost && p->pub->start == HODO_START_FORK && t->tid == p->pub->pid)
		t->shadow.orphans--;
}

/* Time of the calls that ended inside of one which was entered at entry. */
static uint64_t take_ended(struct calls_thread *t, uint32_t depth, int64_t entry)
{
	uint64_t sum = 0;

	while (t->nended && t->ended[t->nended - 1].depth > depth) {
		const struct calls_ended *e = &t->ended[--t->nended];

		if (e->since >= entry)
			sum += e->sum;
	}
	return sum;
}

/* func:call */
static void whole(struct calls_thread *t, const struct hodo_read_event *e)
{
	struct hodo_read_calls *c = t->process->calls;
	uint64_t ticks = e->values[3].u;
	int64_t entry = hodo_read_clock_ns(&e->process->clock, ticks < e->ticks ? e->ticks - ticks : 0);
	struct hodo_read_call call = {
		.size = sizeof(call),
		.process = e->process,
		.comm = t->comm,
		.function = e->values[0].u,
		.entry_ns = entry < e->ts_ns ? entry : e->ts_ns,
		.tid = t->tid,
		.depth = e->values[2].u < UINT32_MAX ? (uint32_t)e->values[2].u : UINT32_MAX - 1,
		.flags = HODO_READ_CALL_WHOLE | (e->values[4].u ? HODO_READ_CALL_LEFT : 0),
	};
	uint64_t total = (uint64_t)(e->ts_ns - call.entry_ns), children = take_ended(t, call.depth, call.entry_ns);

	if (t->callees_at == e->values[1].u << 3 && t->callees_ns > children)
		children = t->callees_ns; /* short ones too, which are not recorded one by one */
	t->callees_at = t->callees_ns = 0;
	if (t->nended && t->ended[t->nended - 1].depth == call.depth) {
		t->ended[t->nended - 1].sum += total;
	} else if (hodo_vec_reserve(t->ended, t->ended_room, t->nended + 1) == 0) {
		t->ended[t->nended++] = (struct calls_ended){ call.depth, call.entry_ns, total };
	} else {
		c->no_memory = true;
	}
	c->totals.calls++;
	c->totals.returned += !e->values[4].u;
	c->totals.left += !!e->values[4].u;
	call.end_ns = call.entry_ns;
	if (c->ops.enter)
		c->ops.enter(c->data, &call);
	call.end_ns = e->ts_ns;
	call.self_ns = total > children ? total - children : 0;
	if (c->ops.leave)
		c->ops.leave(c->data, &call);
}

/* func:callee */
static void add_callee(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at)
{
	uint64_t from = e->values[3].u < e->ticks ? e->ticks - e->values[3].u : 0;

	if (t->callees_at != at)
		t->callees_ns = 0;
	t->callees_at = at;
	t->callees_ns += (uint64_t)(e->ts_ns - hodo_read_clock_ns(&e->process->clock, from));
}

/* Whether something is missing in the stream up to here. */
static bool has_gaps(const struct hodo_read_stream *stream)
{
	const struct hodo_stream *s = (const struct hodo_stream *)(const void *)stream;

	return s->discarded | s->events_gap | s->pub.damaged;
}

int hodo_read_calls_event(struct hodo_read_calls *calls, const struct hodo_read_event *event)
{
	const struct hodo_read_event *e = event;
	struct calls_process *p = calls->last;
	struct calls_thread *t;
	enum call_event kind;
	uint64_t at;

	if (e->cls->kind != HODO_KIND_FUNCTION)
		return 0;
	if (!p || p->pub != e->process) {
		p = find_process(calls, e->process);
		if (!p)
			p = add_process(calls, e->process);
		if (!p)
			return -ENOMEM;
		calls->last = p;
	}
	kind = e->cls->id < p->nkinds ? (enum call_event)p->kinds[e->cls->id] : EVENT_NONE;
	if (kind == EVENT_NONE)
		return 0;
	t = thread_of(p, e);
	if (!t)
		return -ENOMEM;
	calls->now_ns = e->ts_ns;
	p->lossy |= has_gaps(e->stream);
	at = e->values[1].u << 3;
	switch (kind) {
	case EVENT_ENTRY:
	case EVENT_ENTRY_SP:
	case EVENT_REACHED:
		enter(t, e, at, kind == EVENT_ENTRY_SP, kind == EVENT_REACHED);
		break;
	case EVENT_EXIT:
	case EVENT_EXIT_SP:
		leave(t, e, at, kind == EVENT_EXIT_SP);
		break;
	case EVENT_CALLEE:
		add_callee(t, e, at);
		break;
	default:
		whole(t, e);
	}
	return calls->no_memory ? -ENOMEM : 0;
}

static int by_entry_last(const void *a, const void *b)
{
	const struct hodo_frame *x = a, *y = b;

	return x->entry < y->entry ? 1 : x->entry > y->entry ? -1 : 0;
}

/* Inner ones first: they were entered later. */
static void close_parked(struct calls_process *p)
{
	struct hodo_frame *f = p->parked.slots;
	uint32_t n = 0;

	for (uint32_t i = 0; i <= p->parked.mask; i++)
		if (f[i].at && f[i].sp <= 1)
			f[n++] = f[i];
	qsort(f, n, sizeof(*f), by_entry_last);
	p->parked.count = 0;
	for (uint32_t i = 0; i < n; i++)
		closed(&p->threads[f[i].thread & ~NO_EXIT]->shadow, &f[i], HODO_FRAME_LEFT, f[i].parked);
	memset(f, 0, ((size_t)p->parked.mask + 1) * sizeof(*f));
}

int hodo_read_calls_end(struct hodo_read_calls *calls, int64_t ts_ns)
{
	calls->ending = true;
	calls->now_ns = ts_ns;
	for (uint32_t i = 0; i < calls->processes.n; i++) {
		struct calls_process *p = process_at(calls, i);

		for (uint32_t k = 0; k < p->nthreads; k++)
			hodo_shadow_clear(&p->threads[k]->shadow, (uint64_t)ts_ns);
		close_parked(p);
	}
	calls->ending = false;
	return calls->no_memory ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ the whole */

void hodo_read_calls_totals(const struct hodo_read_calls *calls, struct hodo_read_calls_totals *totals)
{
	struct hodo_read_calls_totals all = calls->totals;
	size_t size = totals->size < sizeof(all) ? totals->size : sizeof(all);

	all.size = size;
	for (uint32_t i = 0; i < calls->processes.n; i++)
		for (uint32_t k = 0; k < process_at(calls, i)->nthreads; k++)
			all.orphans += process_at(calls, i)->threads[k]->shadow.orphans;
	memcpy(totals, &all, size);
}

uint32_t hodo_read_calls_depth(const struct hodo_read_calls *calls, const struct hodo_read_process *process,
			       uint32_t tid)
{
	const struct calls_process *p = calls->last;
	const struct calls_thread *t;

	if (!p || p->pub != process)
		p = find_process(calls, process);
	t = p ? find_thread(p, tid) : NULL;
	return t ? t->shadow.n : 0;
}

struct hodo_read_calls *hodo_read_calls_new(const struct hodo_read_calls_ops *ops, void *data)
{
	struct hodo_read_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	memcpy(&c->ops, ops, ops->size < sizeof(c->ops) ? ops->size : sizeof(c->ops));
	c->processes = (struct hodo_map)HODO_MAP(struct known_process, pub);
	c->data = data;
	return c;
}

void hodo_read_calls_free(struct hodo_read_calls *calls)
{
	if (!calls)
		return;
	for (uint32_t i = 0; i < calls->processes.n; i++) {
		struct calls_process *p = process_at(calls, i);

		for (uint32_t k = 0; k < p->nthreads; k++) {
			free(p->threads[k]->shadow.frames);
			free(p->threads[k]->ended);
			free(p->threads[k]);
		}
		free(p->threads);
		hodo_map_free(&p->by_key);
		free(p->parked.slots);
		hodo_map_free(&p->places);
		free(p->kinds);
		free(p);
	}
	hodo_map_free(&calls->processes);
	free(calls);
}
