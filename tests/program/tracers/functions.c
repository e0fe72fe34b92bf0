/* SPDX-License-Identifier: MIT */
/* functions.c - functions SCENE [...]: what programs do with tracers at bad moments. Exits with 0 if all went well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <hodo/tracer.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define TRACED __attribute__((noipa))
#define UNTRACED __attribute__((noipa, no_instrument_function))
#define CHECK(what) do { if (!(what)) { fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); bad++; } } while (0)

static atomic_uint entered, left, gone, bad;
static volatile int sink;

TRACED static void traced(void) { sink++; }
TRACED static void traced_twice(void)
{
	traced();
	sink++;
}

UNTRACED static void count_enter(struct hodo_tracer *t, const struct hodo_call *call)
{
	(void)t;
	(void)call;
	entered++;
}

UNTRACED static void count_exit(struct hodo_tracer *t, const struct hodo_call *call)
{
	(void)t;
	left++;
	gone += (call->flags & HODO_CALL_LEFT) != 0;
}

static struct hodo_tracer counter = { .size = sizeof(counter), .enter = count_enter, .exit = count_exit };

/* ---------------------------------------------------------------- blocked tracers */

static sem_t in_tracer, go_on;
static atomic_bool released;

UNTRACED static void wait_in_tracer(struct hodo_tracer *t, const struct hodo_call *call)
{
	(void)t;
	(void)call;
	sem_post(&in_tracer);
	while (sem_wait(&go_on) != 0)
		;
}

static struct hodo_tracer blocker = { .size = sizeof(blocker), .enter = wait_in_tracer };

UNTRACED static void *unregister_blocker(void *arg)
{
	sem_wait(&in_tracer);
	CHECK(hodo_tracer_unregister(&blocker) == 0);
	CHECK(released); /* unregister must have waited */
	return arg;
}

UNTRACED static void *release_blocker(void *arg)
{
	usleep(200000);
	released = true;
	sem_post(&go_on);
	return arg;
}

