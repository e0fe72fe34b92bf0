/* SPDX-License-Identifier: MIT */
/*
 * target MODE [ARGUMENT] - waits or runs in the way that MODE says, until its standard input ends, and checks
 * whether anything was done to it. Prints "ready" once it is in that state;
 * at the end prints "fine" and exits with 0, or prints what was wrong and exits with 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *argument = "";
static volatile int ended;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void fail(const char *what)
{
	printf("wrong: %s (errno %d)\n", what, errno);
	fflush(stdout);
	_exit(1);
}

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			fail(#x); \
	} while (0)

static void ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Waits for the end of standard input, in modes whose other threads are the ones under test. */
static void *watch(void *arg)
{
	char byte;

	while (read(0, &byte, 1) != 0)
		;
	ended = 1;
	return NULL;
}

static void start(pthread_t *thread, void *(*f)(void *))
{
	CHECK(pthread_create(thread, NULL, f, NULL) == 0);
}

/* Whether the input has ended, without waiting: for modes that are busy in one thread. */
static int input_ended(void)
{
	struct pollfd p = { 0, POLLIN | POLLHUP, 0 };
	char byte;

	return poll(&p, 1, 0) == 1 && read(0, &byte, 1) == 0;
}

/* -------------------------------------------------------------- system calls */

static void mode_poll(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	ready();
	CHECK(poll(&p, 1, -1) == 1);
}

static void mode_poll_timeout(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	ready();
	CHECK(poll(&p, 1, 600000) == 1);
}

static void mode_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(0, &set);
	ready();
	CHECK(select(1, &set, NULL, NULL, NULL) == 1);
}

static void epoll(int timeout, const sigset_t *mask)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	CHECK(fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, 0, &e) == 0);
	ready();
	CHECK((mask ? epoll_pwait(fd, &e, 1, timeout, mask) : epoll_wait(fd, &e, 1, timeout)) == 1);
}

static void mode_epoll(void) { epoll(-1, NULL); }
static void mode_epoll_timeout(void) { epoll(600000, NULL); }

static volatile int got_usr1;
static void on_usr1(int signal) { got_usr1++; }

static void mode_epoll_pwait(void)
{
	sigset_t old, block;

	signal(SIGUSR1, on_usr1);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &old);
	epoll(-1, &old);
	sigprocmask(SIG_BLOCK, NULL, &old);
	CHECK(sigismember(&old, SIGUSR1) == 1 && sigismember(&old, SIGTERM) == 0);
}

static void mode_read(void)
{
	char byte;

	ready();
	CHECK(read(0, &byte, 1) == 0);
}

static void mode_recv_timeout(void)
{
	struct timeval tv = { 600, 0 };
	int pair[2];
	char byte;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) == 0);
	if (fork() == 0) {
		while (read(0, &byte, 1) > 0)
			;
		_exit(write(pair[1], "x", 1) == 1 ? 0 : 1);
	}
	ready();
	CHECK(recv(pair[0], &byte, 1, 0) == 1);
	wait(NULL);
}

static void mode_semop(void)
{
	struct sembuf down = { 0, -1, 0 }, up = { 0, 1, 0 };
	int id = semget(IPC_PRIVATE, 1, 0600), r;
	char byte;

	CHECK(id >= 0);
	if (fork() == 0) {
		while (read(0, &byte, 1) > 0)
			;
		_exit(semop(id, &up, 1));
	}
	ready();
	r = semop(id, &down, 1);
	semctl(id, 0, IPC_RMID);
	CHECK(r == 0);
	wait(NULL);
}

static void mode_sigtimedwait(void)
{
	struct timespec ts = { 600, 0 };
	pid_t parent = getpid();
	sigset_t set;
	char byte;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (fork() == 0) {
		while (read(0, &byte, 1) > 0)
			;
		_exit(kill(parent, SIGUSR1));
	}
	ready();
	CHECK(sigtimedwait(&set, NULL, &ts) == SIGUSR1);
	wait(NULL);
}

static void mode_nanosleep(void)
{
	struct timespec ts = { 8, 0 };
	double from = now();

	ready();
	CHECK(nanosleep(&ts, NULL) == 0);
	printf("slept %.3f\n", now() - from);
	CHECK(now() - from >= 8.0);
}

static void mode_futex(void)
{
	pthread_t thread;

	start(&thread, watch);
	ready();
	pthread_mutex_lock(&mutex);
	while (!ended) {
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 200000000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_nsec -= 1000000000;
			ts.tv_sec++;
		}
		int r = pthread_cond_timedwait(&cond, &mutex, &ts);

		CHECK(r == 0 || r == ETIMEDOUT);
	}
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

