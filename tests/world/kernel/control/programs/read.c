/* SPDX-License-Identifier: MIT */
/*
 * read paced|flood N - reads whole events from both rings while two threads make N each, numbered, one on each
 * CPU: in order, none twice, none missing without being counted. paced: none may be missing at all.
 */
#include "ring.h"

#include <pthread.h>

#define CPUS 2
#define AHEAD 800 /* events for which there is certainly room */

static uint32_t count;
static bool paced, over;
static unsigned int done; /* threads that have made all of their events */
static struct event event;
static uint64_t taken[CPUS]; /* events that the program has read */

static void *make(void *arg)
{
	int cpu = (int)(intptr_t)arg;

	pin(cpu);
	for (uint32_t i = 0; i < count; i++) {
		while (paced && i >= __atomic_load_n(&taken[cpu], __ATOMIC_ACQUIRE) + AHEAD)
			usleep(1000);
		emit(i);
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

struct seen {
	uint64_t next, events, strange;
};

/* Takes an event; there is only one kind. */
static void take(struct seen *s, const uint8_t *at, uint64_t head)
{
	uint32_t number;

	memcpy(&number, at + HODO_EVENT_HEADER + event.offset, sizeof(number));
	if ((head >> HODO_ID_SHIFT & 0xffff) != event.id || number < s->next || number >= count)
		s->strange++;
	s->next = number + 1ull;
	s->events++;
}

/* Walks the records of a packet that is whole in memory; the first record is an anchor. */
static void walk(struct seen *s, const struct hodo_packet *p, uint64_t bytes)
{
	const uint8_t *at = (const uint8_t *)(p + 1), *end = (const uint8_t *)p + bytes;
	uint64_t head, anchor = 0;

	while (end - at >= (ptrdiff_t)sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		if ((head & HODO_FORM_MASK) == HODO_FORM_ANCHOR) {
			anchor = head;
			at += HODO_ANCHOR_BYTES;
			continue;
		}
		if ((head & HODO_FORM_MASK) != HODO_FORM_EVENT || !anchor)
			break;
		take(s, at, head);
		at += HODO_EVENT_HEADER + event.bytes;
	}
	if (at != end)
		s->strange++;
}

/* Reads closed packets, and the rest when all is over. */
static void drain(const struct ring *r, struct seen *s, uint64_t *read_up_to)
{
	uint64_t produced = ring_get(r, HODO_IOC_GET_PRODUCED), open = produced & ~(r->packet_size - 1);

	for (uint64_t at = ring_get(r, HODO_IOC_GET_CONSUMED); at < open; at += r->packet_size) {
		const struct hodo_packet *p = ring_packet(r, at);

		if (p->magic != 0xc1fc1fc1 || p->packet_seq_num != at / r->packet_size || p->content_size % 8 ||
		    p->content_size / 8 > r->packet_size)
			s->strange++;
		else
			walk(s, p, p->content_size / 8);
		if (ring_put(r, at + r->packet_size) < 0)
			s->strange++;
	}
	if (over && produced > open && produced > *read_up_to)
		walk(s, ring_packet(r, open), produced - open);
	*read_up_to = produced;
}

static uint64_t lost(int cpu)
{
	char text[4096], name[16];
	unsigned long long full = 0, large = 0, busy = 0;
	const char *at;

	get("overflow", text, sizeof(text));
	snprintf(name, sizeof(name), "cpu%d\t", cpu);
	at = strstr(text, name);
	if (!at || sscanf(at + strlen(name), "%llu %llu %llu", &full, &large, &busy) != 3)
		die("overflow");
	return full + large + busy;
}

static void read_all(struct ring *rings, struct seen *seen)
{
	struct pollfd poll_for[CPUS];
	uint64_t up_to[CPUS] = { 0 };

	for (int i = 0; i < CPUS; i++)
		poll_for[i] = (struct pollfd){ .fd = rings[i].fd, .events = POLLIN };
	while (!over) {
		int n = poll(poll_for, CPUS, 100);

		if (n < 0 && errno != EINTR)
			die("poll");
		/* Nobody closes the packets that have the last events. */
		for (int i = 0; i < CPUS; i++) {
			uint64_t all = 0;

			if (n == 0 && ioctl(rings[i].fd, HODO_IOC_FLUSH, &all) < 0)
				die("flush");
			drain(&rings[i], &seen[i], &up_to[i]);
			__atomic_store_n(&taken[i], seen[i].next, __ATOMIC_RELEASE);
		}
		if (n == 0 && __atomic_load_n(&done, __ATOMIC_ACQUIRE) == CPUS) {
			if (put("enabled", "0") < 0)
				die("enabled");
			over = true;
		}
	}
	for (int i = 0; i < CPUS; i++) {
		poll(&poll_for[i], 1, 0);
		say(poll_for[i].revents & POLLHUP, i ? "hangup_1" : "hangup_0", "revents %x", poll_for[i].revents);
		drain(&rings[i], &seen[i], &up_to[i]);
	}
}

int main(int argc, char **argv)
{
	struct ring rings[CPUS];
	struct seen seen[CPUS] = { 0 };
	pthread_t threads[CPUS];
	char name[32];

	if (argc != 3)
		return 2;
	paced = strcmp(argv[1], "paced") == 0;
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	event = find_event();
	if (put(EVENT "/enable", "1") < 0 || put(EVENT "/filter", "which == 99") < 0 || put("enabled", "1") < 0)
		die("start");
	for (int i = 0; i < CPUS; i++) {
		if (ring_open(&rings[i], (uint32_t)i) < 0)
			die(HODO_KERNEL_DEVICE);
		pthread_create(&threads[i], NULL, make, (void *)(intptr_t)i);
	}
	read_all(rings, seen);
	for (int i = 0; i < CPUS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CPUS; i++) {
		uint64_t missing = lost(i);

		snprintf(name, sizeof(name), "%s_cpu%d", argv[1], i);
		say(seen[i].strange == 0 && seen[i].events + missing == count && (!paced || missing == 0), name,
		    "%llu read, %llu lost, %u made, %llu strange", (unsigned long long)seen[i].events,
		    (unsigned long long)missing, count, (unsigned long long)seen[i].strange);
		printf("# %s: %llu events read, %llu lost of %u\n", name, (unsigned long long)seen[i].events,
		       (unsigned long long)missing, count);
		ring_close(&rings[i]);
	}
	return failures ? 1 : 0;
}
