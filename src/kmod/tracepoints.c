/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tracepoints.c - binds the generated events to the kernel's tracepoints, by name, and registers their probes.
 *
 * vmlinux's tracepoints are there for good. A module's come and go with it: its event is absent meanwhile. The kernel's
 * notifier reports them: while it does, it holds the lock that keeps other modules' tracepoints from coming and
 * going; hodo_lock is taken inside that one, and never the other way round.
 *
 * The event's header is the kernel's. A module that was not built with the kernel may have a tracepoint of the same
 * name and other arguments, so those are ignored, except for events of a header of one's own, which only they have.
 */
#include "tracepoints.h"
#include "state.h"
#include "kmod.h"

#include "emit.h"

#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/utsname.h>

static struct hodo_tracepoint *tracepoint_of(struct hodo_event *event)
{
	return container_of(event, struct hodo_tracepoint, event);
}

static int tracepoint_set(struct hodo_event *event, bool on)
{
	struct hodo_tracepoint *t = tracepoint_of(event);
	int err;

	if (on == t->registered)
		return 0;
	if (!t->tp)
		return -ENOENT;
	err = on ? tracepoint_probe_register(t->tp, t->probe, event)
		 : tracepoint_probe_unregister(t->tp, t->probe, event);
	if (!err)
		t->registered = on;
	return err;
}

static const struct hodo_source tracepoint_source = { .name = "tracepoint", .set = tracepoint_set };

static int compare_name(const void *name, const void *element)
{
	const struct hodo_event *const *event = element;

	return strcmp(name, (*event)->name);
}

static struct hodo_tracepoint *find(const struct hodo_tracepoint_set *set, const char *name)
{
	struct hodo_event *const *event = bsearch(name, set->events, set->n, sizeof(*event), compare_name);

	return event ? tracepoint_of(*event) : NULL;
}

/* object: lives as long as the tracepoint. */
static bool bind(const struct hodo_tracepoint_set *set, struct tracepoint *tp, const char *object)
{
	struct hodo_tracepoint *t = find(set, tp->name);

	if (!t || t->tp)
		return false;
	t->tp = tp;
	t->event.object = object;
	t->event.absent = false;
	if (t->event.id)
		hodo_event_came(&t->event);
	return true;
}

/* Whether writers are inside, perhaps: unbind() is for when they are not. */
static bool switch_off(const struct hodo_tracepoint_set *set, struct tracepoint *tp)
{
	struct hodo_tracepoint *t = find(set, tp->name);

	if (!t || t->tp != tp)
		return false;
	t->event.absent = true;
	return hodo_event_goes(&t->event);
}

static void unbind(const struct hodo_tracepoint_set *set, struct tracepoint *tp)
{
	struct hodo_tracepoint *t = find(set, tp->name);

	if (!t || t->tp != tp)
		return;
	hodo_rules_free(&t->event);
	t->event.object = "";
	t->tp = NULL;
}

/* ---------------------------------------------------------------- vmlinux */

struct bound {
	const struct hodo_tracepoint_set *set;
	unsigned int all, bound;
};

static void bind_kernel(struct tracepoint *tp, void *arg)
{
	struct bound *b = arg;

	b->all++;
	b->bound += bind(b->set, tp, "vmlinux");
}

/* ---------------------------------------------------------------- modules */

static int module_changed(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct hodo_tracepoint_set *set = container_of(nb, struct hodo_tracepoint_set, modules);
	const struct tp_module *tm = data;
	struct module *mod = tm->mod;
	bool inside = false;

	if (!set->own_header && (mod->taints & (1UL << TAINT_OOT_MODULE)))
		return NOTIFY_DONE;
	mutex_lock(&hodo_lock);
	for (unsigned int i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (action == MODULE_STATE_COMING)
			bind(set, tp, mod->name);
		else if (action == MODULE_STATE_GOING)
			inside |= switch_off(set, tp);
	}
	if (inside)
		hodo_quiesce(); /* once for all: it takes long, and who records waits for hodo_lock meanwhile */
	for (unsigned int i = 0; i < mod->num_tracepoints && action == MODULE_STATE_GOING; i++)
		unbind(set, tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]));
	mutex_unlock(&hodo_lock);
	return NOTIFY_OK;
}

/* -------------------------------------------------------------------- sets */

static unsigned int count_present(const struct hodo_tracepoint_set *set)
{
	unsigned int present = 0;

	for (size_t i = 0; i < set->n; i++)
		present += !set->events[i]->absent;
	return present;
}

