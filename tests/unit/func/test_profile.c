/* SPDX-License-Identifier: MIT */
/* test_profile.c - the profile tracer's table, alone: growth, running out of room, threads one after another. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <lib/unit.h>

#include <func/tracers/profile.c>
#include <func/threads.h>
#include <func/tracers/tracers.h>

struct hodo_recording hodo_recording;

static struct hodo_frame frames[64];

static int set_up(void **state)
{
	struct hodo_recording *r = &hodo_recording;

	hodo_layout_init(&r->layout, 2, HODO_PACKET_MIN, HODO_PAGE);
	hodo_layout_add_profile(&r->layout);
	r->shm = mmap(0, r->layout.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->shm == MAP_FAILED)
		return -1;
	r->on = true;
	return hodo_builtin_profile.start(&(struct hodo_functions_config){ 0 });
}

static int tear_down(void **state)
{
	return munmap(hodo_recording.shm, hodo_recording.layout.total);
}

static struct hodo_func_thread *new_thread(uint32_t tid)
{
	struct hodo_func_thread *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->tid = tid;
	t->shadow.frames = frames;
	t->shadow.max = 64;
	return t;
}

static void enter_at(struct hodo_func_thread *t, uint64_t function, uint64_t now)
{
	struct hodo_frame *f = &t->shadow.frames[t->shadow.n];

	*f = (struct hodo_frame){ .at = 0x7000 - 16 * t->shadow.n, .function = function, .entry = now };
	t->shadow.n++;
	hodo_builtin_profile.enter(&t->shadow, f);
}

static void leave_at(struct hodo_func_thread *t, uint64_t now)
{
	struct hodo_frame *f = &t->shadow.frames[--t->shadow.n];

	if (t->shadow.n)
		f[-1].children += now - f->entry;
	hodo_builtin_profile.exit(&t->shadow, f, HODO_FRAME_RETURNED, now);
}

static void call(struct hodo_func_thread *t, uint64_t function, uint64_t ticks)
{
	static uint64_t now = 1000;

	enter_at(t, function, now);
	leave_at(t, now += ticks);
}

/* The n-th entry of a function in the table, NULL: there is none; *tid: its thread. */
static const struct hodo_profile_entry *entry_of(uint64_t function, unsigned n, uint64_t *tid)
{
	for (uint32_t i = 0; i < HODO_PROFILE_ENTRIES; i++)
		if (entries[i].addr == function && n-- == 0) {
			*tid = entries[i & ~(HODO_PROFILE_BATCH - 1)].calls;
			return &entries[i];
		}
	return 0;
}

/* The figures of a function's first entry. */
static void expect(uint64_t function, struct hodo_profile_entry want)
{
	uint64_t tid;
	const struct hodo_profile_entry *e = entry_of(function, 0, &tid);

	assert_non_null(e);
	want.addr = function;
	assert_memory_equal(e, &want, offsetof(struct hodo_profile_entry, bucket));
}

TEST(test_grows, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7);
	uint64_t tid, seen = 0;

	for (int round = 0; round < 3; round++)
		for (uint64_t f = 0; f < 5000; f++)
			call(t, 0x400000 + 16 * f, f);
	for (uint32_t i = 0; i < HODO_PROFILE_ENTRIES; i++)
		if (entries[i].addr > HODO_PROFILE_THREAD) {
			assert_int_equal(entries[i].calls, 3);
			seen++;
		}
	assert_int_equal(seen, 5000);
	assert_non_null(entry_of(0x400000 + 16 * 4999, 0, &tid));
	assert_null(entry_of(0x400000 + 16 * 4999, 1, &tid));
	assert_int_equal(tid, 7);
	assert_int_equal(hodo_shm()->profile_lost, 0);
	free(t);
}

TEST(test_is_full, .setup = set_up, .teardown = tear_down)
{
	const uint64_t room = HODO_PROFILE_ENTRIES / HODO_PROFILE_BATCH * (HODO_PROFILE_BATCH - 1);
	struct hodo_func_thread *t = new_thread(7), *late = new_thread(8);
	uint64_t tid;

	for (uint64_t f = 0; f < room + 1000; f++)
		call(t, 0x400000 + 16 * f, 5);
	assert_int_equal(hodo_shm()->profile_lost, 1000);
	call(t, 0x400000, 5); /* a function that has its entry is still counted */
	assert_int_equal(entry_of(0x400000, 0, &tid)->calls, 2);
	call(late, 0x400000, 5);
	assert_int_equal(hodo_shm()->profile_lost, 1001);
	assert_null(entry_of(0x400000, 1, &tid));
	free(t);
	free(late);
}

