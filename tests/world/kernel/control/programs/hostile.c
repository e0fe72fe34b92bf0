/* SPDX-License-Identifier: MIT */
/*
 * hostile ROUNDS - readers that break the rules: garbage positions beside a writer, two at once, killed in the
 * middle, memory kept beyond its recording. Each answer must follow the rules.
 */
#include "ring.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static bool stop;
static unsigned int wanted, seen; /* odd: the writer must pause */

/*
 * It pauses when a recording begins or ends: the code that it runs changes then, and QEMU before 8.1 may miss that.
 */
static void *write_on(void *arg)
{
	uint32_t i = 0;

	pin(0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		unsigned int w = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE);

		__atomic_store_n(&seen, w, __ATOMIC_RELEASE);
		if (w & 1)
			usleep(1000);
		else
			emit(i++);
	}
	return arg;
}

static void change(const char *name, const char *text)
{
	unsigned int w = __atomic_add_fetch(&wanted, 1, __ATOMIC_RELEASE);

	while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) != w)
		usleep(1000);
	if (put(name, text) < 0)
		die(name);
	__atomic_add_fetch(&wanted, 1, __ATOMIC_RELEASE);
}

static uint64_t rnd(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* A position: a random one, or one near a right one. */
static uint64_t position(const struct ring *r)
{
	uint64_t consumed = ring_get(r, HODO_IOC_GET_CONSUMED), produced = ring_get(r, HODO_IOC_GET_PRODUCED);

	switch (rnd() % 8) {
	case 0:
		return rnd();
	case 1:
		return rnd() & ~(r->packet_size - 1);
	case 2:
		return produced;
	case 3:
		return (produced & ~(r->packet_size - 1)) + (rnd() % 3) * r->packet_size;
	case 4:
		return consumed - r->packet_size;
	case 5:
		return consumed + rnd() % 3;
	case 6:
		return consumed + r->size;
	}
	return consumed + r->packet_size * (rnd() % 3);
}

/* Whether the answer is right; `produced` grows meanwhile. */
static bool put_right(const struct ring *r, uint64_t value, unsigned int *moved)
{
	uint64_t mask = r->packet_size - 1, consumed = ring_get(r, HODO_IOC_GET_CONSUMED);
	uint64_t before = ring_get(r, HODO_IOC_GET_PRODUCED) & ~mask, after, now;
	bool legal = (value & mask) == 0 && value >= consumed;
	int err = ring_put(r, value);

	after = ring_get(r, HODO_IOC_GET_PRODUCED) & ~mask;
	now = ring_get(r, HODO_IOC_GET_CONSUMED);
	if (err == 0) {
		*moved += value > consumed;
		return legal && value <= after && now == value;
	}
	return err == -EINVAL && now == consumed && !(legal && value <= before);
}

static void check_garbage(const struct ring *r, unsigned int rounds)
{
	unsigned int moved = 0, wrong = 0;
	uint64_t value, age;

	for (unsigned int i = 0; i < rounds; i++) {
		value = position(r);
		if (!put_right(r, value, &moved) && wrong++ == 0)
			printf("# wrong: %llx, consumed %llx\n", (unsigned long long)value,
			       (unsigned long long)ring_get(r, HODO_IOC_GET_CONSUMED));
		age = rnd() >> rnd() % 64;
		if (i % 64 == 0 && ioctl(r->fd, HODO_IOC_FLUSH, &age) < 0)
			wrong++;
	}
	say(wrong == 0 && moved > 0, "garbage_positions", "%u of %u wrong, %u moves", wrong, rounds, moved);
	printf("# %u positions, %u of them moved\n", rounds, moved);
}

static void check_pointers(const struct ring *r)
{
	static const unsigned long commands[] = { HODO_IOC_GET_SIZE, HODO_IOC_GET_PRODUCED, HODO_IOC_GET_CONSUMED,
						  HODO_IOC_PUT_CONSUMED, HODO_IOC_FLUSH, HODO_IOC_CHOOSE };
	static const unsigned long places[] = { 0, 1, 0xffff888000000000, 0xffffffff81000000, -8ul };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		for (unsigned int j = 0; j < sizeof(places) / sizeof(places[0]); j++)
			wrong += !(ioctl(r->fd, commands[i], places[j]) < 0 && errno == EFAULT);
	/* The program can read this memory, but not write it. */
	wrong += !(ioctl(r->fd, HODO_IOC_GET_SIZE, r->control) < 0 && errno == EFAULT);
	say(wrong == 0, "bad_pointers", "%u answers", wrong);
	wrong = 0;
	for (unsigned int i = 0; i < 2000; i++) {
		unsigned long command = i < 256 ? 0xb700 + i : rnd() & 0xffffffff;
		uint64_t value[64] = { 0 };

		if ((command & 0xff00) == 0xb700 && (command & 0xff) <= 8 && command >> 16)
			continue;
		wrong += !(ioctl(r->fd, command, value) < 0);
	}
	say(wrong == 0, "unknown_ioctls", "%u succeeded", wrong);
}

static void check_two(const struct ring *a)
{
	uint64_t mask = a->packet_size - 1, open, before;
	struct ring b;

	if (ring_open(&b, 0) < 0)
		die("second reader");
	do {
		before = ring_get(a, HODO_IOC_GET_CONSUMED);
		open = ring_get(&b, HODO_IOC_GET_PRODUCED) & ~mask;
	} while (open < before + 2 * a->packet_size);
	say(ring_put(a, before + 2 * a->packet_size) == 0 &&
	    ring_get(&b, HODO_IOC_GET_CONSUMED) == before + 2 * a->packet_size, "two_readers_one_position", "differs");
	say(ring_put(&b, before + a->packet_size) == -EINVAL, "two_readers_not_back", "moved back");
	ring_close(&b);
	say(ring_get(a, HODO_IOC_GET_CONSUMED) == before + 2 * a->packet_size, "other_reader_closes", "moved");
}

/* A reader that goes on until it is killed. */
static void read_on(void)
{
	struct ring r;

	if (ring_open(&r, 0) < 0)
		_exit(3);
	for (;;) {
		struct pollfd p = { .fd = r.fd, .events = POLLIN };
		volatile uint8_t sum = 0;
		uint64_t at = ring_get(&r, HODO_IOC_GET_CONSUMED);

		poll(&p, 1, 100);
		if (at + r.packet_size > ring_get(&r, HODO_IOC_GET_PRODUCED))
			continue;
		for (uint64_t i = 0; i < r.packet_size; i++)
			sum += ((const uint8_t *)ring_packet(&r, at))[i];
		ring_put(&r, at + r.packet_size);
	}
}

static void check_killed(const struct ring *r, unsigned int rounds)
{
	unsigned int stuck = 0, status_wrong = 0;
	int status;

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t before = ring_get(r, HODO_IOC_GET_CONSUMED);
		pid_t pid = fork();

		if (pid == 0)
			read_on();
		/* The reader is killed anywhere, once it has read something: the next one must get on. */
		for (int wait = 0; ring_get(r, HODO_IOC_GET_CONSUMED) == before && wait < 60000; wait++)
			usleep(1000);
		usleep(rnd() % 3000);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		stuck += ring_get(r, HODO_IOC_GET_CONSUMED) == before;
		status_wrong += !WIFSIGNALED(status);
	}
	say(stuck == 0 && status_wrong == 0, "killed_readers", "%u stuck, %u ended", stuck, status_wrong);
}

