/* SPDX-License-Identifier: MIT */
/* test_perf.c - the kernel's records of the switches of this thread itself, and of one that it makes. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lib/unit.h>
#include <base/clock.h>
#include <record/kernel/perf.h>

#define NAPS 20
#define CPUS 1024u

static struct {
	uint32_t tid;
	unsigned in, out, preempted, twice, named, lost;
	int64_t last_ns, begin_ns, end_ns;
	enum hodo_perf_kind last[CPUS];
	bool seen[CPUS];
} own, other;

static void take(void *arg, uint32_t cpu, const struct hodo_perf_record *r)
{
	__typeof__(own) *who = r->tid == own.tid ? &own : &other;

	(void)arg;
	assert_true(cpu < CPUS);
	if (r->kind == HODO_PERF_LOST) {
		own.lost++;
		return;
	}
	assert_int_equal(r->pid, getpid());
	if (r->kind == HODO_PERF_NAMED) {
		who->named++;
		return;
	}
	assert_true(r->mono_ns >= own.begin_ns && r->mono_ns <= own.end_ns);
	who->tid = r->tid;
	who->in += r->kind == HODO_PERF_IN;
	who->out += r->kind == HODO_PERF_OUT;
	who->preempted += r->preempted;
	who->twice += who->seen[cpu] && who->last[cpu] == r->kind;
	who->seen[cpu] = true;
	who->last[cpu] = r->kind;
}

static void nap(void)
{
	const struct timespec t = { 0, 1000000 };

	for (int i = 0; i < NAPS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void *nap_too(void *unused)
{
	(void)unused;
	nap();
	return NULL;
}

/* On each CPU a thread arrives and leaves in turn, even if it is watched twice. */
TEST(own_switches)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct hodo_perf *perf;
	pthread_t thread;
	struct hodo_why why;

	if (hodo_perf_check(&why) < 0) {
		fprintf(stderr, "skipped: %s\n", why.text);
		skip();
	}
	own.tid = (uint32_t)syscall(SYS_gettid);
	own.begin_ns = hodo_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(hodo_perf_open(&perf, (uint32_t)cpus), 0);
	assert_int_equal(hodo_perf_watch(perf, (pid_t)own.tid), 0);
	assert_int_equal(hodo_perf_watch(perf, (pid_t)own.tid), 0);
	assert_int_equal(pthread_create(&thread, NULL, nap_too, NULL), 0);
	nap();
	assert_int_equal(pthread_join(thread, NULL), 0);
	hodo_perf_look(perf);
	own.end_ns = hodo_clock_ns(CLOCK_MONOTONIC);
	nap(); /* records from after the look are not taken */
	for (uint32_t cpu = 0; cpu < (uint32_t)cpus; cpu++)
		assert_in_range(hodo_perf_take(perf, cpu, take, NULL), 0, 16);
	hodo_perf_close(perf);

	assert_int_equal(own.lost, 0);
	assert_true(own.out - own.preempted >= NAPS && own.in >= own.out - 1 && own.in <= own.out + 1);
	assert_int_equal(own.twice, 0);
	assert_true(other.named >= 1 && other.out - other.preempted >= NAPS);
	assert_int_equal(other.twice, 0);
}

/* A process that does not exist. */
TEST(nobody)
{
	struct hodo_perf *perf;
	struct hodo_why why;

	if (hodo_perf_check(&why) < 0)
		skip();
	assert_int_equal(hodo_perf_open(&perf, 1), 0);
	assert_int_equal(hodo_perf_watch(perf, 0x7ffffffe), -ESRCH);
	assert_int_equal(hodo_perf_take(perf, 0, take, NULL), 0);
	hodo_perf_close(perf);
	hodo_perf_close(NULL);
}
