/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - leads from a slot to the tracers, in the thread that enters or leaves the function.
 *
 * Runs between any two instructions of the program, in signal handlers too. A thread is in dispatch only once
 * at a time: if a signal handler interrupts dispatch, the functions that it calls are not seen but counted
 * (their entries as well as their exits, so nothing gets out of balance). The same holds for another process
 * that runs in the thread's storage, and keeps tracers' own calls from being traced. The guard is the stack
 * pointer, so that a handler that longjmps out of dispatch does not leave it closed: an event from above the
 * guard, or from another stack that no handler runs on, shows that the guarded dispatch was left.
 *
 *                     | dispatch (own thread) | other threads | register, unregister, dlclose
 *   dispatch          | excluded (guard)      | beside        | beside, until the grace period
 *
 * Order: a thread makes `inside` odd before it loads the list, and even when it is done with it. After
 * replacing the list, the updater makes all threads execute a barrier, then waits for those that are odd.
 * Without the barrier, a thread's store of `inside` could still be in its store buffer although it has loaded
 * the old list. The barrier is membarrier(2)'s, so that dispatch only needs compiler barriers; if the kernel
 * has none, dispatch uses a fence.
 */
#include <errno.h>
#include <signal.h>
#include <func/slots/slots.h>
#include <func/tracers/tracers.h>
#include "dispatch.h"
#include "func.h"
#include "threads.h"
#include <user/process/process.h>
#include <user/ring/rings.h>
#include <user/user.h>
#include <user/libc/sys.h>

/* How many bytes a handler's frames may lie below the code that it interrupted on a coroutine's stack. */
#define HANDLER_REACH (256u << 10)
#define FRAME ((uintptr_t)__builtin_frame_address(0))

bool hodo_dispatch_inside(void)
{
	return hodo_func_tls.thread && hodo_func_tls.thread->guard;
}

static void after_fork(long unused, long unused2, long unused3)
{
	hodo_process_after_fork();
}

/*
 * Whether a longjmp has left the guarded dispatch, judged by an address in use now: the stack grows down. But
 * a signal stack may be an array of a function further up.
 */
static __attribute__((noinline)) bool left_behind(const struct hodo_func_thread *t, uintptr_t at)
{
	uintptr_t guard = t->guard, low;
	bool on_signal_stack, guard_there;
	stack_t signal_stack;

	if (hodo_sys2(SYS_sigaltstack, 0, &signal_stack) != 0)
		return false;
	low = (uintptr_t)signal_stack.ss_sp;
	on_signal_stack = signal_stack.ss_flags & SS_ONSTACK;
	guard_there = guard - low < signal_stack.ss_size;
	if (on_signal_stack != guard_there)
		return guard_there; /* else a handler on its own stack has interrupted that dispatch */
	if (hodo_func_own_stack(t, at) && hodo_func_own_stack(t, guard))
		return at > guard;
	return at > guard || guard - at > HANDLER_REACH;
}

static void closed(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now);

static void miss(bool entry)
{
	if (entry && !hodo_func_tls.in_tracer)
		hodo_dispatch_count(offsetof(struct hodo_shm, func_missed));
}

/* Begins; NULL: ignore this event. at: the event's frame; guard: the caller's. */
static inline __attribute__((always_inline)) struct hodo_func_thread *begin(uintptr_t at, bool entry, uintptr_t guard)
{
	struct hodo_func_tls *tls = &hodo_func_tls;
	struct hodo_func_thread *t = tls->thread;

	/* A fork that ran no handlers: the child does not have the recording's memory. */
	if (__builtin_expect(hodo_process_forked(), 0)) {
		hodo_x86_keep(after_fork, 0, 0, 0);
		if (hodo_process_forked())
			return 0; /* this thread is setting it up */
	}
	/*
	 * A handler that interrupts this may set the thread up; with signals blocked, that is checked again.
	 */
	if (__builtin_expect(!t, 0)) {
		t = hodo_func_thread_get(closed);
		if (!t)
			return 0;
	}
	/*
	 * The state belongs to one task: clone(CLONE_VM) has made another with the same thread-local storage.
	 */
	if (__builtin_expect(hodo_tls.mode == HODO_THREAD_SHARED, 0) && hodo_gettid() != t->tid) {
		miss(entry);
		return 0;
	}
	if (__builtin_expect(t->guard != 0, 0)) {
		if (!left_behind(t, at)) {
			miss(entry);
			return 0;
		}
		tls->in_tracer = false;
	}
	t->guard = guard;
	hodo_compiler_barrier();
	t->inside |= 1;
	if (__builtin_expect(hodo_dispatch_fence, 0))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	hodo_compiler_barrier();
	return t;
}

