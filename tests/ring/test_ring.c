/* SPDX-License-Identifier: MIT */
/* test_ring.c - rooms, packets and switches; the assembly writer against its C twin. */
#include <stdlib.h>
#include <string.h>
#include <lib/unit.h>
#include <arch/generic/twin.h>

/* The kernel has no writers in assembly: there, the rest runs (tests/kernel/unit). */
#if defined(__x86_64__) && !defined(__KERNEL__)
#define ASSEMBLY 1
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <func/func.h>

extern const unsigned int __rseq_size __attribute__((weak)); /* of glibc since 2.35 */
#else
#define ASSEMBLY 0
#endif

#define PACKET 4096u
#define RING (4u * PACKET)
#define CPUS 1024

struct bench {
	struct hodo_ring ring;
	uint8_t *data;
	struct hodo_view view;
	struct hodo_ring_config config;
};

static void bench_init(struct bench *b, uint32_t mode)
{
	memset(b, 0, sizeof(*b));
	b->data = aligned_alloc(4096, RING);
	memset(b->data, 0xee, RING);
	memset(b->data, 0, sizeof(struct hodo_packet));
	b->config = (struct hodo_ring_config){ .packet_size = PACKET, .mode = mode, .ring_size = RING };
	b->view = (struct hodo_view){ &b->ring, b->data, RING - 1, PACKET, 0, mode == HODO_MODE_DISCARD ? 4 : 0,
				      { 0 } };
	assert_int_equal(hodo_ring_activate(&b->config, &b->ring, b->data, 3, 1000), 0);
	assert_int_equal(hodo_ring_activate(&b->config, &b->ring, b->data, 3, 2000), -1);
}

TEST(test_activate)
{
	struct bench b;
	struct hodo_packet *p;

	bench_init(&b, HODO_MODE_DISCARD);
	p = (struct hodo_packet *)b.data;
	assert_int_equal(hodo_word_position(b.ring.word), sizeof(*p));
	assert_int_equal(hodo_word_events(b.ring.word), 0);
	assert_int_equal(p->magic, HODO_CTF_MAGIC);
	assert_int_equal(p->timestamp_begin, 1000);
	assert_int_equal(p->cpu_id, 3);
	assert_int_equal(p->packet_size, PACKET * 8);
	free(b.data);
}

/* Fills a packet to its last byte that may be used; the next event must not fit. */
TEST(test_room)
{
	for (unsigned len = 0; len < 64; len++) {
		uint8_t bytes[64] = { 0 };
		struct hodo_piece piece = { bytes, len };
		struct bench b;
		unsigned n = 0;

		bench_init(&b, HODO_MODE_DISCARD);
		while (hodo_ring_has_room(b.ring.word, PACKET, len)) {
			hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, len);
			n++;
		}
		assert_int_equal(hodo_word_events(b.ring.word), n);
		assert_int_equal(hodo_word_position(b.ring.word), sizeof(struct hodo_packet) + n * (len + 12ul));
		assert_true(hodo_word_position(b.ring.word) < PACKET);
		assert_true(hodo_word_position(b.ring.word) + len + 12 + 8 > PACKET);
		assert_int_equal(b.data[PACKET], 0xee);
		free(b.data);
	}
	assert_true(hodo_ring_fits(PACKET, PACKET - sizeof(struct hodo_packet) - 20));
	assert_false(hodo_ring_fits(PACKET, PACKET - sizeof(struct hodo_packet) - 19));
	assert_false(hodo_ring_fits(PACKET, SIZE_MAX / 2));
	assert_false(hodo_ring_fits(PACKET, SIZE_MAX));
}

static void fill_and_switch(struct bench *b, int expect)
{
	struct hodo_piece piece = { "12345678", 8 };
	struct hodo_switch plan;

	while (hodo_ring_has_room(b->ring.word, PACKET, 8))
		hodo_ring_write_locked(&b->view, 5, 6, 7, &piece, 1, 8);
	assert_int_equal(hodo_ring_plan(&b->config, &b->view, 3, b->ring.word, &plan), expect);
	plan.now = 5000;
	if (expect == HODO_RING_PLANNED)
		assert_int_equal(hodo_twin_switch(&plan), 0);
}

