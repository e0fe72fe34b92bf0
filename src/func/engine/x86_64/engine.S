/* SPDX-License-Identifier: MIT */
/*
 * engine.S - where the slots of system calls lead, and how a handler returns.
 *
 * hodo_x86_engine_syscall                          rax, …: as at the system call; rcx: behind it, in the slot
 *
 *	if rax is one of those that mask.c knows:
 *		rax = hodo_engine_syscall(registers); jump to rcx
 *	else:
 *		jump to the slot's own system call, 2 bytes before rcx: with nothing on the stack, since clone() may
 *		return on another, and vfork() twice on this one
 *
 * Like a system call, it preserves everything except rax, rcx and r11, including the red zone. To an
 * unwinder, it was called from the call's place in the program.
 *
 * hodo_x86_engine_find                             at the entry of _dl_find_object(); r11: its copy, in the slot
 *
 *	hodo_engine_find() with that as its third argument
 *
 * hodo_x86_engine_read                             rax, r10, r11: as hodo/abi_plan.h says; called in a slot
 *
 *	rax = hodo_engine_read(rax, r10, r11)
 *	if that is -1: rax = r10 = 0
 *
 * hodo_x86_engine_start                            where the program begins; called in a slot
 *
 *	hodo_engine_start(), with all registers preserved that a program may use then
 *
 * hodo_x86_engine_restore                          what a handler returns to: unwinders know it by these bytes alone
 */
#include <sys/syscall.h>
#include <arch/x86_64/x86.inc>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#define RED_ZONE 128

	.globl	hodo_x86_engine_restore
	.hidden	hodo_x86_engine_restore
	.type	hodo_x86_engine_restore, @function
	.balign 16
	nop				/* unwinders look up the address before the one they found */
hodo_x86_engine_restore:		/* any unwind data besides these bytes would mislead them */
	.byte	0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0, 0x0f, 0x05
	.size	hodo_x86_engine_restore, . - hodo_x86_engine_restore

	FUNCTION hodo_x86_engine_find
	endbr64
	movq	%r11, %rdx
	jmp	hodo_engine_find
	END	hodo_x86_engine_find

	.macro	IF number
	cmpq	$\number, %rax
	je	1f
	.endm

	FUNCTION hodo_x86_engine_syscall
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %rcx
	endbr64
	leaq	-RED_ZONE(%rsp), %rsp
	.cfi_def_cfa_offset RED_ZONE
	SAVE	%rcx			/* becomes its place in the program */
	.cfi_offset %rip, -(RED_ZONE + 8)
	pushfq
	.cfi_adjust_cfa_offset 8
	IF	SYS_rt_sigprocmask
	IF	SYS_rt_sigaction
	IF	SYS_rt_sigsuspend
	IF	SYS_pselect6
	IF	SYS_ppoll
	IF	SYS_epoll_pwait
	IF	SYS_epoll_pwait2
	IF	SYS_io_pgetevents
	popfq
	.cfi_adjust_cfa_offset -8
	leaq	RED_ZONE + 8(%rsp), %rsp
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rcx
	leaq	-2(%rcx), %rcx
	notrack jmp *%rcx
	.cfi_def_cfa_offset RED_ZONE + 16
	.cfi_offset %rip, -(RED_ZONE + 8)
1:	.irp	reg, rax, rdi, rsi, rdx, r10, r8, r9, rcx
	SAVE	%\reg
	.endr
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	leaq	8(%rsp), %rdi
	andq	$-16, %rsp
	cld
	call	hodo_engine_syscall
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	.cfi_restore %rbp
	.irp	reg, rcx, r9, r8, r10, rdx, rsi, rdi, r11
	RESTORE	%\reg
	.endr
	movq	(%rsp), %r11		/* as the kernel leaves it: the flags */
	popfq
	.cfi_adjust_cfa_offset -8
	leaq	RED_ZONE + 8(%rsp), %rsp
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rcx
	notrack jmp *%rcx
	END	hodo_x86_engine_syscall

	FUNCTION hodo_x86_engine_read
	endbr64
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq				/* the direction: the others are the slot's */
	.irp	reg, rcx, rdx, rsi, rdi, r8, r9, r10
	pushq	%\reg
	.endr
	andq	$-16, %rsp
	movq	%rax, %rdi
	movq	%r10, %rsi
	movl	%r11d, %edx
	cld
	call	hodo_engine_read
	leaq	-64(%rbp), %rsp
	.irp	reg, r10, r9, r8, rdi, rsi, rdx, rcx
	popq	%\reg
	.endr
	cmpq	$-1, %rax
	jne	1f
	xorl	%eax, %eax
	xorl	%r10d, %r10d
1:	popfq
	RESTORE	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	END	hodo_x86_engine_read

	FUNCTION hodo_x86_engine_start
	endbr64
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq
	.irp	reg, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pushq	%\reg
	.endr
	andq	$-16, %rsp
	cld
	call	hodo_engine_start
	leaq	-80(%rbp), %rsp
	.irp	reg, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.endr
	popfq
	RESTORE	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	END	hodo_x86_engine_start
