/* SPDX-License-Identifier: MIT */
/*
 * places.S - functions with gcc's slots, without a byte between them, at each place relative to a multiple of 8:
 *
 *	both	entry, exit, ret: the shortest function that has both
 *	only	entry, ret: like a function that traps
 *	whole	entry, and a jump to its unlikely end, which gcc moves elsewhere
 *	part	that end: exit, ret
 *
 * places: for each function to be called its start; then start and end of what contains its entry, and its exit; or 0.
 */
	.altmacro
	.macro FUNCTION name
	.type	\name, @function
\name:
	.endm
	.macro END name
end_\name:
	.size	\name, . - \name
	.endm

	.macro PLACES i
	FUNCTION both_\i
	call	__fentry__
	call	__return__
	ret
	END	both_\i
	FUNCTION only_\i
	call	__fentry__
	ret
	END	only_\i
	FUNCTION whole_\i
	call	__fentry__
	.byte	0xe9
	.long	part_\i - . - 4
	END	whole_\i
	FUNCTION part_\i
	call	__return__
	ret
	END	part_\i
	.endm
	.macro ENTRIES i
	.quad	both_\i, both_\i, end_both_\i, both_\i, end_both_\i
	.quad	only_\i, only_\i, end_only_\i, 0, 0
	.quad	whole_\i, whole_\i, end_whole_\i, part_\i, end_part_\i
	.endm

	.text
	.set	n, 0
	.rept	8
	PLACES	%n
	.set	n, n + 1
	.endr

	.section .data.rel.ro, "aw"
	.balign	8
	.globl	places
places:
	.set	n, 0
	.rept	8
	ENTRIES	%n
	.set	n, n + 1
	.endr
	.quad	0

	.section .note.GNU-stack, "", @progbits
