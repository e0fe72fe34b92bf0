/* SPDX-License-Identifier: MIT */
/*
 * vfork.S - vfork() for programs that trace in the child.
 *
 * A vfork child runs on its parent's memory, thread-local storage included:
 * the parent's rseq area too, which the kernel does not keep up to date for
 * the child. On the fast path its events would be torn. So the child gets the
 * table of views that sends it to the fallback path, and the mode that keeps
 * it there also where the thread has not traced before:
 *
 *	saved = hodo_tls                  in registers, which the child cannot change for the parent
 *	hodo_tls.table = hodo_no_views, hodo_tls.mode = FALLBACK
 *	pid = vfork()                     the return address in a register meanwhile: the child's
 *	                                  return overwrites its place on the stack
 *	if pid != 0: hodo_tls = saved
 *	return pid, or -1 with errno
 */
#define SYS_vfork 58

#define THREAD_TABLE 0
#define THREAD_TID 8			/* and the mode in the same 8 bytes */
#define THREAD_MODE 12
#define MODE_FALLBACK 2

	.text
	.globl	vfork
	.type	vfork, @function
	.balign	16
vfork:
	.cfi_startproc
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movq	hodo_tls@gottpoff(%rip), %r8
	movq	%fs:THREAD_TABLE(%r8), %rsi
	movq	%fs:THREAD_TID(%r8), %r9
	leaq	hodo_no_views(%rip), %rdx
	movq	%rdx, %fs:THREAD_TABLE(%r8)
	movl	$MODE_FALLBACK, %fs:THREAD_MODE(%r8)
	movl	$SYS_vfork, %eax
	syscall				/* keeps all registers but rax, rcx, r11 */
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	testl	%eax, %eax
	jz	1f
	movq	%r9, %fs:THREAD_TID(%r8)
	movq	%rsi, %fs:THREAD_TABLE(%r8)
	cmpq	$-4095, %rax
	jae	2f
1:	ret
2:	negl	%eax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	__errno_location@PLT
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	movl	%edx, (%rax)
	movl	$-1, %eax
	ret
	.cfi_endproc
	.size	vfork, . - vfork

	.section .note.GNU-stack, "", @progbits
