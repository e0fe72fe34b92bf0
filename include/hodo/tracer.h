/* SPDX-License-Identifier: MIT */
/*
 * hodo/tracer.h - tracers of functions: called at the entry and exit of every
 * function that the compiler left room for, patched in and out at run time.
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
 * Which functions can be traced: those of objects compiled and linked with
 * what `pkg-config --cflags --libs hodo-functions` (CMake: Hodo::functions)
 * says, or built with clang's -fxray-instrument, -finstrument-functions,
 * -fpatchable-function-entry or -pg. `hodo list FILE` lists them.
 *
 * Link with libhodo (pkg-config hodo, CMake Hodo::hodo). HODO_ONLY_IN and
 * hodo_thread_role need no library: where there is none, they do nothing.
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

#define HODO_CALL_LEFT 1u    /* exit: left by longjmp, an exception or the like; noticed afterwards */
#define HODO_CALL_NO_EXIT 2u /* enter: the exit of this function cannot be seen; exit is called with LEFT, some time */

/* A call of a traced function. Valid while the tracer is called. Grows at the end. */
struct hodo_call {
	uint32_t size;        /* bytes that libhodo filled */
	uint32_t flags;       /* HODO_CALL_* */
	const void *function; /* address of its first instruction; see hodo_function_name() */
	const void *frame;    /* address of its return address (or inside the frame, see docs): different for all calls
			       * that last at one time */
	uint32_t depth;       /* how many traced functions this one was called inside of, in this thread */
	uint32_t reserved;
	uint64_t entry_ticks; /* time of entry, see hodo_ticks_ns() */
	uint64_t now_ticks;   /* exit: time of exit, or when it was found to be left; enter: as entry_ticks */
	uint64_t self_ticks;  /* exit: of them, outside traced functions that it called */
};

struct hodo_tracer {
	size_t size;      /* sizeof(struct hodo_tracer) */
	const char *name; /* for messages; NULL: none */
	/*
	 * Called in the thread that enters or leaves the function; several threads may be in at
	 * once, and a signal handler may run in between. At every exit for which there was a call
	 * of enter, in reverse order of registration. Either may be NULL. What they call themselves is not
	 * traced. They may do what a signal handler may, must not throw or longjmp out, and find all of the
	 * thread's state as the program left it but for errno, which they must keep.
	 */
	void (*enter)(struct hodo_tracer *tracer, const struct hodo_call *call);
	void (*exit)(struct hodo_tracer *tracer, const struct hodo_call *call);
	void *data; /* the tracer's own */
	/*
	 * Which functions: patterns separated by commas, NULL or "": all. "kv_*" and "ns::cls::*" are globs for
	 * names (of C++: with namespaces and classes, without template arguments and parameters);
	 * "0x1000-0x2000" is a range of addresses, its end excluded; "!" in front leaves out what the
	 * rest names. If there are only such, all others are taken. Copied.
	 */
	const char *functions;
	void *reserved[4]; /* libhodo's: zero before registration, not to be touched until unregistered */
};

/*
 * Register a tracer: from now on it is called, after those registered before
 * it. The struct stays the caller's and must not change or go until it is
 * unregistered. Any number of tracers may be registered at once, with at most 63 different texts
 * in `functions`.
 *
 * 0, or -EINVAL (no enter and no exit, a bad pattern, or a size unknown),
 * -EEXIST if it is registered already, -ENOSPC, -EDEADLK from inside a tracer, -ENOSYS if libhodo-func.so, which the
 * first call loads, is not beside libhodo.so, or another negative errno if code could not be patched. Thread safe; not
 * for signal handlers, nor for callbacks of dl_iterate_phdr(), which hold a lock of the loader's.
 */
int hodo_tracer_register(struct hodo_tracer *tracer);

/*
 * Unregister it. When this returns, the tracer is not running in any thread
 * and will not run again. 0, -ENOENT if it is not registered, -EDEADLK from inside
 * a tracer. Thread safe; not for signal handlers.
 */
int hodo_tracer_unregister(struct hodo_tracer *tracer);

/*
 * The name of the function that holds the address, as its object's symbol table
 * has it (C++ mangled), into name, cut to bytes and terminated. Returns its
 * full length, or -ENOENT if it has none ("" then), or -EINVAL, or -ENOSYS without libhodo-func.so, which the first
 * call of these functions loads. Reads the object's file at the first call for it. Thread safe; not for signal
 * handlers; may be called by a tracer.
 */
int hodo_function_name(const void *address, char *name, size_t bytes);

/* Ticks of struct hodo_call as nanoseconds, to about 1 part in 10,000. Safe in signal handlers. */
uint64_t hodo_ticks_ns(uint64_t ticks);

#ifdef __cplusplus
}
#endif
#endif
