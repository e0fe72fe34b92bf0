/* SPDX-License-Identifier: MIT */
/* test_recipe.c - copies of instructions, byte for byte, and the copies of every window of some libraries. */
#include <errno.h>
#include <lib/unit.h>
#include <probe/patch/whole_functions.h>
#include <probe/patch/recipe.h>
#include <stdio.h>
#include <string.h>

#include "code.h"

#define SLOT (CODE_AT + 0x100000u)
#define PAD  "\n.byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0"

static struct hodo_probe_object o;
static struct hodo_probe_recipe r;
static uint8_t out[HODO_PROBE_SLOT_BYTES];

/* Makes the copy of the window at the function's entry, without a hook. */
static void copy(const uint8_t *code, const uint8_t *end)
{
	struct hodo_probe_window w;

	code_object(&o, code, (size_t)(end - code), 0);
	o.enter_windows = true;
	w = code_entry(&o);
	assert_int_equal(w.kind, HODO_PROBE_JUMP);
	assert_int_equal(hodo_probe_recipe_make(&r, &w, 0, 0), 0);
	assert_int_equal(hodo_probe_recipe_emit(&r, SLOT, out, NULL, NULL), 0);
	hodo_probe_object_close(&o);
}
#define COPY(name) copy(code_##name, code_##name##_end)

static void assert_bytes(const void *bytes, size_t len)
{
	assert_int_equal(r.bytes, len);
	assert_memory_equal(out, bytes, len);
}

static int32_t word(size_t at)
{
	int32_t v;

	memcpy(&v, out + at, sizeof(v));
	return v;
}

/* The target of the four bytes at `at`, which are the last of their instruction except for `more`. */
static uint64_t leads(size_t at, size_t more)
{
	return SLOT + at + 4 + more + (uint64_t)(int64_t)word(at);
}

CODE(plain, "push %rbp; mov %rsp,%rbp; push %rbx; ret");

TEST(plain_instructions_are_copied_and_go_back)
{
	COPY(plain);
	assert_int_equal(r.bytes, 5 + 5);
	assert_memory_equal(out, code_plain, 5);
	assert_int_equal(out[5], 0xe9);
	assert_int_equal(leads(6, 0), CODE_AT + 5);
}

CODE(relative, "movl $7,0x1234(%rip); ret");

TEST(a_displacement_keeps_its_address)
{
	COPY(relative);
	assert_int_equal(r.bytes, 10 + 5);
	assert_memory_equal(out, code_relative, 2);
	assert_int_equal(leads(2, 4), CODE_AT + 10 + 0x1234);
	assert_memory_equal(out + 6, code_relative + 6, 4);
	assert_int_equal(r.high, CODE_AT + 10 + 0x1234);
}

CODE(jump_short, "jmp . + 100; nop; nop; nop");
CODE(jump_near, "jmp . + 0x1000");

TEST(jumps_lead_where_they_led)
{
	COPY(jump_short);
	assert_int_equal(out[0], 0xe9);
	assert_int_equal(leads(1, 0), CODE_AT + 100);
	COPY(jump_near);
	assert_int_equal(r.bytes, 5);
	assert_int_equal(leads(1, 0), CODE_AT + 0x1000);
}

CODE(branches, "jne . + 100; jae . + 0x1000; ret");

TEST(branches_become_near)
{
	COPY(branches);
	assert_int_equal(r.bytes, 6 + 6 + 5);
	assert_memory_equal(out, "\x0f\x85", 2);
	assert_int_equal(leads(2, 0), CODE_AT + 100);
	assert_memory_equal(out + 6, "\x0f\x83", 2);
	assert_int_equal(leads(8, 0), CODE_AT + 2 + 0x1000);
	assert_int_equal(leads(13, 0), CODE_AT + 8);
}

CODE(loops, "loop . + 50; jrcxz . + 60; nop; ret");
CODE(loops_narrow, "addr32 loopne . + 50; nop; nop; ret");

