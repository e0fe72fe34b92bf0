/* SPDX-License-Identifier: MIT */
/* test_calls.c - libhodo-read's calls, on recordings whose calls are known. */
#include <lib/recordings/help.h>

#include <lib/recordings/gen_calls.h>

#define FUNCTION(address) (unsigned)(((address) - 0x401000) / 0x100)

struct seen {
	struct hodo_read_calls *calls;
	char log[16384];
	size_t len;
	uint64_t entered, over, away, deepest, no_exit;
	uint8_t *closed; /* how many times, by the call's number */
	bool quiet;
};

static void say(struct seen *s, const char *what, const struct hodo_read_call *c)
{
	if (s->quiet)
		return;
	s->len += (size_t)snprintf(s->log + s->len, sizeof(s->log) - s->len, "%s %u tid %u depth %u", what,
				   FUNCTION(c->function), c->tid, c->depth);
	if (*what == '+')
		s->len += (size_t)snprintf(s->log + s->len, sizeof(s->log) - s->len, "\n");
	else
		s->len += (size_t)snprintf(s->log + s->len, sizeof(s->log) - s->len, " %lld self %llu%s%s%s%s\n",
					   (long long)(c->end_ns - c->entry_ns), (unsigned long long)c->self_ns,
					   c->flags & HODO_READ_CALL_LEFT ? " left" : "",
					   c->flags & HODO_READ_CALL_EXIT_LOST ? " exit lost" :
					   c->flags & HODO_READ_CALL_OPEN ? " open" : "",
					   c->flags & HODO_READ_CALL_NO_EXIT ? " no_exit" : "",
					   c->flags & HODO_READ_CALL_WHOLE ? " whole" : "");
	assert_true(s->len < sizeof(s->log));
}

static void on_enter(void *data, struct hodo_read_call *c)
{
	struct seen *s = data;

	assert_int_equal(c->size, sizeof(*c));
	assert_non_null(c->comm);
	c->user = s->entered++;
	if ((s->entered & (s->entered - 1)) == 0)
		s->closed = realloc(s->closed, 2 * s->entered + 2);
	s->closed[c->user] = 0;
	if (c->depth > s->deepest)
		s->deepest = c->depth;
	say(s, "+", c);
}

static void on_leave(void *data, const struct hodo_read_call *c)
{
	uint32_t ways = c->flags & (HODO_READ_CALL_LEFT | HODO_READ_CALL_OPEN | HODO_READ_CALL_EXIT_LOST);
	struct seen *s = data;

	assert_true(c->user < s->entered);
	assert_int_equal(s->closed[c->user]++, 0);
	assert_true(c->end_ns >= c->entry_ns);
	assert_true(ways == 0 || (ways & (ways - 1)) == 0);
	s->no_exit += (c->flags & HODO_READ_CALL_NO_EXIT) != 0;
	s->over++;
	say(s, "-", c);
}

static void on_away(void *data, const struct hodo_read_call *c)
{
	struct seen *s = data;

	assert_int_equal(s->closed[c->user], 0);
	s->away++;
	say(s, "away", c);
}

static bool on_same(void *data, const struct hodo_read_process *p, int64_t ts_ns, uint64_t a, uint64_t b)
{
	(void)data;
	assert_non_null(p);
	(void)ts_ns;
	return a / 0x100 == b / 0x100;
}

static struct hodo_read_calls_totals go(struct seen *s, const char *dir)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	struct hodo_read *r = help_open(dir);
	const struct hodo_read_event *e;
	int64_t last = 0;

	s->calls = hodo_read_calls_new(&ops, s);
	assert_non_null(s->calls);
	while (hodo_read_next(r, &e) > 0) {
		assert_int_equal(hodo_read_calls_event(s->calls, e), 0);
		last = e->ts_ns;
	}
	assert_int_equal(hodo_read_calls_end(s->calls, last), 0);
	hodo_read_calls_totals(s->calls, &t);
	assert_int_equal(t.calls, s->entered);
	assert_int_equal(t.calls, t.returned + t.left + t.open + t.exit_lost + s->no_exit);
	assert_int_equal(s->over, s->entered);
	assert_int_equal(hodo_read_calls_depth(s->calls, hodo_read_process(r, 0), 1), 0);
	hodo_read_calls_free(s->calls);
	hodo_read_close(r);
	free(s->closed);
	return t;
}

