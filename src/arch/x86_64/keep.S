/* SPDX-License-Identifier: MIT */
/*
 * keep.S - calls C code that may use any register while the program's vector and x87 registers are live.
 *
 * hodo_x86_keep(function, a, b, c)
 *
 *	if hodo_x86_moves says how, and no x87 register is in use:
 *		save MXCSR, the x87 status; ymm 0 to 15, or zmm 0 to 31 and k 0 to 7
 *		clean = the upper halves of 0 to 15 are zero
 *		function(a, b, c)
 *		restore; with clean, only the lower halves, the upper ones by vzeroupper
 *	else:
 *		xsave to the stack, or fxsave; function(a, b, c); xrstor
 *
 * xsave and xrstor take 160 ns and more for AVX-512, the moves 20. Upper halves that are zero must not be
 * written: a program that uses SSE instructions would be slow after each call. xgetbv(1) could tell, but it
 * first waits for all stores: up to 100 ns.
 */
#include "x86.inc"

#define MOVES_YMM 1
#define MOVES_ZMM 2
#define X87_TOP 0x3800			/* of the status word: 0 if none or all eight of the registers are in use */
#define X87_CODES 0x4700		/* of it: condition codes, which nothing expects a call to keep */
#define X87_EXAMINED 0x4500
#define X87_EMPTY 0x4100

	/* The area: zmm 0 to 31, k 0 to 7, MXCSR and the status word before and after, fnstenv's 28 bytes. */
#define AT_HIGH 1024
#define AT_K 2048
#define AT_MXCSR 2112
#define AT_STATUS 2116
#define AT_MXCSR_AFTER 2120
#define AT_ENV 2128
#define AREA 2176

	.macro LOW_16 to, insn, reg, stride
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.ifc \to, save
	\insn	%\reg\n, \stride * \n(%rsp)
	.else
	\insn	\stride * \n(%rsp), %\reg\n
	.endif
	.endr
	.endm

	.macro HIGH_16 to
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	.ifc \to, save
	vmovups	%zmm\n, AT_HIGH + 64 * (\n - 16)(%rsp)
	.else
	vmovups	AT_HIGH + 64 * (\n - 16)(%rsp), %zmm\n
	.endif
	.endr
	.endm

	/* Into register 0, of all 16, whose values are saved. */
	.macro UPPER_OR insn, reg
	.irp	n, 2, 4, 6, 8, 10, 12, 14
	\insn	%\reg\n, %\reg\()0, %\reg\()0
	.endr
	.irp	n, 3, 5, 7, 9, 11, 13, 15
	\insn	%\reg\n, %\reg\()1, %\reg\()1
	.endr
	\insn	%\reg\()1, %\reg\()0, %\reg\()0
	.endm

	FUNCTION hodo_x86_keep, SHARED
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	movq	%rdi, %r10
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %r11			/* function's third argument */
	movl	hodo_x86_moves(%rip), %ebx
	testl	%ebx, %ebx
	jz	.Lall
	fxam
	fnstsw	%ax
	testl	$X87_TOP, %eax
	jnz	.Lall
	movl	%eax, %ecx
	andl	$X87_EXAMINED, %ecx
	cmpl	$X87_EMPTY, %ecx
	jne	.Lall

	subq	$AREA, %rsp
	andq	$-64, %rsp
	movw	%ax, AT_STATUS(%rsp)
	stmxcsr	AT_MXCSR(%rsp)
	cmpl	$MOVES_ZMM, %ebx
	je	1f
	LOW_16	save, vmovups, ymm, 64
	UPPER_OR vorps, ymm
	vextractf128 $1, %ymm0, %xmm0
	vptest	%xmm0, %xmm0
	jmp	2f
1:	LOW_16	save, vmovups, zmm, 64
	HIGH_16	save
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, AT_K + 8 * \n(%rsp)
	.endr
	UPPER_OR vporq, zmm
	vextracti64x4 $1, %zmm0, %ymm1
	vextracti128 $1, %ymm0, %xmm0
	vpor	%ymm1, %ymm0, %ymm0
	vptest	%ymm0, %ymm0
2:	setz	%bh				/* clean */
	vzeroupper				/* as C code expects it */

	movq	%r11, %rdx
	call	*%r10

	cmpb	$MOVES_ZMM, %bl
	jne	1f
	HIGH_16	restore
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	AT_K + 8 * \n(%rsp), %k\n
	.endr
1:	testb	%bh, %bh
	jz	2f
	vzeroupper
	LOW_16	restore, vmovups, xmm, 64
	jmp	.Lflags
2:	cmpb	$MOVES_ZMM, %bl
	je	3f
	LOW_16	restore, vmovups, ymm, 64
	jmp	.Lflags
3:	LOW_16	restore, vmovups, zmm, 64
.Lflags:
	stmxcsr	AT_MXCSR_AFTER(%rsp)
	movl	AT_MXCSR_AFTER(%rsp), %eax
	cmpl	AT_MXCSR(%rsp), %eax
	je	1f
	ldmxcsr	AT_MXCSR(%rsp)
1:	fnstsw	%ax
	xorw	AT_STATUS(%rsp), %ax
	testl	$0xffff & ~X87_CODES, %eax
	jnz	.Lstatus
.Ldone:
	movq	-8(%rbp), %rbx
	.cfi_remember_state
	.cfi_restore %rbx
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state

.Lstatus:
	fnstenv	AT_ENV(%rsp)
	movzwl	AT_STATUS(%rsp), %eax
	movw	%ax, AT_ENV + 4(%rsp)
	fldenv	AT_ENV(%rsp)
	jmp	.Ldone

	/* The area for xsave is 64-aligned; its header must be zero, or xrstor faults. Without a mask: fxsave. */
.Lall:	subq	hodo_x86_xsave_bytes(%rip), %rsp
	andq	$-64, %rsp
	movl	hodo_x86_xsave_mask(%rip), %ebx
	testl	%ebx, %ebx
	jz	2f
	xorl	%eax, %eax
	.irp	n, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rax, \n(%rsp)
	.endr
	movl	%ebx, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	movq	%r11, %rdx
	call	*%r10
	movl	%ebx, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	.Ldone
2:	fxsave64 (%rsp)
	movq	%r11, %rdx
	call	*%r10
	fxrstor64 (%rsp)
	jmp	.Ldone
	END	hodo_x86_keep
