/* SPDX-License-Identifier: MIT */
/*
 * recover_stream.c - a stream of an interrupted recording that holds anything.
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
static const char metadata[] = "/* CTF 1.8 */\n"
	"/*@hodo version=2 uuid=01020304-0506-4708-890a-0b0c0d0e0f10 byte_order=le*/\n"
	"/*@process pid=1 ppid=1 uid=0 comm=a exe=/a start=exec mode=discard ring_size=4096 packet_size=4096*/\n"
	"/*@clock kind=monotonic freq=1000000000 offset_s=0 offset=0*/\n"
	"/*@event id=1 name=a:number kind=event file=a line=1 func=a object=a format= fields=n:u64*/\n"
	"/*@event id=2 name=a:text kind=event file=a line=2 func=a object=a format= fields=t:str*/\n"
	"/*@event id=3 name=func:entry kind=function file= line=0 func= object= format= fields=addr:ptr,frame:u32*/\n"
	"/*@event id=4 name=func:exit kind=function file= line=0 func= object= format= fields=addr:ptr,frame:u32*/\n";

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

static void write_file(int dir, const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void write_input(int dir, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	const uint32_t magic = HODO_CTF_MAGIC;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	for (size_t at = 0; at + 20 <= len; at++) {
		if (memcmp(copy + at, "HDR", 3) == 0) {
			memcpy(copy + at, &magic, sizeof(magic));
			memcpy(copy + at + 4, uuid, sizeof(uuid));
		}
	}
	write_file(dir, "cpu0", copy, len);
	free(copy);
}

static void check_copy(int in, int out, const char *in_path)
{
	const struct hodo_read_process *process;
	struct hodo_recover_stream result;
	struct hodo_read *reader;
	struct stat st;
	uint8_t *p;
	int fd;

	write_file(in, "metadata", metadata, sizeof(metadata) - 1);
	if (hodo_read_open(&reader, in_path, NULL) != 0)
		abort();
	process = hodo_read_process(reader, 0);
	if (hodo_recover_stream(process, process->streams[0], out, &result) == 0 && result.bytes > 0) {
		p = malloc(result.bytes);
		fd = openat(out, "cpu0", O_RDONLY);
		if (!p || fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size != result.bytes ||
		    read(fd, p, result.bytes) != (ssize_t)result.bytes)
			abort();
		check(p, result.bytes, hodo_layouts_of(process), result.events);
		close(fd);
		free(p);
	}
	hodo_read_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char in_path[] = "/dev/shm/hodo-fuzz-XXXXXX", out_path[] = "/dev/shm/hodo-fuzz-XXXXXX";
	int in, out;

	if (len > 1u << 20 || !mkdtemp(in_path) || !mkdtemp(out_path))
		return 0;
	in = open(in_path, O_RDONLY | O_DIRECTORY);
	out = open(out_path, O_RDONLY | O_DIRECTORY);
	write_input(in, data, len);
	check_copy(in, out, in_path);
	unlinkat(in, "cpu0", 0);
	unlinkat(in, "metadata", 0);
	unlinkat(out, "cpu0", 0);
	close(in);
	close(out);
	rmdir(in_path);
	rmdir(out_path);
	return 0;
}
