/* SPDX-License-Identifier: MIT */
/* test_check.c - the engine accepts a plan only if all of it can be right. */
#include <lib/unit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <probe/patch/whole_functions.h>

#include "load.h"

static uint64_t bytes, *file;

static int build(void **state)
{
	const char *const ends[] = { "/libz.so.1" };
	struct hodo_probe_built built = load_build(ends, 1);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(built.fd, &st), 0);
	bytes = (uint64_t)st.st_size;
	file = malloc(bytes);
	assert_non_null(file);
	assert_int_equal(pread(built.fd, file, bytes, 0), (ssize_t)bytes);
	close(built.fd);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	free(file);
	return 0;
}

TEST_PROGRAM(.setup = build, .teardown = drop);

static bool check(const void *plan, uint64_t len)
{
	struct hodo_engine_plan p = { .file = plan, .head = plan };

	return hodo_engine_check(&p, len);
}

/* Checks a copy in which one number is replaced. */
static bool check_with(size_t offset, size_t size, uint64_t value)
{
	char *copy = malloc(bytes);
	bool fine;

	assert_non_null(copy);
	memcpy(copy, file, bytes);
	memcpy(copy + offset, &value, size);
	fine = check(copy, bytes);
	free(copy);
	return fine;
}

#define WITH(table, type, i, member, value)                                                              \
	check_with(((struct hodo_plan *)file)->table.offset + (i) * sizeof(struct type) +                \
			   offsetof(struct type, member), sizeof(((struct type *)0)->member), (value))
#define HEAD(member, value) check_with(offsetof(struct hodo_plan, member), sizeof(((struct hodo_plan *)0)->member), (value))

TEST(what_was_built_is_a_plan)
{
	assert_true(check(file, bytes));
}

TEST(the_head_must_be_of_this_file)
{
	assert_false(check(file, sizeof(struct hodo_plan) - 1));
	assert_false(check(file, bytes - 1));
	assert_false(HEAD(magic, 0));
	assert_false(HEAD(version, HODO_ABI_VERSION + 1));
	assert_false(HEAD(bytes, bytes + 1));
	assert_false(HEAD(windows.offset, bytes + 8));
	assert_false(HEAD(windows.offset, 4));
	assert_false(HEAD(windows.n, UINT32_MAX));
	assert_false(HEAD(traps.n, 0));
	assert_false(HEAD(pages.n, 0));
}

TEST(pages_are_apart_and_in_the_file)
{
	const struct hodo_plan_pages *p = (const void *)((char *)file + ((struct hodo_plan *)file)->pages.offset);

	assert_false(WITH(pages, hodo_plan_pages, 0, addr, p->addr + 1));
	assert_false(WITH(pages, hodo_plan_pages, 0, addr, 0));
	assert_false(WITH(pages, hodo_plan_pages, 0, addr, 1ull << 62));
	assert_false(WITH(pages, hodo_plan_pages, 0, offset, bytes));
	assert_false(WITH(pages, hodo_plan_pages, 0, bytes, 0));
	assert_false(WITH(pages, hodo_plan_pages, 0, bytes, ~0xfffull));
	assert_false(WITH(pages, hodo_plan_pages, 1, addr, p->addr));
}

TEST(windows_are_apart_and_every_boundary_traps)
{
	const struct hodo_plan_window *w = (const void *)((char *)file + ((struct hodo_plan *)file)->windows.offset);
	uint32_t n = ((struct hodo_plan *)file)->windows.n, with = 0;

	assert_false(WITH(windows, hodo_plan_window, 0, len, 4));
	assert_false(WITH(windows, hodo_plan_window, 0, len, 21));
	assert_false(WITH(windows, hodo_plan_window, 1, addr, w[0].addr));
	assert_false(WITH(windows, hodo_plan_window, 0, addr, w[0].addr + 1));
	assert_false(WITH(windows, hodo_plan_window, 0, jump[0], 0xe8));
	assert_false(WITH(windows, hodo_plan_window, 0, boundaries, 1));
	assert_false(WITH(windows, hodo_plan_window, 0, boundaries, 0x20));
	while (with < n && !w[with].boundaries)
		with++;
	assert_true(with < n);
	/* A byte that is a whole instruction: push %rax. */
	assert_false(WITH(windows, hodo_plan_window, with, jump[__builtin_ctz(w[with].boundaries)], 0x50));
	assert_false(WITH(windows, hodo_plan_window, with, boundaries, w[with].boundaries ^ 0x1e));
}

