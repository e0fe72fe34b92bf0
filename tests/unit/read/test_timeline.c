/* SPDX-License-Identifier: MIT */
/* test_timeline.c - recordings made event by event, and the timelines that are made of them, line by line. */
#define _GNU_SOURCE
#include <sym/recording_symbols.h>
#include <lib/recordings/help.h>
#include <read/time/timeline.h>

enum { A_BEGIN = 1, A_END, B_BEGIN, B_END, JOB_BEGIN, JOB_END, COUNT, PLAIN, MARK, ENTRY, EXIT, CALL, ENTER_READ,
       EXIT_READ, ENTER_EXECVE, SWITCH };

static const struct gen_field value[] = { { "value", HODO_TYPE_I64 } };
static const struct gen_field frame[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 } };
static const struct gen_field whole[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 },
					  { "depth", HODO_TYPE_U32 }, { "duration", HODO_TYPE_U64 },
					  { "left", HODO_TYPE_BOOL } };
static const struct gen_field sched[] = { { "prev_comm", HODO_TYPE_STR }, { "prev_pid", HODO_TYPE_I32 },
					  { "prev_prio", HODO_TYPE_I32 }, { "prev_state", HODO_TYPE_I64 },
					  { "next_comm", HODO_TYPE_STR }, { "next_pid", HODO_TYPE_I32 },
					  { "next_prio", HODO_TYPE_I32 } };

/* One event; the meaning of a and b depends on its class. */
struct step {
	unsigned at, tid, id;
	uint64_t a, b, c, d;
};

static void put(struct gen_stream *s, const struct step *e)
{
	gen_event(s, e->id, e->tid, 1000 + e->at);
	switch (e->id) {
	case JOB_BEGIN: case JOB_END: case COUNT: case PLAIN:
		gen_u64(s, e->a);
		break;
	case ENTRY: case EXIT: case CALL:
		gen_u64(s, e->a);
		gen_u32(s, (uint32_t)e->b);
		if (e->id != CALL)
			break;
		gen_u32(s, (uint32_t)e->c);
		gen_u64(s, e->d * GEN_TICK);
		gen_u8(s, 0);
		break;
	case SWITCH:
		gen_str(s, e->a == 1 ? "one" : "two");
		gen_u32(s, (uint32_t)e->a);
		gen_u32(s, 120);
		gen_u64(s, e->c);
		gen_str(s, "two");
		gen_u32(s, (uint32_t)e->b);
		gen_u32(s, 120);
		break;
	}
}

enum lost { NOTHING_LOST, LOST_BEHIND, LOST_ANYWHERE }; /* three events: after all others, or anywhere */

#define PACKET_EVENTS 50000u
static void make(const char *dir, const char *kernel, const struct step *steps, unsigned n, enum lost lost)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, dir, kernel ? "kernel" : "app-7", kernel ? "kernel" : "app", kernel ? 0 : 7, "discard",
			1000000000, 1795000000, 0);
	if (kernel)
		gen_comment(&t, "kernel release=%s", kernel);
	gen_class(&t, A_BEGIN, "t:a.begin", "span_begin", "", NULL, 0);
	gen_class(&t, A_END, "t:a.end", "span_end", "", NULL, 0);
	gen_class(&t, B_BEGIN, "t:b.begin", "span_begin", "", NULL, 0);
	gen_class(&t, B_END, "t:b.end", "span_end", "", NULL, 0);
	gen_class(&t, JOB_BEGIN, "t:job.begin", "begin", "", value, 1);
	gen_class(&t, JOB_END, "t:job.end", "end", "", value, 1);
	gen_class(&t, COUNT, "t:count", "counter", "", value, 1);
	gen_class(&t, PLAIN, "t:plain", "event", "", value, 1);
	gen_class(&t, MARK, "t:mark", "mark", "here", NULL, 0);
	gen_class(&t, ENTRY, "func:entry", "function", "", frame, 2);
	gen_class(&t, EXIT, "func:exit", "function", "", frame, 2);
	gen_class(&t, CALL, "func:call", "function", "", whole, 5);
	gen_class(&t, ENTER_READ, "syscalls:sys_enter_read", "tracepoint", "", NULL, 0);
	gen_class(&t, EXIT_READ, "syscalls:sys_exit_read", "tracepoint", "", NULL, 0);
	gen_class(&t, ENTER_EXECVE, "syscalls:sys_enter_execve", "tracepoint", "", NULL, 0);
	gen_class(&t, SWITCH, "sched:sched_switch", "tracepoint", "", sched, 7);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	for (unsigned i = 0; i < n; i++) {
		put(&s, &steps[i]);
		if (i % PACKET_EVENTS == PACKET_EVENTS - 1) {
			gen_packet_end(&s, 1000 + steps[i].at, 0);
			gen_packet_start(&s, 1000 + steps[i].at);
		}
	}
	gen_packet_end(&s, 100000, lost ? 3 : 0);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=%u too_large=%u busy=0 overwritten=0 unwritten=0",
		    lost == LOST_BEHIND ? 3 : 0, lost == LOST_ANYWHERE ? 3 : 0);
	gen_comment(&t, "end ts=1795000000000100000");
	gen_trace_end(&t);
}

