/* SPDX-License-Identifier: MIT */
#include "top_calls.h"
#include "top_spans.h"

#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <read/time/live.h>
#include <read/event/pairs.h>

#include <cli/say.h>

#define BEGUN_MAX (1u << 17)  /* of a model: then the oldest of the process that adds one is given up */
#define STRAINED (4ull * HODO_TOP_QUEUED_MAX) /* from so many on, no ring is waited for */
#define LONG_KEY_MAX 256u /* bytes */
#define OF_FUNCTIONS (HODO_TOP_NONE - 1) /* instead of a row: each function has its own */

struct item {
	uint64_t ticks;
	/* The key; if it is longer, its copy and its length; a counter's value, in its type; a loss's end. */
	uint64_t word[2];
	uint32_t id; /* 0: events were lost */
	uint32_t row;
	bool is_long;
};

struct queue {
	struct item *item;
	uint32_t first, n, room;
	uint64_t last; /* time of the last event of any kind */
	uint64_t certain; /* what began here earlier may be over: ends may belong to it or to lost start events */
	bool lags;
	bool dry; /* there are no further events to queue, or they are not asked for */
};

struct hodo_top_spans {
	struct hodo_top_model *model;
	struct hodo_live *live;
	struct hodo_pairs *pairs;
	struct hodo_top_calls *calls; /* NULL: no function so far */
	uint8_t *wanted; /* by id */
	uint32_t *row;   /* by id: of the spans or the counters */
	uint32_t ids;
	struct queue *queue; /* by ring */
	uint32_t rings;
	uint8_t *copy; /* of an event */
	size_t copy_room;
	struct hodo_text key;
	enum hodo_clock clock;
	struct hodo_clock_sample first;
	double tick_ns;
	uint64_t certain; /* of any ring */
};

/* ---------------------------------------------------------------------- begin, end */

struct hodo_top_spans *hodo_top_spans_new(struct hodo_top_model *m, const struct hodo_process *p)
{
	const struct hodo_flight *f = &p->id.flight;
	struct hodo_top_spans *s = hodo_must(calloc(1, sizeof(*s)));

	s->model = m;
	s->live = hodo_must(hodo_live_new(p->kernel));
	s->pairs = hodo_must(hodo_pairs_new());
	s->rings = p->layout.rings;
	s->queue = hodo_must(calloc(s->rings, sizeof(*s->queue)));
	s->clock = f->clock == HODO_CLOCK_TSC ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	s->first = (struct hodo_clock_sample){ f->first.ticks, f->first.mono_ns, f->first.real_ns };
	return s;
}

static void drop_item(struct hodo_top_spans *s, struct item *i)
{
	if (i->is_long)
		free((void *)(uintptr_t)i->word[0]);
	s->model->queued--;
}

/* What is kept of a start event: its row, and in the upper bits its ring. */
static struct hodo_top_row *row_of(const struct hodo_top_spans *s, const struct hodo_pair *pair)
{
	return &s->model->table[HODO_TOP_SPANS].row[pair->user & UINT32_MAX];
}

static uint32_t ring_of(const struct hodo_pair *pair)
{
	return (uint32_t)(pair->user >> 32);
}

static void give_up(struct hodo_top_spans *s, const struct hodo_pair *pair)
{
	row_of(s, pair)->times->open--;
	s->model->begun--;
}

void hodo_top_spans_free(struct hodo_top_spans *s)
{
	struct hodo_pair pair;

	if (!s)
		return;
	for (uint32_t r = 0; r < s->rings; r++) {
		for (uint32_t i = s->queue[r].first; i < s->queue[r].n; i++)
			drop_item(s, &s->queue[r].item[i]);
		free(s->queue[r].item);
	}
	while (hodo_pairs_oldest(s->pairs, &pair))
		give_up(s, &pair);
	hodo_pairs_free(s->pairs);
	hodo_top_calls_free(s->calls);
	hodo_live_free(s->live);
	hodo_text_free(&s->key);
	free(s->queue);
	free(s->copy);
	free(s->wanted);
	free(s->row);
	free(s);
}

/* ------------------------------------------------------------------------- classes */

