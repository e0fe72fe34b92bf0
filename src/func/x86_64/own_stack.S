/* SPDX-License-Identifier: MIT */
/*
 * own_stack.S - calls C code that needs more stack than the program's threads may have.
 *
 * hodo_x86_on_stack(function, argument, top)      function(argument), on the stack below top, which is 16-aligned
 */
	.text
	.globl	hodo_x86_on_stack
	.hidden	hodo_x86_on_stack
	.type	hodo_x86_on_stack, @function
hodo_x86_on_stack:
	.cfi_startproc
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
	.cfi_endproc
	.size	hodo_x86_on_stack, . - hodo_x86_on_stack

	.section .note.GNU-stack, "", @progbits
