/* SPDX-License-Identifier: MIT */
/*
 * func.S - where slots at functions' entries and exits lead (enum hodo_hook in
 * func/hooks.h). All of the program's registers are live here: arguments at the entry, results at the exit,
 * and any register that GCC's tail jumps use.
 *
 * hodo_x86_record_{entry,exit,reached,mcount,entry_sp,exit_sp,fentry} the built-in recorder alone
 *
 *	save rax, rcx, rdx, r8, r10, r11
 *   start:
 *	as hodo_x86_emit (writer.S), the payload being 8 bytes pc and 4 bytes at >> 3
 *   commit:
 *	restore, return
 *   abort, slow, special: save the rest; unless hodo_x86_full(12):
 *	hodo_x86_keep(hodo_func_record_slow, event, pc, at)
 *
 * hodo_x86_short_{entry,exit}                                       the same, of objects that are short (hodo/abi.h)
 *
 *	a record of HODO_FORM_CALL or _RETURN; if at does not lie in the ring's window, or is not 8 above a multiple
 *	of 16: slow, where hodo_x86_call() comes first; an event written there has the address of such a record.
 *	The recorded address, with its two lowest bits cleared, must lie in the function. pc - 1 does: each
 *	slot is a call of at least 5 bytes, which ends at pc. The slot may be the whole function, or the whole
 *	of a part that GCC has moved elsewhere.
 *
 * hodo_x86_{record,short}_planned_{entry,exit}                      the same, from code that nobody prepared
 *
 *	also preserve the flags, by lahf and seto: compilers assume that functions' entries and exits clobber
 *	them, but hand-written assembly may not. Paths to C code, which needs the direction flag cleared,
 *	preserve that one, too.
 *
 * hodo_x86_dispatch_{…}                                             any other set of tracers
 *
 *	save what a C function may change
 *	hodo_dispatch_enter or _exit(pc, at, flags)      compiled for general registers only
 *	restore, return
 *
 * hodo_x86_keep(function, a, b, c)                                  a call that keeps the vector registers: keep.S
 *
 *	          on the stack          pc              at
 *	entry     pc, return address    behind slot     rsp + 8 at the hook
 *	exit      the same
 *	planned   the same              behind slot,    the same
 *	                                plus the number that stands there (hodo/abi_plan.h)
 *	fentry    the same; then libc's
 *	mcount    pc, …; rbp set up     behind slot     rbp + 8; then libc's
 *	*_sp      pc, …                 rdi             rsp + 8: inside the frame
 *
 * Unwinding: an entry hook is called by the function before it has done anything, so
 * CFA = rsp + 8 is right. An exit hook is called when the function has restored its caller's
 * registers, while its own unwind data still says otherwise (after pop or leave,
 * GCC's is wrong there): it passes as called by the function's caller, CFA = rsp + 16. So do the entry hooks
 * of planned functions: their callers, the slots, are not part of the program and have no unwind data. For
 * debuggers, everything is inside a line that begins nowhere: see stubs/functions_x86_64.S.
 */
#define RSEQ_OFFSET hodo_func_rseq_offset
#include <arch/x86_64/x86.inc>
#include "call.inc"
	.file	1 "func.S"
	.loc	1 1 0 is_stmt 0

#define EVENT_BYTES 12			/* pc, at >> 3 */
#define STATE_BYTES 24
#define FUNC_NEED (HEADER + EVENT_BYTES + 8)
#define SHORT_NEED (CALL_BYTES + 8)
#define FRAME_MASK 0x3ff0
#define FRAME_SHIFT 25
#define FUNCTION_SHIFT 37
#define DIRECTION 0x400
#define OVERFLOW 0x800
#define PLANNED_NUMBER 3		/* bytes behind a planned slot's call */
#define SP_EXIT_FRAME 4096

	.macro HOOK name, cfa
	FUNCTION \name
	.cfi_def_cfa_offset \cfa
	endbr64
	.endm

	/* All flags; and the direction flag cleared, as C code expects it. */
	.macro SAVE_FLAGS
	pushfq
	.cfi_adjust_cfa_offset 8
	cld
	.endm
	/* Clobbers rax. popfq would do it, and take twice as long as everything else. */
	.macro RESTORE_FLAGS
	RESTORE	%rax
	testl	$DIRECTION, %eax
	jz	8f
	std
