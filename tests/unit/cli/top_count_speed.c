/* SPDX-License-Identifier: MIT */
/* top_count_speed.c - prints how many events hodo top counts per second of processor time, in a packet of each kind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hodo/abi.h>
#include <lib/records.h>
#include <record/ring/event_walk.h>

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

/* Fills a packet of each kind: with events of (int, uint64), or of a text and an int, or calls. Returns the bytes. */
static uint32_t fill(uint8_t *packet, int what)
{
	const uint16_t len = TEXT_LEN;
	uint32_t at;

	memset(packet, 0, PACKET_BYTES);
	at = (uint32_t)record_anchor(packet, 0, 100, 0x7ffc00000000);
	for (unsigned int n = 0;; n++) {
		unsigned int which = what == 0 ? 0 : what == 1 ? n % KINDS : (unsigned int)rand() % KINDS;
		uint16_t id = (uint16_t)(what == 3 ? TEXT_ID : 1 + which);

		if (at + RECORD_EVENT_BYTES + 2 + TEXT_LEN + 4 > PACKET_BYTES)
			return at;
		if (what == 4) {
			at += (uint32_t)record_call(packet + at, n % 2 ? RECORD_RETURN : RECORD_CALL, 4, 0x400000,
						    0x7ffc00000008);
			continue;
		}
		at += (uint32_t)record_event(packet + at, id, 0);
		if (id == TEXT_ID)
			memcpy(packet + at, &len, sizeof(len));
		at += id == TEXT_ID ? 2 + TEXT_LEN + 4 : 12;
	}
}

int main(void)
{
	static const char *const names[] = { "one event", "seven in turn", "seven at random", "a text", "calls" };
	static const uint8_t numbers[] = { HODO_TYPE_I32, HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_I32 };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	static struct hodo_walk_tally tally[64];
	struct hodo_read_layouts table = { 0 };
	uint8_t *packet = malloc(PACKET_BYTES);

	for (uint16_t id = 1; id <= KINDS; id++)
		hodo_read_layouts_add(&table, id, numbers, 2);
	hodo_read_layouts_add(&table, TEXT_ID, text, 2);
	hodo_read_layouts_add(&table, TEXT_ID + 1, call, 2);
	hodo_read_layouts_add(&table, TEXT_ID + 2, call, 2);
	hodo_read_layouts_calls(&table, TEXT_ID + 1, TEXT_ID + 2);
	for (int what = 0; packet && what < 5; what++) {
		uint32_t len = fill(packet, what);
		uint64_t total = 0;
		struct hodo_walk_counter counter = { tally, 64, add_events, &total, { 0 } };
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