TEST(traps_and_functions_are_in_order_and_lead_somewhere)
{
	const struct hodo_plan_trap *t = (const void *)((char *)file + ((struct hodo_plan *)file)->traps.offset);
	uint32_t windows = ((struct hodo_plan *)file)->windows.n;

	assert_false(WITH(traps, hodo_plan_trap, 1, from, t[0].from));
	assert_false(WITH(traps, hodo_plan_trap, 0, from, 1));
	assert_false(WITH(traps, hodo_plan_trap, 0, to, 1));
	assert_false(WITH(fixes, hodo_plan_fix, 0, import, HODO_PLAN_IMPORTS));
	assert_false(WITH(fixes, hodo_plan_fix, 0, addr, 8));
	assert_false(WITH(functions, hodo_plan_function, 1, addr, 0));
	assert_false(WITH(functions, hodo_plan_function, 0, entry, windows));
	assert_false(WITH(functions, hodo_plan_function, 0, first, windows + 1));
	assert_false(WITH(functions, hodo_plan_function, 0, exits, UINT32_MAX));
}

/* A plan that only says which functions use their own slots: unmapping it must not unmap what it has not mapped. */
TEST(without_windows_there_are_no_pages)
{
	struct hodo_plan_function f[2] = { { .addr = 0x1000, .entry = HODO_PLAN_NO_WINDOW },
					   { .addr = 0x2000, .entry = HODO_PLAN_NO_WINDOW } };
	struct hodo_plan *plan = malloc(bytes);

	assert_non_null(plan);
	memcpy(plan, file, bytes);
	plan->windows.n = plan->traps.n = plan->fixes.n = plan->events.n = plan->frames.n = plan->replacements.n = 0;
	plan->functions.n = 2;
	memcpy((char *)plan + plan->functions.offset, f, sizeof(f));
	assert_false(check(plan, bytes));
	plan->pages.n = 0;
	assert_true(check(plan, bytes));
	f[1].exits = 1;
	memcpy((char *)plan + plan->functions.offset, f, sizeof(f));
	assert_false(check(plan, bytes));
	free(plan);
}

TEST(what_unwinders_read_is_in_the_file)
{
	const struct hodo_plan_frame *f = (const void *)((char *)file + ((struct hodo_plan *)file)->frames.offset);
	uint32_t windows = ((struct hodo_plan *)file)->windows.n;

	assert_int_equal(((struct hodo_plan *)file)->frames.n, windows);
	assert_false(WITH(frames, hodo_plan_frame, 0, slot, 1));
	assert_false(WITH(frames, hodo_plan_frame, 1, slot, f[0].slot));
	assert_false(WITH(frames, hodo_plan_frame, 0, bytes, 0));
	assert_false(WITH(frames, hodo_plan_frame, 0, header, bytes));
	assert_false(WITH(frames, hodo_plan_frame, 0, header, UINT64_MAX));
	assert_false(WITH(frames, hodo_plan_frame, 0, window, windows));
}

/* A plan of two events: at an entry, with a text, and at the exits of the object's next function that has exits. A
 * call of the first function goes to another one. */
