/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probes.c - probes on the tracepoints of instrumented modules: lists that are replaced as a whole.
 *
 *                    | event calls probes | register, unregister | module goes
 *   event            | beside             | beside               | beside
 *   register, unreg. |                    | excluded (hodo_lock) | excluded (hodo_lock)
 *
 * An event has preemption off from before it loads the list until the last probe has returned. A list that was
 * replaced is freed, and unregister returns, after synchronize_rcu(), which waits for all who had preemption off
 * before. Without it the event could be in a list that is freed, or in a probe whose module goes.
 *
 * Each probe holds hodo.ko: it does not go while somebody counts on being called.
 */
#include "kmod.h"
#include "sites.h"

#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#define PROBES_MAX 64u /* of one tracepoint */

/* Lists of probes this CPU is inside of: an event in an interrupt comes on top of one in a process. */
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

/* Whether the caller is a probe, and would wait for itself. Nobody else can be on a CPU that is inside of one. */
static bool called_by_probe(void)
{
	bool yes;

	preempt_disable_notrace();
	yes = this_cpu_read(inside) != 0;
	preempt_enable_notrace();
	return yes;
}

static int find(const struct hodo_probes *list, void (*func)(void), void *data)
{
	for (uint32_t i = 0; list && i < list->n; i++)
		if (list->probe[i].func == func && list->probe[i].data == data)
			return i;
	return -1;
}

static struct hodo_probes *list_new(uint32_t room)
{
	struct hodo_probes *list = kmalloc(struct_size(list, probe, room), GFP_KERNEL);

	if (list)
		list->n = 0;
	return list;
}

/* The event's places call these from now on. The old list, which those who are inside still have. */
static const struct hodo_probes *publish(struct hodo_site_event *event, const struct hodo_probes *list)
{
	const struct hodo_probes *old = event->probes;

	event->probes = list;
	hodo_site_event_update(event);
	return old;
}

static int add(struct hodo_site_event *event, void (*func)(void), void *data, const struct hodo_probes **old)
{
	const struct hodo_probes *now = event->probes;
	uint32_t n = now ? now->n : 0;
	struct hodo_probes *list;

	if (find(now, func, data) >= 0)
		return -EEXIST;
	if (n == PROBES_MAX)
		return -ENOSPC;
	list = list_new(n + 1);
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		list->probe[i] = now->probe[i];
	list->probe[n] = (struct hodo_probe){ func, data };
	list->n = n + 1;
	__module_get(THIS_MODULE);
	*old = publish(event, list);
	return 0;
}

/* Without a place for a smaller list, the old one would have to be changed under those who read it: -ENOMEM. */
static int remove_at(struct hodo_site_event *event, uint32_t at, const struct hodo_probes **old)
{
	const struct hodo_probes *now = event->probes;
	struct hodo_probes *list = NULL;

	if (now->n > 1) {
		list = list_new(now->n - 1);
		if (!list)
			return -ENOMEM;
		for (uint32_t i = 0; i < now->n; i++)
			if (i != at)
				list->probe[list->n++] = now->probe[i];
	}
	*old = publish(event, list);
	return 0;
}

static int change(struct hodo_kernel_state *state, void (*func)(void), void *data, bool adds)
{
	const struct hodo_probes *old = NULL;
	struct hodo_site_event *event;
	int err, at;

	if (!func)
		return -EINVAL;
	if (called_by_probe())
		return -EDEADLK;
	mutex_lock(&hodo_lock);
	event = state->known;
	if (!event) {
		err = -EINVAL;
	} else if (adds) {
		err = add(event, func, data, &old);
	} else {
		at = find(event->probes, func, data);
		err = at < 0 ? -ENOENT : remove_at(event, at, &old);
	}
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
	pr_warn("event %s:%s goes with probes that nobody has unregistered\n", event->event.provider,
		event->event.name);
	for (uint32_t i = 0; i < event->probes->n; i++)
		module_put(THIS_MODULE);
	kfree(event->probes);
	event->probes = NULL;
}

static bool within(const struct hodo_probe *probe, struct module *mod)
{
	return within_module((unsigned long)probe->func, mod);
}

/* Takes the module's probes off the event; how many. The old list, if any, must be freed after a grace period. */
static uint32_t forget(struct hodo_site_event *event, struct module *mod, const struct hodo_probes **old)
{
	const struct hodo_probes *now = event->probes;
	struct hodo_probes *list;
	uint32_t n = 0;

	for (uint32_t i = 0; now && i < now->n; i++)
		n += within(&now->probe[i], mod);
	if (!n)
		return 0;
	list = now->n > n ? list_new(now->n - n) : NULL;
	if (now->n > n && !list)
		pr_warn("event %s:%s: no memory: its probes of other modules are not called any more\n",
			event->event.provider, event->event.name);
	for (uint32_t i = 0; list && i < now->n; i++)
		if (!within(&now->probe[i], mod))
			list->probe[list->n++] = now->probe[i];
	pr_warn("module %s has gone without unregistering its probe of %s:%s: it is unregistered\n", mod->name,
		event->event.provider, event->event.name);
	*old = publish(event, list);
	return n;
}

/* Its functions are there until all have been told that it goes. */
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

/* Before the kernel's list of tracepoints is told, at 0: the event may go with that. */
static struct notifier_block notifier = { .notifier_call = notify, .priority = 2 };

int hodo_probes_init(void)
{
	return register_module_notifier(&notifier);
}

void hodo_probes_exit(void)
{
	unregister_module_notifier(&notifier);
}
