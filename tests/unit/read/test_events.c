/* SPDX-License-Identifier: MIT */
/* test_events.c - what sound recordings hold: processes, classes, values, order, losses. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct hodo_read_event *find(struct hodo_read *r, const char *name, unsigned skip)
{
	const struct hodo_read_event *e;

	hodo_read_rewind(r);
	while (hodo_read_next(r, &e) > 0)
		if (strcmp(e->cls->name, name) == 0 && skip-- == 0)
			return e;
	fail_msg("no event %s", name);
	return NULL;
}

TEST(test_processes)
{
	const struct hodo_read_process *p;
	struct hodo_read *r;

	gen_all(folder_path("all"));
	r = help_open(folder_path("all"));
	assert_int_equal(hodo_read_nprocesses(r), 2);
	p = hodo_read_process(r, 0);
	assert_string_equal(p->folder, "kvd-412");
	assert_string_equal(p->comm, "kvd");
	assert_string_equal(p->exe, "/usr/bin/kvd");
	assert_int_equal(p->pid, 412);
	assert_int_equal(p->ppid, 1);
	assert_int_equal(p->uid, 1000);
	assert_int_equal(p->start, HODO_START_EXEC);
	assert_int_equal(p->mode, HODO_MODE_DISCARD);
	assert_true(p->complete);
	assert_int_equal(p->end_ns, 1795000123000000001);
	assert_int_equal(p->clock.kind, HODO_CLOCK_TSC);
	assert_int_equal(p->clock.freq_hz, 2596123457 * GEN_TICK);
	assert_int_equal(p->nstreams, 3);
	assert_string_equal(p->streams[0]->name, "cpu0");
	assert_string_equal(p->streams[2]->name, "fallback");
	assert_int_equal(p->streams[2]->cpu, -1);
	assert_int_equal(p->nthreads, 2);
	assert_string_equal(p->threads[1].comm, "kvd worker");
	assert_int_equal(p->nwarnings, 1);
	assert_string_equal(p->warnings[0], "kv:put is defined twice");
	assert_int_equal(hodo_read_process(r, 1)->mode, HODO_MODE_OVERWRITE);
	assert_null(hodo_read_process(r, 2));
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
}

TEST(test_hostname)
{
	struct hodo_read *r = help_open(folder_path("all"));
	FILE *f;

	assert_null(hodo_read_process(r, 0)->hostname);
	hodo_read_close(r);
	gen_all(folder_path("host"));
	f = fopen(folder_path("host/kvd-412/metadata"), "a");
	assert_non_null(f);
	fputs("\n\thostname = \"a \\\"b\\\\\";\n\thostname = \"second\";\n\thostname = \"", f);
	fclose(f);
	r = help_open(folder_path("host"));
	assert_string_equal(hodo_read_process(r, 0)->hostname, "a \"b\\");
	hodo_read_close(r);
}

TEST(test_classes)
{
	const struct hodo_read_process *p;
	const struct hodo_read_class *c;
	struct hodo_read *r = help_open(folder_path("all"));

	p = hodo_read_process(r, 0);
	assert_int_equal(p->nclasses, 11);
	c = p->classes[3];
	assert_int_equal(c->id, 4);
	assert_string_equal(c->name, "kv:get");
	assert_int_equal(c->kind, HODO_KIND_MARK);
	assert_string_equal(c->format, "key %s shard %d");
	assert_string_equal(c->file, "src/gen.c");
	assert_int_equal(c->line, 104);
	assert_int_equal(c->nfields, 2);
	assert_string_equal(c->fields[0].name, "key");
	assert_int_equal(c->fields[0].type, HODO_TYPE_STR);
	assert_int_equal(c->fixed_bytes, 0);
	assert_int_equal(p->classes[10]->id, 700);
	assert_int_equal(p->classes[10]->fixed_bytes, 18);
	c = p->classes[4];
	assert_non_null(c->fields[0].labels);
	assert_string_equal(hodo_read_label(c->fields[0].labels, -7), "DEAD");
	assert_string_equal(hodo_read_label(c->fields[0].labels, 1), "BUSY");
	assert_null(hodo_read_label(c->fields[0].labels, 42));
	assert_null(hodo_read_label(NULL, 0));
	assert_true(hodo_read_class_same(c, hodo_read_process(r, 1)->classes[4]));
	assert_false(hodo_read_class_same(c, p->classes[3]));
	hodo_read_close(r);
}

TEST(test_scalars)
{
	struct hodo_read *r = help_open(folder_path("all"));
	const struct hodo_read_event *e = find(r, "all:scalars", 2);
	const struct hodo_read_value *v = e->values;

	assert_int_equal(e->tid, 413);
	assert_string_equal(e->comm, "kvd worker");
	assert_int_equal(e->pid, 412);
	assert_int_equal(e->cpu, 0);
	assert_int_equal(v[0].i, -1);
	assert_int_equal(v[1].u, 1);
	assert_int_equal(v[4].i, -1);
	assert_int_equal(v[5].u, 1);
	assert_int_equal(v[6].i, -1);
	assert_int_equal(v[8].u, 1);
	assert_int_equal(v[8].type, HODO_TYPE_BOOL);
	assert_int_equal(v[9].i, -100);
	assert_true(v[10].f == -1.5);
	assert_true(v[11].f == -1.5);
	assert_int_equal(v[12].u, 1);
	e = find(r, "all:scalars", 0);
	assert_int_equal(e->values[6].i, INT64_MIN);
	assert_int_equal(e->values[7].u, UINT64_MAX);
	hodo_read_close(r);
}

TEST(test_sequences)
{
	struct hodo_read *r = help_open(folder_path("all"));
	const struct hodo_read_event *e = find(r, "all:sequences", 0);
	int32_t ints[3];

	assert_int_equal(e->values[0].count, 5);
	assert_memory_equal(e->values[0].data, "plain", 5);
	assert_false(e->values[0].null);
	assert_int_equal(e->values[1].count, 3);
	assert_int_equal(e->values[2].count, 3);
	memcpy(ints, e->values[2].data, sizeof(ints));
	assert_int_equal(ints[1], -1000003);
	e = find(r, "all:sequences", 1);
	assert_int_equal(e->values[0].count, 0);
	assert_false(e->values[0].null);
	e = find(r, "all:sequences", 2);
	assert_true(e->values[0].null);
	e = find(r, "all:sequences", 3);
	assert_int_equal(e->values[3].count, 64);
	assert_int_equal(e->values[8].u, 64);
	hodo_read_close(r);
}

TEST(test_order)
{
	const struct hodo_read_event *e;
	struct hodo_read *r = help_open(folder_path("all"));
	const char *tie[3] = { 0 };
	int64_t last = 0;
	unsigned n = 0, ties = 0;

	while (hodo_read_next(r, &e) > 0) {
		assert_true(e->ts_ns >= last);
		last = e->ts_ns;
		if (e->ts_ns == 1795007709956752206) {
			assert_true(ties < 3);
			tie[ties++] = e->stream->name;
		}
		n++;
	}
	assert_int_equal(n, 52);
	/* Equal times: as recorded in cpu0, then cpu1. */
	assert_int_equal(ties, 3);
	assert_string_equal(tie[0], "cpu0");
	assert_string_equal(tie[1], "cpu0");
	assert_string_equal(tie[2], "cpu1");
	assert_int_equal(hodo_read_next(r, &e), 0);
	assert_null(e);
	assert_int_equal(help_walk(r), 52);
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
}

