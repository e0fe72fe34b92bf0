/* SPDX-License-Identifier: MIT */
/*
 * imports.S - the functions that compilers call at functions' entries and exits; they come before libc's.
 *
 * __cyg_profile_func_enter, _exit      what -finstrument-functions calls
 * hodo_x86_export_mcount, _fentry      what -pg calls; the shared libhodo has them under libc's names
 *
 *	if to != NULL: jump to it
 *	return
 *
 * `to` is NULL until libhodo has started, since IFUNC resolvers call these before libhodo is relocated. It
 * leads to the function that libhodo interposes (user/objects/imports.c), or to a hook while functions are traced
 * (func/slots/instrument.c, func/slots/entry_only.c).
 */
#include "x86.inc"

	/* own: a name that only libhodo has; the other may resolve elsewhere. */
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
	END	\name
	SHARED	\own

	.pushsection .bss
	.globl	\to
	SHARED	\to
	.type	\to, @object
	.size	\to, 8
	.balign	8
\to:	.zero	8
	.popsection
	.endm

	IMPORT	__cyg_profile_func_enter, hodo_x86_enter, hodo_x86_enter_to
	IMPORT	__cyg_profile_func_exit, hodo_x86_exit, hodo_x86_exit_to
	IMPORT	hodo_x86_export_mcount, hodo_x86_mcount, hodo_x86_mcount_to
	IMPORT	hodo_x86_export_fentry, hodo_x86_fentry, hodo_x86_fentry_to
