/* SPDX-License-Identifier: MIT */
/*
 * loaded.c - all loaded objects: what a recording is sent of them, and what becomes of their slots for functions
 * while libhodo-func, which records functions, is not there.
 *
 * Slots of gcc's are calls of a stub in their own object: E8 rel32. A9 in the place of the E8 makes them a test of
 * a constant, which does nothing. That is done when an object is seen first: none of its code has run. The calls of
 * -finstrument-functions are made no-ops likewise (imports.c). All other kinds of slots are no-ops to begin with.
 */
#include "imports.h"
#include "sys.h"

#define LOADED_MAX 1024

static struct loaded {
	uintptr_t base, start, end; /* start, end: what is mapped of it */
	uint32_t functions;         /* with slots */
	bool seen;                  /* in the scan under way */
	bool idle;                  /* its slots were made no-ops */
	bool sent;                  /* to the recorder: HODO_RECORD_OBJECT */
} loaded[LOADED_MAX];
static uint32_t nloaded;

static struct hodo_patch patch;
static bool patching; /* something was stored in the scan under way */

/* -------------------------------------------------------------------- slots */

/* Slots whose target is exactly a stub. No other instruction was ever seen to hold these five bytes; a jump's
 * operand or a constant that did would have to hold the distance from itself to the stub. */
static bool slots_in(uintptr_t start, uintptr_t end, const struct hodo_note_functions *note, uint8_t opcode,
		     bool (*found)(void *data, uintptr_t slot, bool entry), void *data)
{
	const uint8_t *p = (const uint8_t *)start, *last = (const uint8_t *)end - 5;

	for (; p <= last && (p = __builtin_memchr(p, opcode, (size_t)(last - p) + 1)); p++) {
		uintptr_t slot = (uintptr_t)p, target;
		int32_t distance;

		__builtin_memcpy(&distance, p + 1, sizeof(distance));
		target = slot + 5 + (uintptr_t)(intptr_t)distance;
		if ((target == HODO_TARGET(note->entry) || target == HODO_TARGET(note->exit)) &&
		    !found(data, slot, target == HODO_TARGET(note->entry)))
			return false;
	}
	return true;
}

bool hodo_loaded_slots(const struct dl_phdr_info *info, const struct hodo_note_functions *note, bool no_ops,
		       bool (*found)(void *data, uintptr_t slot, bool entry), void *data)
{
	if (hodo_objects_room(HODO_TARGET(note->entry), PF_X) < 8 ||
	    hodo_objects_room(HODO_TARGET(note->exit), PF_X) < 8)
		return false;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && p->p_filesz >= 5 &&
		    !slots_in(start, start + p->p_filesz, note, no_ops ? 0xa9 : 0xe8, found, data))
			break;
	}
	return true;
}

static void make_no_op(struct loaded *l, uintptr_t slot, bool entry, uint8_t byte)
{
	if (!patching)
		hodo_patch_begin(&patch);
	patching = l->idle = true;
	hodo_patch_store(&patch, slot, &byte, 1);
	l->functions += entry;
}

static bool stub_found(void *data, uintptr_t slot, bool entry)
{
	make_no_op(data, slot, entry, 0xa9);
	return true;
}

static void quiet_stubs(struct loaded *l, const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
	if (note)
		hodo_loaded_slots(info, note, false, stub_found, l);
}

#ifdef __x86_64__
static bool import_found(void *data, const struct hodo_import_slot *slot)
{
	make_no_op(data, slot->addr, !slot->import->exit, slot->off);
	return true;
}

static void quiet_imports(struct loaded *l, const struct dl_phdr_info *info)
{
	const struct hodo_import_user user = { import_found, l };
	struct hodo_import imports[2];
	struct hodo_dynamic dynamic;

	if (hodo_imports_instrument(imports) && hodo_dynamic_read(info, &dynamic) &&
	    hodo_imports_any(&dynamic, imports, 2))
		hodo_imports_scan(info, &dynamic, imports, 2, false, &user);
}
#endif

/* ------------------------------------------------------------------ records */

static void take_build_id(const struct dl_phdr_info *info, uint32_t type, const void *desc, size_t size, void *data)
{
	struct hodo_record_object *record = data;

	if (type != NT_GNU_BUILD_ID || size > sizeof(record->build_id) || record->build_id_len)
		return;
	record->build_id_len = (uint32_t)size;
	__builtin_memcpy(record->build_id, desc, size);
}

static uint64_t ticks(void)
{
	return hodo_recording.on ? hodo_clock_now() : 0;
}

/* Once, before any of its functions can be recorded. */
static void send(struct loaded *l, const struct dl_phdr_info *info)
{
	struct hodo_record_object record = {
		.head = { 0, HODO_RECORD_OBJECT, 0 },
		.base = l->base, .start = l->start, .end = l->end, .ticks = ticks(), .functions = l->functions,
	};

	hodo_objects_notes(info, "GNU", take_build_id, &record);
	hodo_catalog_add(&record.head, sizeof(record), hodo_objects_path(info));
	l->sent = true;
}

static void send_unload(const struct loaded *l)
{
	struct hodo_record_unload record = { { 0, HODO_RECORD_UNLOAD, 0 }, l->start, ticks() };

	if (l->sent)
		hodo_catalog_add(&record.head, sizeof(record), 0);
}

/* ------------------------------------------------------------------ objects */

void hodo_loaded_begin(void)
{
	for (uint32_t i = 0; i < nloaded; i++)
		loaded[i].seen = false;
	if (hodo_func)
		hodo_func->scan_begin();
}

/* The object's entry, *fresh: a new one; NULL: there is no room, or its unloading would not be noticed. */
static struct loaded *entry_of(const struct dl_phdr_info *info, bool *fresh)
{
	struct loaded l = { .base = info->dlpi_addr, .start = ~0ul, .seen = true };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		l.start = at < l.start ? at : l.start;
		l.end = at + p->p_memsz > l.end ? at + p->p_memsz : l.end;
	}
	for (uint32_t i = 0; i < nloaded; i++) {
		if (loaded[i].base == l.base && loaded[i].start == l.start && loaded[i].end == l.end)
			return &loaded[i];
	}
	if (nloaded == LOADED_MAX || hodo_loader_blind)
		return 0;
	*fresh = true;
	loaded[nloaded] = l;
	return &loaded[nloaded++];
}

void hodo_loaded_object(const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
	bool fresh = false, wanted = hodo_context_addresses();
	struct loaded *l = entry_of(info, &fresh);
	int64_t functions = hodo_func ? hodo_func->object(info, note) : -1;

	if (!l)
		return;
	l->seen = true;
	if (!hodo_func && fresh && hodo_patch_possible()) {
		quiet_stubs(l, info, note);
#ifdef __x86_64__
		quiet_imports(l, info);
#endif
	}
	if (hodo_func)
		l->functions = (uint32_t)(functions < 0 ? ~functions : functions);
	if (!l->sent && (wanted || functions >= 0))
		send(l, info);
}

bool hodo_loaded_idle(const struct dl_phdr_info *info)
{
	bool fresh;
	const struct loaded *l = entry_of(info, &fresh);

	return l && l->idle;
}

/* What is mapped no more is forgotten without being touched. */
void hodo_loaded_end(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nloaded; i++) {
		if (loaded[i].seen)
			loaded[kept++] = loaded[i];
		else
			send_unload(&loaded[i]);
	}
	nloaded = kept;
	if (patching)
		hodo_patch_end(&patch);
	patching = false;
	if (hodo_func)
		hodo_func->scan_end();
}
