/* SPDX-License-Identifier: MIT */
/* test_frames.c - what is compressed can be read again, whole or not; hostile input stays within bounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/random.h>
#include <lib/unit.h>
#include <pack/compress.h>
#include <pack/frames.h>
#include <pack/planes.h>

#define HEAD 88u

/* A file that is being made, and its original. */
struct file {
	struct hodo_compressor *compressor;
	struct hodo_seek_table table;
	uint8_t *bytes, *plain;
	size_t n, size;
};

static void add_bytes(struct file *f, const void *bytes, size_t n)
{
	f->bytes = realloc(f->bytes, f->n + n + 1);
	memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

static size_t add_frame(struct file *f, const uint8_t *plain, size_t head, size_t size)
{
	const uint8_t *frame;
	ssize_t n = hodo_compress(f->compressor, plain, head, plain + head, size - head, &frame);

	assert_true(n > 0);
	assert_int_equal(hodo_seek_table_add(&f->table, (size_t)n, size), 0);
	add_bytes(f, frame, (size_t)n);
	f->plain = realloc(f->plain, f->size + size + 1);
	memcpy(f->plain + f->size, plain, size);
	f->size += size;
	return (size_t)n;
}

/* Bytes that compress somewhat, and differ in any two places. */
static void fill(uint8_t *p, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i % 8 < 4 ? (seed + i / 8) >> 8 * (i % 4) : seed);
}

static struct file make(uint32_t frames, size_t size)
{
	struct file f = { .compressor = hodo_compressor_new(1) };
	uint8_t *plain = malloc(size);

	for (uint32_t i = 0; i < frames; i++) {
		fill(plain, size, i * 1000003);
		add_frame(&f, plain, HEAD, size);
	}
	free(plain);
	return f;
}

static void add_table(struct file *f)
{
	uint8_t *table;
	ssize_t n = hodo_seek_table_make(&f->table, &table);

	assert_true(n > 0);
	add_bytes(f, table, (size_t)n);
	free(table);
}

static void free_file(struct file *f)
{
	hodo_compressor_free(f->compressor);
	hodo_seek_table_free(&f->table);
	free(f->bytes);
	free(f->plain);
}

/* The file as it is when it is read. */
struct reading {
	struct hodo_frames_pool pool;
	struct hodo_frames *frames;
	int fd;
};

static struct reading open_bytes(const void *bytes, size_t n)
{
	struct reading r = { .fd = -1 };

	folder_write(folder_path("f"), bytes, n);
	r.fd = open(folder_path("f"), O_RDONLY | O_CLOEXEC);
	assert_true(r.fd >= 0);
	return r;
}

static void find(struct reading *r, size_t n)
{
	assert_int_equal(hodo_frames_open(&r->frames, &r->pool, r->fd, 0, n), 0);
}

static void done(struct reading *r)
{
	hodo_frames_free(r->frames);
	hodo_frames_pool_free(&r->pool);
	close(r->fd);
}

static void check_bytes(struct reading *r, const uint8_t *plain, size_t from, size_t n)
{
	uint8_t *to = malloc(n + 1);

	assert_int_equal(hodo_frames_read(r->frames, r->fd, to, n, from), n);
	assert_memory_equal(to, plain + from, n);
	free(to);
}

TEST(what_was_written_is_read)
{
	struct file f = make(9, 30000);
	struct reading r;
	uint64_t seed = 7;

	add_table(&f);
	r = open_bytes(f.bytes, f.n);
	find(&r, f.n);
	assert_int_equal(hodo_frames_size(r.frames), f.size);
	assert_null(hodo_frames_fault(r.frames)->why);
	check_bytes(&r, f.plain, 0, f.size);
	for (int i = 0; i < 2000; i++) {
		size_t from = xorshift(&seed) % f.size, n = xorshift(&seed) % 70000;

		check_bytes(&r, f.plain, from, n < f.size - from ? n : f.size - from);
	}
	/* Beginnings of frames, from a pool that keeps none; and reads after the end. */
	for (size_t at = 0; at < f.size; at += 30000) {
		hodo_frames_rest(r.frames);
		check_bytes(&r, f.plain, at, HEAD);
	}
	assert_int_equal(hodo_frames_read(r.frames, r.fd, &r, 1, f.size), 0);
	done(&r);
	free_file(&f);
}