/* This thread's vfork child, which has another thread ID, makes the thread's first traced call. */
UNTRACED static void vfork_first(void)
{
	pthread_t unregisters, releases;
	int status = -1;
	pid_t pid;

	CHECK(hodo_tracer_register(&counter) == 0);
	pid = vfork();
	if (pid == 0) {
		traced();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(hodo_tracer_register(&blocker) == 0);
	pthread_create(&unregisters, NULL, unregister_blocker, NULL);
	pthread_create(&releases, NULL, release_blocker, NULL);
	traced();
	pthread_join(unregisters, NULL);
	pthread_join(releases, NULL);
}

/* --------------------------------------------------------------------- arguments */

UNTRACED static void arguments(void)
{
	struct hodo_tracer t = counter;

	CHECK(hodo_tracer_unregister(NULL) < 0);
	CHECK(hodo_tracer_register(NULL) == -EINVAL);
	t.size--;
	CHECK(hodo_tracer_register(&t) == -EINVAL);
	t = (struct hodo_tracer){ .size = sizeof(t) };
	CHECK(hodo_tracer_register(&t) == -EINVAL);
	CHECK(hodo_tracer_unregister(&t) == -ENOENT);
	t = counter;
	t.functions = "no_such_function";
	CHECK(hodo_tracer_register(&t) == 0);
	CHECK(hodo_tracer_register(&t) == -EEXIST);
	entered = 0;
	traced_twice();
	CHECK(entered == 0);
	CHECK(hodo_tracer_unregister(&t) == 0);
	CHECK(hodo_function_name((void *)traced, NULL, 1) == -EINVAL);
	CHECK(hodo_function_name((void *)traced, NULL, 0) == 6);
	CHECK(hodo_function_name(NULL, NULL, 0) == -ENOENT);
	CHECK(hodo_function_name((void *)-8l, NULL, 0) == -ENOENT);
	traced_twice();
}

/* ----------------------------------------------------------- stacks inside of stacks */

static sigjmp_buf back;

UNTRACED static void call_traced(int sig)
{
	(void)sig;
	traced_twice();
}

UNTRACED static void raise_in_tracer(struct hodo_tracer *t, const struct hodo_call *call)
{
	static bool raising;

	(void)t;
	(void)call;
	if (raising)
		return;
	raising = true;
	raise(SIGUSR1);
	raising = false;
}

static struct hodo_tracer raiser = { .size = sizeof(raiser), .enter = raise_in_tracer };

TRACED static void altstack_calls(void)
{
	traced_twice();
	raise(SIGUSR1);
	traced_twice();
}

/* A signal stack that is an array of a calling function: its addresses are above those of the interrupted function. */
UNTRACED static void altstack_in_frame(void)
{
	char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = call_traced, .sa_flags = SA_ONSTACK | SA_NODEFER };

	CHECK(sigaltstack(&ss, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(hodo_tracer_register(&raiser) == 0 && hodo_tracer_register(&counter) == 0);
	altstack_calls();
	CHECK(hodo_tracer_unregister(&raiser) == 0);
	entered = left = gone = 0;
	altstack_calls();
	CHECK(hodo_tracer_unregister(&counter) == 0);
	/* By their addresses alone, the handler's calls look as if a calling function had made them. */
	CHECK(entered == 7 && left == 7 && gone <= 1);
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
}

/* A signal stack of the usual size has enough room below the kernel's frame for all that tracing does. */
UNTRACED static void call_many(int sig)
{
	for (int i = 0; i < 20000; i++)
		call_traced(sig);
}

UNTRACED static void *small_stack_thread(void *arg)
{
	char *memory = mmap(NULL, 4096 + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = { .ss_sp = memory + 4096, .ss_size = 8192 };

	CHECK(memory != MAP_FAILED && mprotect(memory, 4096, PROT_NONE) == 0 && sigaltstack(&ss, NULL) == 0);
	raise(SIGUSR1);
	return arg;
}

UNTRACED static void small_stack(void)
{
	struct sigaction action = { .sa_handler = call_many, .sa_flags = SA_ONSTACK };
	pthread_t thread;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(hodo_tracer_register(&counter) == 0);
	pthread_create(&thread, NULL, small_stack_thread, NULL); /* its first traced call is on the small stack */
	pthread_join(thread, NULL);
	CHECK(entered == 40000 && left == 40000);
	CHECK(hodo_tracer_unregister(&counter) == 0);
}

static ucontext_t main_context, context;

TRACED static void coroutine_step(int i)
{
	traced();
	sink += i;
	swapcontext(&context, &main_context);
	sink += i;
}

TRACED static void coroutine(void)
{
	for (int i = 0; i < 10; i++)
		coroutine_step(i);
}

TRACED static void resume(void)
{
	traced();
	swapcontext(&main_context, &context);
	sink++;
}

/* As in the manual page of makecontext, but without `static`: the same is true for its calls. */
UNTRACED static void coroutine_in_frame(void)
{
	char stack[65536];

	CHECK(hodo_tracer_register(&counter) == 0);
	entered = left = gone = 0;
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &main_context;
	makecontext(&context, coroutine, 0);
	for (int i = 0; i <= 10; i++)
		resume();
	CHECK(hodo_tracer_unregister(&counter) == 0);
	CHECK(entered == 22 + 21 && left == 22 + 21 && gone <= 22);
}

/* ------------------------------------------------------------------- longjmp, quiet */

UNTRACED static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

UNTRACED static void *unregister_raiser(void *arg)
{
	CHECK(hodo_tracer_unregister(&raiser) == 0);
	kill(getpid(), SIGUSR2);
	return arg;
}

UNTRACED static void nothing(int sig) { (void)sig; }

/* A handler longjmps out of a tracer; the thread then calls nothing traced, and sleeps while it is unregistered. */
UNTRACED static void longjmp_then_sleep(void)
{
	struct sigaction action = { .sa_handler = jump }, none = { .sa_handler = nothing };
	sigset_t blocked, old;
	pthread_t thread;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &none, NULL);
	CHECK(hodo_tracer_register(&raiser) == 0);
	if (sigsetjmp(back, 1) == 0)
		traced();
	pthread_create(&thread, NULL, unregister_raiser, NULL);
	sigsuspend(&old);
	pthread_join(thread, NULL);
}

/* The same thread unregisters. */
UNTRACED static void longjmp_then_unregister(void)
{
	struct sigaction action = { .sa_handler = jump };

	sigaction(SIGUSR1, &action, NULL);
	CHECK(hodo_tracer_register(&raiser) == 0);
	if (sigsetjmp(back, 1) == 0)
		traced();
	CHECK(hodo_tracer_unregister(&raiser) == 0);
}

/* ---------------------------------------------------------------------- growth */

UNTRACED static long status_kib(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)) == 0)
			n = strtol(line + strlen(key) + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return n;
}

