/* SPDX-License-Identifier: MIT */
/* probes.S - probes of <sys/sdt.h> in assembly. */
#include <sys/sdt.h>

	.text
	.globl	in_assembly
in_assembly:
	STAP_PROBE(shop, start)
	STAP_PROBE2(shop, halfway, -4@%edi, 8@16(%rsp))
	DTRACE_PROBE12(shop, end, 8@%rax, 8@%rbx, 8@%rcx, 8@%rdx, 8@%rsi, 8@%rdi, 8@%r8, 8@%r9, 8@%r10, 8@%r11, \
		       8@%r12, 8@$1)
	ret
	.section .note.GNU-stack,"",@progbits