/* Records of that many bytes, as a tracer writes them: one field grows a little each time, the others vary little. */
static void fill_records(uint8_t *p, size_t n, uint32_t record, uint32_t seed)
{
	uint64_t random = seed + 1, time = 0;

	for (size_t i = 0; i + record <= n; i += record) {
		memset(p + i, 7, record);
		time += xorshift(&random) % 1000;
		memcpy(p + i, &time, 4);
		p[i + 5] = (uint8_t)(xorshift(&random) % 50);
		p[i + record - 1] = (uint8_t)(xorshift(&random) % 3);
	}
}

/* Frames of records, 60,000 bytes each and a head; a tail where records do not fill a frame. */
static struct file make_records(uint32_t frames, uint32_t record)
{
	struct file f = { .compressor = hodo_compressor_new(1) };
	uint8_t *plain = calloc(1, HEAD + 60000);

	for (uint32_t i = 0; i < frames; i++) {
		fill_records(plain + HEAD, 60000, record, i);
		add_frame(&f, plain, HEAD, HEAD + 60000);
	}
	free(plain);
	return f;
}

TEST(records_are_split_into_planes)
{
	for (uint32_t record = 9; record <= 36; record += 9) {
		struct file f = make_records(5, record);
		struct hodo_planes planes = { 0 };
		struct reading r = open_bytes(f.bytes, f.n);

		assert_true(hodo_planes_read_mark(f.bytes, &planes));
		assert_int_equal(planes.head, HEAD);
		assert_int_equal(planes.record % record, 0);
		find(&r, f.n);
		assert_int_equal(hodo_frames_size(r.frames), f.size);
		assert_null(hodo_frames_fault(r.frames)->why);
		check_bytes(&r, f.plain, 0, f.size);
		for (size_t at = 0; at < f.size; at += HEAD + 60000) {
			hodo_frames_rest(r.frames);
			check_bytes(&r, f.plain, at, HEAD);
			hodo_frames_rest(r.frames);
			check_bytes(&r, f.plain, at, HEAD + 1);
		}
		done(&r);
		free_file(&f);
	}
}

TEST(what_has_no_records_stays)
{
	struct file f = { .compressor = hodo_compressor_new(1) };
	uint8_t *plain = malloc(60000);
	struct hodo_planes planes;
	uint64_t seed = 3;

	for (size_t i = 0; i < 60000; i++)
		plain[i] = (uint8_t)(xorshift(&seed) % 5);
	add_frame(&f, plain, HEAD, 60000);
	assert_false(hodo_planes_read_mark(f.bytes, &planes));
	free(plain);
	free_file(&f);
}

/* The search for the next frame after a damaged place finds the mark of planes, too. */
TEST(behind_damage_a_mark_is_found)
{
	struct file f = make_records(4, 8);
	size_t size = HEAD + 60000, second = f.table.entries[0].bytes;
	struct reading r;

	memset(f.bytes + HODO_PLANES_MARK, 0xff, second - HODO_PLANES_MARK);
	r = open_bytes(f.bytes, f.n);
	find(&r, f.n);
	assert_int_equal(hodo_frames_size(r.frames), f.size - size);
	check_bytes(&r, f.plain + size, 0, f.size - size);
	done(&r);
	free_file(&f);
}

TEST(a_mark_that_makes_no_sense_is_none)
{
	static const uint32_t records[] = { 0, 1, HODO_PLANES_MAX + 1, UINT32_MAX };
	uint8_t mark[HODO_PLANES_MARK];
	struct hodo_planes planes;

	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		hodo_planes_write_mark(mark, (struct hodo_planes){ HEAD, records[i] });
		assert_false(hodo_planes_read_mark(mark, &planes));
	}
	hodo_planes_write_mark(mark, (struct hodo_planes){ HEAD, 8 });
	assert_true(hodo_planes_read_mark(mark, &planes));
	mark[4]++;
	assert_false(hodo_planes_read_mark(mark, &planes));
}