TEST(test_full)
{
	uint64_t per_packet = (PACKET - sizeof(struct hodo_packet) - 8) / 20;
	struct hodo_packet *p;
	struct bench b;

	bench_init(&b, HODO_MODE_DISCARD);
	for (int i = 0; i < 3; i++)
		fill_and_switch(&b, 0);
	fill_and_switch(&b, HODO_RING_FULL); /* four packets, none given back */
	b.ring.consumed = 1;
	b.ring.lost_full = 17;
	fill_and_switch(&b, 0); /* into the first slot again */
	p = (struct hodo_packet *)b.data;
	assert_int_equal(p->packet_seq_num, 4);
	assert_int_equal(p->events_before, 4 * per_packet);
	assert_int_equal(p->events_discarded, 17);
	assert_int_equal(p->events, 0);
	p = (struct hodo_packet *)(b.data + 3 * PACKET);
	assert_int_equal(p->events, per_packet);
	assert_int_equal(p->content_size, 8 * (sizeof(*p) + per_packet * 20));
	assert_int_equal(p->timestamp_end, 5000);
	free(b.data);

	bench_init(&b, HODO_MODE_OVERWRITE);
	for (int i = 0; i < 100; i++)
		fill_and_switch(&b, 0);
	free(b.data);
}

/* A plan that has been overtaken does nothing, also when the word has come round to the same value. */
TEST(test_stale_plan)
{
	struct hodo_piece piece = { "12345678", 8 };
	struct hodo_switch plan;
	uint64_t word;
	struct bench b;

	bench_init(&b, HODO_MODE_OVERWRITE);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, b.ring.word, &plan), 0);
	hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, 8);
	word = b.ring.word;
	assert_int_equal(hodo_twin_switch(&plan), -1);
	assert_int_equal(b.ring.word, word);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, word - 1, &plan), HODO_RING_MOVED);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, b.ring.word, &plan), 0);
	((struct hodo_packet *)b.data)->packet_seq_num += 1ull << 40;
	assert_int_equal(hodo_twin_switch(&plan), -1);
	free(b.data);
}

#if ASSEMBLY
/* Views of every CPU on one ring: whichever this thread is on. */
static struct hodo_view *views_of(struct bench *b)
{
	struct hodo_view *views = (struct hodo_view *)calloc(HODO_VIEWS_ALL, sizeof(*views)) + HODO_VIEWS_BEFORE;

	for (int i = 0; i < CPUS; i++)
		views[i] = b->view;
	return views;
}

static void views_drop(void)
{
	free(hodo_tls.table - HODO_VIEWS_BEFORE);
	hodo_tls.table = hodo_no_views;
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* The same events through both; all but the 48-bit times must be the same, and those must not run back. */
TEST(test_assembly_against_twin)
{
	static uint8_t source[2048 + 8];
	uint32_t on = HODO_ON_RECORD;
	struct hodo_state event = { .on = &on, .id = 0xabc };
	struct bench a, t;
	uint64_t last = 0;

	hodo_emit_init();
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)random_next();
	for (int round = 0; round < 20000; round++) {
		struct hodo_piece pieces[5];
		size_t count = random_next() % 6, total = 0, before, after;
		uint64_t head, expected;

		if (round % 64 == 0) {
			if (round)
				free(a.data), free(t.data), views_drop();
			bench_init(&a, HODO_MODE_OVERWRITE);
			bench_init(&t, HODO_MODE_OVERWRITE);
			hodo_tls.table = views_of(&a);
			hodo_tls.tid = 77;
		}
		for (size_t i = 0; i < count; i++) {
			pieces[i].len = random_next() % (i == 3 ? 1024 : 40);
			pieces[i].data = source + random_next() % 900;
			total += pieces[i].len;
		}
		before = hodo_word_position(a.ring.word);
		if (count == 1 && round % 2) {
			hodo_x86_emit(&event, pieces[0].data, total);
			if (!hodo_ring_has_room(t.ring.word, PACKET, total))
				continue; /* went to the slow path, which without a recording does nothing */
			assert_int_equal(hodo_twin_try(&t.view, &event, 77, 0, pieces, count, total, 1), HODO_TRY_DONE);
		} else {
			int result;

			do
				result = hodo_x86_try(&event, pieces, count, total, HODO_ON_RECORD);
			while (result == HODO_TRY_ABORTED);
			assert_int_equal(result, hodo_twin_try(&t.view, &event, 77, 0, pieces, count, total, 1));
			if (result != HODO_TRY_DONE) {
				assert_int_equal(result, HODO_TRY_SLOW);
				continue;
			}
		}
		if (a.ring.word != t.ring.word) { /* the fast writer was preempted: its retry has no recording */
			a.ring.word = t.ring.word;
			memcpy(a.data, t.data, RING);
			continue;
		}
		after = hodo_word_position(a.ring.word);
		assert_int_equal(after - before, total + 12);
		memcpy(&head, a.data + before, 8);
		memcpy(&expected, t.data + before, 8);
		assert_int_equal(head & 0xffff, expected & 0xffff);
		assert_true(head >> 16 >= last);
		last = head >> 16;
		assert_memory_equal(a.data + before + 8, t.data + before + 8, total + 4);
	}
	on = 0;
	assert_int_equal(hodo_x86_try(&event, NULL, 0, 0, HODO_ON_RECORD), HODO_TRY_CHANGED);
	views_drop();
	on = 1;
	assert_int_equal(hodo_x86_try(&event, NULL, 0, 0, HODO_ON_RECORD), HODO_TRY_SLOW);
	free(a.data);
	free(t.data);
}

