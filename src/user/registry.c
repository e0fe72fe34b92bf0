/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the events of a process: ids, conflicts, patterns, and the
 * catalogue in which the recorder finds them.
 *
 * Rule for ids: an id belongs to one name with one list of fields, format
 * included, for the life of the process, and is never given to another. A
 * library that is closed and opened again gets its old ids back, so cycles of
 * dlopen and dlclose use none up. A name that comes with other fields while
 * objects with the earlier definition are loaded is refused, unless both stand
 * in the same line (a template); once they are all unloaded it gets a new id.
 * After 65,535 different definitions, further ones are refused with a warning.
 *
 * The catalogue is kept twice: in private memory, from which a fork child's
 * new recording is filled, and in the recording's shared memory.
 */
#include <string.h>
#include <sys/mman.h>
#include <core/fields.h>
#include <core/glob.h>
#include "sys.h"
#include "user.h"

#define HASH_SIZE (2 * HODO_EVENTS_MAX)
#define RECORD_MAX 8192 /* bytes of one record: texts are cut to stay below */
#define TEXT_MAX 1024   /* bytes of one text in a record, its NUL included */

struct hodo_event *hodo_events;
uint32_t hodo_nevents;

static uint16_t *hash_table; /* HASH_SIZE ids by name, 0: free; behind the events */
static uint8_t *catalog;               /* moves when it grows */
static uint64_t catalog_used, catalog_size;

/* --------------------------------------------------------------- catalogue */

static void shm_append(const void *record, uint32_t size)
{
	struct hodo_shm *shm = hodo_shm();
	uint64_t used;

	if (!shm)
		return;
	used = hodo_load(&shm->catalog_used);
	if (used > HODO_CATALOG_SIZE || size > HODO_CATALOG_SIZE - used) {
		hodo_add(&shm->catalog_lost, 1);
		return;
	}
	__builtin_memcpy(hodo_recording.shm + HODO_SHM_CATALOG + used, record, size);
	/* The record before its publication, and both before any event that carries the id. */
	hodo_store_release(&shm->catalog_used, used + size);
}

