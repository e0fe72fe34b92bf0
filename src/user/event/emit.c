/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the path of events that the fast writer does not take: first events of a thread or a CPU, full
 * packets, filters. Threads without rseq go to fallback.c.
 *
 * Everything here may run in a signal handler that interrupted any of it. The only lock is the fallback
 * ring's, which is held with signals blocked.
 */
#include <hodo/abi_plan.h>
#include "emit.h"
#include <user/libc/sys.h>
#include "trace_context.h"
#include <user/ring/wait.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include <user/ring/rings.h>

#define TRIES_MAX 1000 /* more would hang under a debugger that steps through the section */

/* glibc's registration of rseq (2.35 and later); absent elsewhere. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

struct rseq_area { /* the part of linux/rseq.h's struct rseq that is used */
	uint32_t cpu_id_start, cpu_id;
	uint64_t rseq_cs;
};
/* Without rseq, the fast writer arms this instead, and finds no ring. */
static __thread struct rseq_area no_rseq __attribute__((tls_model("initial-exec")));

static bool rseq_tells; /* ask_registered() works */

static volatile struct rseq_area *rseq_area(void)
{
	return (volatile struct rseq_area *)((char *)__builtin_thread_pointer() + hodo_rseq_offset);
}

/*
 * libc registers a thread's area in that thread, after its first functions, which may have events. Until then
 * the area says CPU 0, or what it said for another thread that had the same memory, and no sequence would be
 * restarted. Unregistering it by another signature does nothing: EPERM if it is registered, EINVAL if it is
 * not (rseq(2)); a sandbox may return something else.
 */
static long ask_registered(void)
{
	uint32_t bytes = __rseq_size > 32 ? __rseq_size : 32; /* as in glibc */

	return hodo_sys4(SYS_rseq, rseq_area(), bytes, 1 /* RSEQ_FLAG_UNREGISTER */, 0);
}

void hodo_emit_init(void)
{
#ifdef __x86_64__
	hodo_x86_slow = hodo_site_slow;
	hodo_x86_keep_init();
#endif
	if (&__rseq_size && __rseq_size > 0)
		hodo_rseq_offset = __rseq_offset;
	else
		hodo_rseq_offset = (char *)&no_rseq - (char *)__builtin_thread_pointer();
	rseq_tells = &__rseq_size && __rseq_size > 0 && ask_registered() == -EPERM;
}

/* ------------------------------------------------------------- thread, CPU */

/*
 * Not set up yet, or still has its parent's table because another thread of a bare clone's child joined the
 * recording.
 */
static bool is_new(const struct hodo_tls *t)
{
	return t->mode == HODO_THREAD_NEW || (t->mode == HODO_THREAD_RSEQ && t->table != hodo_recording.views);
}

/* False: it stays new, since libc has not registered it yet. */
static bool thread_setup(struct hodo_tls *t)
{
	const bool has_rseq = &__rseq_size && __rseq_size > 0 && (int32_t)rseq_area()->cpu_id >= 0;
	char comm[16] = "";

	t->tid = hodo_gettid();
	if (has_rseq && rseq_tells && ask_registered() == -EINVAL)
		return false;
	t->mode = HODO_THREAD_FALLBACK;
	if (has_rseq) {
		t->mode = HODO_THREAD_RSEQ;
		t->table = hodo_recording.views;
	}
	hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, comm);
	hodo_thread_add(t->tid, comm);
	return true;
}

/* ---------------------------------------------------------------- rseq path */

enum outcome { RETRY, DONE, FALLBACK, FULL, WAIT };

static enum outcome ring_switch(struct hodo_view *v, uint32_t cpu, uint64_t word)
{
	struct hodo_switch plan;

	switch (hodo_ring_plan(&hodo_recording.ring, v, cpu, word, &plan)) {
	case HODO_RING_FULL:
		return FULL;
	case HODO_RING_MOVED:
		return RETRY;
	case HODO_RING_PLANNED:
		break;
	}
	plan.now = hodo_clock_now();
	HODO_INJECT(HODO_INJECT_SWITCH_PLANNED);
#ifdef __x86_64__
	if (hodo_x86_switch(&plan) == 0)
		hodo_view_populate_ahead(v, plan.seq + 1);
#endif
	return RETRY;
}

/*
 * This CPU's view in the thread's table, set up or not; NULL: none, the thread writes to the fallback ring.
 */
static struct hodo_view *own_view(void)
{
	uint32_t cpu = rseq_area()->cpu_id;

	return hodo_tls.table == hodo_no_views || cpu >= hodo_fallback_number() ? 0 : &hodo_tls.table[cpu];
}

/* Finds out why the fast path gave up, and repairs it. */
static enum outcome repair(size_t total, struct hodo_wait *wait)
{
	struct hodo_tls *t = &hodo_tls;
	struct hodo_view *v;
	uint64_t word;
	uint32_t cpu;

