/* SPDX-License-Identifier: MIT */
/*
 * check.c - whether a snapshot of target.c is without gaps, and its losses exact.
 *
 * Usage: check DIR [pinned|wander]. Every thread's events must be numbered without gaps from its first one;
 * with `pinned`, where each thread has its own CPU, that first number must be how many were overwritten
 * on that CPU; with `wander`, where threads change CPUs, events may be missing until all CPUs' buffers have
 * begun, and not later. Prints what there is: "events=N overwritten=N processes=N threads=N".
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/read.h>

#define THREADS_MAX 4096

static struct thread {
	const struct hodo_read_process *process;
	uint32_t pid, tid;
	uint64_t first, next;
	int64_t ts_ns; /* of the last one */
	const struct hodo_read_stream *stream;
} threads[THREADS_MAX];
static unsigned int nthreads;
static int faults;

static void fault(const char *what, const struct thread *t, uint64_t a, uint64_t b)
{
	if (faults++ < 10)
		printf("%s: pid %u tid %u cpu %d: %" PRIu64 ", %" PRIu64 "\n", what, t->pid, t->tid, t->stream->cpu,
		       a, b);
}

static struct thread *thread_of(const struct hodo_read_event *e, uint64_t n)
{
	for (unsigned int i = 0; i < nthreads; i++)
		if (threads[i].tid == e->tid && threads[i].process == e->process)
			return &threads[i];
	if (nthreads == THREADS_MAX)
		exit(2);
	threads[nthreads] = (struct thread){
		.process = e->process, .pid = e->pid, .tid = e->tid, .first = n, .next = n, .stream = e->stream,
	};
	return &threads[nthreads++];
}

/* The time from which the buffers of all CPUs have events. */
static int64_t all_begin_ns(struct hodo_read *r)
{
	int64_t begin = 0;

	hodo_read_scan(r);
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nstreams; k++)
			if (p->streams[k]->begin_ns > begin)
				begin = p->streams[k]->begin_ns;
	}
	return begin;
}

static void take(const struct hodo_read_event *e, bool pinned, int64_t begin_ns)
{
	struct thread *t;
	uint64_t n;

	if (strcmp(e->cls->name, "snap:tick") != 0)
		return;
	n = e->values[1].u;
	t = thread_of(e, n);
	if (n != t->next && (t->ts_ns >= begin_ns || n < t->next))
		fault("not the next", t, t->next, n);
	if (pinned && t->stream != e->stream)
		fault("another CPU", t, n, 0);
	t->next = n + 1;
	t->ts_ns = e->ts_ns;
}

static void warn(void *data, const char *text)
{
	(void)data;
	printf("warning: %s\n", text);
	faults++;
}

int main(int argc, char **argv)
{
	char error[256] = "";
	struct hodo_read_options o = { .size = sizeof(o), .warn = warn, .error = error, .error_bytes = sizeof(error) };
	bool pinned = argc > 2 && strcmp(argv[2], "pinned") == 0;
	const struct hodo_read_event *e;
	struct hodo_read_lost lost;
	struct hodo_read *r;
	uint64_t events = 0;
	int64_t begin_ns = 0;

	if (argc < 2 || hodo_read_open(&r, argv[1], &o) < 0) {
		printf("%s\n", error);
		return 2;
	}
	if (argc > 2 && strcmp(argv[2], "wander") == 0)
		begin_ns = all_begin_ns(r);
	while (hodo_read_next(r, &e) > 0) {
		events++;
		take(e, pinned, begin_ns);
	}
	for (unsigned int i = 0; pinned && i < nthreads; i++)
		if (threads[i].first != threads[i].stream->lost.overwritten)
			fault("overwritten", &threads[i], threads[i].first, threads[i].stream->lost.overwritten);
	lost = hodo_read_lost(r, NULL);
	if (lost.full | lost.too_large | lost.unwritten | lost.unknown | lost.damaged) {
		printf("other losses\n");
		faults++;
	}
	printf("events=%" PRIu64 " overwritten=%" PRIu64 " processes=%u threads=%u\n", events, lost.overwritten,
	       hodo_read_nprocesses(r), nthreads);
	hodo_read_close(r);
	return faults ? 1 : 0;
}