static void end(struct hodo_func_thread *t)
{
	/* Made even whether or not it had become odd. Release: after all that the tracers did. */
	hodo_store_release(&t->inside, (t->inside + 1) & ~1u);
	hodo_compiler_barrier();
	t->guard = 0;
}

struct hodo_func_thread *hodo_dispatch_begin(uintptr_t at, bool entry, uintptr_t guard)
{
	return begin(at, entry, guard);
}

void hodo_dispatch_end(struct hodo_func_thread *t)
{
	end(t);
}

bool hodo_dispatch_in_tracer(void)
{
	struct hodo_func_tls *tls = &hodo_func_tls;
	struct hodo_func_thread *t = tls->thread;

	if (t && t->guard && left_behind(t, (uintptr_t)__builtin_frame_address(0))) {
		tls->in_tracer = false;
		end(t);
	}
	return tls->in_tracer;
}

/* ---------------------------------------------------------------- who wants it */

/*
 * The function with slots at or before an address; NULL: not known. *text: what its address is relative to.
 */
static const struct hodo_function *look_up(const struct hodo_func_lookup *lookup, uint64_t addr, uintptr_t *text)
{
	for (uint32_t i = 0; i < lookup->n; i++) {
		const struct hodo_function *functions = lookup->object[i].functions;
		uint32_t n = lookup->object[i].nfunctions;

		*text = lookup->object[i].text;
		if (addr >= *text && addr < lookup->object[i].end && n)
			return &functions[hodo_function_before(functions, n, (uint32_t)(addr - *text))];
	}
	return 0; /* for example, unloaded meanwhile */
}

uint64_t hodo_dispatch_sets(uint64_t function)
{
	const struct hodo_func_lookup *lookup = hodo_load_acquire(&hodo_func_lookup);
	uintptr_t text;
	const struct hodo_function *f = lookup ? look_up(lookup, function, &text) : 0;

	return f ? f->sets : 0;
}

static __attribute__((noinline)) uint64_t sets_cached(struct hodo_func_thread *t, uint64_t function)
{
	const struct hodo_func_lookup *lookup = hodo_load_acquire(&hodo_func_lookup);
	struct hodo_func_cached *c = &t->cache[(function >> 4 ^ function >> 10) & 63];
	uintptr_t text;

	if (!lookup)
		return ~0ull;
	if (t->cache_epoch != lookup->epoch) {
		for (unsigned i = 0; i < 64; i++)
			t->cache[i].function = 0;
		t->cache_epoch = lookup->epoch;
	}
	if (c->function != function) {
		const struct hodo_function *f = look_up(lookup, function, &text);

		c->sets = f ? f->sets : 1; /* not known: for tracers of all functions only */
		c->function = function;
	}
	return c->sets;
}

/* Sets that want the function. */
static inline uint64_t sets_of(struct hodo_func_thread *t, const struct hodo_tracer_list *list, uint64_t function)
{
	return list->all ? ~0ull : sets_cached(t, function);
}

/* ---------------------------------------------------------------- the tracers */

/* One event on its way through the tracers. */
struct event {
	struct hodo_shadow *shadow;
	struct hodo_frame *frame;
	enum hodo_frame_end end;
	unsigned flags;
	uint64_t now, sets;
	const struct hodo_tracer_list *list;
};

static void fill_call(const struct event *e, struct hodo_call *call)
{
	const struct hodo_frame *f = e->frame;
	uint64_t total = e->now - f->entry;

	call->size = sizeof(*call);
	call->flags = 0;
	call->function = (const void *)f->function;
	call->frame = (const void *)f->at;
	call->depth = f->depth;
	call->reserved = 0;
	call->entry_ticks = f->entry;
	call->now_ticks = e->now;
	call->self_ticks = total > f->children ? total - f->children : 0;
}

