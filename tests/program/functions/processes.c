/* SPDX-License-Identifier: MIT */
/* processes.c - fork, vfork and exec in the middle of traced calls. */
#define _GNU_SOURCE
#include "hazards.h"
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

COUNT(fork_down);
COUNT(fork_child);
COUNT(vfork_down);
COUNT(vfork_child);
COUNT(child_work);
COUNT(exec_down);
COUNT(exec_run);

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

TRACED static int child_work(int n)
{
	ENTER(child_work);
	int r = n > 0 ? child_work(n - 1) + 2 : 1;

	LEAVE(child_work);
	return r;
}

TRACED static int fork_child(int n)
{
	ENTER(fork_child);
	int r = child_work(n) & 63;

	LEAVE(fork_child);
	return r;
}

/*
 * Forks at the bottom; the child returns through the frames that it inherited. Its counts
 * have only the exits of these, which it counts as it would calls of its own process, no more than once.
 */
TRACED static int fork_down(int n, pid_t *pid)
{
	ENTER(fork_down);
	int r = 0;

	if (n == 0) {
		fflush(stdout);
		*pid = fork();
		if (*pid == 0) {
			counts_reset();
			r = fork_child(20);
		}
	} else {
		r = fork_down(n - 1, pid);
	}
	LEAVE(fork_down);
	return r;
}

int scene_fork(void)
{
	int sum = 0;

	for (int i = 0; i < 12; i++) {
		pid_t pid = -1;
		int r = fork_down(i, &pid);

		if (pid == 0) {
			counts_write();
			_exit(r);
		}
		sum += status_of(pid);
	}
	printf("fork: %d\n", sum);
	return 0;
}

extern char **environ;

TRACED static void vfork_child(int n)
{
	ENTER(vfork_child);
	char *argv[] = {"hazards", "child", NULL};

	child_work(n);
	execve("/proc/self/exe", argv, environ);
	_exit(99);
}

TRACED static int vfork_down(int n)
{
	ENTER(vfork_down);
	int r;

	if (n == 0) {
		pid_t pid = vfork();

		if (pid == 0)
			vfork_child(3);
		r = status_of(pid);
	} else {
		r = vfork_down(n - 1);
	}
	LEAVE(vfork_down);
	return r;
}

int scene_vfork(void)
{
	char *argv[] = {"hazards", "child", NULL};
	int sum = 0;

	fflush(stdout);
	for (int i = 0; i < 12; i++)
		sum += vfork_down(i);
	for (int i = 0; i < 4; i++) {
		pid_t pid = -1;

		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ))
			return 1;
		sum += status_of(pid);
	}
	printf("vfork and exec: %d\n", sum);
	return 0;
}

int scene_child(void)
{
	return child_work(10);
}

TRACED static int exec_down(int n)
{
	ENTER(exec_down);
	char *argv[] = {"hazards", "child", NULL};
	int r = 0;

	if (n == 0) {
		/* Writes the counts of this image; the next image adds to the same file. */
		counts_write();
		execve("/proc/self/exe", argv, environ);
	} else {
		r = exec_down(n - 1);
	}
	LEAVE(exec_down);
	return r;
}

TRACED static void *exec_run(void *arg)
{
	ENTER(exec_run);
	exec_down(*(int *)arg);
	LEAVE(exec_run);
	return NULL;
}

/* A thread other than the main one execs, while others run; exits with what scene_child() returns. */
int scene_exec_thread(void)
{
	int depth = 6;
	pthread_t thread;

	printf("exec in a thread\n");
	fflush(stdout);
	pthread_create(&thread, NULL, exec_run, &depth);
	pthread_join(thread, NULL);
	return 1;
}