8:	xchgb	%al, %ah
	andb	$OVERFLOW >> 8, %al
	addb	$0x80 - (OVERFLOW >> 8), %al	/* overflows if that was set */
	sahf
	.endm

	.macro DONE how
	.ifc \how, mcount
	jmp	*hodo_x86_mcount_next(%rip)
	.else
	.ifc \how, fentry
	jmp	*hodo_x86_fentry_next(%rip)
	.else
	ret
	.endif
	.endif
	.endm

	/* rax = pc, or rdx = at; saved: bytes on the stack since the hook. pc clobbers rdx. */
	.macro GET_PC how, saved
	.ifc \how, sp
	movq	%rdi, %rax
	.else
	.ifc \how, sp_exit
	movq	%rdi, %rax
	.else
	movq	\saved(%rsp), %rax
	.ifc \how, planned
	movslq	PLANNED_NUMBER(%rax), %rdx
	addq	%rdx, %rax
	.endif
	.endif
	.endif
	.endm
	/*
	 * An optimised function ends with a jump to its exit hook: then the hook returns to the call site
	 * that it is given, and the frame has been left. The stack pointer at its entry was lower, by less
	 * than SP_EXIT_FRAME: functions whose locals are visible from outside do not end so.
	 */
	.macro GET_AT how, saved
	.ifc \how, mcount
	leaq	8(%rbp), %rdx
	.else
	leaq	8 + \saved(%rsp), %rdx
	.ifc \how, sp_exit
	cmpq	%rsi, \saved(%rsp)
	jne	9f
	subq	$SP_EXIT_FRAME, %rdx
9:
	.endif
	.endif
	.endm

	/* saved: bytes that RECORD saves. */
	.macro RECORD_BEGIN name, how, event, cfa, need
	HOOK	hodo_x86_\name, \cfa
	.set	saved, 48
	SAVE	%rax
	.ifc \how, planned
	.set	saved, 56
	lahf
	seto	%al
	SAVE	%rax
	.endif
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%r8
	SAVE	%r10
	SAVE	%r11
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	\name\()_cs
\name\()_start:
	FIND_VIEW
	jz	\name\()_slow
	movq	hodo_func_states + STATE_BYTES * \event + STATE_ON(%rip), %rdx
	movl	(%rdx), %r11d			/* here: after the sequence the memory may be unmapped */
	cmpl	$1, %r11d
	jne	\name\()_special
	movq	VIEW_RING(%rcx), %r11
	movq	(%r11), %r8			/* word */
	movq	%r8, %rdx
	shrq	$COUNT_BITS, %rdx		/* position */
	decq	%rax
	andq	%rdx, %rax			/* offset in the packet */
	addq	$\need, %rax
	cmpq	VIEW_PACKET_SIZE(%rcx), %rax
	ja	\name\()_slow
	andq	VIEW_MASK(%rcx), %rdx
	addq	VIEW_DATA(%rcx), %rdx
	movq	%rdx, %rcx			/* slot in the ring */
	TIME	\name\()_slow
	andl	$TIME_MASK, %eax
	.endm

	.macro RECORD_END name, how, event, bytes, slow
	addq	$(\bytes << COUNT_BITS) + 1, %r8
	movq	%r8, (%r11)
\name\()_commit:
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%r8
	RESTORE	%rdx
	RESTORE	%rcx
	.ifc \how, planned
	RESTORE	%rax
	addb	$127, %al			/* overflows if that flag was set */
	sahf
	.endif
	RESTORE	%rax
	DONE	\how
	.cfi_adjust_cfa_offset saved
	RSEQ_ABORT \name\()_abort
	jmp	\name\()_slow
