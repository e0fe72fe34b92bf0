/* SPDX-License-Identifier: MIT */
/*
 * rules.c - what a recording wants of an event: whether its patterns name it, and whether it is recorded when
 * it happens, by triggers, then the filter, then rates (core/condition.h).
 *
 * hodo_rules_select() binds programs to an event when a recording begins, or when an object
 * brings the event, once in each recording. The results are in the pool (pool.c).
 *
 *                | pass         | select, prepare       | publish             | start, stop
 *   pass         | beside       | before its event's on | beside              | beside
 *   select, …    |              | excluded (lock)       | before or excluded  | beside
 *   publish      |              |                       | beside              | beside
 *
 * Start triggers begin the recording of events from wherever they are met, in signal handlers too, and so
 * without the lock: they clear `awaits_start`, then publish every event, as the control side does when it
 * changes an event under the lock. Both first change the state that words depend on (matched, disabled,
 * awaits_start, stopped), then store the word, then compute it again from the present state, until it equals
 * what they stored (hodo_registry_publish()). So the last to store a word computed it from the last state:
 * otherwise, somebody changed the state after that and stores the word later. All of it is sequentially
 * consistent; a store that passed its own load would break it.
 *
 * All other actions of triggers wait until the event that met them is stored (hodo_rules_act()), so that it
 * is in the snapshot, or is the last event. Stop triggers set `stopped`, which overrides everything.
 */
#include <core/condition.h>
#include <core/glob.h>
#include "spans.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/process/process.h>
#include <user/ring/rings.h>
#include "event.h"

/* As in refuse.S. */
_Static_assert(offsetof(struct hodo_event, filter) == 0 && offsetof(struct hodo_state, event) == 8 &&
		       offsetof(struct hodo_filter, first) == 11 && offsetof(struct hodo_filter, test) == 408 &&
		       sizeof(struct hodo_filter_test) == 32 && offsetof(struct hodo_filter_test, field) == 4 &&
		       offsetof(struct hodo_filter_test, mask) == 8 && offsetof(struct hodo_filter_test, len) == 16 &&
		       offsetof(struct hodo_filter_test, span) == 24 &&
		       offsetof(struct hodo_filter_field, piece) == 1 && offsetof(struct hodo_filter_field, last) == 3,
	       "refuse.S");

static struct hodo_condition_parts conditions[HODO_CONDITIONS_MAX];
static uint32_t nconditions;
static const uint8_t *filter_program; /* of the recording; NULL: none, or no memory */
static bool filter_lost, spans_on;
bool hodo_rules_filters;
static uint32_t generation; /* of recordings */

/* What to check when an event happens. */
struct hodo_rules_event {
	struct hodo_span span;  /* that it begins or ends, if $duration is wanted */
	struct hodo_span rated; /* that it begins or ends, if starts have a rate: noted are those within it */
	uint32_t n;
	struct hodo_bound bound[];
};

/* A span's name, for its start and end events. */
struct span_name {
	struct span_name *next;
	size_t len;
	char text[];
};
#define NAME_CHAINS 64u
static struct span_name *span_names[NAME_CHAINS]; /* of the recording, in the pool */

static bool asks_duration(const struct hodo_condition_parts *c)
{
	return c->head.filter_len && hodo_filter_names_var(c->filter, HODO_FILTER_DURATION);
}

void hodo_rules_prepare(void)
{
	const struct hodo_msg_config *c = &hodo_recording.config;
	const uint8_t *at;
	bool wants_spans;

	hodo_pool_reset();
	__builtin_memset(span_names, 0, sizeof(span_names));
	generation++;
	hodo_store_seq(&hodo_recording.stopped, false);
	filter_program = c->filter_len ? hodo_pool_copy(hodo_config_filter(c), c->filter_len) : 0;
	filter_lost = c->filter_len && !filter_program;
	hodo_store(&hodo_rules_filters, filter_program != 0);
	wants_spans = filter_program && hodo_filter_names_var(filter_program, HODO_FILTER_DURATION);
	nconditions = 0;
	at = hodo_pool_copy(hodo_config_conditions(c), c->conditions_len);
	if (c->conditions && (!at || hodo_conditions_parse(at, c->conditions, c->conditions_len, conditions) != 0))
		filter_lost = true;
	else
		nconditions = c->conditions;
	for (uint32_t i = 0; i < nconditions; i++)
		wants_spans = wants_spans || asks_duration(&conditions[i]) ||
			      conditions[i].head.kind == HODO_CONDITION_RATE;
	spans_on = wants_spans && hodo_spans_prepare();
}

