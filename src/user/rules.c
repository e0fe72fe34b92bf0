/* SPDX-License-Identifier: MIT */
/*
 * rules.c - whether an event is recorded: triggers, then the filter, then rates.
 *
 * hodo_rules_select() binds programs to an event when a recording begins, or when an object
 * brings the event, once in each recording. What it makes lies in the pool, whose memory is used
 * anew when the next recording begins: then the end of the last one has waited for all
 * sections, and nobody reads it (hodo_recording_end()). In a fork child that does not hold: a
 * handler may have interrupted hodo_rules_pass() in the parent and forked, and will return into it
 * in the child. There the pool is begun anew, and the parent's left as it is.
 *
 *                | pass         | select, prepare       | publish             | start, stop
 *   pass         | beside       | before its event's on | beside              | beside
 *   select, …    |              | excluded (lock)       | before or excluded  | beside
 *   publish      |              |                       | beside              | beside
 *
 * Start triggers begin the recording of events from wherever they are met, in signal handlers too, and so
 * without the lock: they clear `awaits_start`, then publish every event, as the control side does when it
 * changes an event under the lock. Both first change what the words are made of (matched, disabled,
 * awaits_start, stopped), then store the word, then make it anew from what is there by then, until it is what they
 * stored (hodo_registry_publish()). So whoever stores a word last has made it of the last state: if he
 * had not, then somebody changed it after he looked, who stores his word after that.
 * All of it sequentially consistent; a store that passed its own load would break it.
 *
 * What else triggers do waits until the event that met them is stored (hodo_rules_act()), so that it is in the
 * snapshot, or the last one. Stop triggers set `stopped`, which wins over all.
 *
 * Rates: the time at which the next event is due (GCRA's theoretical arrival time), one word a condition and event.
 * An event that comes earlier than the burst allows is over the rate and leaves the word alone. Otherwise a
 * compare-and-swap moves it on: of two that saw the same, one tries anew, so that none is let in twice.
 */
#include <sys/mman.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include <core/condition.h>
#include <core/glob.h>
#include "sys.h"
#include "user.h"

/* As refuse.S has them. */
_Static_assert(offsetof(struct hodo_event, filter) == 0 && offsetof(struct hodo_state, event) == 8 &&
		       offsetof(struct hodo_filter, first) == 11 && offsetof(struct hodo_filter, test) == 408 &&
		       sizeof(struct hodo_filter_test) == 32 && offsetof(struct hodo_filter_test, field) == 4 &&
		       offsetof(struct hodo_filter_test, mask) == 8 && offsetof(struct hodo_filter_test, len) == 16 &&
		       offsetof(struct hodo_filter_test, span) == 24 &&
		       offsetof(struct hodo_filter_field, piece) == 1 && offsetof(struct hodo_filter_field, last) == 3,
	       "refuse.S");

/* ------------------------------------------------------------------ memory */

#define CHUNK_MIN (64u << 10)

/* A piece of the pool. Never unmapped. */
struct chunk {
	struct chunk *next;
	uint64_t size, used;
};
static struct chunk *chunks, *current;
static long pool_pid; /* whose it is */

static void pool_reset(void)
{
	long pid = hodo_sys0(SYS_getpid);

	if (pid != pool_pid)
		chunks = 0;
	pool_pid = pid;
	current = chunks;
	for (struct chunk *c = chunks; c; c = c->next)
		c->used = sizeof(*c);
}

static void *pool_take(uint64_t size)
{
	struct chunk *c, **link = current ? &current : &chunks;
	uint64_t room;

	size = (size + 15) & ~15ull;
	for (; *link; link = &(*link)->next) {
		if ((*link)->size - (*link)->used >= size)
			break;
	}
	c = *link;
	if (!c) {
		room = size + sizeof(*c) > CHUNK_MIN ? size + HODO_PAGE : CHUNK_MIN;
		c = hodo_map(room);
		if (!c)
			return 0;
		*c = (struct chunk){ 0, room, (sizeof(*c) + 15) & ~15ull };
		*link = c;
	}
	if (c->size - c->used < CHUNK_MIN / 64) /* what is nearly full is not looked at again */
		current = c->next ? c->next : c;
	c->used += size;
	return (uint8_t *)c + c->used - size;
}

