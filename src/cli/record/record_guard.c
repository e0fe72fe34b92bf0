/* SPDX-License-Identifier: MIT */
/* record_guard.c - the process that outlives a killed recorder. Between fork() and execv() it makes only system calls,
 * since the recorder has threads. */
#define _GNU_SOURCE
#include "record_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARDS_MAX  1000 /* fewer descriptors than a process may have */
#define DIGITS     12
#define FIRST_WORD 4    /* hodo detach --recorder PID */

/* --------------------------------------------------------------------- its process */

/* Its processes, each with a descriptor, since pids are reused. */
static struct {
	pid_t pid[WARDS_MAX];
	struct pollfd fd[WARDS_MAX];
	unsigned n;
} wards;

static void forget_ended(void)
{
	unsigned kept = 0;

	poll(wards.fd, wards.n, 0);
	for (unsigned i = 0; i < wards.n; i++) {
		if (wards.fd[i].revents) {
			close(wards.fd[i].fd);
			continue;
		}
		wards.pid[kept] = wards.pid[i];
		wards.fd[kept++] = wards.fd[i];
	}
	wards.n = kept;
}

static void take(pid_t pid)
{
	int fd;

	if (wards.n == WARDS_MAX)
		forget_ended();
	fd = wards.n < WARDS_MAX ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (fd < 0)
		return;
	wards.pid[wards.n] = pid;
	wards.fd[wards.n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* The digits' first, in the room up to end. */
static char *put_number(char *end, pid_t pid)
{
	*--end = 0;
	for (; pid; pid /= 10)
		*--end = (char)('0' + pid % 10);
	return end;
}

static void detach(pid_t recorder)
{
	static char *words[FIRST_WORD + WARDS_MAX + 1] = { "hodo", "detach", "--recorder" };
	static char digits[1 + WARDS_MAX][DIGITS];

	forget_ended();
	words[FIRST_WORD - 1] = put_number(digits[WARDS_MAX] + DIGITS, recorder);
	for (unsigned i = 0; i < wards.n; i++)
		words[FIRST_WORD + i] = put_number(digits[i] + DIGITS, wards.pid[i]);
	if (wards.n)
		execv("/proc/self/exe", words);
}

/* Signals from the terminal must not reach it, and it must not hold open outputs that others wait for. */
static void leave_others(int fd)
{
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(fd, 3);
	closefrom(4);
	for (int i = 0; i < 3; i++) {
		close(i);
		open("/dev/null", O_RDWR);
	}
	prctl(PR_SET_NAME, "hodo-guard");
}

static void run(int fd, pid_t recorder)
{
	ssize_t n;
	pid_t pid;

	leave_others(fd);
	do {
		n = read(3, &pid, sizeof(pid));
		if (n == sizeof(pid) && pid)
			take(pid);
	} while ((n == sizeof(pid) && pid) || (n < 0 && errno == EINTR));
	if (n == 0)
		detach(recorder);
	_exit(0);
}

/* -------------------------------------------------------------------- the recorder */

static void tell(struct hodo_record_guard *g, pid_t pid)
{
	while (write(g->fd, &pid, sizeof(pid)) < 0 && errno == EINTR)
		;
}

static void begin(struct hodo_record_guard *g)
{
	pid_t recorder = getpid();
	int fd[2], closed[2];
	char nothing;

	g->pid = -1;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return;
	if (pipe2(closed, O_CLOEXEC) == 0) {
		g->pid = fork();
		if (g->pid == 0)
			run(fd[0], recorder);
		close(closed[1]);
		/* As long as it has our descriptors, epoll continues for those that we close. */
		while (read(closed[0], &nothing, 1) < 0 && errno == EINTR)
			;
		close(closed[0]);
	}
	close(fd[0]);
	g->fd = fd[1];
	if (g->pid < 0)
		close(g->fd);
}

void hodo_record_guard_add(struct hodo_record_guard *g, pid_t pid)
{
	if (!g->pid)
		begin(g);
	if (g->pid > 0)
		tell(g, pid);
}

void hodo_record_guard_end(struct hodo_record_guard *g)
{
	if (g->pid <= 0)
		return;
	tell(g, 0);
	close(g->fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