/* ----------------------------------------------------------------- binding */

/* An event that is bound. */
struct event_binder {
	struct hodo_binder binder;
	struct hodo_filter_labels labels;
	const char *names[HODO_TRACE_FIELDS_MAX];
};

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	const struct event_binder *b = (const void *)((const char *)labels - offsetof(struct event_binder, labels));

	return hodo_registry_label(b->binder.event, b->names[field], name, len, value);
}

static void binder_init(struct event_binder *b, const struct hodo_event *event)
{
	static struct hodo_filter work; /* under the control lock */
	const char *p = hodo_registry_name(event);

	for (unsigned i = 0; i < event->nfields; i++) {
		p += __builtin_strlen(p) + 1;
		b->names[i] = p;
	}
	b->labels.find = find_label;
	b->binder = (struct hodo_binder){ event->nfields, event->types, b->names, &b->labels, &work,
					  hodo_registry_matches, event, hodo_pool_copy };
}

static void bind_filter(struct hodo_event *event, const struct event_binder *b)
{
	const struct hodo_filter *filter;
	int how;

	event->filtered = false;
	/*
	 * Never NULL, nor from an earlier recording: the word that says it is in use is in memory that others
	 * write.
	 */
	event->filter = &hodo_filter_none;
	if (filter_lost)
		event->matched = false; /* better none than events that the filter should exclude */
	if (!filter_program || filter_lost)
		return;
	how = hodo_binder_filter(&b->binder, filter_program, hodo_recording.config.filter_len, &filter);
	if (how == HODO_BINDING_ALWAYS)
		return;
	if (how == HODO_BINDING_BOUND)
		event->filter = filter;
	else /* its sites stay off unless hodo_enable() names it, and even then none is recorded */
		event->matched = false;
	event->filtered = true;
}

/* Whether a rate, or else a trigger that asks for $duration, is for this event's span, whose name has len bytes. */
static __attribute__((noinline)) bool is_named(const struct hodo_event *event, size_t len, bool rate)
{
	static char name[HODO_EVENT_NAME_MAX]; /* under the control lock */
	const char *end = rate ? ".begin" : ".end";
	size_t more = rate ? 6 : 4;

	if (!spans_on || len == 0 || len + more >= sizeof(name))
		return false;
	__builtin_memcpy(name, hodo_registry_name(event), len);
	__builtin_memcpy(name + len, end, more);
	for (uint32_t i = 0; i < nconditions; i++) {
		const struct hodo_condition_parts *c = &conditions[i];

		if (rate ? c->head.kind != HODO_CONDITION_RATE : !asks_duration(c))
			continue;
		if (hodo_glob_name(c->pattern, c->head.pattern_len - 1, name, len + more) ||
		    hodo_glob_name(c->pattern, c->head.pattern_len - 1, name, len))
			return true;
	}
	return false;
}

/* The only copy of a span's name in this recording; NULL: no memory. */
static const struct span_name *keep_name(const char *name, size_t len)
{
	size_t hash = len + (uint8_t)name[len - 1] * 31u + (uint8_t)name[len / 2];
	struct span_name **link = &span_names[hash % NAME_CHAINS];

	for (; *link; link = &(*link)->next)
		if ((*link)->len == len && __builtin_memcmp((*link)->text, name, len) == 0)
			return *link;
	*link = hodo_pool_take(sizeof(**link) + len);
	if (!*link)
		return 0;
	(*link)->next = 0;
	(*link)->len = len;
	__builtin_memcpy((*link)->text, name, len);
	return *link;
}

static void name_span(struct hodo_span *span, uint64_t name, bool begins)
{
	span->name = name;
	span->begins = name && begins;
	span->ends = name && !begins;
}

static void bind_span(struct hodo_event *event, struct hodo_span *span, struct hodo_span *rated)
{
	size_t len = hodo_registry_span_len(event);
	bool begins = event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_BEGIN, timed, limited;
	uintptr_t name;

	*span = (struct hodo_span){ .scope = event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_SPAN_END,
				    .id_type = event->nfields ? event->types[0] : HODO_TYPE_NONE };
	*rated = *span;
	timed = spans_on && len && filter_program && hodo_filter_names_var(filter_program, HODO_FILTER_DURATION);
	timed = timed || is_named(event, len, false);
	/* Ids that vary in length may be too long to be found again. */
	limited = (span->scope || span->id_type < HODO_TYPE_STR) && is_named(event, len, true);
	name = timed || limited ? (uintptr_t)keep_name(hodo_registry_name(event), len) : 0;
	name_span(span, timed ? name : 0, begins);
	/* Another name: these start events are noted beside the others. */
	name_span(rated, limited && name ? name + 1 : 0, begins);
}

