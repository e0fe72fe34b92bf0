/* SPDX-License-Identifier: MIT */
/*
 * rooted.c - the program that runs in another root directory. Prints its LD_PRELOAD on standard output.
 *
 *   rooted N           makes N events rooted:tick, each from a function rooted_work()
 *   rooted HOW N       does the same in another image of this program: HOW is execv, execvpe, spawn or fork
 *   rooted wait        makes events and calls until standard input ends; prints "ready" first
 *   rooted leave       a child in the background does so until standard input ends; the parent ends at once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

__attribute__((noinline, noclone)) int rooted_work(int i)
{
	HODO_EVENT(rooted, tick, i);
	__asm__ volatile("");
	return i + 1;
}

static void say_preload(void)
{
	const char *preload = getenv("LD_PRELOAD");

	printf("preload: %s\n", preload ? preload : "-");
	fflush(stdout);
}

static int work_until_end(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	puts("ready");
	fflush(stdout);
	for (int i = 0; poll(&in, 1, 1) == 0;)
		i = rooted_work(i);
	return 0;
}

static int start(char **argv)
{
	char *command[] = { argv[0], argv[2], NULL };
	pid_t pid = 0;
	int status;

	if (strcmp(argv[1], "execv") == 0)
		execv(argv[0], command);
	else if (strcmp(argv[1], "execvpe") == 0)
		execvpe(argv[0], command, environ);
	else if (strcmp(argv[1], "spawn") == 0)
		errno = posix_spawn(&pid, argv[0], NULL, NULL, command, environ);
	else if (strcmp(argv[1], "fork") == 0 && (pid = fork()) == 0)
		execv(argv[0], command);
	if (pid <= 0 || waitpid(pid, &status, 0) != pid) {
		perror(argv[1]);
		return 1;
	}
	return status != 0;
}

int main(int argc, char **argv)
{
	say_preload();
	if (argc == 3)
		return start(argv);
	if (strcmp(argv[1], "wait") == 0)
		return work_until_end();
	if (strcmp(argv[1], "leave") == 0)
		return fork() == 0 ? work_until_end() : 0;
	for (int i = 0; i < atoi(argv[1]);)
		i = rooted_work(i);
	return 0;
}
