/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * condition.h - the conditions of a recording (struct hodo_condition): parsing them from CONFIG, binding them
 * to events, and evaluating them where an event happens, in a process or in the kernel.
 *
 *          | look    | bind
 *   look   | beside  | before its event is on
 *   bind   |         | excluded (a lock)
 *
 * Any number of looks run at once, in any context: only atomic operations change how often a trigger was met
 * and when a rate's next event is due.
 */
#pragma once

#include "atomic.h"
#include "filter.h"

#define HODO_CONDITION_PATTERN_MAX (2u * HODO_NAME_MAX + 16u) /* bytes, the NUL included */
#define HODO_CONDITION_TICKS_MAX (1ull << 62)

/* One condition, parsed. */
struct hodo_condition_parts {
	struct hodo_condition head;
	const char *pattern; /* NUL-terminated */
	const uint8_t *filter; /* head.filter_len bytes, verified */
};

/*
 * Parses n conditions, which must fill the len bytes at `at` exactly; the bytes may come from anywhere.
 * parts: room for HODO_CONDITIONS_MAX, or NULL. Returns 0, or -1 if they are not valid. Signal safe.
 */
int hodo_conditions_parse(const uint8_t *at, uint32_t n, uint32_t len, struct hodo_condition_parts *parts);

/* ------------------------------------------------------------------ binding */

/* A condition that applies to an event. */
struct hodo_bound {
	const struct hodo_condition *condition;
	uint32_t index;                   /* in the recording */
	const struct hodo_filter *filter; /* NULL: always met */
	uint64_t due;                     /* a rate's: ticks */
};

/* Binds conditions to one event. */
struct hodo_binder {
	unsigned int nfields;
	const uint8_t *types;
	const char *const *names;
	const struct hodo_filter_labels *labels; /* or NULL */
	struct hodo_filter *work; /* scratch memory */
	bool (*matches)(const char *pattern, const void *event);
	const void *event;
	/* Copies the bytes to memory that lasts as long as the recording; NULL: no memory. */
	void *(*keep)(const void *from, size_t bytes);
};

enum hodo_binding {
	HODO_BINDING_NEVER, /* no event of this kind meets it, */
	HODO_BINDING_ALWAYS, /* or each does, */
	HODO_BINDING_BOUND
};
/* Binds a filter's program. Returns enum hodo_binding, or -1: no memory. *filter: NULL unless it is bound. */
int hodo_binder_filter(const struct hodo_binder *binder, const uint8_t *code, uint32_t len,
		       const struct hodo_filter **filter);
/*
 * Binds those of n conditions that apply to the event, into bound, which has room for n. *count: how many.
 * -1: no memory.
 */
int hodo_binder_conditions(const struct hodo_binder *binder, const struct hodo_condition_parts *conditions, uint32_t n,
			   struct hodo_bound *bound, uint32_t *count);

/* ------------------------------------------------- looking; lock-free, signal safe */

/* What to do with an event. */
#define HODO_VERDICT_RECORD 1u
#define HODO_VERDICT_SNAPSHOT 2u /* this and the following: when it is stored, or was not to be */
#define HODO_VERDICT_STOP 4u
#define HODO_VERDICT_EXIT 8u

/* What the caller supplies. */
struct hodo_look_ops {
	const bool *awaits_start; /* no start trigger has been met yet */
	const bool *stopped;      /* a stop or exit trigger was met: nothing is left to look for */
	void (*start)(void);      /* a start trigger was met */
	uint64_t (*ticks)(void);
};

/* The event to look at. */
struct hodo_look {
	struct hodo_filter_vars vars;    /* first */
	const struct hodo_piece *pieces; /* as hodo_filter_run() wants them */
	size_t count;
	struct hodo_shm *shm; /* the recording's memory */
};

/* Whether a trigger that is met for the n-th time (from 1) acts: its kind, or 0. */
uint32_t hodo_condition_acts(const struct hodo_condition *c, uint64_t n);
/*
 * Whether an event at `now` (ticks) is within the rate of c, by the generic cell rate algorithm (ITU-T
 * I.371): `due`, shared by all who emit the event, is when the next one would come if they came evenly. An
 * event earlier than the burst allows is over the rate and leaves `due` alone. Otherwise a compare-and-swap
 * advances it: of two writers that read the same value, one tries again, so that none is let in twice.
 */
bool hodo_condition_within_rate(const struct hodo_condition *c, uint64_t *due, uint64_t now);

/* Inline, so that the compiler knows the ops: calls through pointers cost more than all the rest. */
static inline bool hodo_look_is_met(const struct hodo_bound *b, struct hodo_look *look)
{
	return !b->filter || hodo_filter_run(b->filter, look->pieces, look->count, &look->vars);
}

static inline uint32_t hodo_look_act(const struct hodo_look_ops *ops, const struct hodo_condition *c, uint64_t n)
{
	switch (hodo_condition_acts(c, n)) {
	case HODO_CONDITION_SNAPSHOT:
		return HODO_VERDICT_SNAPSHOT;
	case HODO_CONDITION_START:
		ops->start();
		return 0;
	case HODO_CONDITION_STOP:
		return HODO_VERDICT_STOP;
	case HODO_CONDITION_EXIT:
		return HODO_VERDICT_EXIT;
	}
	return 0;
}

/* Evaluates its triggers, in order. Returns HODO_VERDICT_* without RECORD. */
static inline uint32_t hodo_look_triggers(struct hodo_look *look, const struct hodo_look_ops *ops,
					   const struct hodo_bound *bound, uint32_t n)
{
	uint32_t verdict = 0;

	for (const struct hodo_bound *b = bound; b < bound + n && !hodo_load(ops->stopped); b++) {
		const struct hodo_condition *c = b->condition;
		uint64_t *matched;

		if (c->kind == HODO_CONDITION_RATE)
			continue;
		/* Before the start, there is nothing to stop or to take a snapshot of. */
		if (c->kind != HODO_CONDITION_START && hodo_load_acquire(ops->awaits_start))
			continue;
		if (!hodo_look_is_met(b, look))
			continue;
		matched = (uint64_t *)((uint8_t *)look->shm + HODO_SHM_MATCHED) + b->index;
		verdict |= hodo_look_act(ops, c, hodo_add_seq(matched, 1) + 1);
	}
	return verdict;
}

/* Whether the event is within all its rates. */
static inline bool hodo_look_rates(struct hodo_look *look, const struct hodo_look_ops *ops, struct hodo_bound *bound,
				   uint32_t n)
{
	for (struct hodo_bound *b = bound; b < bound + n; b++) {
		if (b->condition->kind == HODO_CONDITION_RATE && hodo_look_is_met(b, look) &&
		    !hodo_condition_within_rate(b->condition, &b->due, ops->ticks()))
			return false;
	}
	return true;
}

/* HODO_WANTS_* of a verdict. */
uint32_t hodo_verdict_wants(uint32_t verdict);
