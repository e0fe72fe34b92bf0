/* SPDX-License-Identifier: MIT */
/*
 * refuse.S - evaluates filters of plain comparisons where the event happens: a refused event costs less than
 * a recorded one.
 *
 * hodo_x86_refuse(state, pieces, count)            1: the event's filter refuses it; 0: not, or not known here
 *
 *	cs = &descriptor                            arms the sequence
 *   start:
 *	view = thread.table[(u16)rseq.cpu_id]
 *	if view.packet_size == 0: not known         no recording here: fork child, no rseq
 *	if *state.on has not FILTER, or has RULES: not known
 *	filter = state.event->filter
 *	at = filter.first
 *	while at is a step:                         as hodo_filter_run() (core/filter_run.c), which knows all kinds
 *		test = filter.test[at]
 *		number: met = (value & mask) - first <= span
 *		text:   met = it is, begins or ends with the bytes
 *		other, a NULL text perhaps, or no such piece: not known
 *		at = met != negate ? yes : no
 *	commit:
 *	return at == REJECT; abort: return 0
 *
 * In a restartable sequence because the next recording reuses the filter's memory: the end of a recording
 * clears the on words and restarts all sequences, so that none is left that saw the filter in use
 * (user/talk/recording.c). It stores nothing. hodo_filter_run() does the same in a section; tests/verb/record_rules
 * compares what both accept. A text is as long as its piece: it contains no NUL, since libhodo has measured it
 * (strlen).
 */
#include "x86.inc"

#define EVENT_FILTER 0
#define FILTER_FIRST 11
#define FILTER_TEST 408
#define TEST_SHIFT 5
#define TEST_KIND 0
#define TEST_NEGATE 1
#define TEST_YES 2
#define TEST_NO 3
#define TEST_PIECE 5
#define TEST_OFFSET 6
#define TEST_LAST 7
#define TEST_MASK 8
#define TEST_FROM 16
#define TEST_SPAN 24
#define TEST_BYTES 8
#define TEST_LEN 16
#define PIECE_DATA 0
#define PIECE_LEN 8

#define ON_FILTER 2
#define ON_RULES 8
#define ACCEPT 254
#define REJECT 255
#define KIND_I16 2
#define KIND_I32 4
#define KIND_64 6
#define KIND_F64 7
#define KIND_PREFIX 9
#define KIND_SUFFIX 10

	FUNCTION hodo_x86_refuse		/* keeps rdi */
	movq	hodo_tls@gottpoff(%rip), %r10
	ARM	refuse_cs
refuse_start:
	FIND_VIEW
	jz	refuse_no
	movq	STATE_ON(%rdi), %rax
	movl	(%rax), %eax
	andl	$(ON_FILTER | ON_RULES), %eax
	cmpl	$ON_FILTER, %eax
	jne	refuse_no
	movq	STATE_EVENT(%rdi), %rax
	movq	EVENT_FILTER(%rax), %r8		/* filter */
	movzbl	FILTER_FIRST(%r8), %eax
1:	cmpl	$ACCEPT, %eax
	jae	refuse_done
	shll	$TEST_SHIFT, %eax
	leaq	FILTER_TEST(%r8, %rax), %r9	/* test */
	movzbl	TEST_PIECE(%r9), %r10d
	cmpq	%rdx, %r10
	jae	refuse_no
	shll	$4, %r10d
	addq	%rsi, %r10			/* piece */
	movzbl	TEST_KIND(%r9), %r11d
	cmpl	$KIND_F64, %r11d
	ja	6f
	movzbl	TEST_LAST(%r9), %eax
	cmpq	PIECE_LEN(%r10), %rax
	jae	refuse_no
	movzbl	TEST_OFFSET(%r9), %ecx
	addq	PIECE_DATA(%r10), %rcx
	cmpl	$KIND_I32, %r11d
	jb	3f
	je	2f
	cmpl	$KIND_64, %r11d
	movl	(%rcx), %eax			/* U32 */
	jb	5f
	movq	(%rcx), %rax
	je	5f
	movq	%rax, %rcx			/* F64: hodo_filter_double_key() */
	sarq	$63, %rcx
	btsq	$63, %rcx
	xorq	%rcx, %rax
	jmp	5f
2:	movslq	(%rcx), %rax
	jmp	5f
3:	cmpl	$KIND_I16, %r11d
	jb	4f
	movswq	(%rcx), %rax
	je	5f
	movzwl	%ax, %eax
	jmp	5f
4:	movsbq	(%rcx), %rax
	testl	%r11d, %r11d
	jz	5f
	movzbl	%al, %eax
5:	andq	TEST_MASK(%r9), %rax
	subq	TEST_FROM(%r9), %rax
	cmpq	TEST_SPAN(%r9), %rax
	setbe	%cl
refuse_met:				/* cl: met */
	movzbl	TEST_NO(%r9), %eax
	movzbl	TEST_YES(%r9), %r10d
	cmpb	TEST_NEGATE(%r9), %cl
	cmovne	%r10d, %eax
	jmp	1b
6:	cmpl	$KIND_SUFFIX, %r11d
	ja	refuse_no
	movq	PIECE_LEN(%r10), %rcx
	movq	PIECE_DATA(%r10), %r10
	cmpq	$65535, %rcx			/* HODO_STR_MAX */
	ja	refuse_no
	cmpq	$7, %rcx			/* HODO_NULL_TEXT? */
	jne	7f
	cmpb	$'(', (%r10)
	je	refuse_no
7:	movq	TEST_LEN(%r9), %rax
	subq	%rax, %rcx			/* the text is longer by so much */
	jb	refuse_differs
	cmpl	$KIND_PREFIX, %r11d
	je	8f
	ja	9f
	testq	%rcx, %rcx
	jnz	refuse_differs
	jmp	8f
9:	addq	%rcx, %r10
8:	movq	TEST_BYTES(%r9), %rcx
	testq	%rax, %rax
	jz	refuse_same
10:	movzbl	-1(%rcx, %rax), %r11d
	cmpb	-1(%r10, %rax), %r11b
	jne	refuse_differs
	decq	%rax
	jnz	10b
refuse_same:
	movl	$1, %ecx
	jmp	refuse_met
refuse_differs:
	xorl	%ecx, %ecx
	jmp	refuse_met
refuse_done:
	cmpl	$REJECT, %eax
	sete	%al
refuse_commit:
	movzbl	%al, %eax
	ret
refuse_no:
	xorl	%eax, %eax
	ret
	RSEQ_ABORT refuse_abort
	xorl	%eax, %eax
	ret
	END	hodo_x86_refuse
	RSEQ_CS_DEF refuse_cs, refuse_start, refuse_commit, refuse_abort