/* The next thread has its own entries while many are free; later it continues with its predecessor's. */
TEST(test_threads_in_a_row, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7), *other = new_thread(1);
	uint64_t tid;

	call(t, 0x400000, 5);
	t->tid = 8;
	call(t, 0x400000, 6);
	assert_int_equal(entry_of(0x400000, 0, &tid)->total, 5);
	assert_int_equal(tid, 7);
	assert_int_equal(entry_of(0x400000, 1, &tid)->total, 6);
	assert_int_equal(tid, 8);
	for (uint64_t f = 1; f <= HODO_PROFILE_ENTRIES / 2; f++)
		call(other, 0x800000 + 16 * f, 1);
	t->tid = 9;
	call(t, 0x400000, 10);
	assert_int_equal(entry_of(0x400000, 1, &tid)->total, 16);
	assert_int_equal(tid, 0);
	assert_null(entry_of(0x400000, 2, &tid));
	free(t);
	free(other);
}

/* A fork child's recording: what the index says about the parent's means nothing there. */
TEST(test_new_recording, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7);
	uint64_t tid;

	call(t, 0x400000, 5);
	call(t, 0x400010, 5);
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	call(t, 0x400010, 5);
	assert_null(entry_of(0x400000, 0, &tid));
	assert_int_equal(entry_of(0x400010, 0, &tid)->calls, 1);
	free(t);
}

TEST(test_recursion, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7);

	/* f(0-100) g(10-90) f(20-80) f(30-70); then f(200-210) again */
	enter_at(t, 0x400000, 1000);
	enter_at(t, 0x400100, 1010);
	enter_at(t, 0x400000, 1020);
	enter_at(t, 0x400000, 1030);
	leave_at(t, 1070);
	leave_at(t, 1080);
	leave_at(t, 1090);
	leave_at(t, 1100);
	enter_at(t, 0x400000, 1200);
	leave_at(t, 1210);
	expect(0x400000, (struct hodo_profile_entry){ .calls = 4, .total = 110, .self = 20 + 20 + 40 + 10,
						      .sum = 100 + 60 + 40 + 10, .min = 10, .max = 100 });
	expect(0x400100, (struct hodo_profile_entry){ .calls = 1, .total = 80, .self = 20, .sum = 80, .min = 80,
						      .max = 80 });
	free(t);
}

/* Calls without a visible exit have no time, and do not affect the minimum. */
TEST(test_no_exit, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7);

	for (int i = 0; i < 3; i++) {
		enter_at(t, 0x400000, 1000);
		t->shadow.frames[t->shadow.n - 1].user |= HODO_USER_NO_EXIT;
		leave_at(t, 1500);
	}
	call(t, 0x400000, 40);
	call(t, 0x400000, 30);
	expect(0x400000, (struct hodo_profile_entry){ .calls = 5, .no_exit = 3, .total = 70, .self = 70, .sum = 70,
						      .min = 30, .max = 40 });
	free(t);
}

/* A full bucket does not wrap. */
TEST(test_full_bucket, .setup = set_up, .teardown = tear_down)
{
	struct hodo_func_thread *t = new_thread(7);
	struct hodo_profile_entry *f;
	uint64_t tid;

	call(t, 0x400000, 2);
	f = (struct hodo_profile_entry *)entry_of(0x400000, 0, &tid);
	f->bucket[2] = UINT32_MAX - 1;
	call(t, 0x400000, 2);
	call(t, 0x400000, 2);
	assert_int_equal(f->bucket[2], UINT32_MAX);
	assert_int_equal(f->calls, 3);
	free(t);
}

TEST(test_buckets, .setup = set_up, .teardown = tear_down)
{
	static const struct {
		uint64_t ticks;
		unsigned bucket;
	} known[] = { { 0, 0 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 7, 7 }, { 8, 8 }, { 9, 8 }, { 10, 9 }, { 15, 11 },
		      { 16, 12 }, { 1023, 35 }, { 1024, 36 }, { UINT64_MAX, HODO_PROFILE_BUCKETS - 1 } };
	unsigned last = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_int_equal(bucket_of(known[i].ticks), known[i].bucket);
	for (uint64_t d = 1; d < 1ull << 41; d += 1 + d / 7) {
		assert_in_range(bucket_of(d), last, last + 1);
		last = bucket_of(d);
	}
}
