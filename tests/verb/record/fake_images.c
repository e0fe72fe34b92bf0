/* SPDX-License-Identifier: MIT */
/* fake_images.c - what a hostile process may write into the table of images that it announces. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hodo/abi.h>

#include "fake.h"
#include <lib/random.h>

#define NOBODY 65534
#define NO_PID 0x7ffffffeull /* above the greatest pid */

static struct hodo_images *head(void)
{
	return (struct hodo_images *)(shm + HODO_SHM_IMAGES_HEAD);
}

static struct hodo_image *place(uint32_t i)
{
	return (struct hodo_image *)(shm + HODO_SHM_IMAGES) + i;
}

static void announce(uint32_t i, uint64_t pid, const char *path)
{
	snprintf(place(i)->path, sizeof(place(i)->path), "%s", path);
	if (head()->used <= i)
		head()->used = i + 1;
	__atomic_store_n(&place(i)->who, pid << 32 | 7, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&head()->announced, 1, __ATOMIC_SEQ_CST);
}

/* Waits until the recorder has looked and freed the place; gives up in the end, in case the recorder has died. */
static void wait_taken(uint32_t i)
{
	for (int ms = 0; __atomic_load_n(&place(i)->who, __ATOMIC_SEQ_CST) != HODO_IMAGE_FREE; ms++) {
		struct timespec pause = { 0, 1000000 };

		if (ms > 300000)
			die("the recorder does not look");
		nanosleep(&pause, NULL);
	}
}

static void random_place(uint32_t i)
{
	static const uint64_t whos[] = { HODO_IMAGE_FREE, HODO_IMAGE_TAKEN, 2, UINT64_MAX, 1ull << 63, NO_PID << 32 };
	uint64_t r = xorshift(&seed), *words = (uint64_t *)place(i);

	for (size_t w = 1; w < sizeof(struct hodo_image) / 8; w++)
		words[w] = r % 3 == 0 ? 0x7878787878787878ull : r % 3 == 1 ? xorshift(&seed) : 0;
	if (r % 5 == 0)
		memcpy(place(i)->path, "/../", 4);
	words[0] = r % 2 ? whos[r / 2 % 6] : r % 7 ? (uint64_t)getpid() << 32 | r >> 33 : xorshift(&seed);
}

/* Places and numbers are nonsense; no text has an end. */
void images_garbage(uint64_t n)
{
	join();
	for (uint32_t i = 0; i < HODO_IMAGES_MAX; i++)
		random_place(i);
	head()->used = n ? (uint32_t)n : UINT32_MAX;
	head()->lost = UINT32_MAX;
	head()->announced = (uint32_t)xorshift(&seed);
	usleep(20000);
}

/* The same, but it changes while the recorder reads it. */
void images_changing(uint64_t n)
{
	pid_t pid;

	join();
	pid = fork();
	if (pid == 0) {
		for (;;) {
			random_place((uint32_t)(xorshift(&seed) % HODO_IMAGES_MAX));
			head()->used = (uint32_t)xorshift(&seed);
			head()->announced++;
		}
	}
	usleep((useconds_t)(n ? n : 300) * 1000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Says that one of its children, which has ended, was to become the program at this path. */
void images_path(uint64_t n)
{
	(void)n;
	join();
	announce(0, NO_PID, argument);
	wait_taken(0);
}

/* The same, by a process that root started and that has become user nobody. */
void images_drop(uint64_t n)
{
	(void)n;
	join();
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		die("setresuid");
	announce(0, NO_PID, argument);
	wait_taken(0);
}

/* Says that it started three processes that it did not start: n, process 1, and the recorder. */
void images_pid(uint64_t n)
{
	join();
	announce(0, n, "/no/such/1");
	announce(1, 1, "/no/such/2");
	announce(2, (uint64_t)getppid(), "/no/such/3");
	usleep(200000);
}

void images_lost(uint64_t n)
{
	join();
	announce(0, (uint64_t)getppid(), "/no/such");
	usleep(100000); /* time enough to start some thousands of processes */
	head()->lost = (uint32_t)n;
}

/* Announces images as fast as it can, each with another path. */
void images_many(uint64_t n)
{
	char path[32];

	join();
	for (uint64_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(i % HODO_IMAGES_MAX);

		if (place(at)->who != HODO_IMAGE_FREE)
			wait_taken(at);
		snprintf(path, sizeof(path), "/no/such/%llu", (unsigned long long)i);
		announce(at, NO_PID - i, path);
	}
	for (uint32_t i = 0; i < HODO_IMAGES_MAX; i++)
		wait_taken(i);
}
