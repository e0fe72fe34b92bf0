/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sites.c - events of instrumented modules: found when a module or hodo.ko is loaded; gone when either is
 * unloaded.
 *
 * The kernel notifies us of modules with tracepoints, among which are the states of <hodo/trace_kernel.h>,
 * which also has the table of who may run beside whom. It does so once the module's static keys can be
 * switched but before its init function runs, so that no events of that are missed; for all modules already
 * loaded, when the notifier is registered; and for a module that goes, after its exit function. It does not
 * for modules with another license, or loaded by force: they run untraced.
 *
 * Several places, in several modules, may be one event: same name, kind, fields and format. A differing one
 * is refused, and tried again when a module has gone.
 *
 * Locks: the kernel's list of modules with tracepoints, then hodo_lock, then those of static keys and text.
 */
#include "sites.h"
#include "descriptor.h"
#include <kmod/emit.h>
#include <kmod/kmod.h>

#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

LIST_HEAD(hodo_site_events);

/* A module that has states. */
struct site_module {
	struct list_head list;
	struct module *mod;
	struct list_head labels; /* struct site_labels */
	bool refused;            /* an event of it */
};
static LIST_HEAD(modules);

struct site_labels {
	struct list_head list;
	const struct hodo_desc *desc;
	struct hodo_kernel_labels labels;
	const char *names[HODO_FIELDS_MAX];
	char text[];
};

/* ------------------------------------------------------------------ events */

/*
 * By whole words: there is memory past the end to read and write, see <hodo/trace_kernel.h> and
 * hodo_ring_need().
 */
static __always_inline void copy_words(uint8_t *to, const uint8_t *from, size_t len)
{
	for (size_t i = 0; i < len; i += 8)
		put_unaligned(get_unaligned((const uint64_t *)(from + i)), (uint64_t *)(to + i));
}

static notrace void emit_fixed(struct hodo_kernel_state *state, const void *data, size_t len)
{
	struct hodo_event *event = READ_ONCE(state->event);
	HODO_EMIT(e);
	void *payload;

	if (!event) /* on only for its probes, or already switched off */
		return;
	payload = hodo_emit_begin(&e, event, len);
	if (!payload)
		return;
	copy_words(payload, data, len);
	hodo_emit_end(&e, event);
}

static notrace void emit_pieces(struct hodo_kernel_state *state, const struct hodo_piece *pieces, size_t count,
				size_t total)
{
	struct hodo_event *event = READ_ONCE(state->event);
	HODO_EMIT(e);
	uint8_t *payload;

	if (!event)
		return;
	/* One too long for any packet is refused, and counted, there. */
	payload = hodo_emit_begin(&e, event, min_t(size_t, total, HODO_PACKET_MAX));
	if (!payload)
		return;
	for (size_t i = 0; i < count; i++) {
		memcpy(payload, pieces[i].data, pieces[i].len);
		payload += pieces[i].len;
	}
	hodo_emit_end(&e, event);
}

static const struct hodo_kernel_ops ops = {
	.size = sizeof(ops),
	.version = HODO_ABI_VERSION,
	.owner = THIS_MODULE,
	.emit_fixed = emit_fixed,
	.emit_pieces = emit_pieces,
	.probe_enter = hodo_probe_enter,
	.probe_leave = hodo_probe_leave,
	.probe_register = hodo_probe_register,
	.probe_unregister = hodo_probe_unregister,
};

/* Stores the state's event before the key lets anybody read it. */
static void update_state(struct hodo_kernel_state *state, struct hodo_event *event, const struct hodo_probes *probes)
{
	struct static_key *key = (struct static_key *)&state->tracepoint.key;

	/* Release: the event's id and rules, and the list's contents, were stored before. */
	smp_store_release(&state->event, event);
	smp_store_release(&state->probes, probes);
	if (event || probes)
		static_key_enable(key);
	else
		static_key_disable(key);
}

void hodo_site_event_update(struct hodo_site_event *event)
{
	for (struct hodo_kernel_state *s = event->states; s; s = s->next)
		update_state(s, event->on ? &event->event : NULL, event->probes);
}

static int set(struct hodo_event *event, bool on)
{
	struct hodo_site_event *e = container_of(event, struct hodo_site_event, event);

	e->on = on;
	hodo_site_event_update(e);
	return 0;
}

static const struct hodo_source source = { "module", set };

