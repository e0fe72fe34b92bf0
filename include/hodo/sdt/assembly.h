/* SPDX-License-Identifier: MIT */
/*
 * hodo/sdt/assembly.h - <sys/sdt.h> in assembly files: STAP_PROBE2(provider, name, -4@%eax, 8@(%rdi)) is a line of
 * its own. Included by it.
 */
#ifndef HODO_SDT_ASSEMBLY_H
#define HODO_SDT_ASSEMBLY_H

#ifdef __LP64__
#define HODO_SDT_ADDRESS_ .8byte
#else
#define HODO_SDT_ADDRESS_ .4byte
#endif
#ifdef __s390__
#define HODO_SDT_NOP_ nop 0
#else
#define HODO_SDT_NOP_ nop
#endif
#ifdef _SDT_HAS_SEMAPHORES
#define HODO_SDT_SEMAPHORE_(provider, name) provider##_##name##_semaphore
#else
#define HODO_SDT_SEMAPHORE_(provider, name) 0
#endif

#define HODO_SDT_STRING_(x) #x
#define HODO_SDT_TEXT_(...) HODO_SDT_STRING_(__VA_ARGS__)

/* As HODO_SDT_NOTE_ of hodo/trace_sdt.h has it. */
#define HODO_SDT_PROBE_(provider, name, n, args)                                            \
	771: HODO_SDT_NOP_;                                                                 \
	.pushsection .note.stapsdt, "?", "note";                                            \
	.balign 4;                                                                          \
	.4byte 773f - 772f, 775f - 774f, 3;                                                 \
	772: .asciz "stapsdt";                                                              \
	773: .balign 4;                                                                     \
	774: HODO_SDT_ADDRESS_ 771b, _.stapsdt.base, HODO_SDT_SEMAPHORE_(provider, name);   \
	.asciz HODO_SDT_STRING_(provider);                                                  \
	.asciz HODO_SDT_STRING_(name);                                                      \
	.asciz HODO_SDT_TEXT_(HODO_SDT_ARGS_##n##_ args);                                   \
	775: .balign 4;                                                                     \
	.popsection;                                                                        \
	.ifndef _.stapsdt.base;                                                             \
	.pushsection .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat;                \
	.weak _.stapsdt.base;                                                               \
	.hidden _.stapsdt.base;                                                             \
	_.stapsdt.base: .space 1;                                                           \
	.size _.stapsdt.base, 1;                                                            \
	.popsection;                                                                        \
	.endif

#define HODO_SDT_ARGS_0_()
#define HODO_SDT_ARGS_1_(a1) a1
#define HODO_SDT_ARGS_2_(a1, a2) a1 a2
#define HODO_SDT_ARGS_3_(a1, a2, a3) a1 a2 a3
#define HODO_SDT_ARGS_4_(a1, a2, a3, a4) a1 a2 a3 a4
#define HODO_SDT_ARGS_5_(a1, a2, a3, a4, a5) a1 a2 a3 a4 a5
#define HODO_SDT_ARGS_6_(a1, a2, a3, a4, a5, a6) a1 a2 a3 a4 a5 a6
#define HODO_SDT_ARGS_7_(a1, a2, a3, a4, a5, a6, a7) a1 a2 a3 a4 a5 a6 a7
#define HODO_SDT_ARGS_8_(a1, a2, a3, a4, a5, a6, a7, a8) a1 a2 a3 a4 a5 a6 a7 a8
#define HODO_SDT_ARGS_9_(a1, a2, a3, a4, a5, a6, a7, a8, a9) a1 a2 a3 a4 a5 a6 a7 a8 a9
#define HODO_SDT_ARGS_10_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) a1 a2 a3 a4 a5 a6 a7 a8 a9 a10
#define HODO_SDT_ARGS_11_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11
#define HODO_SDT_ARGS_12_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12

#endif