	if (!hodo_process_recording())
		return DONE;
	if (is_new(t))
		return thread_setup(t) ? RETRY : FALLBACK;
	v = own_view();
	/* No rseq, or a vfork child, or a clock that takes a call, which the fast writer cannot read. */
	if (!v || hodo_recording.config.clock != HODO_CLOCK_TSC)
		return FALLBACK;
	cpu = (uint32_t)(v - t->table);
	if (!hodo_load_acquire(&v->packet_size))
		return hodo_view_setup(cpu) ? RETRY : FALLBACK;
	word = hodo_load_acquire(&v->ring->word);
	if (hodo_ring_has_room(word, v->packet_size, total))
		return RETRY; /* another thread has switched */
	if (ring_switch(v, cpu, word) == RETRY)
		return RETRY;
	if (hodo_wait_prepare(wait, v->ring))
		return ring_switch(v, cpu, word) == RETRY ? RETRY : WAIT;
	hodo_add(&v->ring->lost_full, 1);
	return DONE;
}

/* ------------------------------------------------------------ slow, special */

/* Closes this CPU's packet if it is older than the recording allows. */
static enum outcome close_old_packet(size_t total, struct hodo_wait *unused)
{
	struct hodo_view *v = hodo_process_recording() ? own_view() : 0;
	uint64_t word;

	if (!v || !hodo_load_acquire(&v->packet_size))
		return DONE;
	word = hodo_load_acquire(&v->ring->word);
	if (hodo_view_too_old(v, word))
		ring_switch(v, (uint32_t)(v - hodo_tls.table), word);
	return DONE;
}

static enum outcome count_too_large(size_t total, struct hodo_wait *unused)
{
	const struct hodo_view *v;
	uint32_t ring;

	if (!hodo_process_recording())
		return DONE;
	v = own_view();
	ring = v && v->packet_size ? (uint32_t)(v - hodo_tls.table) : hodo_fallback_number();
	hodo_add(&hodo_ring_of(ring)->lost_too_large, 1);
	return DONE;
}

/* Runs one of the above with signals blocked: see hodo_process_recording(). */
static enum outcome settle(size_t total, struct hodo_wait *wait,
			   enum outcome (*decide)(size_t total, struct hodo_wait *wait))
{
	uint64_t mask = hodo_signals_block();
	enum outcome outcome = decide(total, wait);

	hodo_signals_restore(mask);
	return outcome;
}

/*
 * Whether hodo_x86_refuse() and the sections' sequences find what they need: a table, and in it this CPU's
 * view.
 */
static bool is_ready(void)
{
	const struct hodo_view *v = own_view();

	return !is_new(&hodo_tls) &&
	       (!v || hodo_recording.config.clock != HODO_CLOCK_TSC || hodo_load_acquire(&v->packet_size));
}

/* If all events are refused, none reaches repair(). */
static __attribute__((noinline)) void get_ready(void)
{
	uint64_t mask = hodo_signals_block();

	if (hodo_process_recording() && !is_ready()) {
		uint32_t cpu = rseq_area()->cpu_id;

		if ((!is_new(&hodo_tls) || thread_setup(&hodo_tls)) && !is_ready())
			hodo_view_setup(cpu);
	}
	hodo_signals_restore(mask);
}

/* In a section. */
static void emit_checked(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
			 uint32_t on)
{
	struct hodo_wait wait = { 0 };

	if (!hodo_ring_fits(hodo_recording.layout.packet_size, total)) {
		settle(total, 0, count_too_large);
		return;
	}
	if (on & HODO_ON_AGE)
		settle(total, 0, close_old_packet);
	for (int tries = 0; tries < TRIES_MAX; tries++) {
#ifdef __x86_64__
		int result = hodo_x86_try(state, pieces, count, total, on);
#else
		int result = HODO_TRY_SLOW;
#endif
		if (result == HODO_TRY_DONE)
			return;
		if (result == HODO_TRY_CHANGED) {
			uint32_t now = hodo_load_acquire(state->on);

			/* Its context was switched on or off meanwhile: this event is lost to the change. */
			if (!(now & HODO_ON_RECORD) || ((now ^ on) & HODO_ON_CONTEXT))
				return;
			on = now;
		} else if (result == HODO_TRY_SLOW) {
#ifdef __x86_64__
			/* A program that outruns the recorder comes here at every event. */
			if (hodo_x86_full(total))
				return;
#endif
			enum outcome outcome = settle(total, &wait, repair);

			if (outcome == FALLBACK)
				break;
			if (outcome == DONE)
				return;
			if (outcome == WAIT) {
				hodo_wait_sleep(&wait);
				tries = 0;
			}
		}
		HODO_INJECT(HODO_INJECT_RETRY);
	}
	hodo_fallback_write(state, pieces, count);
}

