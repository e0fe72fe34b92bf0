/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * writer.c - the rare work of writers: the first packet, the next one, the fallback ring; see emit.h for who
 * may run beside whom. All of it may run in an NMI.
 */
#include "writer.h"
#include "emit.h"
#include "kmod.h"
#include "saved.h"

#include <core/atomic.h>

#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/poll.h>
#include <linux/smp.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

DEFINE_PER_CPU(struct hodo_writer, hodo_writers);
DEFINE_STATIC_KEY_FALSE(hodo_clock_monotonic);
static struct hodo_writer fallback = { .cpu = HODO_CPU_ANY };
static struct hodo_ring_config ring_config; /* changes while no event is on */

/* In a writer's tid: not a thread id. */
#define NO_ANCHOR (~0u)        /* the open packet has none yet */
#define OF_FALLBACK (1u << 31) /* makes all its events take the slow path, where their time is checked */

/* saved.h's. */
static_assert(offsetof(struct hodo_writer, at) == HODO_WRITER_AT &&
	      offsetof(struct hodo_writer, ring) == HODO_WRITER_RING &&
	      offsetof(struct hodo_writer, cpu) == HODO_WRITER_CPU &&
	      offsetof(struct hodo_writer, tid) == HODO_WRITER_TID &&
	      offsetof(struct hodo_writer, epoch) == HODO_WRITER_EPOCH);
static_assert(offsetof(struct hodo_event, head) == HODO_EVENT_HEAD &&
	      offsetof(struct hodo_event, rules) == HODO_EVENT_RULES && offsetof(struct hodo_ring, word) == 0);
static_assert(HODO_SAVED_ANCHOR == HODO_FORM_ANCHOR && HODO_SAVED_ANCHOR_BYTES == HODO_ANCHOR_BYTES &&
	      HODO_SAVED_TIME_MASK == HODO_TIME_MASK && HODO_SAVED_EPOCH_SHIFT == HODO_EPOCH_SHIFT &&
	      HODO_SAVED_COUNT_BITS == HODO_WORD_COUNT_BITS);

/* ----------------------------------------------------------------- waking */

DECLARE_WAIT_QUEUE_HEAD(hodo_ring_wait);
bool hodo_ring_waited;

static void wake(struct irq_work *work)
{
	wake_up_all(&hodo_ring_wait);
}
static DEFINE_IRQ_WORK(wake_work, wake);

/* A writer may hold any lock of the scheduler: waiters are woken from a separate interrupt. */
static void packet_closed(void)
{
	/* After the word was stored. Without it, the waiter could set its flag and then miss the packet, while we
	 * miss the flag. Pairs with the one between setting the flag and looking (recorder.c). */
	smp_mb();
	if (READ_ONCE(hodo_ring_waited)) {
		WRITE_ONCE(hodo_ring_waited, false);
		irq_work_queue(&wake_work);
	}
}

/* ---------------------------------------------------------------- packets */

static void take_place(struct hodo_writer *w)
{
	uint64_t position;

	w->tid = NO_ANCHOR;
	position = hodo_word_position(w->ring->word);
	w->at = w->view.data + (position & w->view.mask);
	/* As in hodo_ring_has_room(). */
	w->limit = (uint8_t *)hodo_ring_packet(&w->view, position) + w->view.packet_size -
		   (hodo_ring_need(0) - HODO_EVENT_HEADER);
}

/*
 * A time for the ring, no earlier than the last one: a time that ran back would be read as one an epoch
 * later. The fallback ring's writers are on several CPUs, whose clocks may differ by some ticks; and an NMI
 * that reads CLOCK_MONOTONIC while the kernel adjusts it may be ahead of the next reading. Without the two
 * bits that records lack, so that no packet begins after its first event.
 */
static uint64_t not_back(const struct hodo_writer *w, uint64_t ticks)
{
	return w->ring->latest = max(ticks & ~3ull, w->ring->latest);
}

/* False: the ring is full. */
static bool next_packet(struct hodo_writer *w)
{
	struct hodo_switch plan;

	if (hodo_ring_plan(&ring_config, &w->view, w->cpu, w->ring->word, &plan) != HODO_RING_PLANNED)
		return false;
	plan.now = not_back(w, hodo_ticks());
	hodo_ring_switch_locked(&plan);
	take_place(w);
	packet_closed();
	return true;
}