/* A signal that is pending already ends the wait with EINTR, as it would have without the tool. */
static void mode_eintr(void)
{
	struct epoll_event e;
	int fd = epoll_create1(0), n = 0;
	struct sigaction action = { .sa_handler = on_usr1 };

	sigaction(SIGUSR1, &action, NULL);
	ready();
	while (!input_ended()) {
		int r = epoll_wait(fd, &e, 1, 50), seen = got_usr1;

		CHECK(r == 0 || (r == -1 && errno == EINTR && seen > n));
		n = seen;
	}
	printf("signals %d\n", got_usr1);
}

/* ------------------------------------------------------------------ handlers */

static volatile int handled;

static void handler_waits(int signal)
{
	struct pollfd p = { 0, POLLIN, 0 };

	handled = 1;
	ready();
	CHECK(poll(&p, 1, -1) == 1);
}

static void mode_handler(void)
{
	signal(SIGUSR1, handler_waits);
	raise(SIGUSR1);
	CHECK(handled);
}

static void mode_altstack(void)
{
	static char stack[32768];
	struct sigaction action = { .sa_handler = handler_waits, .sa_flags = SA_ONSTACK };
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) }, after;

	CHECK(sigaltstack(&s, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	raise(SIGUSR1);
	CHECK(handled && sigaltstack(NULL, &after) == 0 && after.ss_sp == stack && after.ss_flags == 0);
}

/* A handler that interrupted malloc and waits in it for ever: it is never safe to attach. */
static void handler_stays(int signal)
{
	handler_waits(signal);
	_exit(0);
}

static void mode_handler_in_malloc(void)
{
	struct sigaction action = { .sa_handler = handler_stays };

	sigaction(SIGSEGV, &action, NULL);
	/* An impossible chunk, at the given address: free() itself faults. */
	free((void *)(strtoul(argument, NULL, 0) + 16));
	CHECK(0);
}

/* ---------------------------------------------------------------------- busy */

static void mode_busy(void)
{
	volatile unsigned long n = 0;

	ready();
	do {
		for (int i = 0; i < 1000000; i++)
			n = n + 1;
	} while (!input_ended());
}

static void *allocate(void *arg)
{
	void *p[16] = { 0 };
	unsigned int i = 0;

	while (!ended) {
		i = (i * 5 + 3) % 16;
		if (p[i])
			CHECK(*(unsigned char *)p[i] == i);
		free(p[i]);
		p[i] = malloc(1 + (i * 7919) % 5000);
		CHECK(p[i]);
		*(unsigned char *)p[i] = (unsigned char)i;
	}
	for (i = 0; i < 16; i++)
		free(p[i]);
	return NULL;
}

static void mode_malloc(void)
{
	pthread_t watcher, threads[8];
	int n = atoi(argument);

	start(&watcher, watch);
	for (int i = 1; i < n; i++)
		start(&threads[i], allocate);
	ready();
	allocate(NULL);
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_join(watcher, NULL);
}

/* In one thread: no other thread could be stopped instead. */
static void mode_malloc_alone(void)
{
	ready();
	do {
		void *p = NULL;

		for (int i = 0; i < 20000; i++) {
			free(p);
			p = malloc((size_t)i % 3000);
		}
		free(p);
	} while (!input_ended());
}

#ifdef TARGET_STATIC
#define dlopen(path, flags) NULL
#define dlsym(handle, name) NULL
#define dlclose(handle)
#endif

static void mode_dlopen(void)
{
	ready();
	do {
		void *handle = dlopen(argument, RTLD_NOW);

		CHECK(handle && dlsym(handle, "sin"));
		dlclose(handle);
	} while (!input_ended());
}

/* A thread holds the loader's lock, in a callback that is called for each object, and waits for another thread. */
static volatile int in_loader;
static int wait_in_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	in_loader = 1;
	while (!ended)
		usleep(1000);
	return 1;
}

static void *hold_loader(void *arg)
{
	dl_iterate_phdr(wait_in_loader, NULL);
	return NULL;
}

static void mode_loader_held(void)
{
	pthread_t thread;

	start(&thread, hold_loader);
	while (!in_loader)
		usleep(1000);
	ready();
	watch(NULL);
	pthread_join(thread, NULL);
}

struct registers {
	uint64_t rounds, vectors, pad[6];
	uint8_t in[32][64], out[32][64];
	uint64_t masks[8], masks_out[8];
} __attribute__((aligned(64)));
int registers_spin(struct registers *r);