/* ------------------------------------------------------------- come and go */

/* A module that has the event now: not always the one with the first descriptor. */
static const char *module_of(const struct hodo_event *event)
{
	const struct hodo_site_event *e = container_of(event, struct hodo_site_event, event);
	struct site_module *m;

	list_for_each_entry(m, &modules, list)
		if (within_module((unsigned long)e->states, m->mod))
			return m->mod->name;
	return e->object;
}

/* Whether the state may be a place of other, which has its name. reported: do not report again. */
static bool agree(const struct hodo_site_event *fresh, const struct hodo_event *other, bool reported)
{
	const struct hodo_event *e = &fresh->event;
	char what[160];

	if (other->source == &source && !hodo_descriptor_difference(e, other, what, sizeof(what)))
		return true;
	if (reported)
		return false;
	if (other->source != &source)
		pr_warn("module %s: event %s:%s at %s:%u has the name of one of the kernel's own (%s): "
			"it is not recorded; give it another name\n",
			fresh->object, e->provider, e->name, e->file, e->line, other->source->name);
	else
		pr_warn("module %s: event %s:%s at %s:%u differs from that of %s at %s:%u (%s): "
			"it is not recorded; give it another name\n",
			fresh->object, e->provider, e->name, e->file, e->line, module_of(other), other->file,
			other->line, what);
	return false;
}

static void join(struct hodo_kernel_state *state, struct hodo_site_event *event)
{
	state->next = event->states;
	state->known = event;
	event->states = state;
}

static void leave(struct hodo_kernel_state *state)
{
	struct hodo_site_event *event = state->known;
	struct hodo_kernel_state **p;

	if (!event)
		return;
	for (p = &event->states; *p != state; p = &(*p)->next)
		;
	*p = state->next;
	state->next = NULL;
	state->known = NULL;
}

/* Makes the state a place of the event that it describes. False: refused, or not possible. */
static bool attach(struct hodo_kernel_state *state, const char *const texts[TEXTS], struct module *mod, bool reported)
{
	struct hodo_site_event *fresh = hodo_descriptor_event(state->desc, texts, mod);
	struct hodo_event *other;
	int err;

	if (!fresh) {
		if (!reported)
			pr_warn("module %s: event %s:%s: no memory: it is not recorded\n", mod->name,
				texts[TEXT_PROVIDER], texts[TEXT_NAME]);
		return false;
	}
	fresh->event.source = &source;
	other = hodo_event_find(fresh->event.provider, fresh->event.name);
	if (other) {
		bool same = agree(fresh, other, reported);

		kfree(fresh);
		if (!same)
			return false;
		fresh = container_of(other, struct hodo_site_event, event);
		join(state, fresh);
		update_state(state, fresh->on ? &fresh->event : NULL, fresh->probes);
		return true;
	}
	join(state, fresh); /* a running recording switches it on at once */
	list_add_tail(&fresh->list, &hodo_site_events);
	err = hodo_event_add(&fresh->event);
	if (err) {
		if (!reported)
			pr_warn("module %s: event %s:%s is not recorded: error %d\n", mod->name, fresh->event.provider,
				fresh->event.name, -err);
		leave(state);
		list_del(&fresh->list);
		kfree(fresh);
	}
	return err == 0;
}

/* The labels of one statement, which an inlined function may have brought before. */
static void labels_add(struct site_module *m, const struct hodo_desc *desc, const char *const texts[TEXTS])
{
	size_t len = strlen(texts[TEXT_ARGS]) + 1;
	struct site_labels *l;
	char *at;

	list_for_each_entry(l, &m->labels, list)
		if (l->desc == desc)
			return;
	l = kzalloc(sizeof(*l) + len, GFP_KERNEL);
	if (!l)
		return; /* numbers are shown */
	l->desc = desc;
	at = memcpy(l->text, texts[TEXT_ARGS], len);
	l->labels = (struct hodo_kernel_labels){ .provider = texts[TEXT_PROVIDER], .field = texts[TEXT_NAME],
					  .n = desc->nlabels, .names = l->names,
					  .values = (const int64_t *)((const char *)desc + desc->labels) };
	for (unsigned int i = 0; i < desc->nlabels; i++) {
		char *part = strsep(&at, ",");

		l->names[i] = part ? strim(part) : "";
	}
	list_add_tail(&l->list, &m->labels);
	hodo_labels_add(&l->labels);
}

