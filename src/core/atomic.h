/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * atomic.h - every access to shared words goes through here. Each interesting place between two accesses is a
 * named injection point, where a torture build (HODO_INJECT_HOOK) delays, yields, raises a signal or kills.
 */
#pragma once

#define hodo_load(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define hodo_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define hodo_load_seq(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define hodo_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define hodo_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define hodo_store_seq(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define hodo_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define hodo_add_seq(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define hodo_cas_seq(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define hodo_cas_acquire(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
/* Stops the compiler, not the CPU, from moving accesses across it. */
#define hodo_compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

enum hodo_inject_point {
	HODO_INJECT_SWITCH_PLANNED,
	HODO_INJECT_ACTIVATING,
	HODO_INJECT_FALLBACK_LOCKED,
	HODO_INJECT_FALLBACK_STORED,
	HODO_INJECT_FALLBACK_SWITCH,
	HODO_INJECT_RETRY,
	HODO_INJECT_PATCHED,
	HODO_INJECT_PROBE_ENTER,
	HODO_INJECT_SECTION,
	HODO_INJECT_ENDING,
	HODO_INJECT_FLIGHT,
	HODO_INJECT_SPAN,
	HODO_INJECT_WAIT,
	HODO_INJECT_POINTS
};
#ifdef HODO_INJECT_HOOK
void hodo_inject(enum hodo_inject_point point);
#define HODO_INJECT(point) hodo_inject(point)
#else
#define HODO_INJECT(point) ((void)0)
#endif
