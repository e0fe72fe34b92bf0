/* SPDX-License-Identifier: MIT */
/* test_event_code.c - what a slot runs for an event gathers the values, and leaves all else as it was. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <lib/unit.h>
#include <hodo/abi.h>
#include <probe/event_code.h>
#include <string.h>
#include <sys/mman.h>

#define GENERAL 15u
#define FLAGS (0x8d5u | 0x202u) /* OF SF ZF AF PF CF */
#define RED_ZONE_TEXT 0x3c3c3c3cull

struct registers {
	uint64_t general[GENERAL]; /* rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, … r15 */
	uint64_t flags, moved, red_zone;
	uint64_t rsp; /* out: in the code */
	uint64_t xmm9[2];
};

void run_event(struct registers *r);
void event_site(void);
extern uint64_t event_values[32], event_state;
extern uint8_t *code;

static uint8_t *memory; /* code, the import, what values are in */
static uint64_t cells[8] = { 0x1122334455667788, 2, 3, 4, 5, 6, 7, 8 };

static int map(void **state)
{
	(void)state;
	memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	code = memory;
	return 0;
}

TEST_PROGRAM(.setup = map);

/* By the numbers that instructions have. */
static unsigned index_of(unsigned number)
{
	return number < 4 ? number : number - 1;
}

static void fill(struct registers *r, uint64_t flags)
{
	*r = (struct registers){ .flags = flags, .xmm9 = { 0x4045000000000000, 77 } };
	for (unsigned i = 0; i < GENERAL; i++)
		r->general[i] = 0x0102030405060708ull * (i + 1);
}

/* Runs it with these values; the registers that they need are set in r. */
static void run(struct registers *r, const struct hodo_probe_operand *values, unsigned n)
{
	uint64_t site = (uintptr_t)event_site;
	struct hodo_probe_event_code c = { values, n, (uintptr_t)memory + 4096, (uintptr_t)memory + 5000 };
	struct registers before = *r;
	size_t bytes = hodo_probe_event_code(&c, (uintptr_t)memory, memory, 2048);

	assert_true(bytes > 0);
	memory[bytes] = 0xc3;
	memcpy(memory + 4096, &site, sizeof(site));
	memset(event_values, 0, sizeof(event_values));
	event_state = 0;
	run_event(r);
	assert_int_equal(event_state, (uintptr_t)memory + 5000);
	assert_memory_equal(r->general, before.general, sizeof(r->general));
	assert_int_equal(r->flags & 0xcd5, before.flags & 0xcd5);
	assert_int_equal(r->moved, 0);
	assert_int_equal(r->red_zone, RED_ZONE_TEXT);
}

TEST(all_flags_are_kept)
{
	static const uint64_t flags[] = { 1, 4, 0x10, 0x40, 0x80, 0x800 };

	for (unsigned i = 0; i < 64; i++) {
		struct registers r;
		uint64_t set = 0x202;

		for (unsigned k = 0; k < 6; k++)
			set |= i >> k & 1 ? flags[k] : 0;
		fill(&r, set);
		run(&r, NULL, 0);
	}
}

TEST(every_register_in_every_size)
{
	for (unsigned number = 0; number < 16; number++)
		for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
			struct hodo_probe_operand v = { .form = HODO_PROBE_REGISTER, .bytes = (uint8_t)bytes,
						      .base = (uint8_t)number };
			uint64_t wanted, seen = 0;
			struct registers r;

			fill(&r, FLAGS);
			run(&r, &v, 1);
			wanted = number == 4 ? r.rsp : r.general[index_of(number)];
			memcpy(&seen, event_values, bytes);
			assert_int_equal(seen, wanted & (bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1));
		}
}

