/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rules.c - whether an event is recorded: triggers, then the filter, then rates, evaluated after the event is
 * filled in, before it is committed. Triggers' actions follow the commit, so that the event is in the
 * snapshot, or is the last one.
 *
 *                  | commit      | bind, free         | prepare
 *   commit         | beside      | event off, nobody  | no event on
 *   bind, free     |             | excluded (lock)    | excluded (lock)
 */
#include "emit.h"
#include "kmod.h"
#include "state.h"

#include <core/atomic.h>
#include <core/condition.h>
#include <core/config.h>
#include <core/payload.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

struct hodo_rules {
	bool record;                      /* the event itself is wanted */
	const struct hodo_filter *filter; /* of the recording, or the event's own; NULL: none */
	struct hodo_payload payload;
	uint32_t n;
	struct hodo_bound bound[];
};

static struct hodo_condition_parts conditions[HODO_CONDITIONS_MAX];
static uint32_t nconditions;
static bool awaits_start;        /* no start trigger has been met yet */
static bool stopped;       /* a stop or exit trigger has been met */
static bool rules_for_all; /* because of these */

/* ---------------------------------------------------------------- binding */

int hodo_rules_prepare(void)
{
	const struct hodo_msg_config *asked = hodo_recording.asked;

	nconditions = 0;
	awaits_start = stopped = rules_for_all = false;
	if (!asked)
		return 0;
	if (hodo_conditions_parse(hodo_config_conditions(asked), asked->conditions, asked->conditions_len,
				  conditions) < 0)
		return -EINVAL;
	nconditions = asked->conditions;
	awaits_start = asked->flags & HODO_CONFIG_AWAITS_START;
	rules_for_all = awaits_start;
	for (uint32_t i = 0; i < nconditions; i++)
		rules_for_all |= conditions[i].head.kind >= HODO_CONDITION_START;
	return 0;
}

/* An event that is bound. */
struct kernel_binder {
	struct hodo_binder binder;
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];
	struct hodo_filter work;
};

static void *keep(const void *from, size_t bytes)
{
	return kmemdup(from, bytes, GFP_KERNEL);
}

static void binder_init(struct kernel_binder *b, const struct hodo_event *event)
{
	for (unsigned int i = 0; i < event->nfields; i++) {
		b->names[i] = event->fields[i].name;
		b->types[i] = event->fields[i].type;
	}
	b->binder = (struct hodo_binder){ .nfields = event->nfields, .types = b->types, .names = b->names,
					  .work = &b->work, .matches = hodo_event_matches, .event = event,
					  .keep = keep };
}