/* ------------------------------------------------------------------ what is reported */

#define BEGIN_NS 1795000000000001000ll

struct log {
	FILE *f;
	char *text;
	size_t len;
	const struct hodo_slice *open[16]; /* of thread 1, to check that they nest */
	unsigned nopen, begins, ends; /* begins, ends: of test_pieces() */
	int stop_at;
};

static void flags(FILE *f, uint32_t bits)
{
	static const char *const names[] = { "left", "open", "no_exit", "end_lost", "split", "continued" };

	for (unsigned i = 0; i < 6; i++)
		if (bits & (1u << i))
			fprintf(f, " %s", names[i]);
	fputc('\n', f);
}

static int on_track(void *data, struct hodo_track *track)
{
	static const char *const kinds[] = { "thread", "async", "counter", "cpu" };
	struct log *log = data;

	fprintf(log->f, "track %u %s %s\n", track->id, kinds[track->kind], track->name);
	return 0;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct log *log = data;

	fprintf(log->f, "%lld begin %s on %u depth %u%s", (long long)(slice->begin_ns - BEGIN_NS), slice->name,
		slice->track->id, slice->depth, slice->parent ? " in " : "");
	fputs(slice->parent ? slice->parent->name : "", log->f);
	flags(log->f, slice->flags);
	if (slice->track->kind == HODO_TRACK_THREAD && slice->track->tid == 1) {
		assert_int_equal(slice->depth, log->nopen);
		log->open[log->nopen++] = slice;
	}
	assert_true(!event || event->ts_ns == slice->begin_ns);
	slice->user = slice;
	return log->stop_at && --log->stop_at == 0 ? -77 : 0;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct log *log = data;

	assert_ptr_equal(slice->user, slice);
	fprintf(log->f, "%lld end %s self %llu", (long long)(slice->end_ns - BEGIN_NS), slice->name,
		(unsigned long long)slice->self_ns);
	flags(log->f, slice->flags);
	if (slice->track->kind == HODO_TRACK_THREAD && slice->track->tid == 1)
		assert_ptr_equal(log->open[--log->nopen], slice);
	return 0;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct log *log = data;

	fprintf(log->f, "%lld %s on %u depth %u\n", (long long)(event->ts_ns - BEGIN_NS), event->cls->name, track->id,
		depth);
	return 0;
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double v)
{
	struct log *log = data;

	fprintf(log->f, "%lld %s = %g\n", (long long)(event->ts_ns - BEGIN_NS), track->name, v);
	return 0;
}

static int read_timeline(const char *dir, struct log *log, struct hodo_timeline_totals *totals)
{
	static const struct hodo_timeline_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
						   .instant = on_instant, .counter = on_counter };
	struct hodo_symbols *symbols = hodo_symbols_new(dir);
	struct hodo_read *r = help_open(dir);
	struct hodo_timeline *s = hodo_timeline_new(r, hodo_symbols_places(symbols), &ops, log);
	int result;

	assert_non_null(s);
	log->f = open_memstream(&log->text, &log->len);
	result = hodo_timeline_read(s, 0, 0);
	if (totals)
		hodo_timeline_totals(s, totals);
	hodo_timeline_free(s);
	hodo_read_close(r);
	hodo_symbols_free(symbols);
	fclose(log->f);
	return result;
}

