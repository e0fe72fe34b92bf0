// SPDX-License-Identifier: MIT
/*
 * newest_inside - an event whose probe takes six seconds, with preemption off, on CPU 1. Writing to the parameter
 * `meet` triggers the event; `entered` is 1 once the probe runs, `inside` is 1 while it does.
 */
#include <hodo/trace.h>

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/workqueue.h>

HODO_TRACEPOINT(newest, slow, (int, n));

static int entered, inside;
module_param(entered, int, 0444);
module_param(inside, int, 0444);

static void probe_slow(void *data, int n)
{
	WRITE_ONCE(inside, 1);
	WRITE_ONCE(entered, 1);
	mdelay(6000);
	WRITE_ONCE(inside, 0);
}

static void meet_once(struct work_struct *work)
{
	if (register_trace_newest_slow(probe_slow, NULL) == 0) {
		trace_newest_slow(1);
		unregister_trace_newest_slow(probe_slow, NULL);
	}
}
static DECLARE_WORK(meeting, meet_once);

/* The work runs later, since parameters are locked now. */
static int meet(const char *value, const struct kernel_param *parameter)
{
	schedule_work_on(1, &meeting);
	return 0;
}

static const struct kernel_param_ops meet_ops = { .set = meet };
module_param_cb(meet, &meet_ops, NULL, 0200);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
	flush_work(&meeting);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("an event that is met slowly");
