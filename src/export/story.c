/* SPDX-License-Identifier: MIT */
/* story.c - what each event is in the story: see story.h. */
#define _GNU_SOURCE
#include "story_impl.h"
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct story_name {
	struct story_name *next;
	char text[];
};

void story_fail(struct hodo_story *s, int error)
{
	if (!s->error)
		s->error = error;
}

const char *story_name(struct hodo_story *s, const char *text, size_t len)
{
	struct story_name *name = malloc(sizeof(*name) + len + 1);

	if (!name) {
		story_fail(s, -ENOMEM);
		return NULL;
	}
	memcpy(name->text, text, len);
	name->text[len] = 0;
	name->next = s->names;
	s->names = name;
	return name->text;
}

void story_track(struct hodo_story *s, struct hodo_track *track)
{
	track->id = s->ntracks++;
	if (!s->error && s->ops.track)
		story_fail(s, s->ops.track(s->data, track));
}

/* ------------------------------------------------------------------- processes and their classes */

static bool cut(const char *name, const char *end, size_t *len)
{
	size_t n = strlen(name), m = strlen(end);

	if (n <= m || strcmp(name + n - m, end) != 0)
		return false;
	*len = n - m;
	return true;
}

static const char *const calls[] = { "func:entry", "func:exit", "func:entry_sp", "func:exit_sp", "func:reached",
				     "func:call", "func:callee" };

static enum story_role role_of(const struct hodo_read_process *p, const struct hodo_read_class *cls)
{
	switch (cls->kind) {
	case HODO_KIND_SPAN_BEGIN:
		return ROLE_SPAN_BEGIN;
	case HODO_KIND_SPAN_END:
		return ROLE_SPAN_END;
	case HODO_KIND_BEGIN:
		return ROLE_ASYNC_BEGIN;
	case HODO_KIND_END:
		return ROLE_ASYNC_END;
	case HODO_KIND_COUNTER:
		return cls->nfields > 0 ? ROLE_COUNTER : ROLE_INSTANT;
	case HODO_KIND_FUNCTION:
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (strcmp(cls->name, calls[i]) == 0)
				return ROLE_CALL;
		return ROLE_INSTANT;
	}
	if (p->kernel && strncmp(cls->name, "syscalls:sys_enter_", 19) == 0)
		return ROLE_SYSCALL_BEGIN;
	if (p->kernel && strncmp(cls->name, "syscalls:sys_exit_", 18) == 0)
		return ROLE_SYSCALL_END;
	return ROLE_INSTANT;
}

static const char *name_of(struct hodo_story *s, const struct hodo_read_class *cls, enum story_role role)
{
	size_t len = strlen(cls->name);
	char text[256];

	if (role == ROLE_SYSCALL_BEGIN || role == ROLE_SYSCALL_END) {
		snprintf(text, sizeof(text), "syscalls:%s", cls->name + (role == ROLE_SYSCALL_BEGIN ? 19 : 18));
		return story_name(s, text, strlen(text));
	}
	if (role == ROLE_SPAN_BEGIN || role == ROLE_ASYNC_BEGIN)
		cut(cls->name, ".begin", &len);
	else if (role == ROLE_SPAN_END || role == ROLE_ASYNC_END)
		cut(cls->name, ".end", &len);
	else
		return cls->name;
	return story_name(s, cls->name, len);
}

/* Classes of one sort and name belong together. */
static int sort_of(enum story_role role)
{
	switch (role) {
	case ROLE_SPAN_BEGIN:
	case ROLE_SPAN_END:
	case ROLE_SYSCALL_BEGIN:
	case ROLE_SYSCALL_END:
		return 1;
	case ROLE_ASYNC_BEGIN:
	case ROLE_ASYNC_END:
		return 2;
	case ROLE_COUNTER:
		return 3;
	case ROLE_CALL:
	case ROLE_INSTANT:
		break;
	}
	return 0;
}

/* By sort, name, and then as they stand. */
static int by_name(const void *a, const void *b)
{
	const struct story_class *x = *(struct story_class *const *)a, *y = *(struct story_class *const *)b;
	int sort = sort_of(x->role) - sort_of(y->role), name = sort ? 0 : strcmp(x->name, y->name);

	return sort ? sort : name ? name : (x > y) - (x < y);
}

static bool find_bases(struct story_process *p)
{
	uint32_t n = p->pub->nclasses;
	struct story_class **sorted = calloc((size_t)n + 1, sizeof(*sorted));

	if (!sorted)
		return false;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &p->classes[i];
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (uint32_t i = 0; i < n; i++) {
		struct story_class *c = sorted[i], *before = i > 0 ? sorted[i - 1] : NULL;
		int sort = sort_of(c->role);

		c->base = before && sort && sort == sort_of(before->role) && strcmp(c->name, before->name) == 0
				? before->base : c;
	}
	free(sorted);
	return true;
}