static void mode_registers(void)
{
	static struct registers r;
	size_t bytes;
	int changed;

	r.vectors = __builtin_cpu_supports("avx512bw") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
	bytes = r.vectors == 2 ? 64 : r.vectors == 1 ? 32 : 16;
	for (size_t i = 0; i < sizeof(r.in); i++)
		((uint8_t *)r.in)[i] = (uint8_t)(i * 131 + 7);
	for (int i = 1; i < 8; i++)
		r.masks[i] = 0x1234u * (unsigned int)i & 0xffff;
	r.rounds = 2000000;
	ready();
	do {
		errno = 1234;
		changed = registers_spin(&r);
		if (changed || errno != 1234) {
			printf("changed: %x, errno %d\n", changed, errno);
			fail("registers");
		}
		for (int i = 0; i < (r.vectors == 2 ? 32 : 16); i++)
			CHECK(memcmp(r.in[i], r.out[i], bytes) == 0);
		for (int i = 1; i < 8 && r.vectors == 2; i++)
			CHECK((r.masks_out[i] & 0xffff) == r.masks[i]);
	} while (!input_ended());
	printf("vectors of %zu bytes\n", bytes);
}

/* ------------------------------------------------------------------- signals */

static volatile unsigned long usr1, usr2, last_value, disorder;

static void on_queued(int signal, siginfo_t *info, void *context)
{
	if ((unsigned long)info->si_value.sival_int != last_value + 1)
		disorder++;
	last_value = (unsigned long)info->si_value.sival_int;
	usr2++;
}

/* A child sends real-time signals in sequence: none is lost, and none is out of order. */
static void mode_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t parent = getpid(), child;
	int status;

	sigaction(SIGRTMIN + 1, &action, NULL);
	child = fork();
	if (child == 0) {
		struct pollfd p = { 0, POLLIN, 0 };
		int i;

		for (i = 1; poll(&p, 1, 0) == 0;) {
			if (sigqueue(parent, SIGRTMIN + 1, (union sigval){ .sival_int = i }) == 0)
				i++;
			usleep(100);
		}
		printf("sent %d\n", i - 1);
		fflush(stdout);
		_exit(0);
	}
	ready();
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 0);
	printf("got %lu\n", usr2);
	CHECK(disorder == 0 && usr2 == last_value && usr2 > 0);
}

/* ---------------------------------------------------------------------- others */

static void mode_seccomp(void)
{
	static struct sock_filter allow[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog program = { 1, allow };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	mode_read();
}

static void *sleep_on(void *arg)
{
	while (!ended)
		usleep(1000);
	return NULL;
}

/* glibc's setuid() interrupts each thread that it knows. */
static void mode_setuid(void)
{
	pthread_t threads[4], watcher;

	start(&watcher, watch);
	for (int i = 0; i < 4; i++)
		start(&threads[i], sleep_on);
	ready();
	while (!ended) {
		CHECK(setuid(getuid()) == 0);
		usleep(100);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pthread_join(watcher, NULL);
}

static void *come_and_go(void *arg)
{
	return malloc(100);
}

static void mode_threads(void)
{
	pthread_t thread;
	void *p;

	ready();
	do {
		for (int i = 0; i < 100; i++) {
			CHECK(pthread_create(&thread, NULL, come_and_go, NULL) == 0);
			CHECK(pthread_join(thread, &p) == 0);
			free(p);
		}
	} while (!input_ended());
}

/* Executes this program anew, again and again. */
static void mode_exec(void)
{
	char n[16];
	int left = atoi(argument);

	if (left == 0)
		return;
	if (left == 300)
		ready();
	snprintf(n, sizeof(n), "%d", left - 1);
	usleep(2000);
	execl("/proc/self/exe", "target", "exec", n, (char *)NULL);
	fail("exec");
}

static void mode_short(void)
{
	ready();
	usleep((useconds_t)atoi(argument));
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "poll", mode_poll }, { "poll_timeout", mode_poll_timeout }, { "select", mode_select },
	{ "epoll", mode_epoll }, { "epoll_timeout", mode_epoll_timeout }, { "epoll_pwait", mode_epoll_pwait },
	{ "read", mode_read }, { "recv_timeout", mode_recv_timeout }, { "semop", mode_semop },
	{ "sigtimedwait", mode_sigtimedwait }, { "nanosleep", mode_nanosleep }, { "futex", mode_futex },
	{ "eintr", mode_eintr }, { "handler", mode_handler }, { "altstack", mode_altstack },
	{ "handler_in_malloc", mode_handler_in_malloc }, { "busy", mode_busy }, { "malloc", mode_malloc },
	{ "malloc_alone", mode_malloc_alone }, { "dlopen", mode_dlopen }, { "loader_held", mode_loader_held },
	{ "registers", mode_registers },
	{ "signals", mode_signals }, { "seccomp", mode_seccomp }, { "setuid", mode_setuid },
	{ "threads", mode_threads }, { "exec", mode_exec }, { "short", mode_short },
};

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc > 2)
		argument = argv[2];
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			printf("fine\n");
			return 0;
		}
	}
	fprintf(stderr, "usage: target MODE [ARGUMENT]\n");
	return 2;
}
