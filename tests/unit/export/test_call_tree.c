/* SPDX-License-Identifier: MIT */
/* test_call_tree.c - paths of calls: sums hold where memory is short; slices come in order, whatever was recorded. */
#define _GNU_SOURCE
#include <lib/recordings/gen_calls.h>

#include <export/calls/call_tree.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/folder.h>
#include <lib/unit.h>

static char path[64], warned[1024];

static int clean(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	return system(command);
}

static void warn(const char *text)
{
	snprintf(warned + strlen(warned), sizeof(warned) - strlen(warned), "%s\n", text);
}

struct opened {
	struct hodo_export e;
	struct hodo_call_tree *tree;
};

static void open_tree(struct opened *o, const struct hodo_call_options *options)
{
	memset(o, 0, sizeof(*o));
	assert_int_equal(hodo_read_open(&o->e.reader, path, NULL), 0);
	o->e.symbols = hodo_symbols_new(path);
	o->e.warn = warn;
	assert_non_null(o->e.symbols);
	assert_int_equal(hodo_call_tree_read(&o->tree, &o->e, options), 0);
	warned[0] = 0;
	hodo_call_tree_warn(o->tree, &o->e, "this");
}

static void close_tree(struct opened *o)
{
	hodo_call_tree_free(o->tree);
	hodo_symbols_free(o->e.symbols);
	hodo_read_close(o->e.reader);
}

static void sums(const struct hodo_call_tree *t, uint64_t *calls, uint64_t *self_ns, uint64_t *root_ns)
{
	*calls = *self_ns = *root_ns = 0;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		*calls += t->nodes[i].calls;
		*self_ns += t->nodes[i].self_ns;
		if (t->nodes[i].depth == 1)
			*root_ns += t->nodes[i].total_ns;
	}
}

/* A node's total is its own time and that of the nodes within it. */
static void check_totals(const struct hodo_call_tree *t)
{
	uint64_t *inside = calloc(t->nnodes + 1, sizeof(*inside));

	assert_non_null(inside);
	for (uint32_t i = t->nnodes; i-- > 0;) {
		inside[i] += t->nodes[i].self_ns;
		if (t->nodes[i].parent == HODO_CALL_NONE)
			continue;
		assert_true(t->nodes[i].parent < i);
		assert_int_equal(inside[i], t->nodes[i].total_ns);
		inside[t->nodes[i].parent] += inside[i];
	}
	free(inside);
}

TEST(what_has_no_room, .teardown = clean)
{
	static const uint32_t rooms[] = { 1, 2, 3, 5, 1000 };
	uint64_t calls, self_ns, root_ns, all_calls, all_self_ns, all_root_ns;
	struct hodo_call_options o = { .group = HODO_CALL_BY_THREAD };
	struct opened whole, some;

	gen_many_calls(path, 3000);
	open_tree(&whole, &o);
	sums(whole.tree, &all_calls, &all_self_ns, &all_root_ns);
	check_totals(whole.tree);
	assert_string_equal(warned, "");
	assert_int_equal(all_self_ns, all_root_ns);
	for (unsigned i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		uint32_t ordinary = 0;

		o.nodes_max = rooms[i];
		open_tree(&some, &o);
		check_totals(some.tree);
		sums(some.tree, &calls, &self_ns, &root_ns);
		assert_int_equal(calls, all_calls);
		assert_int_equal(self_ns, all_self_ns);
		assert_int_equal(root_ns, all_root_ns);
		for (uint32_t k = 0; k < some.tree->nnodes; k++)
			ordinary += some.tree->nodes[k].depth != 0 &&
				    some.tree->frames[some.tree->nodes[k].frame].kind != HODO_CALL_OTHER;
		assert_true(ordinary <= rooms[i]);
		assert_int_equal(rooms[i] < 7, some.tree->many > 0);
		assert_int_equal(rooms[i] < 7, strstr(warned, "too many paths: their time is in [other]") != NULL);
		close_tree(&some);
	}
	close_tree(&whole);
}

TEST(what_is_too_deep, .teardown = clean)
{
	const struct hodo_call_options o = { .group = HODO_CALL_BY_COMM, .slices = true };
	uint64_t calls, self_ns, root_ns;
	struct opened deep;
	uint32_t most = 0;

	gen_deep(path, 5000);
	open_tree(&deep, &o);
	check_totals(deep.tree);
	sums(deep.tree, &calls, &self_ns, &root_ns);
	assert_int_equal(calls, 5000);
	assert_int_equal(self_ns, root_ns);
	for (uint32_t i = 0; i < deep.tree->nnodes; i++)
		most = deep.tree->nodes[i].depth > most ? deep.tree->nodes[i].depth : most;
	assert_int_equal(most, HODO_CALL_DEPTH_MAX + 1);
	assert_int_equal(deep.tree->deep, 5000 - HODO_CALL_DEPTH_MAX);
	assert_non_null(strstr(warned, "3976 calls are too deep"));
	close_tree(&deep);
}

struct order {
	int64_t at_ns;
	uint32_t depth, begun;
};

static int in_order(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin)
{
	struct order *o = data;

	assert_non_null(slice);
	assert_true(at_ns >= o->at_ns);
	o->at_ns = at_ns;
	assert_true(begin || o->depth > 0);
	o->depth += begin ? 1 : (uint32_t)-1;
	o->begun += begin;
	return 0;
}

/* For any recording: each slice begins and ends once, in order; where memory is short, none is visited. */
TEST(slices_in_order, .teardown = clean)
{
	struct hodo_call_options o = { .group = HODO_CALL_BY_COMM, .slices = true };
	struct opened mad;

	for (uint64_t seed = 1; seed <= 24; seed++) {
		uint32_t n = 0;

		assert_int_equal(clean(NULL), 0);
		gen_mad(path, seed);
		o.slices_max = 0;
		open_tree(&mad, &o);
		assert_true(mad.tree->whole);
		for (uint32_t i = 0; i < mad.tree->nthreads; i++) {
			struct order order = { .at_ns = mad.tree->totals.begin_ns };

			assert_int_equal(hodo_call_thread_walk(mad.tree->threads[i], in_order, &order), 0);
			assert_int_equal(order.depth, 0);
			assert_int_equal(order.begun, mad.tree->threads[i]->nslices);
			n += order.begun;
		}
		close_tree(&mad);
		if (n < 2)
			continue;
		o.slices_max = n - 1;
		open_tree(&mad, &o);
		assert_false(mad.tree->whole);
		for (uint32_t i = 0; i < mad.tree->nthreads; i++)
			assert_int_equal(mad.tree->threads[i]->nslices, 0);
		close_tree(&mad);
	}
}

static int set_up(void **state)
{
	snprintf(path, sizeof(path), "%s", folder_path("recording"));
	return 0;
}

TEST_PROGRAM(.setup = set_up);
