/* SPDX-License-Identifier: MIT */
/* test_window.c - which bytes a probe replaces, and each reason why it cannot replace them. */
#include <lib/unit.h>
#include <probe/patch/whole_functions.h>
#include <probe/patch/window.h>
#include <string.h>

#include "code.h"

#define PAD "\n.byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0" /* nopw of 10 bytes */

static struct hodo_probe_object o;

static int drop(void **state)
{
	(void)state;
	hodo_probe_object_close(&o);
	return 0;
}

#define CHECK(function) TEST(function, .teardown = drop)

static void assert_window(struct hodo_probe_window w, enum hodo_probe_kind kind, enum hodo_probe_reason reason)
{
	assert_string_equal(hodo_probe_reason_key(w.reason), hodo_probe_reason_key(reason));
	assert_int_equal(w.kind, kind);
}

/* ------------------------------------------------------------------------ jumps */

CODE(frame, "push %rbp; mov %rsp,%rbp; push %rbx; lea 8(%rdi),%rax; pop %rbx; pop %rbp; ret");

CHECK(whole_instructions_are_replaced_and_their_begins_trap)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, frame);
	w = code_entry(&o);
	assert_window(w, HODO_PROBE_JUMP, HODO_PROBE_FINE);
	assert_int_equal(w.addr, CODE_AT);
	assert_int_equal(w.len, 5);
	assert_int_equal(w.n, 3);
	assert_int_equal(w.boundaries, 1 << 1 | 1 << 4);
	assert_int_equal(w.hooks, 1);
	assert_memory_equal(w.bytes, code_frame, 5);
}

CHECK(an_exit_begins_before_it_and_reaches_to_it)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, frame);
	w = code_exit(&o, 0);
	assert_window(w, HODO_PROBE_JUMP, HODO_PROBE_FINE);
	assert_int_equal(w.addr, CODE_AT + 5);
	assert_int_equal(w.len, 7);
	assert_int_equal(w.at[w.n - 1], 6);
	assert_int_equal(w.hooks, 1 << 3);
	/* Bytes 5 and 6 of the window stay as they are. */
	assert_int_equal(w.boundaries, 1 << 4);
}

CODE(branch_target, "endbr64; sub $24,%rsp; mov %rdi,%rax; ret" PAD);

CHECK(endbr64_stays)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, branch_target);
	w = code_entry(&o);
	assert_window(w, HODO_PROBE_JUMP, HODO_PROBE_FINE);
	assert_int_equal(w.addr, CODE_AT + 4);
	assert_int_equal(w.len, 7);
}

CODE(leaf, "xor %eax,%eax; ret" PAD);

CHECK(what_fills_the_gap_is_replaced_too)
{
	CODE_OBJECT_TO(&o, leaf, 3);
	assert_window(code_entry(&o), HODO_PROBE_JUMP, HODO_PROBE_FINE);
	assert_int_equal(code_entry(&o).len, 13);
	assert_int_equal(code_exit(&o, 0).addr, CODE_AT + 2);
	assert_window(code_exit(&o, 0), HODO_PROBE_JUMP, HODO_PROBE_FINE);
}

CHECK(an_exit_in_the_window_of_the_entry_is_a_hook_of_it)
{
	struct hodo_probe_plan p = { 0 };

	CODE_OBJECT_TO(&o, leaf, 3);
	assert_int_equal(hodo_probe_plan_function(&p, &o, 0, true, true), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.list[0].window.hooks, 1 << 0 | 1 << 1);
	assert_int_equal(p.list[0].entry, 0);
	assert_int_equal(p.list[0].exits, 1 << 1);
	hodo_probe_plan_free(&p);
}

CHECK(an_exit_alone_has_no_hook_at_the_entry)
{
	struct hodo_probe_plan p = { 0 };

	CODE_OBJECT(&o, frame);
	assert_int_equal(hodo_probe_plan_function(&p, &o, 0, false, true), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.list[0].entry, HODO_PROBE_NO_ENTRY);
	hodo_probe_plan_free(&p);
}

/* ------------------------------------------------------------------------ exits */

CODE(switch, "cmp $3,%edi; je 1f; ja 2f; js 3f; notrack jmp *%rax; jmp *8(,%rax,8); ud2;"
	     "1: mov (%rdi),%rax; jmp *16(%rax); 2: jmp . + 4096; 3: ret");

