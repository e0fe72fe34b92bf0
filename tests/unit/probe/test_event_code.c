/* SPDX-License-Identifier: MIT */
/* test_event_code.c - the code that a slot runs for an event gathers the values, and leaves the rest as it was. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <lib/unit.h>
#include <hodo/abi.h>
#include <hodo/abi_plan.h>
#include <probe/patch/event_code.h>
#include <string.h>
#include <sys/mman.h>

#define GENERAL 15u
#define FLAGS (0x8d5u | 0x202u) /* OF SF ZF AF PF CF */
#define RED_ZONE_TEXT 0x3c3c3c3cull

struct registers {
	uint64_t general[GENERAL]; /* rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, … r15 */
	uint64_t flags, moved, red_zone;
	uint64_t rsp; /* out: its value in the code */
	uint64_t xmm9[2];
};

void run_event(struct registers *r);
void event_site(void);
void event_read(void);
void event_call(void);
long read_event(const char *from, char *to, uint32_t what);
extern uint64_t event_values[32], event_state, event_stack;
extern uint8_t *code;
/* Copies of the memory to which texts and byte ranges lead. */
uint8_t event_data[16][48];
void copy_event(void);
void copy_event(void)
{
	for (unsigned i = 0; i < 16; i++)
		if (event_values[2 * i] >> 32 == event_stack >> 32 && event_values[2 * i + 1] <= sizeof(event_data[0]))
			memcpy(event_data[i], (const void *)event_values[2 * i], event_values[2 * i + 1]);
}
static uint32_t last_read;

static uint8_t *memory; /* holds the code, the import, and cells for values */
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

/* The index in `general` of the register with this number in instructions. */
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

/* event_call calls this at the begin or end of a call. */
static uint64_t called_at, called_function;
static long call_result;
static uint8_t run_part = HODO_EVENT_PLACE;
long note_call(uint64_t at, uint64_t unused, uint64_t function);
long note_call(uint64_t at, uint64_t unused, uint64_t function)
{
	(void)unused;
	called_at = at;
	called_function = function;
	return call_result;
}

/* Runs the event code with these fields; sets the registers that they need in r. */
static void run(struct registers *r, const struct hodo_probe_field *fields, unsigned n)
{
	uint64_t site = (uintptr_t)event_site, reader = (uintptr_t)event_read, call = (uintptr_t)event_call;
	struct hodo_probe_event_code c = { .part = run_part, .call = (uintptr_t)memory + 4112, .function = 17,
					   .fields = fields,
					   .nfields = n, .bias = (uintptr_t)cells,
					   .pc = 0x1234567890, .site = (uintptr_t)memory + 4096,
					   .read = (uintptr_t)memory + 4104, .state = (uintptr_t)memory + 5000 };
	struct registers before = *r;
	size_t bytes = hodo_probe_event_code(&c, (uintptr_t)memory, memory, 3584);

	assert_true(bytes > 0);
	memory[bytes] = 0xc3;
	memcpy(memory + 4096, &site, sizeof(site));
	memcpy(memory + 4104, &reader, sizeof(reader));
	memcpy(memory + 4112, &call, sizeof(call));
	memset(event_values, 0, sizeof(event_values));
	event_state = 0;
	run_event(r);
	assert_int_equal(event_state, run_part == HODO_EVENT_BEGIN || (run_part == HODO_EVENT_END && call_result < 0) ?
					      0 : (uintptr_t)memory + 5000);
	assert_memory_equal(r->general, before.general, sizeof(r->general));
	assert_int_equal(r->flags & 0xcd5, before.flags & 0xcd5);
	assert_int_equal(r->moved, 0);
	assert_int_equal(r->red_zone, RED_ZONE_TEXT);
}

/* run_event.S calls this from event_read: it copies memory that is there; 0xdead0000 and above is not there. */
long read_event(const char *from, char *to, uint32_t what)
{
	uint32_t n = what & ~HODO_PLAN_READ_TEXT;

	last_read = what;
	if ((uintptr_t)from == UINTPTR_MAX || ((uintptr_t)from & 0xffff0000) == 0xdead0000)
		n = 0;
	memcpy(to, from, n);
	return what & HODO_PLAN_READ_TEXT ? (long)strnlen(to, n) : (long)n;
}

static struct hodo_probe_field a_register(unsigned number, uint8_t type)
{
	struct hodo_probe_field f = { .type = type };

