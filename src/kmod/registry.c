/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * registry.c - all present events of the kernel: their ids, and their places in the running recording's
 * catalogue.
 *
 * An id belongs to its event as long as that is known, and further until the recording with it in the
 * catalogue ends: an event that returns meanwhile, with its module, gets its id back.
 */
#include "catalog.h"
#include "kmod.h"
#include "state.h"

#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/tracepoint.h>

LIST_HEAD(hodo_events);
const struct hodo_event_watch *hodo_event_watch;
static DEFINE_HASHTABLE(by_name, 11);
static DECLARE_BITMAP(ids, HODO_EVENTS_MAX); /* in use or reserved */
static bool some_retired; /* some of these are only in the recording's catalogue */
static LIST_HEAD(all_labels);

static uint32_t key_of(const char *provider, const char *name)
{
	return full_name_hash(NULL, provider, strlen(provider)) ^ full_name_hash(NULL, name, strlen(name));
}

struct hodo_event *hodo_event_find(const char *provider, const char *name)
{
	struct hodo_event *e;

	hash_for_each_possible(by_name, e, hash, key_of(provider, name)) {
		if (strcmp(e->name, name) == 0 && strcmp(e->provider, provider) == 0)
			return e;
	}
	return NULL;
}

void hodo_quiesce(void)
{
	unsigned long before = get_state_synchronize_rcu();

	/*
	 * Instrumented modules' sites run with preemption off. This waits for probes of tracepoints: up to
	 * Linux 6.18 it includes a grace period of RCU; later it does not, and the sites need their own.
	 */
	tracepoint_synchronize_unregister();
	cond_synchronize_rcu(before);
}

/* ------------------------------------------------------------- on and off */

/* Switches it on if the recording wants it, or triggers look at it. */
static int switch_on(struct hodo_event *event)
{
	int err;

	if (event->recorded || event->absent)
		return 0;
	err = hodo_rules_bind(event, hodo_recording_wants(event));
	if (err == HODO_RULES_NEVER)
		return 0;
	if (!err && !event->described) {
		/* Without room in the catalogue, it could not be read. */
		err = hodo_catalog_event(hodo_recording.memory, event);
		event->described = err == 0;
	}
	if (!err)
		err = event->source->set(event, true);
	if (err) {
		pr_warn("%s:%s cannot be recorded: error %d\n", event->provider, event->name, -err);
		hodo_rules_free(event);
		return err;
	}
	event->recorded = true;
	return 0;
}

/* Writers may still be inside. */
static void switch_off(struct hodo_event *event)
{
	if (event->recorded)
		event->source->set(event, false);
	event->recorded = false;
}

static bool recording_runs(void)
{
	return hodo_recording.by != HODO_RECORDED_NOT && !hodo_recording.stopped;
}

static void off_and_free(struct hodo_event *event)
{
	if (!event->recorded)
		return;
	switch_off(event);
	hodo_quiesce();
	hodo_rules_free(event);
}

void hodo_event_came(struct hodo_event *event)
{
	if (recording_runs())
		switch_on(event);
}

bool hodo_event_goes(struct hodo_event *event)
{
	bool recorded = event->recorded;

	switch_off(event);
	return recorded;
}

int hodo_event_enable(struct hodo_event *event, bool on)
{
	int err = 0;

	event->enabled = on;
	if (hodo_recording.by != HODO_RECORDED_BY_TREE || !recording_runs())
		return 0;
	if (!on)
		off_and_free(event);
	else if ((err = switch_on(event)))
		event->enabled = false;
	return err;
}

bool hodo_event_is_of(const struct hodo_event *event, const char *provider)
{
	return event->kind != HODO_KIND_FUNCTION && (!provider || strcmp(event->provider, provider) == 0);
}

int hodo_events_enable(const char *provider, bool on)
{
	bool runs = hodo_recording.by == HODO_RECORDED_BY_TREE && recording_runs();
	struct hodo_event *e;
	int err, first = 0;

	list_for_each_entry(e, &hodo_events, list) {
		if (!hodo_event_is_of(e, provider))
			continue;
		e->enabled = on;
		err = on && runs ? switch_on(e) : 0;
		if (err)
			e->enabled = false;
		if (!on && runs)
			switch_off(e);
		if (!first)
			first = err;
		cond_resched();
	}
	if (on || !runs)
		return first;
	hodo_quiesce();
	list_for_each_entry(e, &hodo_events, list)
		if (!e->recorded)
			hodo_rules_free(e);
	return 0;
}