/*
 * Calls a hook as a slot does; rdi as -finstrument-functions has it, rbp as -pg has it. Returns what the slot was. rsi,
 * the call site of the function, is not where the hook returns to: the function has not left its frame.
 */
static void call_hook(void (*hook)(void), uint64_t function, uint64_t *pc, uint64_t *at, uint64_t *frame)
{
	__asm__ volatile("subq $128, %%rsp\n\t" /* past the red zone */
			 "movq %%rsp, %1\n\t"
			 "leaq 1f(%%rip), %0\n\t"
			 "movq %%rbp, %2\n\t"
			 "movq %%rsp, %%rbp\n\t"
			 "call *%5\n"
			 "1:\tmovq %2, %%rbp\n\t"
			 "addq $128, %%rsp"
			 : "=&r"(*pc), "=&r"(*at), "=&r"(*frame)
			 : "D"(function), "S"(0ul), "r"(hook)
			 : "memory", "cc");
}

/* src/func/x86_64/func.S */
void hodo_x86_record_entry(void), hodo_x86_record_exit(void), hodo_x86_record_entry_sp(void);
void hodo_x86_record_exit_sp(void), hodo_x86_record_reached(void), hodo_x86_record_mcount(void);

TEST(test_hooks_against_twin)
{
	static void (*const hooks[])(void) = { hodo_x86_record_entry, hodo_x86_record_exit, hodo_x86_record_entry_sp,
					       hodo_x86_record_exit_sp, hodo_x86_record_reached,
					       hodo_x86_record_mcount };
	static const enum hodo_func_event events[] = { HODO_FUNC_ENTRY, HODO_FUNC_EXIT, HODO_FUNC_ENTRY_SP,
						       HODO_FUNC_EXIT_SP, HODO_FUNC_REACHED, HODO_FUNC_REACHED };
	uint32_t on = HODO_ON_RECORD;
	struct bench a, t;
	uint64_t last = 0;

	hodo_emit_init();
	hodo_func_rseq_offset = hodo_rseq_offset; /* as libhodo-func's init() does, which is not linked with this */
	for (unsigned i = 0; i < HODO_FUNC_EVENTS; i++)
		hodo_func_states[i] = (struct hodo_state){ .on = &on, .id = (uint16_t)(100 + i) };
	for (int round = 0; round < 20000; round++) {
		unsigned which = (unsigned)(random_next() % 6);
		uint64_t function = random_next(), pc, at, rbp, before, head;
		uint32_t frame;
		struct hodo_piece pieces[2] = { { &pc, 8 }, { &frame, 4 } };

		if (round % 160 == 0) { /* a packet holds 166: the slow path has no recording to mend here */
			if (round)
				free(a.data), free(t.data), views_drop();
			bench_init(&a, HODO_MODE_OVERWRITE);
			bench_init(&t, HODO_MODE_OVERWRITE);
			hodo_tls.table = views_of(&a);
			hodo_tls.tid = 77;
		}
		before = hodo_word_position(a.ring.word);
		call_hook(hooks[which], function, &pc, &at, &rbp);
		pc = which == 2 || which == 3 ? function : pc;
		frame = HODO_FRAME32(which == 5 ? at + 8 : at);
		assert_int_equal(hodo_twin_try(&t.view, &hodo_func_states[events[which]], 77, 0, pieces, 2, 12, on),
				 HODO_TRY_DONE);
		if (a.ring.word != t.ring.word) { /* preempted */
			a.ring.word = t.ring.word;
			memcpy(a.data, t.data, RING);
			continue;
		}
		memcpy(&head, a.data + before, 8);
		assert_int_equal(head & 0xffff, 100 + events[which]);
		assert_true(head >> 16 >= last);
		last = head >> 16;
		assert_memory_equal(a.data + before + 8, t.data + before + 8, 16);
	}
	free(a.data), free(t.data), views_drop();
}