/* From 256 KiB on, doubled when full: room for 65,535 events is not to fill every program's address space. */
static bool catalog_room(uint32_t size)
{
	uint64_t grown = catalog_size ? 2 * catalog_size : 256 << 10;
	void *p;

	if (catalog && catalog_used + size > HODO_CATALOG_SIZE - sizeof(struct hodo_record_context))
		return false;
	if (catalog && size <= catalog_size - catalog_used)
		return true;
	if (grown > HODO_CATALOG_SIZE)
		return false;
	if (catalog)
		p = (void *)hodo_sys4(SYS_mremap, catalog, catalog_size, grown, MREMAP_MAYMOVE);
	else
		p = hodo_mmap(grown, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (hodo_is_error(p))
		return false;
	catalog_used = catalog ? catalog_used : 8;
	catalog = p;
	catalog_size = grown;
	return true;
}

/* Appends a finished record; its offset, or 0 if there is no room (no record of use lies at 0). */
static uint32_t catalog_append(struct hodo_record *record, uint32_t size)
{
	uint32_t at;

	size = (size + 7) & ~7u;
	if (!catalog_room(size)) {
		if (hodo_shm())
			hodo_add(&hodo_shm()->catalog_lost, 1);
		return 0;
	}
	record->size = size;
	at = (uint32_t)catalog_used;
	__builtin_memcpy(catalog + at, record, size);
	catalog_used += size;
	shm_append(catalog + at, size);
	return at;
}

/* First what the events' context is: their sizes depend on it. */
static void export_context(void)
{
	const struct hodo_recording *r = &hodo_recording;
	struct hodo_record_context record = { .head = { sizeof(record), HODO_RECORD_CONTEXT, 0 } };

	if (r->context_len != sizeof(record.config))
		return;
	__builtin_memcpy(&record.config,
			 r->text + r->patterns_len + r->filter_len + r->functions_len + r->conditions_len,
			 sizeof(record.config));
	shm_append(&record, sizeof(record));
}

void hodo_catalog_export(void)
{
	export_context();
	if (catalog && catalog_used > 8)
		shm_append(catalog + 8, (uint32_t)catalog_used - 8);
}

const uint8_t *hodo_catalog_bytes(uint64_t *len)
{
	*len = catalog ? catalog_used - 8 : 0;
	return catalog + 8;
}

/* A record under construction. */
struct build {
	uint32_t used;
	uint8_t bytes[RECORD_MAX] __attribute__((aligned(8)));
};
static struct build build; /* under the control lock */

static void build_text(struct build *b, const char *text, size_t len)
{
	if (len > TEXT_MAX - 1)
		len = TEXT_MAX - 1;
	if (len > RECORD_MAX - 16 - b->used)
		len = RECORD_MAX - 16 - b->used;
	__builtin_memcpy(b->bytes + b->used, text, len);
	b->bytes[b->used + len] = 0;
	b->used += (uint32_t)len + 1;
}

void hodo_catalog_warning(const char *const *parts, unsigned n)
{
	struct hodo_record *record = (struct hodo_record *)build.bytes;
	char text[TEXT_MAX];
	size_t used = 0;

	for (unsigned i = 0; i < n; i++) {
		for (const char *p = parts[i]; *p && used < sizeof(text) - 1; p++)
			text[used++] = *p;
	}
	*record = (struct hodo_record){ 0, HODO_RECORD_WARNING, 0 };
	build.used = sizeof(*record);
	build_text(&build, text, used);
	__builtin_memset(build.bytes + build.used, 0, 8);
	catalog_append(record, build.used);
}

void hodo_catalog_add(const struct hodo_record *record, size_t size, const char *text)
{
	__builtin_memcpy(build.bytes, record, size);
	build.used = (uint32_t)size;
	if (text)
		build_text(&build, text, __builtin_strlen(text));
	__builtin_memset(build.bytes + build.used, 0, 8);
	catalog_append((struct hodo_record *)build.bytes, build.used);
}

/* ------------------------------------------------------------- descriptors */

/* The n-th text of a descriptor of which room bytes may be read; "" if it is not there. */
const char *hodo_desc_string(const struct hodo_desc *desc, size_t room, unsigned n)
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

/* provider:name, with .begin or .end. Returns its length. */
static size_t full_name(const struct hodo_desc *desc, size_t room, char *out, size_t size)
{
	static const char *const suffix[] = { [HODO_KIND_SPAN_BEGIN] = ".begin", [HODO_KIND_SPAN_END] = ".end",
					      [HODO_KIND_BEGIN] = ".begin", [HODO_KIND_END] = ".end",
					      [HODO_KIND_FUNCTION] = 0 };
	const char *parts[4] = { hodo_desc_string(desc, room, 0), ":", hodo_desc_string(desc, room, 1),
				 suffix[desc->kind] ? suffix[desc->kind] : "" };
	size_t n = 0;

	for (unsigned i = 0; i < 4; i++) {
		for (const char *p = parts[i]; *p && n < size - 1; p++)
			out[n++] = *p;
	}
	out[n] = 0;
	return n;
}

/* Builds the event's record, all but its id. */
static void build_event(const struct hodo_desc *desc, size_t room, const char *name, size_t name_len,
			const char *object)
{
	struct hodo_record_event *record = (struct hodo_record_event *)build.bytes;
	static char names[HODO_FIELDS_NAMES_MAX];
	const char *name_of[HODO_TRACE_FIELDS_MAX];

	__builtin_memset(record, 0, sizeof(*record));
	record->head.type = HODO_RECORD_EVENT;
	record->kind = desc->kind;
	record->nfields = (uint8_t)desc->nfields;
	record->line = desc->line;
	build.used = sizeof(*record);
	__builtin_memcpy(build.bytes + build.used, desc + 1, desc->nfields);
	build.used += desc->nfields;
	build_text(&build, name, name_len);
	hodo_fields_names(hodo_desc_string(desc, room, 2), desc->nfields, names, sizeof(names), name_of);
	for (unsigned i = 0; i < desc->nfields; i++)
		build_text(&build, name_of[i], __builtin_strlen(name_of[i]));
	for (unsigned i = 3; i <= 5; i++) {
		const char *text = hodo_desc_string(desc, room, i);

		build_text(&build, text, __builtin_strlen(text));
	}
	build_text(&build, object, __builtin_strlen(object));
	__builtin_memset(build.bytes + build.used, 0, 8);
}

/* Bytes from the types to the end of the format: what makes two definitions the same. */
static uint32_t signature_len(const uint8_t *record)
{
	const struct hodo_record_event *e = (const struct hodo_record_event *)record;
	const char *p = (const char *)record + sizeof(*e) + e->nfields;

	for (unsigned i = 0; i < 1u + e->nfields + 1u; i++)
		p += __builtin_strlen(p) + 1;
	return (uint32_t)(p - (const char *)record) - (uint32_t)sizeof(*e);
}

static bool same_definition(const struct hodo_event *event)
{
	const uint8_t *old = catalog + event->record;
	uint32_t n = signature_len(build.bytes);

	return event->kind == ((struct hodo_record_event *)build.bytes)->kind && n == signature_len(old) &&
	       event->nfields == ((struct hodo_record_event *)build.bytes)->nfields &&
	       __builtin_memcmp(old + sizeof(struct hodo_record_event),
				build.bytes + sizeof(struct hodo_record_event), n) == 0;
}

const char *hodo_registry_name(const struct hodo_event *event)
{
	return (const char *)catalog + event->record + sizeof(struct hodo_record_event) + event->nfields;
}

/* "file:line" of a record into out. */
static void place(const uint8_t *record, char *out, size_t size)
{
	const struct hodo_record_event *e = (const struct hodo_record_event *)record;
	const char *p = (const char *)record + sizeof(*e) + e->nfields;
	char digits[12];
	unsigned n = 0;
	size_t used = 0;

	for (unsigned i = 0; i < 2u + e->nfields; i++)
		p += __builtin_strlen(p) + 1;
	for (; *p && used < size - sizeof(digits); p++)
		out[used++] = *p;
	out[used++] = ':';
	for (uint32_t line = e->line; line || !n; line /= 10)
		digits[n++] = (char)('0' + line % 10);
	while (n)
		out[used++] = digits[--n];
	out[used] = 0;
}

/* Whether the definition being built stands at the same line as the event's: instantiations of one template, whose
 * types may differ without anybody's mistake. */
static bool same_place(const struct hodo_event *event)
{
	char here[300], there[300];

	place(build.bytes, here, sizeof(here));
	place(catalog + event->record, there, sizeof(there));
	return __builtin_strcmp(here, there) == 0;
}

/* ---------------------------------------------------------------- registry */

static uint32_t hash(const char *name, size_t len)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return h;
}

