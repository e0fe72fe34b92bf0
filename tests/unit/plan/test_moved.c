/* SPDX-License-Identifier: MIT */
/*
 * test_moved.c - a plan that was moved to where another process has the object is, byte for byte, the one that is made
 * there; and where there is no room for it as it is, it is made anew.
 */
#define _GNU_SOURCE
#include <lib/unit.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hodo/abi_plan.h>
#include <probe/patch/build.h>
#include <probe/patch/place.h>

#define HERE   0x550000000000ull
#define THERE  0x7f1240000000ull /* as far above a multiple of 1 GiB, where places are looked for */
#define NOT_SO 0x7f1240123000ull

static struct hodo_probe_object object;

static int find_library(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libz.so.1"))
		return 0;
	strcpy(path, info->dlpi_name);
	return 1;
}

static int open_object(void **state)
{
	enum hodo_probe_reason why;
	char path[4096] = "";
	struct hodo_elf e;
	int err;

	(void)state;
	assert_int_equal(dl_iterate_phdr(find_library, path), 1);
	assert_int_equal(hodo_elf_open(&e, path), 0);
	err = hodo_probe_object_open(&object, &e, &why);
	hodo_elf_close(&e);
	return err;
}

static int close_object(void **state)
{
	(void)state;
	hodo_probe_object_close(&object);
	return 0;
}

TEST_PROGRAM(.setup = open_object, .teardown = close_object);

/* Everything that a plan can have: calls of all functions, an event at an entry and one at exits, landings. */
struct wanted {
	struct hodo_probe_target target;
	struct hodo_probe_event events[2];
	struct hodo_probe_field fields[2];
	uint32_t *functions;
};

static void want(struct wanted *w)
{
	*w = (struct wanted){ .fields = { { .name = (char *)"text", .type = HODO_TYPE_STR, .missing = 1, .most = 255 },
					  { .name = (char *)"duration", .type = HODO_TYPE_U64 } } };
	w->functions = calloc(object.nfunctions, sizeof(*w->functions));
	assert_non_null(w->functions);
	for (uint32_t i = 0; i < object.nfunctions; i++) {
		const struct hodo_probe_function *f = &object.functions[i];

		w->functions[i] = i;
		if (w->target.nevents < 2 && !f->part && !f->reason && f->nexits && f->end - f->start > 64) {
			w->events[w->target.nevents] = (struct hodo_probe_event){
				.addr = f->start, .provider = (char *)"probe", .name = (char *)"name",
				.fields = w->fields, .nfields = 2, .exits = w->target.nevents, .semaphore = 0x1000,
			};
			w->target.nevents++;
		}
	}
	assert_int_equal(w->target.nevents, 2);
	w->target.object = &object;
	w->target.functions = w->functions;
	w->target.nfunctions = object.nfunctions;
	w->target.events = w->events;
	w->target.system_calls = w->target.landings = true;
}

static void drop(struct wanted *w)
{
	hodo_probe_piece_free(w->target.piece);
	free(w->functions);
}

/* in_the_way: of a mapping; 0: none. The plan's bytes. */
static uint8_t *build(struct wanted *w, uint64_t bias, uint64_t in_the_way, size_t *len)
{
	struct hodo_probe_space space = { 0 };
	struct hodo_probe_built built;
	struct stat st;
	uint8_t *bytes;

	assert_int_equal(hodo_probe_space_take(&space, bias, bias + (1u << 20)), 0);
	if (in_the_way)
		assert_int_equal(hodo_probe_space_take(&space, in_the_way, in_the_way + 4096), 0);
	w->target.bias = bias;
	assert_int_equal(hodo_probe_build(&w->target, 1, &space, &built), 0);
	assert_true(built.functions > 100 && built.events == 2 && built.windows > 200);
	assert_int_equal(fstat(built.fd, &st), 0);
	*len = (size_t)st.st_size;
	bytes = malloc(*len);
	assert_non_null(bytes);
	assert_int_equal(pread(built.fd, bytes, *len, 0), (ssize_t)*len);
	close(built.fd);
	hodo_probe_space_free(&space);
	return bytes;
}

static void compare(uint64_t first, uint64_t then)
{
	struct wanted moved, made;
	size_t n, wanted;
	uint8_t *one, *other;

	want(&moved);
	want(&made);
	free(build(&moved, first, 0, &n));
	one = build(&moved, then, 0, &n);
	other = build(&made, then, 0, &wanted);
	assert_int_equal(n, wanted);
	assert_memory_equal(one, other, n);
	free(one);
	free(other);
	drop(&moved);
	drop(&made);
}

TEST(it_is_the_same_plan_elsewhere)
{
	compare(HERE, THERE);
	compare(THERE, HERE);
	compare(HERE, HERE);
}

/* Every window leads to a slot of the plan's pages. */
static void check(const uint8_t *bytes, uint64_t in_the_way)
{
	const struct hodo_plan *plan = (const struct hodo_plan *)bytes;
	const struct hodo_plan_pages *pages = (const void *)(bytes + plan->pages.offset);
	const struct hodo_plan_window *windows = (const void *)(bytes + plan->windows.offset);

	for (uint32_t i = 0; i < plan->pages.n; i++)
		assert_true(in_the_way < pages[i].addr || in_the_way >= pages[i].addr + pages[i].bytes);
	for (uint32_t i = 0; i < plan->windows.n; i++) {
		uint64_t to = windows[i].addr + 5;
		int32_t distance;
		bool found = false;

		memcpy(&distance, windows[i].jump + 1, sizeof(distance));
		to += (uint64_t)(int64_t)distance;
		for (uint32_t k = 0; k < plan->pages.n; k++)
			found |= to >= pages[k].addr && to < pages[k].addr + pages[k].bytes;
		assert_true(found || !(windows[i].flags & HODO_PLAN_JUMP));
	}
}

TEST(where_something_is_in_the_way_it_is_made_anew)
{
	struct wanted w;
	size_t n;
	uint8_t *plan;
	uint64_t page, moved;

	want(&w);
	plan = build(&w, HERE, 0, &n);
	page = ((struct hodo_plan_pages *)(plan + ((struct hodo_plan *)plan)->pages.offset))->addr;
	free(plan);
	moved = page - HERE + NOT_SO;
	plan = build(&w, NOT_SO, moved, &n);
	check(plan, moved);
	free(plan);
	plan = build(&w, THERE, 0, &n);
	check(plan, 1);
	free(plan);
	drop(&w);
}
