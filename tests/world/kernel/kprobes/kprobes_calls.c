// SPDX-License-Identifier: MIT
/* kprobes_calls - a function of a module, called when a number is written to `run`. */
#include <linux/init.h>
#include <linux/module.h>

__attribute__((noipa)) int kpcalls_step(int n, long more);

__attribute__((noipa)) int kpcalls_step(int n, long more)
{
	return n + (int)more;
}

static int run(const char *value, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(value, 0, &n);

	for (unsigned int i = 0; !err && i < n; i++)
		kpcalls_step(i, -5);
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
