/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* functions_ftrace.c - functions by ftrace: any of them, entry alone; and by fprobe, built on it, entry and exit. */
#include "functions.h"
#include <kmod/kmod.h>

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/string.h>
#ifdef HODO_HAVE_FPROBE
#include <linux/fprobe.h>
#endif

#ifdef CONFIG_DYNAMIC_FTRACE

/* ------------------------------------------------------------------ filter */

/* ftrace modifies the text. */
static int set_glob(struct ftrace_ops *ops, const char *glob, bool without)
{
	unsigned char text[HODO_FUNCTION_GLOB_MAX];
	size_t len = strlen(glob);

	memcpy(text, glob, len + 1);
	return without ? ftrace_set_notrace(ops, text, len, 0) : ftrace_set_filter(ops, text, len, 0);
}

int hodo_function_filter(struct ftrace_ops *ops, struct hodo_function_wanted *w)
{
	const char *p = w->text;
	uint32_t set = 0;

	for (uint32_t i = 0; i < w->patterns; i++, p += strlen(p) + 1) {
		bool without = *p == '!';
		int err;

		if (p[without] == '0')
			continue; /* an address */
		err = set_glob(ops, p + without, without);
		/* Its error for a glob without matches: harmless if others match, or for an exclusion. */
		if (err && err != -EINVAL && err != -ENOENT)
			return err;
		set += !err && !without;
	}
	for (uint32_t i = 0; i < w->addresses; i++)
		set += ftrace_set_filter_ip(ops, w->address[i], 0, 0) == 0;
	/* Without any, it would trace all functions. */
	if (w->globs + w->addresses == 0)
		set += set_glob(ops, "*", false) == 0;
	w->found = w->globs + w->addresses ? w->globs + w->addresses : 1;
	w->set = set;
	return set ? 0 : -ESRCH;
}

/* --------------------------------------------------------------- entry alone */

static atomic_long_t missed;

static void on_reached(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *regs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0) {
		atomic_long_inc(&missed);
		return;
	}
	hodo_function_reached(ip, HODO_FRAME32(hodo_ftrace_stack(regs)));
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops ops;

static void ftrace_reset(void)
{
	ftrace_free_filter(&ops);
	/* Otherwise, dangling pointers stay in there. */
	memset(&ops, 0, sizeof(ops));
}

static int ftrace_start(struct hodo_function_wanted *wanted)
{
	int err;

	ops.func = on_reached;
	err = hodo_function_filter(&ops, wanted);
	if (!err)
		err = register_ftrace_function(&ops);
	if (err)
		ftrace_reset();
	return err;
}

static void ftrace_refresh(struct hodo_function_wanted *wanted)
{
	hodo_function_filter(&ops, wanted);
}

static uint64_t ftrace_stop(void)
{
	int err = unregister_ftrace_function(&ops);

	if (err) {
		/* ftrace has switched itself off for good; the calls of our code stay in the functions. */
		pr_err("functions: ftrace: error %d: hodo.ko stays\n", -err);
		__module_get(THIS_MODULE);
	} else {
		ftrace_reset();
	}
	return atomic_long_xchg(&missed, 0);
}

const struct hodo_function_probe hodo_function_ftrace = {
	.name = "ftrace", .start = ftrace_start, .refresh = ftrace_refresh, .stop = ftrace_stop,
};

/* ------------------------------------------------------------------- fprobe */

#ifdef HODO_HAVE_FPROBE

/* Calls in progress at one time. */
#define ACTIVE_MAX 32768u
#define ACTIVE 8192u
#define ACTIVE_CPU 512u

static int on_entry(struct fprobe *fp, unsigned long ip, unsigned long parent_ip, struct pt_regs *regs, void *data)
{
	uint32_t frame = HODO_FRAME32(kernel_stack_pointer(regs));

	*(uint32_t *)data = frame;
	return !hodo_function_entered(ip, frame);
}

static void on_exit(struct fprobe *fp, unsigned long ip, unsigned long parent_ip, struct pt_regs *regs, void *data)
{
	hodo_function_left(ip, *(const uint32_t *)data);
}

static struct fprobe fprobe;

static int fprobe_start(struct hodo_function_wanted *w)
{
	static char all[] = "*";
	const char *p = w->text;
	int err;

	fprobe.entry_handler = on_entry;
	fprobe.exit_handler = on_exit;
	fprobe.entry_data_size = sizeof(uint64_t);
	fprobe.nr_maxactive = min(ACTIVE + ACTIVE_CPU * num_possible_cpus(), ACTIVE_MAX);
	err = hodo_function_filter(&fprobe.ops, w);
	if (err)
		goto fail;
	/* It adds its argument to the filter, so pass something that the filter already has. */
	for (uint32_t i = 0; i < w->patterns; i++, p += strlen(p) + 1)
		if (*p != '!' && *p != '0' && (err = register_fprobe(&fprobe, p, NULL)) != -EINVAL)
			goto registered;
	for (uint32_t i = 0; i < w->addresses; i++)
		if ((err = register_fprobe_ips(&fprobe, &w->address[i], 1)) != -EINVAL)
			goto registered;
	if (w->globs + w->addresses == 0) {
		err = register_fprobe(&fprobe, all, NULL);
		goto registered;
	}
fail:
	ftrace_free_filter(&fprobe.ops);
registered:
	/* On failure, it has freed the filter, but left dangling pointers to it. */
	if (err)
		memset(&fprobe, 0, sizeof(fprobe));
	return err;
}

static void fprobe_refresh(struct hodo_function_wanted *wanted)
{
	hodo_function_filter(&fprobe.ops, wanted);
}

static uint64_t fprobe_stop(void)
{
	uint64_t n;
	int err = unregister_fprobe(&fprobe);

	if (err) {
		pr_err("functions: fprobe: error %d: hodo.ko stays\n", -err);
		__module_get(THIS_MODULE);
	}
	/* A handler of exits that has begun runs with preemption off. */
	hodo_quiesce();
	n = fprobe.nmissed;
	if (!err)
		memset(&fprobe, 0, sizeof(fprobe));
	return n;
}

const struct hodo_function_probe hodo_function_fprobe = {
	.name = "fprobe", .exits = true, .start = fprobe_start, .refresh = fprobe_refresh, .stop = fprobe_stop,
};

#endif
#endif
