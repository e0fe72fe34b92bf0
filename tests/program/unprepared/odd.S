/* SPDX-License-Identifier: MIT */
/* odd.S - functions with code that compilers do not make: see traps.c. */
	.macro BEGIN name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:	.cfi_startproc
	.endm
	.macro END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	/* int odd_sum(int x): x + 3. Two instructions in the first 5 bytes. */
	BEGIN	odd_sum
	movl	%edi, %eax
	addl	$1, %eax
	addl	$2, %eax
	ret
	END	odd_sum

	/* int odd_jump(int x, void *to): does the same from the second instruction on, if `to` leads to odd_sum's. */
	BEGIN	odd_jump
	movl	%edi, %eax
	nopl	0(%rax)
	jmp	*%rsi
	END	odd_jump

	/* int odd_break(int x): x + 5; if x is above 0, an int3 comes before the code that leads to the exit. */
	BEGIN	odd_break
	movl	%edi, %eax
	testl	%edi, %edi
	nopl	0(%rax)
	jle	1f
	int3
	.globl	odd_behind
	.hidden	odd_behind
odd_behind:
1:	.byte	0x05, 5, 0, 0, 0	/* addl $5, %eax */
	ret
	END	odd_break

	/* int odd_step(int x): odd_sum(x), in single steps. */
	BEGIN	odd_step
	pushfq
	.cfi_adjust_cfa_offset 8
	orq	$0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	call	1f
	pushfq
	.cfi_adjust_cfa_offset 8
	andq	$~0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
1:	jmp	odd_sum@PLT
	END	odd_step
	.section .note.GNU-stack, "", @progbits