/* Makes room for an event. False: it is lost, and counted. */
static bool make_room(struct hodo_writer *w, uint32_t len)
{
	if (w->view.packet_size == 0) {
		if (w->ring) /* a CPU that came online after the recording began */
			w->ring->lost_full++;
		return false;
	}
	if (!hodo_ring_fits(w->view.packet_size, len)) {
		w->ring->lost_too_large++;
		return false;
	}
	if (w->at) {
		if (!next_packet(w)) {
			w->ring->lost_full++;
			return false;
		}
	} else {
		if (hodo_ring_activate(&ring_config, w->ring, w->view.data, w->cpu, not_back(w, hodo_ticks())) < 0)
			return false;
		take_place(w);
	}
	return true;
}

static void put_anchor(uint8_t *p, uint32_t tid, uint64_t ticks)
{
	uint64_t words[2];

	hodo_anchor_words(words, ticks, tid, 0); /* no call's record follows that would need a window */
	memcpy(p, words, sizeof(words));
}

uint8_t *hodo_emit_anchor(struct hodo_writer *w, const struct hodo_event *event, uint32_t tid)
{
	uint64_t ticks = hodo_ticks();
	uint8_t *p = w->at;
	uint32_t epoch;

	if (w->cpu == HODO_CPU_ANY)
		tid |= OF_FALLBACK;
	if (w->cpu == HODO_CPU_ANY || static_branch_unlikely(&hodo_clock_monotonic))
		ticks = not_back(w, ticks);
	epoch = (uint32_t)(ticks >> HODO_EPOCH_SHIFT);
	if (w->tid != tid || w->epoch != epoch) {
		put_anchor(p, tid, ticks);
		p += HODO_ANCHOR_BYTES;
		if (event->rules) {
			w->old_tid = w->tid;
			w->old_epoch = w->epoch;
		} else {
			w->at = p;
			smp_store_release(&w->ring->word,
					  w->ring->word + (HODO_ANCHOR_BYTES << HODO_WORD_COUNT_BITS));
		}
		w->tid = tid;
		w->epoch = epoch;
	}
	put_unaligned(event->head | (ticks & HODO_TIME_MASK), (uint64_t *)p);
	return p;
}

uint8_t *hodo_emit_room(struct hodo_writer *w, const struct hodo_event *event, uint32_t len)
{
	if (w->at + HODO_EVENT_HEADER + len > w->limit && !make_room(w, len))
		return NULL;
	return hodo_emit_anchor(w, event, (uint32_t)current->pid);
}

/* Pairs with the release of busy: the next writer sees what the last one has stored. */
static bool lock_fallback(void)
{
	uint32_t free = 0;

	if (fallback.view.packet_size == 0 || !hodo_cas_acquire(&fallback.busy, &free, 1))
		return false;
	/* The clock must not be read before the lock is ours. Otherwise rdtsc, which memory barriers do not
	 * hold back, may run ahead of the lock and give a time before the last writer's, on another CPU: the
	 * event would get that one's, see not_back(). */
	rmb(); /* on x86 lfence, which the kernel's own rdtsc_ordered() has for that */
	return true;
}

struct hodo_writer *hodo_emit_nested(void)
{
	if (lock_fallback())
		return &fallback;
	if (fallback.ring)
		hodo_add(&fallback.ring->lost_busy, 1); /* by several CPUs at once */
	return NULL;
}

/* ------------------------------------------------------------ flush, clock */

static void flush(struct hodo_writer *w, uint64_t age)
{
	struct hodo_packet *p;
	uint64_t now;

	if (!w->at)
		return;
	p = hodo_ring_packet(&w->view, hodo_word_position(w->ring->word));
	now = not_back(w, hodo_ticks());
	if (hodo_word_events(w->ring->word)) {
		if (age == 0 || now - p->timestamp_begin > age)
			next_packet(w);
	} else if (now - p->timestamp_begin > age && w->at == (uint8_t *)(p + 1)) {
		/* Restarts it, so that its age counts from its first event. After an anchor it is too late. */
		WRITE_ONCE(p->timestamp_begin, now);
	}
}

/* On its CPU, interrupts off. */
static void flush_this(void *age)
{
	struct hodo_writer *w = this_cpu_ptr(&hodo_writers);

	/* An interrupt cannot interrupt a writer, but an NMI may interrupt this. */
	if (w->busy)
		return;
	w->busy = 1;
	barrier();
	flush(w, *(const uint64_t *)age);
	smp_store_release(&w->busy, 0);
}

