/* SPDX-License-Identifier: MIT */
/*
 * control.c - uses all of <hodo/control.h>, in each way that a program may.
 *
 *	control SCENE DIRECTORY
 *
 * Prints what hodo_statistics() returned, as JSON; exits with 1 where something is not as documented.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/control.h>
#include <hodo/trace.h>

#define THREADS 4
#define EVENTS 20000

static const char *directory;
static int constructed = 1; /* what hodo_flight_start() in the constructor returned */

#define expect(what, wanted) check(#what, (long)(what), wanted, __LINE__)
static void check(const char *what, long got, long wanted, int line)
{
	if (got == wanted)
		return;
	printf("%d: %s: %ld, not %ld\n", line, what, got, wanted);
	exit(1);
}

static struct hodo_statistics statistics(void)
{
	struct hodo_statistics s = { .size = sizeof(s) };

	expect(hodo_statistics(&s), 0);
	return s;
}

static void say(const char *name)
{
	struct hodo_statistics s = statistics();

	printf("{\"at\":\"%s\",\"pid\":%d,\"events\":%llu,\"bytes\":%llu,\"lost\":%llu,\"known\":%u,\"enabled\":%u,"
	       "\"threads\":%u,\"recorder\":%u,\"flight\":%u,\"snapshots\":%u}\n", name, getpid(),
	       (unsigned long long)s.events, (unsigned long long)s.bytes,
	       (unsigned long long)(s.lost_full + s.lost_large + s.lost_busy), s.known, s.enabled, s.threads,
	       s.recorder, s.flight, s.snapshots);
	fflush(stdout);
}

static int start(uint64_t bytes, const char *events)
{
	struct hodo_flight_options o = { sizeof(o), directory, bytes, events };

	return hodo_flight_start(&o);
}

static void *write_events(void *arg)
{
	for (long i = 0; i < EVENTS; i++) {
		HODO_EVENT(control, tick, HODO_F(thread, (long)arg), i);
		if (i % 100 == 0)
			HODO_EVENT(control, hundred, i);
	}
	return NULL;
}