void hodo_rules_select(struct hodo_event *event)
{
	static union {
		struct hodo_rules_event rules;
		uint8_t room[sizeof(struct hodo_rules_event) + HODO_CONDITIONS_MAX * sizeof(struct hodo_bound)];
	} all; /* under the control lock */
	struct event_binder b;

	if (event->kind == HODO_KIND_FUNCTION)
		return; /* func/ decides; filters are for the program's own events */
	event->matched = hodo_config_wants(&hodo_recording.config, hodo_registry_matches, event);
	/* An object was loaded again, with an event that a thread may be inside of. */
	if (event->bound == generation) {
		if (event->filtered && event->filter == &hodo_filter_none)
			event->matched = false;
		return;
	}
	event->bound = generation;
	event->rules = 0;
	binder_init(&b, event);
	bind_filter(event, &b);
	if (!nconditions && !spans_on)
		return;
	bind_span(event, &all.rules.span, &all.rules.rated);
	if (hodo_binder_conditions(&b.binder, conditions, nconditions, all.rules.bound, &all.rules.n) == 0) {
		if (all.rules.n == 0 && !all.rules.span.name && !all.rules.rated.name)
			return;
		event->rules = hodo_pool_copy(&all, sizeof(all.rules) + all.rules.n * sizeof(all.rules.bound[0]));
	}
	if (!event->rules)
		event->matched = false; /* no memory */
}

/* --------------------------------------------------------------- variables */

static __attribute__((noinline)) uint32_t own_tid(void)
{
	const struct hodo_tls *t = &hodo_tls;

	/* A vfork child has its parent's tid in the table. */
	return t->tid && t->table != hodo_no_views ? t->tid : hodo_gettid();
}

static uint32_t this_cpu(void)
{
	uint32_t cpu = 0;

	if (hodo_tls.table != hodo_no_views) /* cpu_id of struct rseq */
		return *(volatile uint32_t *)((char *)__builtin_thread_pointer() + hodo_rseq_offset + 4);
	hodo_sys3(SYS_getcpu, &cpu, 0, 0);
	return cpu;
}

/*
 * The recording's memory. If a handler that interrupts us forks, the returned memory stays readable in the
 * child (recording.c); the next call there returns the child's, or NULL.
 */
static struct hodo_shm *memory(void)
{
	hodo_process_check_fork();
	return (struct hodo_shm *)hodo_load(&hodo_recording.shm);
}

struct own_look {
	struct hodo_look look; /* first */
	int64_t begin_ns; /* INT64_MIN: not known */
};

static bool get_var(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	struct own_look *own = (struct own_look *)vars;
	const struct hodo_shm *shm;

	switch (var) {
	case HODO_FILTER_TID:
		*number = own_tid();
		return true;
	case HODO_FILTER_PID:
		shm = memory();
		*number = shm ? hodo_load(&shm->pid) : (uint32_t)hodo_sys0(SYS_getpid);
		return true;
	case HODO_FILTER_CPU:
		*number = this_cpu();
		return true;
	case HODO_FILTER_COMM:
		hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, vars->comm);
		for (*number = 0; *number < 15 && vars->comm[*number];)
			++*number;
		return true;
	case HODO_FILTER_DURATION:
		if (own->begin_ns == INT64_MIN)
			return false;
		*number = hodo_clock_ns(CLOCK_MONOTONIC) - own->begin_ns;
		return true;
	case HODO_FILTER_OFF_CPU: /* not known here */
	case HODO_FILTER_VARS:
		break;
	}
	return false;
}

/* ---------------------------------------------------------------- triggers */

static void publish_all(void)
{
	uint32_t n = hodo_load_acquire(&hodo_nevents);

	for (uint32_t i = 1; i <= n; i++)
		hodo_registry_publish(&hodo_events[i]);
}

static void start_met(void)
{
	if (!hodo_load_seq(&hodo_recording.awaits_start))
		return;
	hodo_store_seq(&hodo_recording.awaits_start, false);
	publish_all();
}

void hodo_rules_act(const struct hodo_event *event, uint32_t verdict)
{
	struct hodo_shm *shm = memory();
	char why[80] = "trigger ";

	if (!shm)
		return;
	if (verdict & HODO_VERDICT_SNAPSHOT) {
		hodo_fixed_text_add(why, sizeof(why), hodo_registry_name(event));
		hodo_snapshot_want(why);
	}
	if (!hodo_verdict_wants(verdict))
		return;
	hodo_store_seq(&hodo_recording.stopped, true);
	publish_all();
	__atomic_fetch_or(&shm->wants, hodo_verdict_wants(verdict), __ATOMIC_SEQ_CST);
}

