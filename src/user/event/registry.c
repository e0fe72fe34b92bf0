/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the events of a process: ids, conflicts, and whether they are on.
 *
 * Rule for ids: an id belongs to one name with one list of fields, format included, for the life of the
 * process, and is never reused. A library that is closed and opened again gets its old ids back, so cycles of
 * dlopen and dlclose use none up. A name with other fields is refused while objects with the earlier
 * definition are loaded, unless both are in the same line (a template); once they are all unloaded, it gets a
 * new id. After 65,535 different definitions, further ones are refused with a warning.
 */
#include <core/fields.h>
#include <core/glob.h>
#include <core/kind.h>
#include "steps.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include "event.h"

#define HASH_SIZE (2 * HODO_EVENTS_MAX)
#define PLACE_MAX 300 /* bytes of "file:line" */

struct hodo_event *hodo_events;
uint32_t hodo_nevents;

static uint16_t *hash_table; /* HASH_SIZE ids by name, 0: free; after the events */

/* ------------------------------------------------------------- descriptors */

const char *hodo_registry_text(const struct hodo_desc *desc, size_t room, unsigned n)
{
	const char *p = (const char *)desc + desc->strings;
	const char *end = (const char *)desc + (desc->total < room ? desc->total : room);

	for (; p < end; n--) {
		const char *nul = __builtin_memchr(p, 0, (size_t)(end - p));

		if (!nul)
			break;
		if (n == 0)
			return p;
		p = nul + 1;
	}
	return "";
}

static bool desc_valid(const struct hodo_desc *desc, size_t room)
{
	return room >= sizeof(*desc) && desc->size == sizeof(*desc) && desc->version == HODO_ABI_VERSION &&
	       desc->kind >= HODO_KIND_EVENT && desc->kind <= HODO_KIND_FUNCTION && desc->kind != HODO_KIND_LABELS &&
	       desc->nfields <= HODO_TRACE_FIELDS_MAX && desc->total <= room && desc->strings < desc->total &&
	       sizeof(*desc) + desc->nfields <= desc->strings;
}

/* The recorder could not read such an event, nor find those that follow it in a packet. */
static bool types_known(const struct hodo_desc *desc)
{
	const uint8_t *types = (const uint8_t *)(desc + 1);

	for (unsigned i = 0; i < desc->nfields; i++)
		if (!hodo_fields_fixed_size(types[i]))
			return false;
	return true;
}

/* provider:name, with its suffix. */
static void full_name(const struct hodo_desc *desc, size_t room, char *out, size_t size)
{
	out[0] = 0;
	hodo_fixed_text_add(out, size, hodo_registry_text(desc, room, 0));
	hodo_fixed_text_add(out, size, ":");
	hodo_fixed_text_add(out, size, hodo_registry_text(desc, room, 1));
	hodo_fixed_text_add(out, size, hodo_kind_suffix((uint8_t)desc->kind));
}

/* Builds the event's record, except for its id. */
static struct hodo_record_event *build_event(const struct hodo_desc *desc, size_t room, const char *name,
					     const char *object)
{
	struct hodo_record_event record = { .head.type = HODO_RECORD_EVENT, .kind = desc->kind,
					    .nfields = (uint8_t)desc->nfields, .line = desc->line };

	hodo_catalog_begin(&record, sizeof(record));
	hodo_catalog_put(desc + 1, desc->nfields);
	hodo_catalog_text(name);
	hodo_catalog_names(hodo_registry_text(desc, room, 2), desc->nfields);
	for (unsigned i = 3; i <= 5; i++)
		hodo_catalog_text(hodo_registry_text(desc, room, i));
	hodo_catalog_text(object);
	return (struct hodo_record_event *)hodo_catalog_build.bytes;
}

/* The n-th text of a record: the event's name, the fields' names, the format, the file. */
static const char *record_text(const struct hodo_record_event *record, unsigned n)
{
	const char *p = (const char *)(record + 1) + record->nfields;

	for (; n; n--)
		p += __builtin_strlen(p) + 1;
	return p;
}

static const struct hodo_record_event *record_of(const struct hodo_event *event)
{
	return (const struct hodo_record_event *)hodo_catalog_at(event->record);
}

/* Types, names and format are the same. */
static bool same_definition(const struct hodo_record_event *a, const struct hodo_record_event *b)
{
	size_t n = (size_t)(record_text(a, a->nfields + 2u) - (const char *)(a + 1));

	return a->kind == b->kind && a->nfields == b->nfields &&
	       n == (size_t)(record_text(b, b->nfields + 2u) - (const char *)(b + 1)) &&
	       __builtin_memcmp(a + 1, b + 1, n) == 0;
}

const char *hodo_registry_name(const struct hodo_event *event)
{
	return record_text(record_of(event), 0);
}

/* "file:line" */
static void place(const struct hodo_record_event *record, char out[PLACE_MAX])
{
	out[0] = 0;
	hodo_fixed_text_add(out, PLACE_MAX - 12, record_text(record, record->nfields + 2u));
	hodo_fixed_text_add(out, PLACE_MAX, ":");
	hodo_fixed_text_number(out, PLACE_MAX, record->line);
}

/* Whether both are in the same line: instantiations of one template, whose types may rightly differ. */
static bool same_place(const struct hodo_record_event *a, const struct hodo_record_event *b)
{
	return a->line == b->line &&
	       __builtin_strcmp(record_text(a, a->nfields + 2u), record_text(b, b->nfields + 2u)) == 0;
}