UNTRACED static void *trace_once(void *arg)
{
	traced_twice();
	return arg;
}

UNTRACED static void run_threads(int n)
{
	for (int i = 0; i < n; i += 4) {
		pthread_t t[4];

		for (int k = 0; k < 4; k++)
			CHECK(pthread_create(&t[k], NULL, trace_once, NULL) == 0);
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
}

UNTRACED static void threads(void)
{
	long before;

	CHECK(hodo_tracer_register(&counter) == 0);
	run_threads(2000);
	before = status_kib("VmSize:");
	entered = left = 0;
	run_threads(20000);
	CHECK(entered == 40000 && left == 40000);
	fprintf(stderr, "grown by %ld KiB\n", status_kib("VmSize:") - before);
	CHECK(status_kib("VmSize:") - before < 1024);
	CHECK(hodo_tracer_unregister(&counter) == 0);
}

/* A library is opened and closed: what was kept for it must be freed. */
UNTRACED static void open_and_close(const char *library, int times)
{
	for (int i = 0; i < times; i++) {
		void *handle = dlopen(library, RTLD_NOW);
		void (*f)(void) = handle ? (void (*)(void))(uintptr_t)dlsym(handle, "plugin_call") : NULL;

		CHECK(f);
		if (!f)
			return;
		f();
		dlclose(handle);
	}
}

UNTRACED static void libraries(const char *library, bool traced)
{
	long before;

	if (traced)
		CHECK(hodo_tracer_register(&counter) == 0);
	open_and_close(library, 500);
	before = status_kib("VmSize:");
	entered = 0;
	open_and_close(library, 2000);
	CHECK(!traced || entered == 2000);
	fprintf(stderr, "grown by %ld KiB\n", status_kib("VmSize:") - before);
	CHECK(status_kib("VmSize:") - before < 1024);
	if (traced)
		CHECK(hodo_tracer_unregister(&counter) == 0);
}

/* -------------------------------------------------------------------- locks */

static atomic_bool stop;

UNTRACED static void *register_and_unregister(void *arg)
{
	struct hodo_tracer own = { .size = sizeof(own), .enter = count_enter, .functions = "traced" };

	while (!stop) {
		CHECK(hodo_tracer_register(&own) == 0);
		CHECK(hodo_tracer_unregister(&own) == 0);
	}
	return arg;
}

UNTRACED static void *open_until_stop(void *library)
{
	while (!stop)
		open_and_close(library, 1);
	return NULL;
}

/* dlopen in a tracer, while other threads register. */
static char *library_path;
UNTRACED static void open_in_tracer(struct hodo_tracer *t, const struct hodo_call *call)
{
	int saved = errno;

	(void)t;
	(void)call;
	open_and_close(library_path, 1);
	errno = saved;
}

UNTRACED static void dlopen_in_tracer(char *library)
{
	struct hodo_tracer opener = { .size = sizeof(opener), .enter = open_in_tracer, .functions = "traced" };
	pthread_t thread, opens;

	library_path = library;
	CHECK(hodo_tracer_register(&opener) == 0);
	pthread_create(&thread, NULL, register_and_unregister, NULL);
	pthread_create(&opens, NULL, open_until_stop, library);
	for (int i = 0; i < 1000; i++)
		traced_twice();
	stop = true;
	pthread_join(thread, NULL);
	pthread_join(opens, NULL);
	CHECK(hodo_tracer_unregister(&opener) == 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = { { "vfork_first", vfork_first }, { "arguments", arguments },
		       { "altstack_in_frame", altstack_in_frame }, { "coroutine_in_frame", coroutine_in_frame },
		       { "longjmp_then_sleep", longjmp_then_sleep },
		       { "longjmp_then_unregister", longjmp_then_unregister },
		       { "threads", threads }, { "small_stack", small_stack } };
	const char *scene = argc > 1 ? argv[1] : "";

	alarm(100);
	sem_init(&in_tracer, 0, 0);
	sem_init(&go_on, 0, 0);
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(scene, scenes[i].name) == 0) {
			scenes[i].run();
			return bad != 0;
		}
	}
	if (argc > 2 && strcmp(scene, "libraries") == 0)
		libraries(argv[2], true);
	else if (argc > 2 && strcmp(scene, "libraries_untraced") == 0)
		libraries(argv[2], false);
	else if (argc > 2 && strcmp(scene, "dlopen_in_tracer") == 0)
		dlopen_in_tracer(argv[2]);
	else
		return 2;
	return bad != 0;
}