/* call: NULL if there are only built-in tracers, which do not need it. */
static inline __attribute__((always_inline)) void enter_each(const struct hodo_tracer_list *list, uint64_t sets,
		struct hodo_shadow *shadow, struct hodo_frame *frame, const struct hodo_call *call)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct hodo_tracer_entry *t = &list->entry[i];

		if (!(t->set & sets))
			continue;
		if (!call || t->ops) {
			if (t->ops->enter)
				t->ops->enter(shadow, frame);
		} else if (t->tracer->enter) {
			t->tracer->enter(t->tracer, call);
		}
	}
}

static inline __attribute__((always_inline)) void exit_each(const struct hodo_tracer_list *list, uint64_t sets,
		struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now,
		const struct hodo_call *call)
{
	for (uint32_t i = list->n; i-- > 0;) {
		const struct hodo_tracer_entry *t = &list->entry[i];

		/* Not for a frame that was entered before the tracer was registered. */
		if (!(t->set & sets) || (int32_t)((uint32_t)frame->user - t->epoch) < 0)
			continue;
		if (!call || t->ops) {
			if (t->ops->exit)
				t->ops->exit(shadow, frame, end, now);
		} else if (t->tracer->exit) {
			t->tracer->exit(t->tracer, call);
		}
	}
}

static void enter_all(long event, long unused, long unused2)
{
	const struct event *e = (const struct event *)event;
	struct hodo_call call;

	fill_call(e, &call);
	call.flags = e->flags & HODO_DISPATCH_NO_EXIT ? HODO_CALL_NO_EXIT : 0;
	enter_each(e->list, e->sets, e->shadow, e->frame, &call);
}

static void exit_all(long event, long unused, long unused2)
{
	const struct event *e = (const struct event *)event;
	struct hodo_call call;

	fill_call(e, &call);
	call.flags = e->end == HODO_FRAME_LEFT ? HODO_CALL_LEFT : 0;
	exit_each(e->list, e->sets, e->shadow, e->frame, e->end, e->now, &call);
}

/* The program's tracers may use any register, and call anything. */
static __attribute__((noinline)) void call_kept(struct event *e, void (*all)(long, long, long))
{
	int saved = errno;

	hodo_func_tls.in_tracer = true;
	hodo_x86_keep(all, (long)e, 0, 0);
	hodo_func_tls.in_tracer = false;
	errno = saved;
}

/* hodo_shadow.closed */
static void closed(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	const struct hodo_tracer_list *list = hodo_load_acquire(&hodo_tracers);
	uint64_t sets;

	if (!list)
		return;
	sets = sets_of(hodo_func_thread(shadow), list, frame->function);
	if (list->users) {
		struct event e = { shadow, (struct hodo_frame *)frame, end, 0, now, sets, list };

		call_kept(&e, exit_all);
	} else {
		exit_each(list, sets, shadow, frame, end, now, 0);
	}
}

static uint64_t function_of(uintptr_t pc, unsigned flags)
{
	const struct hodo_func_lookup *lookup;
	const struct hodo_function *f;
	uintptr_t text;

	if (flags & HODO_DISPATCH_SP)
		return pc; /* the function itself */
	if (!(flags & (HODO_DISPATCH_NO_EXIT | HODO_DISPATCH_PLANNED)))
		return hodo_slot_function(pc - 5);
	/* -pg: after the instructions that set up the frame. */
	lookup = hodo_load_acquire(&hodo_func_lookup);
	f = lookup ? look_up(lookup, flags & HODO_DISPATCH_PLANNED ? (pc - 1) & ~3ul : pc - 1, &text) : 0;
	return f ? text + f->addr : pc;
}

/*
 * A function entered by a tail jump finds the return address already replaced: the function that jumped has
 * ended.
 */