TEST(test_full_against_twin)
{
	static const uint32_t modes[] = { HODO_MODE_DISCARD, HODO_MODE_OVERWRITE };

	hodo_emit_init();
	for (int round = 0; round < 4000; round++) {
		struct bench a;
		uint64_t lost = 0;
		size_t total = random_next() % 64;
		int asm_result, twin_result;

		bench_init(&a, modes[round % 2]);
		for (unsigned i = (unsigned)(random_next() % 4); i > 0; i--)
			fill_and_switch(&a, 0);
		a.ring.consumed = random_next() % 2;
		for (unsigned i = (unsigned)(random_next() % 250); i > 0; i--) {
			struct hodo_piece piece = { "12345678", 8 };

			if (hodo_ring_has_room(a.ring.word, PACKET, 8))
				hodo_ring_write_locked(&a.view, 5, 6, 7, &piece, 1, 8);
		}
		hodo_tls.table = views_of(&a);
		twin_result = hodo_twin_full(&a.view, total);
		lost += (uint64_t)twin_result;
		asm_result = hodo_x86_full(total);
		if (asm_result == 0 && twin_result == 1)
			asm_result = hodo_x86_full(total); /* once more, if it was preempted */
		assert_int_equal(asm_result, twin_result);
		assert_int_equal(a.ring.lost_full, lost + (uint64_t)asm_result);
		views_drop();
		free(a.data);
	}
	assert_int_equal(hodo_x86_full(0), 0);
}

/* What a thread has as its CPU before it is registered, and where that failed; the kernel sets the first. */
static void *unregistered(void *arg)
{
	uint32_t on = HODO_ON_RECORD;
	struct hodo_state event = { .on = &on, .id = 0xabc };
	char *area = (char *)__builtin_thread_pointer() + hodo_rseq_offset;

	hodo_tls.table = arg;
	if (&__rseq_size && __rseq_size)
		assert_int_equal(syscall(SYS_rseq, area, __rseq_size > 32 ? __rseq_size : 32, 1, 0x53053053), 0);
	for (int32_t cpu = -1; cpu >= -2; cpu--) {
		memcpy(area + 4, &cpu, sizeof(cpu));
		assert_int_equal(hodo_x86_try(&event, NULL, 0, 0, HODO_ON_RECORD), HODO_TRY_SLOW);
	}
	return NULL;
}

TEST(test_unregistered_thread)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), table = HODO_VIEWS_ALL * sizeof(struct hodo_view);
	size_t size = (table / page + 3) * page;
	char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hodo_view *views = (struct hodo_view *)(all + size - page - table) + HODO_VIEWS_BEFORE;
	struct bench b;
	pthread_t thread;

	hodo_emit_init();
	assert_ptr_not_equal(all, MAP_FAILED);
	assert_int_equal(mprotect(all + size - page, page, PROT_NONE), 0);
	bench_init(&b, HODO_MODE_OVERWRITE);
	for (uint32_t i = 0; i <= HODO_VIEWS; i++)
		views[i] = b.view;
	assert_int_equal(pthread_create(&thread, NULL, unregistered, views), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	munmap(all, size);
	free(b.data);
}

TEST(test_switch_against_twin)
{
	struct hodo_piece piece = { "12345678", 8 };

	hodo_emit_init();
	for (int round = 0; round < 1000; round++) {
		struct hodo_switch plan_a, plan_t;
		struct bench a, t;
		int tries = 0;

		bench_init(&a, HODO_MODE_OVERWRITE);
		bench_init(&t, HODO_MODE_OVERWRITE);
		for (unsigned i = random_next() % 100; i > 0; i--) {
			hodo_ring_write_locked(&a.view, 5, 6, 7, &piece, 1, 8);
			hodo_ring_write_locked(&t.view, 5, 6, 7, &piece, 1, 8);
		}
		do {
			hodo_ring_plan(&a.config, &a.view, (uint32_t)sched_getcpu(), a.ring.word, &plan_a);
			plan_a.now = 9000;
		} while (hodo_x86_switch(&plan_a) != 0 && ++tries < 100);
		hodo_ring_plan(&t.config, &t.view, plan_a.cpu, t.ring.word, &plan_t);
		plan_t.now = 9000;
		assert_int_equal(hodo_twin_switch(&plan_t), 0);
		assert_int_equal(a.ring.word, t.ring.word);
		assert_memory_equal(a.data, t.data, RING);
		assert_int_equal(hodo_x86_switch(&plan_a), -1); /* done already */
		plan_a.word = a.ring.word;
		plan_a.cpu = 5000; /* not this one */
		assert_int_equal(hodo_x86_switch(&plan_a), -1);
		free(a.data);
		free(t.data);
	}
}
#endif
