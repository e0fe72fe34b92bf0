/* SPDX-License-Identifier: MIT */
/*
 * durations.S - called by slots of functions whose exits are events (HODO_IMPORT_CALL_BEGIN,
 * HODO_IMPORT_CALL_END), and of functions at which a thread lands (HODO_IMPORT_LANDED).
 *
 * hodo_x86_duration_begin                          rax: at, r11: function; keeps all but rax, r11 and the flags
 *
 *	hodo_duration_begin(rax, r11)
 *
 * hodo_x86_duration_end                            the same
 *
 *	rax = hodo_duration_end(rax, r11)
 *
 * hodo_x86_landed                                  the same, for HODO_IMPORT_LANDED
 *
 *	hodo_landed(rax, r11, rdi, rsi)
 */
#include <arch/x86_64/x86.inc>

#define DIRECTION 0x400

	.macro KEPT name, function
	FUNCTION \name
	endbr64
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq				/* the direction */
	.irp	reg, rcx, rdx, rsi, rdi, r8, r9, r10
	pushq	%\reg
	.endr
	andq	$-16, %rsp
	movq	%rsi, %rcx
	movq	%rdi, %rdx
	movq	%rax, %rdi
	movq	%r11, %rsi
	cld
	call	\function
	leaq	-64(%rbp), %rsp
	.irp	reg, r10, r9, r8, rdi, rsi, rdx, rcx
	popq	%\reg
	.endr
	popq	%r11			/* popfq would take longer than all of this */
	testl	$DIRECTION, %r11d
	jz	1f
	std
1:	RESTORE	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	END	\name
	.endm

	KEPT	hodo_x86_duration_begin, hodo_duration_begin
	KEPT	hodo_x86_duration_end, hodo_duration_end
	KEPT	hodo_x86_landed, hodo_landed
