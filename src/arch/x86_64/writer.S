/* SPDX-License-Identifier: MIT */
/*
 * writer.S - the hot path: writing an event, and switching packets, each as
 * one restartable sequence (rseq(2); ABI: linux/rseq.h). A thread that is
 * preempted, migrated or signalled between the labels `start` and `commit`
 * continues at `abort` instead; nothing it stored was visible, since only the
 * last instruction, the store of the commit word, makes it so.
 *
 * hodo_x86_emit(state, data, len)                  the fast writer, fixed fields
 *
 *	cs = &descriptor                            arms the sequence
 *   start:
 *	view = thread.table[(u16)rseq.cpu_id]
 *	if view.packet_size == 0: slow              no ring here: not set up, fork child, no rseq
 *	if *state.on != RECORD: off or special
 *	word = view.ring.word
 *	if offset(word) + need(len) > packet_size: slow
 *	slot = view.data + (position(word) & view.mask)
 *	if view.ring.anchor != (tsc >> 29, thread.tid): slow
 *	slot.word = tsc & TIME_MASK | FORM_EVENT | state.id << 32
 *	copy len bytes behind 6, 8 at a time        may scribble 7 bytes further; need() leaves room
 *	view.ring.word = word + (len + 6) << 20 + 1
 *   commit:
 *	return
 *   special: if hodo_x86_refuse(state, &{ data, len }, 1): return
 *   abort, slow, special: tail-call hodo_x86_slow(state, data, len)
 *
 * hodo_x86_try(state, pieces, count, total, on)    one attempt, any fields
 *
 *	the same with *state.on compared with on, and the payload gathered from
 *	the pieces; an anchor goes before the event where it needs one (core/ring.h):
 *
 *	view.ring.anchor = 0; slot.anchor = tsc, thread.tid, window; slot += 16
 *   commit:                                        and then, in a sequence of its own:
 *   start:
 *	view as above; if there is none, *state.on does not record, or the ring, word
 *	or the packet's timestamp_begin are not what they were: leave it
 *	view.ring.window = window + 8; view.ring.anchor = (tsc >> 29, thread.tid)
 *   commit:
 *	returns an enum hodo_try.
 *
 * hodo_x86_call(state, record, window)             one attempt to write a call or return, an anchor before it
 *
 *	the same with a record of 8 bytes, but for its time, instead of an event.
 *
 * hodo_x86_gather(state, values)                   one attempt, values as sites hand them over
 *
 *	the same with the payload put together by state.event.plan (user/event/emit.h), and texts measured while they
 *	are copied: 16 bytes at a time, through the one register that is saved for it. The required room includes
 *	the first 16 of each; more fit as far as the packet goes. 1: done, or it is off; 0: left to C code.
 *
 * hodo_x86_full(total)                             one attempt to count an event lost
 *
 *   start:
 *	view as above; if view.packet_size == 0 or view.capacity == 0: no
 *	if there is room for total bytes: no
 *	if open packet's seq + 1 - ring.consumed < view.capacity: no
 *	lock: ring.lost_full += 1                   locked, since the C paths add to it from any CPU
 *   commit:
 *	return 1; no or abort: return 0
 *
 * hodo_x86_switch(plan)                            one attempt to switch packets
 *
 *   start:
 *	if rseq.cpu_id != plan.cpu or ring.word != plan.word or old.seq != plan.seq: fail
 *	close old, fill fresh; ring.anchor = 0; ring.word = plan.fresh_word
 *   commit:
 *	return 0; fail or abort: return -1
 *
 * hodo_x86_count(counts, open)                     one attempt to count in or out of a section (user/event/section.c)
 *
 *   start:
 *	if *open == 0: closed
 *	counts[64 * (u16)rseq.cpu_id] += 1
 *   commit:
 *	return 1; closed: return 0; abort: return -1
 *
 * Why each check is inside: a view read outside could belong to another CPU
 * by the time of the store; an on word read outside could have been cleared,
 * and the disabler's barrier may already be over (it restarts sequences, so one that began before sees the
 * cleared word).
 *
 * C twins: src/arch/generic/twin.c; tests/unit/arch compares both byte for byte.
 */