static void expect(const char *name, const char *kernel, const struct step *steps, unsigned n, enum lost lost,
		   const char *text)
{
	const char *dir = folder_path(name);
	struct log log = { 0 };

	make(dir, kernel, steps, n, lost);
	assert_int_equal(read_timeline(dir, &log, NULL), 0);
	assert_string_equal(log.text, text);
	free(log.text);
}

#define EXPECT(name, kernel, lost, text, ...) do { \
	static const struct step steps_[] = { __VA_ARGS__ }; \
	expect(name, kernel, steps_, sizeof(steps_) / sizeof(*steps_), lost, text); \
} while (0)

/* ------------------------------------------------------------------ tests */

TEST(test_spans)
{
	EXPECT("nested", NULL, 0,
	       "track 0 thread app\n0 begin t:a on 0 depth 0\n10 begin t:b on 0 depth 1 in t:a\n12 t:plain on 0 depth 2\n"
	       "20 end t:b self 10\n25 begin t:b on 0 depth 1 in t:a\n30 end t:b self 5\n40 end t:a self 25\n"
	       "50 begin t:a on 0 depth 0\n60 t:mark on 0 depth 1\n60 end t:a self 10 open\n",
	       { 0, 1, A_BEGIN }, { 10, 1, B_BEGIN }, { 12, 1, PLAIN, 5 }, { 20, 1, B_END }, { 25, 1, B_BEGIN },
	       { 30, 1, B_END }, { 40, 1, A_END }, { 50, 1, A_BEGIN }, { 60, 1, MARK });
	EXPECT("unpaired", NULL, 0,
	       "track 0 thread app\n0 t:a.end on 0 depth 0\n5 begin t:a on 0 depth 0\ntrack 1 thread app\n6 t:a.end on 1 depth 0\n"
	       "9 end t:a self 4\n",
	       { 0, 1, A_END }, { 5, 1, A_BEGIN }, { 6, 2, A_END }, { 9, 1, A_END });
}

/* Two coroutines on one thread: their spans overlap, and are reported in pieces that nest, whatever is lost later. */
TEST(test_overlap)
{
	for (enum lost lost = NOTHING_LOST; lost <= LOST_BEHIND; lost++)
		EXPECT(lost ? "lossy_later" : "overlap", NULL, lost,
		       "track 0 thread app\n0 begin t:a on 0 depth 0\n10 begin t:b on 0 depth 1 in t:a\n"
		       "20 end t:b self 10 split\n20 end t:a self 10\n20 begin t:b on 0 depth 0 continued\n"
		       "30 end t:b self 10 continued\n",
		       { 0, 1, A_BEGIN }, { 10, 1, B_BEGIN }, { 20, 1, A_END }, { 30, 1, B_END });
	/* If events were lost in between, the inner span's end may be among them: the span does not stay open. */
	EXPECT("lossy", NULL, LOST_ANYWHERE,
	       "track 0 thread app\n0 begin t:a on 0 depth 0\n10 begin t:b on 0 depth 1 in t:a\n"
	       "20 end t:b self 10 end_lost\n20 end t:a self 10\n30 t:b.end on 0 depth 0\n",
	       { 0, 1, A_BEGIN }, { 10, 1, B_BEGIN }, { 20, 1, A_END }, { 30, 1, B_END });
}

TEST(test_async)
{
	EXPECT("async", NULL, 0,
	       "track 0 thread app\ntrack 1 async t:job\n0 begin t:job on 1 depth 0\n5 begin t:job on 1 depth 0\n"
	       "track 2 thread app\n7 end t:job self 7\n8 t:job.end on 2 depth 0\n9 begin t:job on 1 depth 0\n"
	       "10 begin t:job on 1 depth 0\n11 end t:job self 1\n12 end t:job self 3\n12 end t:job self 7 open\n",
	       { 0, 1, JOB_BEGIN, 100 }, { 5, 1, JOB_BEGIN, 200 }, { 7, 2, JOB_END, 100 }, { 8, 2, JOB_END, 300 },
	       { 9, 2, JOB_BEGIN, 7 }, { 10, 2, JOB_BEGIN, 7 }, { 11, 2, JOB_END, 7 }, { 12, 2, JOB_END, 7 });
	EXPECT("counter", NULL, 0,
	       "track 0 thread app\ntrack 1 counter t:count\n0 t:count = 5\ntrack 2 thread app\n3 t:count = -2\n",
	       { 0, 1, COUNT, 5 }, { 3, 2, COUNT, (uint64_t)-2 });
}

