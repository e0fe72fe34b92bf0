// SPDX-License-Identifier: MIT
/*
 * sites_busy - makes events all the time, on every CPU, from threads, soft and hard interrupts. The parameter `count`
 * has the number of rounds.
 */
#include <hodo/trace.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timer.h>

HODO_TRACEPOINT(sbusy, point, (u64, n), (const char *, text));

static struct task_struct *threads[NR_CPUS];
static atomic64_t count;
static struct hrtimer hard;
static struct timer_list soft;
static bool stopping;

static int busy(void *data)
{
	u64 n = 0;

	while (!kthread_should_stop()) {
		HODO_SPAN(sbusy, turn, n);
		HODO_EVENT(sbusy, fixed, n, HODO_F(twice, 2 * n));
		HODO_EVENT(sbusy, text, n, HODO_F(text, current->comm), HODO_F(more, HODO_BYTES(&n, 8)));
		trace_sbusy_point(n, "thread");
		n++;
		atomic64_inc(&count);
		if (n % 64 == 0)
			schedule_timeout_interruptible(1);
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart hard_step(struct hrtimer *timer)
{
	static u64 n;

	HODO_EVENT(sbusy, hard, n);
	trace_sbusy_point(n, "hard");
	n++;
	hrtimer_forward_now(timer, ns_to_ktime(500000));
	return READ_ONCE(stopping) ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

static void soft_step(struct timer_list *timer)
{
	static u64 n;

	HODO_EVENT(sbusy, soft, n, HODO_F(text, "soft"));
	trace_sbusy_point(n, "soft");
	n++;
	if (!READ_ONCE(stopping))
		mod_timer(timer, jiffies + 1);
}

static int count_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&count));
}
static const struct kernel_param_ops count_ops = { .get = count_get };
module_param_cb(count, &count_ops, NULL, 0400);

static void stop(void)
{
	unsigned int cpu;

	WRITE_ONCE(stopping, true);
	for_each_possible_cpu(cpu)
		if (threads[cpu])
			kthread_stop(threads[cpu]);
	hrtimer_cancel(&hard);
	del_timer_sync(&soft);
}

static int __init sites_busy_init(void)
{
	unsigned int cpu;

	hrtimer_init(&hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hard.function = hard_step;
	hrtimer_start(&hard, ns_to_ktime(500000), HRTIMER_MODE_REL_HARD);
	timer_setup(&soft, soft_step, 0);
	mod_timer(&soft, jiffies + 1);
	for_each_online_cpu(cpu) {
		struct task_struct *thread = kthread_create(busy, NULL, "sites_busy/%u", cpu);

		if (IS_ERR(thread)) {
			stop();
			return PTR_ERR(thread);
		}
		kthread_bind(thread, cpu);
		threads[cpu] = thread;
		wake_up_process(thread);
	}
	return 0;
}

static void __exit sites_busy_exit(void)
{
	stop();
}

module_init(sites_busy_init);
module_exit(sites_busy_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");
