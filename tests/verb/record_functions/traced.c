/* SPDX-License-Identifier: MIT */
/* traced.c SCENE: calls functions a known number of times, in known ways, for tracers.py. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <link.h>
#include <hodo/tracer.h>

#define CALLED __attribute__((noinline, noclone))
#define KEEP __asm__ volatile("" ::: "memory")

static jmp_buf env;

CALLED void leaf(void) { KEEP; }
CALLED void nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&t, 0);
	KEEP;
}
CALLED void mid(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
	KEEP;
}
CALLED void recurse(int n)
{
	leaf();
	if (n > 0)
		recurse(n - 1);
	KEEP;
}

/* -------------------------------------------------------------------- counts */

static void *count_thread(void *arg)
{
	mid(5);
	return arg;
}

static void run_thread(void *(*f)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, 0, f, arg) != 0)
		abort();
	pthread_join(t, 0);
}

static void scene_counts(void)
{
	mid(10);
	recurse(50);
	run_thread(count_thread, 0);
	run_thread(count_thread, 0);
}

CALLED void jump(int n)
{
	if (n == 0)
		longjmp(env, 1);
	jump(n - 1);
	KEEP;
}
static void scene_jump(void)
{
	if (setjmp(env) == 0)
		jump(2);
	leaf();
}

static void scene_kill(void)
{
	mid(1000);
	nap(1);
	raise(SIGKILL);
}

/* Ends with calls open: by exit(), by exec of another program, and by the end of a thread, which waits until seen. */
CALLED void inside(int n, void (*end)(void))
{
	if (n == 0)
		end();
	else
		inside(n - 1, end);
	KEEP;
}
static void end_by_exit(void) { exit(0); }
static void end_by_exec(void)
{
	execl("/proc/self/exe", "traced", "none", (char *)0);
	abort();
}
static void end_thread(void) { pthread_exit(0); }
static void *open_thread(void *arg)
{
	inside(2, end_thread);
	return arg;
}
static void scene_exit(void) { inside(3, end_by_exit); }
static void scene_exec(void) { inside(3, end_by_exec); }
static void scene_ended(void)
{
	run_thread(open_thread, 0);
	nap(300);
	run_thread(open_thread, 0);
}

static void scene_fork(void)
{
	mid(3);
	if (fork() == 0) {
		mid(7);
		exit(0);
	}
	wait(0);
	mid(4);
}

/* No fork handler runs: the first call in the child notices the fork. */
static void scene_clone(void)
{
	mid(3);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		mid(7);
		mid(1);
		_exit(0);
	}
	wait(0);
	mid(4);
}

/* Nor does one here, and another thread than the forked one makes the first call. */
static void *first_thread(void *arg) { mid(7); return arg; }
static void scene_clone_thread(void)
{
	mid(3);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		run_thread(first_thread, 0);
		mid(4);
		_exit(0);
	}
	wait(0);
}

/* Another process that uses this thread's storage is inside a call all the time. */
static volatile int child_is_in, child_may_go;
CALLED void child_waits(void)
{
	child_is_in = 1;
	while (!child_may_go)
		sched_yield();
	KEEP;
}
static int shared_child(void *arg) { child_waits(); return 0; }
static void scene_shared(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid;

	mid(3);
	pid = clone(shared_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, 0);
	while (pid > 0 && !child_is_in)
		sched_yield();
	mid(4);
	child_may_go = 1;
	waitpid(pid, 0, 0);
	mid(2);
}

/* Forks, with and without handlers, while another thread holds the loader's lock: the child must not wait for it. */
static int look_slowly(struct dl_phdr_info *info, size_t size, void *arg)
{
	usleep(1000);
	return 0;
}
static void *loader_thread(void *arg)
{
	for (;;)
		dl_iterate_phdr(look_slowly, 0);
	return arg;
}
static void scene_loader(void)
{
	pthread_t t;

	pthread_create(&t, 0, loader_thread, 0);
	usleep(10000);
	mid(1);
	for (int i = 0; i < 6; i++) {
		pid_t pid = i % 2 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		int status;

		if (pid == 0) {
			alarm(60); /* so that a child that waits for ever ends, and is noticed */
			mid(1);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (status != 0)
			_exit(1);
	}
	_exit(0);
}

/* More threads than run at one time: tracers give a thread's memory to a later one. */
static void scene_threads(void)
{
	for (int i = 0; i < 40; i++)
		run_thread(count_thread, 0);
}

/* ------------------------------------------------------------------- latency */

CALLED void slow(void)
{
	mid(4);
	for (int i = 0; i < 20; i++)
		leaf();
	nap(300);
	nap(300);
}
static void scene_latency(void)
{
	for (int i = 0; i < 100; i++)
		mid(3);
	slow();
}

#define TEN(m, a) m(a##0) m(a##1) m(a##2) m(a##3) m(a##4) m(a##5) m(a##6) m(a##7) m(a##8) m(a##9)
#define FUNCTION(n) CALLED void many_##n(void) { __asm__ volatile("# " #n ::: "memory"); }
#define CALL(n) many_##n();
TEN(FUNCTION, 0) TEN(FUNCTION, 1) TEN(FUNCTION, 2) TEN(FUNCTION, 3) TEN(FUNCTION, 4)
TEN(FUNCTION, 5) TEN(FUNCTION, 6) TEN(FUNCTION, 7) TEN(FUNCTION, 8) TEN(FUNCTION, 9)
CALLED void call_many(void)
{
	TEN(CALL, 0) TEN(CALL, 1) TEN(CALL, 2) TEN(CALL, 3) TEN(CALL, 4)
	TEN(CALL, 5) TEN(CALL, 6) TEN(CALL, 7) TEN(CALL, 8) TEN(CALL, 9)
	TEN(CALL, 0)
	nap(30);
}

/* More frames with callees than the pool has nodes. */
static void *deep_thread(void *arg)
{
	recurse(400000);
	nap(2100);
	return arg;
}
static void scene_deep(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256u << 20);
	if (pthread_create(&t, &attr, deep_thread, 0) != 0)
		abort();
	pthread_join(t, 0);
}

