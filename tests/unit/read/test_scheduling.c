/* SPDX-License-Identifier: MIT */
/* test_scheduling.c - which threads ran and waited, from events made by hand: in order, missing, and random. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>
#include <read/event/runs.h>
#include <read/file/trace.h>

static char got[8192];
static uint64_t reported;
static int64_t last_end[4]; /* of each CPU */
static uint32_t waker; /* of the last thread that was off */
static int64_t ran_off; /* of the last thread that ran: since when it had been off; -1: not known */

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	size_t len = strlen(got);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(got + len, sizeof(got) - len, fmt, ap);
	va_end(ap);
}

static const char *const whys[] = { "preempted", "sleeps", "blocked", "stopped", "ended", "waits", "unknown" };

static void on_ran(void *data, const struct hodo_sched_ran *ran)
{
	(void)data;
	assert_true(ran->end_ns > ran->begin_ns);
	if (ran->cpu >= 0 && ran->cpu < 4) {
		assert_true(ran->begin_ns >= last_end[ran->cpu]);
		last_end[ran->cpu] = ran->end_ns;
	}
	if (ran->off)
		assert_true(ran->off->tid == ran->tid && ran->off->on_ns == ran->begin_ns);
	ran_off = ran->off ? ran->off->off_ns : -1;
	reported++;
	if (!data)
		say("cpu%d %s %u/%u %lld-%lld %s\n", ran->cpu, ran->comm, ran->pid, ran->tid, (long long)ran->begin_ns,
		    (long long)ran->end_ns, whys[ran->why]);
}

static void on_off(void *data, const struct hodo_sched_off *off)
{
	assert_true(off->off_ns != INT64_MIN || off->woken_ns != INT64_MIN);
	assert_true(off->off_ns <= off->on_ns && off->woken_ns <= off->on_ns);
	assert_true(off->woken_ns == INT64_MIN || off->woken_ns >= off->off_ns);
	waker = off->waker;
	reported++;
	if (data)
		return;
	say("%u off", off->tid);
	if (off->off_ns == INT64_MIN)
		say(" ?");
	else
		say(" %lld", (long long)off->off_ns);
	if (off->woken_ns == INT64_MIN)
		say(" ?");
	else
		say(" %lld", (long long)off->woken_ns);
	say(" on%d %lld %s\n", off->cpu, (long long)off->on_ns, whys[off->why]);
}

static const struct hodo_runs_ops ops = { .ran = on_ran, .off = on_off };

/* The fields are in hodo.ko's order: those of variable size come last. */
static const struct hodo_read_field switch_fields[] = {
	{ "prev_pid", HODO_TYPE_I32, NULL },  { "prev_prio", HODO_TYPE_I32, NULL },
	{ "prev_state", HODO_TYPE_I64, NULL }, { "next_pid", HODO_TYPE_I32, NULL },
	{ "next_prio", HODO_TYPE_I32, NULL }, { "prev_comm", HODO_TYPE_STR, NULL },
	{ "next_comm", HODO_TYPE_STR, NULL },
};
static const struct hodo_read_field wake_fields[] = {
	{ "pid", HODO_TYPE_I32, NULL }, { "prio", HODO_TYPE_I32, NULL }, { "target_cpu", HODO_TYPE_I32, NULL },
	{ "comm", HODO_TYPE_STR, NULL },
};
static const struct hodo_read_class classes[] = {
	{ .name = "sched:sched_switch", .nfields = 7, .fields = switch_fields },
	{ .name = "sched:sched_waking", .nfields = 4, .fields = wake_fields },
	{ .name = "sched:sched_wakeup", .nfields = 4, .fields = wake_fields },
	{ .name = "sched:sched_wakeup_new", .nfields = 4, .fields = wake_fields },
	{ .name = "sched:sched_migrate_task", .nfields = 4, .fields = wake_fields },
	{ .name = "sched:sched_switch", .nfields = 4, .fields = wake_fields }, /* a class with unknown fields */
};
enum { SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, STRANGE };

static const struct hodo_read_thread threads[] = { { 10, 10, "ten" }, { 11, 10, "eleven" }, { 20, 20, "twenty" } };
static struct hodo_trace kernel = { .pub = { .kernel = "6.1.0", .nthreads = 3, .threads = threads } };
static const struct hodo_read_process program = { .nthreads = 3, .threads = threads };

static struct hodo_read_value text_of(uint32_t tid)
{
	static char texts[2][32];
	static unsigned turn;
	char *t = texts[turn++ % 2];

	return (struct hodo_read_value){ .type = HODO_TYPE_STR, .data = t,
					 .count = (uint32_t)snprintf(t, 32, tid ? "t%u" : "swapper", tid) };
}

