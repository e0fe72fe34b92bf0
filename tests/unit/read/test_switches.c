/* SPDX-License-Identifier: MIT */
/* test_switches.c - how long a thread did not run, from hand-made events: in order, missing, and nonsensical. */
#include <string.h>

#include <lib/unit.h>
#include <read/file/trace.h>
#include <read/event/runs.h>

static const struct hodo_read_field switch_fields[] = {
	{ "prev_pid", HODO_TYPE_I32, NULL }, { "prev_state", HODO_TYPE_I64, NULL }, { "next_pid", HODO_TYPE_I32, NULL },
};
static const struct hodo_read_field out_fields[] = { { "preempted", HODO_TYPE_BOOL, NULL } };
static const struct hodo_read_field wake_fields[] = { { "pid", HODO_TYPE_I32, NULL } };
static const struct hodo_read_field context[] = { { "cpu_time", HODO_TYPE_U64, NULL } };
static const struct hodo_read_class classes[] = {
	{ .name = "sched:sched_switch", .nfields = 3, .fields = switch_fields },
	{ .name = "sched:switch_in" },
	{ .name = "sched:switch_out", .nfields = 1, .fields = out_fields },
	{ .name = "sched:watched" },
	{ .name = "sched:sched_wakeup", .nfields = 1, .fields = wake_fields },
	{ .name = "sched:sched_switch", .nfields = 1, .fields = wake_fields }, /* with unknown fields */
	{ .name = "a:span.begin" },
	{ .name = "a:span.end", .ncontext = 1, .context = context },
};
enum { SWITCH, IN, OUT, WATCHED, WAKEUP, STRANGE, SPAN, TIMED };

static struct hodo_loss_time loss;
static struct hodo_trace kernel = { .pub = { .kernel = "6.1.0" } };
static const struct hodo_read_process program, nested = { .nested = true };
static struct hodo_runs *off;

static void start(void)
{
	off = hodo_runs_new(NULL, NULL);
	assert_non_null(off);
	kernel.losses.n = 0;
}

static void give(unsigned cls, int64_t ts, uint32_t tid, const struct hodo_read_value *values)
{
	struct hodo_read_event e = { .ts_ns = ts, .tid = tid, .cls = &classes[cls], .process = &kernel.pub,
				     .values = values };

	assert_int_equal(hodo_runs_event(off, &e), 0);
}

static void change(int64_t ts, int32_t prev, int64_t state, int32_t next)
{
	const struct hodo_read_value v[] = { { .i = prev }, { .i = state }, { .i = next } };

	give(SWITCH, ts, (uint32_t)prev, v);
}

static void leave(int64_t ts, uint32_t tid, bool preempted)
{
	const struct hodo_read_value v = { .u = preempted };

	give(OUT, ts, tid, &v);
}

static struct hodo_read_event at(int64_t ts, uint32_t tid)
{
	return (struct hodo_read_event){ .ts_ns = ts, .tid = tid, .cls = &classes[SPAN], .process = &program };
}

static struct hodo_runs_mark mark_at(int64_t ts, uint32_t tid)
{
	struct hodo_read_event e = at(ts, tid);
	struct hodo_runs_mark mark;

	hodo_runs_mark(off, &e, &mark);
	return mark;
}

static void known(const struct hodo_runs_mark *mark, int64_t ts, uint32_t tid, uint64_t ns, uint64_t waits,
		  uint64_t preempted)
{
	struct hodo_read_event e = at(ts, tid);
	struct hodo_read_off_cpu result;

	assert_true(hodo_runs_since(off, &e, mark, &result));
	assert_true(result.counted);
	assert_int_equal(result.ns, ns);
	assert_int_equal(result.waits, waits);
	assert_int_equal(result.preempted, preempted);
}

static void unknown(const struct hodo_runs_mark *mark, int64_t ts, uint32_t tid)
{
	struct hodo_read_event e = at(ts, tid);
	struct hodo_read_off_cpu result;

	assert_false(hodo_runs_since(off, &e, mark, &result));
}

/* By both kinds of events: waits of 100 and 50, and 30 in which another thread ran instead. */
TEST(test_order)
{
	for (int by_switch = 0; by_switch < 2; by_switch++) {
		struct hodo_runs_mark outer, inner;

		start();
		if (by_switch)
			change(10, 0, 0, 7);
		else
			give(IN, 10, 7, NULL);
		outer = mark_at(20, 7);
		by_switch ? change(100, 7, 1, 0) : leave(100, 7, false);
		by_switch ? change(200, 0, 0, 7) : give(IN, 200, 7, NULL);
		inner = mark_at(210, 7);
		by_switch ? change(220, 7, 256, 9) : leave(220, 7, true);
		by_switch ? change(250, 9, 2, 7) : give(IN, 250, 7, NULL);
		known(&inner, 260, 7, 30, 0, 1);
		by_switch ? change(300, 7, 2, 9) : leave(300, 7, false);
		by_switch ? change(350, 9, 1, 7) : give(IN, 350, 7, NULL);
		known(&outer, 400, 7, 180, 2, 1);
		hodo_runs_free(off);
	}
}

