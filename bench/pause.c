/* SPDX-License-Identifier: MIT */
/*
 * pause.c - how long a program that never waits is kept from running: pause FILE. It reads the clock in an
 * endless loop, and keeps the longest time between two readings in FILE's first 8 bytes (ns); the reader
 * resets it to 0. Writes an event now and then. Ends when FILE's next 8 bytes are not 0.
 */
#include <fcntl.h>
#include <hodo/trace.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	volatile int64_t *shared = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int64_t last = now_ns();

	if (shared == MAP_FAILED)
		return 2;
	close(fd);
	for (uint64_t n = 0; !shared[1]; n++) {
		int64_t now = now_ns();

		if (now - last > shared[0])
			shared[0] = now - last;
		last = now;
		if (n % 64 == 0)
			HODO_EVENT(bench, look, HODO_F(n, n));
	}
	return 0;
}
