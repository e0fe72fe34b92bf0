/* SPDX-License-Identifier: MIT */
/* whole_calls.c - calls known from a single event at their end, with what they called. */
#include "calls.h"
#include "complete_calls.h"

/* Whether calls that ended deeper than this one are inside it. */
static bool are_inside(const struct calls_thread *t, const struct calls_ended *e, int64_t entry, int64_t end)
{
	if (!hodo_complete_inside(t->process->pub, e->until, entry, end))
		return false;
	/* What took longer is a coroutine's, which has gone on in between. */
	return e->until > entry || e->sum <= (uint64_t)(end - entry);
}

/*
 * Time of the calls that ended inside one. Those that lossy events leave outside may be inside a later one, unless this
 * is an outermost call.
 */
static uint64_t take_ended(struct calls_thread *t, uint32_t depth, int64_t entry, int64_t end)
{
	uint64_t sum = 0;

	while (t->nended && t->ended[t->nended - 1].depth > depth &&
	       are_inside(t, &t->ended[t->nended - 1], entry, end))
		sum += t->ended[--t->nended].sum;
	if (depth == 0)
		t->nended = 0;
	return sum;
}

static void add_ended(struct calls_thread *t, uint32_t depth, int64_t end, uint64_t ns)
{
	struct calls_ended *last = t->nended ? &t->ended[t->nended - 1] : NULL;

	if (last && last->depth == depth &&
	    !hodo_losses_between(t->process->pub, HODO_LOSSES_ANY_CPU, last->until, end)) {
		last->until = end;
		last->sum += ns;
	} else if (depth && hodo_vec_reserve(t->ended, t->ended_room, t->nended + 1) == 0) {
		t->ended[t->nended++] = (struct calls_ended){ depth, end, ns };
	} else if (depth) {
		t->process->calls->no_memory = true;
	}
}

/* That many ticks before the event, in ns. */
static int64_t ticks_before(const struct hodo_read_event *e, uint64_t ticks)
{
	return hodo_read_clock_ns(&e->process->clock, ticks < e->ticks ? e->ticks - ticks : 0);
}

/* func:call, func:open */
void hodo_calls_whole(struct calls_thread *t, const struct hodo_read_event *e, bool open)
{
	struct hodo_read_calls *c = t->process->calls;
	int64_t entry = ticks_before(e, e->values[3].u);
	uint32_t end = open ? HODO_READ_CALL_OPEN : e->values[4].u ? HODO_READ_CALL_LEFT : 0;
	struct hodo_frame f = {
		.function = e->values[0].u,
		.entry = (uint64_t)(entry < e->ts_ns ? entry : e->ts_ns),
		.depth = e->values[2].u < UINT32_MAX ? (uint32_t)e->values[2].u : UINT32_MAX - 1,
		.thread = t->shadow.thread,
	};

	f.children = take_ended(t, f.depth, (int64_t)f.entry, e->ts_ns);
	if (t->callees_at == e->values[1].u << 3 && t->callees_ns > f.children)
		f.children = t->callees_ns; /* includes short ones, which are not recorded individually */
	t->callees_at = t->callees_ns = 0;
	add_ended(t, f.depth, e->ts_ns, (uint64_t)e->ts_ns - f.entry);
	c->totals.returned += !end;
	c->totals.left += end == HODO_READ_CALL_LEFT;
	c->totals.open += open;
	hodo_calls_enter(c, t, &f, HODO_READ_CALL_WHOLE | end);
	hodo_calls_tell(c->ops.leave, t, &f, (uint64_t)e->ts_ns, HODO_READ_CALL_WHOLE | end);
}

/* func:callee */
void hodo_calls_callee(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at)
{
	t->callees_ns = t->callees_at == at ? t->callees_ns : 0;
	t->callees_at = at;
	t->callees_ns += (uint64_t)(e->ts_ns - ticks_before(e, e->values[3].u));
}