static void make_room(struct hodo_top_spans *s, uint32_t ids)
{
	uint32_t room = s->ids ? s->ids : 64;

	if (ids <= s->ids)
		return;
	while (room < ids)
		room *= 2;
	s->wanted = hodo_must(realloc(s->wanted, room * sizeof(*s->wanted)));
	s->row = hodo_must(realloc(s->row, room * sizeof(*s->row)));
	memset(s->wanted + s->ids, 0, (room - s->ids) * sizeof(*s->wanted));
	s->ids = room;
}

static bool is_number(const struct hodo_read_class *c)
{
	return c->nfields && c->fields[0].type <= HODO_TYPE_PTR;
}

void hodo_top_spans_see(struct hodo_top_spans *s, const struct hodo_catalog_event *e)
{
	const struct hodo_live_class class = { .id = e->id, .kind = e->kind, .nfields = e->nfields, .name = e->name,
					       .types = e->type, .fields = e->field };
	const struct hodo_read_class *c;
	uint32_t row;

	if (hodo_live_add(s->live, &class) == -ENOMEM)
		exit(hodo_no_memory());
	c = hodo_live_class(s->live, e->id);
	if (!c)
		return;
	if (e->kind == HODO_KIND_FUNCTION)
		row = OF_FUNCTIONS;
	else if (c->role != HODO_READ_ROLE_COUNTER)
		row = hodo_top_span(s->model, c->base);
	else
		row = is_number(c) ? hodo_top_counter(s->model, c->base) : HODO_TOP_NONE;
	if (row == HODO_TOP_NONE)
		return;
	make_room(s, e->id + 1u);
	s->wanted[e->id] = 1;
	s->row[e->id] = row;
}

/* -------------------------------------------------------------------------- queues */

/* Queues an item until its time. */
static struct item *add_item(struct hodo_top_spans *s, struct queue *q, uint32_t id, uint64_t ticks)
{
	if (hodo_vec_reserve(q->item, q->room, q->n + 1ull) < 0)
		exit(hodo_no_memory());
	q->item[q->n] = (struct item){ .ticks = ticks, .id = id, .row = id ? s->row[id] : HODO_TOP_NONE };
	s->model->queued++;
	return &q->item[q->n++];
}

static void set_key(struct hodo_top_spans *s, struct item *i)
{
	if (s->key.len == sizeof(i->word)) {
		memcpy(i->word, s->key.data, sizeof(i->word));
		return;
	}
	i->word[0] = (uintptr_t)memcpy(hodo_must(malloc(s->key.len + 1)), s->key.data, s->key.len);
	i->word[1] = s->key.len;
	i->is_long = true;
}

struct visit {
	struct hodo_top_spans *spans;
	const struct hodo_process *process;
	struct queue *queue;
};

/* A call or a return, in either form. */
static void add_call(const struct visit *v, const struct hodo_walk_event *e, const struct hodo_read_event *event,
		     uint64_t function)
{
	struct hodo_top_spans *s = v->spans;
	struct item *item;
	uint32_t row;

	if (!s->calls)
		s->calls = hodo_top_calls_new(s->model, s->live);
	row = hodo_top_calls_row(s->calls, v->process, function, e->call);
	if (row == HODO_TOP_NONE || !hodo_pair_key(&s->key, event))
		return;
	item = add_item(s, v->queue, e->id, e->time);
	set_key(s, item);
	item->row = row;
}

static void visit_event(void *arg, const struct hodo_walk_event *e)
{
	const struct visit *v = arg;
	struct hodo_top_spans *s = v->spans;
	struct hodo_read_value values[HODO_FIELDS_MAX];
	const struct hodo_read_class *c = hodo_live_class(s->live, e->id);
	struct hodo_read_event event = { .tid = e->tid, .cls = c, .values = values };

	if (e->call) {
		values[1] = (struct hodo_read_value){ .type = HODO_TYPE_U32, .u = HODO_FRAME32(e->frame) };
		add_call(v, e, &event, e->function);
		return;
	}
	/* Shared memory may change while it is read; the copy does not. */
	if (hodo_vec_reserve(s->copy, s->copy_room, e->bytes) < 0)
		exit(hodo_no_memory());
	hodo_shm_copy(s->copy, e->at, e->bytes);
	if (!hodo_walk_holds(&v->process->catalog.walk, e, s->copy))
		return;
	hodo_live_values(c, s->copy + HODO_EVENT_HEADER, values);
	if (c->role == HODO_READ_ROLE_COUNTER) {
		add_item(s, v->queue, e->id, e->time)->word[0] = values[0].u;
		return;
	}
	if (s->row[e->id] == OF_FUNCTIONS) {
		add_call(v, e, &event, values[0].u);
		return;
	}
	if (!hodo_pair_key(&s->key, &event) || s->key.error)
		return;
	if (s->key.len > LONG_KEY_MAX)
		s->model->given_up++;
	else
		set_key(s, add_item(s, v->queue, e->id, e->time));
}