CHECK(jumps_through_tables_are_no_exits)
{
	CODE_OBJECT(&o, switch);
	assert_int_equal(o.nexits, 3);
	assert_int_equal(o.exits[0].leave, HODO_PROBE_TAIL_INDIRECT);
	assert_int_equal(o.exits[1].leave, HODO_PROBE_TAIL);
	assert_int_equal(o.exits[2].leave, HODO_PROBE_RETURN);
	assert_window(code_exit(&o, 1), HODO_PROBE_JUMP, HODO_PROBE_FINE);
}

CODE(unreached, "test %edi,%edi; je 1f; ret; .byte 0x31,0xc0,0x55,0x5d,0x5d,0xc3; 1: xor %eax,%eax; pop %rdx; push %rdx;"
		" ret");

CHECK(what_nothing_leads_to_may_be_data)
{
	CODE_OBJECT(&o, unreached);
	assert_int_equal(o.nexits, 3);
	assert_window(code_exit(&o, 1), HODO_PROBE_NONE, HODO_PROBE_UNSURE);
	assert_window(code_exit(&o, 2), HODO_PROBE_JUMP, HODO_PROBE_FINE);
}

/* Two functions; a conditional jump leads to the second, which jumps back. */
CODE(two, "test %edi,%edi; je 1f; 2: xor %eax,%eax; mov $2,%edx; ret; nop; nop; nop; 1: mov $1,%eax; jmp 2b");
#define TWO_SECOND 15

CHECK(a_part_is_known_by_what_leads_to_it)
{
	size_t len = (size_t)(code_two_end - code_two);
	struct hodo_probe_function f[2] = { { .start = CODE_AT, .end = CODE_AT + TWO_SECOND - 3 },
					    { .start = CODE_AT + TWO_SECOND, .end = CODE_AT + len } };

	for (int named = 0; named < 2; named++) {
		f[1].entered = named;
		assert_int_equal(hodo_probe_object_add_code(&o, CODE_AT, code_two, len), 0);
		assert_int_equal(hodo_probe_object_add(&o, &f[0]), 0);
		assert_int_equal(hodo_probe_object_add(&o, &f[1]), 0);
		assert_int_equal(hodo_probe_object_decode(&o, NULL), 0);
		assert_int_equal(o.functions[1].part, !named);
		assert_int_equal(o.nexits, 1);
		hodo_probe_object_close(&o);
	}
}

CODE(joined, "test %edi,%edi; je 1f; mov $1,%eax; jmp 2f; 1: mov $2,%eax; 2: ret");

CHECK(an_exit_that_a_jump_leads_to_is_met_by_it)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, joined);
	/* There are 5 bytes before the exit, but a thread that jumps to the exit would miss the probe. */
	w = code_exit(&o, 0);
	assert_window(w, HODO_PROBE_TRAP, HODO_PROBE_ENTERED);
	assert_int_equal(w.addr, CODE_AT + o.segments[0].end - o.segments[0].start - 1);
	o.enter_windows = true;
	assert_window(code_exit(&o, 0), HODO_PROBE_TRAP, HODO_PROBE_ENTERED);
}

CODE(after_call, "sub $8,%rsp; call . + 4096; ret");

CHECK(a_window_of_an_exit_does_not_begin_at_a_call)
{
	CODE_OBJECT(&o, after_call);
	assert_window(code_exit(&o, 0), HODO_PROBE_TRAP, HODO_PROBE_SHORT);
}

/* ----------------------------------------------------------------------- refused */

CODE(loops, "xor %eax,%eax; 1: add %edi,%eax; dec %edi; jne 1b; ret" PAD);

CHECK(a_jump_between_the_instructions_is_refused_or_known)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, loops);
	assert_window(code_entry(&o), HODO_PROBE_TRAP, HODO_PROBE_ENTERED);
	assert_int_equal(code_entry(&o).n, 1);
	o.enter_windows = true;
	w = code_entry(&o);
	assert_window(w, HODO_PROBE_JUMP, HODO_PROBE_FINE);
	assert_int_equal(w.entered, 1 << 2);
}

