/* SPDX-License-Identifier: MIT */
/* calls_late.c - late calls (late_calls.h), from func:call, func:open and func:callee. */
#include "calls.h"

#include <base/vec.h>
#include <read/event/losses.h>
#include <read/file/clock.h>

#include <stdlib.h>

#define NONE UINT32_MAX

/* How long calls with a number took, without those inside another of them. */
struct same {
	uint64_t user, ns;
};

static const struct calls_ended nothing = { .until = INT64_MIN, .same = HODO_MAP(struct same, user), .first = NONE,
					    .last = NONE, .first_ns = INT64_MAX };

/* ------------------------------------------------------------- inside which call */

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

/* -------------------------------------------------------------------- kept ones */

static void enter(struct hodo_read_calls *calls, struct hodo_late_call *call)
{
	if (calls->ops.enter)
		calls->ops.enter(calls->data, &call->pub);
}

static void leave(struct hodo_read_calls *calls, const struct hodo_late_call *call)
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

void hodo_calls_pass(struct calls_thread *t)
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
		enter(calls, &c[i]);
		if (c[i].child != NONE) {
			outer = &c[i];
			i = outer->child;
			continue;
		}
		leave(calls, &c[i]);
		for (; c[i].next == NONE && outer; leave(calls, &c[i])) {
			i = (uint32_t)(outer - c);
			outer = (struct hodo_late_call *)(uintptr_t)outer->outer;
		}
		i = c[i].next;
	}
}

void hodo_calls_late_pass(struct hodo_read_calls *calls, const struct hodo_read_process *process, uint32_t tid)
{
	struct calls_thread *t = hodo_calls_find(calls, process, tid);

	if (t)
		hodo_calls_pass(t);
}

/* ----------------------------------------------------------------------- events */

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
void hodo_calls_late_event(struct calls_thread *t, const struct hodo_read_event *e, bool open)
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
		enter(calls, &call);
	else if (what == HODO_LATE_KEPT)
		keep(t, &call, &inside);
	call.same_ns = replace_same(calls, &inside.same, &call.pub);
	add_ended(t, &call.pub, &inside);
	if (what == HODO_LATE_NOW)
		leave(calls, &call);
	if (call.pub.depth == 0 || calls->nlate > HODO_LATE_MAX)
		hodo_calls_pass(t);
	if (call.pub.depth == 0)
		forget(t);
}

/* func:callee */
void hodo_calls_callee(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at)
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

void hodo_calls_late_free(struct calls_thread *t)
{
	forget(t);
	free(t->ended);
	free(t->late);
}
