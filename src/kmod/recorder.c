/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * recorder.c - /dev/hodo, and in debugfs the files `record`, `memory`, buffers/cpuN and buffers/fallback,
 * each of which is a part of the device's interface; see <hodo/abi_kernel.h>. The reader of a ring reports by
 * ioctl() how far it has read.
 *
 * An open file holds the memory of one recording, whatever follows: the one that it began, or the one present
 * when it was opened. mmap() runs with the caller's mmap_lock held, and copying from user space takes it: so
 * hodo_lock is never held around a copy, and mmap() never takes it, but finds the memory in the open file.
 *
 *            | writer | another reader
 *   reader   | beside | beside; a position only grows, and never beyond the open packet: hodo_ring_put_consumed()
 */
#include "kmod.h"
#include <kmod/probes/kprobes.h>
#include "recording.h"
#include "writer.h"

#include <hodo/abi_kernel.h>
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define WHOLE HODO_RING_ALL

/* An open file. memory is set once, after the others, and kept until the file is closed. */
struct reader {
	struct hodo_memory *memory;
	uint32_t ring;   /* WHOLE: all of them, and the rest of the memory */
	uint32_t number; /* of the recording that this file began; 0: none */
	struct hodo_kprobes kprobes; /* under hodo_lock */
};

static int new_reader(struct file *file, uint32_t ring)
{
	struct reader *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	r->ring = ring;
	file->private_data = r;
	return 0;
}

/* The same rights as for perf; if the kernel is locked down, as for ftrace. */
static int device_open(struct inode *inode, struct file *file)
{
	int err = perfmon_capable() ? security_locked_down(LOCKDOWN_TRACEFS) : -EPERM;

	return err ? err : new_reader(file, WHOLE);
}

static int record_open(struct inode *inode, struct file *file)
{
	return new_reader(file, (uint32_t)(unsigned long)inode->i_private);
}

/* Under hodo_lock: whether it is still this file's recording. */
static bool is_ours(const struct reader *r)
{
	return r->number && hodo_recording.by == HODO_RECORDED_BY_FILE && hodo_recording.number == r->number;
}

/* Under hodo_lock. */
static void remove_kprobes(struct reader *r)
{
	hodo_kprobes_remove(&r->kprobes, is_ours(r) && !hodo_recording.stopped);
}

static int reader_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	mutex_lock(&hodo_lock);
	remove_kprobes(r);
	if (is_ours(r))
		hodo_recording_end();
	mutex_unlock(&hodo_lock);
	hodo_memory_put(r->memory);
	kfree(r);
	return 0;
}

/* Under hodo_lock. */
static void hold(struct reader *r)
{
	if (hodo_recording.memory)
		hodo_memory_get(hodo_recording.memory);
	smp_store_release(&r->memory, hodo_recording.memory);
}

static int reader_open(struct inode *inode, struct file *file)
{
	int err = record_open(inode, file);
	struct reader *r = file->private_data;

	if (err)
		return err;
	err = mutex_lock_interruptible(&hodo_lock);
	if (!err) {
		hold(r);
		mutex_unlock(&hodo_lock);
		err = r->memory ? 0 : -ENODATA;
	}
	if (err)
		kfree(r);
	return err;
}

static ssize_t record_write(struct file *file, const char __user *from, size_t len, loff_t *offset)
{
	struct reader *r = file->private_data;
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
			hold(r);
		}
		mutex_unlock(&hodo_lock);
	}
	if (err)
		kvfree(config);
	return err ? err : len;
}

/* As for kprobes through tracefs, if the kernel is locked down. */
static int add_kprobe(struct reader *r, const void __user *from)
{
	int err = security_locked_down(LOCKDOWN_KPROBES);
	struct hodo_kprobe *k;
	uint32_t size;

	if (err)
		return err;
	if (copy_from_user(&size, from, sizeof(size)))
		return -EFAULT;
	if (size < sizeof(*k) || size > HODO_KPROBE_SIZE_MAX)
		return -EBADMSG;
	k = kvmalloc(size, GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	err = copy_from_user(k, from, size) ? -EFAULT : mutex_lock_interruptible(&hodo_lock);
	if (!err) {
		k->size = size; /* it may have changed meanwhile */
		err = r->memory ? -EBUSY : hodo_kprobe_add(&r->kprobes, k);
		mutex_unlock(&hodo_lock);
	}
	if (err)
		kvfree(k);
	return err;
}

static int reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct reader *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);

	if (!memory)
		return -ENODATA;
	return r->ring == WHOLE ? hodo_memory_map(memory, vma) : hodo_memory_map_ring(memory, r->ring, vma);
}

static int stop(struct reader *r)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	if (is_ours(r)) {
		remove_kprobes(r);
		hodo_recording_stop();
	}
	mutex_unlock(&hodo_lock);
	return 0;
}

static int flush(struct hodo_memory *memory, const void __user *from)
{
	uint64_t age;

	if (copy_from_user(&age, from, sizeof(age)))
		return -EFAULT;
	hodo_recording_flush(memory, age);
	return 0;
}

static long record_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct reader *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);
	struct hodo_kernel_consumed consumed;

	if (command == HODO_IOC_KPROBE)
		return add_kprobe(r, (const void __user *)arg);
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
		return flush(memory, (const void __user *)arg);
	}
	return -ENOTTY;
}