/* A coroutine that calls functions, waits while others are called, and calls some more. */
static ucontext_t back, coroutine;
CALLED void coroutine_body(void)
{
	mid(2);
	swapcontext(&coroutine, &back);
	mid(2);
	nap(300);
}
static void coroutine_main(void)
{
	coroutine_body();
	swapcontext(&coroutine, &back);
}
CALLED void resume(void)
{
	swapcontext(&back, &coroutine);
	KEEP;
}
static void scene_coroutine(void)
{
	size_t bytes = 64 << 10;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = malloc(bytes);
	coroutine.uc_stack.ss_size = bytes;
	coroutine.uc_link = 0;
	makecontext(&coroutine, coroutine_main, 0);
	resume();
	for (int i = 0; i < 5; i++)
		leaf();
	resume();
}

/* --------------------------------------------------------------------- stack */

#define ALLOCA_BYTES 200000
CALLED void deepest(void) { KEEP; }
CALLED void wide(void)
{
	volatile char *p = alloca(ALLOCA_BYTES);

	p[0] = 1;
	deepest();
	KEEP;
}
static void *stack_thread(void *arg)
{
	mid(1);
	wide();
	mid(1);
	return arg;
}
CALLED int overflow(int n)
{
	volatile char page[4096];

	page[n % 4096] = 1;
	n = overflow(n + 1) + page[0];
	KEEP;
	return n;
}

/* ---------------------------------------------------------------------- loop */

CALLED void on_fast(void) { leaf(); KEEP; }
CALLED void on_slow(void) { nap(300); KEEP; }
CALLED void run_loop(void)
{
	for (int i = 0; i < 5; i++)
		on_fast();
	on_slow();
	on_fast();
	on_slow();
	KEEP;
}
static void scene_loop(void)
{
	on_slow(); /* not called by a loop */
	run_loop();
}

/* -------------------------------------------------------------------- thread */

CALLED void only_main(void) { HODO_ONLY_IN("main"); KEEP; }
CALLED void only_worker(void) { HODO_ONLY_IN("worker"); KEEP; }
CALLED void either(void) { HODO_ONLY_IN("main"); HODO_ONLY_IN("worker"); KEEP; }
CALLED void caller(void) { only_main(); KEEP; }
CALLED void other_caller(void) { only_main(); KEEP; }

static void *nobody(void *arg)
{
	either();
	return arg;
}
static void *worker(void *arg)
{
	hodo_thread_role("worker");
	either();
	only_worker();
	for (int i = 0; i < 10; i++)
		caller();
	other_caller();
	return arg;
}
static void scene_thread(void)
{
	only_main();
	caller();
	either();
	run_thread(worker, 0);
	run_thread(nobody, 0);
	hodo_thread_role("ui");
	either();
	hodo_thread_role(0);
	either();
}

/* --------------------------------------------------------------------- storm */

static volatile sig_atomic_t handled;
static volatile bool jumping;
static sigjmp_buf storm_env;

CALLED void on_signal(int signal)
{
	handled++;
	leaf();
	if (jumping && handled % 3 == 0)
		siglongjmp(storm_env, 1);
}

/* Calls without end, and a signal every 50 us that interrupts them, tracers included. Prints how many came. */
static void storm(int rounds)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile int done = 0;

	sigaction(SIGALRM, &action, 0);
	if (sigsetjmp(storm_env, 1) == 0) /* before the first signal, whose handler jumps here */
		setitimer(ITIMER_REAL, &often, 0);
	while (done < rounds) {
		done++;
		mid(10);
	}
	jumping = false;
	setitimer(ITIMER_REAL, &never, 0);
	printf("%d\n", (int)handled);
}
static void scene_storm(void)
{
	storm(20000);
}
static void scene_jumps(void)
{
	jumping = true;
	storm(20000);
}

/* -------------------------------------------------------------------- plugin */

#ifdef PLUGIN
static void *plugin_thread(void *arg)
{
	((void (*)(void))arg)();
	return 0;
}

/* Opens, uses and closes it three times, most likely at the same address. */
static void scene_plugin(void)
{
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen(PLUGIN, RTLD_NOW);

		if (!plugin)
			abort();
		run_thread(plugin_thread, dlsym(plugin, "plugin_loop"));
		dlclose(plugin);
	}
}
#endif

/* ---------------------------------------------------------------------- main */

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
	{ "counts", scene_counts }, { "jump", scene_jump },       { "kill", scene_kill },
	{ "exit", scene_exit },     { "exec", scene_exec },       { "ended", scene_ended },
	{ "fork", scene_fork },     { "threads", scene_threads }, { "latency", scene_latency },
	{ "clone", scene_clone },   { "loader", scene_loader },
	{ "shared", scene_shared }, { "clone_thread", scene_clone_thread },
#ifdef PLUGIN
	{ "plugin", scene_plugin },
#endif
	{ "many", call_many },      { "deep", scene_deep },      { "coroutine", scene_coroutine },
	{ "loop", scene_loop },     { "thread", scene_thread },
	{ "storm", scene_storm },   { "jumps", scene_jumps },
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "stack") == 0) {
		run_thread(stack_thread, 0);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "overflow") == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		return overflow(0);
	}
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (argc == 2 && strcmp(argv[1], scenes[i].name) == 0) {
			scenes[i].run();
			return 0;
		}
	}
	return 2;
}
