/* SPDX-License-Identifier: MIT */
/*
 * instrument.S - where slots call that have no stub in their own object.
 *
 * hodo_x86_near[hook]                  for calls that libhodo itself writes
 *
 *	jump to hodo_func_hooks[hook]
 *
 * __cyg_profile_func_enter, _exit      what -finstrument-functions calls
 * hodo_x86_export_mcount, _fentry      what -pg calls; the shared libhodo has them under libc's names
 *
 *	if to != NULL: jump to it
 *	return
 *
 * `to` is NULL until libhodo has come up, since IFUNC resolvers call these before libhodo is
 * relocated; then it leads to one of the stubs above, or to another library's function of that
 * name in front of which libhodo happened to come (func/imports.c).
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

	/* own: a name that only libhodo has; the other may lead elsewhere. */
	.macro IMPORT name, own, to
	.globl	\name, \own
	.type	\name, @function
	.type	\own, @function
	.balign	16
\name:
\own:	.cfi_startproc
	endbr64
	cmpq	$0, \to(%rip)
	je	1f
	jmp	*\to(%rip)
1:	ret
	.cfi_endproc
	.size	\name, . - \name

	.pushsection .bss
	.globl	\to
	.hidden	\to
	.balign	8
\to:	.zero	8
	.popsection
	.endm

	IMPORT	__cyg_profile_func_enter, hodo_x86_enter, hodo_x86_enter_to
	IMPORT	__cyg_profile_func_exit, hodo_x86_exit, hodo_x86_exit_to
	IMPORT	hodo_x86_export_mcount, hodo_x86_mcount, hodo_x86_mcount_to
	IMPORT	hodo_x86_export_fentry, hodo_x86_fentry, hodo_x86_fentry_to
	.hidden	hodo_x86_enter, hodo_x86_exit, hodo_x86_mcount, hodo_x86_fentry

	.section .note.GNU-stack, "", @progbits