TEST(test_calls)
{
	EXPECT("calls", NULL, 0,
	       "track 0 thread app\n0 begin 0x1000 on 0 depth 0\n10 begin t:a on 0 depth 1 in 0x1000\n"
	       "20 begin 0x2000 on 0 depth 2 in t:a\n30 end 0x2000 self 10\n40 end t:a self 20\n50 end 0x1000 self 20\n",
	       { 0, 1, ENTRY, 0x1000, 0x100 }, { 10, 1, A_BEGIN }, { 20, 1, ENTRY, 0x2000, 0x90 },
	       { 30, 1, EXIT, 0x2000, 0x90 }, { 40, 1, A_END }, { 50, 1, EXIT, 0x1000, 0x100 });
	/* Each event is about a call that has ended, inner ones first; reported from the outermost inwards. */
	EXPECT("complete", NULL, 0,
	       "track 0 thread app\n0 t:plain on 0 depth 0\n10 begin 0x1000 on 0 depth 0\n20 begin 0x2000 on 0 depth 1 in 0x1000\n"
	       "30 end 0x2000 self 10\n35 begin 0x3000 on 0 depth 1 in 0x1000\n40 end 0x3000 self 5\n60 end 0x1000 self 35\n",
	       { 0, 1, PLAIN, 1 }, { 30, 1, CALL, 0x2000, 0x90, 1, 10 }, { 40, 1, CALL, 0x3000, 0x90, 1, 5 },
	       { 60, 1, CALL, 0x1000, 0x100, 0, 50 });
}

/* 2000 is deeper than what is entered or returns after it, and has no exit. */
TEST(test_exit_lost)
{
#define UP_TO "track 0 thread app\n0 begin 0x1000 on 0 depth 0\n10 begin 0x2000 on 0 depth 1 in 0x1000\n20 end 0x2000 self 10"
#define BEHIND "\n20 end 0x1000 self 10\n"
	for (enum lost lost = LOST_BEHIND; lost <= LOST_ANYWHERE; lost++)
		EXPECT(lost == LOST_ANYWHERE ? "exit_lost" : "exit_left", NULL, lost,
		       lost == LOST_ANYWHERE ? UP_TO " end_lost" BEHIND : UP_TO " left" BEHIND,
		       { 0, 1, ENTRY, 0x1000, 0x100 }, { 10, 1, ENTRY, 0x2000, 0x90 }, { 20, 1, EXIT, 0x1000, 0x100 });
	EXPECT("syscall_lost", "6.1.0", LOST_ANYWHERE,
	       "track 0 thread ?\n0 begin syscalls:execve on 0 depth 0\n10 end syscalls:execve self 10 end_lost\n"
	       "10 begin syscalls:read on 0 depth 0\n20 end syscalls:read self 10\n",
	       { 0, 1, ENTER_EXECVE }, { 10, 1, ENTER_READ }, { 20, 1, EXIT_READ });
}

/* A thread that was preempted before it wrote: its call seems to begin and end late. Depths show the truth. */
TEST(test_late_calls)
{
	EXPECT("late", NULL, 0,
	       "track 0 thread app\n0 t:plain on 0 depth 0\n10 begin 0x1000 on 0 depth 0\n"
	       "20 begin 0x2000 on 0 depth 1 in 0x1000\n45 begin 0x3000 on 0 depth 2 in 0x2000\n"
	       "50 end 0x3000 self 5\n50 end 0x2000 self 25\n"
	       "50 begin 0x4000 on 0 depth 1 in 0x1000\n60 end 0x4000 self 10\n60 end 0x1000 self 10\n"
	       "70 begin 0x1000 on 0 depth 0\n80 end 0x1000 self 10\n",
	       /* 3000 lasted from 25 to 30, 2000 from 20 to 50; 4000 for 12 ns, of which 2 lie before 2000's end. */
	       { 0, 1, PLAIN, 1 }, { 50, 1, CALL, 0x3000, 0x80, 2, 5 }, { 50, 1, CALL, 0x2000, 0x90, 1, 30 },
	       { 60, 1, CALL, 0x4000, 0x90, 1, 12 }, { 60, 1, CALL, 0x1000, 0x100, 0, 50 },
	       { 80, 1, CALL, 0x1000, 0x100, 0, 10 });
}