static void refuse(const struct hodo_event *other, const char *name)
{
	char here[300], there[300];
	const char *parts[] = { "event ", name, " at ", here, " differs from its definition at ", there,
				": the first stays, the second is not recorded; give one of them another name" };

	place(build.bytes, here, sizeof(here));
	place(catalog + other->record, there, sizeof(there));
	hodo_catalog_warning(parts, 7);
}

static struct hodo_event *add_new(uint32_t slot, const char *name)
{
	struct hodo_record_event *record = (struct hodo_record_event *)build.bytes;
	struct hodo_event *event;
	uint32_t at;

	if (hodo_nevents + 1 >= HODO_EVENTS_MAX) {
		const char *parts[] = { "event ", name, " is not recorded: the process has 65,535 events already" };

		hodo_catalog_warning(parts, 3);
		return 0;
	}
	record->head.id = (uint16_t)(hodo_nevents + 1);
	at = catalog_append(&record->head, build.used);
	if (!at)
		return 0;
	event = &hodo_events[++hodo_nevents];
	event->id = (uint16_t)hodo_nevents;
	event->kind = record->kind;
	event->nfields = record->nfields;
	event->record = at;
	event->filter = &hodo_filter_none;
	__builtin_memcpy(event->types, record + 1, record->nfields);
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
	char name[2 * HODO_NAME_MAX + 16];
	uint32_t slot;
	size_t len;

