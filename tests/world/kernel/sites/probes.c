// SPDX-License-Identifier: MIT
/*
 * sites_probes - registers probes and reports wrong behaviour in the log. Write to the parameter `run`:
 * absent (hodo.ko is not loaded), basics, contexts, race.
 */
#include "probes.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned int failures;
#define CHECK(x)                                                                        \
	do {                                                                            \
		if (!(x)) {                                                             \
			failures++;                                                     \
			pr_info("sites_probes: line %d: not so: %s\n", __LINE__, #x);   \
		}                                                                       \
	} while (0)

static char order[32];

static void probe_a(void *data, int n, const char *who)
{
	strlcat(order, data, sizeof(order));
}

static void probe_b(void *data, int n, const char *who)
{
	char text[16];

	snprintf(text, sizeof(text), "%s%d%c", (char *)data, n, who[0]);
	strlcat(order, text, sizeof(order));
}

static int error_inside[2];
static void probe_inside(void *data, int n, const char *who)
{
	error_inside[0] = register_trace_sprobe_step(probe_a, "x");
	error_inside[1] = unregister_trace_sprobe_step(probe_inside, data);
}

static void probe_bare(void *data)
{
	++*(int *)data;
}

static void steps(int n)
{
	order[0] = 0;
	trace_sprobe_step(n, "here");
	places_step(n + 1);
}

static void run_absent(void)
{
	CHECK(register_trace_sprobe_step(probe_a, "a") == -ENOSYS);
	CHECK(unregister_trace_sprobe_step(probe_a, "a") == -ENOSYS);
	CHECK(!trace_sprobe_step_enabled());
	steps(1);
	CHECK(order[0] == 0);
}

static void run_limits(void)
{
	static char data[64];
	int i;

	for (i = 0; i < 64; i++)
		CHECK(register_trace_sprobe_step(probe_a, &data[i]) == 0);
	CHECK(register_trace_sprobe_step(probe_a, "one more") == -ENOSPC);
	for (i = 63; i >= 0; i--)
		CHECK(unregister_trace_sprobe_step(probe_a, &data[i]) == 0);
	CHECK(unregister_trace_sprobe_step(probe_a, &data[0]) == -ENOENT);
}

static char text_a[] = "a", text_b[] = "b";
static void run_basics(void)
{
	int bare = 0;

	CHECK(register_trace_sprobe_step(NULL, NULL) == -EINVAL);
	CHECK(unregister_trace_sprobe_step(probe_a, text_a) == -ENOENT);
	CHECK(register_trace_sprobe_step(probe_a, text_a) == 0);
	CHECK(register_trace_sprobe_step(probe_a, text_a) == -EEXIST);
	CHECK(trace_sprobe_step_enabled() && places_enabled());
	steps(1);
	CHECK(strcmp(order, "aa") == 0);
	CHECK(register_trace_sprobe_step(probe_b, text_b) == 0);
	CHECK(register_trace_sprobe_step(probe_a, text_b) == 0);
	steps(4);
	CHECK(strcmp(order, "ab4hbab5pb") == 0);
	CHECK(unregister_trace_sprobe_step(probe_a, text_a) == 0);
	steps(6);
	CHECK(strcmp(order, "b6hbb7pb") == 0);
	CHECK(unregister_trace_sprobe_step(probe_b, text_b) == 0);
	CHECK(unregister_trace_sprobe_step(probe_a, text_b) == 0);
	steps(8);
	CHECK(order[0] == 0);

	CHECK(register_trace_sprobe_step(probe_inside, NULL) == 0);
	trace_sprobe_step(1, "here");
	CHECK(error_inside[0] == -EDEADLK && error_inside[1] == -EDEADLK);
	CHECK(unregister_trace_sprobe_step(probe_inside, NULL) == 0);

	CHECK(register_trace_sprobe_bare(probe_bare, &bare) == 0);
	trace_sprobe_bare();
	CHECK(unregister_trace_sprobe_bare(probe_bare, &bare) == 0);
	trace_sprobe_bare();
	CHECK(bare == 1);
	run_limits();
}

/* ---------------------------------------------------------------- contexts */

static atomic_t in_process, in_soft, in_hard;
static void probe_context(void *data, int n, const char *who)
{
	atomic_inc(in_hardirq() ? &in_hard : in_serving_softirq() ? &in_soft : &in_process);
}

static DECLARE_COMPLETION(done);
static void tasklet_step(struct tasklet_struct *t)
{
	places_step(2);
	complete(&done);
}
static DECLARE_TASKLET(tasklet, tasklet_step);

static enum hrtimer_restart timer_step(struct hrtimer *timer)
{
	places_step(3);
	tasklet_schedule(&tasklet);
	return HRTIMER_NORESTART;
}

static void run_contexts(void)
{
	struct hrtimer timer;

	CHECK(register_trace_sprobe_step(probe_context, NULL) == 0);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = timer_step;
	hrtimer_start(&timer, ktime_set(0, 1000000), HRTIMER_MODE_REL_HARD);
	places_step(1);
	wait_for_completion(&done);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	tasklet_kill(&tasklet);
	CHECK(unregister_trace_sprobe_step(probe_context, NULL) == 0);
	CHECK(atomic_read(&in_process) >= 1 && atomic_read(&in_soft) == 1 && atomic_read(&in_hard) == 1);
}

/* -------------------------------------------------------------------- race */

#define ROUNDS 100
static struct {
	bool registered;
	atomic_t calls, late;
} round[ROUNDS];

static void probe_round(void *data, int n, const char *who)
{
	struct { bool registered; atomic_t calls, late; } *r = data;

	atomic_inc(&r->calls);
	udelay(n);
	if (!READ_ONCE(r->registered))
		atomic_inc(&r->late);
}

static int stepper(void *data)
{
	while (!kthread_should_stop()) {
		places_step(20);
		trace_sprobe_step(0, "thread");
		cond_resched();
	}
	return 0;
}

static void run_race(void)
{
	struct task_struct *thread[2];
	unsigned int calls = 0, late = 0, i;

	for (i = 0; i < 2; i++) {
		thread[i] = kthread_create(stepper, NULL, "stepper/%u", i);
		if (IS_ERR(thread[i])) {
			CHECK(!"no thread");
			return;
		}
		kthread_bind(thread[i], i);
		wake_up_process(thread[i]);
	}
	for (i = 0; i < ROUNDS; i++) {
		WRITE_ONCE(round[i].registered, true);
		CHECK(register_trace_sprobe_step(probe_round, &round[i]) == 0);
		usleep_range(100, 2000);
		CHECK(unregister_trace_sprobe_step(probe_round, &round[i]) == 0);
		/* From here on, no thread may be in the probe. */
		WRITE_ONCE(round[i].registered, false);
	}
	for (i = 0; i < 2; i++)
		kthread_stop(thread[i]);
	for (i = 0; i < ROUNDS; i++) {
		calls += atomic_read(&round[i].calls);
		late += atomic_read(&round[i].late);
	}
	pr_info("sites_probes: %u calls of probes in %u rounds\n", calls, ROUNDS);
	CHECK(calls > 0);
	CHECK(late == 0);
}

static int run_set(const char *text, const struct kernel_param *kp)
{
	failures = 0;
	if (sysfs_streq(text, "absent"))
		run_absent();
	else if (sysfs_streq(text, "basics"))
		run_basics();
	else if (sysfs_streq(text, "contexts"))
		run_contexts();
	else if (sysfs_streq(text, "race"))
		run_race();
	else if (sysfs_streq(text, "step"))
		steps(1);
	else
		return -EINVAL;
	return failures ? -EIO : 0;
}
static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init sites_probes_init(void)
{
	return 0;
}

static void __exit sites_probes_exit(void)
{
}

module_init(sites_probes_init);
module_exit(sites_probes_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");
