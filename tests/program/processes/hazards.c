/* SPDX-License-Identifier: MIT */
/* hazards.c - hazards SCENE: what programs do at bad moments. Exits with 0 if the process and its children survive. */
#define _GNU_SOURCE
#include <hodo/control.h>
#include <hodo/trace.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 100

HODO_TRACEPOINT(hazards, point, (int, n));

static volatile sig_atomic_t stop, forks, bad, in_child;

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static pid_t bare_fork(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

/* The child returns from the handler, into whatever the handler interrupted. */
static void fork_here(int sig)
{
	int saved = errno;
	pid_t pid;

	if (in_child || stop)
		return;
	pid = fork();
	if (pid == 0) {
		in_child = 1;
		return;
	}
	bad += wait_for(pid) != 0;
	stop = ++forks >= CHILDREN;
	errno = saved;
}

static int fork_in_handler(void)
{
	struct sigaction action = { .sa_handler = fork_here };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	/* The ring is small: nearly all of these take the slow path. */
	for (int i = 0; !stop; i++) {
		HODO_EVENT(hazards, loop, i);
		if (in_child) {
			HODO_EVENT(hazards, child, i);
			_exit(0);
		}
	}
	return bad;
}

/* A vfork child writes the first event of its parent's thread. */
static int vfork_first(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		HODO_EVENT(hazards, vchild, 1);
		_exit(0);
	}
	bad = wait_for(pid);
	HODO_EVENT(hazards, parent, 1);
	return bad;
}

/* A vfork child is not registered for restartable sequences, nor are its fork children. */
static int fork_in_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		pid = fork();
		if (pid == 0) {
			HODO_EVENT(hazards, forked, 1);
			_exit(0);
		}
		_exit(wait_for(pid) != 0);
	}
	return wait_for(pid);
}

static void *switch_on_and_off(void *arg)
{
	while (!stop) {
		hodo_disable("hazards:none");
		hodo_enable("hazards:none");
	}
	return arg;
}

/* The thread above is inside the library when the process is copied; the parent kills a child that hangs. */
static int bare_fork_locked(void)
{
	pthread_t thread;
	int hung = 0;

	pthread_create(&thread, NULL, switch_on_and_off, NULL);
	for (int i = 0; i < CHILDREN && !hung; i++) {
		pid_t pid = bare_fork(), done = 0;

		if (pid == 0)
			_exit(hodo_disable("hazards:none") < 0);
		for (int tenths = 0; tenths < 200 && !done; tenths++) {
			for (int k = 0; k < 1000 && !done; k++) {
				done = waitpid(pid, NULL, WNOHANG);
				usleep(100);
			}
		}
		if (!done) {
			kill(pid, SIGKILL);
			wait_for(pid);
			hung = 1;
		}
	}
	stop = 1;
	pthread_join(thread, NULL);
	return hung;
}

static int entered[2], leave[2];
static void probe(void *data, int n)
{
	char c = 0;

	if (n == 1 && (write(entered[1], &c, 1) != 1 || read(leave[0], &c, 1) != 1))
		bad = 1;
}
static void *call_probe(void *arg)
{
	trace_hazards_point(1);
	return arg;
}

/* Another thread is inside the probe when the process is copied; the child does not have that thread. */
static int bare_fork_probe(void)
{
	pthread_t thread;
	char c = 0;
	pid_t pid;

	if (pipe(entered) != 0 || pipe(leave) != 0 || register_trace_hazards_point(probe, NULL) != 0)
		return 1;
	pthread_create(&thread, NULL, call_probe, NULL);
	if (read(entered[0], &c, 1) != 1)
		return 1;
	pid = bare_fork();
	if (pid == 0) {
		alarm(20);
		_exit(unregister_trace_hazards_point(probe, NULL) != 0);
	}
	bad += wait_for(pid) != 0;
	if (write(leave[1], &c, 1) != 1)
		return 1;
	pthread_join(thread, NULL);
	return bad;
}

static pthread_barrier_t barrier;
static void *first_event(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 20; i++)
		HODO_EVENT(hazards, together, i);
	return arg;
}

/* The child's threads trace, all at once, before anything else has shown to it that it is a child. */
static int bare_fork_threads(void)
{
	HODO_EVENT(hazards, begin);
	for (int i = 0; i < 20; i++) {
		pid_t pid = _Fork();

		if (pid == 0) {
			pthread_t threads[4];

			pthread_barrier_init(&barrier, NULL, 4);
			for (int k = 0; k < 4; k++)
				pthread_create(&threads[k], NULL, first_event, NULL);
			for (int k = 0; k < 4; k++)
				pthread_join(threads[k], NULL);
			_exit(0);
		}
		bad += wait_for(pid) != 0;
	}
	return bad;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} scenes[] = { { "fork_in_handler", fork_in_handler }, { "vfork_first", vfork_first },
		       { "fork_in_vfork", fork_in_vfork },
		       { "bare_fork_locked", bare_fork_locked }, { "bare_fork_probe", bare_fork_probe },
		       { "bare_fork_threads", bare_fork_threads } };

	for (size_t i = 0; argc == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(argv[1], scenes[i].name) == 0)
			return scenes[i].run() != 0;
	}
	fprintf(stderr, "hazards: no such scene\n");
	return 2;
}
