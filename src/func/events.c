/* SPDX-License-Identifier: MIT */
/*
 * events.c - libhodo's own events (func:*), the objects that the recorder is
 * told of, and what follows from a recording's configuration.
 */
#include <string.h>
#include <sys/mman.h>
#include "func.h"

struct hodo_state hodo_func_states[HODO_FUNC_EVENTS];

/* ---------------------------------------------------------------- descriptors */

#define TEXTS 64
struct description {
	struct hodo_desc desc;
	uint8_t types[8];
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
	[HODO_FUNC_PROFILE] = EVENT("profile", "addr, tid, calls, total, self, min, max, buckets", 8, PTR, U32, U64,
				    U64, U64, U64, U64, U32 | HODO_TYPE_ARRAY),
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

/* --------------------------------------------------------------------- objects */

static void find_build_id(const struct dl_phdr_info *info, struct hodo_record_object *record)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t p = info->dlpi_addr + ph->p_vaddr, end = p + ph->p_memsz;

		if (ph->p_type != PT_NOTE || hodo_objects_room(p, PF_R) < ph->p_memsz)
			continue;
		while (p < end && end - p >= 12) {
			const ElfW(Nhdr) *n = (const void *)p;
			uintptr_t desc = p + 12 + ((n->n_namesz + 3u) & ~3u);
			uintptr_t next = desc + ((n->n_descsz + 3u) & ~3u);

			if (next > end || next <= p)
				break;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && n->n_descsz <= 32 &&
			    __builtin_memcmp((const void *)(p + 12), "GNU", 4) == 0) {
				record->build_id_len = n->n_descsz;
				__builtin_memcpy(record->build_id, (const void *)desc, n->n_descsz);
				return;
			}
			p = next;
		}
	}
}

/* Tells the recorder of an object, once; before any of its functions can be recorded. Events' context has its
 * addresses, too. */
void hodo_events_object(struct hodo_func_object *o, const struct dl_phdr_info *info)
{
	struct hodo_record_object record = { .head = { 0, HODO_RECORD_OBJECT, 0 } };
	uintptr_t start = ~0ul, end = 0;

	if (o->told || !(hodo_func_wanted || hodo_context_addresses()))
		return;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + p->p_memsz > end ? at + p->p_memsz : end;
	}
	record.base = o->base;
	record.start = start;
	record.end = end;
	record.ticks = hodo_recording.on ? hodo_clock_now() : 0;
	record.functions = o->nfunctions;
	find_build_id(info, &record);
	hodo_catalog_add(&record.head, sizeof(record), o->path);
	o->start = start;
	o->told = true;
}

void hodo_events_unload(struct hodo_func_object *o)
{
	struct hodo_record_unload record = { .head = { 0, HODO_RECORD_UNLOAD, 0 } };

	if (!o->told)
		return;
	record.start = o->start;
	record.ticks = hodo_recording.on ? hodo_clock_now() : 0;
	hodo_catalog_add(&record.head, sizeof(record), 0);
	o->told = false;
}

void hodo_events_count(uint32_t found, uint32_t on)
{
	struct hodo_shm *shm = hodo_shm();

	if (!hodo_recording.on || !shm)
		return;
	hodo_store(&shm->functions, found);
	hodo_store(&shm->functions_on, on);
}

/* ------------------------------------------------------------------- recording */

/* The texts behind hodo_func_config, as it came. */
static const char *config_texts(void)
{
	return (const char *)hodo_recording.text + hodo_recording.patterns_len + hodo_recording.filter_len +
	       sizeof(struct hodo_functions_config);
}

const char *hodo_events_loops(void)
{
	return config_texts() + hodo_func_config.patterns_len;
}

/* A recording has begun in this process, or a fork child has none of its own. */
void hodo_events_recording(void)
{
	static int set = -1;
	bool wanted = hodo_recording.on && hodo_recording.functions_len;
	int fresh = -1;

	if (wanted) {
		__builtin_memcpy(&hodo_func_config, config_texts() - sizeof(hodo_func_config),
				 sizeof(hodo_func_config));
		fresh = hodo_select_patterns(config_texts(), hodo_func_config.patterns,
					     hodo_func_config.patterns_len);
		wanted = fresh >= 0;
	}
	if (!wanted)
		hodo_func_config.size = 0;
	/* What was loaded before was told to nobody. */
	if (hodo_recording.on && hodo_context_addresses())
		hodo_objects_scan();
	if (wanted || hodo_func_states[0].event)
		bind_events(wanted);
	if (hodo_tracers_set_builtins(wanted ? hodo_func_config.tracers : 0, wanted ? fresh : 0) != 0 && wanted) {
		const char *text = "its functions are not traced: its code may not be changed here, see hodo doctor";

		hodo_catalog_warning(&text, 1);
		hodo_events_count(hodo_shm()->functions, 0);
	}
	if (set >= 0)
		hodo_select_put(set);
	set = wanted ? fresh : -1;
	hodo_exits_warn();
}