static void check_lost(const struct hodo_read_lost *l, uint64_t full, uint64_t large, uint64_t busy,
		       uint64_t over, uint64_t unknown)
{
	assert_int_equal(l->full, full);
	assert_int_equal(l->too_large, large);
	assert_int_equal(l->busy, busy);
	assert_int_equal(l->overwritten, over);
	assert_int_equal(l->unwritten, 0);
	assert_int_equal(l->unknown, unknown);
}

TEST(test_lost)
{
	struct hodo_read *r = help_open(folder_path("all"));
	struct hodo_read_lost lost;

	assert_int_equal(hodo_read_scan(r), 0);
	lost = hodo_read_lost(r, hodo_read_process(r, 0));
	check_lost(&lost, 10, 2, 3, 0, 0);
	lost = hodo_read_lost(r, NULL);
	check_lost(&lost, 10, 2, 3, 40, 0);
	assert_int_equal(hodo_read_process(r, 0)->streams[0]->packets, 4);
	assert_int_equal(hodo_read_process(r, 0)->streams[0]->events, 10);
	hodo_read_close(r);

	/* Without causes: what the headers skip counts as overwritten, the rest as unknown. */
	gen_lost_only(folder_path("lost"));
	r = help_open(folder_path("lost"));
	assert_false(hodo_read_process(r, 0)->complete);
	assert_int_equal(hodo_read_count(r, NULL), 0);
	lost = hodo_read_lost(r, NULL);
	check_lost(&lost, 0, 0, 0, 100, 30);
	hodo_read_close(r);
}

