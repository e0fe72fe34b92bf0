/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control_event.c - events/PROVIDER/NAME: a folder of three files for each event. They come and go under
 * hodo_lock; see control.h for why their operations do not wait for it.
 */
#include "control.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

struct provider {
	struct list_head list;
	struct dentry *dir;
	unsigned int events;
	char name[];
};
static LIST_HEAD(providers);
static struct dentry *events_dir; /* NULL: the tree is not made yet */

/* --------------------------------------------------------------- enable */

/* NULL: all there are. */
static char state_of_many(const struct provider *p)
{
	const struct hodo_event *e;
	bool any = false, all = true;

	list_for_each_entry(e, &hodo_events, list) {
		if (!hodo_event_is_of(e, p ? p->name : NULL))
			continue;
		any |= e->enabled;
		all &= e->enabled;
	}
	return !any ? '0' : all ? '1' : 'X';
}

static ssize_t read_state(void *what, bool many, char __user *to, size_t len, loff_t *offset)
{
	const struct hodo_event *event = what;
	char text[2] = { 0, '\n' };
	int err = hodo_control_trylock();

	if (err)
		return err;
	text[0] = many ? state_of_many(what) : event->enabled ? '1' : '0';
	mutex_unlock(&hodo_lock);
	return simple_read_from_buffer(to, len, offset, text, sizeof(text));
}

static ssize_t write_state(void *what, bool many, const char __user *from, size_t len)
{
	const struct provider *p = what;
	char buf[8], *text;
	int err;

	text = hodo_control_text(buf, sizeof(buf), from, len, &err);
	if (!text)
		return err;
	if ((text[0] != '0' && text[0] != '1') || text[1])
		return -EINVAL;
	err = hodo_control_trylock();
	if (err)
		return err;
	err = many ? hodo_events_enable(p ? p->name : NULL, text[0] == '1') : hodo_event_enable(what, text[0] == '1');
	mutex_unlock(&hodo_lock);
	return err ? err : len;
}

#define ENABLE(name, many)                                                                                           \
	static ssize_t name##_read(struct file *file, char __user *to, size_t len, loff_t *offset)                   \
	{                                                                                                            \
		return read_state(file->private_data, many, to, len, offset);                                        \
	}                                                                                                            \
	static ssize_t name##_write(struct file *file, const char __user *from, size_t len, loff_t *offset)          \
	{                                                                                                            \
		return write_state(file->private_data, many, from, len);                                             \
	}                                                                                                            \
	static const struct file_operations name##_ops = {                                                           \
		.owner = THIS_MODULE, .open = simple_open, .read = name##_read, .write = name##_write,               \
		.llseek = default_llseek,                                                                            \
	}
ENABLE(enable, false);      /* of an event */
ENABLE(enable_many, true); /* of a provider's, or all */

/* ------------------------------------------------------------ come and go */

static struct provider *find_provider(const char *name)
{
	struct provider *p;

	/* Events come provider by provider: it is the first, or there is none. */
	list_for_each_entry(p, &providers, list)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static struct provider *new_provider(const char *name)
{
	size_t len = strlen(name) + 1;
	struct provider *p = kmalloc(sizeof(*p) + len, GFP_KERNEL);

	if (!p)
		return NULL;
	memcpy(p->name, name, len);
	p->events = 0;
	p->dir = debugfs_create_dir(name, events_dir);
	if (IS_ERR(p->dir)) {
		kfree(p);
		return NULL;
	}
	debugfs_create_file("enable", 0600, p->dir, p, &enable_many_ops);
	list_add(&p->list, &providers);
	return p;
}

static void forget_provider(struct provider *p)
{
	if (p->events > 0)
		return;
	debugfs_remove(p->dir);
	list_del(&p->list);
	kfree(p);
}

/* An event that gets no folder (no memory, or it is named "enable") can be recorded all the same. */
void hodo_control_event_added(struct hodo_event *event)
{
	struct provider *p = find_provider(event->provider);
	struct dentry *dir;

	event->dir = NULL;
	event->filter_refused = NULL;
	if (!p && events_dir)
		p = new_provider(event->provider);
	if (!p)
		return;
	dir = debugfs_create_dir(event->name, p->dir);
	if (IS_ERR(dir)) {
		forget_provider(p);
		return;
	}
	p->events++;
	event->dir = dir;
	debugfs_create_file("enable", 0600, dir, event, &enable_ops);
	debugfs_create_file("filter", 0600, dir, event, &hodo_control_filter_ops);
	debugfs_create_file("format", 0400, dir, event, hodo_control_format_ops);
}

void hodo_control_event_removed(struct hodo_event *event)
{
	struct provider *p = find_provider(event->provider);

	if (!event->dir)
		return;
	debugfs_remove(event->dir);
	event->dir = NULL;
	kfree(event->filter_refused);
	event->filter_refused = NULL;
	p->events--;
	forget_provider(p);
}

void hodo_control_events_init(void)
{
	struct hodo_event *e;

	mutex_lock(&hodo_lock);
	events_dir = debugfs_create_dir("events", hodo_dir);
	debugfs_create_file("enable", 0600, events_dir, NULL, &enable_many_ops);
	list_for_each_entry(e, &hodo_events, list)
		hodo_control_event_added(e);
	mutex_unlock(&hodo_lock);
}