/* The head before the records is longer than the frame. */
TEST(a_mark_that_says_too_much_is_a_fault)
{
	struct file f = make_records(2, 8);
	struct reading r;

	hodo_planes_write_mark(f.bytes, (struct hodo_planes){ 1 << 20, 8 });
	r = open_bytes(f.bytes, f.n);
	find(&r, f.n);
	assert_string_equal(hodo_frames_fault(r.frames)->why, "holds less than its header says");
	assert_int_equal(hodo_frames_size(r.frames), HEAD + 60000);
	check_bytes(&r, f.plain + HEAD + 60000, 0, HEAD + 60000);
	done(&r);
	free_file(&f);
}

TEST(a_beginning_needs_no_rest)
{
	struct file f = make(1, 200000);
	struct reading r;
	uint8_t to[HEAD];

	memset(f.bytes + f.n / 2, 0xaa, f.n / 2); /* the body is damaged, the header is not */
	r = open_bytes(f.bytes, f.n);
	/* The blocks' headers must still lead to the end. */
	find(&r, f.n);
	if (hodo_frames_size(r.frames) == f.size) {
		assert_int_equal(hodo_frames_read(r.frames, r.fd, to, HEAD, 0), HEAD);
		assert_memory_equal(to, f.plain, HEAD);
	}
	done(&r);
	free_file(&f);
}

TEST(what_is_cut_short_has_its_whole_frames)
{
	struct file f = make(5, 2000);
	size_t ends[5], n = 0;

	for (int i = 0; i < 5; i++)
		ends[i] = n += f.table.entries[i].bytes;
	add_table(&f);
	for (size_t cut = 0; cut < f.n; cut++) {
		struct reading r = open_bytes(f.bytes, cut);
		size_t whole = 0;
		bool clean = cut == 0;

		for (int i = 0; i < 5; i++) {
			whole += cut >= ends[i];
			clean |= cut == ends[i];
		}
		find(&r, cut);
		assert_int_equal(hodo_frames_size(r.frames), whole * 2000);
		assert_int_equal(hodo_frames_fault(r.frames)->why == NULL, clean);
		if (!clean)
			assert_int_equal(hodo_frames_fault(r.frames)->bytes, cut - (whole ? ends[whole - 1] : 0));
		check_bytes(&r, f.plain, 0, whole * 2000);
		done(&r);
	}
	free_file(&f);
}

TEST(a_damaged_frame_is_zeros_and_the_others_are_read)
{
	struct file f = make(3, 50000);
	struct reading r;
	uint8_t *to = malloc(f.size);
	size_t second = f.table.entries[0].bytes;

	f.bytes[second + f.table.entries[1].bytes - 2] ^= 1; /* the frame's checksum */
	r = open_bytes(f.bytes, f.n);
	find(&r, f.n);
	assert_int_equal(hodo_frames_size(r.frames), f.size);
	assert_int_equal(hodo_frames_read(r.frames, r.fd, to, f.size, 0), f.size);
	memset(f.plain + 50000, 0, 50000);
	assert_memory_equal(to, f.plain, f.size);
	assert_int_equal(hodo_frames_fault(r.frames)->at, second);
	assert_int_equal(hodo_frames_fault(r.frames)->bytes, f.table.entries[1].bytes);
	assert_int_equal(hodo_frames_data_at(r.frames, 49999), 49999);
	assert_int_equal(hodo_frames_data_at(r.frames, 50001), 100000);
	free(to);
	done(&r);
	free_file(&f);
}

