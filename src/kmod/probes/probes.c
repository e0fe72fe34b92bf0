/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probes.c - probes on the tracepoints of instrumented modules: lists that are replaced as a whole.
 *
 *                    | event calls probes | register, unregister | module goes
 *   event            | beside             | beside               | beside
 *   register, unreg. |                    | excluded (hodo_lock) | excluded (hodo_lock)
 *
 * An event has preemption off from before it loads the list until the last probe has returned. A replaced
 * list is freed, and unregister returns, after synchronize_rcu(), which waits for everything that had
 * preemption off before. Without it, the event could be in a freed list, or in a probe whose module goes.
 *
 * Each probe holds hodo.ko, which cannot be unloaded while somebody expects to be called.
 */
#include <kmod/kmod.h>
#include "sites.h"

#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#define PROBES_MAX 64u /* of one tracepoint */

/* How many lists of probes this CPU is inside of: an event in an interrupt may interrupt one in a process. */
static DEFINE_PER_CPU(unsigned int, inside);

notrace const struct hodo_probes *hodo_probe_enter(struct hodo_kernel_state *state)
{
	const struct hodo_probes *probes = READ_ONCE(state->probes);

	if (probes)
		this_cpu_inc(inside);
	return probes;
}

notrace void hodo_probe_leave(void)
{
	this_cpu_dec(inside);
}

/*
 * Whether the caller is a probe, and would wait for itself. Nothing else can run on a CPU that is inside of
 * one.
 */
static bool called_by_probe(void)
{
	bool yes;

	preempt_disable_notrace();
	yes = this_cpu_read(inside) != 0;
	preempt_enable_notrace();
	return yes;
}

typedef bool is_fn(const struct hodo_probe *probe, const void *what);

static bool is_same(const struct hodo_probe *probe, const void *other)
{
	const struct hodo_probe *o = other;

	return probe->func == o->func && probe->data == o->data;
}

static bool is_within(const struct hodo_probe *probe, const void *mod)
{
	return within_module((unsigned long)probe->func, mod);
}

static uint32_t count(const struct hodo_probes *list, is_fn *is, const void *what)
{
	uint32_t n = 0;

	for (uint32_t i = 0; list && i < list->n; i++)
		n += is(&list->probe[i], what);
	return n;
}

/* The event's places call this from now on. Returns the old list, which events inside may still use. */
static const struct hodo_probes *publish(struct hodo_site_event *event, const struct hodo_probes *list)
{
	const struct hodo_probes *old = event->probes;

	event->probes = list;
	hodo_site_event_update(event);
	return old;
}

/*
 * Replaces the event's probes by those that are not `is`, and one more unless it is NULL. Without memory for
 * the new list, the old one would have to change under its readers: -ENOMEM.
 */
static int replace(struct hodo_site_event *event, is_fn *is, const void *what, const struct hodo_probe *more,
		   const struct hodo_probes **old)
{
	const struct hodo_probes *now = event->probes;
	uint32_t n = (now ? now->n - count(now, is, what) : 0) + !!more;
	struct hodo_probes *list = NULL;

	if (n) {
		list = kmalloc(struct_size(list, probe, n), GFP_KERNEL);
		if (!list)
			return -ENOMEM;
		list->n = 0;
		for (uint32_t i = 0; now && i < now->n; i++)
			if (!is(&now->probe[i], what))
				list->probe[list->n++] = now->probe[i];
		if (more)
			list->probe[list->n++] = *more;
	}
	*old = publish(event, list);
	return 0;
}

static int change_of(struct hodo_site_event *event, const struct hodo_probe *probe, bool adds,
		     const struct hodo_probes **old)
{
	if (!event)
		return -EINVAL;
	if (count(event->probes, is_same, probe) == adds)
		return adds ? -EEXIST : -ENOENT;
	if (adds && event->probes && event->probes->n == PROBES_MAX)
		return -ENOSPC;
	return replace(event, is_same, probe, adds ? probe : NULL, old);
}

static int change(struct hodo_kernel_state *state, void (*func)(void), void *data, bool adds)
{
	const struct hodo_probe probe = { func, data };
	const struct hodo_probes *old = NULL;
	int err;

	if (!func)
		return -EINVAL;
	if (called_by_probe())
		return -EDEADLK;
	mutex_lock(&hodo_lock);
	err = change_of(state->known, &probe, adds, &old);
	if (!err && adds)
		__module_get(THIS_MODULE);
	mutex_unlock(&hodo_lock);
	if (err)
		return err;
	if (old)
		synchronize_rcu();
	kfree(old);
	if (!adds)
		module_put(THIS_MODULE); /* the caller holds it, too */
	return 0;
}

int hodo_probe_register(struct hodo_kernel_state *state, void (*func)(void), void *data)
{
	return change(state, func, data, true);
}

int hodo_probe_unregister(struct hodo_kernel_state *state, void (*func)(void), void *data)
{
	return change(state, func, data, false);
}

/* --------------------------------------------------------- what was forgotten */

void hodo_probes_drop(struct hodo_site_event *event)
{
	if (!event->probes)
		return;
	pr_warn("event %s:%s goes away with probes that were not unregistered\n", event->event.provider,
		event->event.name);
	for (uint32_t i = 0; i < event->probes->n; i++)
		module_put(THIS_MODULE);
	kfree(event->probes);
	event->probes = NULL;
}

/*
 * Removes the module's probes from the event; returns how many. Free the old list, if any, after a grace
 * period.
 */
static uint32_t forget(struct hodo_site_event *event, struct module *mod, const struct hodo_probes **old)
{
	uint32_t n = count(event->probes, is_within, mod);

	if (!n)
		return 0;
	pr_warn("module %s was removed without unregistering its probe of %s:%s: it is unregistered\n",
		mod->name,
		event->event.provider, event->event.name);
	if (replace(event, is_within, mod, NULL, old)) {
		pr_warn("event %s:%s: no memory: its probes of other modules are not called any more\n",
			event->event.provider, event->event.name);
		*old = publish(event, NULL);
	}
	return n;
}

/* Its functions exist until all notifiers have run. */
static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct hodo_site_event *event;

	if (action != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&hodo_lock);
	list_for_each_entry(event, &hodo_site_events, list) {
		const struct hodo_probes *old;
		uint32_t n = forget(event, data, &old);

		if (!n)
			continue;
		synchronize_rcu();
		kfree(old);
		while (n--)
			module_put(THIS_MODULE);
	}
	mutex_unlock(&hodo_lock);
	return NOTIFY_OK;
}

/* Before the kernel's list of tracepoints is updated, at 0: the event may go with that. */
static struct notifier_block notifier = { .notifier_call = notify, .priority = 2 };

int hodo_probes_init(void)
{
	return register_module_notifier(&notifier);
}

void hodo_probes_exit(void)
{
	unregister_module_notifier(&notifier);
}
