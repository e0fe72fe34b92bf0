/* SPDX-License-Identifier: MIT */
/* tracers.h - the built-in tracers, and what they have in common. */
#pragma once

#include <core/shadow.h>
#include <func/func.h>

/*
 * hodo_frame.user: bits 0 … 31 are dispatch's (the epoch at entry), bits 32 + enum hodo_builtin the
 * built-in tracers', one each, bits 40 … 63 latency.c's; zero at entry except for HODO_USER_NO_EXIT.
 *
 * One of libhodo's own tracers: like hodo_tracer, with access to the shadow, and under the rules above. */
#define HODO_USER_NO_EXIT (1ull << 39) /* dispatch: the exit will not be seen; the duration is not known */
#define HODO_USER(tracer) (1ull << (32 + HODO_TRACER_##tracer))
struct hodo_builtin_ops {
	void (*enter)(struct hodo_shadow *shadow, struct hodo_frame *frame);
	/* In reverse order of entry; see hodo_shadow.closed. The chain still holds what the frame was inside of:
	 * frames[0 .. n-1], when end is RETURNED or LEFT and the frame was not parked. */
	void (*exit)(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now);
	/* Under the control lock: start before the first call (0, or negative errno: the tracer is left out),
	 * stop when no further calls begin; some may still be running. */
	int (*start)(const struct hodo_functions_config *config);
	void (*stop)(void);
};
/* By enum hodo_builtin; record has its own direct path when it is alone, else it uses these functions. */
extern HODO_HIDDEN const struct hodo_builtin_ops hodo_builtin_record, hodo_builtin_graph, hodo_builtin_profile,
	hodo_builtin_stack, hodo_builtin_latency, hodo_builtin_loop, hodo_builtin_thread;

HODO_HIDDEN void hodo_record_exit(uint64_t addr, uint64_t at, bool sp); /* record.c */

/* durations.c, by x86_64/durations.S: as HODO_IMPORT_CALL_BEGIN and _END. */
HODO_HIDDEN void hodo_duration_begin(uintptr_t at, uintptr_t function);
HODO_HIDDEN long hodo_duration_end(uintptr_t at, uintptr_t function);
HODO_HIDDEN void hodo_x86_duration_begin(void);
HODO_HIDDEN void hodo_x86_duration_end(void);

/* landings.c, by x86_64/durations.S: as HODO_IMPORT_LANDED; rdi, rsi: the function's arguments. */
HODO_HIDDEN void hodo_landed(uintptr_t at, uintptr_t function, uintptr_t rdi, uintptr_t rsi);
HODO_HIDDEN void hodo_x86_landed(void);
/* Under the control lock: ignores calls that began before. */
HODO_HIDDEN void hodo_durations_recording(void);

/* tracer.c; under the control lock */
HODO_HIDDEN void hodo_tracers_objects_changed(void);
HODO_HIDDEN int hodo_tracers_set_builtins(uint32_t mask, int set); /* 1 << enum hodo_builtin */
/* See <hodo/tracer.h>; without the lock. */
HODO_HIDDEN int hodo_tracers_register(struct hodo_tracer *tracer);
HODO_HIDDEN int hodo_tracers_unregister(struct hodo_tracer *tracer);

/* open.c; in dispatch. wanted: a built-in tracer wants the call, and its exit will be seen. */
HODO_HIDDEN void hodo_open_enter(struct hodo_func_thread *t, const struct hodo_frame *frame, bool wanted);
HODO_HIDDEN void hodo_open_leave(struct hodo_func_thread *t);
HODO_HIDDEN void hodo_open_start(bool wanted); /* under the control lock: a recording has begun, or ended */

/* Addresses of the chain's functions, innermost first, at most max. Returns their number. */
static inline uint32_t hodo_func_chain(const struct hodo_shadow *shadow, uint64_t *out, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = shadow->n; i > 0 && n < max; i--)
		out[n++] = shadow->frames[i - 1].function;
	return n;
}

/* How long a call took. A call that was parked and then found to be left had ended when it was parked, or
 * before. */
static inline uint64_t hodo_func_ticks(const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	if (end == HODO_FRAME_LEFT && frame->parked && frame->parked < now)
		now = frame->parked;
	return now > frame->entry ? now - frame->entry : 0;
}

/* func:call, for several built-in tracers. */
static inline void hodo_func_emit_call(const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t ticks)
{
	struct __attribute__((packed, aligned(8))) {
		uint64_t addr;
		uint32_t frame, depth;
		uint64_t ticks;
		uint8_t left, beyond[7];
	} f = { frame->function, HODO_FRAME32(frame->at), frame->depth, ticks, end == HODO_FRAME_LEFT, { 0 } };

	hodo_func_emit(HODO_FUNC_CALL, &f, 25);
}