/* The opened memory stays, even though another recording has begun. */
static void check_outlives(struct ring *old)
{
	const struct hodo_packet *p = ring_packet(old, 0);
	struct pollfd poll_for = { .fd = old->fd, .events = POLLIN };
	uint64_t produced;
	uint8_t uuid[16], again[16];
	struct ring fresh;

	memcpy(uuid, p->uuid, sizeof(uuid));
	change("reset", "1");
	produced = ring_get(old, HODO_IOC_GET_PRODUCED);
	if (ring_open(&fresh, 0) < 0)
		die("cpu0");
	while (ring_get(&fresh, HODO_IOC_GET_PRODUCED) < 3 * fresh.packet_size)
		usleep(1000);
	memcpy(again, ring_packet(&fresh, 0)->uuid, sizeof(again));
	say(memcmp(uuid, p->uuid, sizeof(uuid)) == 0 && memcmp(uuid, again, sizeof(uuid)) != 0, "memory_is_the_openers",
	    "uuid %02x %02x %02x", uuid[0], p->uuid[0], again[0]);
	say(ring_get(old, HODO_IOC_GET_PRODUCED) == produced, "old_memory_rests", "it grew");
	poll(&poll_for, 1, 0);
	say(poll_for.revents & POLLHUP, "old_memory_hangs_up", "revents %x", poll_for.revents);
	say(ring_put(old, produced & ~(old->packet_size - 1)) == 0, "old_memory_moves", "refused");
	close(old->fd);
	change("enabled", "0");
	change("reset", "1");
	say(memcmp(uuid, p->uuid, sizeof(uuid)) == 0, "mapping_outlives_file", "it changed");
	ring_close(&fresh);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 20000;
	pthread_t writer;
	struct ring r;

	if (put(EVENT "/enable", "1") < 0 || put("enabled", "1") < 0)
		die("start");
	if (ring_open(&r, 0) < 0)
		die("cpu0");
	pthread_create(&writer, NULL, write_on, NULL);
	check_garbage(&r, rounds);
	check_pointers(&r);
	check_two(&r);
	check_killed(&r, 20);
	check_outlives(&r);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	return failures ? 1 : 0;
}