#include "x86.inc"

#define ON_RECORD 1
#define ON_FILTER 2
#define HODO_STR_MAX 65535

	.macro INJECT point
#ifdef HODO_INJECT_HOOK
	movl	hodo_inject_loops + 4 * \point(%rip), %eax
7777:	testl	%eax, %eax
	jz	7778f
	decl	%eax
	jmp	7777b
7778:
#endif
	.endm

	/*
	 * Finds room for r9 bytes of payload in rcx's ring. slot = where the event goes, r11 = ring, r8 = word.
	 * Clobbers rax, rdx.
	 */
	.macro PLACE slot, need, slow
	INJECT	0
	movq	VIEW_PACKET_SIZE(%rcx), %rax
	movq	VIEW_RING(%rcx), %r11
	movq	(%r11), %r8			/* word */
	movq	%r8, %rdx
	shrq	$COUNT_BITS, %rdx		/* position */
	decq	%rax
	andq	%rdx, %rax			/* offset in the packet */
	leaq	\need(%rax, %r9), %rax
	cmpq	VIEW_PACKET_SIZE(%rcx), %rax
	ja	\slow
	andq	VIEW_MASK(%rcx), %rdx
	addq	VIEW_DATA(%rcx), %rdx
	movq	%rdx, \slot
	INJECT	1
	.endm

	/* The head of an event of rax = ticks, rdi = state. Clobbers rax, rdx. */
	.macro HEAD slot
	andl	$TIME_MASK, %eax
	movzwl	STATE_ID(%rdi), %edx
	shlq	$ID_SHIFT, %rdx
	leaq	FORM_EVENT(%rax, %rdx), %rax
	movq	%rax, (\slot)
	.endm

	/* The commit store must be the last instruction: what follows is outside the section. r8: word, r9: bytes of
	 * payload, r11: ring. Clobbers rdx. */
	.macro COMMIT
	leaq	HEADER(%r9), %rdx
	shlq	$COUNT_BITS, %rdx
	leaq	1(%r8, %rdx), %r8
	movq	%r8, (%r11)
	.endm

	FUNCTION hodo_x86_emit
	movq	%rdx, %r9
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	emit_cs
emit_start:
	FIND_VIEW
	jz	emit_slow
	movq	STATE_ON(%rdi), %r8
	movl	(%r8), %eax			/* once: outside the sequence the memory may be unmapped */
	cmpl	$1, %eax
	jne	emit_special
	PLACE	%rcx, NEED, emit_slow
	TIME	emit_slow
	HEAD	%rcx
	xorl	%eax, %eax
	testq	%r9, %r9
	jz	2f
1:	movq	(%rsi, %rax), %rdx
	movq	%rdx, HEADER(%rcx, %rax)
	addq	$8, %rax
	cmpq	%r9, %rax
	jb	1b
2:	INJECT	2
	COMMIT
emit_commit:
	ret
emit_special:
	testl	%eax, %eax
	jz	3f
	testb	$ON_FILTER, %al
	jz	emit_slow
	SAVE	%r9				/* struct hodo_piece */
	SAVE	%rsi
	movq	%rsp, %rsi
	movl	$1, %edx
	call	hodo_x86_refuse
	RESTORE	%rsi
	RESTORE	%r9
	testl	%eax, %eax
	jnz	3f
emit_slow:
	movq	%r9, %rdx
	jmp	*hodo_x86_slow(%rip)
3:	ret
	RSEQ_ABORT emit_abort
	movq	%r9, %rdx
	jmp	*hodo_x86_slow(%rip)
	END	hodo_x86_emit
	RSEQ_CS_DEF emit_cs, emit_start, emit_commit, emit_abort

#define NEED_ANCHOR (ANCHOR + NEED)
	/* What these two keep below the stack pointer between their sequences: they call nothing. */