/* Binds the filter that decides whether the event is recorded. As hodo_binder_filter(). */
static int bind_filter(const struct kernel_binder *b, const struct hodo_filter **filter)
{
	const struct hodo_msg_config *asked = hodo_recording.asked;
	const struct hodo_event *event = b->binder.event;

	*filter = NULL;
	if (hodo_recording.by == HODO_RECORDED_BY_TREE)
		return event->filter_code ?
			       hodo_binder_filter(&b->binder, event->filter_code, event->filter_len, filter) :
			       HODO_BINDING_ALWAYS;
	if (!asked->filter_len || event->kind == HODO_KIND_FUNCTION)
		return HODO_BINDING_ALWAYS;
	return hodo_binder_filter(&b->binder, hodo_config_filter(asked), asked->filter_len, filter);
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

/* As hodo_rules_bind(); rules stay if it fails. */
static int bind_all(const struct kernel_binder *b, struct hodo_rules *rules, bool wanted)
{
	int how = wanted ? bind_filter(b, &rules->filter) : HODO_BINDING_NEVER;
	bool triggers = false;

	rules->record = how > HODO_BINDING_NEVER;
	if (how < 0 || hodo_binder_conditions(&b->binder, conditions, nconditions, rules->bound, &rules->n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < rules->n; i++)
		triggers |= rules->bound[i].condition->kind != HODO_CONDITION_RATE;
	return rules->record || triggers ? 0 : HODO_RULES_NEVER;
}

int hodo_rules_bind(struct hodo_event *event, bool wanted)
{
	struct kernel_binder *binder;
	bool filter = hodo_recording.asked && hodo_recording.asked->filter_len;
	struct hodo_rules *rules;
	int err;

	if (wanted && !nconditions && !rules_for_all && !filter && !event->filter_code)
		return 0;
	if (!wanted && !nconditions)
		return HODO_RULES_NEVER;
	rules = kzalloc(struct_size(rules, bound, nconditions), GFP_KERNEL);
	binder = kmalloc(sizeof(*binder), GFP_KERNEL);
	if (!rules || !binder) {
		kfree(rules);
		kfree(binder);
		return -ENOMEM;
	}
	event->rules = rules;
	binder_init(binder, event);
	hodo_payload_init(&rules->payload, binder->types, event->nfields); /* types that the recorder has declared */
	err = bind_all(binder, rules, wanted);
	kfree(binder);
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

/* ------------------------------------------------------------------ looking */

static struct hodo_shm *memory(void)
{
	return hodo_recording.memory->shm;
}

static void start(void)
{
	hodo_store_seq(&awaits_start, false);
}

static uint64_t ticks(void)
{
	return hodo_ticks();
}

static void act(const struct hodo_event *event, uint32_t verdict)
{
	struct hodo_shm *shm = memory();

	if (verdict & HODO_VERDICT_SNAPSHOT) {
		scnprintf(shm->why, sizeof(shm->why), "trigger %s:%s", event->provider, event->name);
		hodo_add_seq(&shm->snapshots, 1);
	}
	if (hodo_verdict_wants(verdict)) {
		hodo_store_seq(&stopped, true);
		__atomic_fetch_or(&shm->wants, hodo_verdict_wants(verdict), __ATOMIC_SEQ_CST);
	}
}

static const struct hodo_look_ops look_ops = { .awaits_start = &awaits_start, .stopped = &stopped, .start = start,
					       .ticks = ticks };

static bool within_rates(struct hodo_rules *rules, const struct hodo_event *event, struct hodo_look *look)
{
	if (hodo_look_rates(look, &look_ops, rules->bound, rules->n))
		return true;
	hodo_add(&hodo_recording.memory->limited[event->id], 1);
	hodo_add(&memory()->limited, 1);
	return false;
}

/* Whether it was committed. */
static bool look_at(struct hodo_writer *w, uint8_t *record, uint32_t len, struct hodo_event *event)
{
	uint8_t *payload = record + HODO_EVENT_HEADER;
	struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX];
	struct hodo_rules *rules = event->rules;
	struct hodo_look look;
	uint32_t verdict;
	bool recorded;

	if (hodo_load_seq(&stopped))
		return false;
	look.vars.get = get_var;
	look.pieces = pieces;
	look.count = hodo_payload_pieces(&rules->payload, payload, len, pieces);
	look.shm = memory();
	verdict = hodo_look_triggers(&look, &look_ops, rules->bound, rules->n);
	recorded = rules->record && !hodo_load_acquire(&awaits_start) &&
		   (!rules->filter || hodo_filter_run(rules->filter, pieces, look.count, &look.vars)) &&
		   within_rates(rules, event, &look);
	if (recorded)
		hodo_emit_commit(w, payload + len, (uint32_t)(payload + len - w->at));
	if (verdict)
		act(event, verdict);
	return recorded;
}

void hodo_rules_commit(struct hodo_writer *w, uint8_t *record, uint32_t len, struct hodo_event *event,
		   unsigned long flags)
{
	bool anchor = record != w->at; /* before it, committed with it */

	if (!look_at(w, record, len, event) && anchor) {
		w->tid = w->old_tid;
		w->epoch = w->old_epoch;
	}
	hodo_emit_leave(w, flags);
}
