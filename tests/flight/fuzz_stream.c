/* SPDX-License-Identifier: MIT */
/*
 * fuzz_stream.c - a stream of an interrupted recording that holds anything.
 *
 * Input: the file; if it begins with 'U' and 16 bytes, copies of packets' headers with honest marks replace
 * every "HDR". The result must be a stream that reads from its first byte to its last.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/fuzz.h>
#include <record/recover/recover.h>

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16 };

static void check(const uint8_t *p, size_t len, const struct hodo_read_layouts *table, uint64_t events)
{
	uint64_t ts = 0, discarded = 0, found = 0;

	for (size_t at = 0; at < len;) {
		struct hodo_walk_result walk;
		struct hodo_packet h;
		uint64_t bytes;

		if (len - at < sizeof(h))
			abort();
		memcpy(&h, p + at, sizeof(h));
		bytes = h.content_size / 8;
		if (h.magic != HODO_CTF_MAGIC || h.packet_size != h.content_size || bytes < sizeof(h) ||
		    bytes > len - at || h.timestamp_begin < ts || h.timestamp_end < h.timestamp_begin ||
		    h.events_discarded < discarded)
			abort();
		hodo_walk(table, p + at + sizeof(h), (uint32_t)(bytes - sizeof(h)), h.timestamp_begin, h.events, &walk);
		if (walk.events != h.events || walk.bytes != bytes - sizeof(h) || walk.ts_last > h.timestamp_end)
			abort();
		ts = h.timestamp_end;
		discarded = h.events_discarded;
		found += h.events;
		at += bytes;
	}
	if (found != events)
		abort();
}

static void write_input(int dir, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	const uint32_t magic = HODO_CTF_MAGIC;
	int fd = openat(dir, "cpu0", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (!copy || fd < 0)
		abort();
	memcpy(copy, data, len);
	for (size_t at = 0; at + 20 <= len; at++) {
		if (memcmp(copy + at, "HDR", 3) == 0) {
			memcpy(copy + at, &magic, sizeof(magic));
			memcpy(copy + at + 4, uuid, sizeof(uuid));
		}
	}
	if (write(fd, copy, len) != (ssize_t)len)
		abort();
	close(fd);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	struct hodo_recover_stream result;
	struct hodo_read_layouts table = { 0 };
	char in_path[] = "/dev/shm/hodo-fuzz-XXXXXX", out_path[] = "/dev/shm/hodo-fuzz-XXXXXX";
	int in, out, fd;

	if (len > 1u << 20 || !mkdtemp(in_path) || !mkdtemp(out_path))
		return 0;
	in = open(in_path, O_RDONLY | O_DIRECTORY);
	out = open(out_path, O_RDONLY | O_DIRECTORY);
	hodo_read_layouts_add(&table, 1, number, 1);
	hodo_read_layouts_add(&table, 2, text, 1);
	hodo_read_layouts_add(&table, 3, call, 2);
	hodo_read_layouts_add(&table, 4, call, 2);
	hodo_read_layouts_calls(&table, 3, 4);
	write_input(in, data, len);
	if (hodo_recover_stream(in, out, "cpu0", uuid, &table, &result) == 0 && result.bytes > 0) {
		uint8_t *p = malloc(result.bytes);
		struct stat st;

		fd = openat(out, "cpu0", O_RDONLY);
		if (!p || fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size != result.bytes ||
		    read(fd, p, result.bytes) != (ssize_t)result.bytes)
			abort();
		check(p, result.bytes, &table, result.events);
		close(fd);
		free(p);
	}
	hodo_layouts_clear(&table);
	unlinkat(in, "cpu0", 0);
	unlinkat(out, "cpu0", 0);
	close(in);
	close(out);
	rmdir(in_path);
	rmdir(out_path);
	return 0;
}
