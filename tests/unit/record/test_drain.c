/* SPDX-License-Identifier: MIT */
/*
 * test_drain.c - threads that drain: who may run beside whom. Built with ThreadSanitizer where the compiler has it,
 * which finds reads and writes that neither the lock nor hodo_drain_apart() allows.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lib/unit.h>

#include <record/ring/drain.h>

#define THREADS 4u
#define ROUNDS 2000

static void once(void *arg, uint32_t thread)
{
	((uint32_t *)arg)[thread]++;
}

TEST(without_others_the_work_is_done_here)
{
	uint32_t calls[THREADS] = { 0 };

	hodo_drain_run(NULL, 3, once, calls);
	hodo_drain_apart(NULL);
	hodo_drain_back(NULL);
	hodo_drain_alone(NULL);
	hodo_drain_free(NULL);
	assert_int_equal(calls[0], 1);
	assert_int_equal(calls[1], 0);
}

TEST(each_thread_is_called_once)
{
	struct hodo_drain *d = hodo_drain_new(THREADS);
	uint32_t calls[THREADS] = { 0 };

	for (uint32_t others = 0; others <= THREADS; others++)
		hodo_drain_run(d, others, once, calls);
	hodo_drain_free(d);
	assert_int_equal(calls[0], 5);
	assert_int_equal(calls[1], 4);
	assert_int_equal(calls[2], 3);
	assert_int_equal(calls[3], 2);
}

struct meeting {
	struct hodo_drain *drain;
	pthread_barrier_t all;
};

static void meet(void *arg, uint32_t thread)
{
	struct meeting *m = arg;

	(void)thread;
	hodo_drain_apart(m->drain);
	pthread_barrier_wait(&m->all);
	hodo_drain_back(m->drain);
}

/* Otherwise the threads would wait for each other for ever. */
TEST(all_are_apart_at_one_time)
{
	struct meeting m = { .drain = hodo_drain_new(THREADS) };

	pthread_barrier_init(&m.all, NULL, THREADS);
	for (int i = 0; i < 100; i++)
		hodo_drain_run(m.drain, THREADS - 1, meet, &m);
	pthread_barrier_destroy(&m.all);
	hodo_drain_free(m.drain);
}

struct library {
	struct hodo_drain *drain;
	uint32_t *table, size;   /* threads read it apart, one replaces it alone; each entry is the size */
	uint32_t work, changes;  /* of the thread that has the lock */
	uint32_t wrong[THREADS]; /* one per thread */
};

static void replace_table(struct library *l)
{
	hodo_drain_alone(l->drain);
	free(l->table);
	l->table = calloc(++l->size, sizeof(*l->table));
	for (uint32_t i = 0; i < l->size; i++)
		l->table[i] = l->size;
	l->changes++;
}

static void read_table(struct library *l, uint32_t thread)
{
	uint64_t sum = 0;

	hodo_drain_apart(l->drain);
	for (uint32_t i = 0; i < l->size; i++)
		sum += l->table[i];
	l->wrong[thread] += sum != (uint64_t)l->size * l->size;
	hodo_drain_back(l->drain);
}

static void read_and_replace(void *arg, uint32_t thread)
{
	struct library *l = arg;

	while (l->work) {
		l->work--;
		if (l->work % 8 == thread)
			replace_table(l);
		read_table(l, thread);
	}
}

TEST(who_is_alone_is_beside_nobody)
{
	struct library l = { .drain = hodo_drain_new(THREADS) };

	replace_table(&l);
	for (uint32_t i = 0; i < 20; i++) {
		l.work = ROUNDS / 20;
		hodo_drain_run(l.drain, THREADS - 1, read_and_replace, &l);
		assert_int_equal(l.work, 0);
	}
	assert_int_equal(l.size, l.changes);
	assert_true(l.changes > 1);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(l.wrong[i], 0);
	free(l.table);
	hodo_drain_free(l.drain);
}