void hodo_top_spans_queue(struct hodo_top_spans *s, const struct hodo_process *p, uint32_t ring, const uint8_t *body,
			  uint32_t len, const struct hodo_cursor *cursor)
{
	struct visit v = { s, p, &s->queue[ring] };
	const struct hodo_walk_visitor visitor = { s->wanted, s->ids, visit_event, &v };

	if (s->ids && len)
		s->queue[ring].last = hodo_walk_visit(&p->catalog.walk, body, len, *cursor, &visitor);
}

void hodo_top_spans_lose(struct hodo_top_spans *s, uint32_t ring, uint64_t until)
{
	struct queue *q = &s->queue[ring];

	if (s->ids)
		add_item(s, q, 0, q->last)->word[0] = until;
}

void hodo_top_spans_lag(struct hodo_top_spans *s, uint32_t ring, bool lags)
{
	s->queue[ring].lags = lags;
}

uint64_t hodo_top_spans_now(const struct hodo_top_spans *s)
{
	return hodo_clock_ticks(s->clock);
}

/* ------------------------------------------------------------------- in their order */

static void begin(struct hodo_top_spans *s, const struct hodo_text *key, const struct hodo_pair *pair)
{
	struct hodo_top_model *m = s->model;
	struct hodo_pair other;
	int paired;

	while (m->begun >= BEGUN_MAX && hodo_pairs_oldest(s->pairs, &other)) {
		give_up(s, &other);
		m->given_up++;
	}
	paired = hodo_pairs_begin(s->pairs, key, pair, NULL, &other);
	if (paired < 0)
		exit(hodo_no_memory());
	row_of(s, pair)->times->open++;
	m->begun++;
	if (paired != HODO_PAIR_NONE)
		give_up(s, &other);
	m->given_up += paired == HODO_PAIR_GIVEN_UP;
}

/* Whether nothing was lost since it began; if it ends on the same CPU, only on that one. */
static bool is_certain(const struct hodo_top_spans *s, const struct hodo_pair *pair, uint32_t ring)
{
	return (uint64_t)pair->begin_ns >= (ring_of(pair) == ring ? s->queue[ring].certain : s->certain);
}

static void end(struct hodo_top_spans *s, const struct hodo_text *key, const char *base, uint64_t ticks,
		uint32_t ring)
{
	struct hodo_pair pair;
	int paired = hodo_pairs_end(s->pairs, key, base, &pair);

	if (paired != HODO_PAIR_FOUND && paired != HODO_PAIR_LEFT)
		return;
	give_up(s, &pair);
	if (paired != HODO_PAIR_FOUND)
		return;
	if (!is_certain(s, &pair, ring))
		s->model->given_up++;
	else if (ticks >= (uint64_t)pair.begin_ns)
		hodo_top_took(row_of(s, &pair),
			      (uint64_t)((double)(ticks - (uint64_t)pair.begin_ns) * s->tick_ns + 0.5));
}

/* As the reader represents values of the type. */
static enum hodo_cell_type kind_of_number(uint32_t type)
{
	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_I16:
	case HODO_TYPE_I32:
	case HODO_TYPE_I64:
	case HODO_TYPE_CHAR:
		return HODO_CELL_I64;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		return HODO_CELL_F64;
	default:
		return HODO_CELL_U64;
	}
}

static void set_counter(struct hodo_top_spans *s, const struct hodo_read_class *c, const struct item *i)
{
	const struct hodo_cell value = { .type = kind_of_number(c->fields[0].type), .u = i->word[0] };

	hodo_top_set(&s->model->table[HODO_TOP_COUNTERS].row[i->row], &value);
}

