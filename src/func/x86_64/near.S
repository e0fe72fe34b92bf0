/* SPDX-License-Identifier: MIT */
/*
 * near.S - targets of calls that libhodo writes itself, of the functions that it replaces
 * (arch/x86_64/imports.S), and of planned slots.
 *
 * hodo_x86_near[hook]
 *
 *	jump to hodo_func_hooks[hook]
 *
 * hodo_x86_hook_none{,_mcount,_fentry}     what hooks are while nobody traces
 *
 * Unwinding: as the hooks themselves, see func.S.
 */
#include <arch/x86_64/x86.inc>

	.macro NEAR hook, cfa
	.balign	16
	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	endbr64
	jmp	*hodo_func_hooks + 8 * \hook(%rip)
	.cfi_endproc
	.endm

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
	NEAR	7, 16
	NEAR	8, 16
	.size	hodo_x86_near, . - hodo_x86_near

	/* What slots call while nobody traces, until they are made no-ops. */
	.macro NONE name, done:vararg
	FUNCTION \name
	endbr64
	\done
	END	\name
	.endm

	NONE	hodo_x86_hook_none, ret
	NONE	hodo_x86_hook_none_mcount, jmp *hodo_x86_mcount_next(%rip)
	NONE	hodo_x86_hook_none_fentry, jmp *hodo_x86_fentry_next(%rip)

	/* Where the functions that -pg calls continue: libc's function of that name, or a return. */
	.data
	.globl	hodo_x86_mcount_next, hodo_x86_fentry_next, hodo_func_hooks
	.hidden	hodo_x86_mcount_next, hodo_x86_fentry_next, hodo_func_hooks
	.balign	8
hodo_x86_mcount_next:
	.quad	hodo_x86_hook_none
hodo_x86_fentry_next:
	.quad	hodo_x86_hook_none
hodo_func_hooks:			/* by enum hodo_hook */
	.quad	hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none_mcount
	.quad	hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none_fentry
	.quad	hodo_x86_hook_none, hodo_x86_hook_none
