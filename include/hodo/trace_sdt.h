/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_sdt.h - notes of static probes (USDT), as perf, bpftrace, gdb and systemtap read them; for Hodoscope's
 * <sys/sdt.h> (hodo/sdt/sys/sdt.h) and HODO_SDT of hodo/trace.h. Do not use anything here directly.
 *
 * A note has the address of a nop, where tools set their breakpoint, that of a semaphore or 0, provider,
 * name, and where each argument is at that nop: its size, negative if signed, followed by f if a float, "@",
 * and the operand that the compiler chose. Needs GCC or Clang and ELF; the machine and the version of C or
 * C++ do not matter.
 */
#ifndef HODO_TRACE_SDT_H
#define HODO_TRACE_SDT_H

#pragma GCC system_header

#define HODO_SDT_STRING_(x) HODO_SDT_STRING_I_(x)
#define HODO_SDT_STRING_I_(x) #x

#ifdef __LP64__
#define HODO_SDT_ADDRESS_ ".8byte "
#else
#define HODO_SDT_ADDRESS_ ".4byte "
#endif

/* What depends on the machine: the nop, where a value may be, and how to write an operand. */
#ifdef __s390__
#define HODO_SDT_NOP_ "nop 0\n"
#else
#define HODO_SDT_NOP_ "nop\n"
#endif
#ifdef STAP_SDT_ARG_CONSTRAINT /* the program's own choice, without quotes */
#define HODO_SDT_WHERE_ HODO_SDT_STRING_(STAP_SDT_ARG_CONSTRAINT)
#elif defined(__powerpc__)
#define HODO_SDT_WHERE_ "nZr"
#elif defined(__arm__)
#define HODO_SDT_WHERE_ "g"
#else
#define HODO_SDT_WHERE_ "nor" /* a number, memory, or a register */
#endif
#ifdef __powerpc__
#define HODO_SDT_AS_(k) "%I[hodo_v" #k "]%[hodo_v" #k "]"
#elif defined(__i386__)
#define HODO_SDT_AS_(k) "%k[hodo_v" #k "]"
#else
#define HODO_SDT_AS_(k) "%[hodo_v" #k "]"
#endif

/* However long the text is, it is one instruction: compilers that count lines would inline less around it. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define HODO_SDT_ASM_ __asm__ __volatile__ __inline__
#else
#define HODO_SDT_ASM_ __asm__ __volatile__
#endif

/*
 * The nop and its note; provider and name are strings, semaphore is the text of an expression, args makes the
 * text of the arguments. _.stapsdt.base, one per object, shows how far the object's sections were moved since
 * it was linked.
 */
#define HODO_SDT_NOTE_(provider, name, semaphore, args)                                  \
	"771: " HODO_SDT_NOP_                                                            \
	".pushsection .note.stapsdt,\"?\",\"note\"\n"                                    \
	".balign 4\n"                                                                    \
	".4byte 773f-772f, 775f-774f, 3\n"                                               \
	"772: .asciz \"stapsdt\"\n"                                                      \
	"773: .balign 4\n"                                                               \
	"774: " HODO_SDT_ADDRESS_ "771b, _.stapsdt.base, " semaphore "\n"                \
	".asciz \"" provider "\"\n"                                                      \
	".asciz \"" name "\"\n"                                                          \
	args                                                                             \
	".byte 0\n"                                                                      \
	"775: .balign 4\n"                                                               \
	".popsection\n"                                                                  \
	".ifndef _.stapsdt.base\n"                                                       \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"          \
	".weak _.stapsdt.base\n"                                                         \
	".hidden _.stapsdt.base\n"                                                       \
	"_.stapsdt.base: .space 1\n"                                                     \
	".size _.stapsdt.base, 1\n"                                                      \
	".popsection\n"                                                                  \
	".endif\n"

/* ------------------------------------------------------------------ arguments */