	assert_true(hodo_fetch_start(&f.fetch, HODO_FETCH_REGISTER, hodo_fetch_general(number), 0));
	return f;
}

static struct hodo_probe_field a_constant(int64_t number, uint8_t type)
{
	struct hodo_probe_field f = { .type = type };

	assert_true(hodo_fetch_start(&f.fetch, HODO_FETCH_CONSTANT, 0, number));
	return f;
}

/* Loads through the field's value, from memory that is mapped: the program itself could load it. */
static void through(struct hodo_probe_field *f, int64_t offset, unsigned bytes, bool is_signed)
{
	assert_true(hodo_fetch_add(&f->fetch, offset));
	hodo_fetch_mapped(&f->fetch, INT64_MIN / 4, INT64_MAX / 4);
	assert_true(hodo_fetch_load(&f->fetch, bytes, is_signed));
}

static uint64_t register_of(const struct registers *r, unsigned number)
{
	return number == 4 ? r->rsp : r->general[index_of(number)];
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
	static const uint8_t types[] = { HODO_TYPE_U8, HODO_TYPE_U16, HODO_TYPE_U32, HODO_TYPE_U64 };

	for (unsigned number = 0; number < 16; number++)
		for (unsigned size = 0; size < 4; size++) {
			struct hodo_probe_field f = a_register(number, types[size]);
			unsigned bytes = 1u << size;
			uint64_t seen = 0;
			struct registers r;

			fill(&r, FLAGS);
			run(&r, &f, 1);
			memcpy(&seen, event_values, bytes);
			assert_int_equal(seen, register_of(&r, number) &
						       (bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1));
		}
}

TEST(parts_of_registers_and_constants_stand_behind_each_other)
{
	struct hodo_probe_field f[] = {
		a_register(0, HODO_TYPE_U8), a_constant(-5, HODO_TYPE_I32), a_register(3, HODO_TYPE_U8),
		a_constant(INT64_MIN + 3, HODO_TYPE_I64), { .type = HODO_TYPE_F64 }, a_constant(0x1234, HODO_TYPE_U16),
		{ .type = HODO_TYPE_U16, .missing = HODO_REMOVED },
	};
	const uint8_t *at = (const uint8_t *)event_values;
	struct registers r;
	int64_t number;
	int32_t narrow;

	assert_true(hodo_fetch_bits(&f[0].fetch, 8, 8, false));
	assert_true(hodo_fetch_bits(&f[2].fetch, 8, 8, false));
	assert_true(hodo_fetch_start(&f[4].fetch, HODO_FETCH_REGISTER, HODO_FETCH_XMM0 + 9, 0));
	fill(&r, FLAGS);
	run(&r, f, 7);
	assert_int_equal(at[0], r.general[0] >> 8 & 0xff);
	memcpy(&narrow, at + 1, 4);
	assert_int_equal(narrow, -5);
	assert_int_equal(at[5], r.general[3] >> 8 & 0xff);
	memcpy(&number, at + 6, 8);
	assert_true(number == INT64_MIN + 3);
	assert_memory_equal(at + 14, r.xmm9, 8);
	assert_memory_equal(at + 22, "\x34\x12\0\0", 4);
}

/* Each register as base and as index, leading to memory. */
TEST(memory_by_every_base_and_index)
{
	for (unsigned base = 0; base < 16; base++)
		for (unsigned index = 0; index < 17; index++) {
			struct hodo_probe_field f = a_register(base, HODO_TYPE_U64);
			struct registers r;
			bool alone = index == 16;

			/* One register cannot have both values; rsp leads to other memory. */
			if (index == 4 || base == 4 || base == index)
				continue;
			if (!alone)
				assert_true(hodo_fetch_index(&f.fetch, hodo_fetch_general(index), 8));
			through(&f, 16, 8, false);
			fill(&r, FLAGS);
			r.general[index_of(base)] = (uintptr_t)cells;
			if (!alone)
				r.general[index_of(index)] = 3;
			run(&r, &f, 1);
			assert_int_equal(event_values[0], alone ? 3 : 6);
		}
}

