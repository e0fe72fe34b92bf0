/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* control.c - the control tree's folder, /sys/kernel/hodo, and the files for the recording that it begins. */
#include "control_dir.h"
#include <kmod/recording.h>

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/string.h>

static struct hodo_control_dir *root;

/* ---------------------------------------------------------------- enabled */

static int enabled_show(struct seq_file *m, void *data)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	seq_printf(m, "%d\n", hodo_recording.by != HODO_RECORDED_NOT && !hodo_recording.stopped);
	mutex_unlock(&hodo_lock);
	return 0;
}

/* Off applies to any recording: a recorder can still read what it has so far. */
static void disable(void)
{
	if (hodo_recording.by == HODO_RECORDED_BY_FILE) {
		if (!hodo_recording.stopped)
			pr_info("the recording was stopped through the file enabled\n");
		hodo_recording_stop();
	} else {
		hodo_recording_end();
	}
}

static int enabled_take(void *data, char *text)
{
	int on = hodo_control_switch(text), err = on < 0 ? on : mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	if (!on)
		disable();
	else if (hodo_recording.by != HODO_RECORDED_BY_TREE)
		err = hodo_recording_start_tree();
	mutex_unlock(&hodo_lock);
	return err;
}

/* ------------------------------------------------------------------ sizes */

/* 0, with the lock held: the tree's next recording may be configured. */
static int lock_config(void)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (!err && hodo_recording.by != HODO_RECORDED_NOT) {
		mutex_unlock(&hodo_lock);
		err = -EBUSY;
	}
	return err;
}

static int set_sizes(u64 packet_size, u64 ring_size)
{
	struct hodo_layout layout;

	if (packet_size > HODO_PACKET_MAX ||
	    hodo_layout_init(&layout, nr_cpu_ids + 1, (uint32_t)packet_size, ring_size) != 0) {
		pr_info("sizes refused: a packet has 1 to %u KiB, a buffer at least 4 packets and %u KiB\n",
			HODO_PACKET_MAX >> 10, HODO_PAGE >> 10);
		return -EINVAL;
	}
	hodo_tree_config.packet_size = (uint32_t)packet_size;
	hodo_tree_config.ring_size = ring_size;
	return 0;
}

/* Rounds up to a power of two, in bytes. 0: not possible. */
static u64 bytes_of_kb(u64 kb)
{
	return kb == 0 || kb > HODO_RING_MAX >> 10 ? 0 : roundup_pow_of_two(kb) << 10;
}

static int ring_size_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%llu\n", READ_ONCE(hodo_tree_config.ring_size) >> 10);
	return 0;
}

static int packet_size_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(hodo_tree_config.packet_size) >> 10);
	return 0;
}

static int size_take(const char *text, bool of_ring)
{
	struct hodo_tree_config *c = &hodo_tree_config;
	u64 kb;
	int err = kstrtou64(text, 0, &kb) ? -EINVAL : lock_config();

	if (err)
		return err;
	err = of_ring ? set_sizes(c->packet_size, bytes_of_kb(kb)) : set_sizes(bytes_of_kb(kb), c->ring_size);
	mutex_unlock(&hodo_lock);
	return err;
}

static int ring_size_take(void *data, char *text)
{
	return size_take(text, true);
}

static int packet_size_take(void *data, char *text)
{
	return size_take(text, false);
}

/* ------------------------------------------------------------ mode, reset */

static const char *const modes[] = { [HODO_MODE_DISCARD] = "discard", [HODO_MODE_OVERWRITE] = "overwrite" };

static int mode_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%s\n", modes[READ_ONCE(hodo_tree_config.mode)]);
	return 0;
}

static int mode_take(void *data, char *text)
{
	int err, mode = match_string(modes, ARRAY_SIZE(modes), text);

	if (mode < 0)
		return -EINVAL;
	err = lock_config();
	if (err)
		return err;
	hodo_tree_config.mode = mode;
	mutex_unlock(&hodo_lock);
	return 0;
}

/* Whatever is written. */
static int reset_take(void *data, char *text)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	err = hodo_recording_reset();
	mutex_unlock(&hodo_lock);
	return err;
}

/* ------------------------------------------------------------- begin, end */

/* info's mode admits everybody, so that a process with only CAP_PERFMON can list what to record: see
 * control_dir.c. */
static const struct hodo_control_file files[] = {
	{ "enabled", 0600, .show = enabled_show, .take = enabled_take },
	{ "buffer_size_kb", 0600, .show = ring_size_show, .take = ring_size_take },
	{ "packet_size_kb", 0600, .show = packet_size_show, .take = packet_size_take },
	{ "mode", 0600, .show = mode_show, .take = mode_take },
	{ "reset", 0200, .take = reset_take },
	{ "info", 0444, .read = hodo_control_info },
	{ "overflow", 0400, .show = hodo_control_overflow },
};

int hodo_control_init(void)
{
	int err;

	root = hodo_control_dir_new("hodo", NULL, files, ARRAY_SIZE(files), NULL);
	err = root ? hodo_control_events_init(root) : -ENOMEM;
	if (err)
		hodo_control_exit();
	return err;
}

void hodo_control_close(void)
{
	hodo_control_events_close();
	hodo_control_dir_close(root);
}

void hodo_control_exit(void)
{
	hodo_control_events_exit();
	if (root)
		hodo_control_dir_free(root);
	root = NULL;
}
