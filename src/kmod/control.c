/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control.c - the control tree in debugfs: the folder, and the files of the recording that it begins.
 *
 * Files made with debugfs_create_file_unsafe() are those of DEFINE_DEBUGFS_ATTRIBUTE(), which look after removal
 * themselves; all others get debugfs' wrapper. The module stays while one is open, through .owner.
 */
#include "control.h"
#include "recording.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

struct dentry *hodo_dir;

int hodo_control_trylock(void)
{
	if (mutex_trylock(&hodo_lock))
		return 0;
	/* Who has it may be switching hundreds of events: not at once again. */
	schedule_timeout_interruptible(1);
	return restart_syscall();
}

char *hodo_control_text(char *buf, size_t size, const char __user *from, size_t len, int *err)
{
	*err = len >= size ? -EINVAL : copy_from_user(buf, from, len) ? -EFAULT : 0;
	if (*err)
		return NULL;
	buf[len] = '\0';
	if (strlen(buf) != len) {
		*err = -EINVAL;
		return NULL;
	}
	return strim(buf);
}

/* ---------------------------------------------------------------- enabled */

static int enabled_get(void *data, u64 *value)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	*value = hodo_recording.by != HODO_RECORDED_NOT && !hodo_recording.stopped;
	mutex_unlock(&hodo_lock);
	return 0;
}

/* Off is off, whoever records: what a recorder's recording has so far is still the recorder's to read. */
static void disable(void)
{
	if (hodo_recording.by == HODO_RECORDED_BY_FILE) {
		if (!hodo_recording.stopped)
			pr_info("the recorder's recording was stopped through the file enabled\n");
		hodo_recording_stop();
	} else {
		hodo_recording_end();
	}
}

static int enabled_set(void *data, u64 value)
{
	int err = value > 1 ? -EINVAL : mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	if (!value)
		disable();
	else if (hodo_recording.by != HODO_RECORDED_BY_TREE)
		err = hodo_recording_start_tree();
	mutex_unlock(&hodo_lock);
	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(enabled_ops, enabled_get, enabled_set, "%llu\n");

/* ------------------------------------------------------------------ sizes */

/* 0 and the lock is held: the tree's next recording may be configured. */
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
		pr_info("sizes refused: packets have 1 to %u KiB, buffers at least 4 packets and %u KiB\n",
			HODO_PACKET_MAX >> 10, HODO_PAGE >> 10);
		return -EINVAL;
	}
	hodo_tree_config.packet_size = (uint32_t)packet_size;
	hodo_tree_config.ring_size = ring_size;
	return 0;
}

/* Up to the next power of two, as bytes. 0: it cannot be. */
static u64 bytes_of_kb(u64 kb)
{
	return kb == 0 || kb > HODO_RING_MAX >> 10 ? 0 : roundup_pow_of_two(kb) << 10;
}

static int size_get(void *which, u64 *value)
{
	*value = (which == &hodo_tree_config.ring_size ? READ_ONCE(hodo_tree_config.ring_size) :
							 READ_ONCE(hodo_tree_config.packet_size)) >> 10;
	return 0;
}

static int size_set(void *which, u64 value)
{
	struct hodo_tree_config *c = &hodo_tree_config;
	int err = lock_config();

	if (err)
		return err;
	err = which == &c->ring_size ? set_sizes(c->packet_size, bytes_of_kb(value)) :
				       set_sizes(bytes_of_kb(value), c->ring_size);
	mutex_unlock(&hodo_lock);
	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(size_ops, size_get, size_set, "%llu\n");

/* ------------------------------------------------------------ mode, reset */

static const char *const modes[] = { [HODO_MODE_DISCARD] = "discard", [HODO_MODE_OVERWRITE] = "overwrite" };

static ssize_t mode_read(struct file *file, char __user *to, size_t len, loff_t *offset)
{
	char text[16];
	int n = scnprintf(text, sizeof(text), "%s\n", modes[READ_ONCE(hodo_tree_config.mode)]);

	return simple_read_from_buffer(to, len, offset, text, n);
}

static ssize_t mode_write(struct file *file, const char __user *from, size_t len, loff_t *offset)
{
	char buf[16], *text;
	int err, mode;

	text = hodo_control_text(buf, sizeof(buf), from, len, &err);
	if (!text)
		return err;
	mode = match_string(modes, ARRAY_SIZE(modes), text);
	if (mode < 0)
		return -EINVAL;
	err = lock_config();
	if (err)
		return err;
	hodo_tree_config.mode = mode;
	mutex_unlock(&hodo_lock);
	return len;
}

static const struct file_operations mode_ops = {
	.owner = THIS_MODULE, .open = simple_open, .read = mode_read, .write = mode_write,
};

/* Whatever was written. */
static ssize_t reset_write(struct file *file, const char __user *from, size_t len, loff_t *offset)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	err = hodo_recording_reset();
	mutex_unlock(&hodo_lock);
	return err ? err : len;
}

static const struct file_operations reset_ops = { .owner = THIS_MODULE, .open = simple_open, .write = reset_write };

/* ------------------------------------------------------------- begin, end */

int hodo_control_init(void)
{
	hodo_dir = debugfs_create_dir("hodo", NULL);
	if (IS_ERR(hodo_dir)) {
		pr_err("no folder in debugfs (error %ld): the kernel needs CONFIG_DEBUG_FS, and no debugfs=off\n",
		       -PTR_ERR(hodo_dir));
		return PTR_ERR(hodo_dir);
	}
	debugfs_create_file_unsafe("enabled", 0600, hodo_dir, NULL, &enabled_ops);
	debugfs_create_file_unsafe("buffer_size_kb", 0600, hodo_dir, &hodo_tree_config.ring_size, &size_ops);
	debugfs_create_file_unsafe("packet_size_kb", 0600, hodo_dir, &hodo_tree_config.packet_size, &size_ops);
	debugfs_create_file("mode", 0600, hodo_dir, NULL, &mode_ops);
	debugfs_create_file("reset", 0200, hodo_dir, NULL, &reset_ops);
	debugfs_create_file("info", 0400, hodo_dir, NULL, hodo_control_info_ops);
	debugfs_create_file("overflow", 0400, hodo_dir, NULL, hodo_control_overflow_ops);
	hodo_control_events_init();
	return 0;
}

void hodo_control_exit(void)
{
	debugfs_remove(hodo_dir);
}
