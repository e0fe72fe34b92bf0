/* SPDX-License-Identifier: MIT */
/*
 * vfork.S - vfork() for programs that trace in the child.
 *
 * A vfork child runs on its parent's memory, thread-local storage included:
 * the parent's rseq area too, which the kernel does not keep up to date for
 * the child. On the fast path its events would be torn. So the child gets the table of views that sends it to
 * the fallback path, and the mode that keeps it there even if the thread has not traced before:
 *
 *	hodo_x86_shares()
 *	saved = hodo_tls                  in registers, which the child cannot change for the parent
 *	hodo_tls.table = hodo_no_views, hodo_tls.mode = FALLBACK
 *	pid = vfork()                     the return address in a register meanwhile: the child's
 *	                                  return overwrites its place on the stack
 *	if pid != 0 and the child has not left another one there (user/process/clone.c): hodo_tls = saved
 *	return pid, or -1 with errno
 */
#include "x86.inc"

#define SYS_vfork 58
#define THREAD_MODE 12			/* in the 8 bytes of THREAD_TID */
#define MODE_FALLBACK 2
#define MODE_SHARED 3
#define VIEWS_BEFORE_BYTES 128

	FUNCTION vfork, .globl, 16
	SAVE	%rax				/* the stack is aligned */
	call	*hodo_x86_shares(%rip)
	RESTORE	%rax
	RESTORE	%rdi
	.cfi_register %rip, %rdi
	movq	hodo_tls@gottpoff(%rip), %r8
	movq	%fs:THREAD_TABLE(%r8), %rsi
	movq	%fs:THREAD_TID(%r8), %r9
	leaq	hodo_zero_views + VIEWS_BEFORE_BYTES(%rip), %rdx
	movq	%rdx, %fs:THREAD_TABLE(%r8)
	movl	$MODE_FALLBACK, %fs:THREAD_MODE(%r8)
	movl	$SYS_vfork, %eax
	syscall				/* keeps all registers but rax, rcx, r11 */
	SAVE	%rdi
	.cfi_offset %rip, -8
	testl	%eax, %eax
	jz	1f
	cmpl	$MODE_SHARED, %fs:THREAD_MODE(%r8)
	je	3f
	movq	%r9, %fs:THREAD_TID(%r8)
	movq	%rsi, %fs:THREAD_TABLE(%r8)
3:	cmpq	$-4095, %rax
	jae	2f
1:	ret
2:	negl	%eax
	SAVE	%rax
	call	__errno_location@PLT
	RESTORE	%rdx
	movl	%edx, (%rax)
	movl	$-1, %eax
	ret
	END	vfork
