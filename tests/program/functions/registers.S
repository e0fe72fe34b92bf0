/* SPDX-License-Identifier: MIT */
/*
 * registers.S - a caller that fills every register, calls a traced function that changes none, and stores their
 * contents afterwards.
 *
 *	void registers_round_KIND(void (*function)(void)):
 *		preserve the registers of the caller
 *		load all from registers_want; x87: control word, eight values; MXCSR; flags
 *		call function
 *		store all to registers_got
 *		restore what the caller needs
 *
 * KIND: sse, avx, avx512, as far as the processor has it. Data is addressed relative to rip, so that this needs no
 * register; rsp is checked only by the return.
 *
 * NO_SLOTS: code that nobody prepared.
 */
#define GPRS 0		/* 15: rax rbx rcx rdx rsi rdi rbp r8 to r15 */
#define VECTORS 128	/* 32 of 64 bytes */
#define MASKS 2176	/* 8 of 8 bytes */
#define X87 2240	/* 8 of 16 bytes */
#define CONTROL 2368	/* 2 bytes */
#define MXCSR 2372	/* 4 bytes */
#define FLAGS 2376
#define BYTES 2384

	.macro ALL_GPRS op
	\op	0, rax
	\op	1, rbx
	\op	2, rcx
	\op	3, rdx
	\op	4, rsi
	\op	5, rdi
	\op	6, rbp
	\op	7, r8
	\op	8, r9
	\op	9, r10
	\op	10, r11
	\op	11, r12
	\op	12, r13
	\op	13, r14
	\op	14, r15
	.endm
	.macro LOAD_GPR i, reg
	movq	registers_want + GPRS + \i * 8(%rip), %\reg
	.endm
	.macro STORE_GPR i, reg
	movq	%\reg, registers_got + GPRS + \i * 8(%rip)
	.endm


	.macro ROUND kind
	.text
	.globl	registers_round_\kind
	.type	registers_round_\kind, @function
registers_round_\kind:
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	movq	%rdi, registers_function(%rip)
	fnstcw	8(%rsp)
	stmxcsr	(%rsp)
	fninit
	.set	i, 7
	.rept	8
	fldt	registers_want + X87 + i * 16(%rip)
	.set	i, i - 1
	.endr
	fldcw	registers_want + CONTROL(%rip)
	ldmxcsr	registers_want + MXCSR(%rip)
	VECTORS_\kind LOAD
	pushq	registers_want + FLAGS(%rip)
	popfq
	ALL_GPRS LOAD_GPR
	call	*registers_function(%rip)
	ALL_GPRS STORE_GPR
	pushfq
	popq	registers_got + FLAGS(%rip)
	cld
	VECTORS_\kind STORE
	fnstcw	registers_got + CONTROL(%rip)
	stmxcsr	registers_got + MXCSR(%rip)
	.set	i, 0
	.rept	8
	fstpt	registers_got + X87 + i * 16(%rip)
	.set	i, i + 1
	.endr
	fninit
	fldcw	8(%rsp)
	ldmxcsr	(%rsp)
	VECTORS_\kind END
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	popq	%r15
	.cfi_adjust_cfa_offset -8
	popq	%r14
	.cfi_adjust_cfa_offset -8
	popq	%r13
	.cfi_adjust_cfa_offset -8
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	registers_round_\kind, . - registers_round_\kind
	.endm

	.macro VECTOR how, name, i
	.ifc \how, LOAD
	.ifc \name, xmm
	movups	registers_want + VECTORS + \i * 64(%rip), %xmm\i
	.endif
	.ifc \name, ymm
	vmovups	registers_want + VECTORS + \i * 64(%rip), %ymm\i
	.endif
	.ifc \name, zmm
	vmovups	registers_want + VECTORS + \i * 64(%rip), %zmm\i
	.endif
	.endif
	.ifc \how, STORE
	.ifc \name, xmm
	movups	%xmm\i, registers_got + VECTORS + \i * 64(%rip)
	.endif
	.ifc \name, ymm
	vmovups	%ymm\i, registers_got + VECTORS + \i * 64(%rip)
	.endif
	.ifc \name, zmm
	vmovups	%zmm\i, registers_got + VECTORS + \i * 64(%rip)
	.endif
	.endif
	.endm

	.macro VECTORS_sse how
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	VECTOR	\how, xmm, \i
	.endr
	.endm
	.macro VECTORS_avx how
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	VECTOR	\how, ymm, \i
	.endr
	.ifc \how, END
	vzeroupper
	.endif
	.endm
	.macro VECTORS_avx512 how
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, \
		25, 26, 27, 28, 29, 30, 31
	VECTOR	\how, zmm, \i
	.endr
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	.ifc \how, LOAD
	kmovq	registers_want + MASKS + \i * 8(%rip), %k\i
	.endif
	.ifc \how, STORE
	kmovq	%k\i, registers_got + MASKS + \i * 8(%rip)
	.endif
	.endr
	.ifc \how, END
	vzeroupper
	.endif
	.endm

	ROUND	sse
	ROUND	avx
	ROUND	avx512

#ifdef NO_SLOTS
	.macro ENTRY
	.endm
	.macro EXIT
	.endm
#else
	.macro ENTRY
	call	__fentry__
	.endm
	.macro EXIT
	call	__return__
	.endm
#endif

/* What gcc makes of an empty function; and one that calls another, and ends in a computed tail jump. Flags are kept. */
	.globl	registers_leaf
	.type	registers_leaf, @function
	.balign	16
registers_leaf:
	.cfi_startproc
	ENTRY
	EXIT
	ret
	.cfi_endproc
	.size	registers_leaf, . - registers_leaf

	.globl	registers_outer
	.type	registers_outer, @function
	.balign	16
registers_outer:
	.cfi_startproc
	ENTRY
	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	call	registers_leaf
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	EXIT
	jmp	*registers_next(%rip)
	.cfi_endproc
	.size	registers_outer, . - registers_outer

	.data
	.balign	8
registers_next:
	.quad	registers_leaf

	.bss
	.balign	64
	.globl	registers_want, registers_got
registers_want:
	.zero	BYTES
registers_got:
	.zero	BYTES
registers_function:
	.zero	8

	.section .note.GNU-stack, "", @progbits
