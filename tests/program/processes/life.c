/* SPDX-License-Identifier: MIT */
/*
 * life.c - tracing at every moment of a process's life; life SCENE. life.py
 * says what each scene must leave in the trace. A child exits with status 0
 * if all went well, and the scene fails if one of its children fails.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *self;

static void note(const char *where, int n) { HODO_EVENT(life, note, where, n); }

static __attribute__((constructor)) void constructor(void) { note("constructor", 0); }
static __attribute__((destructor)) void destructor(void) { note("destructor", 0); }
static void at_exit(void) { note("atexit", 0); }
static void key_destructor(void *value) { note("key", (int)(intptr_t)value); }

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void *thread_main(void *arg)
{
	pthread_setspecific(*(pthread_key_t *)arg, (void *)7);
	note("thread", 0);
	return NULL;
}

static int scene_ends(void)
{
	pthread_key_t key;
	pthread_t thread;

	atexit(at_exit);
	pthread_key_create(&key, key_destructor);
	pthread_create(&thread, NULL, thread_main, &key);
	pthread_join(thread, NULL);
	note("main", 0);
	return 0;
}

/* Three generations; the last one traces after its parent has ended. */
static int scene_fork(void)
{
	pid_t child;

	note("parent", 0);
	child = fork();
	if (child == 0) {
		pid_t grandchild;

		note("child", 1);
		grandchild = fork();
		if (grandchild == 0) {
			note("grandchild", 2);
			_exit(0);
		}
		note("child", 3);
		_exit(wait_for(grandchild));
	}
	note("parent", 1);
	return wait_for(child);
}

/* Forks as a program does that avoids libc's fork(): no handlers run. */
static int scene_bare_clone(void)
{
	pid_t child;

	note("parent", 0);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		for (int i = 0; i < 100; i++)
			note("child", i);
		_exit(0);
	}
	for (int i = 1; i < 100; i++)
		note("parent", i);
	return wait_for(child);
}

static volatile int stop;
static void *busy(void *arg)
{
	for (int i = 0; !stop; i++)
		HODO_EVENT(life, busy, i);
	return NULL;
}

/* vfork children that trace at the same time as the parent's other threads, then exec or exit. */
static int scene_vfork(void)
{
	pthread_t thread;
	int bad = 0;

	pthread_create(&thread, NULL, busy, NULL);
	for (volatile int i = 0; i < 200; i++) {
		pid_t child;

		note("before", i);
		child = vfork();
		if (child == 0) {
			for (volatile int k = 0; k < 10; k++)
				note("vchild", k);
			if (i % 50 == 0)
				execl(self, self, "note", "exec'd", (char *)NULL);
			_exit(0);
		}
		note("after", i);
		bad += wait_for(child);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return bad;
}

static int clone_child(void *arg)
{
	for (int i = 0; i < 10; i++)
		note("cchild", i);
	return 0;
}

static int scene_clone_vm(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		pid_t child;

		note("before", i);
		child = clone(clone_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		note("after", i);
		bad += child < 0 ? 1 : wait_for(child);
	}
	return bad;
}

static int beside(void *arg)
{
	for (int i = 0; i < 100; i++)
		note("beside", i);
	return 0;
}

/* A vfork child leaves a child that shares the memory: it runs beside the parent, in its thread-local storage. */
static int scene_vfork_clone_vm(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t child;

	note("parent", 0); /* the parent has a ring of its own from here on */
	child = vfork();
	if (child == 0)
		_exit(clone(beside, stack + sizeof(stack), CLONE_VM | CLONE_PARENT | SIGCHLD, NULL) < 0);
	for (int i = 0; i < 100; i++)
		note("after", i);
	return wait_for(-1) + wait_for(-1);
}

/* A bare clone's child, whose first event is that of a task in its memory: it is recorded as long as it lives. */
static int in_bare_child(int (*run)(void))
{
	pid_t child;

	note("parent", 0);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		int bad = run();

		usleep(200000); /* the recorder sees the task's end meanwhile, and must not take it for the process's */
		for (int i = 0; i < 100; i++)
			note("child", i);
		_exit(bad);
	}
	return wait_for(child);
}

static int vfork_first(void)
{
	pid_t child = vfork();

	if (child == 0) {
		note("first", 0);
		_exit(0);
	}
	return wait_for(child);
}

static int scene_bare_vfork(void) { return in_bare_child(vfork_first); }

static int clone_first_child(void *arg)
{
	note("first", 0);
	return 0;
}

