/* SPDX-License-Identifier: MIT */
/*
 * test_parts.c - the recorder's smaller parts: clock, patterns, texts, stream files.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/unit.h>
#include <read/file/metadata_line.h>
#include <read/file/tsdl.h>

#include <record/clock.h>
#include <record/write/ctf_metadata.h>
#include <record/write/stream.h>
#include <record/write/names.h>

#include "writer.h"

/* The time of a tick according to the map, in ns since the epoch. */
static int64_t time_of(const struct hodo_read_clock *m, uint64_t ticks)
{
	return (int64_t)((__int128)m->offset_s * 1000000000 +
			 ((__int128)m->offset_ticks + ticks) * 1000000000 / m->freq_hz);
}

TEST(test_fit)
{
	/* A machine up for a year, an hour of recording. */
	struct hodo_clock_sample first = { 80000000000000000ull, 31536000000000000ll, 1795000000123456789ll };
	struct hodo_clock_sample last = first;
	struct hodo_read_clock m;

	last.ticks += 3600ull * 2596152314;
	last.mono_ns += 3600000000000ll;
	hodo_clock_fit(HODO_CLOCK_TSC, &first, &last, &m);
	/* In multiples of 4, as records have times: 2 ticks a second off, and 3 at the beginning. */
	assert_int_equal(m.freq_hz, 2596152316);
	assert_int_equal(m.offset_ticks % 4, 0);
	assert_true((uint64_t)m.offset_ticks < m.freq_hz);
	assert_true(llabs(time_of(&m, first.ticks) - first.real_ns) <= 2);
	assert_true(llabs(time_of(&m, last.ticks) - first.real_ns - 3600000000000ll) <= 3600 * 2 + 2);

	first.ticks = (uint64_t)first.mono_ns;
	last.ticks = (uint64_t)last.mono_ns;
	hodo_clock_fit(HODO_CLOCK_MONOTONIC, &first, &last, &m);
	assert_int_equal(m.freq_hz, 1000000000);
	assert_int_equal(m.offset_ticks % 4, 0);
	assert_in_range(first.real_ns + 3600000000000ll - time_of(&m, last.ticks), 0, 3);
	/* The epoch's first second, on a machine that has been up for longer than that. */
	first.real_ns = 5;
	hodo_clock_fit(HODO_CLOCK_MONOTONIC, &first, &last, &m);
	assert_in_range(5 - time_of(&m, first.ticks), 0, 3);
}

TEST(test_patterns)
{
	static const char *const bad[] = { "", "!", "a,,b", ":x", "x:", "a b:c", "kv:\tx", "a," };
	struct hodo_pattern_list list = { 0 };
	struct hodo_why why;
	uint8_t packed[64];

	assert_int_equal(hodo_pattern_add(&list, "kv,!kv:get", &why), 0);
	assert_int_equal(hodo_pattern_add(&list, "a:*", &why), 0);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.bytes, 17);
	hodo_pattern_pack(&list, packed);
	assert_memory_equal(packed, "kv:*\0!kv:get\0a:*", 17);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why.text[0] = 0;
		assert_int_equal(hodo_pattern_add(&list, bad[i], &why), -EINVAL);
		assert_true(why.text[0] && !strchr(why.text, '\n'));
	}
	hodo_pattern_free(&list);
	for (int i = 0; i < 3000 && hodo_pattern_add(&list, "some:pattern", &why) == 0; i++)
		assert_true(i < 2000);
	assert_true(list.bytes <= HODO_CONFIG_TEXT_MAX);
	hodo_pattern_free(&list);
}

TEST(test_near)
{
	static const char *const names[] = { "kv:put", "kv:get", "kv:gte_all", "net:send", "kv:set", "kv:let" };
	static const uint8_t none[1];
	uint8_t *base = calloc(1, 65536);
	struct hodo_pattern_list list = { 0 };
	struct hodo_catalog c = { 0 };
	struct hodo_text t = { 0 };
	struct hodo_why why;
	uint64_t used = 0;

	for (uint16_t i = 0; i < 6; i++)
		writer_catalog_event(base, &used, (uint16_t)(i + 1), names[i], none, 0, NULL);
	assert_int_equal(hodo_catalog_read(&c, base, used), 6);
	hodo_pattern_add(&list, "kv:gte,net:*,!zz:*", &why);
	hodo_pattern_see(&list, &c, 0);
	hodo_pattern_see(&list, &c, 0); /* another process with the same events */
	assert_true(hodo_pattern_unknown(&list, "no event matches ", &t));
	assert_string_equal(hodo_text_string(&t), "no event matches 'kv:gte' (near: kv:get, kv:set, kv:let)");
	assert_false(hodo_pattern_unknown(&list, "no event matches ", &t)); /* said once */
	hodo_text_free(&t);
	hodo_pattern_free(&list);
	hodo_catalog_free(&c);
	free(base);
}

TEST(test_texts)
{
	struct hodo_text t = { 0 };
	char out[32];

	hodo_name_file(out, sizeof(out), "../a b/\xff+-_.x");
	assert_string_equal(out, "_._a_b__+-_.x");
	hodo_name_file(out, sizeof(out), "");
	assert_string_equal(out, "_");
	hodo_line_put_text(&t, " name=", "a b%*/\n.:,/+-[]_\xff");
	assert_string_equal(hodo_text_string(&t), " name=a%20b%25%2A/%0A.:,/+-[]_%FF");
	hodo_text_free(&t);
	hodo_name_quote(&t, "a\"b\\c*/d//e/*f\x80\x7f");
	assert_null(strpbrk(hodo_text_string(&t), "\"\\"));
	assert_null(strstr(hodo_text_string(&t), "*/"));
	assert_null(strstr(hodo_text_string(&t), "/*"));
	assert_null(strstr(hodo_text_string(&t), "//"));
	hodo_text_free(&t);
}

