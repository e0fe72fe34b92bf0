/* SPDX-License-Identifier: MIT */
/* count_speed.c - prints how many events a second of processor time hodo top counts, in a packet of each kind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hodo/abi.h>
#include <record/event_walk.h>

#define PACKET_BYTES (256u << 10)
#define ROUNDS 400
#define KINDS 7
#define TEXT_ID (KINDS + 1)
#define TEXT_LEN 11

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add_events(void *arg, uint32_t tid, uint32_t events, uint32_t bytes)
{
	*(uint64_t *)arg += events;
}

/* Events of (int, uint64), or of a text and an int. Returns the packet's bytes. */
static uint32_t fill(uint8_t *packet, int what)
{
	uint32_t at = 0, tid = 100;
	uint16_t len = TEXT_LEN;

	memset(packet, 0, PACKET_BYTES);
	for (unsigned int n = 0;; n++) {
		unsigned int which = what == 0 ? 0 : what == 1 ? n % KINDS : (unsigned int)rand() % KINDS;
		uint64_t id = what == 3 ? TEXT_ID : 1 + which;
		uint32_t size = HODO_EVENT_HEADER + (id == TEXT_ID ? 2 + TEXT_LEN + 4 : 12);

		if (at + size > PACKET_BYTES)
			return at;
		memcpy(packet + at, &id, sizeof(id));
		memcpy(packet + at + 8, &tid, sizeof(tid));
		if (id == TEXT_ID)
			memcpy(packet + at + HODO_EVENT_HEADER, &len, sizeof(len));
		at += size;
	}
}

int main(void)
{
	static const char *const names[] = { "one event", "seven in turn", "seven at random", "a text" };
	static const uint8_t numbers[] = { HODO_TYPE_I32, HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_I32 };
	static struct hodo_walk_tally tally[64];
	struct hodo_read_layouts table = { 0 };
	uint8_t *packet = malloc(PACKET_BYTES);

	for (uint16_t id = 1; id <= KINDS; id++)
		hodo_read_layouts_add(&table, id, numbers, 2);
	hodo_read_layouts_add(&table, TEXT_ID, text, 2);
	for (int what = 0; packet && what < 4; what++) {
		uint32_t len = fill(packet, what);
		uint64_t total = 0;
		struct hodo_walk_counter counter = { tally, 64, add_events, &total };
		double start = seconds();

		for (int i = 0; i < ROUNDS; i++)
			hodo_walk_count(&table, packet, len, &counter);
		start = seconds() - start;
		printf("%-16s %6.2f ns an event, %5.0f M events/s\n", names[what], start * 1e9 / (double)total,
		       (double)total / start * 1e-6);
	}
	free(packet);
	hodo_layouts_clear(&table);
	return 0;
}
