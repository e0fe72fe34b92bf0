/* SPDX-License-Identifier: MIT */
/*
 * kpwork FILE - makes kernel calls whose every value is known, and writes a line for each to FILE; then it ends.
 * kpwork sleep N - N threads that sleep at the same time.
 * kpwork cost N - prints the ns that a read of one byte takes, in the fastest of N batches.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DATA "/tmp/kp_file"
#define READS 200

static FILE *out;
static char buffer[65536];

/* The arguments of the kernel's function, and its result. */
static void reading(int fd, const char *name, void *to, size_t count, long long position)
{
	long n = syscall(SYS_read, fd, to, count);

	fprintf(out, "read %s %zu %lld %ld\n", name, count, position, n < 0 ? -(long)errno : n);
}

static void read_all(void)
{
	int fd = open(DATA, O_RDWR | O_CREAT | O_TRUNC, 0600), pipes[2];
	long long position = 0;

	if (fd < 0 || write(fd, buffer, 5000) != 5000 || lseek(fd, 0, SEEK_SET) != 0 || pipe(pipes) < 0)
		exit(1);
	for (size_t i = 0; i < 40; i++) {
		reading(fd, "kp_file", buffer, 100 + i, position);
		position += 100 + (long long)i;
		if (position > 5000)
			position = 5000;
	}
	lseek(fd, 0, SEEK_SET);
	reading(fd, "kp_file", (void *)16, 7, 0);                 /* EFAULT */
	reading(fd, "kp_file", buffer, 0xdead000000000000u, 0);  /* an impossible address */
	if (write(pipes[1], "twelve bytes", 12) != 12)
		exit(1);
	reading(pipes[0], "-", buffer, 12, 0); /* a pipe has neither name nor position: NULL */
	close(fd);
}

static void open_all(void)
{
	static char longer[2000];
	char path[100];

	for (int i = 0; i < 5; i++) {
		int flags = i % 2 ? O_RDONLY | O_CLOEXEC : O_RDWR;

		snprintf(path, sizeof(path), "/tmp/kp/%d/not there", i);
		syscall(SYS_openat, AT_FDCWD, path, flags, 0);
		fprintf(out, "open %s\n", path);
	}
	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, "/tmp/kp", 7);
	syscall(SYS_openat, AT_FDCWD, longer, O_RDONLY, 0);
	fprintf(out, "open %s\n", longer);
	syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY, 0);
	fprintf(out, "open (null)\n");
	syscall(SYS_openat, AT_FDCWD, (void *)4096, O_RDONLY, 0);
	fprintf(out, "open (fault)\n");
}

static void fork_all(void)
{
	for (int i = 0; i < 3; i++) {
		struct sched_param param = { 0 };
		pid_t child;

		prctl(PR_SET_CHILD_SUBREAPER, i == 1); /* which the kernel notes of its children */
		sched_setscheduler(0, SCHED_OTHER | (i ? SCHED_RESET_ON_FORK : 0), &param);
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		fprintf(out, "fork %d %d %d %d\n", child, getpid(), i ? 1 : 0, i == 1);
	}
}

static void sleep_all(void)
{
	for (long i = 1; i <= 3; i++) {
		struct timespec t = { 0, i * 3000000 };

		nanosleep(&t, NULL);
		fprintf(out, "sleep %ld\n", t.tv_nsec);
	}
}

static int cost(int n)
{
	int fd = open("/dev/zero", O_RDONLY);
	long long least = -1;

	while (n-- > 0) {
		struct timespec from, to;
		long long took;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < READS; i++)
			if (read(fd, buffer, 1) != 1)
				return 1;
		clock_gettime(CLOCK_MONOTONIC, &to);
		took = (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec;
		if (least < 0 || took < least)
			least = took;
	}
	printf("%lld\n", least / READS);
	return 0;
}

static void *sleep_on(void *tid)
{
	struct timespec t = { 100000, 0 };

	__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	syscall(SYS_nanosleep, &t, NULL);
	return NULL;
}

/* Whether the thread sleeps in that call, rather than being on its way to it. */
static int sleeps(const pid_t *tid)
{
	char path[64], text[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", __atomic_load_n(tid, __ATOMIC_ACQUIRE));
	f = fopen(path, "r");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
	}
	return atoi(text) == SYS_nanosleep;
}

/* All sleep at one time; the program's end wakes them. */
static int sleep_together(int n)
{
	pid_t *tid = calloc((size_t)n, sizeof(*tid));
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < n; i++)
		if (!tid || pthread_create(&thread, &attr, sleep_on, &tid[i]))
			return 1;
	for (int i = 0; i < n; i++)
		while (!sleeps(&tid[i]))
			poll(NULL, 0, 1); /* which is not that kind of sleep */
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return (strcmp(argv[1], "sleep") == 0 ? sleep_together : cost)(atoi(argv[2]));
	out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 1;
	fprintf(out, "thread %d\n", getpid());
	read_all();
	open_all();
	fork_all();
	sleep_all();
	return fclose(out) ? 1 : 0;
}