static void *pool_copy(const void *from, uint64_t size)
{
	void *to = pool_take(size);

	if (to)
		__builtin_memcpy(to, from, size);
	return to;
}

/* -------------------------------------------------------------- conditions */

static struct hodo_condition_parts conditions[HODO_CONDITIONS_MAX];
static uint32_t nconditions;
static const uint8_t *filter_program; /* of the recording; NULL: none, or no memory */
static bool filter_lost, spans_on;
bool hodo_rules_filters;
static uint32_t generation; /* of recordings */

/* A condition that is for an event. */
struct hodo_bound {
	uint8_t condition;
	const struct hodo_filter *filter; /* NULL: always met */
	uint64_t due; /* RATE: ticks */
};
/* What is to be looked at when an event happens. */
struct hodo_rules_event {
	uint64_t span; /* the address of the name of the span that it begins or ends */
	bool begins, ends; /* with $duration asked for */
	uint32_t n;
	struct hodo_bound bound[];
};

/* A span's name, for its begins and ends. */
struct span_name {
	struct span_name *next;
	size_t len;
	char text[];
};
#define NAME_CHAINS 64u
static struct span_name *span_names[NAME_CHAINS]; /* of the recording, in the pool */

bool hodo_conditions_valid(const uint8_t *at, uint32_t n, uint32_t len)
{
	return hodo_conditions_parse(at, n, len, 0) == 0;
}

static bool asks_duration(const struct hodo_condition_parts *c)
{
	return c->head.filter_len && hodo_filter_names_var(c->filter, HODO_FILTER_DURATION);
}

void hodo_rules_prepare(void)
{
	const struct hodo_recording *r = &hodo_recording;
	const uint8_t *at = r->text + r->patterns_len;
	bool wants_spans;

	pool_reset();
	__builtin_memset(span_names, 0, sizeof(span_names));
	generation++;
	hodo_store_seq(&hodo_recording.stopped, false);
	filter_program = r->filter_len ? pool_copy(at, r->filter_len) : 0;
	filter_lost = r->filter_len && !filter_program;
	hodo_store(&hodo_rules_filters, filter_program != 0);
	wants_spans = filter_program && hodo_filter_names_var(filter_program, HODO_FILTER_DURATION);
	nconditions = 0;
	at = pool_copy(at + r->filter_len + r->functions_len, r->conditions_len);
	if (r->conditions && (!at || hodo_conditions_parse(at, r->conditions, r->conditions_len, conditions) != 0))
		filter_lost = true;
	else
		nconditions = r->conditions;
	for (uint32_t i = 0; i < nconditions; i++)
		wants_spans = wants_spans || asks_duration(&conditions[i]);
	spans_on = wants_spans && hodo_spans_prepare();
}

/* ----------------------------------------------------------------- binding */

struct event_labels {
	struct hodo_filter_labels labels; /* first */
	const struct hodo_event *event;
	const char *names[HODO_TRACE_FIELDS_MAX];
};

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	const struct event_labels *l = (const struct event_labels *)labels;

	return hodo_registry_label(l->event, l->names[field], name, len, value);
}

enum binding { NEVER, ALWAYS, BOUND };

