/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * buffers.c - buffers/cpuN and buffers/fallback: one ring each, mapped by its reader, who says by ioctl() how far it
 * has read; see <hodo/abi_kernel.h>.
 *
 * An open file holds the memory of the recording that there was when it was opened, whatever comes after it. So
 * nothing here but open() and FLUSH takes hodo_lock; in particular mmap() does not, which runs with the caller's
 * mmap_lock held.
 *
 *            | writer | another reader
 *   reader   | beside | beside; a position only grows, and never beyond the open packet: hodo_ring_put_consumed()
 */
#include "kmod.h"
#include "recording.h"

#include <hodo/abi_kernel.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

struct reader {
	struct hodo_memory *memory;
	uint32_t ring;
};

static int buffer_open(struct inode *inode, struct file *file)
{
	struct reader *r = kmalloc(sizeof(*r), GFP_KERNEL);
	int err;

	if (!r)
		return -ENOMEM;
	err = mutex_lock_interruptible(&hodo_lock);
	if (err)
		goto fail;
	r->memory = hodo_recording.memory;
	if (r->memory)
		hodo_memory_get(r->memory);
	mutex_unlock(&hodo_lock);
	err = -ENODATA;
	if (!r->memory)
		goto fail;
	r->ring = (uint32_t)(unsigned long)inode->i_private;
	file->private_data = r;
	return 0;
fail:
	kfree(r);
	return err;
}

static int buffer_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	hodo_memory_put(r->memory);
	kfree(r);
	return 0;
}

static int buffer_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct reader *r = file->private_data;

	return hodo_memory_map_ring(r->memory, r->ring, vma);
}

static __poll_t buffer_poll(struct file *file, struct poll_table_struct *wait)
{
	const struct reader *r = file->private_data;
	struct hodo_memory *m = r->memory;
	__poll_t events = 0;

	poll_wait(file, &hodo_ring_wait, wait);
	WRITE_ONCE(hodo_ring_waited, true);
	/* Before looking. Without it, a packet that is closed now could be missed by us, and we by who closed it. */
	smp_mb();
	if (hodo_ring_produced(m, r->ring) / m->layout.packet_size > hodo_ring_consumed(m, r->ring))
		events |= EPOLLIN | EPOLLRDNORM;
	if (smp_load_acquire(&m->shm->ended))
		events |= EPOLLHUP;
	return events;
}

static int put_consumed(const struct reader *r, uint64_t bytes)
{
	uint32_t packet_size = r->memory->layout.packet_size;

	if (bytes & (packet_size - 1))
		return -EINVAL;
	return hodo_ring_put_consumed(r->memory, r->ring, bytes / packet_size);
}

static long buffer_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	const struct reader *r = file->private_data;
	uint64_t value = 0;

	if (command == HODO_IOC_PUT_CONSUMED || command == HODO_IOC_FLUSH) {
		if (copy_from_user(&value, (const void __user *)arg, sizeof(value)))
			return -EFAULT;
		if (command == HODO_IOC_PUT_CONSUMED)
			return put_consumed(r, value);
		hodo_recording_flush(r->memory, value);
		return 0;
	}
	switch (command) {
	case HODO_IOC_GET_SIZE:
		value = r->memory->layout.ring_size;
		break;
	case HODO_IOC_GET_PRODUCED:
		value = hodo_ring_produced(r->memory, r->ring);
		break;
	case HODO_IOC_GET_CONSUMED:
		value = hodo_ring_consumed(r->memory, r->ring) * r->memory->layout.packet_size;
		break;
	default:
		return -ENOTTY;
	}
	return copy_to_user((void __user *)arg, &value, sizeof(value)) ? -EFAULT : 0;
}

static const struct file_operations buffer_ops = {
	.owner = THIS_MODULE, .open = buffer_open, .release = buffer_release, .mmap = buffer_mmap,
	.poll = buffer_poll, .unlocked_ioctl = buffer_ioctl, .compat_ioctl = compat_ptr_ioctl,
};

/*
 * "unsafe": debugfs' own wrapper knows no mmap(). These files are removed when the module goes, which it does
 * not while one is open: .owner.
 */
int hodo_buffers_init(void)
{
	struct dentry *dir = debugfs_create_dir("buffers", hodo_dir);
	unsigned int cpu;
	char name[16];

	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file_unsafe(name, 0400, dir, (void *)(unsigned long)cpu, &buffer_ops);
	}
	debugfs_create_file_unsafe("fallback", 0400, dir, (void *)(unsigned long)nr_cpu_ids, &buffer_ops);
	return 0;
}