TEST(test_kernel)
{
	EXPECT("kernel", "6.1.0", 0,
	       "track 0 thread ?\n0 begin syscalls:read on 0 depth 0\n10 end syscalls:read self 10\n"
	       "20 begin syscalls:execve on 0 depth 0\n30 end syscalls:execve self 10 left\n"
	       "30 begin syscalls:read on 0 depth 0\n40 end syscalls:read self 10\n"
	       "50 sched:sched_switch on 0 depth 0\ntrack 1 thread two\n70 sched:sched_switch on 1 depth 0\n"
	       "track 2 cpu CPU 0\n50 begin two on 2 depth 0\n70 end two self 20\n",
	       { 0, 1, ENTER_READ }, { 10, 1, EXIT_READ }, { 20, 1, ENTER_EXECVE }, { 30, 1, ENTER_READ },
	       { 40, 1, EXIT_READ }, { 50, 1, SWITCH, 1, 2, 1 }, { 70, 2, SWITCH, 2, 0, 1 });
}

TEST(test_stop)
{
	static const struct step steps[] = { { 0, 1, A_BEGIN }, { 1, 1, B_BEGIN }, { 2, 1, JOB_BEGIN, 1 },
					     { 3, 1, ENTRY, 0x1000, 0x100 }, { 4, 1, COUNT, 1 } };
	const char *dir = folder_path("stop");
	struct hodo_timeline_totals totals;

	make(dir, NULL, steps, 5, 0);
	for (int at = 1; at <= 4; at++) {
		struct log log = { .stop_at = at };

		assert_int_equal(read_timeline(dir, &log, &totals), -77);
		assert_int_equal(totals.events, at);
		assert_int_equal(totals.slices, at);
		free(log.text);
	}
}

/* The totals of a large recording, without callbacks. */
static struct hodo_timeline_totals totals_of(const char *dir)
{
	static const struct hodo_timeline_ops none = { 0 };
	struct hodo_timeline_totals totals;
	struct hodo_read *r = help_open(dir);
	struct hodo_timeline *s = hodo_timeline_new(r, (struct hodo_places){ 0 }, &none, NULL);

	assert_int_equal(hodo_timeline_read(s, 0, 0), 0);
	hodo_timeline_totals(s, &totals);
	hodo_timeline_free(s);
	hodo_read_close(r);
	return totals;
}

/* Deeper than the timeline keeps: these become points, and nothing else changes. */
TEST(test_deep)
{
	const unsigned n = HODO_TIMELINE_DEPTH_MAX + 10;
	struct step *steps = calloc(n, sizeof(*steps));
	const char *dir = folder_path("deep");
	struct hodo_timeline_totals totals;

	for (unsigned i = 0; i < n; i++)
		steps[i] = (struct step){ i, 1, A_BEGIN };
	make(dir, NULL, steps, n, 0);
	free(steps);
	totals = totals_of(dir);
	assert_int_equal(totals.slices, HODO_TIMELINE_DEPTH_MAX);
	assert_int_equal(totals.instants, 10);
}

/* Ends without a begin, on a thread with many open spans: the timeline does not search these for each end. */
TEST(test_ends_alone)
{
	const unsigned open = 60000, n = 600000;
	struct step *steps = calloc(open + n, sizeof(*steps));
	const char *dir = folder_path("ends_alone");
	struct hodo_timeline_totals totals;

	for (unsigned i = 0; i < open + n; i++)
		steps[i] = (struct step){ i / 8, 1, i < open ? A_BEGIN : B_END };
	make(dir, NULL, steps, open + n, 0);
	free(steps);
	totals = totals_of(dir);
	assert_int_equal(totals.slices, open);
	assert_int_equal(totals.unpaired, n);
}

static int count_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct log *log = data;

	(void)event;
	slice->user = log;
	log->begins++;
	return 0;
}

static int count_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct log *log = data;

	(void)event;
	assert_ptr_equal(slice->user, log);
	log->ends++;
	return 0;
}