static long buffer_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	const struct reader *r = file->private_data;
	uint64_t packet_size = r->memory->layout.packet_size, value;

	switch (command) {
	case HODO_IOC_FLUSH:
		return flush(r->memory, (const void __user *)arg);
	case HODO_IOC_PUT_CONSUMED:
		if (copy_from_user(&value, (const void __user *)arg, sizeof(value)))
			return -EFAULT;
		return value & (packet_size - 1) ? -EINVAL :
						   hodo_ring_put_consumed(r->memory, r->ring, value / packet_size);
	case HODO_IOC_GET_SIZE:
		value = r->memory->layout.ring_size;
		break;
	case HODO_IOC_GET_PRODUCED:
		value = hodo_ring_produced(r->memory, r->ring);
		break;
	case HODO_IOC_GET_CONSUMED:
		value = hodo_ring_consumed(r->memory, r->ring) * packet_size;
		break;
	default:
		return -ENOTTY;
	}
	return copy_to_user((void __user *)arg, &value, sizeof(value)) ? -EFAULT : 0;
}

/* From now on the file is like `memory`, or like a ring's. */
static int choose(struct reader *r, const void __user *from)
{
	const struct hodo_memory *memory;
	uint32_t ring;
	int err;

	if (copy_from_user(&ring, from, sizeof(ring)))
		return -EFAULT;
	err = mutex_lock_interruptible(&hodo_lock);
	if (err)
		return err;
	memory = hodo_recording.memory;
	if (r->memory)
		err = -EBUSY;
	else if (!memory)
		err = -ENODATA;
	else if (ring != WHOLE && ring >= memory->layout.rings)
		err = -EINVAL;
	if (!err) {
		r->ring = ring;
		hold(r);
	}
	mutex_unlock(&hodo_lock);
	return err;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct reader *r = file->private_data;

	if (command == HODO_IOC_CHOOSE)
		return choose(r, (const void __user *)arg);
	if (command == HODO_IOC_KPROBE)
		return add_kprobe(r, (const void __user *)arg);
	if (!smp_load_acquire(&r->memory))
		return -ENODATA;
	if (r->ring != WHOLE)
		return buffer_ioctl(file, command, arg);
	/* A reader of another's whole recording may only read. */
	return r->number ? record_ioctl(file, command, arg) : -ENOTTY;
}

static bool has_closed(const struct reader *r, struct hodo_memory *m)
{
	for (uint32_t i = 0; i < m->layout.rings; i++)
		if ((r->ring == WHOLE || r->ring == i) &&
		    hodo_ring_produced(m, i) / m->layout.packet_size > hodo_ring_consumed(m, i))
			return true;
	return false;
}

static __poll_t reader_poll(struct file *file, struct poll_table_struct *wait)
{
	struct reader *r = file->private_data;
	struct hodo_memory *memory = smp_load_acquire(&r->memory);

	if (!memory)
		return EPOLLERR;
	poll_wait(file, &hodo_ring_wait, wait);
	WRITE_ONCE(hodo_ring_waited, true);
	/*
	 * Before checking. Without it, we could miss a packet that is closed now, and its writer could miss
	 * us.
	 */
	smp_mb();
	return (has_closed(r, memory) ? EPOLLIN | EPOLLRDNORM : 0) |
	       (smp_load_acquire(&memory->shm->ended) ? EPOLLHUP : 0);
}

static const struct file_operations device_ops = {
	.owner = THIS_MODULE, .open = device_open, .release = reader_release, .write = record_write,
	.mmap = reader_mmap, .poll = reader_poll, .unlocked_ioctl = device_ioctl, .compat_ioctl = compat_ptr_ioctl,
};

static const struct file_operations record_ops = {
	.owner = THIS_MODULE, .open = record_open, .release = reader_release, .write = record_write,
	.mmap = reader_mmap, .poll = reader_poll, .unlocked_ioctl = record_ioctl, .compat_ioctl = compat_ptr_ioctl,
};

static const struct file_operations memory_ops = {
	.owner = THIS_MODULE, .open = reader_open, .release = reader_release, .mmap = reader_mmap,
};

static const struct file_operations buffer_ops = {
	.owner = THIS_MODULE, .open = reader_open, .release = reader_release, .mmap = reader_mmap,
	.poll = reader_poll, .unlocked_ioctl = buffer_ioctl, .compat_ioctl = compat_ptr_ioctl,
};

/* ---------------------------------------------------------------- begin, end */

/* device_open() decides who may open it. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "hodo", .mode = 0666, .fops = &device_ops,
};
static struct dentry *debug_dir;

static void link_to_tree(const char *name)
{
	char target[64];

	scnprintf(target, sizeof(target), HODO_KERNEL_DIR "/%s", name);
	debugfs_create_symlink(name, debug_dir, target);
}

/*
 * The same under the names from when debugfs was the only place, if there is a debugfs. "unsafe": its own
 * wrapper does not support mmap(). These files are removed when the module goes, which is not possible while
 * one is open: .owner.
 */
static void debug_init(void)
{
	static const char *const links[] = { "enabled", "buffer_size_kb", "packet_size_kb", "mode", "reset", "info",
					     "overflow", "events" };
	void *whole = (void *)(unsigned long)WHOLE;
	struct dentry *dir;
	unsigned int cpu;
	char name[16];

	debug_dir = debugfs_create_dir("hodo", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		link_to_tree(links[i]);
	debugfs_create_file_unsafe("record", 0600, debug_dir, whole, &record_ops);
	debugfs_create_file_unsafe("memory", 0400, debug_dir, whole, &memory_ops);
	dir = debugfs_create_dir("buffers", debug_dir);
	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file_unsafe(name, 0400, dir, (void *)(unsigned long)cpu, &buffer_ops);
	}
	debugfs_create_file_unsafe("fallback", 0400, dir, (void *)(unsigned long)nr_cpu_ids, &buffer_ops);
}

int hodo_recorder_init(void)
{
	int err = misc_register(&device);

	if (err)
		pr_err("no device /dev/hodo: error %d\n", -err);
	else
		debug_init();
	return err;
}

void hodo_recorder_exit(void)
{
	debugfs_remove(debug_dir);
	misc_deregister(&device);
}