TEST(memory_on_the_stack_of_the_thread_and_of_the_object)
{
	struct hodo_probe_field f[] = { a_register(4, HODO_TYPE_U64), { .type = HODO_TYPE_U64 },
					a_register(3, HODO_TYPE_U8), a_register(3, HODO_TYPE_U16),
					a_register(3, HODO_TYPE_I64), { .type = HODO_TYPE_U64 },
					{ .type = HODO_TYPE_U64 } };
	const uint8_t *at = (const uint8_t *)event_values;
	struct registers r;
	uint64_t self;

	__asm__("mov %%fs:0,%0" : "=r"(self));
	through(&f[0], -120, 8, false);
	hodo_fetch_start(&f[1].fetch, HODO_FETCH_THREAD, 0, 0);
	through(&f[1], 0, 8, false);
	through(&f[2], 1, 1, false);
	through(&f[3], 2, 2, false);
	through(&f[4], 7 * 8 - 4, 4, true); /* the upper half of -8 */
	hodo_fetch_start(&f[5].fetch, HODO_FETCH_ADDRESS, 0, 8);
	through(&f[5], 0, 8, false);
	hodo_fetch_start(&f[6].fetch, HODO_FETCH_REGISTER, HODO_FETCH_RIP, 0);
	fill(&r, FLAGS);
	r.general[3] = (uintptr_t)cells;
	cells[6] = (uint64_t)-8;
	run(&r, f, 7);
	cells[6] = 7;
	assert_int_equal(event_values[0], RED_ZONE_TEXT);
	assert_int_equal(event_values[1], self);
	assert_memory_equal(at + 16, "\x77\x66\x55", 3);
	assert_memory_equal(at + 19, "\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0", 16);
	assert_memory_equal(at + 35, &(uint64_t){ 0x1234567890 }, 8);
}

TEST(numbers_are_computed_as_the_steps_say)
{
	static const int64_t numbers[] = { 5, -5, INT32_MAX, INT32_MIN, 0x123456789abcll, INT64_MIN };
	struct registers r;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct hodo_probe_field f[] = { a_register(13, HODO_TYPE_U64), a_register(11, HODO_TYPE_U64),
						a_register(4, HODO_TYPE_U64), a_register(0, HODO_TYPE_BOOL) };
		uint64_t n = (uint64_t)numbers[i];

		fill(&r, FLAGS);
		assert_true(hodo_fetch_add(&f[0].fetch, 7) && hodo_fetch_add(&f[0].fetch, numbers[i]) &&
			    hodo_fetch_shift(&f[0].fetch, 3));
		assert_true(hodo_fetch_and(&f[1].fetch, n) && hodo_fetch_bits(&f[1].fetch, 2, 40, i & 1));
		assert_true(hodo_fetch_add(&f[2].fetch, -40));
		assert_true(hodo_fetch_and(&f[3].fetch, i & 1 ? 0 : 0xff00));
		run(&r, f, 4);
		assert_int_equal(event_values[0], (r.general[index_of(13)] + 7 + n) << 3);
		n &= r.general[index_of(11)];
		assert_int_equal(event_values[1], i & 1 ? (uint64_t)((int64_t)(n << 22) >> 24) : n << 22 >> 24);
		assert_int_equal(event_values[2], r.rsp - 40);
		assert_int_equal(event_values[3] & 0xff, !(i & 1));
	}
}

/* A number that cannot be read is 0; the fields after it are still read. */
TEST(loads_that_fault_end_their_value)
{
	struct hodo_probe_field f[] = { a_register(10, HODO_TYPE_U64), a_register(11, HODO_TYPE_I16),
					a_register(6, HODO_TYPE_U64), a_register(10, HODO_TYPE_U64) };
	struct registers r;
	int16_t half;

	assert_true(hodo_fetch_add(&f[0].fetch, 8) && hodo_fetch_load(&f[0].fetch, 8, false) &&
		    hodo_fetch_add(&f[0].fetch, 8) && hodo_fetch_load(&f[0].fetch, 8, false) &&
		    hodo_fetch_add(&f[0].fetch, 4));
	assert_true(hodo_fetch_load(&f[1].fetch, 2, true));
	assert_true(hodo_fetch_load(&f[2].fetch, 8, false) && hodo_fetch_load(&f[2].fetch, 4, false));
	for (unsigned i = 0; i < 2; i++) {
		fill(&r, FLAGS);
		r.general[index_of(10)] = i ? 0xdead0000 : (uintptr_t)cells;
		r.general[index_of(11)] = (uintptr_t)cells + 6;
		r.general[index_of(6)] = (uintptr_t)cells;
		cells[1] = (uintptr_t)cells;
		cells[0] = 0xdeadull << 16; /* the pointer to which rsi leads is invalid */
		run(&r, f, 4);
		assert_int_equal(event_values[0], i ? 0 : (uintptr_t)cells + 4);
		memcpy(&half, event_values + 1, 2);
		assert_int_equal(half, 0);
		memcpy(&event_values[9], (uint8_t *)event_values + 10, 16);
		assert_int_equal(event_values[9], 0);
		assert_int_equal(event_values[10], r.general[index_of(10)]);
	}
	cells[0] = 0x1122334455667788;
	cells[1] = 2;
}