/* Binds a program to the event. NEVER also where there is no memory. */
static enum binding bind_program(struct hodo_event *event, const uint8_t *code, uint32_t len,
				 const struct hodo_filter **filter)
{
	static struct hodo_filter f; /* under the control lock */
	struct event_labels labels = { { find_label }, event, { 0 } };
	const char *p = hodo_registry_name(event);

	*filter = 0;
	for (unsigned i = 0; i < event->nfields; i++) {
		p += __builtin_strlen(p) + 1;
		labels.names[i] = p;
	}
	if (hodo_filter_bind(&f, code, len, event->nfields, event->types, labels.names, &labels.labels) != 0 ||
	    hodo_filter_never(&f))
		return NEVER;
	if (hodo_filter_always(&f))
		return ALWAYS;
	*filter = pool_copy(&f, hodo_filter_size(&f));
	return *filter ? BOUND : NEVER;
}

static void bind_filter(struct hodo_event *event)
{
	const struct hodo_filter *filter;

	event->filtered = false;
	/* Never NULL, nor of an earlier recording: the word that says it is in use is in memory that others write. */
	event->filter = &hodo_filter_none;
	if (filter_lost)
		event->matched = false; /* better nothing than what the filter was to keep out */
	if (!filter_program || filter_lost)
		return;
	switch (bind_program(event, filter_program, hodo_recording.filter_len, &filter)) {
	case NEVER:
		/* Its sites stay off, unless hodo_enable() names it; then, too, none is recorded. */
		event->matched = false;
		break;
	case ALWAYS:
		return;
	case BOUND:
		event->filter = filter;
		break;
	}
	event->filtered = true;
}

/* Bytes of the event's name without .begin and .end. */
static size_t span_len(const struct hodo_event *event)
{
	size_t len = __builtin_strlen(hodo_registry_name(event));

	switch (event->kind) {
	case HODO_KIND_SPAN_BEGIN:
	case HODO_KIND_BEGIN:
		return len - 6;
	case HODO_KIND_SPAN_END:
	case HODO_KIND_END:
		return len - 4;
	}
	return 0;
}

