/* SPDX-License-Identifier: MIT */
/*
 * events.c - libhodo's own events (func:*), and applying a recording's configuration.
 */
#include <func/slots/slots.h>
#include <func/tracers/tracers.h>
#include "func.h"
#include <user/event/event.h>
#include <user/ring/rings.h>
#include <user/user.h>

/* ---------------------------------------------------------------- descriptors */

#define TEXTS 86
struct description {
	struct hodo_desc desc;
	uint8_t types[10];
	char texts[TEXTS];
};
/* texts: provider, name, arguments, format, file, function. */
#define EVENT(name, args, n, ...) \
	{ { sizeof(struct hodo_desc), HODO_ABI_VERSION, HODO_KIND_FUNCTION, n, 0, 0, \
	    offsetof(struct description, texts), 0, sizeof(struct description) }, \
	  { __VA_ARGS__ }, "func\0" name "\0" args "\0\0\0" }
#define PTR HODO_TYPE_PTR
#define U32 HODO_TYPE_U32
#define U64 HODO_TYPE_U64
#define STR HODO_TYPE_STR

static const struct description descriptions[HODO_FUNC_EVENTS] = {
	[HODO_FUNC_ENTRY] = EVENT("entry", "addr, frame", 2, PTR, U32),
	[HODO_FUNC_EXIT] = EVENT("exit", "addr, frame", 2, PTR, U32),
	[HODO_FUNC_ENTRY_SP] = EVENT("entry_sp", "addr, sp", 2, PTR, U32),
	[HODO_FUNC_EXIT_SP] = EVENT("exit_sp", "addr, sp", 2, PTR, U32),
	[HODO_FUNC_REACHED] = EVENT("reached", "addr, frame", 2, PTR, U32),
	[HODO_FUNC_CALL] = EVENT("call", "addr, frame, depth, ticks, left", 5, PTR, U32, U32, U64, HODO_TYPE_BOOL),
	[HODO_FUNC_CALLEE] = EVENT("callee", "addr, frame, calls, ticks, max", 5, PTR, U32, U64, U64, U64),
	[HODO_FUNC_STACK] = EVENT("stack", "bytes, depth, chain", 3, U64, U32, PTR | HODO_TYPE_ARRAY),
	[HODO_FUNC_HELD] = EVENT("held", "addr, loop, ticks", 3, PTR, PTR, U64),
	[HODO_FUNC_WRONG_THREAD] = EVENT("wrong_thread", "addr, wanted, role, chain", 4, PTR, STR, STR,
					 PTR | HODO_TYPE_ARRAY),
	[HODO_FUNC_PROFILE] = EVENT("profile", "addr, tid, calls, total, self, min, max, buckets, sum, no_exit", 10,
				    PTR, U32, U64, U64, U64, U64, U64, U32 | HODO_TYPE_ARRAY, U64, U64),
	[HODO_FUNC_OPEN] = EVENT("open", "addr, frame, depth, ticks", 4, PTR, U32, U32, U64),
	[HODO_FUNC_LANDED] = EVENT("landed", "addr, frame", 2, PTR, U32),
	[HODO_FUNC_SWITCHED] = EVENT("switched", "addr, frame", 2, PTR, U32),
};

/* Registers the events once, and binds their states to the present recording's on words. */
static void bind_events(bool on)
{
	for (unsigned i = 0; i < HODO_FUNC_EVENTS; i++) {
		struct hodo_state *state = &hodo_func_states[i];
		struct hodo_event *event = state->event;

		if (!event)
			event = hodo_registry_add(&descriptions[i].desc, sizeof(descriptions[i]), "");
		if (!event) {
			state->on = &hodo_zero_on;
			continue;
		}
		event->matched = on;
		event->states = 1;
		state->event = event;
		state->id = event->id;
		hodo_store_release(&state->on, on ? &hodo_on_words()[event->id] : &hodo_zero_on);
		hodo_registry_publish(event);
	}
}

/* ------------------------------------------------------------------- recording */

/* A recording has begun in this process, or a fork child has none. */
void hodo_events_recording(void)
{
	static int set = -1;
	bool wanted = hodo_recording.on && hodo_recording.config.functions_len;
	int fresh = -1;

	if (wanted) {
		__builtin_memcpy(&hodo_func_config, hodo_func_config_texts() - sizeof(hodo_func_config),
				 sizeof(hodo_func_config));
		fresh = hodo_select_recorded(hodo_func_config_texts(), hodo_func_config.patterns,
					     hodo_func_config.patterns_len);
		wanted = fresh >= 0;
	}
	if (!wanted)
		hodo_func_config.size = 0;
	hodo_ticks_per_s = wanted ? hodo_func_config.ticks_per_s : 0;
	if (wanted || hodo_func_states[0].event)
		bind_events(wanted);
	hodo_open_start(wanted);
	if (hodo_tracers_set_builtins(wanted ? hodo_func_config.tracers : 0, wanted ? fresh : 0) != 0 && wanted) {
		const char *text = "its functions are not traced: its code may not be changed here, see hodo doctor";

		hodo_catalog_warning(&text, 1);
		hodo_store(&hodo_shm()->functions_on, 0);
	}
	if (set >= 0)
		hodo_select_put(set);
	set = wanted ? fresh : -1;
	hodo_exits_warn();
}