CODE(locked, "test %edi,%edi; je 1f; .byte 0xf0; 1: incl (%rsi); ret" PAD);

CHECK(a_jump_into_an_instruction_is_refused)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, locked);
	assert_false(o.functions[0].unsure);
	o.enter_windows = true;
	hodo_probe_window_at(&o, CODE_AT + 2, &w);
	assert_window(w, HODO_PROBE_TRAP, HODO_PROBE_INSIDE);
}

CODE(data, "jmp 1f; .byte 0xb8,1,2; 1: mov $5,%eax; ret" PAD);

CHECK(data_in_a_function_leaves_its_entry_alone)
{
	CODE_OBJECT(&o, data);
	assert_true(o.functions[0].unsure);
	for (uint32_t i = 0; i < o.nexits; i++)
		assert_window(code_exit(&o, i), HODO_PROBE_NONE, HODO_PROBE_UNSURE);
}

CODE(undefined, "nop; ud2" PAD);
CODE(undefined_first, "ud2" PAD);
CODE(halt, "nop; hlt; nop; nop; nop");
CODE(transaction, "nop; xbegin . + 100");
CODE(breakpoint, "nop; nop; int3; nop; nop; ret");
CODE(invalid, "nop; .byte 6; nop; nop; nop; ret");
CODE(far, "push %rax; lret; nop; nop; nop; nop");
CODE(call_stack, "nop; call *(%rsp)" PAD);
CODE(call_stack_register, "nop; call *%rsp" PAD);
CODE(call_extended, "push %rbx; push %rbp; call *%r12" PAD);
CODE(call_memory, "nop; call *8(%rax)" PAD);
CODE(call_pointer, "call *64(%rip); ret");
CODE(call_inside, "nop; call *%rax; pop %rdx; pop %rcx; ret");
CODE(call, "push %rbp; call . + 4096; pop %rbp; ret");
CODE(narrow, ".byte 0x66,0xe9,0,1,0,0; ret");
CODE(narrow_operand, ".byte 0x67,0x8b,0x05,0,1,0,0; ret");
CODE(short, "nop; ret; .byte 0x55,0x53,0x50,0x51,0x52");

CHECK(what_cannot_be_moved_is_refused)
{
	static const struct {
		const uint8_t *code, *end;
		enum hodo_probe_kind kind;
		enum hodo_probe_reason reason;
	} cases[] = {
#define CASE(name, kind, reason) { code_##name, code_##name##_end, HODO_PROBE_##kind, HODO_PROBE_##reason }
		CASE(undefined, TRAP, UNDEFINED),
		CASE(undefined_first, NONE, UNDEFINED),
		CASE(halt, TRAP, UNDEFINED),
		CASE(transaction, TRAP, TRANSACTION),
		CASE(breakpoint, TRAP, BREAKPOINT),
		CASE(invalid, TRAP, UNDECODED),
		CASE(far, TRAP, UNDEFINED),
		CASE(call_stack, TRAP, CALL_STACK),
		CASE(call_stack_register, TRAP, CALL_STACK),
		CASE(call_extended, JUMP, FINE),
		CASE(call_memory, TRAP, CALL_MEMORY),
		CASE(call_pointer, JUMP, FINE),
		CASE(call_inside, TRAP, CALL_INSIDE),
		CASE(call, JUMP, FINE),
		CASE(narrow, NONE, BRANCH),
		CASE(narrow_operand, NONE, BRANCH),
#undef CASE
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		code_object(&o, cases[i].code, (size_t)(cases[i].end - cases[i].code), 0);
		assert_window(code_entry(&o), cases[i].kind, cases[i].reason);
		hodo_probe_object_close(&o);
	}
}

CHECK(a_window_ends_with_its_function)
{
	CODE_OBJECT_TO(&o, short, 2);
	assert_window(code_entry(&o), HODO_PROBE_TRAP, HODO_PROBE_SHORT);
	assert_window(code_exit(&o, 0), HODO_PROBE_TRAP, HODO_PROBE_SHORT);
}

CHECK(no_call_is_moved_where_there_are_shadow_stacks)
{
	CODE_OBJECT(&o, call);
	o.shadow_stacks = true;
	assert_window(code_entry(&o), HODO_PROBE_TRAP, HODO_PROBE_CALL_SHADOW);
}