static void event(struct hodo_runs *s, unsigned cls, int64_t ts, int32_t cpu, uint32_t tid,
		  const struct hodo_read_value *values)
{
	struct hodo_read_event e = { .ts_ns = ts, .cpu = cpu, .tid = tid, .pid = 0, .comm = "current",
				     .cls = &classes[cls], .process = &kernel.pub, .values = values };

	assert_int_equal(hodo_runs_event(s, &e), 0);
	e.process = &program; /* an event of that name from a program is not the kernel's */
	assert_int_equal(hodo_runs_event(s, &e), 0);
}

static void change(struct hodo_runs *s, int64_t ts, int32_t cpu, int32_t prev, int64_t state, int32_t next)
{
	const struct hodo_read_value v[] = { { .i = prev }, { .i = 0 }, { .i = state }, { .i = next }, { .i = 0 },
					     text_of((uint32_t)prev), text_of((uint32_t)next) };

	event(s, SWITCH, ts, cpu, (uint32_t)prev, v);
}

static void wake(struct hodo_runs *s, unsigned cls, int64_t ts, int32_t cpu, uint32_t by, int32_t tid)
{
	const struct hodo_read_value v[] = { { .i = tid }, { .i = 0 }, { .i = cpu }, text_of((uint32_t)tid) };

	event(s, cls, ts, cpu, by, v);
}

static struct hodo_runs *start(void)
{
	struct hodo_runs *s = hodo_runs_new(&ops, NULL);

	assert_non_null(s);
	got[0] = 0;
	memset(last_end, 0, sizeof(last_end));
	return s;
}

static void expect(struct hodo_runs *s, int64_t end, const char *wanted)
{
	hodo_runs_end(s, end);
	assert_string_equal(got, wanted);
	assert_int_equal(hodo_runs_forgotten(s), 0);
	hodo_runs_free(s);
}

TEST(test_order)
{
	struct hodo_runs *s = start();

	change(s, 100, 0, 10, 1, 11);  /* 10 sleeps */
	wake(s, WAKING, 150, 0, 11, 10);
	wake(s, WAKEUP, 160, 0, 11, 10); /* the first one counts */
	change(s, 200, 0, 11, 256, 10); /* 10 preempts 11 */
	wake(s, WAKING, 210, 0, 10, 11); /* means nothing: 11 waits for a CPU */
	change(s, 300, 0, 10, 2, 11);
	change(s, 350, 0, 11, 0, 20);   /* 11 yields its CPU */
	change(s, 400, 0, 20, 16, 0);   /* 20 ends */
	change(s, 500, 0, 0, 0, 10);
	expect(s, 600,
	       "cpu0 eleven 10/11 100-200 preempted\n10 off 100 150 on0 200 sleeps\ncpu0 ten 10/10 200-300 blocked\n"
	       "11 off 200 200 on0 300 preempted\ncpu0 eleven 10/11 300-350 preempted\ncpu0 twenty 20/20 350-400 ended\n"
	       "cpu0 swapper 0/0 400-500 preempted\n10 off 300 ? on0 500 blocked\ncpu0 ten 10/10 500-600 unknown\n");
}

TEST(test_states)
{
	static const struct {
		int64_t state;
		const char *why;
	} all[] = { { 0, "preempted" }, { 1, "sleeps" }, { 2, "blocked" }, { 4, "stopped" }, { 8, "stopped" },
		    { 16, "ended" }, { 32, "ended" }, { 64, "stopped" }, { 128, "sleeps" }, { 256, "preempted" },
		    { 257, "preempted" }, { 512, "unknown" }, { -1, "unknown" }, { INT64_MIN, "unknown" } };

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct hodo_runs *s = start();
		char wanted[64];

		change(s, 1, 0, 0, 0, 10);
		change(s, 2, 0, 10, all[i].state, 0);
		snprintf(wanted, sizeof(wanted), "cpu0 ten 10/10 1-2 %s\n", all[i].why);
		expect(s, 2, wanted);
	}
}

TEST(test_new_and_reused)
{
	struct hodo_runs *s = start();

	wake(s, WAKEUP_NEW, 10, 1, 10, 20);
	change(s, 30, 0, 0, 0, 20);
	change(s, 40, 0, 20, 32, 0);
	wake(s, WAKEUP_NEW, 50, 1, 10, 20); /* another thread with that number */
	change(s, 70, 2, 0, 0, 20);
	expect(s, 80,
	       "20 off ? 10 on0 30 unknown\ncpu0 twenty 20/20 30-40 ended\n20 off ? 50 on2 70 unknown\n"
	       "cpu0 swapper 0/0 40-80 unknown\ncpu1 ten 0/10 10-80 unknown\ncpu2 twenty 20/20 70-80 unknown\n");
}

