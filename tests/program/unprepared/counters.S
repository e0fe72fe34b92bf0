/* SPDX-License-Identifier: MIT */
/* counters.S - what the slots of functions call in these tests: counts, and preserves all registers and flags. */
	.macro COUNTER name, number
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	endbr64
	pushfq
	lock incq \number(%rip)
	popfq
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	COUNTER	count_entry, entries
	COUNTER	count_exit, exits

	.bss
	.globl	entries, exits
	.balign	64
entries: .zero	64
exits:	.zero	64
	.section .note.GNU-stack, "", @progbits