CHECK(jumps_can_be_done_without)
{
	struct hodo_probe_window w;

	CODE_OBJECT(&o, frame);
	o.no_jumps = true;
	assert_window(code_entry(&o), HODO_PROBE_TRAP, HODO_PROBE_NO_JUMPS);
	w = code_exit(&o, 0);
	assert_window(w, HODO_PROBE_TRAP, HODO_PROBE_NO_JUMPS);
	assert_int_equal(w.addr, CODE_AT + 11);
	assert_int_equal(w.n, 1);
}

CHECK(two_windows_do_not_overlap)
{
	struct hodo_probe_window entry, other;

	CODE_OBJECT(&o, frame);
	entry = code_entry(&o);
	hodo_probe_window_keep(&o, &entry);
	hodo_probe_window_at(&o, CODE_AT + 1, &other);
	assert_window(other, HODO_PROBE_NONE, HODO_PROBE_OVERLAP);
	hodo_probe_window_at(&o, CODE_AT + 5, &other);
	assert_window(other, HODO_PROBE_JUMP, HODO_PROBE_FINE);
	hodo_probe_window_drop(&o, &entry);
	hodo_probe_window_at(&o, CODE_AT + 1, &other);
	assert_window(other, HODO_PROBE_JUMP, HODO_PROBE_FINE);
}

CHECK(sites_and_restartable_sequences_are_left_alone)
{
	CODE_OBJECT(&o, frame);
	hodo_probe_mark(&o, CODE_AT + 4, CODE_AT + 9, HODO_PROBE_MARK_SITE);
	assert_window(code_entry(&o), HODO_PROBE_TRAP, HODO_PROBE_SITE);
	hodo_probe_object_close(&o);
	CODE_OBJECT(&o, frame);
	hodo_probe_mark(&o, CODE_AT, CODE_AT + 9, HODO_PROBE_MARK_RSEQ);
	assert_window(code_entry(&o), HODO_PROBE_NONE, HODO_PROBE_RSEQ);
}

CHECK(a_place_is_one_of_an_instruction_of_a_function)
{
	struct hodo_probe_window w;

	CODE_OBJECT_TO(&o, leaf, 3);
	hodo_probe_window_at(&o, CODE_AT + 1, &w);
	assert_window(w, HODO_PROBE_NONE, HODO_PROBE_NO_INSTRUCTION);
	hodo_probe_window_at(&o, CODE_AT + 4, &w);
	assert_window(w, HODO_PROBE_NONE, HODO_PROBE_NO_INSTRUCTION);
	hodo_probe_window_at(&o, 1, &w);
	assert_window(w, HODO_PROBE_NONE, HODO_PROBE_NO_INSTRUCTION);
	o.functions[0].part = true;
	assert_window(code_entry(&o), HODO_PROBE_NONE, HODO_PROBE_NO_INSTRUCTION);
	o.functions[0].reason = HODO_PROBE_PLT;
	assert_window(code_entry(&o), HODO_PROBE_NONE, HODO_PROBE_PLT);
}

CHECK(code_that_has_changed_in_memory_is_refused)
{
	struct hodo_probe_window w;
	uint8_t now[HODO_PROBE_WINDOW_BYTES];

	CODE_OBJECT(&o, frame);
	w = code_entry(&o);
	memcpy(now, w.bytes, sizeof(now));
	assert_int_equal(hodo_probe_window_compare(&w, now), HODO_PROBE_FINE);
	now[1] = 0xcc;
	assert_int_equal(hodo_probe_window_compare(&w, now), HODO_PROBE_BREAKPOINT);
	now[1] = 0x90;
	assert_int_equal(hodo_probe_window_compare(&w, now), HODO_PROBE_CHANGED);
}

CHECK(each_reason_has_a_key_and_a_text)
{
	for (unsigned i = 0; i < HODO_PROBE_REASONS; i++) {
		assert_non_null(hodo_probe_reason_key(i));
		assert_true(strlen(hodo_probe_reason_text(i)) > 10);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(hodo_probe_reason_key(i), hodo_probe_reason_key(k));
	}
	assert_string_equal(hodo_probe_reason_key(HODO_PROBE_REASONS), "unknown");
}
