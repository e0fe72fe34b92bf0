/* SPDX-License-Identifier: MIT */
/*
 * micro - what one operation of the kernel costs, in ticks of the time-stamp counter.
 *
 *	micro OPERATION         prints "OPERATION TICKS": of one operation, from the fastest of many batches
 *	micro run NAME CMD…     runs CMD and prints "NAME TICKS" of the whole, with CMD's exit status
 *	micro now               prints "now TICKS"
 *
 * In a guest under qemu's -icount a tick is an instruction, so that a batch costs the same every time unless an
 * interrupt falls into it: the fastest batch is the exact figure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

enum { BATCHES = 60, PER_BATCH = 200, YIELDERS = 2 };

static int null_fd;

static void fail(const char *what)
{
	fprintf(stderr, "micro: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void op_getppid(void)
{
	syscall(SYS_getppid);
}

static void op_write(void)
{
	if (write(null_fd, "x", 1) != 1)
		fail("write");
}

/* The other thread is always ready: one switch each. */
static void op_switch(void)
{
	sched_yield();
}

/* More descriptors than there is room for on the kernel's stack: one kmalloc() and one kfree(). */
static void op_kmalloc(void)
{
	static struct pollfd nothing[64];

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		nothing[i].fd = -1;
	if (poll(nothing, sizeof(nothing) / sizeof(nothing[0]), 0) != 0)
		fail("poll");
}

/* The path is a text in the process's memory, copied by who records it. */
static void op_access(void)
{
	if (access("/dev/null", R_OK) != 0)
		fail("access");
}

/* One page fault, which maps the page of zeroes, and one system call. */
static void op_fault(void)
{
	static volatile char *p;

	if (!p) {
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			fail("mmap");
	}
	(void)*p;
	if (madvise((void *)p, 4096, MADV_DONTNEED) != 0)
		fail("madvise");
}

static const struct {
	const char *name;
	void (*once)(void);
} operations[] = {
	{ "getppid", op_getppid }, { "write", op_write },   { "access", op_access },
	{ "switch", op_switch },   { "kmalloc", op_kmalloc }, { "fault", op_fault },
};

static uint64_t fastest_batch(void (*once)(void))
{
	uint64_t best = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t begin = __rdtsc(), took;

		for (int i = 0; i < PER_BATCH; i++)
			once();
		took = __rdtsc() - begin;
		if (took < best)
			best = took;
	}
	return best;
}

static volatile int yielders_end;

static void *yielder(void *unused)
{
	while (!yielders_end)
		sched_yield();
	return unused;
}

/* Both in real time at one priority: a yield always lets the other run. */
static uint64_t measure_switch(void)
{
	struct sched_param param = { .sched_priority = 1 };
	pthread_t other;
	uint64_t best;

	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		fail("sched_setscheduler");
	if (pthread_create(&other, NULL, yielder, NULL) != 0)
		fail("pthread_create");
	best = fastest_batch(op_switch);
	yielders_end = 1;
	pthread_join(other, NULL);
	return best / YIELDERS;
}

static int run(const char *name, char **argv)
{
	uint64_t begin = __rdtsc();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		execvp(argv[0], argv);
		fail(argv[0]);
	}
	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	printf("%s %llu\n", name, (unsigned long long)(__rdtsc() - begin));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	cpu_set_t first;

	if (argc >= 4 && strcmp(argv[1], "run") == 0)
		return run(argv[2], argv + 3);
	if (argc == 2 && strcmp(argv[1], "now") == 0) {
		printf("now %llu\n", (unsigned long long)__rdtsc());
		return 0;
	}
	null_fd = open("/dev/null", O_WRONLY);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	for (size_t i = 0; argc == 2 && i < sizeof(operations) / sizeof(operations[0]); i++) {
		uint64_t best;

		if (strcmp(argv[1], operations[i].name) != 0)
			continue;
		best = operations[i].once == op_switch ? measure_switch() : fastest_batch(operations[i].once);
		printf("%s %.2f\n", argv[1], (double)best / PER_BATCH);
		return 0;
	}
	fprintf(stderr, "usage: micro OPERATION | now | run NAME CMD...\n");
	return 2;
}