/* A text and a byte range as a site stores them: address and length. */
TEST(texts_and_bytes_are_copied)
{
	static const char text[] = "good day";
	static const int64_t lengths[] = { 0, 3, -1, 40, INT64_MIN, INT64_MAX };
	struct hodo_probe_field f[] = { a_register(7, HODO_TYPE_STR), a_register(6, HODO_TYPE_BYTES),
					a_register(6, HODO_TYPE_BYTES),
					{ .type = HODO_TYPE_STR, .missing = HODO_REMOVED },
					a_register(8, HODO_TYPE_BYTES) };
	struct registers r;

	f[0].most = 255;
	f[1].most = f[4].most = 5;
	f[2].most = 40;
	hodo_fetch_start(&f[2].length, HODO_FETCH_REGISTER, hodo_fetch_general(2), 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t n = lengths[i] < 0 ? 0 : lengths[i] > 40 ? 40 : (uint64_t)lengths[i];

		fill(&r, FLAGS);
		r.general[index_of(7)] = (uintptr_t)text;
		r.general[index_of(6)] = (uintptr_t)cells;
		r.general[index_of(2)] = (uint64_t)lengths[i];
		r.general[index_of(8)] = 0xdead0000;
		run(&r, f, 5);
		assert_int_equal(event_values[1], sizeof(text) - 1);
		assert_memory_equal(event_data[0], text, sizeof(text) - 1);
		assert_int_equal(event_values[3], 5);
		assert_memory_equal(event_data[1], cells, 5);
		assert_int_equal(event_values[5], n);
		assert_memory_equal(event_data[2], cells, n);
		assert_int_equal(event_values[7], 8);
		assert_memory_equal(event_data[3], "(absent)", 8);
		assert_int_equal(event_values[9], 0);
		assert_int_equal(last_read, 5);
	}
}

/* Called at the begin and end of a call with the function's number and the place of its return address. */
TEST(the_last_field_at_an_exit_is_how_long_the_call_took)
{
	struct hodo_probe_field f[] = { a_register(11, HODO_TYPE_U64), { .type = HODO_TYPE_U64 } };
	struct registers r;

	for (unsigned i = 0; i < 3; i++) {
		fill(&r, FLAGS);
		run_part = i ? HODO_EVENT_END : HODO_EVENT_BEGIN;
		call_result = i == 2 ? -1 : 4711;
		called_at = called_function = 0;
		run(&r, f, 2);
		assert_int_equal(called_at, r.rsp);
		assert_int_equal(called_function, 17);
		assert_int_equal(event_values[0], i == 1 ? r.general[index_of(11)] : 0);
		assert_int_equal(event_values[1], i == 1 ? 4711 : 0);
	}
	run_part = HODO_EVENT_PLACE;
}

TEST(what_has_no_room_is_refused)
{
	struct hodo_probe_field f[] = { a_constant(1, HODO_TYPE_U64),
					{ .type = HODO_TYPE_STR, .missing = HODO_REMOVED },
					{ .type = HODO_TYPE_BYTES, .missing = HODO_REMOVED, .most = 1024 } };
	const struct hodo_probe_field long_ones[] = { f[2], f[2], f[2], f[1] };
	struct hodo_probe_event_code c = { .fields = f, .nfields = 3 };
	uint8_t to[512];
	size_t bytes = hodo_probe_event_code(&c, 0, to, sizeof(to));

	assert_true(bytes > 0);
	assert_int_equal(hodo_probe_event_code(&c, 0, to, bytes), bytes);
	for (size_t room = 0; room < bytes; room++)
		assert_int_equal(hodo_probe_event_code(&c, 0, to, room), 0);
	c.fields = long_ones;
	assert_true(hodo_probe_event_code(&c, 0, to, sizeof(to)) > 0);
	c.nfields = 4;
	assert_int_equal(hodo_probe_event_code(&c, 0, to, sizeof(to)), 0);
}