/* Another CPU wakes it between its decision to wait and the switch: it waits for a CPU from the switch on. */
TEST(test_woken_early)
{
	struct hodo_runs *s = start();

	change(s, 100, 0, 0, 0, 10);
	wake(s, WAKING, 190, 1, 11, 10);
	change(s, 200, 0, 10, 1, 0);
	wake(s, WAKEUP, 205, 0, 0, 10);
	change(s, 210, 0, 0, 0, 10);
	wake(s, WAKING, 220, 1, 11, 10); /* 10 had not gone yet: both at once */
	wake(s, WAKEUP, 221, 1, 11, 10);
	change(s, 300, 0, 10, 1, 0);
	change(s, 400, 0, 0, 0, 10);
	expect(s, 400,
	       "cpu0 ten 10/10 100-200 sleeps\ncpu0 swapper 0/0 200-210 preempted\n10 off 200 200 on0 210 sleeps\n"
	       "cpu0 ten 10/10 210-300 sleeps\ncpu0 swapper 0/0 300-400 preempted\n10 off 300 ? on0 400 sleeps\n"
	       "cpu1 eleven 0/11 190-400 unknown\n");
}

/* The waker of a thread, and what its run knows about the wait before it. */
TEST(test_wakers)
{
	struct hodo_runs *s = start();

	change(s, 100, 0, 10, 1, 11);
	assert_int_equal(ran_off, -1); /* 10 ran when the recording began */
	wake(s, WAKING, 150, 0, 11, 10);
	wake(s, WAKEUP, 160, 1, 20, 10); /* not from the thread that runs on that CPU */
	change(s, 200, 0, 11, 256, 10);
	assert_int_equal(waker, 11);
	change(s, 300, 0, 10, 2, 11); /* 11 was preempted: no thread woke it */
	assert_int_equal(waker, 0);
	assert_int_equal(ran_off, 100); /* of 10 */
	wake(s, WAKEUP, 310, 0, 11, 10); /* this alone does not say who woke it */
	change(s, 350, 0, 11, 1, 10);
	assert_int_equal(waker, 0);
	wake(s, WAKING, 360, 1, 20, 11);
	wake(s, WAKING, 390, 0, 0, 10);  /* before 11 has gone; an interrupt on an idle CPU */
	change(s, 400, 0, 10, 1, 11);
	assert_int_equal(waker, 20);
	wake(s, WAKEUP_NEW, 410, 0, 11, 20);
	change(s, 420, 0, 11, 1, 20);
	assert_int_equal(waker, 11);
	change(s, 430, 0, 20, 1, 10);
	assert_int_equal(waker, 0);
	hodo_runs_end(s, 500);
	hodo_runs_free(s);
}

TEST(test_lost)
{
	struct hodo_runs *s = start();

	change(s, 100, 0, 0, 0, 10);
	wake(s, MIGRATE, 140, 0, 10, 11);
	wake(s, WAKING, 150, 0, 10, 20);
	change(s, 200, 0, 11, 1, 0);   /* 11's switch to this CPU was lost; 10 was last seen at 150 */
	change(s, 300, 0, 0, 0, 11);
	change(s, 310, 1, 0, 0, 11);   /* on two CPUs: its switch away from the first was lost */
	change(s, 320, 2, 11, 1, 20);  /* and so was its switch away from this one */
	change(s, 400, 0, 0, 0, 10);   /* 10 did not go off as far as we know: no off time can be reported */
	change(s, 410, -1, 20, 1, 11); /* CPU unknown */
	expect(s, 500,
	       "cpu0 ten 10/10 100-150 unknown\ncpu0 swapper 0/0 200-300 preempted\n11 off 200 ? on0 300 sleeps\n"
	       "20 off ? 150 on2 320 unknown\n11 off 320 ? on-1 410 sleeps\n"
	       "cpu0 ten 10/10 400-500 unknown\n");
}

static uint64_t seed = 1;

static uint64_t dice(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

/* Whatever events come, the output is in order, and the memory is bounded. */
TEST(test_mad)
{
	static const int32_t cpus[] = { -1, 0, 1, 2, 3, 70000, INT32_MAX };
	int64_t now = 0;
	uint64_t range = 4;
	struct hodo_runs *s = hodo_runs_new(&ops, &now);

	reported = 0;
	memset(last_end, 0, sizeof(last_end));
	for (unsigned i = 0; i < 600000; i++) {
		int32_t a = (int32_t)dice(range), b = (int32_t)dice(range), cpu = cpus[dice(7)];
		struct hodo_read_value v[7] = { { .i = a }, { .i = b }, { .i = 0 }, text_of((uint32_t)a) };

		if (i == 100000)
			range = UINT32_MAX;
		now += (int64_t)dice(3);
		if (dice(3))
			change(s, now, cpu, a, (int64_t)dice(600) - 10, b);
		else
			event(s, WAKING + (unsigned)dice(5), now, cpu, (uint32_t)b, v);
	}
	hodo_runs_end(s, now);
	assert_true(reported > 10000);
	assert_true(hodo_runs_forgotten(s) > 100000);
	hodo_runs_free(s);
}