static int clone_first(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t child = clone(clone_first_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	return child < 0 ? 1 : wait_for(child);
}

static int scene_bare_clone_vm(void) { return in_bare_child(clone_first); }

static void *thread_first_main(void *arg)
{
	cpu_set_t set;

	/* On the CPU where the first thread continues. */
	CPU_ZERO(&set);
	CPU_SET((int)(intptr_t)arg, &set);
	sched_setaffinity(0, sizeof(set), &set);
	note("first", 0);
	return NULL;
}

static int thread_first(void)
{
	int cpu = sched_getcpu();
	pthread_t thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (pthread_create(&thread, NULL, thread_first_main, (void *)(intptr_t)cpu) != 0)
		return 1;
	return pthread_join(thread, NULL);
}

static int scene_bare_thread(void) { return in_bare_child(thread_first); }

static int scene_spawn(void)
{
	char *args[] = { (char *)self, "note", "spawned", NULL };
	int bad = 0;

	for (int i = 0; i < 3; i++) {
		pid_t child;

		note("parent", i);
		bad += posix_spawn(&child, self, NULL, NULL, args, environ) != 0 || wait_for(child) != 0;
	}
	return bad;
}

static int scene_exec(void)
{
	note("before", 0);
	execl(self, self, "note", "after", (char *)NULL);
	return 1;
}

/* As daemons do: forked twice, a new session, every descriptor closed, alive after its ancestors have ended. */
static int scene_daemon(void)
{
	note("start", 0);
	if (fork() != 0)
		_exit(0);
	setsid();
	if (fork() != 0)
		_exit(0);
	if (syscall(SYS_close_range, 0u, ~0u, 0) != 0)
		return 1;
	usleep(300000);
	for (int i = 0; i < 1000; i++)
		note("daemon", i);
	_exit(0);
}

static volatile sig_atomic_t handled;
static void handler(int sig)
{
	for (int i = 0; i < 3; i++)
		note("handler", handled);
	handled++;
}

static int scene_signals(void)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGALRM, &action, NULL);
	ualarm(200, 200);
	for (int i = 0; handled < 200; i++) {
		HODO_EVENT(life, loop, i);
		for (volatile int k = 0; k < 3000; k++)
			; /* so that there are some events for each handler, not a million */
	}
	ualarm(0, 0);
	note("handled", handled);
	return 0;
}

static int scene_abort(void)
{
	note("last", 0);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

/* What the program could notice of us: descriptors, handlers, errno. */
static int scene_unseen(void)
{
	struct sigaction action;
	int open_fds = 0;

	errno = 77;
	for (int i = 0; i < 10000; i++)
		note("errno", i);
	if (errno != 77)
		return 1;
	for (int fd = 3; fd < 256; fd++)
		open_fds += fcntl(fd, F_GETFD) >= 0;
	for (int sig = 1; sig < 65; sig++) {
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL && sig != SIGPIPE)
			return 2;
	}
	return open_fds == 0 ? 0 : 3;
}

#define PAGE 4096

static char *guarded; /* memory that cannot be read until the handler permits it */
static volatile int mended;

static void mend(int sig)
{
	mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
	mended++;
}

static void guard(void (*handler)(int))
{
	guarded = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler);
	memset(guarded, 'm', PAGE);
	mprotect(guarded, PAGE, PROT_NONE);
}

/* Faults that a handler repairs, as garbage collectors' handlers do, in memory that an event points to. */
static int scene_mended(void)
{
	guard(mend);
	for (int i = 0; i < 100; i++) {
		HODO_EVENT(life, mended, HODO_BYTES(guarded, 300), i);
		mprotect(guarded, PAGE, PROT_NONE);
	}
	return mended >= 100 ? 0 : 1;
}

static void crashed(int sig) { _exit(9); }

static int scene_crash_handler(void)
{
	guard(crashed);
	HODO_EVENT(life, crash, HODO_BYTES(guarded, 300));
	return 0;
}

static int scene_note(const char *text)
{
	note(text, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} scenes[] = { { "ends", scene_ends }, { "fork", scene_fork }, { "bare_clone", scene_bare_clone },
		       { "vfork", scene_vfork }, { "clone_vm", scene_clone_vm },
		       { "vfork_clone_vm", scene_vfork_clone_vm },
		       { "bare_vfork", scene_bare_vfork }, { "bare_clone_vm", scene_bare_clone_vm },
		       { "bare_thread", scene_bare_thread }, { "spawn", scene_spawn },
		       { "exec", scene_exec }, { "daemon", scene_daemon }, { "signals", scene_signals },
		       { "abort", scene_abort }, { "unseen", scene_unseen },
		       { "mended", scene_mended }, { "crash_handler", scene_crash_handler } };

	self = argv[0];
	if (argc == 3 && strcmp(argv[1], "note") == 0)
		return scene_note(argv[2]);
	for (size_t i = 0; argc == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(argv[1], scenes[i].name) == 0)
			return scenes[i].run();
	}
	fprintf(stderr, "life: no such scene\n");
	return 2;
}
