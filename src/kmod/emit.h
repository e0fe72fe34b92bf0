/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * emit.h - writes one event: begin, fill the payload in place, end.
 *
 *	HODO_EMIT(e);
 *	struct record *r = hodo_emit_begin(&e, event, sizeof(*r) + more);
 *
 *	if (r) {
 *		r->field = …;
 *		hodo_emit_end(&e, event);
 *	}
 *
 * From any context: process, soft and hard interrupt, NMI. Between begin and end interrupts are
 * off; nothing there may sleep, fault or take long. len is known beforehand: what may grow meanwhile (a text
 * that another CPU writes) is measured once, and no more than that is copied.
 *
 *                 | process | softirq | hardirq | NMI     | other CPU | consumer
 *   writer of     | before  | before  | before  | inside  | beside    | beside
 *   a CPU's ring  | or after|         |         |         |           |
 *
 * Interrupts are off, so that on one CPU only an NMI can come in between, or an event caused by filling in
 * another one. Both find `busy` set and write to the fallback ring, whose `busy` is a lock that all CPUs try,
 * but never wait for: a writer that does not get it loses its event, which is counted (lost_busy). So nesting
 * ends at the second level.
 *
 * An NMI between the check of busy and its store has completely written its event before we continue: nothing
 * of the writer has been loaded yet. barrier() stops the compiler from loading earlier; a CPU sees its own
 * stores in order.
 *
 * The commit is one release store of the ring's word, as in user space: otherwise, a reader on another CPU
 * could see the position before the bytes.
 *
 * The writer remembers the last anchor of the open packet (hodo/abi.h): tid and epoch. An event of another
 * thread or epoch takes the slow path, which writes an anchor before it. Nobody writes in between, so that
 * needs no second step as in user space. If rules look at the event first, the anchor is committed with it;
 * if they refuse it, tid and epoch are restored, and the next event overwrites both.
 */
#pragma once

#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/processor-flags.h>
#endif

#include "compat.h"
#include "event.h"
#include <core/ring.h>

/* Of one CPU, or the fallback ring's. */
struct hodo_writer {
	uint8_t *at;    /* where the next event goes; NULL: nothing is recorded, or there is no packet yet */
	uint8_t *limit; /* no event ends after it: see hodo_ring_need() */
	struct hodo_ring *ring;
	uint32_t busy;
	uint32_t cpu; /* HODO_CPU_ANY: the fallback ring */
	uint32_t tid, epoch; /* of the last anchor in the open packet */
	uint32_t old_tid, old_epoch; /* the same before the anchor of an event that rules look at */
	struct hodo_view view; /* packet_size 0: no recording */
} ____cacheline_aligned;

DECLARE_PER_CPU(struct hodo_writer, hodo_writers);

struct hodo_emit {
	unsigned long flags;
	struct hodo_writer *writer;
	uint8_t *record; /* the event's */
	uint32_t len;    /* of its payload */
};

/* Declares one. The kernel's compiler would clear it on the stack, which costs as much as storing the event's
 * head. */
#if __has_attribute(uninitialized)
#define HODO_EMIT(e) struct hodo_emit e __attribute__((uninitialized))
#else
#define HODO_EMIT(e) struct hodo_emit e
#endif

/* writer.c */
struct hodo_writer *hodo_emit_nested(void);
/* Writes the head of an event for which the packet has no room, or whose clock is not the TSC. Returns its
 * place; NULL: lost, and counted. */
uint8_t *hodo_emit_room(struct hodo_writer *w, const struct hodo_event *event, uint32_t len);
/* Writes the head of an event for which there is room, preceded by an anchor if necessary, and returns its place.
 * tid: this thread's. */
uint8_t *hodo_emit_anchor(struct hodo_writer *w, const struct hodo_event *event, uint32_t tid);
/* rules.c: hodo_emit_end() of an event with rules: commits it if it is to be recorded, and performs its
 * triggers' actions. By value: a struct hodo_emit whose address is not taken stays in registers. */
void hodo_rules_commit(struct hodo_writer *w, uint8_t *record, uint32_t len, struct hodo_event *event,
		   unsigned long flags);

/*
 * Called through saved.S if available, which preserves all registers: a probe that calls C functions saves up
 * to six registers for every event.
 */
#ifdef CONFIG_X86_64
static __always_inline struct hodo_writer *hodo_emit_nested_rare(void)
{
	struct hodo_writer *w;

	asm volatile("call hodo_emit_nested_saved" : "=a"(w), ASM_CALL_CONSTRAINT : : "memory", "cc");
	return w;
}

static __always_inline uint8_t *hodo_emit_room_rare(struct hodo_writer *w, const struct hodo_event *event,
						    uint32_t len)
{
	uint8_t *p;

	asm volatile("call hodo_emit_room_saved"
		     : "=a"(p), ASM_CALL_CONSTRAINT
		     : "D"(w), "S"(event), "d"(len)
		     : "memory", "cc");
	return p;
}

static __always_inline uint8_t *hodo_emit_anchor_rare(struct hodo_writer *w, const struct hodo_event *event,
						      uint32_t tid)
{
	uint8_t *p;

	asm volatile("call hodo_emit_anchor_saved"
		     : "=a"(p), "+d"(tid), ASM_CALL_CONSTRAINT
		     : "D"(w), "S"(event)
		     : "memory", "cc");
	return p;
}

static __always_inline void hodo_rules_commit_rare(struct hodo_writer *w, uint8_t *record, uint32_t len,
						  struct hodo_event *event, unsigned long flags)
{
	register unsigned long r8 asm("r8") = flags;