#define KEPT_WINDOW -8			/* of the anchor */
#define KEPT_BEGIN -16			/* timestamp_begin of the packet */
#define KEPT_KEY -24			/* ring.anchor */

	/* reg = the packet that r8, the word of rcx's ring, is in. Clobbers scratch. */
	.macro OPEN_PACKET reg, scratch
	movq	%r8, \scratch
	shrq	$COUNT_BITS, \scratch
	movq	VIEW_PACKET_SIZE(%rcx), \reg
	negq	\reg
	andq	\scratch, \reg
	andq	VIEW_MASK(%rcx), \reg
	addq	VIEW_DATA(%rcx), \reg
	.endm

	/*
	 * Writes an anchor at slot and advances it: for rax = ticks, this thread and the window in rdx. rcx =
	 * view, r8 = word, r11 = ring, r10 = hodo_tls's offset. Clobbers rcx, rdx, r10.
	 */
	.macro PUT_ANCHOR slot
	movq	$0, RING_ANCHOR(%r11)
	movq	%rdx, KEPT_WINDOW(%rsp)
	shlq	$TID_BITS - WINDOW_SHIFT, %rdx
	movl	%fs:THREAD_TID(%r10), %r10d
	movl	%r10d, KEPT_KEY + 4(%rsp)
	andl	$(1 << TID_BITS) - 1, %r10d
	orq	%r10, %rdx
	movq	%rdx, 8(\slot)
	movq	%rax, %rdx
	orq	$FORM_ANCHOR, %rdx
	movq	%rdx, (\slot)
	shrq	$EPOCH_SHIFT, %rdx
	movl	%edx, KEPT_KEY(%rsp)
	OPEN_PACKET %rdx, %r10
	movq	PACKET_BEGIN(%rdx), %rdx
	movq	%rdx, KEPT_BEGIN(%rsp)
	addq	$ANCHOR, \slot
	.endm

	/*
	 * After the commit of a record with an anchor: notes it in the ring, in a separate sequence. rdi =
	 * state, r8 = the committed word, r11 = ring, which is not touched before the checks: the recording
	 * may end here. Clobbers rax, rcx, rdx, rsi, r10, r11.
	 */
	.macro SET_ANCHOR name
	INJECT	8
	movq	%r11, %rsi
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	\name\()_set_cs
\name\()_set_start:
	FIND_VIEW
	jz	\name\()_set_done
	movq	STATE_ON(%rdi), %rdx
	testb	$ON_RECORD, (%rdx)
	jz	\name\()_set_done
	cmpq	%rsi, VIEW_RING(%rcx)
	jne	\name\()_set_done
	cmpq	%r8, (%rsi)
	jne	\name\()_set_done
	OPEN_PACKET %rdx, %rax
	movq	PACKET_BEGIN(%rdx), %rax
	cmpq	%rax, KEPT_BEGIN(%rsp)		/* else from a later lap, or another recording in the same place */
	jne	\name\()_set_done
	INJECT	6
	movq	KEPT_WINDOW(%rsp), %rax
	addq	$8, %rax
	movq	%rax, RING_WINDOW(%rsi)
	INJECT	7
	movq	KEPT_KEY(%rsp), %rax
	movq	%rax, RING_ANCHOR(%rsi)
\name\()_set_commit:
	jmp	\name\()_set_done
	RSEQ_ABORT \name\()_set_abort
\name\()_set_done:
	.endm

	FUNCTION hodo_x86_call, SHARED
	movq	hodo_tls@gottpoff(%rip), %r10
	movl	$CALL_BYTES - HEADER, %r9d	/* what it is longer than an event's head */
	movq	%rdx, KEPT_WINDOW(%rsp)
	ARM	call_cs
call_start:
	FIND_VIEW
	jz	call_slow
	movq	STATE_ON(%rdi), %r8
	cmpl	$ON_RECORD, (%r8)
	jne	call_slow
	PLACE	%r9, NEED_ANCHOR, call_slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	KEPT_WINDOW(%rsp), %rdx
	PUT_ANCHOR %r9
	andl	$TIME_MASK, %eax
	orq	%rsi, %rax
	movq	%rax, (%r9)
	INJECT	5
	addq	$((ANCHOR + CALL_BYTES) << COUNT_BITS) + 1, %r8
	movq	%r8, (%r11)
