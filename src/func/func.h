/* SPDX-License-Identifier: MIT */
/*
 * func.h - what a recording of functions is configured to do, and libhodo's own events. Hidden in libhodo; the public
 * side is <hodo/tracer.h>. Each part has a header for what it does: slots/slots.h, names/names.h, threads.h,
 * dispatch.h, hooks.h, grace.h, tracers/tracers.h.
 *
 * A slot is an instruction that the compiler left at a function's entry or before its exit, flipped between a no-op and
 * a call. From there:
 *
 *   slot -> stub of the object -> *hook -> trampoline (func/x86_64/func.S)
 *
 * If the built-in recorder is the only tracer, the trampoline is the direct writer of func:entry and func:exit events;
 * else it is the one that calls hodo_dispatch_enter/exit (dispatch.c), which keeps the thread's shadow of calls and
 * calls the tracers.
 *
 * State that several files share is in state.c, at the bottom; libhodo calls all this through extension.c, at the top.
 * No two files need each other.
 *
 * Locking: slots, functions, filters and the list of tracers change under hodo_control_lock(). Dispatch reads the list
 * while its thread's `inside` is odd; what it may still read is only freed after a grace period.
 *
 * Code that dispatch runs (dispatch.c, core/shadow.c, built-in tracers) is compiled with -mgeneral-regs-only and calls
 * nothing in libc: the vector registers hold the program's arguments and results. hodo_func_emit() preserves them.
 */
#pragma once

#include <hodo/tracer.h>
#include <core/config.h>
#include <core/shadow.h>
#include <user/event/event.h>

struct hodo_builtin_ops;
struct hodo_func_thread;
struct hodo_open_thread;

/* The recording's configuration of functions; size 0: none. Its texts are in hodo_recording.text. */
extern HODO_HIDDEN struct hodo_functions_config hodo_func_config;
static inline const char *hodo_func_config_texts(void)
{
	return (const char *)hodo_config_functions(&hodo_recording.config) + sizeof(struct hodo_functions_config);
}

/* libhodo's own events (enum below), registered when a recording asks for functions. */
enum hodo_func_event {
	HODO_FUNC_ENTRY, HODO_FUNC_EXIT, HODO_FUNC_ENTRY_SP, HODO_FUNC_EXIT_SP, HODO_FUNC_REACHED, HODO_FUNC_CALL,
	HODO_FUNC_CALLEE, HODO_FUNC_STACK, HODO_FUNC_HELD, HODO_FUNC_WRONG_THREAD, HODO_FUNC_PROFILE,
	HODO_FUNC_OPEN, HODO_FUNC_LANDED, HODO_FUNC_SWITCHED, HODO_FUNC_EVENTS
};
extern HODO_HIDDEN struct hodo_state hodo_func_states[HODO_FUNC_EVENTS];

/* Writes an event, preserving all vector registers. Only fixed fields; data must be readable up to the next
 * multiple of 8. */
HODO_HIDDEN void hodo_func_emit(enum hodo_func_event event, const void *data, size_t len);
HODO_HIDDEN void hodo_func_emit_pieces(enum hodo_func_event event, const struct hodo_piece *pieces, size_t count,
				       size_t total);

/* One of an address and a frame or stack pointer: entry, exit, reached. */
HODO_HIDDEN void hodo_func_emit_at(enum hodo_func_event event, uint64_t addr, uint64_t at);
/* --depth: the built-in tracers of single calls omit deeper ones. */
static inline bool hodo_func_too_deep(const struct hodo_frame *frame)
{
	return hodo_func_config.depth_max && frame->depth >= hodo_func_config.depth_max;
}

/* events.c; under the control lock */
HODO_HIDDEN void hodo_events_recording(void);

/* x86_64 */
HODO_HIDDEN void hodo_func_record_slow(long event, long pc, long at); /* called by func.S */

/* x86_64/func.S's own: a reference to the first library's would take another load */
extern HODO_HIDDEN long hodo_func_rseq_offset;

/* Functions are wanted: also search for kinds of slots that cost more to find. */
extern HODO_HIDDEN bool hodo_func_wanted;
HODO_HIDDEN void hodo_func_want(void); /* state.c; under the control lock */

/* Of each thread. */
struct hodo_func_tls {
	struct hodo_func_thread *thread;
	bool in_tracer;  /* one of the program's tracers is running: what it calls is not traced */
};
extern HODO_HIDDEN __thread struct hodo_func_tls hodo_func_tls __attribute__((tls_model("initial-exec")));

/* The tracers to call; replaced as a whole, read while `inside` is odd. */
struct hodo_tracer_entry {
	const struct hodo_builtin_ops *ops; /* NULL: */
	struct hodo_tracer *tracer;
	uint64_t set;   /* its bit */
	uint32_t epoch; /* it ignores frames of an earlier epoch */
};
struct hodo_tracer_list {
	uint32_t n;
	uint32_t epoch;    /* of frames entered under this list */
	bool users;        /* some entry is one of the program's tracers */
	bool all;          /* each wants all functions: no lookup needed */
	size_t bytes;      /* of this mapping */
	struct hodo_tracer_entry entry[];
};
extern HODO_HIDDEN const struct hodo_tracer_list *hodo_tracers;
extern HODO_HIDDEN bool hodo_dispatch_fence; /* no membarrier: dispatch orders its own accesses */

/* Objects and their functions by address, for dispatch; replaced as a whole, like the list. */
struct hodo_func_lookup {
	size_t bytes;
	uint32_t n, epoch;
	struct {
		uintptr_t text, end;
		const struct hodo_function *functions;
		uint32_t nfunctions;
	} object[];
};
extern HODO_HIDDEN const struct hodo_func_lookup *hodo_func_lookup;
extern HODO_HIDDEN struct hodo_open_thread *hodo_func_open; /* NULL: they are not wanted */
HODO_HIDDEN void hodo_dispatch_count(size_t counter); /* increments the member of struct hodo_shm at this offset */
