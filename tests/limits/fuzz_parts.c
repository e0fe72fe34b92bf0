/* SPDX-License-Identifier: MIT */
/*
 * fuzz_parts.c - a hostile recording in parts.
 *
 * Input as of tests/read/fuzz_recording.c: 32 bits of length, that many bytes of
 * metadata, the rest is a stream. It is cut at a place that depends on the input, and
 * the pieces are files of one process in three parts; the last part's metadata is cut, too. What
 * the walks tell must agree, and a sound stream that was cut between two packets is to be read as before.
 */
#include <read/help.h>

#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const parts[] = { "part-0001", "part-0002", "part-0010" };
#define PARTS 3

static void stop(void)
{
	help_done();
}

static void start(void)
{
	char path[64];

	help_start();
	atexit(stop);
	mkdir(help_path("whole"), 0777);
	mkdir(help_path("whole/kvd-1"), 0777);
	mkdir(help_path("cut"), 0777);
	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(path, sizeof(path), "cut/%s", parts[i]);
		mkdir(help_path(path), 0777);
		snprintf(path, sizeof(path), "cut/%s/kvd-1", parts[i]);
		mkdir(help_path(path), 0777);
	}
}

static void put(unsigned part, const char *name, const uint8_t *data, size_t len)
{
	char path[64];

	snprintf(path, sizeof(path), "cut/%s/kvd-1/%s", parts[part], name);
	help_write(help_path(path), data, len);
}

static void check(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_parts: %s\n", what);
		abort();
	}
}

static unsigned warnings;

static void warn(void *data, const char *text)
{
	(void)data, (void)text;
	warnings++;
}

/* Events of all walks, or UINT64_MAX if it cannot be opened. */
static uint64_t walk(const char *dir)
{
	struct hodo_read_options o = { .size = sizeof(o), .warn = warn };
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	const struct hodo_read_event *e;
	uint64_t n = 0, packets = 0, parted = 0;
	struct hodo_read *r;

	warnings = 0;
	if (hodo_read_open(&r, help_path(dir), &o) < 0)
		return UINT64_MAX;
	for (int round = 0; round < 2; round++) {
		check(hodo_read_scan(r) == 0, "scan fails");
		packets = parted = 0;
		for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
			for (uint32_t k = 0; k < hodo_read_process(r, i)->nstreams; k++)
				packets += hodo_read_process(r, i)->streams[k]->packets;
		for (uint32_t i = 0; i < hodo_read_nparts(r); i++)
			parted += hodo_read_part(r, i)->packets;
		check(hodo_read_nparts(r) == 0 || parted == packets, "the parts have other packets than the streams");
		check(hodo_read_count(r, &totals) == 0, "count fails");
	}
	while (hodo_read_next(r, &e) > 0)
		n++;
	check(n == totals.events, "count and next differ");
	hodo_read_limit(r, totals.begin_ns + 1, totals.end_ns);
	while (hodo_read_next(r, &e) > 0)
		check(e->ts_ns > totals.begin_ns && e->ts_ns < totals.end_ns, "an event beyond the limits");
	hodo_read_close(r);
	return n;
}

/* The end of the n-th sound packet, so that a cut there is one between packets. */
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
	uint32_t metadata_len = 0, hash = 2166136261u;
	const uint8_t *stream;
	uint64_t whole;
	bool sound;
	size_t a, b;

	if (!help_dir[0])
		start();
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ data[i]) * 16777619u;
	if (len >= 4) {
		memcpy(&metadata_len, data, 4);
		data += 4;
		len -= 4;
	}
	if (metadata_len > len)
		metadata_len = (uint32_t)len;
	stream = data + metadata_len;
	len -= metadata_len;
	help_write(help_path("whole/kvd-1/metadata"), data, metadata_len);
	help_write(help_path("whole/kvd-1/cpu0"), stream, len);
	whole = walk("whole");
	/* In damaged packets others may be found, which go beyond the cut. */
	sound = warnings == 0;

	a = packet_end(stream, len, 1 + hash % 3);
	b = a + packet_end(stream + a, len - a, hash / 7 % 4);
	try_cut(data, metadata_len, stream, len, a, b);
	check(walk("cut") == whole || !sound, "cut between packets it has other events");

	a = len ? hash % len : 0;
	b = a + (len > a ? hash / 3 % (len - a) : 0);
	try_cut(data, metadata_len, stream, len, a, b);
	walk("cut");
	put(2, "metadata", data, metadata_len ? hash / 5 % metadata_len : 0);
	walk("cut");
	return 0;
}