static void take_event(struct hodo_top_spans *s, struct item *i, uint32_t ring)
{
	uintptr_t user = i->row | (uintptr_t)ring << 32;
	const struct hodo_read_class *c = hodo_live_class(s->live, i->id);
	const struct hodo_text key = { .data = i->is_long ? (char *)(uintptr_t)i->word[0] : (char *)i->word,
				       .len = i->is_long ? i->word[1] : sizeof(i->word) };
	bool system_call = c->role == HODO_READ_ROLE_SYSCALL_BEGIN || c->role == HODO_READ_ROLE_SYSCALL_END;
	const char *base = system_call ? c->base : NULL;

	if (c->role == HODO_READ_ROLE_COUNTER)
		set_counter(s, c, i);
	else if (hodo_role_begins(c->role))
		begin(s, &key, &(struct hodo_pair){ (int64_t)i->ticks, base, user });
	else
		end(s, &key, base, i->ticks, ring);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void take_item(struct hodo_top_spans *s, struct queue *q)
{
	struct item *i = &q->item[q->first++];

	if (i->id) {
		take_event(s, i, (uint32_t)(q - s->queue));
	} else {
		q->certain = later(q->certain, i->word[0]);
		s->certain = later(s->certain, i->word[0]);
	}
	drop_item(s, i);
}

/* Whether a queue has items, after more() was asked for some. */
static bool has_items(struct hodo_top_spans *s, uint32_t ring, bool (*more)(void *arg, uint32_t ring), void *arg)
{
	struct queue *q = &s->queue[ring];

	while (q->first == q->n && !q->dry) {
		q->first = q->n = 0;
		q->dry = !more(arg, ring);
	}
	return q->first < q->n;
}

/* Of the queues that have items, the one with the oldest; *next: the oldest of the others, which need not be waited
 * for. */
static struct queue *oldest(struct hodo_top_spans *s, uint64_t *next)
{
	struct queue *found = NULL;

	*next = UINT64_MAX;
	for (uint32_t r = 0; r < s->rings; r++) {
		struct queue *q = &s->queue[r];

		if (q->first == q->n)
			continue;
		if (!found || q->item[q->first].ticks < found->item[found->first].ticks) {
			if (found)
				*next = found->item[found->first].ticks;
			found = q;
		} else if (q->item[q->first].ticks < *next) {
			*next = q->item[q->first].ticks;
		}
	}
	return found;
}

/* Moves the rest to the beginning. */
static void tidy(struct queue *q)
{
	if (q->first)
		memmove(q->item, q->item + q->first, (q->n - q->first) * sizeof(*q->item));
	q->n -= q->first;
	q->first = 0;
}

static double tick_ns(const struct hodo_top_spans *s)
{
	struct hodo_clock_sample now;
	struct hodo_read_clock map;

	if (s->clock == HODO_CLOCK_MONOTONIC)
		return 1;
	hodo_clock_sample(s->clock, &now);
	hodo_clock_fit(s->clock, &s->first, &now, &map);
	return 1e9 / (double)map.freq_hz;
}

/* Asks for more where a queue is empty. Whether the oldest item of all may be taken: false if a ring lags. */
static bool know_all(struct hodo_top_spans *s, bool wait, bool (*more)(void *arg, uint32_t ring), void *arg)
{
	for (uint32_t r = 0; r < s->rings; r++)
		if (!has_items(s, r, more, arg) && s->queue[r].lags && wait)
			return false;
	return true;
}

void hodo_top_spans_take(struct hodo_top_spans *s, uint64_t until, bool (*more)(void *arg, uint32_t ring), void *arg)
{
	bool wait = until != UINT64_MAX && s->model->queued < STRAINED;
	uint64_t next;
	struct queue *q;

	s->tick_ns = tick_ns(s);
	for (uint32_t r = 0; r < s->rings; r++)
		s->queue[r].dry = !more;
	while (know_all(s, wait, more, arg) && (q = oldest(s, &next)) && q->item[q->first].ticks < until)
		do
			take_item(s, q);
		while (q->first < q->n && q->item[q->first].ticks <= next && q->item[q->first].ticks < until);
	for (uint32_t r = 0; r < s->rings; r++)
		tidy(&s->queue[r]);
}