call_commit:
	SET_ANCHOR call
	xorl	%eax, %eax			/* HODO_TRY_DONE */
	ret
call_slow:
	movl	$1, %eax			/* HODO_TRY_SLOW */
	ret
	RSEQ_ABORT call_abort
	movl	$3, %eax			/* HODO_TRY_ABORTED */
	ret
	END	hodo_x86_call
	RSEQ_CS_DEF call_cs, call_start, call_commit, call_abort
	RSEQ_CS_DEF call_set_cs, call_set_start, call_set_commit, call_set_abort

	FUNCTION hodo_x86_try, SHARED
	SAVE	%rbx
	.cfi_rel_offset %rbx, 0
	SAVE	%rbp
	.cfi_rel_offset %rbp, 0
	SAVE	%r12
	.cfi_rel_offset %r12, 0
	movq	%rdx, %rbp			/* pieces */
	movq	%rcx, %r9			/* total */
	movl	%r8d, %r12d			/* on */
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	try_cs
try_start:
	FIND_VIEW
	jz	try_slow
	movq	STATE_ON(%rdi), %r8
	cmpl	%r12d, (%r8)
	jne	try_changed
	PLACE	%rbx, NEED_ANCHOR, try_slow
	xorl	%r12d, %r12d			/* bytes of the anchor */
	TIME	try_anchor
try_record:
	HEAD	%rbx
	INJECT	5
	addq	$HEADER, %rbx
	testq	%rbp, %rbp
	jz	9f
1:	movq	(%rsi), %rdx			/* one piece: from %rdx, %rcx bytes, to %rbx */
	movq	8(%rsi), %rcx
	cmpq	$8, %rcx
	jb	4f
	cmpq	$512, %rcx
	jae	3f
	movq	-8(%rdx, %rcx), %r10		/* the last 8 bytes, stored after the steps that they overlap */
	addq	%rbx, %rcx
2:	movq	(%rdx), %rax
	movq	%rax, (%rbx)
	addq	$8, %rdx
	addq	$8, %rbx
	leaq	8(%rbx), %rax
	cmpq	%rcx, %rax
	jb	2b
	movq	%r10, -8(%rcx)
	movq	%rcx, %rbx
	jmp	8f
3:	movq	%rsi, %rax			/* long: the string instruction is faster from here on */
	movq	%rdi, %r10
	movq	%rdx, %rsi
	movq	%rbx, %rdi
	rep movsb
	movq	%rdi, %rbx
	movq	%rax, %rsi
	movq	%r10, %rdi
	jmp	8f
try_anchor:					/* here: all of the sequence lies before its commit */
	leaq	-WINDOW_BYTES / 2(%rsp), %rdx
	xorb	%dl, %dl
	PUT_ANCHOR %rbx
	movl	$ANCHOR, %r12d
	jmp	try_record
4:	testb	$4, %cl
	jz	5f
	movl	(%rdx), %eax
	movl	%eax, (%rbx)
	addq	$4, %rdx
	addq	$4, %rbx
5:	testb	$2, %cl
	jz	6f
	movzwl	(%rdx), %eax
	movw	%ax, (%rbx)
	addq	$2, %rdx
	addq	$2, %rbx
6:	testb	$1, %cl
	jz	8f
	movzbl	(%rdx), %eax
	movb	%al, (%rbx)
	incq	%rbx
8:	addq	$16, %rsi
	decq	%rbp
	jnz	1b
9:	INJECT	2
	leaq	HEADER(%r9, %r12), %rdx
	shlq	$COUNT_BITS, %rdx
	leaq	1(%r8, %rdx), %r8
	movq	%r8, (%r11)
try_commit:
	testl	%r12d, %r12d
	jz	try_done
	SET_ANCHOR try
