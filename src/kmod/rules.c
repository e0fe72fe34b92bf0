/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rules.c - whether an event is recorded: triggers, then the filter, then rates, looked at where the event was
 * filled in, before it is committed. What triggers ask for is done after the commit, so that it is in the snapshot, or
 * the last one.
 *
 *                  | commit      | bind, free         | prepare
 *   commit         | beside      | event off, nobody  | no event on
 *   bind, free     |             | excluded (lock)    | excluded (lock)
 *
 * Any number of commits run at once, in any context: a condition's count and a rate's next due time are
 * changed by atomic operations alone. Rates are GCRA's theoretical arrival time: of two events that saw the same
 * time, the one whose compare-and-swap fails looks again, so that none is let in twice.
 */
#include "emit.h"
#include "rules.h"
#include "kmod.h"
#include "recording.h"
#include "registry.h"

#include <core/atomic.h>
#include <core/condition.h>
#include <core/filter.h>
#include <core/payload.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

struct bound {
	uint8_t condition;
	const struct hodo_filter *filter; /* NULL: always met */
	uint64_t due; /* a rate's: ticks */
};

struct hodo_rules {
	bool record;                      /* the event itself is wanted */
	const struct hodo_filter *filter; /* of the recording, or the event's own; NULL: none */
	struct hodo_payload payload;
	uint32_t n;
	struct bound bound[];
};

static struct hodo_condition_parts conditions[HODO_CONDITIONS_MAX];
static uint32_t nconditions;
static bool awaits_start;        /* no start trigger was met yet */
static bool closed;       /* a stop or exit trigger was */
static bool rules_for_all; /* because of these */

/* ---------------------------------------------------------------- binding */

int hodo_rules_prepare(void)
{
	const struct hodo_msg_config *asked = hodo_recording.asked;

	nconditions = 0;
	awaits_start = closed = rules_for_all = false;
	if (!asked)
		return 0;
	if (hodo_conditions_parse(hodo_recording.conditions, asked->conditions, asked->conditions_len, conditions) < 0)
		return -EINVAL;
	nconditions = asked->conditions;
	awaits_start = asked->flags & HODO_CONFIG_AWAITS_START;
	rules_for_all = awaits_start;
	for (uint32_t i = 0; i < nconditions; i++)
		rules_for_all |= conditions[i].head.kind >= HODO_CONDITION_START;
	return 0;
}

enum binding { NEVER, ALWAYS, BOUND };

/* Negative errno, or enum binding. */
static int bind_program(const struct hodo_event *event, const uint8_t *code, uint32_t len,
			const struct hodo_filter **filter)
{
	struct hodo_filter *f = kmalloc(sizeof(*f), GFP_KERNEL);
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];

	*filter = NULL;
	if (!f)
		return -ENOMEM;
	for (unsigned int i = 0; i < event->nfields; i++) {
		names[i] = event->fields[i].name;
		types[i] = event->fields[i].type;
	}
	if (hodo_filter_bind(f, code, len, event->nfields, types, names, NULL) != 0 || hodo_filter_never(f)) {
		kfree(f);
		return NEVER;
	}
	if (hodo_filter_always(f)) {
		kfree(f);
		return ALWAYS;
	}
	*filter = f;
	return BOUND;
}

/* The filter that decides whether the event is recorded. As bind_program(). */
static int bind_filter(const struct hodo_event *event, const struct hodo_filter **filter)
{
	*filter = NULL;
	if (hodo_recording.by == HODO_RECORDED_BY_TREE)
		return event->filter_code ? bind_program(event, event->filter_code, event->filter_len, filter) : ALWAYS;
	if (!hodo_recording.filter || event->kind == HODO_KIND_FUNCTION)
		return ALWAYS;
	return bind_program(event, hodo_recording.filter, hodo_recording.asked->filter_len, filter);
}

static int bind_conditions(const struct hodo_event *event, struct hodo_rules *rules, bool *triggers)
{
	for (uint32_t i = 0; i < nconditions; i++) {
		const struct hodo_condition_parts *c = &conditions[i];
		struct bound *b = &rules->bound[rules->n];
		int how = ALWAYS;

		if (!hodo_event_matches(c->pattern, event))
			continue;
		*b = (struct bound){ .condition = i };
		if (c->head.filter_len)
			how = bind_program(event, c->filter, c->head.filter_len, &b->filter);
		if (how < 0)
			return how;
		if (how == NEVER)
			continue;
		*triggers |= c->head.kind != HODO_CONDITION_RATE;
		rules->n++;
	}
	return 0;
}

void hodo_rules_free(struct hodo_event *event)
{
	struct hodo_rules *rules = event->rules;

	if (!rules)
		return;
	event->rules = NULL;
	for (uint32_t i = 0; i < rules->n; i++)
		kfree(rules->bound[i].filter);
	kfree(rules->filter);
	kfree(rules);
}

