/* SPDX-License-Identifier: MIT */
/*
 * sys/sdt.h - static probes (USDT) that Hodoscope records: takes the place of systemtap's header of that
 * name. The flags of `pkg-config --cflags hodo-sdt`, or CMake's Hodo::sdt, put it before that one. See
 * docs/howto/usdt.md.
 *
 * Each probe is what it is with the other header, a nop and a note, so that perf, bpftrace, gdb and systemtap
 * show and set it as before. It is also an event PROVIDER:NAME of hodo/trace.h with fields arg1, arg2, …,
 * whose types are those of the arguments: an integer with its size and sign, an enum, a float, a double, a
 * bool. A pointer is its address, and so is a char *. Any other value (a struct, long double, __int128) is
 * recorded as its bytes. An idle probe has one more instruction, which does nothing. Arguments are always
 * evaluated, once each.
 *
 *	STAP_PROBE(provider, name)			statements
 *	STAP_PROBE1(provider, name, a1) … STAP_PROBE12(provider, name, a1, …, a12)
 *	STAP_PROBEV(provider, name, …)			0 to 12 arguments; if SDT_USE_VARIADIC is defined before
 *	DTRACE_PROBE, DTRACE_PROBE1 … DTRACE_PROBE12	the same by another name
 *	STAP_PROBE_ASM(provider, name, operands)	in asm statements: the text of a nop and its note
 *	STAP_PROBE_ASM_TEMPLATE(n)			… for its operands: those of the next line
 *	STAP_PROBE_ASM_OPERANDS(n, a1, …, an)		… among the inputs of an asm
 *
 * Define before including:
 *	_SDT_HAS_SEMAPHORES	each probe has a semaphore, the program's unsigned short PROVIDER_NAME_semaphore
 *				(as dtrace -h and -G make it, in section ".probes"): a tool counts it up while it
 *				listens, and so does libhodo while the event is on. With -fPIC it is a hidden symbol
 *				of its library
 *	HODO_SDT_FOREIGN	semaphores belong to another library: libhodo does not count them, and they stay
 *				as they are
 *	SDT_USE_VARIADIC	STAP_PROBEV
 *	STAP_SDT_ARG_CONSTRAINT	where an argument may be, as in asm but without quotes; default: nor
 *	HODO_DISABLE		only notes
 *
 * There are also only notes, and no events, in assembly files and with STAP_PROBE_ASM, which have no types;
 * in C before C99 and C++ before C++17; and in anything that is not 64-bit. A name may have different
 * arguments in different places: each definition is an event of that name.
 */
#ifndef _SYS_SDT_H
#define _SYS_SDT_H 1

#ifdef __ASSEMBLER__
#include <hodo/sdt/assembly.h>
#else

#pragma GCC system_header

#include <hodo/trace_sdt.h>

