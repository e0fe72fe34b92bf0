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
 * off; nothing there may sleep, fault or take long. len is known before: what may grow meanwhile (a text that
 * another CPU writes) is measured once, and no more than that is copied.
 *
 *                 | process | softirq | hardirq | NMI     | other CPU | consumer
 *   writer of     | before  | before  | before  | inside  | beside    | beside
 *   a CPU's ring  | or after|         |         |         |           |
 *
 * Interrupts are off, so that on one CPU only an NMI can come in between, or an event that filling in another one
 * brings about. Both find `busy` set and write to the fallback ring, whose `busy` is a lock that all CPUs try, and
 * never wait for: who does not get it has lost its event, which is counted (lost_busy). So nesting ends at the
 * second level.
 *
 * An NMI between the check of busy and its store has written its event as a whole before we go on: nothing
 * of the writer was loaded yet. barrier() keeps the compiler from loading earlier; a CPU sees its own stores in order.
 *
 * The commit is one release store of the ring's word, as in user space: without it a reader on another CPU could see
 * the position before the bytes.
 *
 * What the last anchor of the open packet says (hodo/abi.h), the writer knows: tid and epoch. An event of another
 * thread or epoch goes the rare way, which writes an anchor in front of it. Nobody writes in between, so that needs no
 * second step as in user space. Where rules look at the event first, the anchor is committed with it; if they refuse
 * it, tid and epoch are again what they were, and the next event is written over both.
 */
#ifndef HODO_KMOD_EMIT_H
#define HODO_KMOD_EMIT_H

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
	uint8_t *limit; /* no event ends behind it: see hodo_ring_need() */
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

/* Declares one. The kernel's compiler clears what is on the stack, which costs as much as storing the event's head. */
#if __has_attribute(uninitialized)
#define HODO_EMIT(e) struct hodo_emit e __attribute__((uninitialized))
#else
#define HODO_EMIT(e) struct hodo_emit e
#endif

/* writer.c */
struct hodo_writer *hodo_emit_nested(void);
/* Writes the head of an event for which the packet has no room, or whose clock is not the TSC. Where it is; NULL: it is
 * lost, and was counted. */
uint8_t *hodo_emit_room(struct hodo_writer *w, const struct hodo_event *event, uint32_t len);
/* … for which there is room, with an anchor in front of it if need be. tid: this thread's. */
uint8_t *hodo_emit_anchor(struct hodo_writer *w, const struct hodo_event *event, uint32_t tid);
/* rules.c: hodo_emit_end() of an event that is to be looked at: commits it if it is to be recorded, and does what its
 * triggers say. By value: a struct hodo_emit whose address nobody takes lives in registers. */
void hodo_rules_commit(struct hodo_writer *w, uint8_t *record, uint32_t len, struct hodo_event *event,
		   unsigned long flags);

/*
 * They are called through saved.S where there is one, which keeps all registers: a probe that calls C functions
 * saves up to six of its own on every event.
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

/* Whether an event can be written at p without more ado, in a recording by the TSC. */
static __always_inline bool hodo_emit_has_room(const struct hodo_writer *w, const uint8_t *p, uint32_t len)
{
#ifdef CONFIG_X86
	return !static_branch_unlikely(&hodo_clock_monotonic) && likely(p + HODO_EVENT_HEADER + len <= w->limit);
#else
	return false;
#endif
}

/* Writes an event's head there. False: the last anchor is of another thread or epoch. */
static __always_inline bool hodo_emit_head(const struct hodo_writer *w, uint8_t *p, const struct hodo_event *event)
{
#ifdef CONFIG_X86
	uint32_t low, epoch;

	if (unlikely(w->tid != (uint32_t)current->pid))
		return false;
	/* The TSC's bits from HODO_EPOCH_SHIFT on. The compiler would take four instructions. */
	asm volatile("rdtsc\n\tshldl %2, %%eax, %%edx"
		     : "=a"(low), "=d"(epoch)
		     : "i"(32 - HODO_EPOCH_SHIFT)
		     : "cc");
	if (unlikely(w->epoch != epoch))
		return false;
	/* The payload comes over the last two bytes. */
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
	if (!payload) /* which the compiler would think possible */
		__builtin_unreachable();
	return payload;
}

/* Release: of the fallback ring's writers, the next one sees what this one has stored. */
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
 * The same where interrupts are on for certain, without calling any function. NULL: it cannot be done like that;
 * nothing has happened, and the caller goes the way of hodo_emit_begin(), in a function of its own that it ends with.
 * Then a probe has no register to save.
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

/* bytes: the record's, and those of an anchor in front of it that is not committed yet. */
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

#endif
