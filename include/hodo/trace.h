/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace.h - one line for each event.
 *
 *	#include <hodo/trace.h>
 *
 *	HODO_EVENT(kv, put, key, shard, HODO_F(bytes, len));
 *
 * It needs nothing else: no library at link time, no generated file. A program
 * with these lines also runs, unchanged, where Hodoscope is not installed. A
 * disabled line is one 5-byte instruction that does nothing; its arguments are
 * evaluated, once each, only when the event is enabled.
 *
 * C11, and C++17, C++20 or C++23, with GNU extensions, GCC >= 9 or Clang >= 11, 64-bit Linux. The same lines work in
 * kernel modules (C, Linux >= 6.1), but without floats: docs/kernel-instrumentation.md.
 * Define before including:
 *	HODO_DISABLE		everything compiles to nothing
 *	HODO_STATIC_KEYS=0	test a byte instead of patching the instruction
 *				(the only way on machines other than x86-64)
 *	HODO_SDT=1		each line is also a static probe (USDT) for perf, bpftrace and gdb:
 *				PROVIDER:NAME, with NAME__begin and NAME__end where a span begins and ends
 *				(HODO_SPAN: begins). This costs one more nop, and arguments are always
 *				evaluated, once each. The probe has the first 12 arguments; HODO_STR,
 *				HODO_BYTES and HODO_ARRAY are addresses
 *
 * Signal and thread safety: every macro that records may run anywhere in any thread: signal handlers, constructors,
 * destructors, atexit handlers, after vfork(). It never blocks, allocates or changes errno, and may lose the event
 * (counted).
 *
 * What you can record, 0 to 16 values in an event:
 *	integers of 8 to 64 bits, bool, char, enum, float, double
 *	pointers (the address)
 *	char * and const char *: the string up to its NUL, at most 65,535 bytes; NULL is kept as NULL
 *	HODO_STR(p, n)		a string of at most n bytes, or up to a NUL
 *	HODO_BYTES(p, n)	n bytes
 *	HODO_ARRAY(p, n)	n integers, floats or bools at p
 *	HODO_F(name, expr)	any of these under a name that you choose
 * In C++ also what docs/cxx.md lists, without another header: std::string and its like, paths, durations and time
 * points (with their unit in the field's name), std::optional, arrays, vectors and spans of numbers, char[N] (at most N
 * bytes), std::atomic, error codes, smart pointers (the address), long double (as double), 128-bit integers (two of
 * 64 bits), enum class with the names of its enumerators, and
 *	HODO_VALUE(type, name, expression)	at global scope: what is recorded of a type of your own
 * In C++17, a value cannot contain a lambda expression: put it in a variable first. In C++20 it can.
 * Anything else is an error at compile time. Cast a char * that does not point to a
 * string (for example to print with %p) to void *. An event that is longer than a
 * packet of the recording, or a string that is too long, is refused and counted.
 */
#ifndef HODO_TRACE_H
#define HODO_TRACE_H

#pragma GCC system_header

#if defined(__cplusplus) && __cplusplus < 201703L && !defined(HODO_DISABLE)
#error "hodo: <hodo/trace.h> needs C++17: compile with -std=c++17 or later, or define HODO_DISABLE to leave tracing out"
#define HODO_DISABLE /* so that this is all there is to read */
#endif

#include <hodo/abi.h>
#ifndef __KERNEL__
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C++" { /* in case this is included inside extern "C" */
#include <type_traits>
}
#endif

#if !defined(HODO_DISABLE) && (!defined(__GNUC__) || __SIZEOF_POINTER__ != 8)
#error "hodo: <hodo/trace.h> needs GCC or Clang and a 64-bit machine; define HODO_DISABLE to leave tracing out"
#endif

/* Hodoscope's own functions: they are not part of the program, and get no slots for tracers. Functions that
 * they call by pointer are in libhodo, which Clang's control-flow integrity does not know. */
#if defined(__clang__) && __clang_major__ >= 16
#define HODO_OWN_                                                                                          \
	__attribute__((no_instrument_function, patchable_function_entry(0, 0), xray_never_instrument, \
		       no_sanitize("cfi-icall", "kcfi")))
