/* SPDX-License-Identifier: MIT */
/*
 * bursts.c - starts many process images, each of which writes one event.
 *
 *	bursts fork N     N children, which it waits for only after it has started all of them
 *	bursts unheard N  the same while the recorder, our parent, is stopped
 *	bursts exec P N   P processes, each of which is replaced N times
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

static void count(unsigned n)
{
	HODO_EVENT(bursts, image, HODO_F(number, n));
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

static int burst(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			count(i);
			_exit(0);
		}
	}
	wait_for_all();
	return 0;
}

static int unheard(unsigned n)
{
	int result;

	kill(getppid(), SIGSTOP);
	result = burst(n);
	kill(getppid(), SIGCONT);
	return result;
}

static int chain(const char *left)
{
	char next[16];
	unsigned n = (unsigned)atoi(left);

	count(n);
	if (n == 0)
		return 0;
	snprintf(next, sizeof(next), "%u", n - 1);
	execl("/proc/self/exe", "bursts", "chain", next, NULL);
	return 1;
}

static int chains(unsigned n, const char *length)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			execl("/proc/self/exe", "bursts", "chain", length, NULL);
			_exit(1);
		}
	}
	wait_for_all();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "fork") == 0)
		return burst((unsigned)atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "unheard") == 0)
		return unheard((unsigned)atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "chain") == 0)
		return chain(argv[2]);
	if (argc == 4 && strcmp(argv[1], "exec") == 0)
		return chains((unsigned)atoi(argv[2]), argv[3]);
	return 2;
}
