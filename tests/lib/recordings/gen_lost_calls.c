/* SPDX-License-Identifier: MIT */
/* gen_lost_calls.c - recordings of functions with losses. */
#include "gen_calls_impl.h"

void gen_lossy(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "lossy-40", "lossy", 40, "discard");
	gen_calls_event(&s, ENTRY, 40, 100, 0, MAIN);
	gen_calls_event(&s, ENTRY, 40, 200, 1, MAIN - 8);
	gen_packet_end(&s, 300, 2);
	gen_packet_start(&s, 300);
	gen_calls_event(&s, EXIT, 40, 400, 2, MAIN - 8); /* the exit of 1 and the entry of 2 are missing */
	gen_calls_event(&s, EXIT, 40, 500, 0, MAIN);
	gen_calls_end(&t, &s, 600, 0);
}

static void is_lost(struct gen_trace *t, const char *stream, unsigned full, unsigned overwritten)
{
	gen_comment(t, "lost stream=%s full=%u too_large=0 busy=0 overwritten=%u unwritten=0", stream, full, overwritten);
}

/*
 * Losses: on CPU 0 from 600 to 1000, on CPU 1 from 1900 to 3000. 1, 3, 5, 7 and 8 return; 2 is left before the first
 * loss, 6 and 9 between both. 4 may have returned during the first, and 10 and 11, whose thread has no more events,
 * during the second. 0 and 12 are open: nothing is lost after the last events of their threads.
 */
void gen_exit_lost(const char *top)
{
	struct gen_stream s, other;
	struct gen_trace t;

	gen_calls_start(&t, &s, top, "lost-80", "lost", 80, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 80, 100, 0, MAIN },
		{ ENTRY, 80, 200, 1, MAIN - 8 },
		{ ENTRY, 80, 300, 2, MAIN - 16 },
		{ EXIT, 80, 400, 1, MAIN - 8 },
		{ ENTRY, 80, 500, 3, MAIN - 8 },
		{ ENTRY, 80, 600, 4, MAIN - 16 });
	gen_packet_end(&s, 1000, 2);
	gen_packet_start(&s, 1000);
	GEN_CALLS_EVENTS(&s,
		{ EXIT, 80, 1100, 3, MAIN - 8 },
		{ ENTRY, 80, 1200, 5, MAIN - 8 },
		{ ENTRY, 80, 1300, 6, MAIN - 16 },
		{ EXIT, 80, 1400, 5, MAIN - 8 },
		{ ENTRY, 80, 1500, 7, MAIN - 8 },
		{ EXIT, 80, 3100, 7, MAIN - 8 },
		{ ENTRY, 82, 3300, 12, WORK + 0x10000 });
	gen_stream_start(&other, &t, "cpu1", 1);
	gen_packet_start(&other, 1550);
	GEN_CALLS_EVENTS(&other,
		{ ENTRY, 81, 1600, 8, WORK },
		{ ENTRY, 81, 1700, 9, WORK - 8 },
		{ EXIT, 81, 1800, 8, WORK },
		{ ENTRY, 81, 1850, 10, WORK },
		{ ENTRY, 81, 1900, 11, WORK - 8 });
	gen_packet_end(&other, 3000, 3);
	gen_stream_end(&other);
	is_lost(&t, "cpu0", 2, 0);
	is_lost(&t, "cpu1", 3, 0);
	gen_calls_end(&t, &s, 4000, 0);
}

void gen_lost_before(const char *top)
{
	struct gen_stream s, other;
	struct gen_trace t;

	gen_calls_start(&t, &s, top, "before-83", "before", 83, "overwrite");
	for (unsigned i = 0; i < 2; i++) {
		gen_calls_event(&s, ENTRY, 83, 100 + 6000 * i, 2 * i, MAIN);
		gen_calls_event(&s, ENTRY, 83, 200 + 6000 * i, 2 * i + 1, MAIN - 8);
		gen_calls_event(&s, EXIT, 83, 300 + 6000 * i, 2 * i, MAIN);
	}
	gen_stream_start(&other, &t, "cpu1", 1);
	gen_skip(&other, 50);
	gen_packet_start(&other, 5000);
	gen_calls_event(&other, ENTRY, 84, 5100, 4, WORK);
	gen_calls_event(&other, EXIT, 84, 5200, 4, WORK);
	gen_packet_end(&other, 5200, 50);
	gen_stream_end(&other);
	is_lost(&t, "cpu1", 0, 50);
	gen_calls_end(&t, &s, 9000, 0);
}

void gen_lost_unseen(const char *top)
{
	struct gen_stream s;
	struct gen_trace t;

	gen_calls_start(&t, &s, top, "unseen-85", "unseen", 85, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 85, 100, 0, MAIN },
		{ ENTRY, 85, 200, 1, MAIN - 8 },
		{ EXIT, 85, 300, 0, MAIN });
	is_lost(&t, "fallback", 7, 0);
	gen_calls_end(&t, &s, 1000, 0);
}

/* By the times, 1 begins after the 1 that it calls, and 2 after both have ended: its thread was preempted. */
void gen_late(const char *top)
{
	struct gen_stream s;
	struct gen_trace t;

	gen_calls_start(&t, &s, top, "late-7", "late", 7, "discard");
	gen_calls_whole(&s, 7, 1100, 1, 3, 90, false);
	gen_calls_whole(&s, 7, 1120, 1, 2, 95, false);
	gen_calls_whole(&s, 7, 1400, 2, 1, 200, false);
	gen_calls_whole(&s, 7, 1450, 0, 0, 300, false);
	gen_calls_end(&t, &s, 1450, 0);
}

/* The first two were inside of a call that is lost, not of the 1 that ends last. */
void gen_late_lost(const char *top)
{
	struct gen_stream s;
	struct gen_trace t;

	gen_calls_start(&t, &s, top, "late-7", "late", 7, "discard");
	gen_calls_whole(&s, 7, 1100, 2, 3, 50, false);
	gen_calls_whole(&s, 7, 1150, 1, 3, 40, false);
	gen_packet_end(&s, 1300, 2);
	gen_packet_start(&s, 1300);
	gen_calls_whole(&s, 7, 1400, 1, 3, 30, false);
	gen_calls_whole(&s, 7, 1420, 1, 2, 60, false);
	gen_calls_whole(&s, 7, 1500, 0, 1, 480, false);
	is_lost(&t, "cpu0", 2, 0);
	gen_calls_end(&t, &s, 1500, 0);
}