TEST(high_bytes_and_constants_stand_behind_each_other)
{
	struct hodo_probe_operand v[] = {
		{ .form = HODO_PROBE_REGISTER, .bytes = 1, .base = 0, .shift = 8 },
		{ .form = HODO_PROBE_CONSTANT, .bytes = 4, .offset = -5 },
		{ .form = HODO_PROBE_REGISTER, .bytes = 1, .base = 3, .shift = 8 },
		{ .form = HODO_PROBE_CONSTANT, .bytes = 8, .offset = INT64_MIN + 3 },
		{ .form = HODO_PROBE_VECTOR, .bytes = 8, .base = 9 },
		{ .form = HODO_PROBE_CONSTANT, .bytes = 2, .offset = 0x1234 },
	};
	const uint8_t *at = (const uint8_t *)event_values;
	struct registers r;
	int64_t number;
	int32_t narrow;

	fill(&r, FLAGS);
	run(&r, v, 6);
	assert_int_equal(at[0], r.general[0] >> 8 & 0xff);
	memcpy(&narrow, at + 1, 4);
	assert_int_equal(narrow, -5);
	assert_int_equal(at[5], r.general[3] >> 8 & 0xff);
	memcpy(&number, at + 6, 8);
	assert_true(number == INT64_MIN + 3);
	assert_memory_equal(at + 14, r.xmm9, 8);
	assert_memory_equal(at + 22, "\x34\x12", 2);
}

/* Each register as base and as index, with memory that it leads to. */
TEST(memory_by_every_base_and_index)
{
	for (unsigned base = 0; base < 17; base++)
		for (unsigned index = 0; index < 17; index++) {
			struct hodo_probe_operand v = { .form = HODO_PROBE_MEMORY, .bytes = 8, .base = (uint8_t)base,
						      .index = (uint8_t)index, .scale = 8, .offset = 16 };
			struct registers r;
			bool none = base == 16, alone = index == 16;

			/* rsp is no index; nothing lies where 32 bits alone lead; one register cannot be both here. */
			if (index == 4 || none || base == 4 || (base == index))
				continue;
			v.index = alone ? HODO_PROBE_NO_REGISTER : v.index;
			fill(&r, FLAGS);
			r.general[index_of(base)] = (uintptr_t)cells;
			if (!alone)
				r.general[index_of(index)] = 3;
			run(&r, &v, 1);
			assert_int_equal(event_values[0], alone ? 3 : 6);
		}
}

TEST(memory_on_the_stack_and_of_the_thread)
{
	struct hodo_probe_operand v[] = {
		{ .form = HODO_PROBE_MEMORY, .bytes = 8, .base = 4, .index = HODO_PROBE_NO_REGISTER, .offset = -120 },
		{ .form = HODO_PROBE_MEMORY, .bytes = 8, .base = HODO_PROBE_NO_REGISTER,
		  .index = HODO_PROBE_NO_REGISTER, .fs = true },
		{ .form = HODO_PROBE_MEMORY, .bytes = 1, .base = 3, .index = HODO_PROBE_NO_REGISTER, .offset = 1 },
		{ .form = HODO_PROBE_MEMORY, .bytes = 2, .base = 3, .index = HODO_PROBE_NO_REGISTER, .offset = 2 },
		{ .form = HODO_PROBE_MEMORY, .bytes = 4, .base = 3, .index = HODO_PROBE_NO_REGISTER, .offset = 4 },
	};
	const uint8_t *at = (const uint8_t *)event_values;
	struct registers r;
	uint64_t self;

	__asm__("mov %%fs:0,%0" : "=r"(self));
	fill(&r, FLAGS);
	r.general[3] = (uintptr_t)cells;
	run(&r, v, 5);
	assert_int_equal(event_values[0], RED_ZONE_TEXT);
	assert_int_equal(event_values[1], self);
	assert_memory_equal(at + 16, "\x77\x66\x55\x44\x33\x22\x11", 7);
}

TEST(what_has_no_room_is_refused)
{
	struct hodo_probe_operand v = { .form = HODO_PROBE_CONSTANT, .bytes = 8 };
	struct hodo_probe_event_code c = { &v, 1, 0, 0 };
	uint8_t to[512];
	size_t bytes = hodo_probe_event_code(&c, 0, to, sizeof(to));

	assert_true(bytes > 0);
	assert_int_equal(hodo_probe_event_code(&c, 0, to, bytes), bytes);
	for (size_t room = 0; room < bytes; room++)
		assert_int_equal(hodo_probe_event_code(&c, 0, to, room), 0);
}