int hodo_rules_bind(struct hodo_event *event, bool wanted)
{
	uint8_t types[HODO_FIELDS_MAX];
	struct hodo_rules *rules;
	bool triggers = false;
	int how, err;

	if (wanted && !nconditions && !rules_for_all && !hodo_recording.filter && !event->filter_code)
		return 0;
	if (!wanted && !nconditions)
		return HODO_RULES_NEVER;
	rules = kzalloc(struct_size(rules, bound, nconditions), GFP_KERNEL);
	if (!rules)
		return -ENOMEM;
	event->rules = rules;
	for (unsigned int i = 0; i < event->nfields; i++)
		types[i] = event->fields[i].type;
	hodo_payload_init(&rules->payload, types, event->nfields); /* types that the recorder has declared */
	how = wanted ? bind_filter(event, &rules->filter) : NEVER;
	rules->record = how > NEVER;
	err = how < 0 ? how : bind_conditions(event, rules, &triggers);
	if (!err && !rules->record && !triggers)
		err = HODO_RULES_NEVER;
	if (err || (rules->record && !rules->filter && rules->n == 0 && !rules_for_all))
		hodo_rules_free(event);
	return err;
}

static bool get_var(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	switch (var) {
	case HODO_FILTER_TID:
		*number = current->pid;
		return true;
	case HODO_FILTER_PID:
		*number = current->tgid;
		return true;
	case HODO_FILTER_CPU:
		*number = raw_smp_processor_id();
		return true;
	case HODO_FILTER_COMM:
		memcpy(vars->comm, current->comm, sizeof(vars->comm));
		*number = strnlen(vars->comm, sizeof(vars->comm));
		return true;
	default: /* no spans are timed here */
		return false;
	}
}

/* ----------------------------------------------------------- triggers, rates */

/* What is looked at for one event. */
struct look {
	struct hodo_filter_vars vars; /* first */
	size_t n;
	struct hodo_piece piece[HODO_PAYLOAD_PIECES_MAX];
};

#define ACT(kind) (1u << (kind))

/* The n-th time that a trigger is met: what is to be done once the event is committed. */
static unsigned int act_on(const struct hodo_condition *c, uint64_t n)
{
	uint32_t kind = hodo_condition_acts(c, n);

	if (kind == HODO_CONDITION_START) {
		hodo_store_seq(&awaits_start, false);
		return 0;
	}
	return kind ? ACT(kind) : 0;
}

static bool is_met(const struct bound *b, struct look *look)
{
	return !b->filter || hodo_filter_run(b->filter, look->piece, look->n, &look->vars);
}

static unsigned int triggers(struct hodo_rules *rules, struct look *look)
{
	uint64_t *matched = (uint64_t *)((uint8_t *)hodo_recording.memory->shm + HODO_SHM_MATCHED);
	unsigned int acts = 0;

	for (uint32_t i = 0; i < rules->n && !hodo_load(&closed); i++) {
		const struct bound *b = &rules->bound[i];
		const struct hodo_condition *c = &conditions[b->condition].head;

		if (c->kind == HODO_CONDITION_RATE)
			continue;
		/* Before the start there is nothing to stop, or to make a snapshot of. */
		if (c->kind != HODO_CONDITION_START && hodo_load_acquire(&awaits_start))
			continue;
		if (is_met(b, look))
			acts |= act_on(c, hodo_add_seq(&matched[b->condition], 1) + 1);
	}
	return acts;
}

static bool within_rates(struct hodo_rules *rules, const struct hodo_event *event, struct look *look)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		struct bound *b = &rules->bound[i];
		const struct hodo_condition *c = &conditions[b->condition].head;

		if (c->kind != HODO_CONDITION_RATE || !is_met(b, look) ||
		    hodo_condition_within_rate(c, &b->due, hodo_ticks()))
			continue;
		hodo_add(&hodo_recording.memory->limited[event->id], 1);
		hodo_add(&hodo_recording.memory->shm->limited, 1);
		return false;
	}
	return true;
}

static void act(const struct hodo_event *event, unsigned int acts)
{
	struct hodo_shm *shm = hodo_recording.memory->shm;

	if (acts & ACT(HODO_CONDITION_SNAPSHOT)) {
		scnprintf(shm->why, sizeof(shm->why), "trigger %s:%s", event->provider, event->name);
		hodo_add_seq(&shm->snapshots, 1);
	}
	if (acts & (ACT(HODO_CONDITION_STOP) | ACT(HODO_CONDITION_EXIT))) {
		hodo_store_seq(&closed, true);
		__atomic_fetch_or(&shm->wants,
				  (acts & ACT(HODO_CONDITION_STOP) ? HODO_WANTS_STOP : 0) |
				  (acts & ACT(HODO_CONDITION_EXIT) ? HODO_WANTS_EXIT : 0), __ATOMIC_SEQ_CST);
	}
}

static void look_at(struct hodo_writer *w, uint8_t *payload, uint32_t len, struct hodo_event *event)
{
	struct hodo_rules *rules = event->rules;
	unsigned int acts;
	struct look look;

	if (hodo_load_seq(&closed))
		return;
	look.vars.get = get_var;
	look.n = hodo_payload_pieces(&rules->payload, payload, len, look.piece);
	acts = triggers(rules, &look);
	if (rules->record && !hodo_load_acquire(&awaits_start) &&
	    (!rules->filter || hodo_filter_run(rules->filter, look.piece, look.n, &look.vars)) &&
	    within_rates(rules, event, &look))
		hodo_emit_commit(w, payload, len);
	if (acts)
		act(event, acts);
}

void hodo_rules_commit(struct hodo_writer *w, uint8_t *payload, uint32_t len, struct hodo_event *event,
		   unsigned long flags)
{
	look_at(w, payload, len, event);
	hodo_emit_leave(w, flags);
}