void hodo_writers_flush(uint64_t age)
{
	unsigned long flags;
	unsigned int cpu;

	cpus_read_lock();
	on_each_cpu(flush_this, &age, 1);
	/* Offline CPUs write nothing, and cannot come online while the lock is held. */
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			flush(per_cpu_ptr(&hodo_writers, cpu), age);
	cpus_read_unlock();
	/* So that the lock is not held longer than by a writer. */
	raw_local_irq_save(flags);
	if (lock_fallback()) {
		flush(&fallback, age);
		smp_store_release(&fallback.busy, 0);
	}
	raw_local_irq_restore(flags);
}

bool hodo_tsc_usable(void)
{
#ifdef CONFIG_X86
	/* The kernel detects whether it stops, changes its rate or differs between CPUs. */
	return boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
#else
	return false;
#endif
}

/* ----------------------------------------------------------- attach, detach */

/* m: NULL: detaches. */
static void attach(struct hodo_writer *w, struct hodo_memory *m, uint32_t ring)
{
	w->ring = m ? hodo_memory_ring(m, ring) : NULL;
	w->at = w->limit = NULL;
	w->tid = NO_ANCHOR;
	w->view = (struct hodo_view){ 0 };
	if (m)
		w->view = (struct hodo_view){ .ring = w->ring, .data = m->data[ring], .mask = m->layout.ring_size - 1,
					      .packet_size = m->data[ring] ? m->layout.packet_size : 0 };
}

void hodo_writers_attach(struct hodo_memory *memory, const struct hodo_ring_config *config, bool monotonic)
{
	unsigned int cpu;

	ring_config = *config;
	if (monotonic)
		static_branch_enable(&hodo_clock_monotonic);
	else
		static_branch_disable(&hodo_clock_monotonic);
	for_each_possible_cpu(cpu) {
		struct hodo_writer *w = per_cpu_ptr(&hodo_writers, cpu);

		w->cpu = cpu;
		attach(w, memory, cpu);
	}
	attach(&fallback, memory, memory->layout.rings - 1);
}

void hodo_writers_detach(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		attach(per_cpu_ptr(&hodo_writers, cpu), NULL, 0);
	attach(&fallback, NULL, 0);
}

void hodo_writers_exit(void)
{
	irq_work_sync(&wake_work);
}

/* ------------------------------------------------------- what is consumed */

uint64_t hodo_ring_consumed(struct hodo_memory *memory, uint32_t ring)
{
	return READ_ONCE(hodo_memory_ring(memory, ring)->consumed);
}

/* Finds the open packet's number; false: the ring was never used. */
static bool open_packet(struct hodo_memory *memory, uint32_t ring, uint64_t *seq, uint64_t *offset)
{
	const struct hodo_layout *l = &memory->layout;
	const struct hodo_ring *r = hodo_memory_ring(memory, ring);
	uint64_t word, position;

	if (!memory->data[ring])
		return false;
	do {
		const struct hodo_packet *p;

		word = smp_load_acquire(&r->word);
		if (word == 0)
			return false;
		position = hodo_word_position(word);
		p = (const struct hodo_packet *)(memory->data[ring] +
						 (position & (l->ring_size - 1) & ~((uint64_t)l->packet_size - 1)));
		*seq = smp_load_acquire(&p->packet_seq_num);
		/* A switch in between has stored another number there, or is about to, in the next lap. */
	} while (hodo_word_position(smp_load_acquire(&r->word)) / l->packet_size != position / l->packet_size);
	*offset = position & (l->packet_size - 1);
	return true;
}

uint64_t hodo_ring_produced(struct hodo_memory *memory, uint32_t ring)
{
	uint64_t seq, offset;

	return open_packet(memory, ring, &seq, &offset) ? seq * memory->layout.packet_size + offset : 0;
}

int hodo_ring_put_consumed(struct hodo_memory *memory, uint32_t ring, uint64_t packets)
{
	struct hodo_ring *r;
	uint64_t seq, offset, old;

	if (ring >= memory->layout.rings)
		return -EINVAL;
	r = hodo_memory_ring(memory, ring);
	old = READ_ONCE(r->consumed);
	do {
		if (packets < old)
			return -EINVAL;
		if (packets > old && (!open_packet(memory, ring, &seq, &offset) || packets > seq))
			return -EINVAL;
		/* Release: when the writer sees this, the packet is its own again; all reads of it came
		 * before. */
	} while (!__atomic_compare_exchange_n(&r->consumed, &old, packets, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
	return 0;
}
