/* SPDX-License-Identifier: MIT */
/*
 * site.S - where the cold code of sites jumps (hodo/abi.h says how); preserves registers for C code.
 *
 * hodo_x86_site                                    r11: the values, r10: back
 *
 *	leave the red zone alone; save all that C functions may change but the vector registers
 *	state = back + (int32)back[-4]
 *	if state.how == 0: hodo_x86_emit(state, values, state.values)
 *	else:
 *		gather: hodo_x86_gather(state, values), and if that is 0, hodo_x86_gather_slow(state, values, frame);
 *		not: hodo_x86_emit()
 *		state.event has probes: hodo_x86_probes(state, values, frame)
 *	restore; jump to back
 *
 * hodo_x86_span_end                                r11: the state, r10: back; no values
 *
 * No function called here touches a vector or x87 register: libhodo is compiled so (user/CMakeLists.txt), and
 * hodo_x86_gather() preserves the one that it uses. There are two exceptions: hodo_x86_keep() wraps code that
 * calls libc or the program's probes, hodo_x86_keep_sse() filters that compute.
 *
 * To an unwinder this is a function whose return address is in r10, and whose caller's stack pointer does not change.
 * The frame looks like any with a frame pointer. Every return matches a call, as shadow stacks require.
 * Indirect branch tracking does not check the jump back, just as for compilers' switch statements.
 *
 * hodo_x86_keep_sse(function, a, b, c, d)          the same, its result; keeps xmm 0 to 15 and MXCSR
 */
#include "x86.inc"

#define RED_ZONE 128
#define HOW_GATHER 1
#define HOW_PROBES 2

	/* rsp and rbp as in any function; saves the registers that C functions change. */
	.macro FROM_SITE
	endbr64
	leaq	-RED_ZONE(%rsp), %rsp
	.cfi_def_cfa_offset RED_ZONE
	SAVE	%r10
	.cfi_offset %rip, -(RED_ZONE + 8)
	SAVE	%rbp
	.cfi_offset %rbp, -(RED_ZONE + 16)
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.set	kept, RED_ZONE + 16
	.irp	reg, rax, rcx, rdx, rsi, rdi, r8, r9
	pushq	%\reg
	.set	kept, kept + 8
	.cfi_offset %\reg, -kept
	.endr
	andq	$-16, %rsp
	.endm

	.macro TO_SITE
	leaq	-56(%rbp), %rsp
	.irp	reg, r9, r8, rdi, rsi, rdx, rcx, rax, rbp
	popq	%\reg
	.cfi_restore %\reg
	.endr
	.cfi_def_cfa %rsp, RED_ZONE + 8
	RESTORE	%r10
	.cfi_register %rip, %r10
	leaq	RED_ZONE(%rsp), %rsp
	.cfi_def_cfa_offset 0
	notrack jmp *%r10
	.endm

	FUNCTION hodo_x86_site, SHARED
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %r10
	FROM_SITE
	.cfi_remember_state
	movslq	-4(%r10), %rdi
	addq	%r10, %rdi
	movq	%r11, %rsi
	cmpb	$0, STATE_HOW(%rdi)
	jne	2f
0:	movzwl	STATE_VALUES(%rdi), %edx
	call	hodo_x86_emit
1:	TO_SITE
	.cfi_restore_state
2:	testb	$HOW_GATHER, STATE_HOW(%rdi)
	jnz	3f
	movq	STATE_EVENT(%rdi), %rdx
	cmpq	$0, EVENT_PROBES(%rdx)
	je	0b
3:	pushq	%rdi
	pushq	%rsi
	testb	$HOW_GATHER, STATE_HOW(%rdi)
	jz	5f
	call	hodo_x86_gather
	testl	%eax, %eax
	jnz	4f
	movq	(%rsp), %rsi
	movq	8(%rsp), %rdi
	movq	%rbp, %rdx
	call	*hodo_x86_gather_slow(%rip)
	jmp	4f
5:	movzwl	STATE_VALUES(%rdi), %edx
	call	hodo_x86_emit
4:	popq	%rsi
	popq	%rdi
	movq	STATE_EVENT(%rdi), %rdx
	cmpq	$0, EVENT_PROBES(%rdx)
	je	1b
	testb	$HOW_PROBES, STATE_HOW(%rdi)
	jz	1b
	movq	%rbp, %rdx
	call	*hodo_x86_probes(%rip)
	jmp	1b
	END	hodo_x86_site

	FUNCTION hodo_x86_span_end
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %r10
	FROM_SITE
	movq	%r11, %rdi
	movq	%rsp, %rsi
	xorl	%edx, %edx
	call	hodo_x86_emit
	TO_SITE
	END	hodo_x86_span_end

	FUNCTION hodo_x86_keep_sse
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$272, %rsp
	stmxcsr	256(%rsp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, 16 * \n(%rsp)
	.endr
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %rcx
	call	*%rax
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	16 * \n(%rsp), %xmm\n
	.endr
	ldmxcsr	256(%rsp)
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	END	hodo_x86_keep_sse
