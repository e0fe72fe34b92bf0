/* SPDX-License-Identifier: MIT */
#include "switches.h"
#include "fields.h"

#include <string.h>

static int find_integer(const struct hodo_read_class *cls, const char *name)
{
	int i = hodo_read_field(cls, name);

	return i >= 0 && ((cls->fields[i].type >= HODO_TYPE_I8 && cls->fields[i].type <= HODO_TYPE_U64) ||
			  cls->fields[i].type == HODO_TYPE_BOOL) ? i : -1;
}

void hodo_sched_bind(struct hodo_sched_class *b, const struct hodo_read_class *cls)
{
	static const char *const names[] = {
		[HODO_SCHED_SWITCH] = "sched:sched_switch",   [HODO_SCHED_SWITCH_OUT] = "sched:switch_out",
		[HODO_SCHED_SWITCH_IN] = "sched:switch_in",   [HODO_SCHED_WATCHED] = "sched:watched",
		[HODO_SCHED_WAKING] = "sched:sched_waking",   [HODO_SCHED_WAKEUP] = "sched:sched_wakeup",
		[HODO_SCHED_WAKEUP_NEW] = "sched:sched_wakeup_new",
	};

	*b = (struct hodo_sched_class){ HODO_SCHED_NOTHING, -1, -1, -1 };
	for (unsigned i = HODO_SCHED_SWITCH; i <= HODO_SCHED_WAKEUP_NEW; i++)
		if (strcmp(cls->name, names[i]) == 0)
			b->kind = (enum hodo_sched_kind)i;
	switch (b->kind) {
	case HODO_SCHED_SWITCH:
		b->tid = find_integer(cls, "prev_pid");
		b->next = find_integer(cls, "next_pid");
		b->state = find_integer(cls, "prev_state");
		if (b->tid < 0 || b->next < 0)
			b->kind = HODO_SCHED_NOTHING;
		break;
	case HODO_SCHED_SWITCH_OUT:
		b->state = find_integer(cls, "preempted");
		break;
	case HODO_SCHED_WAKING:
	case HODO_SCHED_WAKEUP:
	case HODO_SCHED_WAKEUP_NEW:
		b->tid = find_integer(cls, "pid");
		if (b->tid < 0)
			b->kind = HODO_SCHED_NOTHING;
		break;
	case HODO_SCHED_NOTHING:
	case HODO_SCHED_SWITCH_IN:
	case HODO_SCHED_WATCHED:
		break;
	}
}

uint32_t hodo_sched_tid(const struct hodo_sched_class *b, const struct hodo_read_event *e)
{
	return b->tid < 0 ? e->tid : (uint32_t)e->values[b->tid].u;
}

uint32_t hodo_sched_next(const struct hodo_sched_class *b, const struct hodo_read_event *e)
{
	return b->next < 0 ? e->tid : (uint32_t)e->values[b->next].u;
}

/* Bits as in the kernel's tracepoint since 4.14; the highest means that it was preempted. */
static enum hodo_sched_why why_of(uint64_t state)
{
	enum { SLEEPS = 1, BLOCKED = 2, STOPPED = 4, TRACED = 8, DEAD = 16, ZOMBIE = 32, PARKED = 64, IDLE = 128,
	       PREEMPTED = 256 };

	if (state >= 2 * PREEMPTED)
		return HODO_SCHED_UNKNOWN;
	if (state == 0 || state & PREEMPTED)
		return HODO_SCHED_PREEMPTED;
	if (state & (DEAD | ZOMBIE))
		return HODO_SCHED_ENDED;
	if (state & (STOPPED | TRACED | PARKED))
		return HODO_SCHED_STOPPED;
	/* An idle kernel thread has its own way to wait. */
	return state & (SLEEPS | IDLE) ? HODO_SCHED_SLEEPS : HODO_SCHED_BLOCKED;
}

enum hodo_sched_why hodo_sched_why(const struct hodo_sched_class *b, const struct hodo_read_event *e)
{
	if (b->state < 0)
		return HODO_SCHED_UNKNOWN;
	if (b->kind == HODO_SCHED_SWITCH_OUT)
		return e->values[b->state].u ? HODO_SCHED_PREEMPTED : HODO_SCHED_WAITS;
	return why_of(e->values[b->state].u);
}