/* The text of one argument; for a float, hodo_s has its size times 256. */
#define HODO_SDT_ARG_(k)                                           \
	".if %c[hodo_s" #k "] < 256\n"                             \
	".ascii \"%c[hodo_s" #k "]@" HODO_SDT_AS_(k) "\"\n"        \
	".endif\n"                                                 \
	HODO_SDT_FLOAT_(k, "4", "1024")                            \
	HODO_SDT_FLOAT_(k, "8", "2048")                            \
	HODO_SDT_FLOAT_(k, "12", "3072")                           \
	HODO_SDT_FLOAT_(k, "16", "4096")
#define HODO_SDT_FLOAT_(k, size, coded)                            \
	".if %c[hodo_s" #k "] == " coded "\n"                      \
	".ascii \"" size "f@" HODO_SDT_AS_(k) "\"\n"               \
	".endif\n"
#define HODO_SDT_BLANK_ ".ascii \" \"\n"

/* Texts of n arguments, and their operands: size and value. A note has at most twelve, the first ones of an
 * event. */
#define HODO_SDT_ARGS_0_
#define HODO_SDT_ARGS_1_ HODO_SDT_ARG_(1)
#define HODO_SDT_ARGS_2_ HODO_SDT_ARGS_1_ HODO_SDT_BLANK_ HODO_SDT_ARG_(2)
#define HODO_SDT_ARGS_3_ HODO_SDT_ARGS_2_ HODO_SDT_BLANK_ HODO_SDT_ARG_(3)
#define HODO_SDT_ARGS_4_ HODO_SDT_ARGS_3_ HODO_SDT_BLANK_ HODO_SDT_ARG_(4)
#define HODO_SDT_ARGS_5_ HODO_SDT_ARGS_4_ HODO_SDT_BLANK_ HODO_SDT_ARG_(5)
#define HODO_SDT_ARGS_6_ HODO_SDT_ARGS_5_ HODO_SDT_BLANK_ HODO_SDT_ARG_(6)
#define HODO_SDT_ARGS_7_ HODO_SDT_ARGS_6_ HODO_SDT_BLANK_ HODO_SDT_ARG_(7)
#define HODO_SDT_ARGS_8_ HODO_SDT_ARGS_7_ HODO_SDT_BLANK_ HODO_SDT_ARG_(8)
#define HODO_SDT_ARGS_9_ HODO_SDT_ARGS_8_ HODO_SDT_BLANK_ HODO_SDT_ARG_(9)
#define HODO_SDT_ARGS_10_ HODO_SDT_ARGS_9_ HODO_SDT_BLANK_ HODO_SDT_ARG_(10)
#define HODO_SDT_ARGS_11_ HODO_SDT_ARGS_10_ HODO_SDT_BLANK_ HODO_SDT_ARG_(11)
#define HODO_SDT_ARGS_12_ HODO_SDT_ARGS_11_ HODO_SDT_BLANK_ HODO_SDT_ARG_(12)

#define HODO_SDT_OPERAND_(k, size, value) [hodo_s##k] "n"(size), [hodo_v##k] HODO_SDT_WHERE_(value)
#define HODO_SDT_OP_(k, a) HODO_SDT_OPERAND_(k, HODO_SDT_SIZE_(a), a)
#define HODO_SDT_OPERANDS_0_(...) [hodo_none] "n"(0)
#define HODO_SDT_OPERANDS_1_(a1) HODO_SDT_OP_(1, a1)
#define HODO_SDT_OPERANDS_2_(a1, a2) \
	HODO_SDT_OPERANDS_1_(a1), HODO_SDT_OP_(2, a2)
#define HODO_SDT_OPERANDS_3_(a1, a2, a3) \
	HODO_SDT_OPERANDS_2_(a1, a2), HODO_SDT_OP_(3, a3)
#define HODO_SDT_OPERANDS_4_(a1, a2, a3, a4) \
	HODO_SDT_OPERANDS_3_(a1, a2, a3), HODO_SDT_OP_(4, a4)
#define HODO_SDT_OPERANDS_5_(a1, a2, a3, a4, a5) \
	HODO_SDT_OPERANDS_4_(a1, a2, a3, a4), HODO_SDT_OP_(5, a5)
#define HODO_SDT_OPERANDS_6_(a1, a2, a3, a4, a5, a6) \
	HODO_SDT_OPERANDS_5_(a1, a2, a3, a4, a5), HODO_SDT_OP_(6, a6)