static struct hodo_kernel_state *state_at(struct module *mod, unsigned int i)
{
	struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

	if (strncmp(tp->name, HODO_KERNEL_NAME, sizeof(HODO_KERNEL_NAME) - 1) != 0)
		return NULL;
	return container_of(tp, struct hodo_kernel_state, tracepoint);
}

static void state_add(struct site_module *m, struct hodo_kernel_state *state, bool reported)
{
	const char *texts[TEXTS];

	if (state->known)
		return; /* an inlined function's state is listed once for each copy */
	if (state->size != sizeof(*state) || !hodo_descriptor_valid(state->desc, texts)) {
		if (!reported)
			pr_warn("module %s: %s is not as <hodo/trace.h> makes it: rebuild the module\n",
				m->mod->name,
				state->tracepoint.name);
		return;
	}
	if (state->desc->kind == HODO_KIND_LABELS) {
		labels_add(m, state->desc, texts);
		return;
	}
	smp_store_release(&state->ops, &ops);
	if (!attach(state, texts, m->mod, reported))
		m->refused = true;
}

static void module_coming(struct module *mod)
{
	struct site_module *m = NULL;

	for (unsigned int i = 0; i < mod->num_tracepoints; i++) {
		struct hodo_kernel_state *state = state_at(mod, i);

		if (!state)
			continue;
		if (!m) {
			m = kzalloc(sizeof(*m), GFP_KERNEL);
			if (!m) {
				pr_warn("module %s: no memory: it is not traced\n", mod->name);
				return;
			}
			m->mod = mod;
			INIT_LIST_HEAD(&m->labels);
			list_add_tail(&m->list, &modules);
		}
		/* A second copy of a refused one is not reported again. */
		state_add(m, state, state->ops != NULL);
	}
}

/* Tries states again that were refused because of an event that is gone. */
static void try_again(void)
{
	struct site_module *m;

	list_for_each_entry(m, &modules, list) {
		if (!m->refused)
			continue;
		m->refused = false;
		for (unsigned int i = 0; i < m->mod->num_tracepoints; i++) {
			struct hodo_kernel_state *state = state_at(m->mod, i);

			if (state && state->ops)
				state_add(m, state, true);
		}
	}
}

/* Removes events that have lost their last place. Waits once for all. */
static void sweep(void)
{
	struct hodo_site_event *e, *next;
	bool inside = false;

	list_for_each_entry(e, &hodo_site_events, list)
		if (!e->states)
			inside |= hodo_event_goes(&e->event);
	if (inside)
		hodo_quiesce();
	list_for_each_entry_safe(e, next, &hodo_site_events, list) {
		if (e->states)
			continue;
		hodo_event_remove(&e->event);
		hodo_probes_drop(e);
		list_del(&e->list);
		kfree(e);
	}
}

static void module_going(struct site_module *m)
{
	struct site_labels *l, *next;

	for (unsigned int i = 0; i < m->mod->num_tracepoints; i++) {
		struct hodo_kernel_state *state = state_at(m->mod, i);

		if (!state || !state->ops)
			continue;
		leave(state);
		update_state(state, NULL, NULL);
		WRITE_ONCE(state->ops, NULL);
	}
	list_del(&m->list);
	list_for_each_entry_safe(l, next, &m->labels, list) {
		hodo_labels_remove(&l->labels);
		kfree(l);
	}
	kfree(m);
	sweep();
	try_again();
}

static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = ((struct tp_module *)data)->mod;
	struct site_module *m, *next;

	mutex_lock(&hodo_lock);
	if (action == MODULE_STATE_COMING)
		module_coming(mod);
	if (action == MODULE_STATE_GOING) {
		list_for_each_entry_safe(m, next, &modules, list) {
			if (m->mod == mod) {
				module_going(m);
				break;
			}
		}
	}
	mutex_unlock(&hodo_lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = notify };

int hodo_sites_init(void)
{
	int err = hodo_probes_init();

	if (err)
		return err;
	err = register_tracepoint_module_notifier(&notifier);
	if (err)
		hodo_probes_exit();
	return err;
}

/* The notifier is called for each module as if the module went. */
void hodo_sites_exit(void)
{
	unregister_tracepoint_module_notifier(&notifier);
	/* Callers that loaded ops before they were cleared may still be in our code. */
	hodo_quiesce();
	hodo_probes_exit();
}