try_done:
	xorl	%eax, %eax			/* HODO_TRY_DONE */
	jmp	try_out
try_slow:
	movl	$1, %eax			/* HODO_TRY_SLOW */
	jmp	try_out
try_changed:
	movl	$2, %eax			/* HODO_TRY_CHANGED */
	jmp	try_out
	RSEQ_ABORT try_abort
	movl	$3, %eax			/* HODO_TRY_ABORTED */
try_out:
	RESTORE	%r12
	.cfi_restore %r12
	RESTORE	%rbp
	.cfi_restore %rbp
	RESTORE	%rbx
	.cfi_restore %rbx
	ret
	END	hodo_x86_try
	RSEQ_CS_DEF try_cs, try_start, try_commit, try_abort
	RSEQ_CS_DEF try_set_cs, try_set_start, try_set_commit, try_set_abort

	FUNCTION hodo_x86_full, SHARED
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	full_cs
full_start:
	FIND_VIEW
	jz	full_no
	movq	VIEW_CAPACITY(%rcx), %r9
	testq	%r9, %r9
	jz	full_no
	movq	VIEW_RING(%rcx), %rsi
	movq	(%rsi), %rdx
	shrq	$COUNT_BITS, %rdx		/* position */
	decq	%rax
	movq	%rax, %r8
	andq	%rdx, %rax			/* offset in the packet */
	leaq	NEED_ANCHOR(%rax, %rdi), %rax
	cmpq	VIEW_PACKET_SIZE(%rcx), %rax
	jbe	full_no
	notq	%r8
	andq	%r8, %rdx
	andq	VIEW_MASK(%rcx), %rdx
	addq	VIEW_DATA(%rcx), %rdx		/* the open packet */
	movq	PACKET_SEQ(%rdx), %rax
	incq	%rax
	subq	RING_CONSUMED(%rsi), %rax
	cmpq	%r9, %rax
	jb	full_no
	lock incq RING_LOST_FULL(%rsi)
full_commit:
	movl	$1, %eax
	ret
full_no:
	xorl	%eax, %eax
	ret
	RSEQ_ABORT full_abort
	xorl	%eax, %eax
	ret
	END	hodo_x86_full
	RSEQ_CS_DEF full_cs, full_start, full_commit, full_abort

	FUNCTION hodo_x86_switch
	movq	0(%rdi), %rsi			/* ring */
	movq	8(%rdi), %rcx			/* old */
	movq	16(%rdi), %r8			/* fresh */
	movq	40(%rdi), %r9			/* seq */
	movq	48(%rdi), %r10			/* now */
	ARM	switch_cs
switch_start:
	movl	84(%rdi), %eax
	cmpl	%eax, RSEQ_CPU_ID(%r11)
	jne	switch_fail
	movq	24(%rdi), %rax
	cmpq	%rax, (%rsi)
	jne	switch_fail
	cmpq	%r9, 56(%rcx)
	jne	switch_fail
	INJECT	3
	movq	%r10, 32(%rcx)			/* old: timestamp_end, content_size, events */
	movq	56(%rdi), %rax
	movq	%rax, 40(%rcx)
	movl	80(%rdi), %eax
	movl	%eax, 76(%rcx)
	leaq	1(%r9), %rax			/* fresh: packet_seq_num */
	movq	%rax, 56(%r8)
	movq	64(%rdi), %rax
	movq	%rax, 80(%r8)			/* events_before */
	movq	%r10, 24(%r8)			/* timestamp_begin */
	movq	$0, 32(%r8)
	movq	$0, 40(%r8)
	movl	$0, 76(%r8)
	movq	72(%rdi), %rax
	movq	%rax, 64(%r8)			/* events_discarded */
	movq	$0, RING_ANCHOR(%rsi)
	INJECT	4
	movq	32(%rdi), %rax
	movq	%rax, (%rsi)
switch_commit:
	xorl	%eax, %eax
	ret
