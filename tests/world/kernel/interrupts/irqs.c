// SPDX-License-Identifier: MIT
/*
 * irqs - events in process context, soft and hard interrupts and NMIs, nested in each other on all CPUs.
 *
 * A number written to `run` starts it for that many milliseconds, or until the threads of one CPU have emitted `most`
 * events. On each CPU two threads emit in turn; a timer interrupts them, emits, and raises a tasklet, which emits;
 * and every CPU sends NMIs to the others, whose handlers emit. Each event says where it was emitted, its number there,
 * its thread, and a text that depends on place and number, so that a torn event shows. `emitted` has the number
 * of events: CPU, context and count in each line.
 */
#include <asm/apic.h>
#include <asm/nmi.h>
#include <hodo/trace.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#define TEXT "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"

#define THREADS 2 /* per CPU */

enum context { PROCESS, SOFT, HARD, NMI, CONTEXTS };

struct on_cpu {
	u64 emitted[CONTEXTS];
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct task_struct *thread[THREADS];
};
static DEFINE_PER_CPU(struct on_cpu, cpus);
static DEFINE_MUTEX(lock);
static bool running;
static unsigned int period_us = 300;
module_param(period_us, uint, 0600);
static ulong most = ULONG_MAX;
module_param(most, ulong, 0600);

/* Preemption is off. Each context on a CPU has one writer, itself: no context nests in itself. */
static void emit(enum context context)
{
	struct on_cpu *c = this_cpu_ptr(&cpus);
	u64 n = c->emitted[context]++;
	u64 check = n * 0x9e3779b97f4a7c15ull + context;
	u32 length = (n * 7 + context) % (sizeof(TEXT) - 1);

	HODO_EVENT(irqs, step, HODO_F(on, smp_processor_id()), HODO_F(context, (u8)context), HODO_F(n, n),
		   HODO_F(text, HODO_STR(TEXT, length)), HODO_F(check, check),
		   HODO_F(thread, current->pid));
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!READ_ONCE(running))
		return NMI_DONE;
	emit(NMI);
	return NMI_HANDLED;
}

static void on_tasklet(struct tasklet_struct *tasklet)
{
	emit(SOFT);
	emit(SOFT);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct on_cpu *c = this_cpu_ptr(&cpus);

	emit(HARD);
	tasklet_hi_schedule(&c->tasklet);
	emit(HARD);
	hrtimer_forward_now(timer, ns_to_ktime(period_us * NSEC_PER_USEC));
	return READ_ONCE(running) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* Sends them to all other CPUs; to its own CPU if there is no other, and sometimes anyway. */
static void send_nmis(u64 turn)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpu != smp_processor_id() || turn % 8 == 0)
			apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static int emit_all_the_time(void *data)
{
	u64 turn = 0;

	while (!kthread_should_stop()) {
		preempt_disable();
		if (turn % 4 == 0)
			send_nmis(turn);
		for (int i = 0; i < 8; i++) {
			/* A timer or its tasklet may interrupt this anywhere. */
			emit(PROCESS);
			if (i == 4)
				send_nmis(turn);
		}
		preempt_enable();
		turn++;
		yield();
	}
	return 0;
}

static long begin_timer(void *data)
{
	struct on_cpu *c = this_cpu_ptr(&cpus);

	hrtimer_start(&c->timer, ns_to_ktime(period_us * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int begin_cpu(unsigned int cpu)
{
	struct on_cpu *c = per_cpu_ptr(&cpus, cpu);

	tasklet_setup(&c->tasklet, on_tasklet);
	hrtimer_init(&c->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	c->timer.function = on_timer;
	for (int i = 0; i < THREADS; i++) {
		struct task_struct *t = kthread_create_on_node(emit_all_the_time, NULL, cpu_to_node(cpu), "irqs/%u.%d",
							       cpu, i);

		if (IS_ERR(t))
			return PTR_ERR(t);
		kthread_bind(t, cpu);
		c->thread[i] = t;
	}
	work_on_cpu(cpu, begin_timer, NULL);
	for (int i = 0; i < THREADS; i++)
		wake_up_process(c->thread[i]);
	return 0;
}

static void end_cpu(unsigned int cpu)
{
	struct on_cpu *c = per_cpu_ptr(&cpus, cpu);
	bool whole = c->thread[THREADS - 1]; /* else only threads were started */

	for (int i = 0; i < THREADS; i++) {
		if (c->thread[i])
			kthread_stop(c->thread[i]);
		c->thread[i] = NULL;
	}
	if (!whole)
		return;
	hrtimer_cancel(&c->timer);
	tasklet_kill(&c->tasklet);
}

static bool enough(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&cpus, cpu)->emitted[PROCESS]) >= most)
			return true;
	return false;
}

static int run_for(unsigned int ms)
{
	unsigned int cpu;
	int err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "irqs");

	if (err)
		return err;
	WRITE_ONCE(running, true);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (!err)
			err = begin_cpu(cpu);
	cpus_read_unlock();
	for (unsigned int waited = 0; !err && waited < ms && !enough(); waited += 20)
		msleep(20);
	for_each_online_cpu(cpu)
		end_cpu(cpu);
	msleep(100); /* lets NMIs arrive that are on their way */
	WRITE_ONCE(running, false);
	unregister_nmi_handler(NMI_LOCAL, "irqs");
	return err;
}

static int set_run(const char *value, const struct kernel_param *param)
{
	unsigned int ms;
	int err = kstrtouint(value, 0, &ms);

	if (err)
		return err;
	mutex_lock(&lock);
	err = run_for(ms);
	mutex_unlock(&lock);
	return err;
}

static int get_emitted(char *to, const struct kernel_param *param)
{
	static const char *const names[CONTEXTS] = { "process", "soft", "hard", "nmi" };
	unsigned int cpu, len = 0;

	for_each_online_cpu(cpu)
		for (int i = 0; i < CONTEXTS; i++)
			len += scnprintf(to + len, PAGE_SIZE - len, "%u %s %llu\n", cpu, names[i],
					 per_cpu_ptr(&cpus, cpu)->emitted[i]);
	return len;
}

static const struct kernel_param_ops run_ops = { .set = set_run }, emitted_ops = { .get = get_emitted };
module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(emitted, &emitted_ops, NULL, 0400);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("Dual MIT/GPL");
