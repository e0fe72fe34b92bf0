/* SPDX-License-Identifier: MIT */
/*
 * parts.c - a hostile recording in parts.
 *
 * Input as in tests/fuzz/read_recording.h. It is cut at a place that depends on the input, and
 * the pieces become files of one process in three parts; the last part's metadata is cut, too. The walks
 * must agree, and a sound stream that was cut between two packets must read as before.
 */
#include <lib/fuzz.h>
#include "read_recording.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const parts[] = { "part-0001", "part-0002", "part-0010" };
#define PARTS 3

static void start(void)
{
	char path[64];

	mkdir(folder_path("whole"), 0777);
	mkdir(folder_path("whole/kvd-1"), 0777);
	mkdir(folder_path("cut"), 0777);
	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(path, sizeof(path), "cut/%s", parts[i]);
		mkdir(folder_path(path), 0777);
		snprintf(path, sizeof(path), "cut/%s/kvd-1", parts[i]);
		mkdir(folder_path(path), 0777);
	}
}

static void put(unsigned part, const char *name, const uint8_t *data, size_t len)
{
	char path[64];

	snprintf(path, sizeof(path), "cut/%s/kvd-1/%s", parts[part], name);
	folder_write(folder_path(path), data, len);
}

static unsigned warnings;

static void warn(void *data, const char *text)
{
	(void)data, (void)text;
	warnings++;
}

/* The number of events in all walks, or UINT64_MAX if the recording cannot be opened. */
static uint64_t walk(const char *dir)
{
	struct hodo_read_options o = { .size = sizeof(o), .warn = warn };
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	const struct hodo_read_event *e;
	uint64_t n = 0, packets = 0, parted = 0;
	struct hodo_read *r;

	warnings = 0;
	if (hodo_read_open(&r, folder_path(dir), &o) < 0)
		return UINT64_MAX;
	for (int round = 0; round < 2; round++) {
		fuzz_check(hodo_read_scan(r) == 0, "scan fails");
		packets = parted = 0;
		for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
			for (uint32_t k = 0; k < hodo_read_process(r, i)->nstreams; k++)
				packets += hodo_read_process(r, i)->streams[k]->packets;
		for (uint32_t i = 0; i < hodo_read_nparts(r); i++)
			parted += hodo_read_part(r, i)->packets;
		fuzz_check(hodo_read_nparts(r) == 0 || parted == packets, "the parts have other packets than the streams");
		fuzz_check(hodo_read_count(r, &totals) == 0, "count fails");
	}
	while (hodo_read_next(r, &e) > 0)
		n++;
	fuzz_check(n == totals.events, "count and next differ");
	hodo_read_limit(r, totals.begin_ns + 1, totals.end_ns);
	while (hodo_read_next(r, &e) > 0)
		fuzz_check(e->ts_ns > totals.begin_ns && e->ts_ns < totals.end_ns, "an event beyond the limits");
	hodo_read_close(r);
	return n;
}

/* The end of the n-th sound packet, so that a cut there is between packets. */
static size_t packet_end(const uint8_t *data, size_t len, unsigned n)
{
	struct hodo_packet h;
	size_t at = 0;

	for (; n > 0 && len - at >= sizeof(h); n--) {
		memcpy(&h, data + at, sizeof(h));
		if (h.magic != HODO_CTF_MAGIC || h.packet_size / 8 < sizeof(h) || h.packet_size / 8 > len - at)
			break;
		at += h.packet_size / 8;
	}
	return at;
}

static void try_cut(const uint8_t *metadata, size_t metadata_len, const uint8_t *stream, size_t len, size_t a, size_t b)
{
	put(0, "metadata", metadata, metadata_len);
	put(1, "metadata", metadata, metadata_len);
	put(2, "metadata", metadata, metadata_len);
	put(0, "cpu0", stream, a);
	put(1, "cpu0", stream + a, b - a);
	put(2, "cpu0", stream + b, len - b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool started;
	struct fuzz_recording in = fuzz_recording(data, len);
	const uint8_t *stream = in.stream;
	uint32_t hash = 2166136261u;
	uint64_t whole;
	bool sound;
	size_t a, b;

	if (!started)
		start();
	started = true;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ data[i]) * 16777619u;
	len = in.stream_len;
	folder_write(folder_path("whole/kvd-1/metadata"), in.metadata, in.metadata_len);
	folder_write(folder_path("whole/kvd-1/cpu0"), stream, len);
	whole = walk("whole");
	/* Readers may find other packets in damaged ones, and these may extend beyond the cut. */
	sound = warnings == 0;

	a = packet_end(stream, len, 1 + hash % 3);
	b = a + packet_end(stream + a, len - a, hash / 7 % 4);
	try_cut(in.metadata, in.metadata_len, stream, len, a, b);
	fuzz_check(walk("cut") == whole || !sound, "cut between packets it has other events");

	a = len ? hash % len : 0;
	b = a + (len > a ? hash / 3 % (len - a) : 0);
	try_cut(in.metadata, in.metadata_len, stream, len, a, b);
	walk("cut");
	put(2, "metadata", in.metadata, in.metadata_len ? hash / 5 % in.metadata_len : 0);
	walk("cut");
	return 0;
}
