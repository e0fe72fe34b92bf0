/* SPDX-License-Identifier: MIT */
/*
 * events.c - events in unprepared code: each has a state, like a site's, in the plan's data pages, and its
 * windows are on during a recording.
 */
#include "engine.h"
#include <user/event/event.h>
#include <user/objects/objects.h>
#include <user/user.h>

static struct hodo_state *state_of(const struct hodo_plan_event *e)
{
	return (struct hodo_state *)e->state;
}

void hodo_engine_events(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->events.n; i++) {
		const struct hodo_plan_event *e = &p->events[i];
		const struct hodo_desc *desc = (const struct hodo_desc *)(p->file + e->desc);
		struct hodo_event *event = hodo_registry_add(desc, e->bytes, "");

		if (e->semaphore)
			hodo_want_guard();
		state_of(e)->on = &hodo_zero_on;
		/* Texts and byte ranges point to copies in the slot's frame. */
		if (event)
			hodo_state_bind(state_of(e), event, desc);
	}
}

void hodo_engine_states(void)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];

		for (uint32_t k = 0; k < p->head->events.n && p->present; k++) {
			struct hodo_event *event = state_of(&p->events[k])->event;

			if (event)
				event->states++;
		}
	}
}

/* Their states no longer have an event, and nothing reaches them: all windows are gone. */
void hodo_engine_events_gone(const struct hodo_engine_plan *p, const struct hodo_plan *head)
{
	for (uint32_t i = 0; i < head->events.n; i++) {
		struct hodo_event *event = state_of(&p->events[i])->event;

		if (event && p->present)
			event->states--;
	}
}

/* Raised while the event is on. Its object is mapped: else its window is refused. */
static void count_semaphore(uint8_t window, const struct hodo_plan_event *e, bool on)
{
	struct hodo_plan_state *state = (struct hodo_plan_state *)e->state;

	if (!e->semaphore || state->counted == on || window & HODO_ENGINE_REFUSED)
		return;
	__atomic_fetch_add((uint16_t *)e->semaphore, on ? 1 : -1, __ATOMIC_RELAXED);
	state->counted = on;
}

static void set_state(const struct hodo_plan_event *e, bool on)
{
	struct hodo_state *state = state_of(e);

	if (!state->event)
		return;
	hodo_store_release(&state->on, on ? &hodo_on_words()[state->id] : &hodo_zero_on);
	hodo_registry_publish(state->event);
}

static void switch_event(struct hodo_engine_plan *p, const struct hodo_plan_event *e, bool on)
{
	if (!state_of(e)->event)
		return;
	if (on)
		count_semaphore(p->state[e->window], e, true);
	hodo_engine_want(p->windows[e->window].addr, HODO_ENGINE_WANTED_EVENT, on);
}

/*
 * Of a plan that is not present. During the recording, threads in its slots still record: another plan may
 * have the same events, and a thread may wait there for room. Its semaphores are lowered after those of the
 * other plan are raised.
 */
static void end_events(struct hodo_engine_plan *p, bool recording)
{
	for (uint32_t k = 0; k < p->head->events.n; k++) {
		if (!recording)
			set_state(&p->events[k], false);
		count_semaphore(p->state[p->events[k].window], &p->events[k], false);
	}
}

/* Unwanted ones first: another plan may have the same windows. */
void hodo_engine_recording(void)
{
	bool wanted = hodo_recording.on && hodo_recording.config.flags & HODO_CONFIG_PLANS;
	uint32_t events = 0;

	for (uint32_t i = 0; i < 2 * hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i % hodo_engine_nplans];
		bool on = wanted && p->present;

		for (uint32_t k = 0; k < p->head->events.n && on == (i >= hodo_engine_nplans); k++) {
			if (on)
				set_state(&p->events[k], true);
			switch_event(p, &p->events[k], on);
		}
		if (on == (i >= hodo_engine_nplans))
			hodo_engine_replace(p, on);
		events += p->head->events.n + p->head->replacements.n;
	}
	if (events)
		hodo_engine_apply();
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		if (!wanted || !hodo_engine_plans[i].present)
			end_events(&hodo_engine_plans[i], wanted);
	}
}