TEST(test_counts)
{
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read *r = help_open(folder_path("all"));
	const struct hodo_read_class *put;

	assert_int_equal(hodo_read_count(r, &totals), 0);
	assert_int_equal(totals.events, 52);
	assert_int_equal(totals.damaged, 0);
	assert_int_equal(totals.begin_ns, 1795007709956751820);
	assert_int_equal(totals.end_ns - totals.begin_ns, 3000000000);
	put = hodo_read_process(r, 0)->classes[2];
	assert_int_equal(put->count, 1);
	assert_int_equal(put->bytes, 6 + 2 + 6 + 4 + 8);
	totals.size = 1;
	assert_int_equal(hodo_read_count(r, &totals), -EINVAL);
	hodo_read_close(r);
}

TEST(test_limits)
{
	struct hodo_read *r = help_open(folder_path("all"));
	int64_t begin = hodo_read_begin_ns(r), since, until;
	const struct hodo_read_event *e;
	struct hodo_read_lost lost;
	unsigned n, all = 0;

	assert_int_equal(begin, 1795007709956751820);
	/* Consecutive slices of the whole: each event is in exactly one of them. */
	for (since = begin; since < begin + 10000; since += 97) {
		until = since + 97;
		hodo_read_limit(r, since, until);
		for (n = 0; hodo_read_next(r, &e) > 0; n++)
			assert_true(e->ts_ns >= since && e->ts_ns < until);
		all += n;
	}
	assert_int_equal(all, 51); /* the last is 3 s later */
	lost = hodo_read_lost(r, NULL);
	check_lost(&lost, 10, 2, 3, 40, 0); /* the reader passed all packets nevertheless */
	hodo_read_limit(r, begin + 1000000000, INT64_MAX);
	assert_int_equal(hodo_read_next(r, &e), 1);
	assert_string_equal(e->cls->name, "high:id");
	assert_int_equal(hodo_read_next(r, &e), 0);
	hodo_read_limit(r, INT64_MAX, INT64_MIN);
	assert_int_equal(hodo_read_next(r, &e), 0);
	hodo_read_close(r);
}

TEST(test_one_folder)
{
	struct hodo_read *r = help_open(folder_path("all/kvd-412//"));

	assert_int_equal(hodo_read_nprocesses(r), 1);
	assert_string_equal(hodo_read_process(r, 0)->folder, "");
	assert_int_equal(help_walk(r), 21);
	hodo_read_close(r);
}

/* More processes than descriptors, and more streams than fit in memory if all were open at once. */
TEST(test_many)
{
	struct rlimit few = { 16, 16 }, before;
	const struct hodo_read_event *e;
	struct hodo_read *r;
	int64_t last = 0;
	unsigned n = 0;

	gen_many(folder_path("many"), 300);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = help_open(folder_path("many"));
	assert_int_equal(hodo_read_nprocesses(r), 300);
	while (hodo_read_next(r, &e) > 0) {
		assert_true(e->ts_ns >= last);
		last = e->ts_ns;
		n++;
	}
	assert_int_equal(n, 300 * 40);
	assert_int_equal(help_walk(r), 300 * 40);
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
	setrlimit(RLIMIT_NOFILE, &before);
}

/* Packets and events larger than what the reader reads at a time. */
TEST(test_large)
{
	static const struct gen_field fields[] = { { "data", HODO_TYPE_BYTES }, { "after", HODO_TYPE_U64 } };
	static const uint32_t sizes[] = { 0, 1, 262144, 100, 1500000, 262132, 3, 2097152 };
	const struct hodo_read_event *e;
	uint8_t *data = malloc(8 << 20);
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;
	unsigned n = 0;

	assert_non_null(data);
	for (unsigned i = 0; i < 8 << 20; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 24);
	gen_trace_start(&t, folder_path("large"), "large-1", "large", 1, "discard", 1000000000, 0, 0);
	gen_class(&t, 1, "large:data", "event", "", fields, 2);
	gen_stream_start(&s, &t, "cpu0", 0);
	for (unsigned packet = 0; packet < 2; packet++) {
		gen_packet_start(&s, 1000 * packet);
		for (unsigned i = 0; i < 8; i++) {
			gen_event(&s, 1, 1, 1000 * packet + i);
			gen_array(&s, data, sizes[i], 1);
			gen_u64(&s, i);
		}
		gen_packet_end(&s, 1000 * packet + 10, 0);
	}
	gen_stream_end(&s);
	gen_trace_end(&t);
	r = help_open(folder_path("large"));
	while (hodo_read_next(r, &e) > 0) {
		assert_int_equal(e->values[0].count, sizes[n % 8]);
		assert_memory_equal(e->values[0].data, data, sizes[n % 8]);
		assert_int_equal(e->values[1].u, n % 8);
		n++;
	}
	assert_int_equal(n, 16);
	assert_int_equal(help_walk(r), 16);
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
	free(data);
}