/* ---------------------------------------------------------------- registry */

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h;
}

static void refuse(const struct hodo_record_event *record, const struct hodo_record_event *other)
{
	char here[PLACE_MAX], there[PLACE_MAX];

	place(record, here);
	place(other, there);
	hodo_catalog_warn("event ", record_text(record, 0), " at ", here, " differs from its definition at ", there,
			  ": the first is recorded, the second is not; rename one of them");
}

static void refuse_types(const struct hodo_desc *desc, size_t room, const char *name)
{
	char line[12] = "";

	hodo_fixed_text_number(line, sizeof(line), desc->line);
	hodo_catalog_warn("event ", name, " at ", hodo_registry_text(desc, room, 4), ":", line,
			  " is not recorded: the type of a value is unknown; with a newer <hodo/trace.h>, the compiler names it");
}

static struct hodo_event *add_new(uint32_t slot, struct hodo_record_event *record)
{
	struct hodo_event *event;
	uint32_t at;

	if (hodo_nevents + 1 >= HODO_EVENTS_MAX) {
		hodo_catalog_warn("event ", record_text(record, 0),
				  " is not recorded: the process already has 65,535 events");
		return 0;
	}
	record->head.id = (uint16_t)(hodo_nevents + 1);
	at = hodo_catalog_append();
	if (!at)
		return 0;
	event = &hodo_events[++hodo_nevents];
	event->id = (uint16_t)hodo_nevents;
	event->kind = record->kind;
	event->nfields = record->nfields;
	event->record = at;
	event->filter = &hodo_filter_none;
	__builtin_memcpy(event->types, record + 1, record->nfields);
	hodo_steps_make(event);
	hash_table[slot] = event->id;
	return event;
}

static bool tables_mapped(void)
{
	const size_t bytes = HODO_EVENTS_MAX * sizeof(struct hodo_event);
	void *p;

	if (hodo_events)
		return true;
	p = hodo_map(bytes + HASH_SIZE * sizeof(*hash_table));
	hash_table = (uint16_t *)((uint8_t *)p + bytes);
	hodo_events = p;
	return p;
}

struct hodo_event *hodo_registry_add(const struct hodo_desc *desc, size_t room, const char *object)
{
	struct hodo_event *loaded = 0, *known = 0;
	struct hodo_record_event *record;
	char name[HODO_EVENT_NAME_MAX];
	uint32_t slot;

	if (!desc_valid(desc, room) || !tables_mapped())
		return 0;
	full_name(desc, room, name, sizeof(name));
	if (!types_known(desc)) {
		refuse_types(desc, room, name);
		return 0;
	}
	record = build_event(desc, room, name, object);
	for (slot = hash(name) % HASH_SIZE; hash_table[slot]; slot = (slot + 1) % HASH_SIZE) {
		struct hodo_event *event = &hodo_events[hash_table[slot]];

		if (__builtin_strcmp(hodo_registry_name(event), name) != 0)
			continue;
		if (same_definition(record, record_of(event)))
			known = event;
		else if (event->states && !(desc->labels & HODO_DESC_DIFFERS) &&
			 !same_place(record, record_of(event)))
			loaded = event;
	}
	if (loaded) {
		refuse(record, record_of(loaded));
		return 0;
	}
	return known ? known : add_new(slot, record);
}

/* ------------------------------------------------------------ names, states */

size_t hodo_registry_span_len(const struct hodo_event *event)
{
	const char *suffix = hodo_kind_suffix(event->kind);

	return *suffix ? __builtin_strlen(hodo_registry_name(event)) - __builtin_strlen(suffix) : 0;
}

bool hodo_registry_matches(const char *pattern, const void *of)
{
	const struct hodo_event *event = of;
	const char *name = hodo_registry_name(event);
	size_t n = __builtin_strlen(pattern), len = __builtin_strlen(name);
	size_t suffix = __builtin_strlen(hodo_kind_suffix(event->kind));

	return hodo_glob_name(pattern, n, name, len) || (suffix && hodo_glob_name(pattern, n, name, len - suffix));
}

static uint32_t on_value(const struct hodo_event *event)
{
	uint32_t value;

	if (!hodo_load_seq(&hodo_recording.on) || hodo_load_seq(&hodo_recording.stopped))
		return 0;
	value = event->rules ? HODO_ON_RULES : 0;
	if (hodo_load_seq(&event->matched) && !hodo_load_seq(&event->disabled) &&
	    !hodo_load_seq(&hodo_recording.awaits_start))
		value |= HODO_ON_RECORD;
	if (value && event->filtered)
		value |= HODO_ON_FILTER;
	if (value && hodo_recording.config.context_len && event->kind != HODO_KIND_FUNCTION)
		value |= HODO_ON_CONTEXT;
	return value;
}

void hodo_registry_publish(struct hodo_event *event)
{
	uint32_t *on, value;
	uint8_t *shm = hodo_load(&hodo_recording.shm); /* once: a handler may fork, and the child has none */

	if (!hodo_recording.on || !shm)
		return;
	on = (uint32_t *)(shm + HODO_SHM_ON) + event->id;
	/* The last to store has seen the last state: see rules.c. */
	do {
		value = on_value(event);
		hodo_store_seq(on, value);
	} while (value != on_value(event));
	/* The recorder sets stopped and then clears the words: whichever is second clears this one. */
	if (value && hodo_load_seq(&((struct hodo_shm *)shm)->stopped))
		hodo_store_seq(on, 0);
}