static bool fill_classes(struct hodo_story *s, struct story_process *p)
{
	const struct hodo_read_process *pub = p->pub;

	p->nindex = pub->nclasses ? pub->classes[pub->nclasses - 1]->id + 1 : 0;
	p->classes = calloc(pub->nclasses + 1, sizeof(*p->classes));
	p->index = calloc((size_t)p->nindex + 1, sizeof(*p->index));
	if (!p->classes || !p->index)
		return false;
	for (uint32_t i = 0; i < pub->nclasses; i++) {
		struct story_class *c = &p->classes[i];

		c->role = role_of(pub, pub->classes[i]);
		c->name = name_of(s, pub->classes[i], c->role);
		if (!c->name)
			return false;
		p->index[pub->classes[i]->id] = i + 1;
	}
	return find_bases(p);
}

struct story_process *story_process(struct hodo_story *s, const struct hodo_read_process *pub)
{
	struct hodo_read_lost lost;
	struct story_process *p;
	void **at;

	if (s->last && s->last->pub == pub)
		return s->last;
	at = hodo_pointer_map_at(&s->by_pub, pub);
	if (!at) {
		story_fail(s, -ENOMEM);
		return NULL;
	}
	p = *at;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p) {
			story_fail(s, -ENOMEM);
			return NULL;
		}
		p->pub = pub;
		p->number = s->nprocesses++;
		*at = p;
		p->next = s->processes;
		s->processes = p;
		lost = hodo_read_lost(s->reader, pub);
		p->lossy = lost.full || lost.too_large || lost.busy || lost.overwritten || lost.unwritten ||
			   lost.unknown;
		if (!fill_classes(s, p)) {
			story_fail(s, -ENOMEM);
			return NULL;
		}
	}
	s->last = p;
	return p;
}

struct story_class *story_class(struct story_process *p, const struct hodo_read_class *cls)
{
	return &p->classes[p->index[cls->id] - 1];
}

/* ------------------------------------------------------------------- CPUs */

#define CPUS_MAX 65536

static struct hodo_track *cpu_track(struct hodo_story *s, int32_t cpu)
{
	struct hodo_track *track;
	char name[32];

	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	if ((uint32_t)cpu >= s->ncpus) {
		struct hodo_track **more = realloc(s->cpus, ((size_t)cpu + 1) * sizeof(*more));

		if (!more) {
			story_fail(s, -ENOMEM);
			return NULL;
		}
		memset(more + s->ncpus, 0, ((size_t)cpu + 1 - s->ncpus) * sizeof(*more));
		s->cpus = more;
		s->ncpus = (uint32_t)cpu + 1;
	}
	if (s->cpus[cpu])
		return s->cpus[cpu];
	snprintf(name, sizeof(name), "CPU %d", (int)cpu);
	track = calloc(1, sizeof(*track));
	if (!track || !(track->name = story_name(s, name, strlen(name)))) {
		free(track);
		story_fail(s, -ENOMEM);
		return NULL;
	}
	track->kind = HODO_TRACK_CPU;
	track->cpu = cpu;
	s->cpus[cpu] = track;
	story_track(s, track);
	return track;
}

static void ran(void *data, const struct hodo_sched_ran *ran)
{
	struct hodo_story *s = data;
	struct hodo_track *track = ran->tid != 0 && !s->error ? cpu_track(s, ran->cpu) : NULL;
	struct story_node *node = track ? story_node(s) : NULL;

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
	story_begin(s, node, NULL);
	story_end(s, node, NULL);
}

/* ------------------------------------------------------------------- events */

void story_instant(struct hodo_story *s, struct story_thread *t, bool unpaired)
{
	s->totals.unpaired += unpaired;
	s->totals.instants++;
	if (s->ops.instant)
		story_fail(s, s->ops.instant(s->data, &t->track, s->event, t->nstack));
}

/* The number of a span's name. */
static uint64_t name_key(const struct story_process *p, const struct story_class *c)
{
	return (uint64_t)(c->base - p->classes);
}

static void span_begin(struct hodo_story *s, struct story_thread *t, struct story_class *c)
{
	struct story_node *top = t->nstack ? t->stack[t->nstack - 1] : NULL, *node;

	/* A thread is in one system call at most: the end of that one is not there (exec, a lost event). */
	if (c->role == ROLE_SYSCALL_BEGIN && top && top->slice.cls &&
	    story_class(t->process, top->slice.cls)->role == ROLE_SYSCALL_BEGIN)
		story_pop(s, t, top, s->now_ns, HODO_SLICE_LEFT, NULL);
	node = story_push(s, t, HODO_SLICE_SPAN, c->name, s->now_ns);
	if (!node) {
		if (!s->error)
			story_instant(s, t, false);
		return;
	}
	node->slice.cls = s->event->cls;
	story_open_put(s, node, name_key(t->process, c));
	t->told_ns = s->now_ns;
	story_begin(s, node, s->event);
}

static void span_end(struct hodo_story *s, struct story_thread *t, struct story_class *c)
{
	struct story_node *node = story_open_find(s, &t->track, name_key(t->process, c));

	if (!node) {
		story_instant(s, t, true);
		return;
	}
	t->told_ns = s->now_ns;
	story_pop(s, t, node, s->now_ns, 0, s->event);
}