#define HODO_SDT_OPERANDS_7_(a1, a2, a3, a4, a5, a6, a7) \
	HODO_SDT_OPERANDS_6_(a1, a2, a3, a4, a5, a6), HODO_SDT_OP_(7, a7)
#define HODO_SDT_OPERANDS_8_(a1, a2, a3, a4, a5, a6, a7, a8) \
	HODO_SDT_OPERANDS_7_(a1, a2, a3, a4, a5, a6, a7), HODO_SDT_OP_(8, a8)
#define HODO_SDT_OPERANDS_9_(a1, a2, a3, a4, a5, a6, a7, a8, a9) \
	HODO_SDT_OPERANDS_8_(a1, a2, a3, a4, a5, a6, a7, a8), HODO_SDT_OP_(9, a9)
#define HODO_SDT_OPERANDS_10_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
	HODO_SDT_OPERANDS_9_(a1, a2, a3, a4, a5, a6, a7, a8, a9), HODO_SDT_OP_(10, a10)
#define HODO_SDT_OPERANDS_11_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
	HODO_SDT_OPERANDS_10_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10), HODO_SDT_OP_(11, a11)
#define HODO_SDT_OPERANDS_12_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
	HODO_SDT_OPERANDS_11_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11), HODO_SDT_OP_(12, a12)

/* -------------------------------------------------------------------- sizes */

#define HODO_SDT_CODE_(bytes, is_signed, is_float) \
	((int)(is_float ? 256 * (int)(bytes) : is_signed ? -(int)(bytes) : (int)(bytes)))
#define HODO_SDT_CLASS_(x) __builtin_classify_type(x)
#define HODO_SDT_IS_ADDRESS_(x) (HODO_SDT_CLASS_(x) == 5 || HODO_SDT_CLASS_(x) == 14) /* pointer, array */
#define HODO_SDT_IS_FLOAT_(x) (HODO_SDT_CLASS_(x) == 8)
#define HODO_SDT_SIZE_(x)                                                                                 \
	HODO_SDT_CODE_(HODO_SDT_IS_ADDRESS_(x) ? sizeof(void *) : sizeof(x), HODO_SDT_IS_SIGNED_(x),      \
		       HODO_SDT_IS_FLOAT_(x))

#ifdef __cplusplus
extern "C++" {
template <class T> struct hodo_sdt_signed_ {
	enum { value = 0 };
};
template <class T> struct hodo_sdt_signed_<const T> : hodo_sdt_signed_<T> {};
template <class T> struct hodo_sdt_signed_<volatile T> : hodo_sdt_signed_<T> {};
template <class T> struct hodo_sdt_signed_<const volatile T> : hodo_sdt_signed_<T> {};
template <class T> struct hodo_sdt_signed_<T &> : hodo_sdt_signed_<T> {};
#define HODO_SDT_SIGNED_TYPE_(type)                      \
	template <> struct hodo_sdt_signed_<type> {      \
		enum { value = (type)(-1) < (type)(1) }; \
	};
HODO_SDT_SIGNED_TYPE_(char)
HODO_SDT_SIGNED_TYPE_(wchar_t)
HODO_SDT_SIGNED_TYPE_(signed char)
HODO_SDT_SIGNED_TYPE_(short)
HODO_SDT_SIGNED_TYPE_(int)
HODO_SDT_SIGNED_TYPE_(long)
__extension__ HODO_SDT_SIGNED_TYPE_(long long)
}
#define HODO_SDT_IS_SIGNED_(x) (!HODO_SDT_IS_ADDRESS_(x) && hodo_sdt_signed_<__typeof__(x)>::value)
#else
/* If it is not an integer, that of 0U. */
#define HODO_SDT_INTEGER_(x) \
	__typeof__(__builtin_choose_expr(HODO_SDT_CLASS_(x) >= 1 && HODO_SDT_CLASS_(x) <= 4, (x), 0U))
#define HODO_SDT_IS_SIGNED_(x) ((HODO_SDT_INTEGER_(x))-1 < (HODO_SDT_INTEGER_(x))1)
#endif

#endif
