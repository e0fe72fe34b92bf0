/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * saved.S - what writers call seldom, keeping all registers but the one of the result.
 *
 * A probe that calls a C function anywhere keeps its values in registers that it has to save first, on every event,
 * though the call comes once in a packet. Of these the compiler knows what they change (emit.h): nothing.
 *
 *	rax = function(rdi, rsi, rdx, rcx, r8); all others as they were
 */
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
saved hodo_rules_commit_saved hodo_rules_commit
saved hodo_monotonic_saved ktime_get_mono_fast_ns