#elif defined(__clang__)
#define HODO_OWN_                                                                                          \
	__attribute__((no_instrument_function, patchable_function_entry(0, 0), xray_never_instrument, \
		       no_sanitize("cfi-icall")))
#else
#define HODO_OWN_ __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#endif

/* In a C++ module "struct hodo_state" would declare another one. */
#ifdef __cplusplus
#define HODO_STRUCT_
#else
#define HODO_STRUCT_ struct
#endif

#ifdef __KERNEL__
#include <hodo/trace_kernel.h>
#else
#include <hodo/trace_user.h>
#endif

/* ------------------------------------------------------------ public macros */

/* HODO_EVENT(provider, name, values…): a statement; records one event. provider and name are identifiers. */
#define HODO_EVENT(provider, name, ...) \
	HODO_NONE_(0, ##__VA_ARGS__)    \
	HODO_NOTED_SITE_(#provider, #name, HODO_KIND_EVENT, #provider "\0" #name "\0" #__VA_ARGS__ "\0\0", __VA_ARGS__)

/* HODO_MARK(provider, name, "format", values…): like HODO_EVENT with a printf format, which the compiler
 * checks like printf's. The values are stored; the text is formatted when the trace is read. Use HODO_STR(p,
 * n) with %s; '*' as a width or precision is refused (it would have to trust an unterminated string). */
#define HODO_MARK(provider, name, format, ...)                                                            \
	do {                                                                                              \
		HODO_NONE_(0, ##__VA_ARGS__)                                                              \
		HODO_CHECK_FORMAT_(format, __VA_ARGS__);                                                \
		HODO_NOTED_SITE_(#provider, #name, HODO_KIND_MARK,                                        \
				 #provider "\0" #name "\0" #__VA_ARGS__ "\0" format "\0", __VA_ARGS__);  \
	} while (0)

/* HODO_COUNTER(provider, name, n): a number over time, recorded as the field "value". */
#define HODO_COUNTER(provider, name, n)                                                                    \
	do {                                                                                               \
		HODO_CHECK_COUNTER_(n);                                                                    \
		HODO_NOTED_SITE_(#provider, #name, HODO_KIND_COUNTER, #provider "\0" #name "\0value\0\0", n); \
	} while (0)

/* HODO_BEGIN(provider, name, id, values…) and HODO_END(provider, name, id, values…): a span that can begin
 * and end anywhere, even in different threads; paired by id, the first value. Recorded as
 * provider:name.begin and provider:name.end. */
#define HODO_BEGIN(provider, name, ...) \
	HODO_NOTED_SITE_(#provider, #name "__begin", HODO_KIND_BEGIN, \
			 #provider "\0" #name "\0" #__VA_ARGS__ "\0\0", __VA_ARGS__)
#define HODO_END(provider, name, ...) \
	HODO_NOTED_SITE_(#provider, #name "__end", HODO_KIND_END, \
			 #provider "\0" #name "\0" #__VA_ARGS__ "\0\0", __VA_ARGS__)

/* HODO_SPAN(provider, name, values…): a declaration; a span from here to the end of the enclosing scope,
 * however it is left, except by longjmp. Recorded as provider:name.begin (with the values) and
 * provider:name.end; the end is recorded if the start was tried and the event is enabled at the end. */
#define HODO_SPAN(provider, name, ...) \
	HODO_NONE_(0, ##__VA_ARGS__)   \
	HODO_SPAN_I_(__COUNTER__, #provider, #name "__begin", #provider "\0" #name "\0", #__VA_ARGS__, __VA_ARGS__)

/* HODO_LABELS(provider, field, ENUMERATOR…): a statement inside any function, which generates no code; the
 * values of the integer or enum field of that name in the provider's events are shown with these names. */
#define HODO_LABELS(provider, field, ...) \
	HODO_LABELS_I_(#provider "\0" #field "\0" #__VA_ARGS__ "\0\0", __VA_ARGS__)

/*
 * HODO_TRACEPOINT(provider, name, (type, param)…): at file scope, in any header or source file; declares
 *
 *	void trace_PROVIDER_NAME(type param, …)
 *		The event: recorded when enabled, then passed to the probes.
 *	bool trace_PROVIDER_NAME_enabled(void)
 *		Whether anything listens (one patched instruction): to guard expensive preparation.
 *	int register_trace_PROVIDER_NAME(void (*probe)(void *data, type param, …), void *data)
 *		Calls the probe at every place of the tracepoint, in order of registration, in the
 *		thread and context of the caller, including signal handlers. The probe must return (no
 *		longjmp, exception or thread cancellation out of it). Returns 0, -EEXIST for the same probe
 *		and data twice, -ENOSPC for more than 64 probes, -ENOSYS if libhodo is not loaded, -EINVAL if
 *		the tracepoint was refused because an earlier definition differs, or because libhodo
 *		has another version of the ABI than this header.
 *	int unregister_trace_PROVIDER_NAME(probe, data)
 *		When it returns, the probe is not running and will not run. Returns 0, -ENOENT, -ENOSYS, or
 *		-EDEADLK when called from inside a probe.
 *
 * You may call register and unregister in any thread at any time, but not in signal handlers.
 */
#define HODO_TRACEPOINT(provider, name, ...) \
	HODO_NONE_(0, ##__VA_ARGS__)         \
	HODO_TRACEPOINT_I_(provider, name, provider##_##name, HODO_IS_EMPTY_(__VA_ARGS__), __VA_ARGS__)

/* Names a value. */
#define HODO_F(name, expr) ((void)"" #name, (expr))

/* ------------------------------------------------------ strings, bytes, arrays */

struct hodo_str_ {
	const char *data;
	size_t n;
};
struct hodo_bytes_ {
	const void *data;
	size_t n;
};

#ifdef __cplusplus
extern "C++" {
/*
 * What is recorded of a type that hodo/trace.h does not know: HODO_VALUE(type, name, expression) at global scope, or
 * for a template
 *	template <class T> struct hodo_value<Box<T>> { static const T &of(const Box<T> &box) { return box.item; } };
 */
template <class T> struct hodo_value;
}
#endif

/* ------------------------------------------------------------ macro machinery */

#define HODO_CALL_(m, ...) m(__VA_ARGS__)
#define HODO_PASTE_(a, b) HODO_PASTE_I_(a, b)
#define HODO_PASTE_I_(a, b) a##b
/* How many arguments, 0 to 16. None is distinguished from one as in Jens Gustedt's test for emptiness,
 * because the comma-swallowing extension does not work with -std=c11 or -std=c++17. */
#define HODO_N_(...) HODO_PASTE_(HODO_N_EMPTY_, HODO_IS_EMPTY_(__VA_ARGS__))(__VA_ARGS__)
#define HODO_N_EMPTY_1(...) 0
/* Up to 32, so that a few too many give a clear message. */
#define HODO_N_EMPTY_0(...) \
		  HODO_N_I_(__VA_ARGS__, _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, \
		  _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, \
		  _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, \
		  _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, \
		  _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, \
		  _MORE_THAN_16_VALUES, _MORE_THAN_16_VALUES, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, \
		  5, 4, 3, 2, 1, 0)
#define HODO_N_I_( \
		  a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
		  a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, count, ...) count
#define HODO_HAS_COMMA_(...) \
		  HODO_N_I_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
		  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define HODO_TRIGGER_(...) ,
#define HODO_IS_EMPTY_(...)                                                                         \
	HODO_IS_EMPTY_I_(HODO_HAS_COMMA_(__VA_ARGS__), HODO_HAS_COMMA_(HODO_TRIGGER_ __VA_ARGS__), \
			 HODO_HAS_COMMA_(__VA_ARGS__()), HODO_HAS_COMMA_(HODO_TRIGGER_ __VA_ARGS__()))
#define HODO_IS_EMPTY_I_(a, b, c, d) HODO_IS_EMPTY_II_(a, b, c, d)
#define HODO_IS_EMPTY_II_(a, b, c, d) HODO_HAS_COMMA_(HODO_EMPTY_##a##b##c##d)
#define HODO_EMPTY_0001 ,

/* Goes before the rest of a macro with values: otherwise Clang's -Wpedantic complains when there are none. */
#define HODO_NONE_(...)
#define HODO_COMMA_(i, a) , (a)

/* HODO_EACH_(m, x, y…) is m(0, x) m(1, y) …; HODO_LIST_ is m(x), m(y), …, separated by commas. */
#define HODO_EACH_(m, ...) HODO_PASTE_(HODO_PASTE_(HODO_E, HODO_N_(__VA_ARGS__)), _)(m, __VA_ARGS__)
#define HODO_LIST_(m, ...) HODO_PASTE_(HODO_PASTE_(HODO_C, HODO_N_(__VA_ARGS__)), _)(m, __VA_ARGS__)
#define HODO_E_MORE_THAN_16_VALUES_(m, ...) hodo_an_event_has_at_most_16_values;
#define HODO_C_MORE_THAN_16_VALUES_(m, ...) hodo_an_event_has_at_most_16_values
#define HODO_E0_(m, ...)
#define HODO_E1_(m,a0) m(0,a0)
#define HODO_E2_(m,a0,a1) HODO_E1_(m,a0) m(1,a1)
#define HODO_E3_(m,a0,a1,a2) HODO_E2_(m,a0,a1) m(2,a2)
#define HODO_E4_(m,a0,a1,a2,a3) HODO_E3_(m,a0,a1,a2) m(3,a3)
#define HODO_E5_(m,a0,a1,a2,a3,a4) HODO_E4_(m,a0,a1,a2,a3) m(4,a4)
#define HODO_E6_(m,a0,a1,a2,a3,a4,a5) HODO_E5_(m,a0,a1,a2,a3,a4) m(5,a5)
#define HODO_E7_(m,a0,a1,a2,a3,a4,a5,a6) HODO_E6_(m,a0,a1,a2,a3,a4,a5) m(6,a6)
#define HODO_E8_(m,a0,a1,a2,a3,a4,a5,a6,a7) HODO_E7_(m,a0,a1,a2,a3,a4,a5,a6) m(7,a7)
#define HODO_E9_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8) HODO_E8_(m,a0,a1,a2,a3,a4,a5,a6,a7) m(8,a8)
#define HODO_E10_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9) HODO_E9_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8) m(9,a9)
#define HODO_E11_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10) HODO_E10_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9) m(10,a10)
#define HODO_E12_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11) HODO_E11_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10) m(11,a11)
#define HODO_E13_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12) HODO_E12_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11) m(12,a12)
#define HODO_E14_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13) HODO_E13_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12) m(13,a13)
#define HODO_E15_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14) HODO_E14_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13) m(14,a14)
#define HODO_E16_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15) HODO_E15_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14) m(15,a15)
#define HODO_C0_(m, ...)
#define HODO_C1_(m,a0) m(a0)
#define HODO_C2_(m,a0,a1) HODO_C1_(m,a0), m(a1)
#define HODO_C3_(m,a0,a1,a2) HODO_C2_(m,a0,a1), m(a2)
#define HODO_C4_(m,a0,a1,a2,a3) HODO_C3_(m,a0,a1,a2), m(a3)
#define HODO_C5_(m,a0,a1,a2,a3,a4) HODO_C4_(m,a0,a1,a2,a3), m(a4)
#define HODO_C6_(m,a0,a1,a2,a3,a4,a5) HODO_C5_(m,a0,a1,a2,a3,a4), m(a5)
#define HODO_C7_(m,a0,a1,a2,a3,a4,a5,a6) HODO_C6_(m,a0,a1,a2,a3,a4,a5), m(a6)
#define HODO_C8_(m,a0,a1,a2,a3,a4,a5,a6,a7) HODO_C7_(m,a0,a1,a2,a3,a4,a5,a6), m(a7)
#define HODO_C9_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8) HODO_C8_(m,a0,a1,a2,a3,a4,a5,a6,a7), m(a8)
#define HODO_C10_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9) HODO_C9_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8), m(a9)
#define HODO_C11_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10) HODO_C10_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9), m(a10)
#define HODO_C12_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11) HODO_C11_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10), m(a11)
#define HODO_C13_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12) HODO_C12_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11), m(a12)
#define HODO_C14_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13) HODO_C13_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12), m(a13)
#define HODO_C15_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14) HODO_C14_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13), m(a14)
#define HODO_C16_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15) HODO_C15_(m,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14), m(a15)

#ifdef __cplusplus
#define HODO_NEEDS_SEMICOLON_ static_assert(1, "")
#else
#define HODO_NEEDS_SEMICOLON_ _Static_assert(1, "")
#endif

#ifdef __cplusplus
#define HODO_CANNOT_                                                                                                 \
	"hodo: a value of this type cannot be recorded: pass a scalar, a text, HODO_BYTES(p, n) or HODO_ARRAY(p, n)," \
	" or say once with HODO_VALUE(type, name, expression) what to record of it"
#else
#define HODO_CANNOT_ \
	"hodo: a value of this type cannot be recorded: pass a scalar, a text, or HODO_BYTES(p, n), HODO_ARRAY(p, n)"
#endif
#define HODO_COUNTS_ "hodo: a counter is one number: record a value of this type with HODO_EVENT"
#define HODO_STAR_ "hodo: '*' is not possible in a mark's format: use HODO_STR(p, n) with %s"

#ifdef HODO_DISABLE

#ifdef __cplusplus
extern "C++" {
template <class A> inline HODO_OWN_ __attribute__((always_inline)) void hodo_nothing_(const A &) {}
}
#define HODO_NOTHING_(i, a) hodo_nothing_(a);
#define HODO_VALUE(type_, name_, ...) HODO_NEEDS_SEMICOLON_
#define HODO_ENUM_RANGE(type_, least_, greatest_) HODO_NEEDS_SEMICOLON_
#else
#define HODO_NOTHING_(i, a) (void)(a);
#endif
#define HODO_SITE_(kind, text, ...)                              \
	do {                                                     \
		if (0) {                                         \
			HODO_EACH_(HODO_NOTHING_, __VA_ARGS__)   \
		}                                                \
	} while (0)
#define HODO_SPAN_I_(n, provider, name, text, args, ...) HODO_SITE_(0, text, __VA_ARGS__)
#define HODO_LABELS_I_(text, ...) ((void)0)
#define HODO_CHECK_FORMAT_(format, ...) ((void)0)
#define HODO_CHECK_COUNTER_(n) ((void)0)
#define HODO_STR(p, n) ((struct hodo_str_){ (p), (size_t)(n) })
#define HODO_BYTES(p, n) ((struct hodo_bytes_){ (p), (size_t)(n) })
#define HODO_ARRAY(p, n) ((struct hodo_bytes_){ (p), (size_t)(n) })
#define HODO_TRACEPOINT_I_(provider, name, id, empty, ...)                                                       \
	static inline __attribute__((unused)) HODO_OWN_ void trace_##id(HODO_TP_PARAMS_(empty, __VA_ARGS__)) \
	{                                                                                                    \
		HODO_EACH_(HODO_TP_UNUSED_, __VA_ARGS__)                                                   \
	}                                                                                                    \
	static inline __attribute__((unused)) HODO_OWN_ bool trace_##id##_enabled(void) { return false; }              \
	static inline __attribute__((unused)) HODO_OWN_ int register_trace_##id(                                       \
		void (*probe)(HODO_TP_PROBE_(empty, __VA_ARGS__)), void *data)                                 \
	{                                                                                                    \
		(void)probe, (void)data;                                                                     \
		return -ENOSYS;                                                                              \
	}                                                                                                    \
	static inline __attribute__((unused)) HODO_OWN_ int unregister_trace_##id(                                     \
		void (*probe)(HODO_TP_PROBE_(empty, __VA_ARGS__)), void *data)                                 \
	{                                                                                                    \
		(void)probe, (void)data;                                                                     \
		return -ENOSYS;                                                                              \
	}                                                                                                    \
	HODO_NEEDS_SEMICOLON_

#else /* !HODO_DISABLE */

/* ------------------------------------------------------ building the payload */

/* Collects the pieces of an event with values of variable size; see struct hodo_piece. */
struct hodo_builder_ {
	struct hodo_piece *piece;
	const char *base; /* the fixed part */
	size_t start;     /* of the run that is not a piece yet */
	size_t total;     /* bytes of all variable parts */
	const void *data; /* the variable part being added */
	size_t len;
};

static inline HODO_OWN_ void hodo_builder_add_(struct hodo_builder_ *b, size_t end)
{
	b->piece[0].data = b->base + b->start;
	b->piece[0].len = end - b->start;
	b->piece[1].data = b->data;
	b->piece[1].len = b->len;
	b->piece += 2;
	b->start = end;
	b->total += b->len;
}

static inline HODO_OWN_ uint16_t hodo_take_text_(struct hodo_builder_ *b, const char *text, size_t len)
{
	if (!text) {
		text = HODO_NULL_TEXT;
		len = HODO_NULL_TEXT_LEN;
	}
	b->data = text;
	b->len = len;
	if (__builtin_expect(len > HODO_STR_MAX, 0))
		b->total = SIZE_MAX / 2;
	return (uint16_t)len;
}

static inline HODO_OWN_ uint16_t hodo_take_cstr_(struct hodo_builder_ *b, const char *text)
{
	HODO_CHECK_TEXT_(text)
	return hodo_take_text_(b, text, text ? __builtin_strlen(text) : 0);
}

static inline HODO_OWN_ uint16_t hodo_take_str_(struct hodo_builder_ *b, const struct hodo_str_ *s)
{
	HODO_CHECK_STR_(s)
	const void *nul = s->data && s->n ? __builtin_memchr(s->data, 0, s->n) : 0;

	return hodo_take_text_(b, s->data, nul ? (size_t)((const char *)nul - s->data) : s->n);
}

static inline HODO_OWN_ uint32_t hodo_take_bytes_(struct hodo_builder_ *b, const void *data, size_t n, size_t size)
{
	HODO_CHECK_DATA_(data)
	if (!data)
		n = 0;
	if (__builtin_expect(n > 0xffffffffu, 0)) {
		n = 0;
		b->total = SIZE_MAX / 2;
	}
	b->data = data;
	b->len = n * size;
	return (uint32_t)n;
}

#ifdef __cplusplus
extern "C++" {
#include <hodo/trace_cxx.h>
}
#else
#include <hodo/trace_c.h>
#endif

/* --------------------------------------------------------------- tracepoints */

/* What happens while it is on: the event, then the probes. */
#define HODO_TP_COLD_(id, empty, ...)                                                           \
	HODO_TP_EMIT_(id, __VA_ARGS__)                                                          \
	{                                                                                       \
		uint32_t hodo_token_;                                                           \
		const HODO_STRUCT_ hodo_probes *hodo_list_ =                                    \
			HODO_PROBE_ENTER_(&hodo_tp_state_##id, &hodo_token_);                   \
		if (hodo_list_) {                                                               \
			for (uint32_t hodo_i_ = 0; hodo_i_ < hodo_list_->n; hodo_i_++)          \
				((void (*)(HODO_TP_PROBE_(empty, __VA_ARGS__)))                 \
					 hodo_list_->probe[hodo_i_].func)(                      \
					hodo_list_->probe[hodo_i_].data HODO_EACH_(             \
						HODO_TP_COMMA_NAME_, __VA_ARGS__));             \
			HODO_PROBE_LEAVE_(&hodo_tp_state_##id, hodo_token_);                    \
		}                                                                               \
	}

#define HODO_TRACEPOINT_I_(provider, name, id, empty, ...)                                              \
	HODO_TP_DESC_(hodo_tp_desc_##id, #provider "\0" #name "\0" HODO_EACH_(HODO_TP_ARG_, __VA_ARGS__) \
		      "\0\0", __VA_ARGS__);                                                             \
	HODO_TP_STATE_(hodo_tp_state_##id, hodo_tp_desc_##id);                                          \
	HODO_TP_OUTLINE_(id, empty, __VA_ARGS__)                                                        \
	static inline __attribute__((unused)) HODO_OWN_ void trace_##id(HODO_TP_PARAMS_(empty, __VA_ARGS__)) \
	{                                                                                               \
		HODO_NOTED_PARAMS_(#provider, #name, HODO_LIST_(HODO_TP_NAME_, __VA_ARGS__))            \
		HODO_BRANCH_(&hodo_tp_state_##id, &hodo_tp_desc_##id, hodo_on_);                        \
		return;                                                                                 \
	hodo_on_:                                                                                       \
		HODO_TP_ON_(id, empty, __VA_ARGS__)                                                     \
	}                                                                                               \
	static inline __attribute__((unused)) HODO_OWN_ bool trace_##id##_enabled(void)                 \
	{                                                                                               \
		HODO_BRANCH_(&hodo_tp_state_##id, &hodo_tp_desc_##id, hodo_on_);                        \
		return false;                                                                           \
	hodo_on_:                                                                                       \
		return true;                                                                            \
	}                                                                                               \
	static inline __attribute__((unused)) HODO_OWN_ int register_trace_##id(                        \
		void (*probe)(HODO_TP_PROBE_(empty, __VA_ARGS__)), void *data)                          \
	{                                                                                               \
		return HODO_PROBE_REGISTER_(&hodo_tp_state_##id, (const HODO_STRUCT_ hodo_desc *)&hodo_tp_desc_##id, \
					     (void (*)(void))probe, data);                              \
	}                                                                                               \
	static inline __attribute__((unused)) HODO_OWN_ int unregister_trace_##id(                      \
		void (*probe)(HODO_TP_PROBE_(empty, __VA_ARGS__)), void *data)                          \
	{                                                                                               \
		return HODO_PROBE_UNREGISTER_(&hodo_tp_state_##id, (const HODO_STRUCT_ hodo_desc *)&hodo_tp_desc_##id, \
					     (void (*)(void))probe, data);                              \
	}                                                                                               \
	HODO_NEEDS_SEMICOLON_

#endif /* !HODO_DISABLE */

#define HODO_TP_TYPE_(pair) HODO_TP_TYPE_I_ pair
#define HODO_TP_TYPE_I_(type, name) type
#define HODO_TP_NAME_(pair) HODO_TP_NAME_I_ pair
#define HODO_TP_NAME_I_(type, name) name
#define HODO_TP_PARAM_(pair) HODO_TP_PARAM_I_ pair
#define HODO_TP_PARAM_I_(type, name) type name
#define HODO_TP_COMMA_NAME_(i, pair) , HODO_TP_NAME_(pair)
#define HODO_TP_COMMA_PARAM_(i, pair) , HODO_TP_PARAM_(pair)
#define HODO_TP_UNUSED_(i, pair) (void)HODO_TP_NAME_(pair);
#define HODO_TP_ARG_(i, pair) HODO_TP_STRING_(HODO_TP_NAME_(pair)) ","
#define HODO_TP_STRING_(x) HODO_TP_STRING_I_(x)
#define HODO_TP_STRING_I_(x) #x
#define HODO_TP_PROBE_(empty, ...) void *hodo_data_ HODO_EACH_(HODO_TP_COMMA_PARAM_, __VA_ARGS__)
#define HODO_TP_PARAMS_(empty, ...) HODO_PASTE_(HODO_TP_PARAMS_, empty)(__VA_ARGS__)
#define HODO_TP_PARAMS_1(...) void
#define HODO_TP_PARAMS_0(...) HODO_LIST_(HODO_TP_PARAM_, __VA_ARGS__)

/*
 * With HODO_SDT, HODO_NOTED_() evaluates the values, in order, once, and leaves a note of where they are;
 * HODO_VALUES_() stands for the evaluated values.
 */
#if defined(HODO_SDT) && HODO_SDT && !defined(HODO_DISABLE) && !defined(__KERNEL__)
#include <hodo/trace_noted.h>
#else
#define HODO_NOTED_(provider, name, ...)
#define HODO_NOTED_PARAMS_(provider, name, ...)
#define HODO_VALUES_(...) __VA_ARGS__
#define HODO_NOTED_SITE_(provider, name, kind, text, ...) HODO_SITE_(kind, text, __VA_ARGS__)
#endif

#ifndef __KERNEL__
#include <hodo/trace_context.h>
#endif

#endif
