/* SPDX-License-Identifier: MIT */
/*
 * census.c SEED LIMIT EVENTS LEDGER PLUGIN EMPTY - a program of up to LIMIT images that come and go at random.
 *
 * Each image writes events, about EVENTS at a time, keeps its line of the ledger, and does what its random numbers say:
 * forks, with and without handlers, spawns, becomes another image, another user's or another root directory's, starts
 * threads and processes in its own memory, opens the library PLUGIN, here or in a separate namespace, receives signals,
 * hangs, dies. EMPTY is an empty folder. SEED alone decides what the images do,
 * the machine decides the order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

#include "census.h"

#define NOBODY 65534
#define THREADS 3
#define STEPS 4 /* of one image */
#define STACK_BYTES 65536

extern char **environ;

static struct ledger *ledger;
static struct ledger_image *own;
static int id;
static uint64_t seed; /* of the present image: its random choices are drawn from this */
static int events;
static const char *program, *plugin, *empty;

static uint64_t draw(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

static void must(long result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "census: %s: %s\n", what, strerror(errno));
		_exit(70);
	}
}

/* -------------------------------------------------------------------- events */

static void write_events(int n)
{
	static const char text[] = "a text that is somewhat longer than the other fields of the events here";

	for (int i = 0; i < n; i++) {
		ledger_begin(own);
		if (i % 7 == 3)
			HODO_EVENT(census, text, HODO_F(image, id), HODO_F(i, i), HODO_F(text, text));
		else
			HODO_EVENT(census, number, HODO_F(image, id), HODO_F(i, i));
		ledger_end(own);
	}
}

static void *thread_main(void *n)
{
	write_events((int)(intptr_t)n);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		must(-pthread_create(&thread[i], NULL, thread_main, (void *)(intptr_t)n), "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void on_alarm(int signal)
{
	int saved = errno;

	(void)signal;
	write_events(1);
	errno = saved;
}

static void run_signals(int n)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	write_events(n * 4);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void run_plugin(int n, bool namespace)
{
	void *library = namespace ? dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW) : dlopen(plugin, RTLD_NOW);
	void (*work)(struct ledger_image *image, int id, int n);

	must(library ? 0 : -1, plugin);
	*(void **)&work = dlsym(library, "plugin_work");
	work(own, id, n);
	dlclose(library);
}

/* -------------------------------------------------------------------- images */

/* Takes a line of the ledger for the image that has just begun. */
static void enter(uint64_t its_seed, int parent, bool silent)
{
	uint32_t n = __atomic_fetch_add(&ledger->images, 1, __ATOMIC_SEQ_CST);

	must(n < LEDGER_IMAGES ? 0 : -1, "the ledger is full");
	id = (int)n;
	own = &ledger->image[n];
	own->parent = parent;
	own->silent = silent;
	__atomic_store_n(&own->pid, getpid(), __ATOMIC_SEQ_CST);
	seed = its_seed;
	write_events(1 + (int)(draw() % (unsigned)events));
}

static bool room(void)
{
	return __atomic_load_n(&ledger->images, __ATOMIC_SEQ_CST) < ledger->limit;
}

static void live(void);

static void collect(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* The seed of a child that this step makes. */
static uint64_t childs_seed(int step)
{
	return (seed ^ (uint64_t)step << 56) * 0x9e3779b97f4a7c15ull;
}

static void run_fork(int step, bool bare, bool wait)
{
	uint64_t its = childs_seed(step);
	int parent = id;
	pid_t pid = bare ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	must(pid, "fork");
	if (pid == 0) {
		enter(its, parent, bare);
		live();
	}
	if (wait)
		collect(pid);
}

/* Its parent does not wait for it. */
static void run_daemon(int step)
{
	uint64_t its = childs_seed(step);
	pid_t pid = fork();

	must(pid, "fork");
	if (pid == 0) {
		enter(its, id, false);
		setsid();
		run_fork(step + 1, false, false);
		_exit(0);
	}
	collect(pid);
}

static int in_our_memory(void *n)
{
	write_events((int)(intptr_t)n);
	return 0;
}

/* A process that shares our memory, thread-local storage included: what it writes counts as ours. */
static void run_sharing(int n, bool vforked)
{
	static uint8_t stack[STACK_BYTES] __attribute__((aligned(16)));
	pid_t pid = clone(in_our_memory, stack + STACK_BYTES, CLONE_VM | SIGCHLD | (vforked ? CLONE_VFORK : 0),
			  (void *)(intptr_t)n);

	must(pid, "clone");
	write_events(5); /* at the same time as the child, unless we had to wait */
	collect(pid);
	write_events(5);
}

static char **image_arguments(uint64_t its)
{
	static char number[24], count[12], parent[12];
	static char *argv[8];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)its);
	snprintf(count, sizeof(count), "%d", events);
	snprintf(parent, sizeof(parent), "%d", id);
	argv[0] = (char *)program;
	argv[1] = "image";
	argv[2] = number;
	argv[3] = count;
	argv[4] = (char *)plugin;
	argv[5] = (char *)empty;
	argv[6] = parent;
	return argv;
}

