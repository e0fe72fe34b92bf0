/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* main.c - loads and unloads the module. */
#include "kmod.h"
#include "recording.h"

#include <linux/module.h>

struct part {
	int (*init)(void);
	void (*exit)(void);
};

/* Before the recorded events go. */
static void end_recordings(void)
{
	mutex_lock(&hodo_lock);
	hodo_recording_end();
	hodo_recording_reset();
	mutex_unlock(&hodo_lock);
}

/*
 * The device comes last, when nothing can fail any more: the kernel frees a module whose init function fails,
 * even if it is open. Once the tree is closed, nobody can begin a recording; events then free their own
 * folders.
 */
static const struct part parts[] = {
	{ hodo_tracepoints_init, hodo_tracepoints_exit },
	{ hodo_syscalls_init, hodo_syscalls_exit },
	{ hodo_functions_init, hodo_functions_exit },
	{ hodo_sites_init, hodo_sites_exit },
	{ NULL, end_recordings },
	{ hodo_control_init, hodo_control_close },
	{ hodo_recorder_init, hodo_recorder_exit },
};

static void unwind(size_t n)
{
	while (n-- > 0)
		if (parts[n].exit)
			parts[n].exit();
	hodo_control_exit();
	hodo_writers_exit();
}

static int __init hodo_init(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int err = parts[i].init ? parts[i].init() : 0;

		if (err) {
			unwind(i);
			return err;
		}
	}
	return 0;
}

static void __exit hodo_exit(void)
{
	unwind(ARRAY_SIZE(parts));
}

module_init(hodo_init);
module_exit(hodo_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Hodoscope: tracing");
MODULE_VERSION("0.1.0");
