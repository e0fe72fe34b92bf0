/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_noted.h - evaluates values before a site, so that a note can say where they are, and writes the
 * note; for HODO_SDT of hodo/trace.h and for Hodoscope's <sys/sdt.h>, which include it.
 */
#ifndef HODO_TRACE_NOTED_H
#define HODO_TRACE_NOTED_H

#pragma GCC system_header

#include <hodo/trace_sdt.h>

#define HODO_PASTE_3_(a, b, c) HODO_PASTE_3_I_(a, b, c)
#define HODO_PASTE_3_I_(a, b, c) a##b##c

/* The variables that hold n values, and how many of n a note has. */
#define HODO_HELD_0_
#define HODO_HELD_1_ hodo_h0_
#define HODO_HELD_2_ HODO_HELD_1_, hodo_h1_
#define HODO_HELD_3_ HODO_HELD_2_, hodo_h2_
#define HODO_HELD_4_ HODO_HELD_3_, hodo_h3_
#define HODO_HELD_5_ HODO_HELD_4_, hodo_h4_
#define HODO_HELD_6_ HODO_HELD_5_, hodo_h5_
#define HODO_HELD_7_ HODO_HELD_6_, hodo_h6_
#define HODO_HELD_8_ HODO_HELD_7_, hodo_h7_
#define HODO_HELD_9_ HODO_HELD_8_, hodo_h8_
#define HODO_HELD_10_ HODO_HELD_9_, hodo_h9_
#define HODO_HELD_11_ HODO_HELD_10_, hodo_h10_
#define HODO_HELD_12_ HODO_HELD_11_, hodo_h11_
#define HODO_HELD_13_ HODO_HELD_12_, hodo_h12_
#define HODO_HELD_14_ HODO_HELD_13_, hodo_h13_
#define HODO_HELD_15_ HODO_HELD_14_, hodo_h14_
#define HODO_HELD_16_ HODO_HELD_15_, hodo_h15_
#define HODO_NOTED_N_0_ 0
#define HODO_NOTED_N_1_ 1
#define HODO_NOTED_N_2_ 2
#define HODO_NOTED_N_3_ 3
#define HODO_NOTED_N_4_ 4
#define HODO_NOTED_N_5_ 5
#define HODO_NOTED_N_6_ 6
#define HODO_NOTED_N_7_ 7
#define HODO_NOTED_N_8_ 8
#define HODO_NOTED_N_9_ 9
#define HODO_NOTED_N_10_ 10
#define HODO_NOTED_N_11_ 11
#define HODO_NOTED_N_12_ 12
#define HODO_NOTED_N_13_ 12
#define HODO_NOTED_N_14_ 12
#define HODO_NOTED_N_15_ 12
#define HODO_NOTED_N_16_ 12

#ifdef __cplusplus
#define HODO_HELD_TYPE_(a) hodo_detail_::noted_type_<decltype(hodo_detail_::types_((a)))>
#else
#define HODO_HELD_TYPE_(a) __extension__ __auto_type
#endif
/* A comma before it: g++ warns about a NULL that becomes a variable. */
#define HODO_HOLD_VALUE_(i, a) HODO_HELD_TYPE_(a) hodo_h##i##_ = ((void)0, a);

/* The part of a value that is an argument: for a string with a length, bytes and arrays, the address. */
#ifdef __cplusplus
extern "C++" {
namespace hodo_detail_
{
/* Numbers, and what an atomic holds at that time, are copied; others stay where they are. */
template <class A> constexpr auto hold_as_()
{
	if constexpr (looks_<A>() == as_::atomic)
		return list_<const bare_<decltype(some_<A>().load(decltype(order_of_(&A::load)){}))>>{};
	else
		return list_<std::conditional_t<is_number_<A>, const A, const A &>>{};
}
template <class L> struct noted_as_;
template <class A> struct noted_as_<list_<A>> {
	using type = decltype(hold_as_<A>());
};
template <class L> struct only_;
template <class T> struct only_<list_<T>> {
	using type = T;
};
template <class L> using noted_type_ = typename only_<typename noted_as_<L>::type>::type;

HODO_INLINED_ const void *noted_made_(const hodo_str_ &v) { return v.data; }
HODO_INLINED_ const void *noted_made_(const hodo_bytes_ &v) { return v.data; }
HODO_INLINED_ const void *noted_made_(const refused_ &) { return nullptr; }
template <class T> HODO_INLINED_ const void *noted_made_(const array_<T> &v) { return v.data; }
template <class T, size_t N> HODO_INLINED_ T noted_made_(const few_<T, N> &v) { return v.n ? v.data[0] : T{}; }
template <class T> HODO_INLINED_ T noted_made_(const T &v) { return v; }
template <class A> HODO_INLINED_ auto noted_(const A &v) { return noted_made_(of_(given_(v))); }
}
}
#define HODO_NOTED_VALUE_(v) hodo_detail_::noted_(v)
#else
#define HODO_NOTED_VALUE_(v) \
	__builtin_choose_expr(HODO_SDT_CLASS_(v) == 12, *(const void *const *)(const void *)&(v), v)
#endif

/* The note of n values that have names. */
#define HODO_NOTE_(provider, name, n, ...)                                                          \
	HODO_SDT_ASM_(HODO_SDT_NOTE_(provider, name, "0", HODO_PASTE_3_(HODO_SDT_ARGS_, n, _))      \
		      :                                                                             \
		      : HODO_CALL_(HODO_PASTE_3_(HODO_SDT_OPERANDS_, n, _),                         \
				   HODO_LIST_(HODO_NOTED_VALUE_, __VA_ARGS__)));
#define HODO_NOTED_FIRST_(n) HODO_PASTE_3_(HODO_NOTED_N_, n, _)
#define HODO_HELD_(n) HODO_PASTE_3_(HODO_HELD_, n, _)

#if defined(HODO_SDT) && HODO_SDT
#define HODO_NOTED_(provider, name, ...)             \
	HODO_EACH_(HODO_HOLD_VALUE_, __VA_ARGS__)    \
	HODO_NOTE_(provider, name, HODO_NOTED_FIRST_(HODO_N_(__VA_ARGS__)), \
		   HODO_HELD_(HODO_NOTED_FIRST_(HODO_N_(__VA_ARGS__))))
#define HODO_VALUES_(...) HODO_HELD_(HODO_N_(__VA_ARGS__))
#define HODO_NOTED_SITE_(provider, name, kind, text, ...)              \
	do {                                                           \
		HODO_NOTED_(provider, name, __VA_ARGS__)               \
		HODO_SITE_(kind, text, HODO_VALUES_(__VA_ARGS__));     \
	} while (0)
#define HODO_NOTED_PARAMS_(provider, name, ...) \
	HODO_NOTE_(provider, name, HODO_NOTED_FIRST_(HODO_N_(__VA_ARGS__)), __VA_ARGS__)
#endif

#endif
