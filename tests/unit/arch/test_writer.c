/* SPDX-License-Identifier: MIT */
/* test_writer.c - the writers of events and calls against their twins. */
#include "pair.h"
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <x86intrin.h>
#include <arch/writer.h>

static struct hodo_state event = { .on = &on, .id = 0xabc };
static uint8_t source[2048 + 8];

static struct {
	struct hodo_state *state;
	const void *data;
	size_t len;
} slow;

/* Where the fast writer continues with what it did not write. */
static void take_slow(struct hodo_state *state, const void *data, size_t len)
{
	slow.state = state;
	slow.data = data;
	slow.len = len;
}

static int begin(void **state)
{
	int error = pair_begin(state);

	hodo_x86_slow = take_slow;
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)random_next();
	return error;
}

static void emit(size_t len)
{
	const uint8_t *data = source + random_next() % 900;
	struct attempt before = attempt();
	struct hodo_twin_by by;
	enum hodo_twin twin;

	slow.state = NULL;
	hodo_x86_emit(&event, data, len);
	by = by_now(&before);
	twin = hodo_twin_emit(&t.view, &event, &by, data, len);
	if (!written(&before)) {
		assert_true(slow.state == &event && slow.data == data && slow.len == len);
		nothing(&before, twin);
		return;
	}
	assert_null(slow.state);
	assert_int_equal(twin, HODO_TWIN_DONE);
	same(&before);
}

static void try_pieces(const struct hodo_piece *pieces, size_t count, size_t total)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0);
	struct attempt before = attempt();
	struct hodo_twin_by by;
	enum hodo_twin twin;
	int result;

	while ((result = hodo_x86_try(&event, pieces, count, total, on)) == HODO_TRY_ABORTED) {
		interrupted++;
		t.ring.anchor = a.ring.anchor;
	}
	by = by_now(&before);
	twin = hodo_twin_try(&t.view, &event, &by, pieces, count, total, on);
	assert_int_equal(result, twin);
	if (result != HODO_TRY_DONE) {
		assert_int_equal(written(&before), 0);
		return;
	}
	if (by.window)
		assert_true(by.window % 256 == 0 && by.window <= here && here < by.window + HODO_WINDOW);
	same(&before);
}

static void try_some(void)
{
	struct hodo_piece pieces[5];
	size_t count = random_next() % 6, total = 0;

	for (size_t i = 0; i < count; i++) {
		pieces[i].len = random_next() % (i == 3 ? 1024 : 40);
		pieces[i].data = source + random_next() % 900;
		total += pieces[i].len;
	}
	try_pieces(pieces, count, total);
}

static void call(uint64_t pc, uint64_t at)
{
	uint64_t record = hodo_twin_call_record(random_next() % 2, pc, at), window = hodo_anchor_window(at);
	struct attempt before = attempt();
	struct hodo_twin_by by;
	int result;

	while ((result = hodo_x86_call(&event, record, window)) == HODO_TRY_ABORTED) {
		interrupted++;
		t.ring.anchor = a.ring.anchor;
	}
	by = by_now(&before);
	assert_int_equal(result, hodo_twin_call(&t.view, &event, &by, record));
	if (result != HODO_TRY_DONE) {
		assert_int_equal(written(&before), 0);
		return;
	}
	assert_int_equal(by.window, window);
	same(&before);
}

TEST(test_assembly_against_twin, .setup = begin, .teardown = pair_end)
{
	for (int round = 0; round < 20000; round++) {
		something_happens();
		switch (random_next() % 3) {
		case 0:
			emit(random_next() % (round % 8 ? 40 : 1024));
			break;
		case 1:
			try_some();
			break;
		default:
			call(random_next(), random_next() % (1ull << 47) / 16 * 16 + 8);
		}
	}
	assert_true(done > 5000 && interrupted < 10000);
	on = 0;
	assert_int_equal(hodo_x86_try(&event, NULL, 0, 0, HODO_ON_RECORD), HODO_TRY_CHANGED);
	assert_int_not_equal(hodo_x86_call(&event, 0, 0), HODO_TRY_DONE);
	on = HODO_ON_RECORD | HODO_ON_AGE; /* C code looks at the packet first */
	assert_int_not_equal(hodo_x86_call(&event, 0, 0), HODO_TRY_DONE);
}

TEST(test_without_views, .setup = begin, .teardown = pair_end)
{
	uint64_t word = a.ring.word;

	views_drop();
	assert_int_equal(hodo_x86_try(&event, NULL, 0, 0, HODO_ON_RECORD), HODO_TRY_SLOW);
	assert_int_equal(hodo_x86_call(&event, 0, 0), HODO_TRY_SLOW);
	hodo_x86_emit(&event, source, 8);
	assert_int_equal(a.ring.word, word);
	hodo_tls.table = views_of(&a);
}

/* The fast writer uses the last room if no anchor is due; the general one always leaves room for an anchor. */
TEST(test_last_bytes_of_a_packet, .setup = begin, .teardown = pair_end)
{
	for (uint64_t bytes = 8; bytes < 80; bytes++) {
		for (size_t len = 0; len < 20; len++) {
			struct hodo_piece piece = { source, len };

			for (int anchored = 0; anchored < 2; anchored++) {
				leave(bytes, anchored);
				emit(len);
				within();
				leave(bytes, anchored);
				try_pieces(&piece, 1, len);
				within();
			}
		}
		leave(bytes, true);
		call(4, 0x7fff00000008);
		within();
	}
	leave(8 + 6, true);
	emit(0);
	leave(8 + 6 + 16, false);
	try_pieces(NULL, 0, 0);
	assert_int_equal(bench_position(&a), PACKET - 8);
	leave(8 + 8 + 16, false);
	call(4, 0x7fff00000008);
	assert_int_equal(bench_position(&a), PACKET - 8);
	assert_true(interrupted < 1000);
}

/* Bits of the time that records have, and bits that they do not have, in both states. */
TEST(test_bits_of_the_time, .setup = begin, .teardown = pair_end)
{
	for (int i = 0; i < 4; i++) {
		while ((__rdtsc() >> HODO_EPOCH_SHIFT & 1) != (unsigned)i % 2)
			sched_yield();
		leave(1024, true);
		emit(8);
		try_some();
		leave(1024, false);
		call(4, 0x7fff00000008);
		leave(1024, false);
		try_some();
	}
}

static sigjmp_buf fault;

static void take_fault(int sig)
{
	siglongjmp(fault, 1);
}

/* A sequence that ends before its commit has already told others that the last anchor may not be theirs. */
TEST(test_anchor_is_cleared_first, .setup = begin, .teardown = pair_end)
{
	const struct sigaction action = { .sa_handler = take_fault };
	struct hodo_piece piece = { .len = 8 };
	struct sigaction before;
	uint64_t word;

	piece.data = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, &before);
	leave(1024, true);
	hodo_tls.tid++;
	word = a.ring.word;
	if (sigsetjmp(fault, 1) == 0) {
		while (hodo_x86_try(&event, &piece, 1, 8, on) == HODO_TRY_ABORTED)
			;
		fail();
	}
	sigaction(SIGSEGV, &before, NULL);
	assert_int_equal(a.ring.word, word);
	assert_int_equal(a.ring.anchor, 0);
	t.ring.anchor = 0;
	try_some();
	munmap((void *)piece.data, 4096);
}