switch_fail:
	movl	$-1, %eax
	ret
	RSEQ_ABORT switch_abort
	movl	$-1, %eax
	ret
	END	hodo_x86_switch
	RSEQ_CS_DEF switch_cs, switch_start, switch_commit, switch_abort

	FUNCTION hodo_x86_count
	ARM	count_cs
count_start:
	cmpl	$0, (%rsi)
	je	1f
	FIND_CPU
	incq	(%rdi, %rcx)
count_commit:
	movl	$1, %eax
	ret
1:	xorl	%eax, %eax
	ret
	RSEQ_ABORT count_abort
	movl	$-1, %eax
	ret
	END	hodo_x86_count
	RSEQ_CS_DEF count_cs, count_start, count_commit, count_abort

	.section .rodata.cst16, "aM", @progbits, 16
	.balign	16
zeros:	.quad	0, 0
	.text

	/* What hodo_x86_gather() keeps below its stack pointer. */
#define AT_XMM0 -16
#define AT_PAYLOAD -24
#define AT_VIEW -32
#define AT_ROOM -36
#define PAGE_BYTES 4096
#define CHUNK 16

	/* May CHUNK bytes be read from reg on, if the first is mapped? Clobbers eax. */
	.macro WITHIN_PAGE reg, else
	movl	\reg, %eax
	andl	$PAGE_BYTES - 1, %eax
	cmpl	$PAGE_BYTES - CHUNK, %eax
	ja	\else
	.endm

	/* Copies CHUNK bytes of a text; eax: which are NUL. last: fewer than CHUNK may count. */
	.macro TEXT_CHUNK last, found
	movdqu	(%rdx), %xmm0
	movdqu	%xmm0, (%rbx)
	pcmpeqb	zeros(%rip), %xmm0
	pmovmskb %xmm0, %eax
	cmpq	$CHUNK, %rcx
	jb	\last
	testl	%eax, %eax
	jnz	\found
	.endm

	/* r12 = where a piece must end so that the others have room after it. r8: word. Clobbers rax. */
	.macro FIND_LIMIT
	movq	AT_VIEW(%rsp), %rax
	movq	VIEW_PACKET_SIZE(%rax), %rax
	movq	%r8, %r12
	shrq	$COUNT_BITS, %r12
	notq	%r12
	decq	%rax
	andq	%rax, %r12			/* bytes left in the packet, less one */
	movl	AT_ROOM(%rsp), %eax
	subq	%rax, %r12
	subq	$NEED + CHUNK - 1, %r12
	addq	AT_PAYLOAD(%rsp), %r12
	.endm

	/*
	 * rbx: where the next byte goes, r12: the limit for a piece longer than CHUNK, 0: not known yet; rsi:
	 * the next value, rdi: what to do with it, r10: bit n: field n is a text with a length.
	 */
	FUNCTION hodo_x86_gather
	SAVE	%rbx
	.cfi_rel_offset %rbx, 0
	SAVE	%r12
	.cfi_rel_offset %r12, 0
	movups	%xmm0, AT_XMM0(%rsp)
	movq	STATE_EVENT(%rdi), %r12
	movzwl	EVENT_ROOM(%r12), %r9d
	movl	%r9d, AT_ROOM(%rsp)
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	gather_cs
gather_start:
	FIND_VIEW
	jz	gather_no
	movq	STATE_ON(%rdi), %r8
	movl	(%r8), %eax
	cmpl	$1, %eax
	jne	gather_special
	PLACE	%rbx, NEED, gather_no
	TIME	gather_no
	HEAD	%rbx
	movq	%rcx, AT_VIEW(%rsp)
	addq	$HEADER, %rbx
	movq	%rbx, AT_PAYLOAD(%rsp)
	movzwl	STATE_VALUES(%rdi), %r10d
	leaq	EVENT_PLAN(%r12), %rdi
	xorl	%r12d, %r12d
.Lnext:	movzbl	(%rdi), %eax
	incq	%rdi
	cmpl	$8, %eax
	ja	.Lvaries
	testl	%eax, %eax
	jz	.Lend
	movq	(%rsi), %rdx			/* numbers; up to 7 bytes of what follows are overwritten later */
	movq	%rdx, (%rbx)
	addq	%rax, %rsi
	addq	%rax, %rbx
	jmp	.Lnext

