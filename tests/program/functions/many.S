/* SPDX-License-Identifier: MIT */
/* many.S - 50,000 functions with gcc's slots, many_0 to many_49999; and many_all, their addresses. */
	.altmacro
	.macro ONE i
	.globl	many_\i
	.type	many_\i, @function
many_\i:
	call	__fentry__
	leal	1(%rdi), %eax
	call	__return__
	ret
	.size	many_\i, . - many_\i
	.endm
	.macro ADDRESS i
	.quad	many_\i
	.endm

	.text
	.set	n, 0
	.rept	50000
	ONE	%n
	.set	n, n + 1
	.endr

	.section .data.rel.ro, "aw"
	.balign	8
	.globl	many_all
many_all:
	.set	n, 0
	.rept	50000
	ADDRESS	%n
	.set	n, n + 1
	.endr

	.section .note.GNU-stack, "", @progbits