static void run_spawn(int step, bool vforked)
{
	char **argv = image_arguments(childs_seed(step));
	pid_t pid;

	if (vforked) {
		pid = vfork();
		must(pid, "vfork");
		if (pid == 0) {
			write_events(3); /* in our memory: they count as ours */
			execv(program, argv);
			_exit(71);
		}
	} else {
		must(-posix_spawn(&pid, program, NULL, NULL, argv, environ), program);
	}
	collect(pid);
}

/* A child whose next image has an empty environment, and so does not load libhodo. */
static void run_unheard(int step)
{
	uint64_t its = childs_seed(step);
	pid_t pid = fork();

	must(pid, "fork");
	if (pid == 0) {
		enter(its, id, false);
		execve(program, image_arguments(its + 1), (char *[]){ NULL });
		_exit(71);
	}
	collect(pid);
}

/* A child that becomes another user, or has another root directory; its children inherit that. */
static void run_elsewhere(int step, bool root)
{
	uint64_t its = childs_seed(step);
	pid_t pid;

	if (geteuid() != 0)
		return;
	pid = fork();
	must(pid, "fork");
	if (pid == 0) {
		enter(its, id, false);
		if (root) {
			must(chroot(empty), "chroot");
		} else {
			must(setgroups(0, NULL), "setgroups");
			must(setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
			must(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
		}
		if (room())
			run_fork(step + 1, false, true);
		_exit(0);
	}
	collect(pid);
}

/* A child that hangs until it is killed; it is killed only once it has its line in the ledger. */
static void run_hanging(int step)
{
	uint64_t its = childs_seed(step);
	int ready[2];
	pid_t pid;
	char c;

	must(pipe2(ready, O_CLOEXEC), "pipe2");
	pid = fork();
	must(pid, "fork");
	if (pid == 0) {
		enter(its, id, false);
		must(write(ready[1], "", 1), "write");
		for (;;) {
			write_events(1);
			usleep(100);
		}
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) == 1)
		kill(pid, SIGKILL);
	close(ready[0]);
	collect(pid);
}

static void die(void)
{
	switch (draw() % 8) {
	case 0:
		_exit(0);
	case 1:
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	case 2:
		raise(SIGTERM);
		break;
	case 3:
		raise(SIGUSR1);
		break;
	case 4:
		syscall(SYS_exit_group, 3);
		break;
	}
	exit(1);
}

static void step(int n, int batch)
{
	switch (draw() % 19) {
	case 0: case 1:
		run_fork(n, false, true);
		break;
	case 2: case 3:
		run_fork(n, false, false);
		break;
	case 4:
		run_fork(n, true, true);
		break;
	case 5:
		run_spawn(n, true);
		break;
	case 6:
		run_spawn(n, false);
		break;
	case 7:
		run_daemon(n);
		break;
	case 8:
		run_hanging(n);
		break;
	case 9:
		run_elsewhere(n, false);
		break;
	case 10:
		run_elsewhere(n, true);
		break;
	case 11:
		run_unheard(n);
		break;
	case 12:
		run_threads(batch);
		break;
	case 13:
		run_signals(batch);
		break;
	case 14:
		run_plugin(batch, false);
		break;
	case 15:
		run_plugin(batch, true);
		break;
	case 16:
		run_sharing(batch, false);
		break;
	case 17:
		run_sharing(batch, true);
		break;
	case 18:
		execv(program, image_arguments(childs_seed(n)));
		must(-1, program);
	}
}

/* Does not return. Below another root directory there is no program that it could start. */
static void live(void)
{
	for (int n = 0; n < STEPS && room(); n++) {
		int batch = (int)(draw() % (unsigned)events);

		write_events(batch);
		if (access(program, X_OK) == 0)
			step(n * 2, batch);
	}
	die();
}

int main(int argc, char **argv)
{
	bool image = argc == 7 && strcmp(argv[1], "image") == 0;
	int fd;

	if (!image && argc != 7) {
		fprintf(stderr, "usage: census SEED LIMIT EVENTS LEDGER PLUGIN EMPTY\n");
		return 2;
	}
	program = argv[0];
	events = atoi(argv[3]);
	plugin = argv[image ? 4 : 5];
	empty = argv[image ? 5 : 6];
	if (!image) {
		fd = open(argv[4], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		must(fd, argv[4]);
		must(ftruncate(fd, sizeof(*ledger)), argv[4]);
		must(dup2(fd, LEDGER_FD), "dup2");
	}
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, LEDGER_FD, 0);
	must(ledger == MAP_FAILED ? -1 : 0, "the ledger");
	if (image) {
		enter(strtoull(argv[2], NULL, 10), atoi(argv[6]), !getenv("HODO_RECORDER"));
		if (own->silent) /* nobody could know of its children */
			_exit(0);
		live();
	}
	ledger->limit = (uint32_t)atoi(argv[2]);
	must(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
	enter(strtoull(argv[1], NULL, 10), -1, false);
	for (int round = 0; room() && round < 1000; round++)
		run_fork(round, false, round % 4 != 0), draw();
	/* Waits for daemons, too. */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	return 0;
}