\name\()_special:
	testl	%r11d, %r11d
	je	\name\()_commit
\name\()_slow:
	GET_PC	\how, saved
	GET_AT	\how, saved
	movl	$\event, %ecx
	.ifc \how, planned
	SAVE_FLAGS
	call	\slow
	RESTORE_FLAGS
	.else
	call	\slow
	.endif
	jmp	\name\()_commit
	END	hodo_x86_\name
	RSEQ_CS_DEF \name\()_cs, \name\()_start, \name\()_commit, \name\()_abort
	.endm

	.macro RECORD name, how, event, cfa
	RECORD_BEGIN record_\name, \how, \event, \cfa, FUNC_NEED
	movzwl	hodo_func_states + STATE_BYTES * \event + STATE_ID(%rip), %edx
	shlq	$ID_SHIFT, %rdx
	leaq	FORM_EVENT(%rax, %rdx), %rax
	movq	%rax, (%rcx)
	GET_PC	\how, saved
	movq	%rax, HEADER(%rcx)
	GET_AT	\how, saved
	shrq	$3, %rdx
	movl	%edx, HEADER + 8(%rcx)
	RECORD_END record_\name, \how, \event, (HEADER + EVENT_BYTES), record_slow
	.endm

	/* event is the record's form, too. */
	.macro SHORT name, how, event, cfa
	RECORD_BEGIN short_\name, \how, \event, \cfa, SHORT_NEED
	GET_AT	\how, saved
	movq	%rdx, %r10
	subq	RING_WINDOW(%r11), %r10
	rorq	$4, %r10			/* 0 to 1023 if it is in the window and a multiple of 16 */
	cmpq	$WINDOW_BYTES / 16, %r10
	jae	short_\name\()_slow
	.if \event
	orl	$\event, %eax
	.endif
	andl	$FRAME_MASK, %edx
	shlq	$FRAME_SHIFT, %rdx
	orq	%rdx, %rax
	movq	saved(%rsp), %rdx
	.ifc \how, planned
	movslq	PLANNED_NUMBER(%rdx), %r10
	addq	%r10, %rdx
	.endif
	decq	%rdx
	andq	$-4, %rdx
	shlq	$FUNCTION_SHIFT, %rdx
	orq	%rdx, %rax
	movq	%rax, (%rcx)
	RECORD_END short_\name, \how, \event, CALL_BYTES, short_slow
	.endm

	RECORD	entry, call, 0, 8
	RECORD	exit, call, 1, 16
	RECORD	entry_sp, sp, 2, 8
	RECORD	exit_sp, sp_exit, 3, 8
	RECORD	reached, call, 4, 8
	RECORD	mcount, mcount, 4, 8
	RECORD	fentry, fentry, 4, 8
	RECORD	planned_entry, planned, 0, 16
	RECORD	planned_exit, planned, 1, 16

	SHORT	entry, call, 0, 8
	SHORT	exit, call, 1, 16
	SHORT	planned_entry, planned, 0, 16
	SHORT	planned_exit, planned, 1, 16

	/* Called by the above: rax = pc, rdx = at, ecx = event. Keeps what they do not restore. */
	.macro SLOW_BEGIN name
	.type	\name, @function
	.balign	16
