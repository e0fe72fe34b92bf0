/* SPDX-License-Identifier: MIT */
/* control.c - <hodo/control.h>. */
#include <hodo/control.h>
#include <user/libc/sys.h>
#include <user/flight/flight.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include "talk.h"

int hodo_control_set(const char *pattern, bool on)
{
	int n = 0, error;

	if (on && !hodo_recording.on)
		return -ENOTCONN;
	for (uint32_t i = 1; i <= hodo_nevents; i++) {
		struct hodo_event *event = &hodo_events[i];

		if (!hodo_registry_matches(pattern, event))
			continue;
		n++;
		event->disabled = !on;
		if (on)
			event->matched = true;
		hodo_registry_publish(event); /* when disabling: the on word first, then the code */
	}
	error = hodo_sites_patch();
	if (!on)
		hodo_patch_quiesce();
	return error ? error : n;
}

static int set(const char *pattern, bool on)
{
	uint64_t mask;
	int n;

	if (!pattern || !*pattern)
		return -EINVAL;
	mask = hodo_control_lock();
	n = hodo_control_set(pattern, on);
	hodo_control_unlock(mask);
	return n;
}

HODO_PUBLIC int hodo_enable(const char *pattern)
{
	return set(pattern, true);
}

HODO_PUBLIC int hodo_disable(const char *pattern)
{
	return set(pattern, false);
}

HODO_PUBLIC int hodo_stop(void)
{
	uint64_t mask = hodo_control_lock();
	int error = hodo_recording_end();

	hodo_control_unlock(mask);
	return error;
}

/* ---------------------------------------------------------------- snapshots */

/* Without locks, for signal handlers. 0: no recorder has the buffers. */
static int ask_recorder(const char *why)
{
	uint32_t section;
	int n = 0;

	hodo_process_check_fork();
	section = hodo_section_enter();
	if (!section)
		return -ENOTCONN;
	if (hodo_recording.ring.mode != HODO_MODE_OVERWRITE) {
		n = -EOPNOTSUPP;
	} else if (hodo_recording.by == HODO_BY_RECORDER) {
		n = (int)hodo_snapshot_want(why);
	}
	hodo_section_leave(section);
	return n;
}

HODO_PUBLIC int hodo_snapshot(const char *why)
{
	int n = ask_recorder(why);
	uint64_t mask;

	if (n != 0)
		return n;
	mask = hodo_control_lock();
	n = hodo_recording.on && hodo_recording.by == HODO_BY_FLIGHT ? hodo_flight_copy(why) : -ENOTCONN;
	hodo_control_unlock(mask);
	return n;
}

/* --------------------------------------------------------------- statistics */

static void add_ring(struct hodo_statistics *s, uint32_t i)
{
	const struct hodo_ring *ring = hodo_ring_of(i);
	const struct hodo_view *v = hodo_view_of(i);
	const struct hodo_packet *open;
	uint64_t word, size = hodo_recording.layout.packet_size;

	s->lost_full += hodo_load(&ring->lost_full);
	s->lost_large += hodo_load(&ring->lost_too_large);
	s->lost_busy += hodo_load(&ring->lost_busy);
	if (!hodo_load_acquire(&v->packet_size))
		return;
	/* Repeats until the packet whose header was read is still the open one. */
	for (int tries = 0; tries < 100; tries++) {
		uint64_t before, seq;

		word = hodo_load_acquire(&ring->word);
		open = hodo_ring_packet(v, hodo_word_position(word));
		before = hodo_load_acquire(&open->events_before);
		seq = hodo_load_acquire(&open->packet_seq_num);
		if ((hodo_load_acquire(&ring->word) ^ word) >> HODO_WORD_COUNT_BITS & ~(size - 1))
			continue;
		s->events += before + hodo_word_events(word);
		s->bytes += seq * size + (hodo_word_position(word) & (size - 1));
		return;
	}
}

static void fill(struct hodo_statistics *s)
{
	const struct hodo_shm *shm = hodo_shm();

	s->limited = hodo_load(&shm->limited);
	s->threads = hodo_load(&shm->threads);
	s->snapshots = hodo_load(&shm->snapshots);
	s->flight = hodo_recording.by == HODO_BY_FLIGHT;
	s->recorder = s->flight ? 0 : hodo_recording.recorder;
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		s->enabled += hodo_load(&hodo_on_words()[i]) != 0;
	/* A ring without a view has not been used in this recording; its memory is not touched. */
	for (uint32_t i = 0; i < hodo_recording.layout.rings; i++) {
		if (hodo_load_acquire(&hodo_view_of(i)->packet_size))
			add_ring(s, i);
	}
}

HODO_PUBLIC int hodo_statistics(struct hodo_statistics *statistics)
{
	struct hodo_statistics s = { 0 };
	uint64_t mask;
	bool on;

	if (!statistics || statistics->size < 3 * sizeof(uint64_t))
		return -EINVAL;
	mask = hodo_control_lock();
	on = hodo_recording.on;
	s.known = hodo_nevents;
	if (on)
		fill(&s);
	hodo_control_unlock(mask);
	s.size = statistics->size;
	__builtin_memcpy(statistics, &s, s.size < sizeof(s) ? s.size : sizeof(s));
	return on ? 0 : -ENOTCONN;
}
