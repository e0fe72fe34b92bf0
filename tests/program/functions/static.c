/* SPDX-License-Identifier: MIT */
/*
 * static.c - a static program with libhodo in it, that nobody prepared. A division by 128 bits calls a function of
 * libgcc's, which must be the program's own. Each process divides argv[1] times; the parent ends with the child's
 * status.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile __int128 sum = 1000, by = 3;

__attribute__((noipa)) static void divide(int n)
{
	for (int i = 0; i < n; i++)
		sum = (__int128)((unsigned __int128)sum / (unsigned __int128)by) + n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, status = 0;
	pid_t child = fork();

	divide(n);
	if (child == 0)
		_exit(7);
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}