	if (!desc_valid(desc, room) || !tables_mapped())
		return 0;
	len = full_name(desc, room, name, sizeof(name));
	build_event(desc, room, name, len, object);
	for (slot = hash(name, len) % HASH_SIZE; hash_table[slot]; slot = (slot + 1) % HASH_SIZE) {
		struct hodo_event *event = &hodo_events[hash_table[slot]];

		if (__builtin_strcmp(hodo_registry_name(event), name) != 0)
			continue;
		if (same_definition(event))
			known = event;
		else if (event->states && !same_place(event))
			loaded = event;
	}
	if (loaded) {
		refuse(loaded, name);
		return 0;
	}
	return known ? known : add_new(slot, name);
}

struct hodo_event *hodo_registry_find(const struct hodo_desc *desc)
{
	return hodo_registry_add(desc, desc->total, "");
}

/* ------------------------------------------------------------------ labels */

#define LABEL_SETS_MAX 1024
static uint32_t label_sets[LABEL_SETS_MAX];
static unsigned nlabel_sets;

/* The record's texts: provider, field. An inlined statement brings its labels once a copy. */
static bool labels_known(const char *provider, const char *field)
{
	for (unsigned i = 0; i < nlabel_sets; i++) {
		const struct hodo_record_labels *r = (const void *)(catalog + label_sets[i]);
		const char *p = (const char *)(r + 1) + 8 * (size_t)r->n;

		if (__builtin_strcmp(p, provider) == 0 && __builtin_strcmp(p + __builtin_strlen(p) + 1, field) == 0)
			return true;
	}
	return false;
}

void hodo_registry_labels(const struct hodo_desc *desc, size_t room)
{
	struct hodo_record_labels *record = (struct hodo_record_labels *)build.bytes;
	const char *provider = hodo_desc_string(desc, room, 0), *field = hodo_desc_string(desc, room, 1);
	static char names[HODO_FIELDS_NAMES_MAX];
	const char *name_of[HODO_TRACE_FIELDS_MAX];
	uint32_t at;

	if (desc->size != sizeof(*desc) || desc->version != HODO_ABI_VERSION || desc->nlabels > HODO_TRACE_FIELDS_MAX ||
	    desc->total > room || desc->labels != sizeof(*desc) ||
	    desc->strings < desc->labels + 8u * desc->nlabels || nlabel_sets == LABEL_SETS_MAX ||
	    labels_known(provider, field))
		return;
	*record = (struct hodo_record_labels){ { 0, HODO_RECORD_LABELS, 0 }, desc->nlabels, 0 };
	build.used = sizeof(*record);
	__builtin_memcpy(build.bytes + build.used, (const char *)desc + desc->labels, 8u * desc->nlabels);
	build.used += 8u * desc->nlabels;
	build_text(&build, provider, __builtin_strlen(provider));
	build_text(&build, field, __builtin_strlen(field));
	hodo_fields_names(hodo_desc_string(desc, room, 2), desc->nlabels, names, sizeof(names), name_of);
	for (unsigned i = 0; i < desc->nlabels; i++)
		build_text(&build, name_of[i], __builtin_strlen(name_of[i]));
	__builtin_memset(build.bytes + build.used, 0, 8);
	at = catalog_append(&record->head, build.used);
	if (at)
		label_sets[nlabel_sets++] = at;
}