/* Whether $duration is asked for at the end of the span that this event begins or ends. */
static bool span_timed(const struct hodo_event *event, size_t len)
{
	char name[2 * HODO_NAME_MAX + 16];

	if (!spans_on || len == 0 || len + 4 > sizeof(name))
		return false;
	__builtin_memcpy(name, hodo_registry_name(event), len);
	__builtin_memcpy(name + len, ".end", 4);
	if (filter_program && hodo_filter_names_var(filter_program, HODO_FILTER_DURATION))
		return true;
	for (uint32_t i = 0; i < nconditions; i++) {
		const char *pattern = conditions[i].pattern;

		if (asks_duration(&conditions[i]) &&
		    (hodo_glob(pattern, conditions[i].head.pattern_len - 1, name, len + 4) ||
		     hodo_glob(pattern, conditions[i].head.pattern_len - 1, name, len)))
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
	*link = pool_take(sizeof(**link) + len);
	if (!*link)
		return 0;
	(*link)->next = 0;
	(*link)->len = len;
	__builtin_memcpy((*link)->text, name, len);
	return *link;
}

static void bind_span(struct hodo_event *event, struct hodo_rules_event *rules)
{
	size_t len = span_len(event);
	bool timed = span_timed(event, len);

	rules->span = timed ? (uintptr_t)keep_name(hodo_registry_name(event), len) : 0;
	rules->begins = rules->span && (event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_BEGIN);
	rules->ends = rules->span && !rules->begins;
}

/* The conditions that are for the event, into rules, which has room for all. */
static void bind_conditions(struct hodo_event *event, struct hodo_rules_event *rules)
{
	rules->n = 0;
	for (uint32_t i = 0; i < nconditions; i++) {
		const struct hodo_condition_parts *c = &conditions[i];
		struct hodo_bound *b = &rules->bound[rules->n];

		*b = (struct hodo_bound){ .condition = (uint8_t)i };
		if (!hodo_registry_matches(c->pattern, event) ||
		    (c->head.filter_len && bind_program(event, c->filter, c->head.filter_len, &b->filter) == NEVER))
			continue;
		event->conditions |= 1ull << i;
		rules->n++;
	}
}

void hodo_rules_select(struct hodo_event *event)
{
	static struct {
		struct hodo_rules_event rules;
		struct hodo_bound bound[HODO_CONDITIONS_MAX];
	} all; /* under the control lock */

	/* An object came again, with an event that somebody may be inside of. */
	if (event->bound == generation) {
		if (event->filtered && event->filter == &hodo_filter_none)
			event->matched = false;
		return;
	}
	event->bound = generation;
	event->conditions = 0;
	event->timed = false;
	event->rules = 0;
	bind_filter(event);
	if (!nconditions && !spans_on)
		return;
	bind_span(event, &all.rules);
	bind_conditions(event, &all.rules);
	event->timed = all.rules.begins || all.rules.ends;
	if (!event->conditions && !event->timed)
		return;
	event->rules = pool_copy(&all, sizeof(all.rules) + all.rules.n * sizeof(all.bound[0]));
	if (!event->rules) {
		event->conditions = 0;
		event->timed = event->matched = false;
	}
}

/* --------------------------------------------------------------- variables */

uint32_t hodo_rules_tid(void)
{
	const struct hodo_tls *t = &hodo_tls;

	/* A vfork child has its parent's. */
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
 * The recording's memory. In the child of a handler that forks where it interrupts us, what this has returned stays
 * readable (recording.c), and the next time it is the child's, or NULL.
 */
static uint8_t *memory(void)
{
	if (hodo_process_forked())
		hodo_process_after_fork();
	return hodo_load(&hodo_recording.shm);
}

struct own_vars {
	struct hodo_filter_vars vars; /* first */
	int64_t begin_ns; /* INT64_MIN: not known */
};

static bool get_var(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	struct own_vars *own = (struct own_vars *)vars;
	const struct hodo_shm *shm;

	switch (var) {
	case HODO_FILTER_TID:
		*number = hodo_rules_tid();
		return true;
	case HODO_FILTER_PID:
		shm = (const struct hodo_shm *)memory();
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
		*number = hodo_spans_now_ns() - own->begin_ns;
		return true;
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

static void want_snapshot(const struct hodo_event *event)
{
	static const char word[] = "trigger ";
	char why[80];
	const char *name = hodo_registry_name(event);
	size_t n = sizeof(word) - 1;

	__builtin_memcpy(why, word, n);
	while (*name && n < sizeof(why) - 1)
		why[n++] = *name++;
	why[n] = 0;
	hodo_control_want_snapshot(why);
}

void hodo_rules_act(const struct hodo_event *event, uint32_t verdict)
{
	uint32_t wants = (verdict & HODO_VERDICT_STOP ? HODO_WANTS_STOP : 0) |
			 (verdict & HODO_VERDICT_EXIT ? HODO_WANTS_EXIT : 0);
	struct hodo_shm *shm = (struct hodo_shm *)memory();

	if (!shm)
		return;
	if (verdict & HODO_VERDICT_SNAPSHOT)
		want_snapshot(event);
	if (!wants)
		return;
	hodo_store_seq(&hodo_recording.stopped, true);
	publish_all();
	__atomic_fetch_or(&shm->wants, wants, __ATOMIC_SEQ_CST);
}

/* The n-th time that a trigger is met: what is to be done once the event is stored, as HODO_VERDICT_*. */
static uint32_t act(const struct hodo_condition *c, uint64_t n)
{
	switch (hodo_condition_acts(c, n)) {
	case HODO_CONDITION_SNAPSHOT:
		return HODO_VERDICT_SNAPSHOT;
	case HODO_CONDITION_START:
		start_met();
		return 0;
	case HODO_CONDITION_STOP:
		return HODO_VERDICT_STOP;
	case HODO_CONDITION_EXIT:
		return HODO_VERDICT_EXIT;
	}
	return 0;
}

static bool is_met(const struct hodo_bound *b, const struct hodo_piece *pieces, size_t count, struct own_vars *own)
{
	return !b->filter || hodo_filter_run(b->filter, pieces, count, &own->vars);
}

/* Looks at the event's triggers, in order. As act(). */
static uint32_t triggers(struct hodo_rules_event *rules, const struct hodo_piece *pieces, size_t count,
			 struct own_vars *own)
{
	uint32_t verdict = 0;
	uint8_t *shm;

	for (uint32_t i = 0; i < rules->n && !hodo_load(&hodo_recording.stopped); i++) {
		const struct hodo_bound *b = &rules->bound[i];
		const struct hodo_condition *c = &conditions[b->condition].head;

		if (c->kind == HODO_CONDITION_RATE)
			continue;
		/* Before the start there is nothing to stop, or to make a snapshot of. */
		if (c->kind != HODO_CONDITION_START && hodo_load_acquire(&hodo_recording.awaits_start))
			continue;
		if (is_met(b, pieces, count, own) && (shm = memory()))
			verdict |= act(c, hodo_add_seq((uint64_t *)(shm + HODO_SHM_MATCHED) + b->condition, 1) + 1);
	}
	return verdict;
}

/* ------------------------------------------------------------------- rates */

static uint64_t ticks_now(void)
{
#ifdef __x86_64__
	/* Without the fence of hodo_clock_now(): some ns more or less do not matter here. */
	if (hodo_recording.clock == HODO_CLOCK_TSC)
		return __rdtsc();
#endif
	return hodo_clock_now();
}

static bool rates(struct hodo_event *event, struct hodo_rules_event *rules, const struct hodo_piece *pieces,
		  size_t count, struct own_vars *own)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		struct hodo_bound *b = &rules->bound[i];
		const struct hodo_condition *c = &conditions[b->condition].head;
		uint8_t *shm;

		if (c->kind != HODO_CONDITION_RATE || !is_met(b, pieces, count, own) ||
		    hodo_condition_within_rate(c, &b->due, ticks_now()))
			continue;
		shm = memory();
		if (shm) {
			hodo_add((uint64_t *)(shm + HODO_SHM_LIMITED) + event->id, 1);
			hodo_add(&((struct hodo_shm *)shm)->limited, 1);
		}
		return false;
	}
	return true;
}

/* -------------------------------------------------------------------- pass */

static __attribute__((noinline)) uint32_t pass_rules(struct hodo_event *event, struct hodo_rules_event *rules,
						    const struct hodo_piece *pieces, size_t count)
{
	struct own_vars own = { .vars = { .get = get_var }, .begin_ns = INT64_MIN };
	uint32_t on, verdict;
	uint8_t *shm;

	if (rules->begins)
		hodo_spans_begin(event, rules->span, pieces, count);
	else if (rules->ends && !hodo_spans_end(event, rules->span, pieces, count, &own.begin_ns))
		own.begin_ns = INT64_MIN;
	verdict = triggers(rules, pieces, count, &own);
	shm = memory();
	if (!shm)
		return 0;
	on = hodo_load_acquire((uint32_t *)(shm + HODO_SHM_ON) + event->id); /* from a start trigger on */
	if ((on & HODO_ON_RECORD) &&
	    (!(on & HODO_ON_FILTER) || hodo_filter_run(event->filter, pieces, count, &own.vars)) &&
	    rates(event, rules, pieces, count, &own))
		verdict |= HODO_VERDICT_RECORD;
	return verdict;
}

uint32_t hodo_rules_pass(struct hodo_event *event, uint32_t on, const struct hodo_piece *pieces, size_t count)
{
	struct own_vars own;

	if ((on & HODO_ON_RULES) && event->rules)
		return pass_rules(event, event->rules, pieces, count);
	if (!(on & HODO_ON_FILTER))
		return HODO_VERDICT_RECORD;
	own.vars.get = get_var;
	own.begin_ns = INT64_MIN;
	return hodo_filter_run(event->filter, pieces, count, &own.vars) ? HODO_VERDICT_RECORD : 0;
}
