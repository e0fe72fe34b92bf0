/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * recorder.c - the files `record` and `memory`: what a recorder needs, see <hodo/abi_kernel.h>.
 *
 * mmap() runs with the caller's mmap_lock held, and copying from user space takes it: so hodo_lock is never
 * held around a copy, and never taken by mmap(), which finds the memory in the open file.
 */
#include "kmod.h"
#include "recording.h"

#include <hodo/abi_kernel.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* An open file. memory is set once, and kept until the file is closed. */
struct recorder {
	struct hodo_memory *memory;
	uint32_t number; /* of the recording that this file began; 0: none */
};

static int record_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct recorder), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

/* Under hodo_lock: whether it is still this file's recording. */
static bool is_ours(const struct recorder *r)
{
	return r->number && hodo_recording.by == HODO_RECORDED_BY_FILE && hodo_recording.number == r->number;
}

static int record_release(struct inode *inode, struct file *file)
{
	struct recorder *r = file->private_data;

	mutex_lock(&hodo_lock);
	if (is_ours(r))
		hodo_recording_end();
	mutex_unlock(&hodo_lock);
	hodo_memory_put(r->memory);
	kfree(r);
	return 0;
}

static ssize_t record_write(struct file *file, const char __user *from, size_t len, loff_t *offset)
{
	struct recorder *r = file->private_data;
	struct hodo_msg_config *config;
	int err;

	if (len < offsetof(struct hodo_msg_config, text) || len > sizeof(*config))
		return -EINVAL;
	config = kvmalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	err = copy_from_user(config, from, len) ? -EFAULT : 0;
	if (!err)
		err = mutex_lock_interruptible(&hodo_lock);
	if (!err) {
		/* One recording a file. */
		err = r->memory ? -EBUSY : hodo_recording_start(config, len);
		if (!err) {
			r->number = hodo_recording.number;
			hodo_memory_get(hodo_recording.memory);
			smp_store_release(&r->memory, hodo_recording.memory);
		}
		mutex_unlock(&hodo_lock);
	}
	if (err)
		kvfree(config);
	return err ? err : len;
}

static int recorder_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct recorder *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);

	return memory ? hodo_memory_map(memory, vma) : -ENODATA;
}

static int stop(struct recorder *r)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	if (is_ours(r))
		hodo_recording_stop();
	mutex_unlock(&hodo_lock);
	return 0;
}

static long record_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct recorder *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);
	struct hodo_kernel_consumed consumed;
	uint64_t age;

	if (!memory)
		return -ENODATA;
	switch (command) {
	case HODO_IOC_CONSUMED:
		if (copy_from_user(&consumed, (const void __user *)arg, sizeof(consumed)))
			return -EFAULT;
		return consumed.reserved ? -EINVAL : hodo_ring_put_consumed(memory, consumed.ring, consumed.packets);
	case HODO_IOC_STOP:
		return stop(r);
	case HODO_IOC_FLUSH:
		if (copy_from_user(&age, (const void __user *)arg, sizeof(age)))
			return -EFAULT;
		hodo_recording_flush(memory, age);
		return 0;
	}
	return -ENOTTY;
}

static bool has_closed(struct hodo_memory *memory)
{
	for (uint32_t i = 0; i < memory->layout.rings; i++)
		if (hodo_ring_produced(memory, i) / memory->layout.packet_size > hodo_ring_consumed(memory, i))
			return true;
	return false;
}

static __poll_t record_poll(struct file *file, struct poll_table_struct *wait)
{
	struct recorder *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);

	if (!memory)
		return EPOLLERR;
	poll_wait(file, &hodo_ring_wait, wait);
	WRITE_ONCE(hodo_ring_waited, true);
	smp_mb(); /* before looking: see packet_closed() in writer.c */
	return (has_closed(memory) ? EPOLLIN | EPOLLRDNORM : 0) | (READ_ONCE(memory->shm->ended) ? EPOLLHUP : 0);
}

static const struct file_operations record_ops = {
	.owner = THIS_MODULE, .open = record_open, .release = record_release, .write = record_write,
	.mmap = recorder_mmap, .unlocked_ioctl = record_ioctl, .poll = record_poll,
};

/* ----------------------------------------------------------------- memory */

static int memory_open(struct inode *inode, struct file *file)
{
	struct recorder *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	mutex_lock(&hodo_lock);
	r->memory = hodo_recording.memory;
	if (r->memory)
		hodo_memory_get(r->memory);
	mutex_unlock(&hodo_lock);
	if (!r->memory) {
		kfree(r);
		return -ENODATA;
	}
	file->private_data = r;
	return 0;
}

static int memory_release(struct inode *inode, struct file *file)
{
	struct recorder *r = file->private_data;

	hodo_memory_put(r->memory);
	kfree(r);
	return 0;
}

static const struct file_operations memory_ops = {
	.owner = THIS_MODULE, .open = memory_open, .release = memory_release, .mmap = recorder_mmap,
};

int hodo_recorder_init(void)
{
	/* "unsafe": debugfs' own wrapper knows no mmap(). The module stays while a file is open, through .owner. */
	debugfs_create_file_unsafe("record", 0600, hodo_dir, NULL, &record_ops);
	debugfs_create_file_unsafe("memory", 0400, hodo_dir, NULL, &memory_ops);
	return 0;
}
