/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control_event.c - events/PROVIDER/NAME: a folder of three files for each event. They come and go under
 * hodo_lock; see control.h for why their operations do not wait for it.
 */
#include "control_dir.h"

#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

struct provider {
	struct list_head list;
	struct hodo_control_dir *dir;
	unsigned int events;
	char name[];
};
static LIST_HEAD(providers);
static struct hodo_control_dir *events_dir; /* NULL: the tree is not made yet, or closed */
static struct hodo_control_dir *closed_dir;

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

static int many_show(struct seq_file *m, void *provider)
{
	int err = hodo_control_trylock();

	if (err)
		return err;
	seq_printf(m, "%c\n", state_of_many(provider));
	mutex_unlock(&hodo_lock);
	return 0;
}

static int many_take(void *provider, char *text)
{
	const struct provider *p = provider;
	int on = hodo_control_switch(text), err = on < 0 ? on : hodo_control_trylock();

	if (err)
		return err;
	err = hodo_events_enable(p ? p->name : NULL, on);
	mutex_unlock(&hodo_lock);
	return err;
}

static int enable_show(struct seq_file *m, void *event)
{
	int err = hodo_control_trylock();

	if (err)
		return err;
	seq_printf(m, "%d\n", ((const struct hodo_event *)event)->enabled);
	mutex_unlock(&hodo_lock);
	return 0;
}

static int enable_take(void *event, char *text)
{
	int on = hodo_control_switch(text), err = on < 0 ? on : hodo_control_trylock();

	if (err)
		return err;
	err = hodo_event_enable(event, on);
	mutex_unlock(&hodo_lock);
	return err;
}

/* ------------------------------------------------------------ come and go */

/* Of a provider, or all. */
static const struct hodo_control_file many_files[] = { { "enable", 0600, .show = many_show, .take = many_take } };

static const struct hodo_control_file event_files[] = {
	{ "enable", 0600, .show = enable_show, .take = enable_take },
	{ "filter", 0600, .show = hodo_control_filter_show, .take = hodo_control_filter_take },
	{ "format", 0400, .show = hodo_control_format },
};

/* sysfs logs a warning if a name is taken, and other names cannot be folders. */
static bool name_has_place(const char *name)
{
	return strcmp(name, "enable") != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static struct provider *find_provider(const char *name)
{
	struct provider *p;

	/* Events are added provider by provider: it is the first, or there is none. */
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
	p->dir = hodo_control_dir_new(name, events_dir, many_files, ARRAY_SIZE(many_files), p);
	if (!p->dir) {
		kfree(p);
		return NULL;
	}
	list_add(&p->list, &providers);
	return p;
}

static void forget_provider(struct provider *p)
{
	if (p->events > 0)
		return;
	hodo_control_dir_free(p->dir);
	list_del(&p->list);
	kfree(p);
}

/* An event without a folder (no memory, or a name such as "enable") can still be recorded. */
static void event_added(struct hodo_event *event)
{
	struct provider *p;

	if (!events_dir || !name_has_place(event->provider) || !name_has_place(event->name))
		return;
	p = find_provider(event->provider);
	if (!p)
		p = new_provider(event->provider);
	if (!p)
		return;
	event->dir = hodo_control_dir_new(event->name, p->dir, event_files, ARRAY_SIZE(event_files), event);
	if (event->dir)
		p->events++;
	else
		forget_provider(p);
}

static void event_removed(struct hodo_event *event)
{
	struct provider *p = find_provider(event->provider);

	if (!event->dir)
		return;
	hodo_control_dir_free(event->dir);
	event->dir = NULL;
	kfree(event->filter_refused);
	event->filter_refused = NULL;
	p->events--;
	forget_provider(p);
}

static const struct hodo_event_watch watch = { .added = event_added, .removed = event_removed };

int hodo_control_events_init(struct hodo_control_dir *root)
{
	struct hodo_control_dir *dir = hodo_control_dir_new("events", root, many_files, ARRAY_SIZE(many_files), NULL);
	struct hodo_event *e;

	if (!dir)
		return -ENOMEM;
	mutex_lock(&hodo_lock);
	events_dir = dir;
	hodo_event_watch = &watch;
	list_for_each_entry(e, &hodo_events, list)
		event_added(e);
	mutex_unlock(&hodo_lock);
	return 0;
}

void hodo_control_events_close(void)
{
	mutex_lock(&hodo_lock);
	closed_dir = events_dir;
	events_dir = NULL;
	mutex_unlock(&hodo_lock);
}

void hodo_control_events_exit(void)
{
	if (closed_dir)
		hodo_control_dir_free(closed_dir);
	closed_dir = NULL;
}