.Lvaries:
	movq	(%rsi), %rdx			/* from */
	testq	%rdx, %rdx
	jz	gather_no
	testb	$0x40, %al
	jnz	.Ldata
	addq	$8, %rsi
	movl	$HODO_STR_MAX + 1, %ecx		/* at most so many bytes */
	btl	%eax, %r10d
	jc	.Lbounded
1:	addq	$2, %rbx
	movq	%rbx, %r9
	WITHIN_PAGE %edx, gather_no
	TEXT_CHUNK 4f, 5f
	movl	%edx, %eax			/* on to a multiple of CHUNK: none is on two pages */
	andl	$CHUNK - 1, %eax
	subq	$CHUNK, %rax
	subq	%rax, %rdx
	subq	%rax, %rbx
	addq	%rax, %rcx
	jz	6f
	testq	%r12, %r12
	jnz	3f
	FIND_LIMIT
3:	cmpq	%r12, %rbx
	ja	gather_no
	TEXT_CHUNK 4f, 5f
	addq	$CHUNK, %rdx
	addq	$CHUNK, %rbx
	subq	$CHUNK, %rcx
	jnz	3b
	jmp	6f
4:	btsl	%ecx, %eax
5:	rep bsfl %eax, %eax			/* tzcnt where there is one: the same, and faster */
	addq	%rax, %rbx
6:	movq	%rbx, %rax
	subq	%r9, %rax
	cmpq	$HODO_STR_MAX, %rax
	ja	gather_no
	movw	%ax, -2(%r9)
	jmp	.Lnext
.Lbounded:
	movq	(%rsi), %rcx
	addq	$8, %rsi
	testq	%rcx, %rcx
	jnz	1b
	jmp	gather_no

.Ldata:	movq	8(%rsi), %r9			/* elements; al: their size */
	addq	$16, %rsi
	cmpq	$65535, %r9
	ja	gather_no
	movl	%r9d, (%rbx)
	addq	$4, %rbx
	andl	$15, %eax
	imulq	%rax, %r9
	cmpq	$CHUNK, %r9
	ja	1f
	testq	%r9, %r9
	jz	.Lnext
	WITHIN_PAGE %edx, gather_no
	movdqu	(%rdx), %xmm0
	movdqu	%xmm0, (%rbx)
	addq	%r9, %rbx
	jmp	.Lnext
1:	testq	%r12, %r12
	jz	4f
2:	leaq	(%rbx, %r9), %rcx
	cmpq	%r12, %rcx
	ja	gather_no
	movdqu	-CHUNK(%rdx, %r9), %xmm0	/* the last ones, which the others may overlap */
	movdqu	%xmm0, -CHUNK(%rcx)
	subq	$CHUNK, %r9
3:	movdqu	(%rdx), %xmm0
	movdqu	%xmm0, (%rbx)
	addq	$CHUNK, %rdx
	addq	$CHUNK, %rbx
	subq	$CHUNK, %r9
	ja	3b
	movq	%rcx, %rbx
	jmp	.Lnext
4:	FIND_LIMIT
	jmp	2b

.Lend:	movq	%rbx, %r9
	subq	AT_PAYLOAD(%rsp), %r9
	INJECT	2
	COMMIT
gather_commit:
	movl	$1, %eax
	jmp	gather_out
gather_special:
	testl	%eax, %eax
	movl	$1, %eax
	jz	gather_out
gather_no:
	xorl	%eax, %eax
	jmp	gather_out
	RSEQ_ABORT gather_abort
	xorl	%eax, %eax
gather_out:
	movups	AT_XMM0(%rsp), %xmm0
	RESTORE	%r12
	.cfi_restore %r12
	RESTORE	%rbx
	.cfi_restore %rbx
	ret
	END	hodo_x86_gather
	RSEQ_CS_DEF gather_cs, gather_start, gather_commit, gather_abort
