/* SPDX-License-Identifier: MIT */
/*
 * own_stack.S - calls C code that needs more stack than the program's threads may have.
 *
 * hodo_x86_on_stack(function, argument, top)      function(argument), on the stack below top, which is 16-aligned
 */
#include <arch/x86_64/x86.inc>

	FUNCTION hodo_x86_on_stack, align=16
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdx, %rsp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	END	hodo_x86_on_stack
