/* SPDX-License-Identifier: MIT */
/*
 * tracer.c - <hodo/tracer.h>: the list of tracers, which determines which slots are calls, and where they
 * lead.
 *
 * The list is replaced as a whole under the control lock; the old one is kept until a grace period has passed
 * (grace.c).
 */
#include <func/dispatch.h>
#include <func/func.h>
#include <func/slots/slots.h>
#include "tracers.h"
#include <user/process/process.h>
#include <errno.h>
#include <user/libc/sys.h>
#include <func/grace.h>
#include <func/hooks.h>

static const struct hodo_builtin_ops *const ops[] = {
	&hodo_builtin_record, &hodo_builtin_graph, &hodo_builtin_profile, &hodo_builtin_stack,
	&hodo_builtin_latency, &hodo_builtin_loop, &hodo_builtin_thread,
};
static uint32_t active; /* of them, 1 << enum hodo_builtin */
static uint32_t list_epoch;

/* ------------------------------------------------------------------- the lookup */

static void publish_lookup(void)
{
	static uint32_t epoch;
	struct hodo_func_lookup *fresh, *old = (struct hodo_func_lookup *)hodo_func_lookup;
	size_t bytes = sizeof(*fresh) + hodo_func_nobjects * sizeof(fresh->object[0]);

	fresh = hodo_map(bytes); /* NULL: tracers of some functions see all patched ones */
	for (uint32_t i = 0; fresh && i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		if (!o->in_use || !o->nfunctions)
			continue;
		fresh->object[fresh->n].text = o->text;
		fresh->object[fresh->n].end = o->text_end;
		fresh->object[fresh->n].functions = o->functions;
		fresh->object[fresh->n++].nfunctions = o->nfunctions;
	}
	if (fresh) {
		fresh->bytes = bytes;
		fresh->epoch = ++epoch;
	}
	hodo_store_release(&hodo_func_lookup, fresh);
	if (old)
		hodo_grace_retire(old, old->bytes);
}

/* --------------------------------------------------------------- hooks, slots */

static bool record_alone(const struct hodo_tracer_list *list)
{
	return list->n == 1 && list->entry[0].ops == &hodo_builtin_record && !hodo_func_config.depth_max &&
	       !(hodo_func_config.flags & HODO_FUNCTIONS_RETURNS) &&
	       !(hodo_func_unfiltered && list->entry[0].set != 1);
}

/* For hooks that several objects share. */
static bool all_short(void)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		if (o->in_use && o->nfunctions && !o->is_short)
			return false;
	}
	return true;
}

static void set_hooks(const struct hodo_tracer_list *list)
{
	enum hodo_hooks others = !list ? HODO_HOOKS_NONE : record_alone(list) ? HODO_HOOKS_RECORD : HODO_HOOKS_DISPATCH;
	enum hodo_hooks shorts = others == HODO_HOOKS_RECORD ? HODO_HOOKS_SHORT : others;

	for (int i = 0; i < HODO_HOOKS; i++)
		hodo_store_release(&hodo_func_hooks[i], (void *)hodo_x86_hooks[all_short() ? shorts : others][i]);
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];
		void *const *hooks = hodo_x86_hooks[o->is_short ? shorts : others];

		if (!o->in_use || !o->entry_hook)
			continue;
		hodo_store_release(o->entry_hook, hooks[HODO_HOOK_ENTRY]);
		hodo_store_release(o->exit_hook, hooks[HODO_HOOK_EXIT]);
	}
}

static uint64_t sets_wanted(const struct hodo_tracer_list *list)
{
	uint64_t sets = 0;

	for (uint32_t i = 0; list && i < list->n; i++)
		sets |= list->entry[i].set;
	return sets;
}

/* Objects came or went: hooks first, since the slots of new ones may become calls at once. */
void hodo_tracers_objects_changed(void)
{
	publish_lookup();
	set_hooks(hodo_tracers);
	hodo_slots_patch(sets_wanted(hodo_tracers));
	hodo_exits_warn();
	hodo_grace_give_back();
}

/* --------------------------------------------------------------------- the list */

/* Copies the entries that stay, with room for others before and after them. n excludes those after. */
static struct hodo_tracer_list *list_make(uint32_t before, uint32_t behind, bool builtins,
					  const struct hodo_tracer *without)
{
	const struct hodo_tracer_list *old = hodo_tracers;
	size_t bytes = sizeof(*old) + (before + (old ? old->n : 0) + behind) * sizeof(old->entry[0]);
	struct hodo_tracer_list *list = hodo_map(bytes);

	if (!list)
		return 0;
	list->bytes = bytes;
	list->n = before;
	for (uint32_t i = 0; old && i < old->n; i++) {
		if (old->entry[i].ops ? builtins : old->entry[i].tracer != without)
			list->entry[list->n++] = old->entry[i];
	}
	return list;
}

/*
 * Puts list into use. Slots become calls after the tracers are there, and no-ops before they go. 0, or
 * negative errno: the old list stays.
 */
