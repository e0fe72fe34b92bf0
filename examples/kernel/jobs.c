// SPDX-License-Identifier: MIT
/*
 * jobs - a traced module: a queue of jobs, which a worker processes one by one.
 *
 *	make && insmod ./jobs.ko
 *	hodo record -k -e 'jobs:*' -- sh -c 'echo 20 >/sys/module/jobs/parameters/add; sleep 1'
 *	hodo print
 *
 * The lines with HODO_ are all that tracing needs. Without hodo.ko, or while nobody records, each of them is one
 * instruction that does nothing.
 */
#include <hodo/trace.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

enum job_state { JOB_WAITS, JOB_RUNS, JOB_DONE };

struct job {
	struct list_head list;
	u32 id;
	enum job_state state;
	char name[16];
	u8 data[8];
};

/*
 * A tracepoint: an event, and a place where other code may be called, even code of other modules. In a real module,
 * this line would be in a header that both include.
 */
HODO_TRACEPOINT(jobs, finished, (const char *, name), (unsigned int, id), (u64, took_ns));

static LIST_HEAD(queue);
static unsigned int queued;
static DEFINE_SPINLOCK(lock); /* for both */

static void run(struct work_struct *work);
static DECLARE_WORK(worker, run);

static void change(struct job *job, enum job_state state)
{
	/* Values of the field "state" are shown by name, in all events of jobs. */
	HODO_LABELS(jobs, state, JOB_WAITS, JOB_RUNS, JOB_DONE);

	job->state = state;
	/* Fields have the names of the arguments, or those from HODO_F. */
	HODO_EVENT(jobs, state, HODO_F(id, job->id), HODO_F(state, state), HODO_BYTES(job->data, sizeof(job->data)));
}

static void do_job(struct job *job)
{
	u64 start = ktime_get_ns();

	/* A span from here to the end of the function, however it is left. */
	HODO_SPAN(jobs, run, HODO_F(id, job->id));

	change(job, JOB_RUNS);
	usleep_range(100, 500);
	change(job, JOB_DONE);
	trace_jobs_finished(job->name, job->id, ktime_get_ns() - start);
}

static void run(struct work_struct *work)
{
	struct job *job;

	for (;;) {
		spin_lock(&lock);
		job = list_first_entry_or_null(&queue, struct job, list);
		if (job) {
			list_del(&job->list);
			queued--;
			HODO_COUNTER(jobs, queue, queued); /* even under locks: an event never waits */
		}
		spin_unlock(&lock);
		if (!job)
			return;
		do_job(job);
		/* Ends what add() has begun: the first value is the same. */
		HODO_END(jobs, life, HODO_F(id, job->id));
		kfree(job);
	}
}

static int add(u32 id)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return -ENOMEM;
	job->id = id;
	snprintf(job->name, sizeof(job->name), "job %u", id);
	memset(job->data, id, sizeof(job->data));
	HODO_BEGIN(jobs, life, HODO_F(id, id), job->name);
	/* The compiler checks this like printk's format; the text is formatted when the trace is read. */
	HODO_MARK(jobs, added, "%s is number %u in the queue", job->name, queued);
	spin_lock(&lock);
	list_add_tail(&job->list, &queue);
	queued++;
	HODO_COUNTER(jobs, queue, queued);
	spin_unlock(&lock);
	schedule_work(&worker);
	return 0;
}

/* Writing a number adds this many jobs. */
static int add_set(const char *text, const struct kernel_param *kp)
{
	static u32 last;
	unsigned int n;
	int err = kstrtouint(text, 0, &n);

	while (!err && n-- > 0)
		err = add(++last);
	return err;
}
static const struct kernel_param_ops add_ops = { .set = add_set };
module_param_cb(add, &add_ops, NULL, 0200);
MODULE_PARM_DESC(add, "write: so many jobs");

/*
 * A probe on the tracepoint: called each time a job has finished, whether anybody records or not. Preemption is off, so
 * it must not sleep. The module that registers it must unregister it before it is unloaded.
 */
static atomic64_t longest_ns;

static void probe_finished(void *data, const char *name, unsigned int id, u64 took_ns)
{
	if (took_ns > atomic64_read(&longest_ns))
		atomic64_set(&longest_ns, took_ns);
}

static int longest_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&longest_ns));
}
static const struct kernel_param_ops longest_ops = { .get = longest_get };
module_param_cb(longest_ns, &longest_ops, NULL, 0444);
MODULE_PARM_DESC(longest_ns, "time of the job that took longest; 0 where hodo.ko was not loaded before");

static bool probing;

static int __init jobs_init(void)
{
	int err = register_trace_jobs_finished(probe_finished, NULL);

	/* -ENOSYS: hodo.ko is not loaded. The module works without it. */
	if (err && err != -ENOSYS)
		return err;
	probing = err == 0;
	return 0;
}

static void __exit jobs_exit(void)
{
	cancel_work_sync(&worker);
	run(NULL); /* what is left */
	if (probing)
		unregister_trace_jobs_finished(probe_finished, NULL);
}

module_init(jobs_init);
module_exit(jobs_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A traced module: an example of Hodoscope's");
