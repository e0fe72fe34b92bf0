/* SPDX-License-Identifier: MIT */
/*
 * program.S - a 32-bit program that needs no headers: writes "32 bits" to its output. With arguments it becomes the
 * program the first one names; without arguments, it exits with status 5.
 */
	.globl	_start
_start:	call	1f
1:	popl	%ecx
	addl	$text - 1b, %ecx
	movl	$4, %eax		/* write(1, text, 8) */
	movl	$1, %ebx
	movl	$8, %edx
	int	$0x80
	movl	(%esp), %ecx		/* argc */
	cmpl	$2, %ecx
	jb	1f
	movl	$11, %eax		/* execve(argv[1], argv + 1, envp) */
	movl	8(%esp), %ebx
	leal	8(%esp, %ecx, 4), %edx
	leal	8(%esp), %ecx
	int	$0x80
1:	movl	$1, %eax		/* _exit(5) */
	movl	$5, %ebx
	int	$0x80
text:	.ascii	"32 bits\n"
	.section .note.GNU-stack, "", @progbits