TEST(loops_jump_over_a_jump)
{
	COPY(loops);
	assert_int_equal(r.bytes, 9 + 9 + 1 + 5);
	assert_memory_equal(out, "\xe2\x02\xeb\x05\xe9", 5);
	assert_int_equal(leads(5, 0), CODE_AT + 50);
	assert_memory_equal(out + 9, "\xe3\x02\xeb\x05\xe9", 5);
	assert_int_equal(leads(14, 0), CODE_AT + 2 + 60);
	COPY(loops_narrow);
	assert_memory_equal(out, "\x67\xe0\x02\xeb\x05\xe9", 6);
}

CODE(calls, "call . + 0x1000; ret");

TEST(a_call_pushes_the_address_that_it_returned_to)
{
	uint64_t returns = CODE_AT + 5;

	COPY(calls);
	assert_int_equal(r.bytes, 6 + 5 + 8);
	assert_memory_equal(out, "\xff\x35", 2);
	assert_int_equal(word(2), 5);
	assert_int_equal(leads(7, 0), CODE_AT + 0x1000);
	assert_memory_equal(out + 11, &returns, 8);
}

CODE(calls_register, "push %rbx; push %rbp; call *%r13; ret");
CODE(calls_pointer, "call *0x40(%rip); ret");

TEST(so_does_one_through_a_register_or_a_pointer)
{
	uint64_t returns = CODE_AT + 5;

	COPY(calls_register);
	assert_bytes("\x53\x55\xff\x35\x03\0\0\0\x41\xff\xe5\x05\0\1\0\0\0\0\0", 19);
	COPY(calls_pointer);
	assert_int_equal(r.bytes, 6 + 6 + 8);
	assert_memory_equal(out + 6, "\xff\x25", 2);
	assert_int_equal(leads(8, 0), CODE_AT + 6 + 0x40);
	returns++;
	assert_memory_equal(out + 12, &returns, 8);
}

CODE(itself, "dec %ecx; jne . - 2; test %ecx,%ecx; ret");

TEST(a_jump_within_the_window_stays_in_the_copy)
{
	COPY(itself);
	assert_memory_equal(out, "\xff\xc9\x0f\x85", 4);
	assert_int_equal(leads(4, 0), SLOT);
}

/* ------------------------------------------------------------------------ hooks */

static size_t hook(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes)
{
	assert_int_equal(bytes, 7);
	assert_int_equal(address - SLOT, to - out);
	memset(to, 0xf0 + (int)instruction, 3);
	++*(int *)arg;
	return 3;
}

CODE(leaf, "xor %eax,%eax; ret" PAD);

TEST(hooks_stand_in_front_of_their_instructions)
{
	struct hodo_probe_plan p = { 0 };
	int n = 0;

	CODE_OBJECT_TO(&o, leaf, 3);
	assert_int_equal(hodo_probe_plan_function(&p, &o, 0, true, true), 0);
	assert_int_equal(hodo_probe_recipe_make(&r, &p.list[0].window, 0, 7), 0);
	assert_int_equal(hodo_probe_recipe_emit(&r, SLOT, out, hook, &n), 0);
	assert_int_equal(n, 2);
	assert_memory_equal(out, "\xf0\xf0\xf0\x90\x90\x90\x90\x31\xc0\xf1\xf1\xf1\x90\x90\x90\x90\xc3", 17);
	assert_int_equal(r.at[0], 0);
	assert_int_equal(r.at[1], 9);
	assert_int_equal(hodo_probe_recipe_make(&r, &p.list[0].window, 0, HODO_PROBE_HOOK_BYTES + 1), -EINVAL);
	hodo_probe_plan_free(&p);
	hodo_probe_object_close(&o);
}

TEST(what_cannot_reach_is_refused)
{
	uint8_t jump[HODO_PROBE_JUMP_BYTES];

	COPY(relative);
	assert_int_equal(hodo_probe_recipe_emit(&r, r.high - (1ull << 31) - 100, out, NULL, NULL), -ERANGE);
	assert_int_equal(hodo_probe_recipe_emit(&r, r.low + (1ull << 31), out, NULL, NULL), -ERANGE);
	assert_int_equal(hodo_probe_recipe_jump(&r, r.addr + 5 + (1ull << 31), jump), -ERANGE);
	assert_int_equal(hodo_probe_recipe_jump(&r, r.addr + 5 + 0x11223344, jump), 0);
	assert_memory_equal(jump, "\xe9\x44\x33\x22\x11", 5);
}

