/* SPDX-License-Identifier: MIT */
/*
 * flight_clock.c - notes the clocks in a flight recorder's file while it is written, and checks the packets'
 * ages, as a consumer does elsewhere.
 *
 *               | begin, end, copy | clocks
 *   begin …     | excluded         | begin: before; end: not behind (sections); copy: beside
 *   clocks      |                  | excluded: who comes second leaves it
 *
 * All but hodo_flight_clocks() run under the control lock.
 */
#include "flight.h"
#include <user/event/event.h>
#include <user/ring/rings.h>

#define NOTE_TRIES 3
/* In ticks of either clock: a TSC of some GHz, or nanoseconds. */
#define CLOCKS_TICKS (1ull << 28)       /* 0.1 s: between two noted readings of the clocks */
#define AGE_LOOK_TICKS (1ull << 40)     /* minutes: between two looks at the packets' ages */

bool hodo_flight_wanted;
static uint32_t clocks_busy;
static uint64_t clocks_ticks, age_ticks; /* when the last one was noted, and ages were checked */
static bool age_set;

/* The tightest of several tries: an interrupt between two readings would shift the whole timeline. */
static void read_clocks(struct hodo_moment *m, uint32_t clock, int tries)
{
	uint64_t best = UINT64_MAX;

	for (; tries > 0; tries--) {
		uint64_t before = hodo_clock_read(clock);
		int64_t mono = hodo_clock_ns(CLOCK_MONOTONIC);
		uint64_t after = hodo_clock_read(clock);
		int64_t real = hodo_clock_ns(CLOCK_REALTIME);
		uint64_t end = hodo_clock_read(clock);

		if (end - before >= best)
			continue;
		best = end - before;
		m->mono_ns = mono;
		m->real_ns = real;
		m->ticks = clock == HODO_CLOCK_MONOTONIC ? (uint64_t)mono : before + (after - before) / 2;
	}
}

void hodo_flight_note_clocks(struct hodo_flight *f)
{
	uint32_t next = !f->latest;
	struct hodo_moment m = { 0 };

	read_clocks(&m, f->clock, NOTE_TRIES);
	f->last[next] = m;
	/* Complete before it counts: a process killed in between leaves the other one. */
	hodo_store_release(&f->latest, next);
	hodo_store(&clocks_ticks, m.ticks);
}

/*
 * Sets or clears a bit in the on words that are not 0. The control lock is not held: the words may change
 * meanwhile.
 */
static void change_on_words(uint32_t set, uint32_t keep)
{
	for (uint32_t i = 1; i <= hodo_load(&hodo_nevents); i++) {
		uint32_t *word = &hodo_on_words()[i], old = hodo_load(word);

		if (old != 0 && ((old & keep) | set) != old)
			hodo_cas_seq(word, &old, (old & keep) | set);
	}
}

/* As the consumer does elsewhere: the next event closes a packet that has been open for long. */
static void look_at_ages(uint64_t now)
{
	bool old = false;

	for (uint32_t i = 0; i < hodo_recording.layout.rings && !old; i++) {
		const struct hodo_view *v = hodo_view_of(i);
		uint64_t word, since;

		if (!hodo_load_acquire(&v->packet_size))
			continue;
		word = hodo_load_acquire(&v->ring->word);
		since = hodo_load(&hodo_ring_packet(v, hodo_word_position(word))->timestamp_begin);
		old = since < now && now - since > hodo_recording.config.packet_age_ticks;
	}
	if (old)
		change_on_words(HODO_ON_AGE, ~0u);
	else if (age_set)
		change_on_words(0, ~HODO_ON_AGE);
	age_set = old;
	age_ticks = now;
}

/* In a section, at packet switches, with signals blocked. */
void hodo_flight_clocks(void)
{
	uint32_t idle = 0;
	uint64_t now;

	if (hodo_recording.by != HODO_BY_FLIGHT)
		return;
	now = hodo_clock_now();
	if (now - hodo_load(&clocks_ticks) < CLOCKS_TICKS || !hodo_cas_acquire(&clocks_busy, &idle, 1))
		return;
	HODO_INJECT(HODO_INJECT_FLIGHT);
	hodo_flight_note_clocks(hodo_flight_of(hodo_recording.shm));
	if (now - age_ticks > AGE_LOOK_TICKS)
		look_at_ages(now);
	hodo_store_release(&clocks_busy, 0);
}

void hodo_flight_clocks_begin(struct hodo_flight *f)
{
	read_clocks(&f->first, f->clock, 8);
	clocks_busy = 0;
	clocks_ticks = age_ticks = f->first.ticks;
	age_set = false;
}

void hodo_flight_note_end(void)
{
	struct hodo_flight *f = hodo_flight_of(hodo_recording.shm);

	hodo_flight_note_clocks(f);
	hodo_store_release(&f->ended, 1);
}
