/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control_dir.c - folders of the control tree, in sysfs, whose files are bin_attributes: these can exceed a
 * page, and know who has them open.
 *
 * Rights are checked at each operation, since sysfs opens files by their mode alone: a file opened by a
 * process that may not look into the kernel gives nothing, nor does any if the kernel is locked down for
 * confidentiality, as in tracefs.
 */
#include "control_dir.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#define SHOW_MAX (4u << 20) /* bytes of one file */

struct entry {
	struct bin_attribute attribute; /* private: data */
	const struct hodo_control_file *file;
};

struct hodo_control_dir {
	struct kobject *kobj;
	unsigned int n;
	struct entry entries[];
};

/* The rights of the process that opened it, not of one tricked into reading or writing it. */
static int check(const struct file *opened)
{
	if (!file_ns_capable(opened, &init_user_ns, CAP_PERFMON) &&
	    !file_ns_capable(opened, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/* Doubles the room, or makes it for the first time. */
static int grow(struct seq_file *m)
{
	size_t size = m->buf ? 2 * m->size : PAGE_SIZE;

	kvfree(m->buf);
	m->buf = size > SHOW_MAX ? NULL : kvmalloc(size, GFP_KERNEL);
	m->size = size;
	return m->buf ? 0 : -ENOMEM;
}

int hodo_control_show(struct seq_file *m, int (*show)(struct seq_file *m, void *v), void *v)
{
	int err = m->buf ? 0 : grow(m);

	while (!err) {
		m->count = 0;
		err = show(m, v);
		if (err || !seq_has_overflowed(m))
			break;
		err = grow(m);
	}
	return err;
}

static ssize_t entry_read(struct file *opened, struct kobject *kobj, hodo_bin_attribute *attribute, char *to,
			  loff_t offset, size_t len)
{
	const struct hodo_control_file *file = container_of(attribute, struct entry, attribute)->file;
	struct seq_file m = { .private = attribute->private };
	ssize_t n = check(opened);

	if (n)
		return n;
	if (file->read)
		return file->read(opened, to, offset, len);
	n = hodo_control_show(&m, file->show, attribute->private);
	if (!n)
		n = memory_read_from_buffer(to, len, &offset, m.buf, m.count);
	kvfree(m.buf);
	return n;
}

/* The offset does not matter: each write is one text. */
static ssize_t entry_write(struct file *opened, struct kobject *kobj, hodo_bin_attribute *attribute, char *from,
			   loff_t offset, size_t len)
{
	const struct hodo_control_file *file = container_of(attribute, struct entry, attribute)->file;
	int err = check(opened);
	char *text;

	if (err)
		return err;
	text = kmemdup_nul(from, len, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	err = strlen(text) == len ? file->take(attribute->private, strim(text)) : -EINVAL;
	kfree(text);
	return err ? err : len;
}

static int add_entry(struct hodo_control_dir *dir, const struct hodo_control_file *file, void *data)
{
	struct entry *e = &dir->entries[dir->n++];
	struct bin_attribute *a = &e->attribute;

	e->file = file;
	/* The lock validator must distinguish the two kinds: see control.h. */
	if (data)
		sysfs_bin_attr_init(a);
	else
		sysfs_bin_attr_init(a);
	a->attr.name = file->name;
	a->attr.mode = file->mode;
	a->private = data;
	a->read = file->show || file->read ? entry_read : NULL;
	a->write = file->take ? entry_write : NULL;
	return sysfs_create_bin_file(dir->kobj, a);
}

struct hodo_control_dir *hodo_control_dir_new(const char *name, struct hodo_control_dir *parent,
					      const struct hodo_control_file *files, unsigned int n, void *data)
{
	struct hodo_control_dir *dir = kzalloc(struct_size(dir, entries, n), GFP_KERNEL);

	if (!dir)
		return NULL;
	dir->kobj = kobject_create_and_add(name, parent ? parent->kobj : kernel_kobj);
	if (!dir->kobj) {
		kfree(dir);
		return NULL;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (add_entry(dir, &files[i], data)) {
			hodo_control_dir_free(dir);
			return NULL;
		}
	}
	return dir;
}

void hodo_control_dir_close(struct hodo_control_dir *dir)
{
	kobject_del(dir->kobj);
}

void hodo_control_dir_free(struct hodo_control_dir *dir)
{
	hodo_control_dir_close(dir);
	kobject_put(dir->kobj);
	kfree(dir);
}

int hodo_control_trylock(void)
{
	if (mutex_trylock(&hodo_lock))
		return 0;
	/* Its holder may be switching hundreds of events: do not retry at once. */
	schedule_timeout_interruptible(1);
	return restart_syscall();
}

int hodo_control_switch(const char *text)
{
	return (text[0] == '0' || text[0] == '1') && !text[1] ? text[0] - '0' : -EINVAL;
}