#if defined(HODO_DISABLE) || __SIZEOF_POINTER__ != 8 || \
	(defined(__cplusplus) ? __cplusplus < 201703L : !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#define HODO_SDT_EVENTS_ 0
#else
#define HODO_SDT_EVENTS_ 1
#include <hodo/trace.h>
#include <hodo/trace_noted.h>
#endif

/* --------------------------------------------------------------- semaphores */

#ifdef _SDT_HAS_SEMAPHORES
#define HODO_SDT_SEMAPHORE_(provider, name) HODO_SDT_STRING_(provider##_##name##_semaphore)
/* Keeps it even if the compiler sees no other use. */
#define HODO_SDT_KEEP_(provider, name) __asm__ __volatile__("" : : "m"(provider##_##name##_semaphore));
#ifdef HODO_SDT_FOREIGN
#define HODO_SDT_RAISE_(provider, name)
#else
/* In a library, our record cannot have a distance to a symbol that another object could replace. */
#if defined(__PIC__) && !defined(__PIE__)
#define HODO_SDT_HIDE_(symbol) ".hidden " symbol "\n"
#else
#define HODO_SDT_HIDE_(symbol)
#endif
#define HODO_SDT_RAISE_(provider, name) HODO_CALL_(HODO_SDT_RAISE_I_, HODO_SDT_SEMAPHORE_(provider, name), HODO_HERE_);
#define HODO_SDT_RAISE_I_(symbol, state, desc)                                                      \
	__asm__ __volatile__(".Lhodo_%=:\n" HODO_SDT_HIDE_(symbol)                                  \
			     HODO_RECORD_("0", symbol "-.", HODO_NAME_(0) "-.", HODO_NAME_(1) "-.") \
			     :                                                                      \
			     : "i"(state), "i"(desc))
#endif
#else
#define HODO_SDT_SEMAPHORE_(provider, name) "0"
#define HODO_SDT_KEEP_(provider, name)
#define HODO_SDT_RAISE_(provider, name)
#endif

/* -------------------------------------------------------------------- probes */

#if HODO_SDT_EVENTS_

/* What is recorded of a held value. */
#ifdef __cplusplus
extern "C++" {
namespace hodo_detail_
{
inline HODO_OWN_ __attribute__((always_inline)) const void *plain_(const char *v) { return v; }
template <class T> inline HODO_OWN_ __attribute__((always_inline)) auto plain_(const T &v)
{
	if constexpr (std::is_convertible<T, const char *>::value && std::is_pointer<T>::value)
		return (const void *)v;
	else if constexpr (scalar_<T>() == HODO_TYPE_NONE)
		return bytes_of_(&v, sizeof(v));
	else
		return v;
}
}
}
#define HODO_SDT_PLAIN_(v) hodo_detail_::plain_(v)
#define HODO_SDT_HOLD_(i, a) const auto hodo_h##i##_ = ((void)0, a);
#define HODO_SDT_PICK_(i, a) hodo_h##i##_
#else
#define HODO_SDT_HOLD_ HODO_HOLD_VALUE_
#define HODO_SDT_PLAIN_(v)                                                                                  \
	__builtin_choose_expr(HODO_TYPE_(v) == HODO_TYPE_NONE, HODO_BYTES(&(v), sizeof(v)),                 \
			      _Generic((v), char *: *(const void *const *)(const void *)&(v),               \
				       const char *: *(const void *const *)(const void *)&(v), default: (v)))
/* A constant stays a constant even without the optimizer. */
#define HODO_SDT_PICK_(i, a) __builtin_choose_expr(__builtin_constant_p(a), a, hodo_h##i##_)
#endif

#define HODO_SDT_PROBE_(provider, name, n, args) HODO_SDT_PROBE_I_(provider, name, n, HODO_SDT_LIST_ args)
#define HODO_SDT_LIST_(...) __VA_ARGS__
#define HODO_SDT_PROBE_I_(provider, name, n, ...)                                                                 \
	do {                                                                                                      \
		HODO_SDT_KEEP_(provider, name)                                                                    \
		HODO_EACH_(HODO_SDT_HOLD_, __VA_ARGS__)                                                           \
		HODO_SDT_ASM_(HODO_SDT_NOTE_(#provider, #name, HODO_SDT_SEMAPHORE_(provider, name),               \
					     HODO_SDT_ARGS_##n##_)                                                \
			      :                                                                                   \
			      : HODO_CALL_(HODO_SDT_OPERANDS_##n##_, HODO_SDT_PICKS_##n##_(__VA_ARGS__)));        \
		HODO_SITE_WITH_(HODO_SDT_RAISE_(provider, name), HODO_KIND_EVENT | HODO_DESC_DIFFERS << 8,        \
				#provider "\0" #name "\0" HODO_SDT_NAMES_##n##_ "\0\0",                           \
				HODO_LIST_(HODO_SDT_PLAIN_, HODO_HELD_##n##_));                                   \
	} while (0)

#define HODO_SDT_PICKS_0_(...)
#define HODO_SDT_PICKS_1_(a1) HODO_SDT_PICK_(0, a1)
#define HODO_SDT_PICKS_2_(a1, a2) \
	HODO_SDT_PICKS_1_(a1), HODO_SDT_PICK_(1, a2)
#define HODO_SDT_PICKS_3_(a1, a2, a3) \
	HODO_SDT_PICKS_2_(a1, a2), HODO_SDT_PICK_(2, a3)
#define HODO_SDT_PICKS_4_(a1, a2, a3, a4) \
	HODO_SDT_PICKS_3_(a1, a2, a3), HODO_SDT_PICK_(3, a4)
#define HODO_SDT_PICKS_5_(a1, a2, a3, a4, a5) \
	HODO_SDT_PICKS_4_(a1, a2, a3, a4), HODO_SDT_PICK_(4, a5)
#define HODO_SDT_PICKS_6_(a1, a2, a3, a4, a5, a6) \
	HODO_SDT_PICKS_5_(a1, a2, a3, a4, a5), HODO_SDT_PICK_(5, a6)
#define HODO_SDT_PICKS_7_(a1, a2, a3, a4, a5, a6, a7) \
	HODO_SDT_PICKS_6_(a1, a2, a3, a4, a5, a6), HODO_SDT_PICK_(6, a7)
#define HODO_SDT_PICKS_8_(a1, a2, a3, a4, a5, a6, a7, a8) \
	HODO_SDT_PICKS_7_(a1, a2, a3, a4, a5, a6, a7), HODO_SDT_PICK_(7, a8)
#define HODO_SDT_PICKS_9_(a1, a2, a3, a4, a5, a6, a7, a8, a9) \
	HODO_SDT_PICKS_8_(a1, a2, a3, a4, a5, a6, a7, a8), HODO_SDT_PICK_(8, a9)
#define HODO_SDT_PICKS_10_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
	HODO_SDT_PICKS_9_(a1, a2, a3, a4, a5, a6, a7, a8, a9), HODO_SDT_PICK_(9, a10)
#define HODO_SDT_PICKS_11_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
	HODO_SDT_PICKS_10_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10), HODO_SDT_PICK_(10, a11)
#define HODO_SDT_PICKS_12_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
	HODO_SDT_PICKS_11_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11), HODO_SDT_PICK_(11, a12)
#define HODO_SDT_NAMES_0_ ""
#define HODO_SDT_NAMES_1_ "arg1"
#define HODO_SDT_NAMES_2_ HODO_SDT_NAMES_1_ ",arg2"
#define HODO_SDT_NAMES_3_ HODO_SDT_NAMES_2_ ",arg3"
#define HODO_SDT_NAMES_4_ HODO_SDT_NAMES_3_ ",arg4"
#define HODO_SDT_NAMES_5_ HODO_SDT_NAMES_4_ ",arg5"
#define HODO_SDT_NAMES_6_ HODO_SDT_NAMES_5_ ",arg6"
#define HODO_SDT_NAMES_7_ HODO_SDT_NAMES_6_ ",arg7"
#define HODO_SDT_NAMES_8_ HODO_SDT_NAMES_7_ ",arg8"
#define HODO_SDT_NAMES_9_ HODO_SDT_NAMES_8_ ",arg9"
#define HODO_SDT_NAMES_10_ HODO_SDT_NAMES_9_ ",arg10"
#define HODO_SDT_NAMES_11_ HODO_SDT_NAMES_10_ ",arg11"
#define HODO_SDT_NAMES_12_ HODO_SDT_NAMES_11_ ",arg12"

#else

#define HODO_SDT_PROBE_(provider, name, n, args)                                                         \
	do {                                                                                             \
		HODO_SDT_KEEP_(provider, name)                                                           \
		HODO_SDT_ASM_(HODO_SDT_NOTE_(#provider, #name, HODO_SDT_SEMAPHORE_(provider, name),      \
					     HODO_SDT_ARGS_##n##_)                                       \
			      :                                                                          \
			      : HODO_SDT_OPERANDS_##n##_ args);                                          \
	} while (0)

#endif

/* ------------------------------------------------------------- in asm statements */

#define STAP_PROBE_ASM_TEMPLATE(n) HODO_SDT_ARGS_##n##_, ~
#define STAP_PROBE_ASM_OPERANDS(n, ...) HODO_SDT_OPERANDS_##n##_(__VA_ARGS__)
/* STAP_PROBE_ASM_TEMPLATE expands to two arguments; no argument means the text of no operands. */
#define STAP_PROBE_ASM(provider, name, ...) HODO_SDT_IN_ASM_(provider, name, __VA_ARGS__)
#define HODO_SDT_IN_ASM_(provider, name, ...) \
	HODO_SDT_IN_ASM_I_(__VA_ARGS__, TEMPLATE, OPERANDS, ~)(provider, name, __VA_ARGS__)
#define HODO_SDT_IN_ASM_I_(a, b, which, ...) HODO_SDT_IN_ASM_II_(which)
#define HODO_SDT_IN_ASM_II_(which) HODO_SDT_IN_ASM_##which##_
#define HODO_SDT_IN_ASM_TEMPLATE_(provider, name, args, ...) \
	HODO_SDT_NOTE_(#provider, #name, HODO_SDT_SEMAPHORE_(provider, name), args)
#define HODO_SDT_IN_ASM_OPERANDS_(provider, name, ...)                       \
	HODO_SDT_NOTE_(#provider, #name, HODO_SDT_SEMAPHORE_(provider, name), \
		       ".ascii \"" HODO_SDT_STRING_(__VA_ARGS__) "\"\n")

#endif /* !__ASSEMBLER__ */

/* -------------------------------------------------------------- public macros */

#define STAP_PROBE(provider, name) HODO_SDT_PROBE_(provider, name, 0, ())
#define STAP_PROBE1(provider, name, a1) HODO_SDT_PROBE_(provider, name, 1, (a1))
#define STAP_PROBE2(provider, name, a1, a2) HODO_SDT_PROBE_(provider, name, 2, (a1, a2))
#define STAP_PROBE3(provider, name, a1, a2, a3) HODO_SDT_PROBE_(provider, name, 3, (a1, a2, a3))
#define STAP_PROBE4(provider, name, a1, a2, a3, a4) HODO_SDT_PROBE_(provider, name, 4, (a1, a2, a3, a4))
#define STAP_PROBE5(provider, name, a1, a2, a3, a4, a5) HODO_SDT_PROBE_(provider, name, 5, (a1, a2, a3, a4, a5))
#define STAP_PROBE6(provider, name, a1, a2, a3, a4, a5, a6) \
	HODO_SDT_PROBE_(provider, name, 6, (a1, a2, a3, a4, a5, a6))
#define STAP_PROBE7(provider, name, a1, a2, a3, a4, a5, a6, a7) \
	HODO_SDT_PROBE_(provider, name, 7, (a1, a2, a3, a4, a5, a6, a7))
#define STAP_PROBE8(provider, name, a1, a2, a3, a4, a5, a6, a7, a8) \
	HODO_SDT_PROBE_(provider, name, 8, (a1, a2, a3, a4, a5, a6, a7, a8))
#define STAP_PROBE9(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9) \
	HODO_SDT_PROBE_(provider, name, 9, (a1, a2, a3, a4, a5, a6, a7, a8, a9))
#define STAP_PROBE10(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
	HODO_SDT_PROBE_(provider, name, 10, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
#define STAP_PROBE11(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
	HODO_SDT_PROBE_(provider, name, 11, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11))
#define STAP_PROBE12(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
	HODO_SDT_PROBE_(provider, name, 12, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12))

#ifdef SDT_USE_VARIADIC
#define STAP_PROBEV(provider, name, ...) \
	HODO_SDT_PROBE_V_(provider, name, HODO_SDT_COUNT_(0, ##__VA_ARGS__), (__VA_ARGS__))
#define HODO_SDT_PROBE_V_(provider, name, n, args) HODO_SDT_PROBE_(provider, name, n, args)
#define HODO_SDT_COUNT_(...) HODO_SDT_COUNT_I_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define HODO_SDT_COUNT_I_(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, n, ...) n
#endif

#define DTRACE_PROBE(provider, name) HODO_SDT_PROBE_(provider, name, 0, ())
#define DTRACE_PROBE1(provider, name, a1) HODO_SDT_PROBE_(provider, name, 1, (a1))
#define DTRACE_PROBE2(provider, name, a1, a2) HODO_SDT_PROBE_(provider, name, 2, (a1, a2))
#define DTRACE_PROBE3(provider, name, a1, a2, a3) HODO_SDT_PROBE_(provider, name, 3, (a1, a2, a3))
#define DTRACE_PROBE4(provider, name, a1, a2, a3, a4) HODO_SDT_PROBE_(provider, name, 4, (a1, a2, a3, a4))
#define DTRACE_PROBE5(provider, name, a1, a2, a3, a4, a5) \
	HODO_SDT_PROBE_(provider, name, 5, (a1, a2, a3, a4, a5))
#define DTRACE_PROBE6(provider, name, a1, a2, a3, a4, a5, a6) \
	HODO_SDT_PROBE_(provider, name, 6, (a1, a2, a3, a4, a5, a6))
#define DTRACE_PROBE7(provider, name, a1, a2, a3, a4, a5, a6, a7) \
	HODO_SDT_PROBE_(provider, name, 7, (a1, a2, a3, a4, a5, a6, a7))
#define DTRACE_PROBE8(provider, name, a1, a2, a3, a4, a5, a6, a7, a8) \
	HODO_SDT_PROBE_(provider, name, 8, (a1, a2, a3, a4, a5, a6, a7, a8))
#define DTRACE_PROBE9(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9) \
	HODO_SDT_PROBE_(provider, name, 9, (a1, a2, a3, a4, a5, a6, a7, a8, a9))
#define DTRACE_PROBE10(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
	HODO_SDT_PROBE_(provider, name, 10, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
#define DTRACE_PROBE11(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
	HODO_SDT_PROBE_(provider, name, 11, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11))
#define DTRACE_PROBE12(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
	HODO_SDT_PROBE_(provider, name, 12, (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12))

#endif