/* -------------------------------------------------------------------- pass */

static const struct hodo_look_ops look_ops = { .stopped = &hodo_recording.stopped, .start = start_met,
					       .awaits_start = &hodo_recording.awaits_start,
					       .ticks = hodo_ticks_now };

/*
 * The end of a span follows its start, whose rate counts: limited by itself, it would be the end of another one. Where
 * starts are not noted, each end is recorded.
 */
static bool follows_begin(const struct hodo_rules_event *rules, const struct hodo_piece *pieces, size_t count)
{
	int64_t begin_ns;

	return !rules->rated.ends || hodo_spans_end(&rules->rated, own_tid(), pieces, count, &begin_ns);
}

static bool within_rates(const struct hodo_event *event, struct hodo_rules_event *rules, struct hodo_look *look)
{
	struct hodo_shm *shm;

	if (event->kind == HODO_KIND_SPAN_END || event->kind == HODO_KIND_END)
		return true;
	if (hodo_look_rates(look, &look_ops, rules->bound, rules->n))
		return true;
	shm = memory();
	if (shm) {
		hodo_add((uint64_t *)((uint8_t *)shm + HODO_SHM_LIMITED) + event->id, 1);
		hodo_add(&shm->limited, 1);
	}
	return false;
}

#ifdef __x86_64__
static long run(long f, long pieces, long count, long vars)
{
	return hodo_filter_run_floats((const struct hodo_filter *)f, (const struct hodo_piece *)pieces, (size_t)count,
				      (struct hodo_filter_vars *)vars);
}

/*
 * The machine computes with floats where an event happens. Nothing else in libhodo uses the program's vector
 * registers.
 */
bool hodo_filter_run(const struct hodo_filter *f, const struct hodo_piece *pieces, size_t count,
		     struct hodo_filter_vars *vars)
{
	return hodo_x86_keep_sse(run, (long)f, (long)pieces, (long)count, (long)vars);
}
#endif

static __attribute__((noinline)) uint32_t pass_rules(struct hodo_event *event, struct hodo_rules_event *rules,
						    const struct hodo_piece *pieces, size_t count)
{
	struct own_look own; /* an initializer would clear all of it each time */
	uint32_t on, verdict;
	struct hodo_shm *shm;
	bool follows;

	own.look.vars.get = get_var;
	own.look.pieces = pieces;
	own.look.count = count;
	own.begin_ns = INT64_MIN;
	if (rules->span.begins)
		hodo_spans_begin(&rules->span, own_tid(), pieces, count, hodo_clock_ns(CLOCK_MONOTONIC));
	else if (rules->span.ends && !hodo_spans_end(&rules->span, own_tid(), pieces, count, &own.begin_ns))
		own.begin_ns = INT64_MIN;
	follows = follows_begin(rules, pieces, count);
	own.look.shm = memory();
	if (!own.look.shm)
		return 0;
	verdict = hodo_look_triggers(&own.look, &look_ops, rules->bound, rules->n);
	shm = memory(); /* the child's, if a handler has forked meanwhile */
	if (!shm)
		return 0;
	on = hodo_load_acquire((uint32_t *)((uint8_t *)shm + HODO_SHM_ON) + event->id); /* from a start trigger on */
	if (!(on & HODO_ON_RECORD) || !follows ||
	    ((on & HODO_ON_FILTER) && !hodo_filter_run(event->filter, pieces, count, &own.look.vars)) ||
	    !within_rates(event, rules, &own.look))
		return verdict;
	if (rules->rated.begins)
		hodo_spans_begin(&rules->rated, own_tid(), pieces, count, hodo_clock_ns(CLOCK_MONOTONIC));
	return verdict | HODO_VERDICT_RECORD;
}

uint32_t hodo_rules_pass(struct hodo_event *event, uint32_t on, const struct hodo_piece *pieces, size_t count)
{
	struct own_look own;

	if ((on & HODO_ON_RULES) && event->rules)
		return pass_rules(event, event->rules, pieces, count);
	if (!(on & HODO_ON_FILTER))
		return HODO_VERDICT_RECORD;
	own.look.vars.get = get_var;
	own.begin_ns = INT64_MIN;
	return hodo_filter_run(event->filter, pieces, count, &own.look.vars) ? HODO_VERDICT_RECORD : 0;
}