	asm volatile("call hodo_rules_commit_saved"
		     : ASM_CALL_CONSTRAINT
		     : "D"(w), "S"(record), "d"(len), "c"(event), "r"(r8)
		     : "rax", "memory", "cc");
}
#else
#define hodo_emit_nested_rare hodo_emit_nested
#define hodo_emit_room_rare hodo_emit_room
#define hodo_emit_anchor_rare hodo_emit_anchor
#define hodo_rules_commit_rare hodo_rules_commit
#endif

DECLARE_STATIC_KEY_FALSE(hodo_clock_monotonic);

/* Ticks of the recording's clock, in any context. */
static __always_inline uint64_t hodo_ticks(void)
{
#ifdef CONFIG_X86
	if (!static_branch_unlikely(&hodo_clock_monotonic))
		return rdtsc();
#endif
	return ktime_get_mono_fast_ns();
}

/* Whether an event can be written at p directly, in a recording that uses the TSC. */
static __always_inline bool hodo_emit_has_room(const struct hodo_writer *w, const uint8_t *p, uint32_t len)
{
#ifdef CONFIG_X86
	return !static_branch_unlikely(&hodo_clock_monotonic) && likely(p + HODO_EVENT_HEADER + len <= w->limit);
#else
	return false;
#endif
}

/* Writes an event's head there. False: the last anchor is for another thread or epoch. */
static __always_inline bool hodo_emit_head(const struct hodo_writer *w, uint8_t *p, const struct hodo_event *event)
{
#ifdef CONFIG_X86
	uint32_t low, epoch;

	if (unlikely(w->tid != (uint32_t)current->pid))
		return false;
	/* The TSC's bits from HODO_EPOCH_SHIFT on. The compiler would need four instructions. */
	asm volatile("rdtsc\n\tshldl %2, %%eax, %%edx"
		     : "=a"(low), "=d"(epoch)
		     : "i"(32 - HODO_EPOCH_SHIFT)
		     : "cc");
	if (unlikely(w->epoch != epoch))
		return false;
	/* The payload overwrites the last two bytes. */
	put_unaligned(event->head | (low & HODO_TIME_MASK), (uint64_t *)p);
	return true;
#else
	return false;
#endif
}

static __always_inline void *hodo_emit_payload(struct hodo_emit *e, uint32_t len, struct hodo_writer *w,
					       uint8_t *record)
{
	uint8_t *payload = record + HODO_EVENT_HEADER;

	e->writer = w;
	e->record = record;
	e->len = len;
	if (!payload) /* the compiler would consider it possible */
		__builtin_unreachable();
	return payload;
}

/* Release: the next writer of the fallback ring sees what this one has stored. */
static __always_inline void hodo_emit_leave(struct hodo_writer *w, unsigned long flags)
{
	smp_store_release(&w->busy, 0);
	raw_local_irq_restore(flags);
}

static __always_inline void *hodo_emit_begin(struct hodo_emit *e, const struct hodo_event *event, uint32_t len)
{
	struct hodo_writer *w;
	uint8_t *p;

	raw_local_irq_save(e->flags);
	w = this_cpu_ptr(&hodo_writers);
	if (unlikely(w->busy)) {
		w = hodo_emit_nested_rare();
		if (!w)
			goto out;
	}
	w->busy = 1;
	barrier();
	p = w->at;
	if (unlikely(!hodo_emit_has_room(w, p, len))) {
		p = hodo_emit_room_rare(w, event, len);
		if (!p) {
			smp_store_release(&w->busy, 0);
			goto out;
		}
	} else if (unlikely(!hodo_emit_head(w, p, event))) {
		p = hodo_emit_anchor_rare(w, event, (uint32_t)current->pid);
	}
	return hodo_emit_payload(e, len, w, p);
out:
	raw_local_irq_restore(e->flags);
	return NULL;
}

/*
 * The same if interrupts are certainly on, without calling any function. NULL: not possible; nothing has
 * happened, and the caller uses hodo_emit_begin(), in a separate function that it tail-calls. Then a probe
 * need not save registers.
 */
static __always_inline void *hodo_emit_try_enabled(struct hodo_emit *e, const struct hodo_event *event, uint32_t len)
{
#ifdef CONFIG_X86
	struct hodo_writer *w;
	uint8_t *p;

	raw_local_irq_disable();
	e->flags = X86_EFLAGS_IF;
	w = this_cpu_ptr(&hodo_writers);
	if (unlikely(w->busy)) {
		raw_local_irq_restore(e->flags);
		return NULL;
	}
	w->busy = 1;
	barrier();
	p = w->at;
	if (unlikely(!hodo_emit_has_room(w, p, len) || !hodo_emit_head(w, p, event))) {
		hodo_emit_leave(w, e->flags);
		return NULL;
	}
	return hodo_emit_payload(e, len, w, p);
#else
	return NULL;
#endif
}

/* bytes: the record's, and those of an uncommitted anchor before it. */
static __always_inline void hodo_emit_commit(struct hodo_writer *w, uint8_t *end, uint32_t bytes)
{
	w->at = end;
	smp_store_release(&w->ring->word, w->ring->word + ((uint64_t)bytes << HODO_WORD_COUNT_BITS) + 1);
}

static __always_inline void hodo_emit_end(struct hodo_emit *e, struct hodo_event *event)
{
	if (unlikely(event->rules)) {
		hodo_rules_commit_rare(e->writer, e->record, e->len, event, e->flags);
		return;
	}
	hodo_emit_commit(e->writer, e->record + HODO_EVENT_HEADER + e->len, HODO_EVENT_HEADER + e->len);
	hodo_emit_leave(e->writer, e->flags);
}
