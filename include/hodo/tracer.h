/* SPDX-License-Identifier: MIT */
/*
 * hodo/tracer.h - tracers of functions: called at the entry and exit of all
 * functions that the compiler left room for, patched in and out at run time.
 *
 *	static void enter(struct hodo_tracer *t, const struct hodo_call *call) { … }
 *	static void leave(struct hodo_tracer *t, const struct hodo_call *call) { … }
 *	static struct hodo_tracer mine = {
 *		.size = sizeof(mine), .name = "mine", .enter = enter, .exit = leave,
 *		.functions = "kv_*,!kv_hash",
 *	};
 *
 *	hodo_tracer_register(&mine);
 *	…
 *	hodo_tracer_unregister(&mine);
 *
 * The functions that can be traced are those of objects that are compiled and
 * linked with the options that `pkg-config --cflags --libs hodo-functions`
 * prints (CMake: Hodo::functions), or built with clang's -fxray-instrument, -finstrument-functions,
 * -fpatchable-function-entry or -pg. `hodo list FILE` lists them.
 *
 * Link with libhodo (pkg-config hodo, CMake Hodo::hodo). HODO_ONLY_IN and
 * hodo_thread_role need no library: without it, they do nothing.
 */
#ifndef HODO_TRACER_H
#define HODO_TRACER_H

#pragma GCC system_header

#include <hodo/abi.h>
#ifndef HODO_BUILDING_LIBHODO
#include <hodo/roles.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HODO_CALL_LEFT 1u    /* exit: left by longjmp, an exception or the like; noticed later */
#define HODO_CALL_NO_EXIT 2u /* enter: its exit cannot be seen; exit is called with LEFT at some later time */

/* A call of a traced function. Valid while the tracer is called. New members are added at the end. */
struct hodo_call {
	uint32_t size;        /* bytes that libhodo filled */
	uint32_t flags;       /* HODO_CALL_* */
	const void *function; /* address of its first instruction; see hodo_function_name() */
	const void *frame;    /* address of its return address (or inside the frame, see docs): different for all calls
			       * that exist at the same time */
	uint32_t depth;       /* the number of traced functions around this one, in this thread */
	uint32_t reserved;
	uint64_t entry_ticks; /* time of entry, see hodo_ticks_ns() */
	uint64_t now_ticks;   /* exit: time of exit, or when found to be left; enter: same as entry_ticks */
	uint64_t self_ticks;  /* exit: the part of the time outside traced functions that it called */
};

struct hodo_tracer {
	size_t size;      /* sizeof(struct hodo_tracer) */
	const char *name; /* for messages; NULL: none */
	/*
	 * Called in the thread that enters or leaves the function. Several threads may be inside at once, and
	 * a signal handler may run in between. exit is called at every exit for which enter was called, in
	 * reverse order of registration. Either may be NULL. Functions that they call are not traced. They
	 * may do what a signal handler may do, must not throw or longjmp out, and find all of the thread's
	 * state as the program left it except errno, which they must preserve.
	 */
	void (*enter)(struct hodo_tracer *tracer, const struct hodo_call *call);
	void (*exit)(struct hodo_tracer *tracer, const struct hodo_call *call);
	void *data; /* the tracer's own */
	/*
	 * Which functions: patterns separated by commas; NULL or "" means all. "kv_*" and "ns::cls::*" are
	 * globs for names (in C++: with namespaces and classes, without template arguments and parameters);
	 * "0x1000-0x2000" is a range of addresses, without its end; "!" before a pattern excludes what it
	 * matches. If all patterns exclude, all other functions are traced. The string is copied.
	 */
	const char *functions;
	void *reserved[4]; /* for libhodo: zero before registration; do not touch until unregistered */
};

/*
 * Register a tracer: from now on it is called, after those that were registered before
 * it. The struct belongs to the caller, and must not change or disappear until it is
 * unregistered. Any number of tracers may be registered at once, with at most 63 different strings
 * in `functions`.
 *
 * Returns 0, or -EINVAL (no enter and no exit, a bad pattern, or an unknown size), -EEXIST if it is already
 * registered, -ENOSPC, -EDEADLK from inside a tracer, -ENOSYS if libhodo-func.so, which the first call loads,
 * is not next to libhodo.so, or another negative errno if code could not be patched. Thread safe. Do not call
 * it in signal handlers, nor in callbacks of dl_iterate_phdr(), which hold a lock of the loader.
 */
int hodo_tracer_register(struct hodo_tracer *tracer);

/*
 * Unregister a tracer. When this returns, the tracer is not running in any thread
 * and will not run again. Returns 0, -ENOENT if it is not registered, -EDEADLK from inside
 * a tracer. Thread safe; not for signal handlers.
 */
int hodo_tracer_unregister(struct hodo_tracer *tracer);

/*
 * Write the name of the function that contains the address, according to its object's symbol table
 * (C++: mangled), to name, cut to bytes and terminated. Returns its full length, or -ENOENT if it has none
 * (name is then ""), or -EINVAL, or -ENOSYS without libhodo-func.so, which the first
 * call of these functions loads. Reads the object's file at the first call for it. Thread safe; not for signal
 * handlers; a tracer may call it.
 */
int hodo_function_name(const void *address, char *name, size_t bytes);

/* Converts ticks of struct hodo_call to nanoseconds, accurate to about 1 part in 10,000. Safe in signal
 * handlers. */
uint64_t hodo_ticks_ns(uint64_t ticks);

#ifdef __cplusplus
}
#endif
#endif