TEST(any_byte_may_be_damaged)
{
	struct file f = make(4, 700);
	size_t room = 1u << 17, sound;
	uint8_t *to = malloc(room);

	add_table(&f);
	for (size_t at = 0; at < f.n; at++) {
		struct reading r;
		ssize_t n;

		f.bytes[at] ^= 0x55;
		r = open_bytes(f.bytes, f.n);
		find(&r, f.n);
		n = hodo_frames_read(r.frames, r.fd, to, room, 0);
		assert_int_equal(n, hodo_frames_size(r.frames));
		/* Three of the four frames are intact, wherever they are; all four, if the damage is in the table. */
		sound = 0;
		for (size_t i = 0; i < 4; i++)
			sound += memmem(to, (size_t)n, f.plain + i * 700, 700) != NULL;
		if (sound < 3)
			fail_msg("byte %zu of %zu: %zu frames are left", at, f.n, sound);
		if (sound < 4)
			assert_non_null(hodo_frames_fault(r.frames)->why);
		done(&r);
		f.bytes[at] ^= 0x55;
	}
	free(to);
	free_file(&f);
}

/* A single-segment frame whose size has four bytes, with one block that repeats a byte. */
static size_t bomb(uint8_t *to, uint32_t claim)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0 };
	const uint32_t block = 1 | 1 << 1 | 131072 << 3;

	memcpy(to, magic, 5);
	memcpy(to + 5, &claim, 4);
	memcpy(to + 9, &block, 3);
	to[12] = 0;
	return 13;
}

static const char *fault_of(const void *bytes, size_t n, uint64_t *size)
{
	struct reading r = open_bytes(bytes, n);
	const char *why;

	find(&r, n);
	*size = hodo_frames_size(r.frames);
	why = hodo_frames_fault(r.frames)->why;
	done(&r);
	return why;
}

TEST(what_claims_too_much_is_refused)
{
	uint8_t bytes[13 * 4096], one[16];
	uint64_t size;
	size_t n = 0;

	assert_string_equal(fault_of(one, bomb(one, 17u << 20), &size), "holds more than 16 MiB");
	assert_int_equal(size, 0);
	while (n + 13 <= sizeof(bytes))
		n += bomb(bytes + n, 131072);
	assert_string_equal(fault_of(bytes, n, &size), "claims to hold more than 1,024 times its size");
	assert_in_range(size, HODO_FRAME_MAX / 2, n * HODO_FRAME_RATIO + HODO_FRAME_MAX);
	memcpy(one, "\x28\xb5\x2f\xfd\x00\x58\x01\x00\x00", 9); /* an empty last block, without a size */
	assert_string_equal(fault_of(one, 9, &size), "does not say how much is in it");
	memcpy(one, "\x28\xb5\x2f\xfd\x21\x07\x05\x09\x00\x00x", 11);
	assert_string_equal(fault_of(one, 11, &size), "needs a dictionary");
}

TEST(what_compresses_best_is_not_refused)
{
	struct file f = { .compressor = hodo_compressor_new(1) };
	uint8_t *zeros = calloc(1, 8u << 20);
	struct reading r;

	for (int i = 0; i < 8; i++)
		add_frame(&f, zeros, HEAD, 8u << 20);
	r = open_bytes(f.bytes, f.n);
	find(&r, f.n);
	assert_null(hodo_frames_fault(r.frames)->why);
	assert_int_equal(hodo_frames_size(r.frames), 64u << 20);
	check_bytes(&r, f.plain, (8u << 20) - 10, 20);
	done(&r);
	free(zeros);
	free_file(&f);
}

TEST(searching_ends)
{
	/* Each place begins a frame whose blocks lead through all the others, and none is whole. */
	size_t n = 1u << 20;
	uint8_t *bytes = malloc(n);
	struct reading r;

	for (size_t at = 0; at + 12 <= n; at += 12) {
		memcpy(bytes + at, "\x28\xb5\x2f\xfd\x20\x00", 6);
		memcpy(bytes + at + 6, "\x48\x00\x00\x00\x00\x00", 6);
	}
	r = open_bytes(bytes, n);
	find(&r, n);
	assert_int_equal(hodo_frames_size(r.frames), 0);
	assert_int_equal(hodo_frames_fault(r.frames)->bytes, n);
	done(&r);
	free(bytes);
}

TEST_PROGRAM();