/* What a tracepoint calls its probes with is in no checksum by which a kernel would refuse another one's module. */
static bool is_for_this_kernel(const struct hodo_tracepoint_set *set)
{
	if (strcmp(set->release, init_utsname()->release) == 0)
		return true;
	pr_err("built for kernel %s, and this is %s: rebuild it\n", set->release, init_utsname()->release);
	return false;
}

int hodo_tracepoint_set_add(struct hodo_tracepoint_set *set)
{
	struct bound b = { set };
	unsigned int present;
	int err;

	if (!is_for_this_kernel(set))
		return -ENOEXEC;
	mutex_lock(&hodo_lock);
	for (size_t i = 0; i < set->n; i++) {
		struct hodo_tracepoint *t = tracepoint_of(set->events[i]);

		t->event.source = &tracepoint_source;
		t->describe(&t->event);
	}
	if (!set->own_header)
		for_each_kernel_tracepoint(bind_kernel, &b);
	hodo_events_add(set->events, set->n);
	mutex_unlock(&hodo_lock);

	/* Tells of the modules that are there, too. */
	set->modules.notifier_call = module_changed;
	err = register_tracepoint_module_notifier(&set->modules);
	if (err) {
		mutex_lock(&hodo_lock);
		hodo_events_remove(set->events, set->n);
		mutex_unlock(&hodo_lock);
		return err;
	}
	mutex_lock(&hodo_lock);
	present = count_present(set);
	mutex_unlock(&hodo_lock);
	pr_info("%zu events of tracepoints: %u of the kernel's %u, %u of modules, %zu of modules that are not there\n",
		set->n, b.bound, b.all, present - b.bound, set->n - present);
	return 0;
}
EXPORT_SYMBOL_GPL(hodo_tracepoint_set_add);

void hodo_tracepoint_set_remove(struct hodo_tracepoint_set *set)
{
	/* Unregistering reports all modules as going. */
	unregister_tracepoint_module_notifier(&set->modules);
	mutex_lock(&hodo_lock);
	hodo_events_remove(set->events, set->n);
	mutex_unlock(&hodo_lock);
}
EXPORT_SYMBOL_GPL(hodo_tracepoint_set_remove);

/* What probes in modules of their own call. */
EXPORT_PER_CPU_SYMBOL_GPL(hodo_writers);
EXPORT_SYMBOL_GPL(hodo_emit_room);
EXPORT_SYMBOL_GPL(hodo_emit_anchor);
EXPORT_SYMBOL_GPL(hodo_emit_nested);
EXPORT_SYMBOL_GPL(hodo_rules_commit);
EXPORT_SYMBOL_GPL(hodo_clock_monotonic);
#ifdef CONFIG_X86_64
/* Of saved.S; what they take and return is known to emit.h alone. */
void hodo_emit_room_saved(void);
void hodo_emit_anchor_saved(void);
void hodo_emit_nested_saved(void);
void hodo_rules_commit_saved(void);
EXPORT_SYMBOL_GPL(hodo_emit_room_saved);
EXPORT_SYMBOL_GPL(hodo_emit_anchor_saved);
EXPORT_SYMBOL_GPL(hodo_emit_nested_saved);
EXPORT_SYMBOL_GPL(hodo_rules_commit_saved);
#endif

/* ----------------------------------------------------------------- vstring */

#define VSTRING_MAX 512 /* bytes with the NUL: what the kernel's own trace takes */

size_t hodo_vstring_size(const char *format, va_list *args)
{
	va_list copy;
	int len;

	va_copy(copy, *args);
	len = vsnprintf(NULL, 0, format, copy);
	va_end(copy);
	return clamp(len, 0, VSTRING_MAX - 1) + 1;
}
EXPORT_SYMBOL_GPL(hodo_vstring_size);

void hodo_vstring_copy(char *to, size_t size, const char *format, va_list *args)
{
	va_list copy;
	int len;

	va_copy(copy, *args);
	len = vsnprintf(to, size, format, copy);
	va_end(copy);
	/* It may have become shorter. */
	if (len >= 0 && len < size)
		memset(to + len, 0, size - len);
}
EXPORT_SYMBOL_GPL(hodo_vstring_copy);

int hodo_tracepoints_init(void)
{
	return hodo_tracepoint_set_add(&hodo_tracepoint_table);
}

void hodo_tracepoints_exit(void)
{
	hodo_tracepoint_set_remove(&hodo_tracepoint_table);
}
