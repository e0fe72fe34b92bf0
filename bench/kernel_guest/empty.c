/* SPDX-License-Identifier: MIT */
/* empty - probes that do nothing, on system calls or on sched_switch. */
#include <linux/module.h>
#include <linux/tracepoint.h>

static bool syscalls, switches;
module_param(syscalls, bool, 0400);
module_param_named(switch, switches, bool, 0400);

static struct tracepoint *found[3];
static const char *const names[] = { "sys_enter", "sys_exit", "sched_switch" };

/* None of them looks at its arguments, so that one fits all. */
static notrace void probe_syscall(void *data, struct pt_regs *regs, long value)
{
}

static notrace void probe_switch(void *data, bool preempt, struct task_struct *from, struct task_struct *to,
				 unsigned int from_state)
{
}

static void *probe_of(size_t i)
{
	return i == 2 ? (void *)probe_switch : (void *)probe_syscall;
}

static void find(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(tp->name, names[i]) == 0 && (i == 2 ? switches : syscalls))
			found[i] = tp;
	}
}

static int __init empty_init(void)
{
	size_t i;
	int rc = 0;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(found) && rc == 0; i++) {
		if (found[i])
			rc = tracepoint_probe_register(found[i], probe_of(i), NULL);
	}
	return rc;
}

static void __exit empty_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(found); i++) {
		if (found[i])
			tracepoint_probe_unregister(found[i], probe_of(i), NULL);
	}
	tracepoint_synchronize_unregister();
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_DESCRIPTION("Empty probes, for bench/kernel");
MODULE_LICENSE("Dual MIT/GPL");
