/* SPDX-License-Identifier: MIT */
/* timeline.c - each event's role in the timeline: see timeline.h. */
#include "timeline_impl.h"
#include <read/event/fields.h>

#include <stdlib.h>

#define CPUS_MAX 65536

/* ------------------------------------------------------------------- events */

static void ran(void *data, const struct hodo_sched_ran *ran)
{
	struct hodo_timeline *s = data;
	bool shown = ran->tid != 0 && ran->cpu >= 0 && ran->cpu < CPUS_MAX && !s->error;
	struct hodo_track *track = shown ? timeline_cpu(s, ran->kernel, ran->cpu) : NULL;
	struct timeline_node *node = track ? timeline_node(s) : NULL;

	if (!node)
		return;
	node->slice.track = track;
	node->slice.kind = HODO_SLICE_RUNNING;
	node->slice.name = ran->comm;
	node->slice.begin_ns = ran->begin_ns;
	node->slice.end_ns = ran->end_ns;
	node->slice.id = ran->tid;
	node->slice.pid = ran->pid;
	node->slice.sched_why = ran->why;
	node->slice.sched_off = ran->off;
	timeline_begin(s, node, NULL);
	timeline_end(s, node, NULL);
}

static void counter(struct hodo_timeline *s)
{
	const struct hodo_read_event *e = s->event;
	bool wanted = s->ops.track || s->ops.counter;
	const struct hodo_track *track = wanted ? timeline_track(s, HODO_TRACK_COUNTER, e->process, e->cls->base)
						: NULL;

	s->totals.values++;
	if (!s->error && s->ops.counter)
		timeline_fail(s, s->ops.counter(s->data, track, e, hodo_value_number(&e->values[0])));
}

static void take(struct hodo_timeline *s, const struct hodo_read_event *e)
{
	struct timeline_process *p = timeline_process(s, e->process);
	struct timeline_thread *t = p ? timeline_thread(s, p, e->pid, e->tid, e->comm) : NULL;

	if (!t || s->error)
		return;
	switch (e->cls->role) {
	case HODO_READ_ROLE_SPAN_BEGIN:
	case HODO_READ_ROLE_SYSCALL_BEGIN:
	case HODO_READ_ROLE_BEGIN:
		timeline_span_begin(s, t);
		break;
	case HODO_READ_ROLE_SPAN_END:
	case HODO_READ_ROLE_SYSCALL_END:
	case HODO_READ_ROLE_END:
		timeline_span_end(s, t);
		break;
	case HODO_READ_ROLE_COUNTER:
		counter(s);
		break;
	case HODO_READ_ROLE_CALL_ENTRY:
	case HODO_READ_ROLE_CALL_EXIT:
	case HODO_READ_ROLE_CALL:
		timeline_fail(s, hodo_read_calls_event(s->calls, e));
		break;
	default:
		timeline_instant(s, t, false);
	}
	if (p->pub->kernel && !s->ops.no_cpus && !s->error)
		timeline_fail(s, hodo_runs_event(s->runs, e));
}

static void close_thread(struct hodo_timeline *s, struct timeline_thread *t)
{
	while (t->nstack > 0 && !s->error)
		timeline_pop(s, t, t->stack[t->nstack - 1], s->now_ns, HODO_SLICE_OPEN, NULL);
}

static void close_all(struct hodo_timeline *s)
{
	s->event = NULL;
	timeline_fail(s, hodo_read_calls_end(s->calls, s->now_ns));
	hodo_runs_end(s->runs, s->now_ns);
	for (uint32_t i = 0; i < s->threads.n && !s->error; i++)
		close_thread(s, hodo_map_kept_at(&s->threads, i));
	hodo_read_pairs_end(s->reader, s->now_ns); /* id-paired ones, as OPEN */
}

static int found_loss(void *data, const struct hodo_read_loss *loss)
{
	struct hodo_timeline *s = data;

	if (s->until_ns != 0 && (loss->until_ns < s->since_ns || loss->from_ns >= s->until_ns))
		return 0;
	return s->ops.loss(s->data, loss);
}

int hodo_timeline_start(struct hodo_timeline *s, int64_t since_ns, int64_t until_ns)
{
	int n;

	s->since_ns = since_ns;
	s->until_ns = until_ns;
	n = s->ops.loss ? hodo_read_losses(s->reader, found_loss, s) : 0;
	for (uint32_t i = 0; n == 0 && i < hodo_read_nprocesses(s->reader); i++)
		timeline_add_process(s, hodo_read_process(s->reader, i));
	return n ? n : s->error;
}

int hodo_timeline_more(struct hodo_timeline *s)
{
	const struct hodo_read_event *e;
	int n = s->error ? s->error : hodo_read_next(s->reader, &e);

	if (n <= 0)
		return n;
	s->event = e;
	s->now_ns = e->ts_ns;
	if (s->totals.events++ == 0)
		s->totals.begin_ns = e->ts_ns;
	s->totals.end_ns = e->ts_ns;
	if (s->ops.event)
		timeline_fail(s, s->ops.event(s->data, e));
	if (!s->error)
		take(s, e);
	return s->error ? s->error : 1;
}

int hodo_timeline_next(struct hodo_timeline *s)
{
	int n = hodo_timeline_more(s);

	if (n == 0) {
		close_all(s);
		return s->error;
	}
	return n;
}

int hodo_timeline_read(struct hodo_timeline *s, int64_t since_ns, int64_t until_ns)
{
	int n = hodo_timeline_start(s, since_ns, until_ns);

	if (n != 0)
		return n;
	do {
		n = hodo_timeline_next(s);
	} while (n > 0 && !s->error);
	return s->error ? s->error : n;
}

void hodo_timeline_totals(const struct hodo_timeline *s, struct hodo_timeline_totals *totals)
{
	*totals = s->totals;
}

/* ------------------------------------------------------------------- begin and end */

struct hodo_timeline *hodo_timeline_new(struct hodo_read *reader, struct hodo_places places,
					const struct hodo_timeline_ops *ops, void *data)
{
	const struct hodo_runs_ops runs_ops = { .ran = ran };
	struct hodo_timeline *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct hodo_timeline){
		.reader = reader,
		.places = places,
		.ops = *ops,
		.data = data,
		.processes = HODO_MAP_KEPT(uint64_t),
		.threads = HODO_MAP_KEPT(struct timeline_thread_key),
		.tracks = HODO_MAP_KEPT(uint64_t),
	};
	s->runs = hodo_runs_new(&runs_ops, s);
	if (!s->runs || timeline_calls_open(s) < 0 || hodo_read_pairs(reader, timeline_give_up, s) < 0) {
		hodo_timeline_free(s);
		return NULL;
	}
	return s;
}

void hodo_timeline_free(struct hodo_timeline *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->threads.n; i++)
		free(((struct timeline_thread *)hodo_map_kept_at(&s->threads, i))->stack);
	hodo_map_free(&s->threads);
	hodo_map_free(&s->processes);
	hodo_map_free(&s->tracks);
	hodo_read_pairs(s->reader, NULL, s);
	hodo_arena_free(&s->memory);
	hodo_read_calls_free(s->calls);
	hodo_runs_free(s->runs);
	free(s);
}
