/* SPDX-License-Identifier: MIT */
/*
 * int registers_spin(struct registers *r): fills all registers that the machine has, the flags and the red zone with
 * known values, loops r->rounds times without touching them, and returns which of them have changed: 0 if none,
 * else a bit for each. vectors: 0 SSE, 1 AVX, 2 AVX-512. struct registers: see target.c.
 *
 *	0 rounds, 8 vectors, 64 in[32][64], 2112 out[32][64], 4160 masks in[8], 4224 masks out[8]
 */
	.text
	.globl registers_spin
	.type registers_spin, @function
registers_spin:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	push %r12
	.cfi_adjust_cfa_offset 8
	push %r13
	.cfi_adjust_cfa_offset 8
	push %r14
	.cfi_adjust_cfa_offset 8
	push %r15
	.cfi_adjust_cfa_offset 8

	cmpq $2, 8(%rdi)
	je 2f
	cmpq $1, 8(%rdi)
	je 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups 64+64*\n(%rdi), %xmm\n
	.endr
	jmp 4f
1:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups 64+64*\n(%rdi), %ymm\n
	.endr
	jmp 4f
2:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups 64+64*\n(%rdi), %zmm\n
	.endr
	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovups 64+64*\n(%rdi), %zmm\n
	.endr
	.irp n, 1, 2, 3, 4, 5, 6, 7
	kmovw 4160+8*\n(%rdi), %k\n
	.endr

4:	mov (%rdi), %rcx
	mov $0x1111111111111111, %rax
	mov $0x2222222222222222, %rbx
	mov $0x3333333333333333, %rdx
	mov $0x4444444444444444, %rsi
	mov $0x5555555555555555, %rbp
	mov $0x6666666666666666, %r8
	mov $0x7777777777777777, %r9
	mov $0x0888888888888888, %r10
	mov $0x0999999999999999, %r11
	mov $0x0aaaaaaaaaaaaaaa, %r12
	mov $0x0bbbbbbbbbbbbbbb, %r13
	mov $0x0ccccccccccccccc, %r14
	mov $0x0ddddddddddddddd, %r15
	mov %r15, -8(%rsp)
	mov %r14, -64(%rsp)
	mov %r13, -128(%rsp)
	stc
	std
5:	lea -1(%rcx), %rcx
	jrcxz 6f
	jmp 5b
6:	setnc %cl
	movzbl %cl, %ecx
	pushf
	.cfi_adjust_cfa_offset 8
	cld
	testl $0x400, (%rsp)
	lea 8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jnz 7f
	or $2, %ecx
7:
	.macro check register, value, bit
	push %rdi
	mov $\value, %rdi
	cmp %rdi, \register
	pop %rdi
	je 8f
	or $(1 << \bit), %ecx
8:
	.endm
	cmp %r14, -64(%rsp)
	je 8f
	or $4, %ecx
8:	cmp %r13, -128(%rsp)
	je 8f
	or $4, %ecx
8:	check %rax, 0x1111111111111111, 3
	check %rbx, 0x2222222222222222, 4
	check %rdx, 0x3333333333333333, 5
	check %rsi, 0x4444444444444444, 6
	check %rbp, 0x5555555555555555, 7
	check %r8, 0x6666666666666666, 8
	check %r9, 0x7777777777777777, 9
	check %r10, 0x0888888888888888, 10
	check %r11, 0x0999999999999999, 11
	check %r12, 0x0aaaaaaaaaaaaaaa, 12
	check %r13, 0x0bbbbbbbbbbbbbbb, 13
	check %r14, 0x0ccccccccccccccc, 14
	check %r15, 0x0ddddddddddddddd, 15
	mov %ecx, %eax

	cmpq $2, 8(%rdi)
	je 2f
	cmpq $1, 8(%rdi)
	je 1f
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups %xmm\n, 2112+64*\n(%rdi)
	.endr
	jmp 4f
1:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups %ymm\n, 2112+64*\n(%rdi)
	.endr
	vzeroupper
	jmp 4f
2:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups %zmm\n, 2112+64*\n(%rdi)
	.endr
	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovups %zmm\n, 2112+64*\n(%rdi)
	.endr
	.irp n, 1, 2, 3, 4, 5, 6, 7
	kmovw %k\n, 4224+8*\n(%rdi)
	.endr
	vzeroupper

4:	pop %r15
	.cfi_adjust_cfa_offset -8
	pop %r14
	.cfi_adjust_cfa_offset -8
	pop %r13
	.cfi_adjust_cfa_offset -8
	pop %r12
	.cfi_adjust_cfa_offset -8
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size registers_spin, . - registers_spin
	.section .note.GNU-stack, "", @progbits
