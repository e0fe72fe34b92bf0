/* SPDX-License-Identifier: MIT */
/*
 * returns.S - where functions return whose return address was replaced (func/slots/returns.c).
 *
 * hodo_x86_return        entered by ret: rsp = at + 8
 *
 *	rsp = at, which still holds the address of hodo_x86_return
 *	save what a C function may change; vector registers hold results, too, so what follows is
 *	hodo_dispatch_return(at)                compiled for general registers only; puts the original address back
 *	restore, ret
 *
 * Unwinders see it as a separate function between the called one and its caller: they look up its address, as
 * a return address, one byte back, which is why a nop precedes it.
 *
 *	return address	 *at, unless that is hodo_x86_return; then the table's, for at
 *	rsp		 at + 8
 *	CFA		 at + 12: libgcc knows frames by the CFA of what they called. That of the called
 *			 function is at + 8, so the caller would be taken for this one; it only must lie between
 */
#include <arch/x86_64/x86.inc>
#include "call.inc"
#include "returns.h"

#define BYTES2(v) (v) & 0xff, ((v) >> 8) & 0xff
#define BYTES4(v) BYTES2(v), BYTES2((v) >> 16)
#define BYTES8(v) BYTES4(v), BYTES4((v) >> 32)

	.text
	.globl	hodo_x86_returning
	.hidden	hodo_x86_returning
	.type	hodo_x86_returning, @function
	.globl	hodo_x86_return
	.hidden	hodo_x86_return
	.balign	64
hodo_x86_returning:
	.cfi_startproc
	.cfi_def_cfa %rsp, 4
	/* DW_CFA_val_expression: rsp = CFA - 4 */
	.cfi_escape 0x16, 7, 2, 0x34, 0x1c
	/* DW_CFA_val_expression: return address, of 93 bytes. The CFA is on the stack; one copy stays below all else,
	 * since libgcc does not let pick reach the last element. */
	.cfi_escape 0x16, 16, 93
	.cfi_escape 0x12, 0x3c, 0x1c                      /* dup lit12 minus: at */
	.cfi_escape 0x12, 0x06                            /* dup deref: at v */
	.cfi_escape 0x12                                  /* dup */
	.cfi_escape 0x0e, BYTES8(HODO_RETURNS_TABLE)      /* const8u */
	.cfi_escape 0x06, 0x29                            /* deref eq: at v, v is hodo_x86_return? */
	.cfi_escape 0x28, BYTES2(3)                       /* bra 1f */
	.cfi_escape 0x2f, BYTES2(70)                      /* skip 4f: v */
	.cfi_escape 0x13                                  /* 1: drop */
	.cfi_escape 0x12, 0x34, 0x25                      /* dup lit4 shr: at low */
	.cfi_escape 0x14, 0x08, HODO_RETURNS_HIGH_SHIFT   /* over const1u */
	.cfi_escape 0x25                                  /* shr */
	.cfi_escape 0x0e, BYTES8(HODO_RETURNS_FACTOR)     /* const8u */
	.cfi_escape 0x1e, 0x22                            /* mul plus: at h */
	.cfi_escape 0x30                                  /* lit0: at h i */
	.cfi_escape 0x14, 0x14, 0x1c                      /* 2: over over minus */
	.cfi_escape 0x0c, BYTES4(HODO_RETURNS_MASK)       /* const4u */
	.cfi_escape 0x1a, 0x34, 0x24                      /* and lit4 shl */
	.cfi_escape 0x0e, BYTES8(HODO_RETURNS_ENTRIES)    /* const8u */
	.cfi_escape 0x22                                  /* plus: at h i entry */
	.cfi_escape 0x12, 0x06, 0x33, 0x21                /* dup deref lit3 or: without marks */
	.cfi_escape 0x15, 4, 0x33, 0x21                   /* pick 4 lit3 or */
	.cfi_escape 0x29                                  /* eq */
	.cfi_escape 0x28, BYTES2(14)                      /* bra 3f */
	.cfi_escape 0x13                                  /* drop: at h i */
	.cfi_escape 0x23, 1, 0x12                         /* plus_uconst 1 dup */
	.cfi_escape 0x08, HODO_RETURNS_PROBES             /* const1u */
	.cfi_escape 0x2d                                  /* lt */
	.cfi_escape 0x28, BYTES2(-43)                     /* bra 2b */
	.cfi_escape 0x30                                  /* lit0: the stack ends here */
	.cfi_escape 0x2f, BYTES2(3)                       /* skip 4f */
	.cfi_escape 0x23, 8, 0x06                         /* 3: plus_uconst 8 deref; 4: */
	nop
hodo_x86_return:
	leaq	-8(%rsp), %rsp
	.cfi_def_cfa_offset 12
	SAVE	%rax
	SAVE	%rdx
	SAVE	%rbp
	/* DW_CFA_expression: rbp is saved at rsp. No other rule can express its offset from the CFA. */
	.cfi_escape 0x10, 6, 2, 0x77, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0 /* at rbp */
	SAVE_CALLERS
	leaq	24(%rbp), %rdi
	cld
	call	hodo_dispatch_return
	RESTORE_CALLERS
	.cfi_def_cfa_register %rsp
	.cfi_escape 0x10, 6, 2, 0x77, 0
	RESTORE	%rbp
	.cfi_restore %rbp
	RESTORE	%rdx
	RESTORE	%rax
	ret
	END	hodo_x86_returning
