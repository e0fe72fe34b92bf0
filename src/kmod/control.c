/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* control.c - the control tree in debugfs. */
#include "kmod.h"

#include <linux/debugfs.h>

struct dentry *hodo_dir;

int hodo_control_init(void)
{
	hodo_dir = debugfs_create_dir("hodo", NULL);
	return PTR_ERR_OR_ZERO(hodo_dir);
}

void hodo_control_exit(void)
{
	debugfs_remove_recursive(hodo_dir);
}

void hodo_control_event_added(struct hodo_event *event)
{
}

void hodo_control_event_removed(struct hodo_event *event)
{
}
