/* SPDX-License-Identifier: MIT */
/*
 * event.c - what an enabled event costs, beside a loop that reads the clock
 * and stores as many bytes.
 *
 *	event [-r ROUNDS] [-c CHUNKS] [-n ITERATIONS] [-w WARM-UP CHUNKS] [-p PAUSE_US] [-k KINDS]
 *
 * KINDS is a text of letters: c the clock loop, n event (int, uint64), s event
 * (int, 11 characters), C and N the same in two threads on two CPUs at once;
 * not of LTTng: x event (two ints, two texts of 11), l (int, 100 characters),
 * p tracepoint (int, uint64).
 * Prints a line a round, "ROUND KIND=NS …": the median chunk's nanoseconds an
 * iteration (in two threads the mean of both), and at the end "events KIND=COUNT …".
 */
#include "clock.h"
#include "loop.h"
#include "sites.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define TEXTS 8

static struct bench_options options = { .rounds = 1, .chunks = 50, .iterations = 20000, .warmup = 20, .kinds = "cns" };

struct job {
	pthread_t thread;
	pthread_barrier_t *start;
	int cpu;
	char kind;
	double ns;
	double chunk[CHUNKS_MAX];
};

static struct bench_slot clock_slots[2][BENCH_SLOTS] __attribute__((aligned(4096)));
static unsigned long counted[256];

/* Different texts of 11 characters in memory that the compiler cannot see through. */
static const char *volatile texts_[TEXTS] = { "read_header", "write_entry", "flush_table", "merge_level",
					      "split_node!", "evict_page_", "lookup_key1", "append_log2" };

static __attribute__((noinline)) void num_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		BENCH_NUM((int)i, (uint64_t)i * 7);
}

static __attribute__((noinline)) void str_loop(const char *const *texts, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		BENCH_STR((int)i, texts[i % TEXTS]);
}

#ifndef BENCH_LTTNG
HODO_TRACEPOINT(bench, point, (int, i), (uint64_t, value));

static __attribute__((noinline)) void texts_loop(const char *const *texts, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		HODO_EVENT(bench, texts, HODO_F(a, (int)i), HODO_F(b, texts[i % TEXTS]),
			   HODO_F(c, texts[(i + 3) % TEXTS]), HODO_F(d, (int)i * 3));
}

static __attribute__((noinline)) void long_loop(const char *text, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		HODO_EVENT(bench, long_text, (int)i, text);
}

static __attribute__((noinline)) void point_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		trace_bench_point((int)i, (uint64_t)i * 7);
}

static void run_more(char kind, const char *const *texts)
{
	static char text[101];

	memset(text, 'a', sizeof(text) - 1);
	if (kind == 'x')
		texts_loop(texts, options.iterations);
	else if (kind == 'l')
		long_loop(text, options.iterations);
	else
		point_loop(options.iterations);
}
#endif

static void run_chunk(const struct job *job, const char *const *texts)
{
	switch (job->kind) {
	case 'c':
		bench_clock_loop(clock_slots[job->cpu == bench_cpu(0)], options.iterations);
		break;
	case 'n':
		num_loop(options.iterations);
		break;
#ifndef BENCH_LTTNG
	case 'x':
	case 'l':
	case 'p':
		run_more(job->kind, texts);
		break;
#endif
	default:
		str_loop(texts, options.iterations);
	}
}

static void *run_job(void *arg)
{
	struct job *job = arg;
	const char *texts[TEXTS];

	for (int i = 0; i < TEXTS; i++)
		texts[i] = texts_[i];
	bench_pin(job->cpu);
	for (unsigned long i = 0; i < options.warmup; i++) {
		run_chunk(job, texts);
		if (options.pause_us)
			usleep((useconds_t)options.pause_us);
	}
	pthread_barrier_wait(job->start);
	for (unsigned long i = 0; i < options.chunks; i++) {
		uint64_t start_ns = bench_now_ns();

		run_chunk(job, texts);
		job->chunk[i] = (double)(bench_now_ns() - start_ns) / (double)options.iterations;
		if (options.pause_us)
			usleep((useconds_t)options.pause_us);
	}
	job->ns = bench_median(job->chunk, options.chunks);
	return NULL;
}

/* Nanoseconds an iteration in `threads` threads at once. */
static double measure(char kind, int threads)
{
	static struct job jobs[2];
	pthread_barrier_t start;
	double ns = 0;

	pthread_barrier_init(&start, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		jobs[i].start = &start;
		jobs[i].cpu = bench_cpu(i);
		jobs[i].kind = kind;
		errno = pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
		if (errno)
			bench_fail("pthread_create");
		counted[(unsigned char)kind] += (options.warmup + options.chunks) * options.iterations;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(jobs[i].thread, NULL);
		ns += jobs[i].ns / threads;
	}
	pthread_barrier_destroy(&start);
	return ns;
}

int main(int argc, char **argv)
{
	bench_options(&options, argc, argv, "r:c:n:w:p:k:", "cnsCNxlp");
	for (unsigned long round = 0; round < options.rounds; round++) {
		printf("%lu", round);
		for (const char *k = options.kinds; *k; k++)
			printf(" %c=%.4f", *k, measure(*k | 0x20, *k & 0x20 ? 1 : 2));
		putchar('\n');
		fflush(stdout);
	}
	printf("events n=%lu s=%lu\n", counted['n'], counted['s']);
	return 0;
}