int hodo_event_filter(struct hodo_event *event, char *text, uint8_t *code, uint32_t len)
{
	bool was = event->recorded && hodo_recording.by == HODO_RECORDED_BY_TREE;

	if (was)
		off_and_free(event);
	kfree(event->filter);
	kfree(event->filter_code);
	event->filter = text;
	event->filter_code = code;
	event->filter_len = len;
	return was ? switch_on(event) : 0;
}

/* ------------------------------------------------------------ come and go */

static int take_id(struct hodo_event *event)
{
	unsigned long id = 0;

	if (some_retired && hodo_recording.by != HODO_RECORDED_NOT)
		id = hodo_catalog_find(hodo_recording.memory, event);
	event->described = id != 0;
	if (!id)
		id = find_next_zero_bit(ids, HODO_EVENTS_MAX, 1);
	if (id >= HODO_EVENTS_MAX)
		return -ENOSPC;
	__set_bit(id, ids);
	event->id = id;
	event->head = hodo_event_word(id, 0);
	return 0;
}

static void give_id(struct hodo_event *event)
{
	if (event->described && hodo_recording.by != HODO_RECORDED_NOT)
		some_retired = true;
	else
		__clear_bit(event->id, ids);
	event->id = 0;
}

static bool name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= HODO_NAME_MAX && !strchr(name, '/');
}

/* In the order of ids, for `info`. Nearly always the last. */
static void add_in_order(struct hodo_event *event)
{
	struct hodo_event *e;

	list_for_each_entry_reverse(e, &hodo_events, list) {
		if (e->id < event->id)
			break;
	}
	list_add(&event->list, &e->list);
}

int hodo_event_add(struct hodo_event *event)
{
	int err;

	if (!name_is_valid(event->provider) || !name_is_valid(event->name) || event->nfields > HODO_FIELDS_MAX)
		return -EINVAL;
	if (hodo_event_find(event->provider, event->name))
		return -EEXIST;
	err = take_id(event);
	if (err)
		return err;
	event->rules = NULL;
	event->enabled = event->recorded = false;
	event->filter = NULL;
	event->filter_code = NULL;
	event->filter_len = 0;
	event->filter_refused = NULL;
	event->dir = NULL;
	add_in_order(event);
	hash_add(by_name, &event->hash, key_of(event->provider, event->name));
	if (hodo_event_watch)
		hodo_event_watch->added(event);
	hodo_event_came(event);
	return 0;
}

/* It is off, and nobody is inside. */
static void forget(struct hodo_event *event)
{
	if (hodo_event_watch)
		hodo_event_watch->removed(event);
	hodo_rules_free(event);
	hash_del(&event->hash);
	list_del(&event->list);
	give_id(event);
	kfree(event->filter);
	kfree(event->filter_code);
	event->filter = NULL;
	event->filter_code = NULL;
}

void hodo_event_remove(struct hodo_event *event)
{
	hodo_events_remove(&event, 1);
}

void hodo_events_add(struct hodo_event *const *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int err = hodo_event_add(events[i]);

		if (err)
			pr_warn("%s:%s is left out: %s\n", events[i]->provider, events[i]->name,
				err == -EEXIST ? "there is one of that name" : "error");
		cond_resched();
	}
}

void hodo_events_remove(struct hodo_event *const *events, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		any |= events[i]->recorded;
		switch_off(events[i]);
	}
	if (any)
		hodo_quiesce();
	for (size_t i = 0; i < n; i++)
		if (events[i]->id) /* it was added */
			forget(events[i]);
}

/* -------------------------------------------------------------- recordings */

void hodo_registry_begin(void)
{
	struct hodo_event *e;
	struct hodo_kernel_labels *l;

	bitmap_zero(ids, HODO_EVENTS_MAX);
	some_retired = false;
	list_for_each_entry(e, &hodo_events, list) {
		__set_bit(e->id, ids);
		e->described = false;
	}
	list_for_each_entry(l, &all_labels, list)
		hodo_catalog_labels(hodo_recording.memory, l);
}

void hodo_registry_on(void)
{
	struct hodo_event *e;

	list_for_each_entry(e, &hodo_events, list) {
		switch_on(e);
		cond_resched();
	}
}

void hodo_registry_off(void)
{
	struct hodo_event *e;

	list_for_each_entry(e, &hodo_events, list)
		switch_off(e);
	hodo_quiesce();
	list_for_each_entry(e, &hodo_events, list)
		hodo_rules_free(e);
}

void hodo_labels_add(struct hodo_kernel_labels *labels)
{
	list_add_tail(&labels->list, &all_labels);
	if (recording_runs())
		hodo_catalog_labels(hodo_recording.memory, labels);
}

void hodo_labels_remove(struct hodo_kernel_labels *labels)
{
	list_del(&labels->list);
}