\name:
	.loc	1 2 0 is_stmt 0			/* not its caller's: gdb goes on in a line without looking for calls */
	.cfi_startproc
	SAVE	%rsi
	SAVE	%rdi
	SAVE	%r9
	SAVE	%rax
	SAVE	%rdx
	SAVE	%rcx
	.endm

	SLOW_BEGIN short_slow
	decq	%rax				/* as in a call's record, in an event too: one function, one address */
	andq	$-4, %rax
	movq	%rax, 16(%rsp)
	movl	%edx, %edi
	andl	$15, %edi
	cmpl	$8, %edi
	jne	slow_event
	leal	(%rcx, %rcx, 2), %edi
	leaq	hodo_func_states(%rip), %r8
	leaq	(%r8, %rdi, STATE_BYTES / 3), %r8
	movq	%rax, %rsi
	shlq	$FUNCTION_SHIFT, %rsi
	movl	%edx, %edi
	andl	$FRAME_MASK, %edi
	shlq	$FRAME_SHIFT, %rdi
	orq	%rdi, %rsi
	orq	%rcx, %rsi
	subq	$WINDOW_BYTES / 2, %rdx
	xorb	%dl, %dl
	movq	%r8, %rdi
	call	hodo_x86_call@PLT
	testl	%eax, %eax
	jnz	slow_event
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	RESTORE	%r9
	RESTORE	%rdi
	RESTORE	%rsi
	ret
	END	short_slow

	SLOW_BEGIN record_slow
slow_event:
	movl	$EVENT_BYTES, %edi
	call	hodo_x86_full@PLT		/* a program that outruns the recorder comes here at every event */
	movl	%eax, %edi
	RESTORE	%rsi
	RESTORE	%rcx
	RESTORE	%rdx
	testl	%edi, %edi
	jnz	1f
	leaq	hodo_func_record_slow(%rip), %rdi
	call	hodo_x86_keep
1:	RESTORE	%r9
	RESTORE	%rdi
	RESTORE	%rsi
	ret
	END	record_slow

	.macro DISPATCH name, how, function, flags, cfa
	HOOK	hodo_x86_dispatch_\name, \cfa
	SAVE	%rax
	SAVE	%rdx
	.set	saved, 16
	.ifc \how, planned
	.set	saved, 24
	SAVE_FLAGS
	.endif
	GET_PC	\how, saved
	GET_AT	\how, saved
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	SAVE_CALLERS
	movq	%rax, %rdi
	movq	%rdx, %rsi
	movl	$\flags, %edx
	cld
	call	\function
	RESTORE_CALLERS
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	.cfi_restore %rbp
	.ifc \how, planned
	RESTORE_FLAGS
	.endif
	RESTORE	%rdx
	RESTORE	%rax
	DONE	\how
	END	hodo_x86_dispatch_\name
	.endm

	/* flags: HODO_DISPATCH_* */
	DISPATCH entry, call, hodo_dispatch_enter, 0, 8
	DISPATCH exit, call, hodo_dispatch_exit, 0, 16
	DISPATCH entry_sp, sp, hodo_dispatch_enter, 1, 8
	DISPATCH exit_sp, sp_exit, hodo_dispatch_exit, 1, 8
	DISPATCH reached, call, hodo_dispatch_enter, 2, 8
	DISPATCH mcount, mcount, hodo_dispatch_enter, 2, 8
	DISPATCH fentry, fentry, hodo_dispatch_enter, 2, 8
	DISPATCH planned_entry, planned, hodo_dispatch_enter, 4, 16
	DISPATCH planned_exit, planned, hodo_dispatch_exit, 4, 16

	.section .data.rel.ro.local, "aw"
	.globl	hodo_x86_hooks
	.hidden	hodo_x86_hooks
	.balign	8
hodo_x86_hooks:				/* by enum hodo_hook */
	.quad	hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none_mcount
	.quad	hodo_x86_hook_none, hodo_x86_hook_none, hodo_x86_hook_none_fentry
	.quad	hodo_x86_hook_none, hodo_x86_hook_none
	.irp	kind, record, dispatch
	.irp	hook, entry, exit, reached, mcount, entry_sp, exit_sp, fentry, planned_entry, planned_exit
	.quad	hodo_x86_\kind\()_\hook
	.endr
	.endr
	.quad	hodo_x86_short_entry, hodo_x86_short_exit, hodo_x86_record_reached, hodo_x86_record_mcount
	.quad	hodo_x86_record_entry_sp, hodo_x86_record_exit_sp, hodo_x86_record_fentry
	.quad	hodo_x86_short_planned_entry, hodo_x86_short_planned_exit