TEST(calls)
{
	struct hodo_read_calls_totals t;
	struct seen s = { 0 };

	gen_calls(folder_path("calls"));
	t = go(&s, folder_path("calls"));
	assert_string_equal(s.log,
			    "+ 0 tid 412 depth 0\n+ 1 tid 412 depth 1\n- 1 tid 412 depth 1 110 self 110\n"
			    "+ 7 tid 413 depth 0\n+ 2 tid 412 depth 1\n+ 3 tid 412 depth 2\n+ 4 tid 412 depth 3\n"
			    "away 4 tid 412 depth 3 200 self 200 left\naway 3 tid 412 depth 2 300 self 100 left\n"
			    "+ 5 tid 412 depth 2\n- 5 tid 412 depth 2 100 self 100\n"
			    "- 2 tid 412 depth 1 700 self 300\n"
			    "+ 6 tid 412 depth 1\n+ 8 tid 412 depth 2\n+ 9 tid 412 depth 3\n"
			    "away 9 tid 412 depth 3 100 self 100\naway 8 tid 412 depth 2 200 self 100\n"
			    "- 6 tid 412 depth 1 300 self 100\n+ 6 tid 413 depth 1\n"
			    "- 9 tid 412 depth 3 1200 self 1200\n+ 1 tid 413 depth 2\n+ 10 tid 413 depth 3\n"
			    "- 10 tid 413 depth 3 50 self 50\n- 1 tid 413 depth 2 150 self 100\n"
			    "- 8 tid 412 depth 2 1600 self 1500\n- 6 tid 413 depth 1 1400 self 1250\n"
			    "+ 12 tid 412 depth 1\n"
			    "- 12 tid 412 depth 1 0 self 0 open\n- 0 tid 412 depth 0 2999000 self 2997890 open\n"
			    "- 7 tid 413 depth 0 2998750 self 2997350 open\n"
			    "- 4 tid 412 depth 3 200 self 200 left\n- 3 tid 412 depth 2 300 self 100 left\n");
	assert_int_equal(t.returned, 9);
	assert_int_equal(t.left, 2);
	assert_int_equal(t.open, 3);
	assert_int_equal(t.orphans, 1);
}

TEST(kinds)
{
	struct hodo_read_calls_totals t;
	struct seen s = { 0 };

	gen_kinds(folder_path("kinds"));
	t = go(&s, folder_path("kinds"));
	/* Calls without an exit take no time from those around them. */
	assert_string_equal(s.log,
			    "+ 0 tid 9 depth 0\n+ 1 tid 9 depth 1\n+ 2 tid 9 depth 2\n- 2 tid 9 depth 2 100 self 100\n"
			    "- 1 tid 9 depth 1 300 self 200\n+ 3 tid 9 depth 1\n+ 4 tid 9 depth 2\n+ 5 tid 9 depth 3\n"
			    "- 5 tid 9 depth 3 100 self 100\n"
			    "away 4 tid 9 depth 2 350 self 250 left no_exit\naway 3 tid 9 depth 1 400 self 300 left no_exit\n"
			    "- 0 tid 9 depth 0 900 self 500\n"
			    "- 4 tid 9 depth 2 350 self 250 no_exit\n- 3 tid 9 depth 1 400 self 300 no_exit\n");
	assert_int_equal(t.returned, 4);
	assert_int_equal(t.orphans + t.left + t.open, 0);
}

TEST(whole)
{
	struct seen s = { 0 };

	gen_whole(folder_path("whole"));
	go(&s, folder_path("whole"));
	assert_string_equal(s.log,
			    "+ 2 tid 7 depth 2\n- 2 tid 7 depth 2 100 self 100 whole\n"
			    "+ 3 tid 7 depth 3\n- 3 tid 7 depth 3 100 self 100 left whole\n"
			    "+ 2 tid 7 depth 2\n- 2 tid 7 depth 2 250 self 150 left whole\n"
			    "+ 1 tid 7 depth 1\n- 1 tid 7 depth 1 600 self 250 whole\n"
			    "+ 4 tid 8 depth 0\n- 4 tid 8 depth 0 700 self 700 whole\n"
			    "+ 0 tid 7 depth 0\n- 0 tid 7 depth 0 2500 self 1000 whole\n"
			    "+ 6 tid 8 depth 0\n- 6 tid 8 depth 0 900 self 900 open whole\n");
}

