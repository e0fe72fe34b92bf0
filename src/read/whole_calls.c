/* SPDX-License-Identifier: MIT */
/* whole_calls.c - calls known from a single event at their end, with what they called. */
#include "calls.h"

#include <errno.h>

/* Time of the calls that ended inside one entered at entry. */
static uint64_t take_ended(struct calls_thread *t, uint32_t depth, int64_t entry)
{
	uint64_t sum = 0;

	while (t->nended && t->ended[t->nended - 1].depth > depth) {
		const struct calls_ended *e = &t->ended[--t->nended];

		sum += e->since >= entry ? e->sum : 0;
	}
	return sum;
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
	uint64_t total = (uint64_t)e->ts_ns - f.entry;

	f.children = take_ended(t, f.depth, (int64_t)f.entry);
	if (t->callees_at == e->values[1].u << 3 && t->callees_ns > f.children)
		f.children = t->callees_ns; /* includes short ones, which are not recorded individually */
	t->callees_at = t->callees_ns = 0;
	if (t->nended && t->ended[t->nended - 1].depth == f.depth)
		t->ended[t->nended - 1].sum += total;
	else if (hodo_vec_reserve(t->ended, t->ended_room, t->nended + 1) == 0)
		t->ended[t->nended++] = (struct calls_ended){ f.depth, (int64_t)f.entry, total };
	else
		c->no_memory = true;
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