static int use(struct hodo_tracer_list *list)
{
	struct hodo_tracer_list *old = (struct hodo_tracer_list *)hodo_tracers;
	int error;

	if (!list->n) {
		hodo_sys2(SYS_munmap, list, list->bytes);
		list = 0;
		if (!old)
			return 0;
	}
	if (list) {
		list->epoch = ++list_epoch;
		list->all = true;
		for (uint32_t i = 0; i < list->n; i++) {
			list->users = list->users || !list->entry[i].ops;
			/* A set of some functions does not qualify even if it is the only one: slots follow
			 * the list with a delay. */
			list->all = list->all && list->entry[i].set == 1;
			if (!list->entry[i].epoch)
				list->entry[i].epoch = list->epoch;
		}
	}
	hodo_store_release(&hodo_tracers, list);
	if (list)
		set_hooks(list);
	error = hodo_slots_patch(sets_wanted(list));
	if (!list)
		set_hooks(list);
	if (error && sets_wanted(list) & ~sets_wanted(old)) {
		hodo_store_release(&hodo_tracers, old);
		set_hooks(old);
		hodo_slots_patch(sets_wanted(old));
		if (list)
			hodo_grace_retire(list, list->bytes);
		return error;
	}
	if (old)
		hodo_grace_retire(old, old->bytes);
	return 0;
}

/* Replaces the built-in tracers by those of mask, with the set of functions; they come before all others. */
int hodo_tracers_set_builtins(uint32_t mask, int set)
{
	static int selected = -1;
	struct hodo_tracer_list *list;
	uint32_t n = 0, count = 0; /* which is no __builtin_popcount(), as that may call libgcc (user/ring/clock.c) */

	for (unsigned b = 0; b < sizeof(ops) / sizeof(ops[0]); b++) {
		if ((active & ~mask) >> b & 1 && ops[b]->stop)
			ops[b]->stop();
	}
	active = mask;
	if (mask) {
		hodo_func_want();
		/* In a fork child the set is unchanged, and the loader's lock may be held by a thread that is
		 * not there. */
		if (set != selected)
			hodo_slots_select();
	}
	selected = mask ? set : -1;
	for (unsigned b = 0; b < sizeof(ops) / sizeof(ops[0]); b++) {
		if (mask >> b & 1 && ops[b]->start && ops[b]->start(&hodo_func_config) != 0)
			mask &= ~(1u << b);
		count += mask >> b & 1;
	}
	list = list_make(count, 0, false, 0);
	if (!list)
		return -ENOMEM;
	for (unsigned b = 0; b < sizeof(ops) / sizeof(ops[0]); b++) {
		if (mask >> b & 1)
			list->entry[n++] = (struct hodo_tracer_entry){ .ops = ops[b], .set = 1ull << set };
	}
	return use(list);
}

/* ------------------------------------------------------------------- public API */

static int find(const struct hodo_tracer *tracer)
{
	for (uint32_t i = 0; hodo_tracers && i < hodo_tracers->n; i++) {
		if (hodo_tracers->entry[i].tracer == tracer)
			return (int)i;
	}
	return -1;
}

static int add(struct hodo_tracer *tracer)
{
	struct hodo_tracer_list *list;
	int set, error;

	if (find(tracer) >= 0)
		return -EEXIST;
	hodo_func_want();
	set = hodo_select_get(tracer->functions);
	if (set < 0)
		return set;
	list = list_make(0, 1, true, 0);
	if (!list) {
		hodo_select_put(set);
		return -ENOMEM;
	}
	hodo_slots_select();
	list->entry[list->n++] = (struct hodo_tracer_entry){ .tracer = tracer, .set = 1ull << set };
	error = use(list);
	if (error)
		hodo_select_put(set);
	return error;
}

static int drop(struct hodo_tracer *tracer)
{
	struct hodo_tracer_list *list;
	int at = find(tracer);
	uint64_t set;

	if (at < 0)
		return -ENOENT;
	set = hodo_tracers->entry[at].set;
	list = list_make(0, 0, true, tracer);
	if (!list)
		return -ENOMEM;
	use(list);
	hodo_select_put(__builtin_ctzll(set));
	return 0;
}

int hodo_tracers_register(struct hodo_tracer *tracer)
{
	uint64_t mask;
	int error;

	if (!tracer || tracer->size != sizeof(*tracer) || (!tracer->enter && !tracer->exit))
		return -EINVAL;
	if (hodo_dispatch_in_tracer())
		return -EDEADLK;
	mask = hodo_control_lock();
	error = add(tracer);
	hodo_control_unlock(mask);
	hodo_grace_settle();
	return error;
}

int hodo_tracers_unregister(struct hodo_tracer *tracer)
{
	uint64_t mask;
	int error;

	if (!tracer)
		return -ENOENT;
	if (hodo_dispatch_in_tracer())
		return -EDEADLK;
	mask = hodo_control_lock();
	error = drop(tracer);
	hodo_control_unlock(mask);
	if (error == 0)
		hodo_grace_settle();
	return error;
}