bool hodo_registry_label(const struct hodo_event *event, const char *field, const char *label, size_t len,
			 int64_t *value)
{
	const char *name = hodo_registry_name(event);

	for (unsigned i = 0; i < nlabel_sets; i++) {
		const struct hodo_record_labels *r = (const void *)(catalog + label_sets[i]);
		const char *p = (const char *)(r + 1) + 8 * (size_t)r->n;
		size_t provider = __builtin_strlen(p);

		if (provider >= __builtin_strlen(name) || __builtin_memcmp(p, name, provider) != 0 ||
		    name[provider] != ':' || __builtin_strcmp(p + provider + 1, field) != 0)
			continue;
		p += provider + 1;
		for (uint32_t k = 0; k < r->n; k++) {
			p += __builtin_strlen(p) + 1;
			if (__builtin_strlen(p) == len && __builtin_memcmp(p, label, len) == 0) {
				__builtin_memcpy(value, (const char *)(r + 1) + 8 * (size_t)k, sizeof(*value));
				return true;
			}
		}
		return false;
	}
	return false;
}

/* ---------------------------------------------------- patterns and filters */

/* A pattern names the event itself, or the span that it begins or ends. */
bool hodo_registry_matches(const char *pattern, const struct hodo_event *event)
{
	const char *name = hodo_registry_name(event);
	size_t n = __builtin_strlen(pattern), len = __builtin_strlen(name);

	if (hodo_glob(pattern, n, name, len))
		return true;
	if (event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_BEGIN)
		return hodo_glob(pattern, n, name, len - 6);
	if (event->kind == HODO_KIND_SPAN_END || event->kind == HODO_KIND_END)
		return hodo_glob(pattern, n, name, len - 4);
	return false;
}

/* Wanted if a pattern includes it, or none includes anything, and no "!pattern" excludes it. */
static bool wanted(const struct hodo_event *event)
{
	const char *p = (const char *)hodo_recording.text, *end = p + hodo_recording.patterns_len;
	bool included = false, any = false;

	for (uint32_t i = 0; i < hodo_recording.patterns && p < end; i++) {
		size_t n = strnlen(p, (size_t)(end - p));

		if (p + n == end)
			break; /* not terminated */
		if (*p == '!') {
			if (hodo_registry_matches(p + 1, event))
				return false;
		} else {
			any = true;
			included = included || hodo_registry_matches(p, event);
		}
		p += n + 1;
	}
	return included || !any;
}

void hodo_registry_select(struct hodo_event *event)
{
	if (event->kind == HODO_KIND_FUNCTION)
		return; /* func/ decides, and filters are for the program's own events */
	event->matched = wanted(event);
	hodo_rules_select(event);
}

static uint32_t on_value(const struct hodo_event *event)
{
	uint32_t value;

	if (!hodo_load_seq(&hodo_recording.on) || hodo_load_seq(&hodo_recording.stopped))
		return 0;
	value = event->conditions || event->timed ? HODO_ON_RULES : 0;
	if (hodo_load_seq(&event->matched) && !hodo_load_seq(&event->disabled) &&
	    !hodo_load_seq(&hodo_recording.awaits_start))
		value |= HODO_ON_RECORD;
	if (value && event->filtered)
		value |= HODO_ON_FILTER;
	if (value && hodo_recording.context_len && event->kind != HODO_KIND_FUNCTION)
		value |= HODO_ON_CONTEXT;
	return value;
}

void hodo_registry_publish(struct hodo_event *event)
{
	uint32_t *on, value;
	uint8_t *shm = hodo_load(&hodo_recording.shm); /* once: a handler may fork, and the child have none */

	if (!hodo_recording.on || !shm)
		return;
	on = (uint32_t *)(shm + HODO_SHM_ON) + event->id;
	/* Whoever stores last has made it of the last state: see rules.c. */
	do {
		value = on_value(event);
		hodo_store_seq(on, value);
	} while (value != on_value(event));
	/* The recorder sets stopped and then clears the words: whichever is second clears this one. */
	if (value && hodo_load_seq(&((struct hodo_shm *)shm)->stopped))
		hodo_store_seq(on, 0);
}
