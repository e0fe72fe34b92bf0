// SPDX-License-Identifier: MIT
/* sites_other - events with names of sites_one and of the kernel, but other fields; and an event of its own. */
#include <hodo/trace.h>
#include <linux/init.h>

#include "fire.h"

HODO_TRACEPOINT(sshared, step, (int, n), (u64, who));

static void probe(void *data, int n, u64 who)
{
}

/* The result of registering a probe of a tracepoint that was refused. */
static int refused_get(char *buf, const struct kernel_param *kp)
{
	int err = register_trace_sshared_step(probe, NULL);

	if (!err)
		unregister_trace_sshared_step(probe, NULL);
	return sysfs_emit(buf, "%d\n", err);
}
static const struct kernel_param_ops refused_ops = { .get = refused_get };
module_param_cb(refused, &refused_ops, NULL, 0400);

static void fire(int n)
{
	HODO_EVENT(sshared, put, n, HODO_F(who, (u64)n));
	HODO_MARK(sshared, said, "%s: %d", KBUILD_MODNAME, n);
	HODO_EVENT(syscalls, sys_enter_openat, n);
	HODO_EVENT(sother, fine, n);
	trace_sshared_step(n, n);
}
FIRE_PARAMETER(fire);

static int __init sites_other_init(void)
{
	return 0;
}

static void __exit sites_other_exit(void)
{
}

module_init(sites_other_init);
module_exit(sites_other_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");
