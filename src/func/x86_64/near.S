/* SPDX-License-Identifier: MIT */
/*
 * near.S - where calls lead that libhodo writes itself, and those of functions that it replaces
 * (arch/x86_64/imports.S).
 *
 * hodo_x86_near[hook]
 *
 *	jump to hodo_func_hooks[hook]
 *
 * Unwinding: as the hooks themselves, see func.S.
 */
	.macro NEAR hook, cfa
	.balign	16
	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	endbr64
	jmp	*hodo_func_hooks + 8 * \hook(%rip)
	.cfi_endproc
	.endm

	.text
	.globl	hodo_x86_near
	.hidden	hodo_x86_near
	.type	hodo_x86_near, @function
	.balign	16
hodo_x86_near:				/* in the order of enum hodo_hook */
	NEAR	0, 8
	NEAR	1, 16
	NEAR	2, 8
	NEAR	3, 8
	NEAR	4, 8
	NEAR	5, 8
	NEAR	6, 8
	.size	hodo_x86_near, . - hodo_x86_near

	.section .note.GNU-stack, "", @progbits
