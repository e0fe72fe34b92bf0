/* SPDX-License-Identifier: MIT */
/*
 * run_event.S - runs code with all registers set from a struct, and stores them there afterwards.
 *
 * run_event(registers)          rdi: struct of test_event_code.c; code at `code` returns
 * event_site                    what the code enters in place of libhodo: keeps the values, changes what it may
 * event_read                    what it calls in place of libhodo's reader: read_event(rax, r10, r11); keeps the rest
 * event_call                    likewise at the begin and end of a call: note_call(rax, r10, r11)
 */
#define REGISTERS rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	/* Calls function(rax, r10, r11); rax is its result, and all others but r11 are kept. */
	.macro KEPT function
	pushq	%rbp
	movq	%rsp, %rbp
	.irp	reg, rcx, rdx, rsi, rdi, r8, r9, r10
	pushq	%\reg
	.endr
	andq	$-16, %rsp
	movq	%rax, %rdi
	movq	%r10, %rsi
	movq	%r11, %rdx
	call	\function
	leaq	-56(%rbp), %rsp
	.irp	reg, r10, r9, r8, rdi, rsi, rdx, rcx
	popq	%\reg
	.endr
	popq	%rbp
	.endm

	.text
	.globl	run_event
	.type	run_event, @function
run_event:
	.cfi_startproc
	.irp	reg, rbx, rbp, r12, r13, r14, r15
	pushq	%\reg
	.endr
	movq	%rdi, state(%rip)
	leaq	-256(%rsp), %rsp
	movq	$0x5a5a5a5a, -16(%rsp)		/* in the red zone, once the call has pushed its address */
	movq	$0x3c3c3c3c, -128(%rsp)
	pushq	120(%rdi)
	popfq
	movq	%rsp, saved(%rip)
	leaq	-8(%rsp), %rax
	movq	%rax, 144(%rdi)			/* the value of rsp in the code */
	movups	152(%rdi), %xmm9
	.set	at, 0
	.irp	reg, rax, rcx, rdx, rbx, rbp, rsi
	movq	at(%rdi), %\reg
	.set	at, at + 8
	.endr
	.set	at, 56
	.irp	reg, r8, r9, r10, r11, r12, r13, r14, r15
	movq	at(%rdi), %\reg
	.set	at, at + 8
	.endr
	movq	48(%rdi), %rdi
	call	*code(%rip)
	movq	%rsp, seen(%rip)
	pushfq
	pushq	%rdi
	movq	state(%rip), %rdi
	.set	at, 0
	.irp	reg, rax, rcx, rdx, rbx, rbp, rsi
	movq	%\reg, at(%rdi)
	.set	at, at + 8
	.endr
	.set	at, 56
	.irp	reg, r8, r9, r10, r11, r12, r13, r14, r15
	movq	%\reg, at(%rdi)
	.set	at, at + 8
	.endr
	popq	48(%rdi)
	popq	120(%rdi)
	movq	seen(%rip), %rax
	subq	saved(%rip), %rax
	movq	%rax, 128(%rdi)			/* 0 if the stack pointer is as it was */
	movq	-128(%rsp), %rax
	movq	%rax, 136(%rdi)
	leaq	256(%rsp), %rsp
	.irp	reg, r15, r14, r13, r12, rbp, rbx
	popq	%\reg
	.endr
	ret
	.cfi_endproc
	.size	run_event, . - run_event

	.globl	event_site
	.type	event_site, @function
event_site:
	.cfi_startproc
	endbr64
	movslq	-4(%r10), %rax
	addq	%r10, %rax
	movq	%rax, event_state(%rip)
	.set	at, 0
	.rept	32
	movq	at(%r11), %rax
	movq	%rax, event_values + at(%rip)
	.set	at, at + 8
	.endr
	movq	%rsp, event_stack(%rip)
	KEPT	copy_event
	xorl	%eax, %eax
	xorl	%r11d, %r11d
	jmp	*%r10
	.cfi_endproc
	.size	event_site, . - event_site

	.globl	event_read
	.type	event_read, @function
event_read:
	.cfi_startproc
	KEPT	read_event
	movl	$-1, %r11d
	ret
	.cfi_endproc
	.size	event_read, . - event_read

	.globl	event_call
	.type	event_call, @function
event_call:
	.cfi_startproc
	KEPT	note_call
	movl	$-1, %r11d
	ret
	.cfi_endproc
	.size	event_call, . - event_call

	.bss
	.balign	64
	.globl	event_values, event_state, event_stack, code
event_stack: .zero 8
event_values: .zero 256
event_state: .zero 8
code:	.zero	8
state:	.zero	8
saved:	.zero	8
seen:	.zero	8
	.section .note.GNU-stack, "", @progbits
