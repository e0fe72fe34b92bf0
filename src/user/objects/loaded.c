/* SPDX-License-Identifier: MIT */
/*
 * loaded.c - all loaded objects: what a recording learns of them, and what happens to their slots for
 * functions while libhodo-func, which records functions, is not loaded.
 *
 * Slots that are calls (imports.c) become no-ops when an object is first seen, before its code runs. All
 * other kinds are no-ops to begin with.
 */
#include "extension.h"
#include "imports.h"
#include <user/ring/rings.h>
#include "objects.h"

static struct hodo_patch patch;
static bool patching; /* something was stored in the scan under way */

/* -------------------------------------------------------------------- slots */

#ifdef __x86_64__
static bool make_no_op(void *data, const struct hodo_import_slot *slot)
{
	struct hodo_object *o = data;

	if (!patching)
		hodo_patch_begin(&patch);
	patching = o->idle = true;
	hodo_patch_byte(&patch, slot->addr, slot->off);
	o->functions += !slot->import->exit;
	return true;
}

static void quiet(struct hodo_object *o, const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
	const struct hodo_import_user user = { .found = make_no_op, .data = o };
	const struct hodo_dynamic none = { 0 }, dynamic = hodo_dynamic_read(info);
	struct hodo_import imports[2];

	if (note && hodo_imports_stubs(note, imports))
		hodo_imports_scan(info, &none, imports, 2, false, &user);
	if (hodo_imports_instrument(imports) && hodo_imports_any(&dynamic, imports, 2))
		hodo_imports_scan(info, &dynamic, imports, 2, false, &user);
}
#else
static void quiet(struct hodo_object *o, const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
}
#endif

/* ------------------------------------------------------------------ records */

static void take_build_id(const struct dl_phdr_info *info, uint32_t type, const void *desc, size_t size, void *data)
{
	struct hodo_record_object *record = data;

	if (type != NT_GNU_BUILD_ID || size > sizeof(record->build_id) || record->build_id_len)
		return;
	record->build_id_len = (uint16_t)size;
	__builtin_memcpy(record->build_id, desc, size);
}

static uint64_t ticks(void)
{
	return hodo_recording.on ? hodo_clock_now() : 0;
}

/* Sends it once, before any of its functions can be recorded. */
static void send(struct hodo_object *o, const struct dl_phdr_info *info)
{
	struct hodo_record_object record = {
		.head = { 0, HODO_RECORD_OBJECT, 0 },
		.base = o->base, .start = o->start, .end = o->end, .ticks = ticks(), .functions = o->functions,
		.short_start = o->is_short ? o->text : 0, .short_end = o->is_short ? o->text_end : 0,
	};

	hodo_objects_notes(info, "GNU", take_build_id, &record);
	hodo_catalog_add(&record.head, sizeof(record), hodo_objects_path(info));
	o->sent = true;
}

static void send_unload(const struct hodo_object *o)
{
	struct hodo_record_unload record = { { 0, HODO_RECORD_UNLOAD, 0 }, o->start, ticks() };

	if (o->sent)
		hodo_catalog_add(&record.head, sizeof(record), 0);
}

/* ------------------------------------------------------------------ objects */

void hodo_loaded_begin(void)
{
	for (uint32_t i = 0; i < hodo_nobjects; i++)
		hodo_objects[i].seen = false;
	if (hodo_func)
		hodo_func->scan_begin();
}

/*
 * Whether calls of its functions can be told from those of all other short objects. What has been sent cannot
 * become short.
 */
static bool may_be_short(const struct hodo_object *object)
{
	const uint64_t span = HODO_SHORT_SPAN;

	if (object->is_short)
		return true;
	if (object->sent || object->text >= object->text_end || object->text_end - object->text > span)
		return false;
	for (uint32_t i = 0; i < hodo_nobjects; i++) {
		const struct hodo_object *o = &hodo_objects[i];
		uint64_t apart = (o->text - object->text) & (span - 1); /* from this one's code to the other's */

		if (o->is_short && (apart < object->text_end - object->text || span - apart < o->text_end - o->text))
			return false;
	}
	return true;
}

void hodo_loaded_object(struct hodo_object *o, const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
	bool is_short = o && may_be_short(o);
	int64_t functions = hodo_func ? hodo_func->object(info, note, is_short) : -1;

	if (!o)
		return;
	if (hodo_func) {
		o->functions = (uint32_t)(functions < 0 ? ~functions : functions);
		o->is_short = is_short && o->functions;
	} else if (!o->known && hodo_patch_possible()) {
		quiet(o, info, note);
	}
	o->known = true;
	if (!o->sent && (hodo_context_addresses() || functions >= 0))
		send(o, info);
}

/* Objects no longer mapped are forgotten without being touched. */
bool hodo_loaded_end(void)
{
	uint32_t kept = 0;
	bool sites = false;

	for (uint32_t i = 0; i < hodo_nobjects; i++) {
		if (hodo_objects[i].seen) {
			hodo_objects[kept++] = hodo_objects[i];
			continue;
		}
		send_unload(&hodo_objects[i]);
		sites = sites || hodo_objects[i].sites;
	}
	hodo_nobjects = kept;
	if (patching)
		hodo_patch_end(&patch);
	patching = false;
	if (hodo_func)
		hodo_func->scan_end();
	return sites;
}