static void counter(struct hodo_story *s, struct story_process *p, struct story_class *c)
{
	struct hodo_track *track = c->base->track;

	if (!track) {
		track = calloc(1, sizeof(*track));
		if (!track) {
			story_fail(s, -ENOMEM);
			return;
		}
		track->kind = HODO_TRACK_COUNTER;
		track->process = p->pub;
		track->pid = p->pub->pid;
		track->name = c->name;
		c->base->track = track;
		story_track(s, track);
	}
	s->totals.values++;
	if (!s->error && s->ops.counter)
		story_fail(s, s->ops.counter(s->data, track, s->event, hodo_value_number(&s->event->values[0])));
}

static void tell(struct hodo_story *s, const struct hodo_read_event *e)
{
	struct story_process *p = story_process(s, e->process);
	struct story_thread *t = p ? story_thread(s, p, e->pid, e->tid, e->comm) : NULL;
	struct story_class *c = t ? story_class(p, e->cls) : NULL;

	if (!c || s->error)
		return;
	switch (c->role) {
	case ROLE_SPAN_BEGIN:
	case ROLE_SYSCALL_BEGIN:
		span_begin(s, t, c);
		break;
	case ROLE_SPAN_END:
	case ROLE_SYSCALL_END:
		span_end(s, t, c);
		break;
	case ROLE_ASYNC_BEGIN:
		story_async_begin(s, p, c);
		break;
	case ROLE_ASYNC_END:
		story_async_end(s, p, c, t);
		break;
	case ROLE_COUNTER:
		counter(s, p, c);
		break;
	case ROLE_CALL:
		story_fail(s, hodo_read_calls_event(s->calls, e));
		break;
	case ROLE_INSTANT:
		story_instant(s, t, false);
		break;
	}
	if (p->pub->kernel && !s->error)
		story_fail(s, hodo_sched_event(s->sched, e));
}

static void close_all(struct hodo_story *s)
{
	s->event = NULL;
	story_fail(s, hodo_read_calls_end(s->calls, s->now_ns));
	story_fail(s, hodo_sched_end(s->sched, s->now_ns));
	for (struct story_thread *t = s->threads.first; t && !s->error; t = t->later) {
		story_wholes(s, t);
		story_close(s, t);
	}
	story_async_close(s);
}

int hodo_story_read(struct hodo_story *s)
{
	const struct hodo_read_event *e;
	int n = hodo_read_scan(s->reader); /* what was lost decides about spans without an end */

	if (n < 0)
		return n;
	/* Now: when reading begins, what is known of losses is forgotten. */
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->reader); i++)
		story_process(s, hodo_read_process(s->reader, i));
	while (!s->error && (n = hodo_read_next(s->reader, &e)) > 0) {
		s->event = e;
		s->now_ns = e->ts_ns;
		if (s->totals.events++ == 0)
			s->totals.begin_ns = e->ts_ns;
		s->totals.end_ns = e->ts_ns;
		if (s->ops.event)
			story_fail(s, s->ops.event(s->data, e));
		if (!s->error)
			tell(s, e);
	}
	if (!s->error && n < 0)
		story_fail(s, n);
	if (!s->error)
		close_all(s);
	return s->error;
}

void hodo_story_totals(const struct hodo_story *s, struct hodo_story_totals *totals)
{
	*totals = s->totals;
}

/* ------------------------------------------------------------------- begin and end */

struct hodo_story *hodo_story_new(struct hodo_read *reader, struct hodo_symbols *symbols,
				  const struct hodo_story_ops *ops, void *data)
{
	const struct hodo_sched_ops sched_ops = { .ran = ran };
	struct hodo_story *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->reader = reader;
	s->symbols = symbols;
	s->ops = *ops;
	s->data = data;
	story_seed(s);
	s->sched = hodo_sched_new(&sched_ops, s);
	if (!s->sched || story_calls_open(s) < 0) {
		hodo_story_free(s);
		return NULL;
	}
	return s;
}

static void free_process(struct story_process *p)
{
	for (uint32_t i = 0; p->classes && i < p->pub->nclasses; i++)
		if (p->classes[i].base == &p->classes[i])
			free(p->classes[i].track);
	free(p->classes);
	free(p->index);
	free(p);
}

static void free_nodes(struct story_node *node)
{
	for (struct story_node *next; node; node = next) {
		next = node->next;
		free(node);
	}
}

void hodo_story_free(struct hodo_story *s)
{
	if (!s)
		return;
	story_threads_free(s);
	story_async_free(s);
	free(s->open.chains);
	free_nodes(s->free);
	free_nodes(s->gone);
	for (struct story_process *p = s->processes, *next; p; p = next) {
		next = p->next;
		free_process(p);
	}
	hodo_pointer_map_free(&s->by_pub, NULL);
	for (uint32_t i = 0; i < s->ncpus; i++)
		free(s->cpus[i]);
	free(s->cpus);
	for (struct story_name *name = s->names, *next; name; name = next) {
		next = name->next;
		free(name);
	}
	hodo_read_calls_free(s->calls);
	hodo_sched_free(s->sched);
	free(s);
}