static void replace_return(struct hodo_func_thread *t, uintptr_t function, uintptr_t pc, uintptr_t *at, unsigned *flags)
{
	uintptr_t slot = hodo_returns_slot(function, pc, *at);
	bool jumped;

	if (!slot || !hodo_returns_replace((uintptr_t *)slot, pc, &jumped))
		return;
	*at = slot;
	*flags &= ~HODO_DISPATCH_NO_EXIT;
	if (jumped) {
		t->exit_ticks = hodo_ticks_now();
		hodo_shadow_exit(&t->shadow, slot, function, t->exit_ticks, false, 0);
	}
}

void hodo_dispatch_enter(uintptr_t pc, uintptr_t at, unsigned flags)
{
	struct hodo_func_thread *t = begin(at, true, FRAME);
	const struct hodo_tracer_list *list;
	struct hodo_frame *frame;
	uint64_t now, function;

	if (!t)
		return;
	list = hodo_load_acquire(&hodo_tracers);
	if (!list)
		goto out;
	function = function_of(pc, flags);
	if ((flags & HODO_DISPATCH_NO_EXIT) && (hodo_func_config.flags & HODO_FUNCTIONS_RETURNS))
		replace_return(t, function, pc, &at, &flags);
	now = hodo_ticks_now();
	frame = hodo_shadow_enter(&t->shadow, at, function, now, flags & HODO_DISPATCH_SP);
	if (frame) {
		uint64_t sets = sets_of(t, list, frame->function);

		frame->user = list->epoch | (flags & HODO_DISPATCH_NO_EXIT ? HODO_USER_NO_EXIT : 0);
		if (list->users) {
			struct event e = { &t->shadow, frame, HODO_FRAME_RETURNED, flags, now, sets, list };

			call_kept(&e, enter_all);
		} else {
			enter_each(list, sets, &t->shadow, frame, 0);
		}
		/* Built-in tracers come first, and have one set. */
		if (hodo_load(&hodo_func_open))
			hodo_open_enter(t, frame, list->entry[0].ops && (list->entry[0].set & sets) &&
					!(flags & HODO_DISPATCH_NO_EXIT));
	} else {
		hodo_dispatch_count(offsetof(struct hodo_shm, func_deep));
	}
out:
	end(t);
}

/* The recorder writes every exit, whatever the shadow says: coroutines that change threads mislead it. */
static void record_exit(struct hodo_func_thread *t, const struct hodo_tracer_list *list, uintptr_t pc, uintptr_t at,
			unsigned flags)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->entry[i].ops == &hodo_builtin_record && (list->entry[i].set & sets_of(t, list, pc)))
			hodo_record_exit(pc, at, flags & HODO_DISPATCH_SP);
	}
}

void hodo_dispatch_exit(uintptr_t pc, uintptr_t at, unsigned flags)
{
	struct hodo_func_thread *t = begin(at, false, FRAME);
	const struct hodo_tracer_list *list;

	if (!t)
		return;
	list = hodo_load_acquire(&hodo_tracers);
	if (list) {
		bool by_frame = hodo_func_config.depth_max || (flags & HODO_DISPATCH_REPLACED);
		uint64_t now;

		if (!by_frame)
			record_exit(t, list, pc, at, flags);
		now = hodo_ticks_now();
		t->exit_ticks = by_frame ? now : 0;
		hodo_shadow_exit(&t->shadow, at, pc, now, flags & HODO_DISPATCH_SP, 0);
		if (hodo_load(&hodo_func_open))
			hodo_open_leave(t);
	}
	end(t);
}

void hodo_dispatch_thread_ends(void *unused)
{
	struct hodo_func_thread *t = hodo_func_tls.thread ? begin(FRAME, false, FRAME) : 0;

	if (!t)
		return;
	t->exit_ticks = 0;
	hodo_shadow_clear(&t->shadow, hodo_ticks_now());
	if (hodo_load(&hodo_func_open))
		hodo_open_leave(t);
	end(t);
}

/* Called by hodo_x86_return. Restores the return address before anything else. */
void hodo_dispatch_return(uintptr_t at)
{
	uintptr_t original = hodo_returns_restore(at);

	hodo_dispatch_exit(original, at, HODO_DISPATCH_REPLACED);
}
