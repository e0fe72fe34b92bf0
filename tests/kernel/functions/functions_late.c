// SPDX-License-Identifier: MIT
/* functions_late - one function, called when a number is written to `run`. */
#include <linux/init.h>
#include <linux/module.h>

#define AS_IT_IS __attribute__((noipa))

AS_IT_IS int flate_step(int n);

AS_IT_IS int flate_step(int n)
{
	return n + 1;
}

static int run(const char *value, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(value, 0, &n);

	for (unsigned int i = 0; !err && i < n; i++)
		flate_step(i);
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
