/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * saved.S - rare calls of writers, which preserve all registers except the result's.
 *
 * A probe that calls a C function anywhere keeps its values in registers that it must first save, for every
 * event, although the call happens once in a packet. The compiler knows that these calls change nothing
 * (emit.h).
 *
 *	rax = function(rdi, rsi, rdx, rcx, r8); all others as they were
 */
#include "saved.h"

#include <linux/linkage.h>

.macro saved name function
SYM_FUNC_START(\name)
	pushq %rbp
	movq %rsp, %rbp
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	call \function
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	popq %rbp
	RET
SYM_FUNC_END(\name)
.endm

saved hodo_emit_nested_saved hodo_emit_nested
saved hodo_emit_room_saved hodo_emit_room
saved hodo_emit_anchor_seldom hodo_emit_anchor
saved hodo_rules_commit_saved hodo_rules_commit

/*
 * hodo_emit_anchor() of an event in its CPU's own ring without rules, in a recording that uses the TSC: less
 * rare, since each thread that comes to a CPU has one. Saving registers as above would take twice as long.
 *
 *	rax = function(rdi writer, rsi event, edx tid); rdx is lost, all others as they were
 */
SYM_FUNC_START(hodo_emit_anchor_saved)
	cmpl $-1, HODO_WRITER_CPU(%rdi)
	je hodo_emit_anchor_seldom
	cmpq $0, HODO_EVENT_RULES(%rsi)
	jne hodo_emit_anchor_seldom
	pushq %rcx
	movq HODO_WRITER_AT(%rdi), %rcx
	movl %edx, HODO_WRITER_TID(%rdi)
	movl %edx, 8(%rcx)
	movl $0, 12(%rcx)
	rdtsc
	shlq $32, %rdx
	orq %rax, %rdx
	orq $HODO_SAVED_ANCHOR, %rdx
	movq %rdx, (%rcx)
	shrq $HODO_SAVED_EPOCH_SHIFT, %rdx
	movl %edx, HODO_WRITER_EPOCH(%rdi)
	andl $HODO_SAVED_TIME_MASK, %eax
	orq HODO_EVENT_HEAD(%rsi), %rax
	movq %rax, HODO_SAVED_ANCHOR_BYTES(%rcx)
	leaq HODO_SAVED_ANCHOR_BYTES(%rcx), %rax
	movq %rax, HODO_WRITER_AT(%rdi)
	movq HODO_WRITER_RING(%rdi), %rcx
	addq $(HODO_SAVED_ANCHOR_BYTES << HODO_SAVED_COUNT_BITS), (%rcx)
	popq %rcx
	RET
SYM_FUNC_END(hodo_emit_anchor_saved)
