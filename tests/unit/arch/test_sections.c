/* SPDX-License-Identifier: MIT */
/* test_sections.c - the writer's other sequences: full rings, switches; threads without sequences. */
#include "pair.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <user/event/event.h>

extern const unsigned int __rseq_size __attribute__((weak)); /* of glibc since 2.35 */

TEST(test_full_against_twin)
{
	static const uint32_t modes[] = { HODO_MODE_DISCARD, HODO_MODE_OVERWRITE };

	hodo_emit_init();
	for (int round = 0; round < 4000; round++) {
		uint64_t lost = 0;
		size_t total = random_next() % 64;
		int asm_result, twin_result;

		bench_init(&a, modes[round % 2]);
		for (unsigned i = (unsigned)(random_next() % 4); i > 0; i--)
			bench_fill(&a, 0);
		a.ring.consumed = random_next() % 2;
		for (unsigned i = (unsigned)(random_next() % 350); i > 0; i--) {
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

/* A thread's CPU number before it is registered, and after registering failed; the kernel sets the former. */
static void *unregistered(void *arg)
{
	struct hodo_state event = { .on = &on, .id = 0xabc };
	char *area = (char *)__builtin_thread_pointer() + hodo_rseq_offset;

	on = HODO_ON_RECORD;
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
		assert_int_equal(a.ring.anchor, 0);
		assert_memory_equal(a.data, t.data, RING);
		assert_int_equal(hodo_x86_switch(&plan_a), -1); /* done already */
		plan_a.word = a.ring.word;
		plan_a.cpu = 5000; /* not this one */
		assert_int_equal(hodo_x86_switch(&plan_a), -1);
		free(a.data);
		free(t.data);
	}
}