static void build_events(struct hodo_probe_built *built)
{
	struct hodo_probe_field fields[] = { { .name = "text", .type = HODO_TYPE_STR, .missing = 1, .most = 255 },
					     { .name = "duration", .type = HODO_TYPE_U64 } };
	struct hodo_probe_event events[2] = { 0 };
	struct hodo_probe_replacement replaced = { .to = 0x1000, .original = 0x2000 };
	struct hodo_probe_target target = { .events = events, .nevents = 2, .replacements = &replaced,
					    .nreplacements = 1 };
	struct hodo_probe_space space = { 0 };
	struct hodo_probe_object o = { 0 };
	enum hodo_probe_reason why;
	struct hodo_elf e;
	char path[4096];

	assert_true(load_find("/libz.so.1", path, &target.bias));
	assert_int_equal(hodo_elf_open(&e, path), 0);
	assert_int_equal(hodo_probe_object_open(&o, &e, &why), 0);
	hodo_elf_close(&e);
	target.object = &o;
	for (uint32_t i = 0; i < o.nfunctions && !built->windows; i++) {
		const struct hodo_probe_function *f = &o.functions[i];

		if (i + 1 == o.nfunctions || f[0].part || f[1].part || !f[1].nexits)
			continue;
		for (unsigned k = 0; k < 2; k++)
			events[k] = (struct hodo_probe_event){ .addr = f[k].start, .provider = (char *)"probe",
							       .name = (char *)"name", .fields = fields,
							       .nfields = 2, .exits = k };
		replaced.addr = f[0].start;
		assert_int_equal(hodo_probe_build(&target, 1, &space, built), 0);
		hodo_probe_piece_free(target.piece);
		target.piece = NULL;
		if (built->events == 2 && built->windows > 2 && built->replaced)
			break;
		close(built->fd);
		built->windows = 0;
		hodo_probe_space_free(&space);
		space = (struct hodo_probe_space){ 0 };
	}
	hodo_probe_space_free(&space);
	hodo_probe_object_close(&o);
}

TEST(events_have_a_descriptor_a_window_and_a_state)
{
	struct hodo_probe_built built = { 0 };
	uint64_t *whole = file, before = bytes;
	const struct hodo_plan_replacement *r;
	const struct hodo_plan_event *x;
	struct stat st;

	build_events(&built);
	assert_int_equal(built.events, 2);
	assert_int_equal(fstat(built.fd, &st), 0);
	bytes = (uint64_t)st.st_size;
	file = malloc(bytes);
	assert_non_null(file);
	assert_int_equal(pread(built.fd, file, bytes, 0), (ssize_t)bytes);
	close(built.fd);
	x = (const void *)((char *)file + ((struct hodo_plan *)file)->events.offset);
	assert_true(check(file, bytes));
	assert_true(((struct hodo_plan *)file)->events.n > 2); /* the entry of the second one is an event, too */
	for (uint32_t i = 0; i < ((struct hodo_plan *)file)->events.n; i++) {
		assert_false(WITH(events, hodo_plan_event, i, desc, x[i].desc + 4));
		assert_false(WITH(events, hodo_plan_event, i, desc, bytes));
		assert_false(WITH(events, hodo_plan_event, i, bytes, UINT32_MAX));
		assert_false(WITH(events, hodo_plan_event, i, bytes, sizeof(struct hodo_desc) - 1));
		assert_false(WITH(events, hodo_plan_event, i, state, x[i].state + 4));
		assert_false(WITH(events, hodo_plan_event, i, state, 8));
		assert_false(WITH(events, hodo_plan_event, i, window, ((struct hodo_plan *)file)->windows.n));
		assert_false(WITH(events, hodo_plan_event, i, semaphore, 1));
		assert_false(check_with(x[i].desc + offsetof(struct hodo_desc, kind), 1, HODO_KIND_TRACEPOINT));
	}
	r = (const void *)((char *)file + ((struct hodo_plan *)file)->replacements.offset);
	assert_int_equal(((struct hodo_plan *)file)->replacements.n, 1);
	assert_int_equal(r->original, 0x2000);
	assert_false(WITH(replacements, hodo_plan_replacement, 0, original, r->original + 4));
	assert_false(WITH(replacements, hodo_plan_replacement, 0, original, 1ull << 62));
	assert_false(WITH(replacements, hodo_plan_replacement, 0, first, 8));
	assert_false(WITH(replacements, hodo_plan_replacement, 0, window, ((struct hodo_plan *)file)->windows.n));
	free(file);
	file = whole;
	bytes = before;
}

/* No byte of the file makes the check read outside of it. */
TEST(no_byte_leads_out_of_the_file)
{
	uint64_t seed = 1;
	char *copy = malloc(bytes);

	assert_non_null(copy);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t tables = ((struct hodo_plan *)file)->functions.offset, at;

		memcpy(copy, file, tables);
		for (unsigned k = 0; k < 4; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			at = (seed >> 20) % (i % 4 ? sizeof(struct hodo_plan) : tables);
			copy[at] = (char)(seed >> 50);
		}
		check(copy, i % 8 ? bytes : (seed >> 30) % bytes);
	}
	free(copy);
}