/* Times since before the first switch are unknown, except for a thread that is watched. */
TEST(test_begin)
{
	struct hodo_runs_mark early, late, watched, idle;

	start();
	early = mark_at(5, 7);
	give(IN, 10, 7, NULL);
	late = mark_at(11, 7);
	unknown(&early, 12, 7);
	known(&late, 13, 7, 0, 0, 0);
	unknown(&late, 13, 8); /* there is no event about this thread */

	give(WATCHED, 20, 30, NULL);
	watched = mark_at(30, 30);
	leave(40, 30, false);
	give(IN, 60, 30, NULL);
	known(&watched, 70, 30, 20, 1, 0);

	give(WATCHED, 80, 31, NULL); /* off until it is switched in */
	give(IN, 90, 31, NULL);
	idle = mark_at(95, 31);
	leave(96, 31, true);
	give(IN, 99, 31, NULL);
	known(&idle, 100, 31, 3, 0, 1);
	hodo_runs_free(off);
}

/* A missing switch is noticed, and what comes after it counts again. */
TEST(test_missing)
{
	struct hodo_runs_mark a, b;

	for (int how = 0; how < 3; how++) {
		start();
		give(IN, 10, 7, NULL);
		a = mark_at(20, 7);
		leave(30, 7, false);
		if (how == 0) { /* it is switched out twice */
			leave(50, 7, false);
			give(IN, 60, 7, NULL);
		} else if (how == 1) { /* it is switched in twice */
			give(IN, 50, 7, NULL);
			give(IN, 60, 7, NULL);
		} /* or has an event while it is off */
		b = mark_at(70, 7);
		unknown(&a, 80, 7);
		leave(90, 7, false);
		give(IN, 95, 7, NULL);
		known(&b, 100, 7, 5, 1, 0);
		hodo_runs_free(off);
	}
}

TEST(test_lost)
{
	struct hodo_runs_mark a;

	start();
	give(IN, 10, 7, NULL);
	a = mark_at(20, 7);
	known(&a, 30, 7, 0, 0, 0);
	loss = (struct hodo_loss_time){ 40, 50 };
	kernel.losses = (struct hodo_losses){ &loss, 1, 1 };
	known(&a, 39, 7, 0, 0, 0);
	unknown(&a, 60, 7);
	a = mark_at(70, 7);
	known(&a, 80, 7, 0, 0, 0);
	kernel.losses = (struct hodo_losses){ 0 };
	hodo_runs_free(off);
}

/* Events that mean nothing here, threads of another PID namespace, and times that run back. */
TEST(test_others)
{
	const struct hodo_read_value pid = { .i = 7 };
	struct hodo_read_event e;
	struct hodo_read_off_cpu result;
	struct hodo_runs_mark a;

	start();
	give(IN, 10, 7, NULL);
	a = mark_at(20, 7);
	give(WAKEUP, 30, 9, &pid);
	give(STRANGE, 40, 7, &pid);
	known(&a, 50, 7, 0, 0, 0);
	e = at(60, 7);
	e.process = &nested;
	assert_false(hodo_runs_since(off, &e, &a, &result));
	leave(100, 7, false);
	give(IN, 90, 7, NULL);
	known(&a, 110, 7, 0, 1, 0);
	hodo_runs_rewind(off);
	unknown(&a, 120, 7);
	hodo_runs_free(off);
}

TEST(test_cpu_time)
{
	struct hodo_read_value time = { .u = 1000 };
	struct hodo_read_event e = at(5000, 7);
	struct hodo_read_off_cpu result;
	struct hodo_runs_mark a;

	start();
	e.cls = &classes[TIMED];
	e.context = &time;
	hodo_runs_mark(off, &e, &a);
	e.ts_ns = 5900;
	time.u = 1300;
	assert_true(hodo_runs_since(off, &e, &a, &result));
	assert_false(result.counted);
	assert_int_equal(result.ns, 600);
	time.u = 1950; /* read a little later than the event's time */
	assert_true(hodo_runs_since(off, &e, &a, &result));
	assert_int_equal(result.ns, 0);
	time.u = 999; /* a clock that runs back is not believed */
	assert_false(hodo_runs_since(off, &e, &a, &result));
	hodo_runs_free(off);
}
