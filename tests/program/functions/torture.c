/* SPDX-License-Identifier: MIT */
/*
 * torture.c - tracers that come and go while threads run the functions that they trace.
 *
 *	torture ROUNDS SEED PLUGIN
 *
 * Four threads call traced functions, deep and shallow, and longjmp. One opens and closes
 * a library. The main thread registers and unregisters tracers with filters of many kinds, ROUNDS
 * times; each has its own page, which its functions read and write, and which becomes
 * inaccessible when unregister has returned: a call of the tracer after that faults.
 * Each exit that a tracer gets must belong to an entry that it got. With a recorder, events
 * of functions are switched off and on as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <hodo/control.h>
#include <hodo/tracer.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRACED __attribute__((noipa))
#define WORKERS 4
#define TRACERS 12
#define PAGE 4096ul

static volatile int stop;
static unsigned long passes[WORKERS];
static unsigned long faults;

static void fault(const char *what)
{
	if (__atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED) < 10)
		fprintf(stderr, "torture: %s\n", what);
}

static unsigned next(unsigned *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* ------------------------------------------------------------ what is traced */

static __thread jmp_buf back;

TRACED int work_leaf(int n)
{
	return n * 3 + 1;
}

TRACED int work_deep(int n)
{
	return n > 0 ? work_deep(n - 1) + work_leaf(n) : 1;
}

TRACED int work_jump(int n)
{
	if (n == 0)
		longjmp(back, 1);
	n = work_jump(n - 1);
	__asm__ volatile("" : "+r"(n)); /* otherwise gcc makes a loop of it */
	return n + 1;
}

TRACED int work_round(unsigned *seed)
{
	int sum = work_deep((int)(next(seed) % 30));

	for (int i = 0; i < 20; i++)
		sum += work_leaf(i);
	if (setjmp(back) == 0)
		sum += work_jump((int)(next(seed) % 8));
	return sum;
}

TRACED static void *worker(void *arg)
{
	unsigned who = (unsigned)(uintptr_t)arg, seed = 12345 + who;

	while (!stop) {
		volatile int sum = work_round(&seed);

		(void)sum;
		/* Otherwise threads are preempted inside of tracers most of the time, and all would wait for them. */
		if (passes[who]++ % 32 == 0)
			usleep(100);
	}
	return NULL;
}

static unsigned long loads;

static void *loader(void *path)
{
	while (!stop) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		int (*work)(int) = library ? (int (*)(int))dlsym(library, "plugin_work") : NULL;

		if (!work || work(50) != 50 * 51 / 2)
			fault("the library does not work");
		if (library)
			dlclose(library);
		loads++;
		usleep(200);
	}
	return NULL;
}

/* ------------------------------------------------------------------- tracers */

struct own {
	struct hodo_tracer tracer;
	unsigned long entries, exits, left;
	int alive;
	/* How many entries have had no exit, by a hash of the frame's address. */
	signed char open[PAGE - sizeof(struct hodo_tracer) - 4 * sizeof(long)];
};
_Static_assert(sizeof(struct own) <= PAGE, "one page");

static signed char *bucket(struct own *own, const struct hodo_call *call)
{
	return &own->open[((uintptr_t)call->frame >> 3) * 0x9e3779b97f4a7c15ull % sizeof(own->open)];
}

static void on_enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	struct own *own = tracer->data;

	if (!own->alive)
		fault("enter of a tracer that is not registered");
	__atomic_fetch_add(&own->entries, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(bucket(own, call), 1, __ATOMIC_RELAXED);
	work_leaf(1); /* traced, but not here */
}

static void on_exit_of(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	struct own *own = tracer->data;

	if (!own->alive)
		fault("exit of a tracer that is not registered");
	__atomic_fetch_add(call->flags & HODO_CALL_LEFT ? &own->left : &own->exits, 1, __ATOMIC_RELAXED);
	if (__atomic_fetch_sub(bucket(own, call), 1, __ATOMIC_RELAXED) <= 0)
		fault("an exit without an entry");
	if (call->now_ticks < call->entry_ticks || call->self_ticks > call->now_ticks - call->entry_ticks)
		fault("times are wrong");
}

static const char *const filters[] = {
	NULL, "", "work_*", "work_leaf", "!work_leaf", "work_deep,work_jump", "plugin_*", "nothing_*", "0x1000-0x2000",
	"*", "*_round,worker",
};

static struct own *tracers[TRACERS];

static void arrive(int i, unsigned *seed)
{
	struct own *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	own->tracer = (struct hodo_tracer){
		.size = sizeof(own->tracer), .name = "torture", .data = own,
		.functions = filters[next(seed) % (sizeof(filters) / sizeof(filters[0]))],
	};
	if (next(seed) % 8) {
		own->tracer.enter = on_enter;
		own->tracer.exit = on_exit_of;
	} else {
		own->tracer.enter = on_enter;
	}
	own->alive = 1;
	r = hodo_tracer_register(&own->tracer);
	if (r)
		fault(strerror(-r));
	if (hodo_tracer_register(&own->tracer) != -EEXIST)
		fault("registered twice");
	tracers[i] = own;
}

static unsigned long entries;

static void leave(int i)
{
	struct own *own = tracers[i];

	if (hodo_tracer_unregister(&own->tracer))
		fault("cannot be unregistered");
	own->alive = 0;
	entries += own->entries;
	/* A thread still in the tracer would fault now. */
	if (mprotect(own, PAGE, PROT_NONE))
		fault("mprotect");
	if ((i & 1) == 0)
		sched_yield();
	munmap(own, PAGE);
	tracers[i] = NULL;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, seed = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	int recorded = hodo_enable("nothing:*") >= 0;
	pthread_t threads[WORKERS + 1];

	seed = seed ? seed : (unsigned)getpid() * 2654435761u | 1;
	printf("torture: %u rounds, seed %u%s\n", rounds, seed, recorded ? ", recorded" : "");
	fflush(stdout);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)i);
	if (argc > 3)
		pthread_create(&threads[WORKERS], NULL, loader, argv[3]);
	for (unsigned i = 0; i < rounds; i++) {
		int k = (int)(next(&seed) % TRACERS);

		if (tracers[k])
			leave(k);
		else
			arrive(k, &seed);
		if (recorded && i % 7 == 0)
			hodo_disable("func:*");
		if (recorded && i % 7 == 4)
			hodo_enable("func:*");
	}
	stop = 1;
	for (unsigned i = 0; i < WORKERS + (argc > 3); i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TRACERS; i++) {
		if (tracers[i])
			leave(i);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		if (!passes[i])
			fault("a thread that never ran");
	}
	if (!entries)
		fault("no tracer was ever called");
	printf("torture: %lu entries, %lu loads, %lu faults\n", entries, loads, faults);
	return faults != 0;
}
