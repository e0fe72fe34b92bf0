// SPDX-License-Identifier: MIT
/* sites_forget - is unloaded without unregistering its probe. */
#include "probes.h"

#include <linux/init.h>
#include <linux/module.h>

static atomic_t calls;

static void probe(void *data, int n, const char *who)
{
	atomic_inc(&calls);
}

static int calls_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&calls));
}
static const struct kernel_param_ops calls_ops = { .get = calls_get };
module_param_cb(calls, &calls_ops, NULL, 0400);

static int __init sites_forget_init(void)
{
	return register_trace_sprobe_step(probe, NULL);
}

static void __exit sites_forget_exit(void)
{
}

module_init(sites_forget_init);
module_exit(sites_forget_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");