/* The event with its context in front. Not inlined: it needs stack, which other events should not pay for. */
static __attribute__((noinline)) void emit_context(struct hodo_state *state, const struct hodo_piece *pieces,
						   size_t count, size_t total, uint32_t on,
						   const struct hodo_origin *from)
{
	struct hodo_context c;
	struct hodo_piece room[hodo_context_room(&c) + count];

	hodo_context_gather(&c, room, from->ip, from->sp, from->bp);
	for (size_t i = 0; i < count; i++)
		c.piece[c.n++] = pieces[i];
	emit_checked(state, c.piece, c.n, c.total + total, on);
	hodo_context_release(&c);
}

static void emit_slow(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
		      struct hodo_origin *from)
{
	struct hodo_event *event = state->event;
	uint32_t on, section, verdict = 0;

	/* bp belongs to the function that is left out. */
	if (state->outline == HODO_OUTLINE_PLANNED) {
		const struct hodo_plan_state *planned = (const struct hodo_plan_state *)state;

		from->ip = planned->ip;
		from->sp += planned->stack;
	}
	if (state->outline == 1)
		*from = (struct hodo_origin){ ((uintptr_t *)from->bp)[1], from->bp + 2 * sizeof(uintptr_t),
					 ((uintptr_t *)from->bp)[0] };
	hodo_process_check_fork();
	section = hodo_process_forked() ? 0 : hodo_section_enter(); /* still: this thread is setting it up */
	if (!section)
		return;
	on = hodo_load_acquire(state->on);
	if (event && (on & (HODO_ON_FILTER | HODO_ON_RULES))) {
		if (__builtin_expect(!is_ready(), 0))
			get_ready();
		verdict = hodo_rules_pass(event, on, pieces, count);
		if (!(verdict & HODO_VERDICT_RECORD))
			goto out;
		on = hodo_load_acquire(state->on); /* a start trigger: recording begins with this event */
	}
	if (!(on & HODO_ON_RECORD))
		goto out;
	if (total > HODO_PACKET_MAX) /* including one that would wrap below */
		total = HODO_PACKET_MAX;
	if (on & HODO_ON_CONTEXT)
		emit_context(state, pieces, count, total, on, from);
	else
		emit_checked(state, pieces, count, total, on);
out:
	if (verdict & ~HODO_VERDICT_RECORD)
		hodo_rules_act(event, verdict);
	hodo_section_leave(section);
}

/* Of the function that called the writer: this file is compiled with frame pointers. */
#define ORIGIN                                                                                                       \
	{                                                                                                            \
		(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t), \
			*(uintptr_t *)__builtin_frame_address(0)                                                     \
	}

void hodo_emit_slow(struct hodo_state *state, const void *data, size_t len)
{
	struct hodo_origin from = ORIGIN;
	struct hodo_piece piece = { data, len };

	emit_slow(state, &piece, 1, len, &from);
}

void hodo_emit_from(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
		    struct hodo_origin *from)
{
#ifdef __x86_64__
	/* The sequence checks the size against the view; a total that would wrap there is refused before. */
	if (__builtin_expect(hodo_rules_filters, 0) && hodo_x86_refuse(state, pieces, count))
		return;
	if (__builtin_expect(total <= HODO_PACKET_MAX, 1) &&
	    hodo_x86_try(state, pieces, count, total, HODO_ON_RECORD) == HODO_TRY_DONE)
		return;
#endif
	emit_slow(state, pieces, count, total, from);
}

static void emit_pieces(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total)
{
	struct hodo_origin from = ORIGIN;

	hodo_emit_from(state, pieces, count, total, &from);
}

#ifdef __x86_64__
/* hodo_x86_emit() jumps here; only site.S's frame is on the stack then. */
void hodo_site_slow(struct hodo_state *state, const void *data, size_t len)
{
	struct hodo_origin from = hodo_site_origin(*(const uintptr_t **)__builtin_frame_address(0));
	struct hodo_piece piece = { data, len };

	emit_slow(state, &piece, 1, len, &from);
}
#endif

const struct hodo_ops hodo_user_ops = {
	.size = sizeof(struct hodo_ops),
	.version = HODO_ABI_VERSION,
	.emit_fixed = hodo_emit_slow,
	.emit_pieces = emit_pieces,
	.probe_enter = hodo_probe_enter,
	.probe_leave = hodo_probe_leave,
	.probe_register = hodo_probe_register,
	.probe_unregister = hodo_probe_unregister,
	.thread_role = hodo_role_set,
	.context_enter = hodo_trace_context_enter,
	.context_leave = hodo_trace_context_leave,
	.context_text = hodo_trace_context_text,
};