static void in_threads(void *(*f)(void *))
{
	pthread_t thread[THREADS];

	for (long i = 0; i < THREADS; i++)
		expect(pthread_create(&thread[i], NULL, f, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* ----------------------------------------------------------------------- scenes */

static void errors(void)
{
	struct { struct hodo_flight_options o; char more[16]; } large = { { sizeof(large), directory, 0, NULL }, "" };
	struct hodo_flight_options o = { sizeof(o), directory, 0, NULL };
	struct hodo_statistics s = { .size = sizeof(s), .events = 9 };
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };

	expect(hodo_enable(NULL), -EINVAL);
	expect(hodo_disable(""), -EINVAL);
	expect(hodo_enable("control:*"), -ENOTCONN);
	expect(hodo_disable("control:none"), 0);
	expect(hodo_stop(), -ENOTCONN);
	expect(hodo_snapshot("why"), -ENOTCONN);
	expect(hodo_statistics(NULL), -EINVAL);
	expect(hodo_statistics(&s), -ENOTCONN);
	expect(s.events, 0);
	expect(s.known, 2);
	s.size = 23;
	expect(hodo_statistics(&s), -EINVAL);
	expect(hodo_flight_start(NULL), -EINVAL);
	o.size = sizeof(o) - 1;
	expect(hodo_flight_start(&o), -EINVAL);
	large.more[3] = 1;
	expect(hodo_flight_start(&large.o), -EINVAL);
	expect(start(4095, NULL), -EINVAL);
	expect(start((1ull << 40) + 1, NULL), -EINVAL);
	expect(start(0, "a b"), -EINVAL);
	expect(start(0, "kv:,x"), -EINVAL);
	expect(start(0, ","), -EINVAL);
	o = (struct hodo_flight_options){ sizeof(o), NULL, 0, NULL };
	expect(hodo_flight_start(&o), -EINVAL); /* HODO_FLIGHT is not set */
	o.directory = "";
	expect(hodo_flight_start(&o), -EINVAL);
	o.directory = "/nonexistent/directory";
	expect(hodo_flight_start(&o), -ENOENT);
	o.directory = "/dev/null";
	expect(hodo_flight_start(&o), -ENOTDIR);
	setrlimit(RLIMIT_FSIZE, &limit);
	expect(start(0, NULL), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	expect(hodo_stop(), -ENOTCONN);
	/* Afterwards it still works, and takes a later version's larger options if the new ones are zero. */
	large.more[3] = 0;
	expect(hodo_flight_start(&large.o), 0);
	expect(start(0, NULL), -EBUSY);
	expect(hodo_stop(), 0);
}

static void exact(void)
{
	expect(start(16 << 20, NULL), 0);
	in_threads(write_events);
	say("threads");
	expect(statistics().events, THREADS * (EVENTS + EVENTS / 100));
	expect(hodo_disable("control:hundred"), 1);
	expect(statistics().enabled, 1);
	write_events((void *)9);
	expect(statistics().events, THREADS * (EVENTS + EVENTS / 100) + EVENTS);
	expect(hodo_enable("control:*"), 2);
	expect(hodo_disable("contr?l:t*"), 1);
	write_events((void *)10);
	expect(statistics().events, THREADS * (EVENTS + EVENTS / 100) + EVENTS + EVENTS / 100);
	say("end");
	expect(hodo_stop(), 0);
	write_events((void *)11);
	expect(hodo_enable("control:*"), -ENOTCONN);
}

static void part_of_the_events(void)
{
	expect(start(0, "control:hundred"), 0);
	write_events((void *)1);
	expect(statistics().events, EVENTS / 100);
	expect(statistics().enabled, 1);
	expect(hodo_enable("control:tick"), 1);
	write_events((void *)2);
	say("end");
}

static void *write_on(void *arg)
{
	for (long i = 0; !__atomic_load_n((int *)arg, __ATOMIC_RELAXED); i++)
		HODO_EVENT(control, tick, HODO_F(thread, (long)77), i);
	return NULL;
}

static void snapshots(void)
{
	char why[200];
	pthread_t thread;
	int stop = 0;

	expect(start(256 << 10, NULL), 0);
	write_events((void *)1);
	expect(hodo_snapshot("first"), 1);
	expect(pthread_create(&thread, NULL, write_on, &stop), 0);
	memset(why, 'x', sizeof(why));
	why[sizeof(why) - 1] = 0;
	for (int i = 2; i <= 20; i++)
		expect(hodo_snapshot(i % 2 ? why : NULL), i);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	expect(statistics().snapshots, 20);
	say("end");
}

static void forks(void)
{
	int status = 0;
	pid_t child;

	expect(start(1 << 20, NULL), 0);
	write_events((void *)1);
	child = fork();
	if (child == 0) {
		expect(statistics().events, 0);
		expect(statistics().flight, 1);
		HODO_EVENT(control, hundred, HODO_F(i, -1l));
		expect(hodo_snapshot("child"), 1);
		say("child");
		expect(hodo_stop(), 0);
		expect(hodo_stop(), -ENOTCONN);
		child = fork();
		if (child == 0) /* the recording is stopped, so children have none either */
			_exit(hodo_stop() == -ENOTCONN ? 0 : 1);
		waitpid(child, &status, 0);
		expect(start(0, NULL), 0); /* a file with another number */
		_exit(status);
	}
	waitpid(child, &status, 0);
	expect(status, 0);
	write_events((void *)2);
	say("end");
	expect(statistics().events, 2 * (EVENTS + EVENTS / 100));
}

static void again_and_again(void)
{
	for (int i = 0; i < 30; i++) {
		expect(start(4096 << (i % 4), i % 2 ? "control" : NULL), 0);
		write_events((void *)1);
		expect(statistics().events, EVENTS + EVENTS / 100);
		expect(hodo_stop(), 0);
	}
}

static void *anything(void *arg)
{
	unsigned seed = (unsigned)(long)arg;

	for (int i = 0; i < 300; i++) {
		struct hodo_statistics s = { .size = sizeof(s) };
		int r = 0;

		switch (rand_r(&seed) % 8) {
		case 0: r = start(64 << 10, NULL); break;
		case 1: r = rand_r(&seed) % 4 ? 0 : hodo_stop(); break;
		case 2: r = hodo_enable("control:*"); break;
		case 3: r = hodo_disable("*:hundred"); break;
		case 4: r = rand_r(&seed) % 8 ? 0 : hodo_snapshot("any"); break;
		case 5: r = hodo_statistics(&s); break;
		default:
			for (long k = 0; k < 1000; k++)
				HODO_EVENT(control, tick, HODO_F(thread, (long)arg), HODO_F(i, k));
		}
		if (r < 0 && r != -ENOTCONN && r != -EBUSY && r != -EAGAIN) {
			printf("%d\n", r);
			exit(1);
		}
	}
	return NULL;
}

static void at_once(void)
{
	int r;

	in_threads(anything);
	r = hodo_stop();
	expect(r == 0 || r == -ENOTCONN, 1);
	expect(hodo_stop(), -ENOTCONN);
	expect(start(1 << 20, NULL), 0);
	hodo_enable("control:*");
	write_events((void *)1);
	expect(statistics().events, EVENTS + EVENTS / 100);
	say("end");
}

static void constructor(void)
{
	expect(constructed, 0);
	write_events((void *)1);
	say("end");
}

static __attribute__((constructor)) void construct(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[1], "constructor") != 0)
		return;
	directory = argv[2];
	constructed = start(0, NULL);
	HODO_EVENT(control, hundred, HODO_F(i, -1l));
	expect(statistics().events, 1);
}

/* With a recorder beside us, in discard mode. */
static void recorded(void)
{
	expect(start(0, NULL), -EBUSY);
	expect(hodo_snapshot("why"), -EOPNOTSUPP);
	in_threads(write_events);
	say("end");
	expect(statistics().flight, 0);
	expect(hodo_stop(), 0);
	expect(hodo_snapshot("why"), -ENOTCONN);
	write_events((void *)5);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
	{ "errors", errors },       { "exact", exact },         { "patterns", part_of_the_events },
	{ "snapshots", snapshots }, { "fork", forks },          { "again", again_and_again },
	{ "at_once", at_once },     { "constructor", constructor }, { "recorded", recorded },
};

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	directory = argv[2];
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(scenes[i].name, argv[1]) == 0) {
			scenes[i].run();
			return 0;
		}
	}
	return 2;
}
