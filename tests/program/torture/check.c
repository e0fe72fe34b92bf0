/* SPDX-License-Identifier: MIT */
/*
 * check.c - compares a recording of target.c or calls.c with what the program says.
 *
 *	check DIR FILE exact|killed
 *
 * Every event must be intact, and each stream's in order; its thread is the one that the program says, and its time
 * lies between the clock's time before it and the time before the stream's next event. exact: read + lost =
 * written. killed: at least the events that had returned before the kill, at most
 * those that had begun; and if nothing was lost, none is missing. If
 * functions were recorded, nothing may be lost: each call is checked.
 */
#include <hodo/read.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "open_calls.h"
#include "shared.h"

static uint64_t last[STREAMS], last_ticks[STREAMS], gaps;
static unsigned bad, warned, wrong_threads, wrong_times;

static void warn(void *data, const char *text)
{
	fprintf(stderr, "check: %s\n", text);
	warned++;
}

/* The processors' clocks may differ by this much, and times are multiples of 4. */
#define SLACK 30000

static void check_thread_and_time(const struct hodo_read_event *e, uint64_t stream)
{
	uint64_t clock = e->values[e->process->clock.kind == HODO_CLOCK_TSC ? 3 : 4].u;

	wrong_threads += e->tid != e->values[2].u;
	wrong_times += e->ticks + SLACK < clock || last_ticks[stream] > clock + SLACK;
	last_ticks[stream] = e->ticks;
}

static void check_event(const struct hodo_read_event *e)
{
	uint64_t stream = e->values[0].u, seq = e->values[1].u;
	bool call = strcmp(e->cls->name, "torture:call") == 0;
	unsigned len = call ? 0 : filler_len(seq);

	if (stream >= STREAMS || seq <= last[stream] || (e->cls->nfields == 6) != (len != 0)) {
		bad++;
		return;
	}
	check_thread_and_time(e, stream);
	gaps += seq - last[stream] - 1;
	last[stream] = seq;
	if (call)
		open_calls_said(e, e->values[6].u, e->values[5].u);
	if (!len)
		return;
	bad += e->values[5].count != len;
	for (unsigned i = 0; i < e->values[5].count && i < len; i++)
		bad += ((const uint8_t *)e->values[5].data)[i] != filler_byte(seq, i);
}

int main(int argc, char **argv)
{
	struct hodo_read_options options = { .size = sizeof(options), .warn = warn };
	const struct hodo_read_event *e;
	struct hodo_read_lost lost;
	struct hodo_read *reader;
	uint64_t read = 0, calls = 0, done = 0, begun = 0, missing;
	struct shared *shared;
	char error[256] = "";
	int fd, exact;

	if (argc != 4)
		return 2;
	exact = strcmp(argv[3], "exact") == 0;
	options.error = error;
	options.error_bytes = sizeof(error);
	fd = open(argv[2], O_RDONLY);
	shared = mmap(NULL, sizeof(*shared), PROT_READ, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED || hodo_read_open(&reader, argv[1], &options) < 0) {
		fprintf(stderr, "check: %s\n", error);
		return 1;
	}
	while (hodo_read_next(reader, &e) > 0) {
		if (strcmp(e->cls->name, "func:switched") == 0)
			continue; /* of the coroutines: it begins and ends no call */
		if (strncmp(e->cls->name, "func:", 5) == 0) {
			open_calls_take(e);
			calls++;
		} else if (strncmp(e->cls->name, "torture:", 8) == 0) {
			check_event(e);
			read++;
		}
	}
	open_calls_end();
	lost = hodo_read_lost(reader, NULL);
	missing = lost.full + lost.too_large + lost.busy + lost.overwritten + lost.unwritten + lost.unknown +
		  lost.damaged;
	for (int i = 0; i < STREAMS; i++) {
		done += shared->done[i];
		begun += shared->begun[i];
	}
	hodo_read_close(reader);
	printf("written %" PRIu64 "..%" PRIu64 " = read %" PRIu64 " + full %" PRIu64 " + busy %" PRIu64
	       " + overwritten %" PRIu64 " + other %" PRIu64 "; damaged %u, warnings %u\n",
	       done, begun, read, lost.full, lost.busy, lost.overwritten,
	       missing - lost.full - lost.busy - lost.overwritten, bad, warned);
	if (wrong_threads || wrong_times)
		printf("of another thread %u, at another time %u\n", wrong_threads, wrong_times);
	if (calls)
		printf("entries and exits %" PRIu64 ", wrong calls %u\n", calls, wrong_calls);
	if (calls && (wrong_calls || missing))
		return 1;
	if (bad || warned || wrong_threads || wrong_times || (done && !read))
		return 1;
	if (exact ? read + missing != done : read + missing < done || read + missing > begun)
		return 1;
	return missing == 0 && gaps ? 1 : 0;
}
