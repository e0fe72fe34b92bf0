/* SPDX-License-Identifier: MIT */
/*
 * emit N - N times an event, a write to descriptor 77, and another event; then N times getppid(), and sync(). The
 * events and system calls of a thread must have that order on the recording's one timeline.
 *
 * emit nap N - N times a span that sleeps.
 *
 * emit wait FILE - makes FILE, then an event now and then, until it is killed; it ends if its rounding mode changes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <hodo/trace.h>

static int wait_until_killed(const char *file)
{
	if (open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0)
		return 1;
	_MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
	for (int i = 0; _MM_GET_ROUNDING_MODE() == _MM_ROUND_TOWARD_ZERO; i++) {
		HODO_EVENT(emit, tick, i);
		usleep(2000);
	}
	return 1;
}

static int nap(int n)
{
	for (int i = 0; i < n; i++) {
		HODO_SPAN(emit, nap, HODO_F(i, i));
		usleep(20000);
	}
	return 5;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, fd;

	if (argc > 2 && strcmp(argv[1], "wait") == 0)
		return wait_until_killed(argv[2]);
	if (argc > 2 && strcmp(argv[1], "nap") == 0)
		return nap(atoi(argv[2]));
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dup3(fd, 77, O_CLOEXEC) < 0)
		return 1;
	for (int i = 0; i < n; i++) {
		HODO_EVENT(emit, before, i);
		if (syscall(SYS_write, 77, "0123456789", i % 10) != i % 10)
			return 1;
		HODO_EVENT(emit, after, i);
	}
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
	sync();
	HODO_EVENT(emit, done, n);
	return 5;
}