static struct hodo_packet packet(uint32_t events, uint64_t discarded)
{
	struct hodo_packet h = { .magic = HODO_CTF_MAGIC, .timestamp_begin = 5, .timestamp_end = 9,
				 .content_size = 8 * (sizeof(h) + 12ull * events), .events = events,
				 .events_discarded = discarded };

	h.packet_size = h.content_size;
	return h;
}

static void read_header(int dirfd, const char *name, off_t at, struct hodo_packet *h)
{
	int fd = openat(dirfd, name, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, h, sizeof(*h), at), sizeof(*h));
	close(fd);
}

TEST(test_stream)
{
	uint8_t uuid[16] = { 1, 2, 3 }, body[240] = { 0 };
	struct hodo_packet h = packet(20, 0), seen;
	struct hodo_stream_file s;
	int dirfd;

	dirfd = open(folder(), O_RDONLY | O_DIRECTORY);
	hodo_stream_file_init(&s, uuid, 3, 8);
	assert_int_equal(hodo_stream_file_write(&s, dirfd, &h, body), 0);
	assert_int_equal(s.bytes, 88 + 240);
	hodo_stream_file_close(&s);
	h = packet(20, 7);
	assert_int_equal(hodo_stream_file_write(&s, dirfd, &h, body), 0);
	read_header(dirfd, "cpu3", 328, &seen);
	assert_int_equal(seen.packet_seq_num, 1);
	assert_int_equal(seen.cpu_id, 3);
	assert_int_equal(seen.events_discarded, 7);
	assert_memory_equal(seen.uuid, uuid, 16);
	/* Nothing more is missing: no packet; three more are missing: one packet. */
	assert_int_equal(hodo_stream_file_settle(&s, dirfd, 7, 20), 0);
	assert_int_equal(s.packets, 2);
	assert_int_equal(hodo_stream_file_settle(&s, dirfd, 10, 20), 0);
	read_header(dirfd, "cpu3", 656, &seen);
	assert_int_equal(seen.events_discarded, 10);
	assert_int_equal(seen.events, 0);
	hodo_stream_file_close(&s);
	unlinkat(dirfd, "cpu3", 0);

	/* Losses before the first packet: a packet without losses precedes it. */
	hodo_stream_file_init(&s, uuid, 8, 8);
	h = packet(20, 7);
	assert_int_equal(hodo_stream_file_write(&s, dirfd, &h, body), 0);
	read_header(dirfd, "fallback", 0, &seen);
	assert_int_equal(seen.events_discarded, 0);
	read_header(dirfd, "fallback", 88, &seen);
	assert_int_equal(seen.cpu_id, HODO_CPU_ANY);
	assert_int_equal(seen.events_discarded, 7);
	hodo_stream_file_close(&s);
	unlinkat(dirfd, "fallback", 0);

	/* What cannot be written is counted, and the next packet shows it. */
	hodo_stream_file_init(&s, uuid, 0, 8);
	assert_true(hodo_stream_file_write(&s, -1, &h, body) < 0);
	s.unwritten += h.events;
	assert_int_equal(s.unwritten, 40);
	assert_int_equal(hodo_stream_file_write(&s, dirfd, &h, body), 0);
	read_header(dirfd, "cpu0", 88, &seen);
	assert_int_equal(seen.events_discarded, 47);
	hodo_stream_file_close(&s);
	unlinkat(dirfd, "cpu0", 0);
	close(dirfd);
}

TEST(test_set_clock)
{
	char text[200000] = "";
	struct hodo_read_clock first = { HODO_CLOCK_TSC, 1000, 1, 2 }, last = { HODO_CLOCK_TSC, 7777, 3, 4 };
	struct hodo_catalog none = { 0 };
	struct hodo_flight flight = { .comm = "\nclock { freq;", .hostname = "clock { " };
	struct hodo_ctf_metadata m = { .flight = &flight, .clock = &first, .catalog = &none };
	struct hodo_text out = { 0 }, expected = { 0 };
	int dirfd, fd;

	dirfd = open(folder(), O_RDONLY | O_DIRECTORY);
	hodo_ctf_metadata_text(&m, &out);
	assert_int_equal(hodo_ctf_metadata_write(dirfd, &out, 0), 0);
	assert_int_equal(hodo_ctf_metadata_complete(dirfd, NULL, &last, NULL), 0);
	m.clock = &last;
	hodo_ctf_metadata_text(&m, &expected);
	fd = openat(dirfd, "metadata", O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text) - 1), expected.len);
	assert_string_equal(text, hodo_text_string(&expected));
	close(fd);
	assert_int_equal(faccessat(dirfd, ".metadata.new", F_OK, 0), -1);
	unlinkat(dirfd, "metadata", 0);
	assert_int_equal(hodo_ctf_metadata_complete(dirfd, NULL, &last, NULL), -ENOENT);
	close(dirfd);
	hodo_text_free(&out);
	hodo_text_free(&expected);
}
