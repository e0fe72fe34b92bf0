/* SPDX-License-Identifier: MIT */
/* run_param.h - a module with a parameter `run`: writing a number calls a function that many times. */
#ifndef RUN_PARAM_H
#define RUN_PARAM_H

#include <linux/init.h>
#include <linux/module.h>

#define AS_IT_IS __attribute__((noipa))

static int run_step(unsigned int i); /* defined by the test */

static int run(const char *value, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(value, 0, &n);

	for (unsigned int i = 0; !err && i < n; i++)
		run_step(i);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);

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

#endif