static void expect_pieces(const char *dir, unsigned slices, unsigned pieces, unsigned unpaired)
{
	static const struct hodo_timeline_ops ops = { .begin = count_begin, .end = count_end };
	struct hodo_symbols *symbols = hodo_symbols_new(dir);
	struct hodo_read *r = help_open(dir);
	struct log log = { 0 };
	struct hodo_timeline *s = hodo_timeline_new(r, hodo_symbols_places(symbols), &ops, &log);
	struct hodo_timeline_totals totals;

	assert_int_equal(hodo_timeline_read(s, 0, 0), 0);
	hodo_timeline_totals(s, &totals);
	assert_int_equal(totals.slices, slices);
	assert_int_equal(log.begins, pieces);
	assert_int_equal(log.ends, pieces);
	assert_int_equal(totals.unpaired, unpaired);
	hodo_timeline_free(s);
	hodo_read_close(r);
	hodo_symbols_free(symbols);
}

/* Spans that end in the order of their begins: the number of pieces is bounded; a span with too many of them ends. */
TEST(test_pieces)
{
	enum { N = 100 };
	const unsigned whole = HODO_TIMELINE_SPLITS_MAX;
	const char *dir = folder_path("pieces");
	struct gen_trace t;
	struct gen_stream s;
	char name[32];

	gen_trace_start(&t, dir, "app-7", "app", 7, "discard", 1000000000, 1795000000, 0);
	for (unsigned i = 0; i < 2 * N; i++) {
		snprintf(name, sizeof(name), "t:s%u.%s", i % N, i < N ? "begin" : "end");
		gen_class(&t, 1 + i, name, i < N ? "span_begin" : "span_end", "", NULL, 0);
	}
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	for (unsigned i = 0; i < 2 * N; i++)
		gen_event(&s, 1 + i, 1, 1000 + i);
	gen_packet_end(&s, 2000, 0);
	gen_stream_end(&s);
	gen_comment(&t, "end ts=1795000000000100000");
	gen_trace_end(&t);
	/* Span i has i spans below it, so that it is split that often. */
	expect_pieces(dir, N, N + whole * (whole - 1) / 2 + (N - whole) * whole, N - whole - 1);
}

/* The same with calls above spans; each call's end finds that the call is closed. */
TEST(test_pieces_of_calls)
{
	enum { N = 100 };
	static struct step steps[4 * N];
	const char *dir = folder_path("pieces_of_calls");

	for (unsigned i = 0; i < N; i++) {
		steps[i] = (struct step){ i, 1, A_BEGIN };
		steps[N + i] = (struct step){ N + i, 1, ENTRY, 0x1000 + i, 0x1000 - i };
		steps[2 * N + i] = (struct step){ 2 * N + i, 1, A_END };
		steps[3 * N + i] = (struct step){ 3 * N + i, 1, EXIT, 0x1000 + N - 1 - i, 0x1000 - N + 1 + i };
	}
	make(dir, NULL, steps, 4 * N, 0);
	expect_pieces(dir, 2 * N, 2 * N + N * HODO_TIMELINE_SPLITS_MAX, 0);
	/* The calls' ends never come. */
	make(folder_path("calls_alone"), NULL, steps, 3 * N, 0);
	expect_pieces(folder_path("calls_alone"), 2 * N, 2 * N + N * HODO_TIMELINE_SPLITS_MAX, 0);
}

/* Many threads whose numbers have the same lowest bits. */
TEST(test_threads)
{
	const unsigned n = HODO_TIMELINE_TRACKS_MAX + 100000;
	struct step *steps = calloc(n, sizeof(*steps));
	const char *dir = folder_path("threads");

	for (unsigned i = 0; i < n; i++)
		steps[i] = (struct step){ i / 8, (i + 1) * 16, PLAIN };
	make(dir, NULL, steps, n, 0);
	free(steps);
	assert_int_equal(totals_of(dir).instants, n);
}

/* Many begins with one ID, without ends: searching all of them for each would take minutes (see the time limit). */
TEST(test_one_id)
{
	const unsigned n = 300000;
	struct step *steps = calloc(n, sizeof(*steps));
	const char *dir = folder_path("one_id");

	for (unsigned i = 0; i < n; i++)
		steps[i] = (struct step){ i / 4, 1, JOB_BEGIN, 5 };
	make(dir, NULL, steps, n, 0);
	free(steps);
	assert_int_equal(totals_of(dir).slices, n);
	assert_int_equal(totals_of(dir).unpaired, 0);
}