/* --------------------------------------------------------- every window of libraries */

/* The copy does what the original does: it is the same instruction, or one that leads to the same place. */
static void check_copy(uint64_t slot, unsigned k)
{
	const struct hodo_instruction *was = &r.instruction[k];
	struct hodo_instruction is;
	size_t at = r.at[k] + (r.hooks >> k & 1 ? r.hook_bytes : 0u);

	assert_true(hodo_instruction_decode(&is, out + at, r.bytes - at, slot + at));
	if (hodo_instruction_is_call(was)) {
		uint64_t literal, returns = r.addr + r.from[k] + was->length;

		assert_int_equal(is.disp, 2); /* push from memory */
		memcpy(&literal, out + (is.target - slot), 8);
		assert_int_equal(literal, returns);
		at += is.length;
		assert_true(hodo_instruction_decode(&is, out + at, r.bytes - at, slot + at));
		assert_true(hodo_instruction_ends(&is) && is.kind != HODO_INSTRUCTION_RETURN);
	} else if (was->kind == HODO_INSTRUCTION_LOOP) {
		at += is.length + 2u;
		assert_true(hodo_instruction_decode(&is, out + at, r.bytes - at, slot + at));
		assert_int_equal(is.kind, HODO_INSTRUCTION_JUMP);
	} else {
		assert_int_equal(is.kind, was->kind);
		if (!hodo_instruction_has_target(was)) {
			unsigned begin = was->disp ? was->disp : was->length, rest = was->disp ? begin + 4u : begin;

			assert_int_equal(is.length, was->length);
			assert_memory_equal(out + at, r.code + r.from[k], begin);
			assert_memory_equal(out + at + rest, r.code + r.from[k] + rest, was->length - rest);
		}
	}
	if (was->target && !(was->target >= r.addr && was->target < r.addr + r.len))
		assert_int_equal(is.target, was->target);
}

static void check_window(const struct hodo_probe_window *w)
{
	const uint64_t bias = 0x7f0000000000;
	uint64_t slots[3];

	assert_int_equal(hodo_probe_recipe_make(&r, w, bias, 16), 0);
	assert_true(r.bytes <= HODO_PROBE_SLOT_BYTES);
	slots[0] = r.addr + 0x4000003;
	slots[1] = r.high - (1ull << 31);            /* as far away as it can be */
	slots[2] = r.low + (1ull << 31) - r.bytes;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(hodo_probe_recipe_emit(&r, slots[i], out, NULL, NULL), 0);
		for (unsigned k = 0; k < r.n; k++)
			check_copy(slots[i], k);
	}
}

TEST(every_window_of_these_libraries_is_copied)
{
	static const char *const paths[] = { "/usr/lib/x86_64-linux-gnu/libc.so.6",
					     "/usr/lib/x86_64-linux-gnu/libm.so.6",
					     "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
					     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct hodo_elf e;
		struct hodo_probe_plan p = { 0 };
		enum hodo_probe_reason why;
		unsigned n = 0;

		assert_int_equal(hodo_elf_open(&e, paths[i]), 0);
		o.enter_windows = true;
		assert_int_equal(hodo_probe_object_open(&o, &e, &why), 0);
		for (uint32_t f = 0; f < o.nfunctions; f++)
			assert_int_equal(hodo_probe_plan_function(&p, &o, f, true, true), 0);
		for (uint32_t k = 0; k < p.n; k++) {
			if (p.list[k].window.kind == HODO_PROBE_NONE)
				continue;
			check_window(&p.list[k].window);
			n++;
		}
		printf("%s: %u windows\n", paths[i], n);
		assert_true(n > 1000);
		hodo_probe_plan_free(&p);
		hodo_probe_object_close(&o);
		hodo_elf_close(&e);
	}
}