/* What calls have called is outside of their own time, whatever the times of their events say. */
TEST(late)
{
	struct seen s = { 0 };

	gen_late(folder_path("late"));
	go(&s, folder_path("late"));
	assert_string_equal(s.log,
			    "+ 1 tid 7 depth 3\n- 1 tid 7 depth 3 90 self 90 whole\n"
			    "+ 1 tid 7 depth 2\n- 1 tid 7 depth 2 95 self 5 whole\n"
			    "+ 2 tid 7 depth 1\n- 2 tid 7 depth 1 200 self 105 whole\n"
			    "+ 0 tid 7 depth 0\n- 0 tid 7 depth 0 300 self 100 whole\n");

	s = (struct seen){ 0 };
	gen_late_lost(folder_path("late_lost"));
	go(&s, folder_path("late_lost"));
	assert_string_equal(s.log,
			    "+ 2 tid 7 depth 3\n- 2 tid 7 depth 3 50 self 50 whole\n"
			    "+ 1 tid 7 depth 3\n- 1 tid 7 depth 3 40 self 40 whole\n"
			    "+ 1 tid 7 depth 3\n- 1 tid 7 depth 3 30 self 30 whole\n"
			    "+ 1 tid 7 depth 2\n- 1 tid 7 depth 2 60 self 30 whole\n"
			    "+ 0 tid 7 depth 1\n- 0 tid 7 depth 1 480 self 330 whole\n");
}

TEST(lossy)
{
	struct hodo_read_calls_totals t;
	struct seen s = { 0 };

	gen_lossy(folder_path("lossy"));
	t = go(&s, folder_path("lossy"));
	assert_string_equal(s.log, "+ 0 tid 40 depth 0\n+ 1 tid 40 depth 1\n- 1 tid 40 depth 1 200 self 200 exit lost\n"
				   "- 0 tid 40 depth 0 400 self 200\n");
	assert_int_equal(t.orphans, 1);
}

/* How each call ended, by its number, as gen_exit_lost() says. */
static void check_ends(const char *log, const char *const ends[], unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char begin[32];
		const char *line, *end;

		snprintf(begin, sizeof(begin), "\n- %u tid ", i);
		line = strstr(log, begin);
		assert_non_null(line);
		end = strchr(line + 1, '\n');
		line = strstr(line, " self ") + 6;
		line += strspn(line, "0123456789");
		assert_int_equal(end - line, strlen(ends[i]));
		assert_memory_equal(line, ends[i], strlen(ends[i]));
	}
}

TEST(exit_lost)
{
	static const char *const ends[] = { " open", "", " left", "", " exit lost", "", " left", "", "", " left",
					    " exit lost", " exit lost", " open" };
	static const char *const before[] = { "", " exit lost", "", " left", "" };
	struct hodo_read_calls_totals t;
	struct seen s = { 0 };

	gen_exit_lost(folder_path("exit_lost"));
	t = go(&s, folder_path("exit_lost"));
	check_ends(s.log, ends, 13);
	assert_non_null(strstr(s.log, "away 2 tid 80 depth 2 100 self 100 left\n"));
	assert_non_null(strstr(s.log, "away 4 tid 80 depth 2 500 self 500 exit lost\n"));
	assert_int_equal(t.exit_lost, 3);
	assert_int_equal(t.left, 3);
	assert_int_equal(t.open, 2);

	s = (struct seen){ 0 };
	gen_lost_before(folder_path("lost_before"));
	t = go(&s, folder_path("lost_before"));
	check_ends(s.log, before, 5);
	assert_int_equal(t.exit_lost, 1);

	s = (struct seen){ 0 };
	gen_lost_unseen(folder_path("lost_unseen"));
	t = go(&s, folder_path("lost_unseen"));
	assert_int_equal(t.exit_lost, 1);
	assert_int_equal(t.left, 0);
}

TEST(forked)
{
	struct hodo_read_calls_totals t;
	struct seen s = { 0 };

	gen_fork(folder_path("fork"));
	t = go(&s, folder_path("fork"));
	assert_int_equal(t.calls, 3);
	assert_int_equal(t.returned, 3);
	assert_int_equal(t.orphans, 0);
}

TEST(deep)
{
	struct hodo_read_calls_totals t;
	struct seen s = { .quiet = true };

	gen_deep(folder_path("deep"), 1000000);
	t = go(&s, folder_path("deep"));
	assert_int_equal(s.deepest, 999999);
	assert_int_equal(t.returned, 1000000);
	assert_int_equal(s.away, 0);
}

TEST(mad)
{
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct hodo_read_calls_totals t;
		struct seen s = { .quiet = true };
		char name[32];

		snprintf(name, sizeof(name), "mad-%llu", (unsigned long long)seed);
		gen_mad(folder_path(name), seed);
		t = go(&s, folder_path(name));
		assert_true(t.returned + t.left + t.open <= t.calls);
		assert_true(t.orphans < 3000);
	}
}
