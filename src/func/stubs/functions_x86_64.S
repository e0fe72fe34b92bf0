/* SPDX-License-Identifier: MIT */
/*
 * functions_x86_64.S - libhodo-functions.a: linked into every executable and library with traceable functions
 * (pkg-config hodo-functions, CMake Hodo::functions).
 *
 * gcc -pg -mfentry -minstrument-return=call puts `call __fentry__` at the
 * entry of every function and `call __return__` before each return and tail jump. libhodo finds
 * these calls by their target and makes them no-ops until a tracer wants them; without libhodo, they lead
 * here and return at once:
 *
 *	if hook != NULL: jump to hook       the stack as if the slot had called it
 *	return
 *
 * The hook is NULL, and not the address of a default, so that it has no relocation: IFUNC resolvers call
 * this, and libhodo sets it, before relocations are applied. The flags are free at functions' entries and
 * exits; no register is touched.
 *
 * At the exit slot the function has already restored its caller's registers, but the unwind information there
 * still says otherwise. So __return__ claims to be called by the function's caller (CFA = rsp + 16): an
 * unwinder skips the function. A debugger that steps to the next line takes that for a return, and stops
 * where a line begins, or where there is none. So __return__ is inside a line that begins nowhere (is_stmt
 * 0), up to the section's end: gdb steps through it. __fentry__, which gdb sees as a call, has no line, so
 * that `step` does not enter it.
 *
 * -pg makes gcc link gcrt1.o, which starts gprof's profiler: __monstartup and
 * _mcleanup that do nothing keep it from sampling and from writing gmon.out.
 */
	.macro STUB name, hook, cfa
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	cmpq	$0, \hook(%rip)
	je	1f
	jmp	*\hook(%rip)
1:	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	STUB	__fentry__, hodo_functions_entry_hook, 8

	.globl	__monstartup, _mcleanup
	.hidden	__monstartup, _mcleanup
	.type	__monstartup, @function
	.type	_mcleanup, @function
__monstartup:
_mcleanup:
	.cfi_startproc
	endbr64
	ret
	.cfi_endproc

	.file	1 "functions_x86_64.S"
	.balign	16
	.loc	1 1 0 is_stmt 0
	STUB	__return__, hodo_functions_exit_hook, 16

	.bss
	.balign	8
	.hidden	hodo_functions_entry_hook, hodo_functions_exit_hook
hodo_functions_entry_hook:
	.zero	8
hodo_functions_exit_hook:
	.zero	8

	.section .note.hodo, "a", @note
	.balign	4
	.long	5, 16, 2		/* bytes of the name, of struct hodo_note_functions, HODO_NOTE_FUNCTIONS */
	.asciz	"Hodo"
	.balign	4
	.long	__fentry__ - ., __return__ - ., hodo_functions_entry_hook - ., hodo_functions_exit_hook - .

	/* Ready for indirect branch tracking and shadow stacks: the linker drops the mark if one object has none. */
	.section .note.gnu.property, "a", @note
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
