/* SPDX-License-Identifier: MIT */
/*
 * slots.c - the traceable functions of loaded objects; turns their slots on and off.
 *
 * All under the control lock. A newly mapped object may not be relocated yet and none of its code has run:
 * the best time to make its slots no-ops.
 */
#include <func/engine/engine.h>
#include "near.h"
#include <user/objects/objects.h>
#include <user/user.h>
#include <func/dispatch.h>
#include <func/names/names.h>
#include "slots.h"
#include <func/func.h>
#include <func/grace.h>

static bool selecting;

/* --------------------------------------------------------- gcc's slots (calls) */

/*
 * A nested function of GNU C preserves its static chain across the entry's call, by push %r10 before and pop
 * %r10 after it: the frame is not where the trampoline expects it. Its slots become no-ops for good, up to
 * the next function's: better missing than wrong.
 */
static bool keeps_chain(const uint8_t *call)
{
	return call[5] == 0x41 && call[6] == 0x5a;
}

struct calls {
	struct hodo_scan *scan;
	struct hodo_starts starts;
	bool nested; /* of the last entry's function */
};

static bool add_call(void *data, const struct hodo_import_slot *slot)
{
	bool entry = !slot->import->exit;
	struct calls *c = data;
	uintptr_t next;

	if (slot->on == slot->off) /* loaded into a register */
		return hodo_scan_add(c->scan, slot->addr, hodo_starts_find(&c->starts, slot->addr, &next),
				     HODO_SLOT_CALL, entry ? HODO_AT_ENTRY : HODO_AT_EXIT, slot->on, slot->off);
	if (entry)
		c->nested = hodo_objects_room(slot->addr, PF_X) >= 7 && keeps_chain((const uint8_t *)slot->addr);
	return hodo_scan_add(c->scan, slot->addr, entry ? hodo_slot_function(slot->addr) : slot->addr,
			     c->nested ? HODO_SLOT_UNUSED : HODO_SLOT_CALL,
			     entry && !c->nested ? HODO_AT_ENTRY : HODO_AT_EXIT, slot->on, slot->off);
}

static void scan_calls(struct hodo_scan *scan, const struct hodo_note_functions *note)
{
	const struct hodo_dynamic dynamic = hodo_dynamic_read(scan->info);
	struct calls calls = { .scan = scan };
	const struct hodo_import_user user = { add_call, &calls, true };
	struct hodo_import imports[2];

	if (hodo_objects_room(HODO_TARGET(note->entry_hook), PF_W) < sizeof(void *) ||
	    hodo_objects_room(HODO_TARGET(note->exit_hook), PF_W) < sizeof(void *) ||
	    !hodo_imports_stubs(note, imports))
		return;
	hodo_starts_read(scan->info, &calls.starts);
	hodo_imports_scan(scan->info, &dynamic, imports, 2, hodo_objects_idle(), &user);
	scan->object->entry_hook = (void **)HODO_TARGET(note->entry_hook);
	scan->object->exit_hook = (void **)HODO_TARGET(note->exit_hook);
}

/* ------------------------------------------------------------------- objects */

static bool text_range(const struct dl_phdr_info *info, uintptr_t *text, uintptr_t *end)
{
	*text = ~0ul;
	*end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		*text = start < *text ? start : *text;
		*end = start + p->p_memsz > *end ? start + p->p_memsz : *end;
	}
	return *text < *end && *end - *text <= UINT32_MAX;
}

static struct hodo_func_object *known_object(uintptr_t text, uintptr_t end, uintptr_t base)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		struct hodo_func_object *o = &hodo_func_objects[i];

		if (o->in_use && o->text == text && o->text_end == end && o->base == base)
			return o;
	}
	return 0;
}

static void drop_functions(struct hodo_func_object *o)
{
	if (o->functions_room) /* dispatch may be reading them */
		hodo_grace_retire(o->functions, o->functions_room * sizeof(*o->functions));
	o->functions = 0;
	o->nfunctions = o->functions_room = 0;
}

/* It is no longer mapped: no thread is in its mirrors. */
static void forget(struct hodo_func_object *o)
{
	hodo_thread_forget(o->base);
	hodo_engine_forget(o->text, o->text_end);
	hodo_names_changed();
	if (o->slots_room)
		hodo_sys2(SYS_munmap, o->slots, o->slots_room * sizeof(*o->slots));
	for (int i = 0; i < 2; i++) {
		if (o->mirrors[i].bytes)
			hodo_sys2(SYS_munmap, o->mirrors[i].at, o->mirrors[i].bytes);
	}
	drop_functions(o);
	o->in_use = false;
}

/* A known object at the same place must have been unloaded. */
static struct hodo_func_object *new_object(uintptr_t text, uintptr_t end)
{
	struct hodo_func_object *room = 0;

	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		struct hodo_func_object *o = &hodo_func_objects[i];

		if (o->in_use && !o->seen && o->text < end && o->text_end > text)
			forget(o);
		if (!o->in_use && !room)
			room = o;
	}
	if (!room && hodo_func_nobjects < HODO_FUNC_OBJECTS_MAX)
		room = &hodo_func_objects[hodo_func_nobjects++];
	return room;
}

/* The kinds of slots searched in every program, so that they are no-ops until they are wanted. */
static void look(struct hodo_func_object *o, const struct dl_phdr_info *info, const struct hodo_note_functions *note)
{
	struct hodo_scan scan = { .info = info, .object = o };

	if (note)
		scan_calls(&scan, note);
	hodo_scan_instrument(&scan);
	hodo_names_close(scan.names);
	hodo_scan_index(o);
}

/* The others, once functions are wanted; the slots known so far stay. */
static void look_closer(struct hodo_func_object *o, const struct dl_phdr_info *info)
{
	struct hodo_scan scan = { .info = info, .object = o };

	for (uint32_t i = 0; i < o->nslots && o->nfunctions; i++)
		o->slots[i].function = o->functions[o->slots[i].function].addr;
	drop_functions(o);
	if (!o->complete || o->left_out)
		hodo_scan_xray(&scan);
	if (!o->complete)
		hodo_scan_entry_only(&scan);
	hodo_scan_planned(&scan);
	hodo_scan_index(o);
	hodo_scan_roles(&scan);
	hodo_names_close(scan.names);
	o->complete = true;
}

static struct hodo_func_object *add_object(const struct dl_phdr_info *info, uintptr_t text, uintptr_t end)
{
	struct hodo_func_object *o = new_object(text, end);
	const char *path = hodo_objects_path(info);
	size_t n = __builtin_strlen(path);

	if (!o) {
		hodo_scan_report_limit("too many libraries are loaded at once: functions of further ones are not traced");
		return 0;
	}
	__builtin_memset(o, 0, sizeof(*o));
	n = n < sizeof(o->path) ? n : sizeof(o->path) - 1;
	__builtin_memcpy(o->path, path, n);
	o->base = info->dlpi_addr;
	o->text = text;
	o->text_end = end;
	o->in_use = true;
	return o;
}

static bool all_known(const struct hodo_func_object *o)
{
	return !hodo_func_wanted || (o->complete && hodo_planned_known(o));
}

int64_t hodo_slots_object(const struct dl_phdr_info *info, const struct hodo_note_functions *note, bool is_short)
{
	struct hodo_func_object *o;
	uintptr_t text, end;

	if (!text_range(info, &text, &end))
		return hodo_func_wanted ? 0 : ~0;
	o = known_object(text, end, info->dlpi_addr);
	if (!o) {
		o = hodo_loader_blind ? 0 : add_object(info, text, end);
		if (!o)
			return ~0;
		look(o, info, note);
	} else if (!selecting && all_known(o)) {
		o->seen = true;
		o->is_short = is_short;
		return hodo_func_wanted ? (int64_t)o->nfunctions : ~(int64_t)o->nfunctions;
	}
	o->seen = true;
	o->is_short = is_short;
	if (!all_known(o))
		look_closer(o, info);
	hodo_select_object(o, info);
	return hodo_func_wanted ? (int64_t)o->nfunctions : ~(int64_t)o->nfunctions;
}

/* A set is new: find its functions. */
void hodo_slots_select(void)
{
	selecting = true;
	hodo_objects_scan();
	selecting = false;
}

void hodo_slots_scan_begin(void)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++)
		hodo_func_objects[i].seen = false;
}

/* Objects no longer mapped are forgotten without being touched. */
void hodo_slots_scan_end(void)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		if (hodo_func_objects[i].in_use && !hodo_func_objects[i].seen)
			forget(&hodo_func_objects[i]);
	}
}

/* ------------------------------------------------------------------- patching */

static void patch_object(struct hodo_func_object *o, uint64_t sets, struct hodo_patch *patch)
{
	const uint64_t all_planned = hodo_select_planned();

	for (uint32_t i = 0; i < o->nslots && o->nfunctions; i++) {
		const struct hodo_slot *s = &o->slots[i];
		const struct hodo_function *f = &o->functions[s->function];
		bool used = s->kind >= HODO_SLOT_PLANNED || (s->kind != HODO_SLOT_UNUSED && !f->planned);
		bool wanted = used && f->sets & sets;
		uint8_t want = wanted ? s->on : s->off;
		uint8_t is = *(const volatile uint8_t *)(o->text + s->addr);

		if (s->kind >= HODO_SLOT_PLANNED) {
			hodo_engine_want(o->text + s->addr, HODO_ENGINE_WANTED,
					 s->kind == HODO_SLOT_PLANNED ? wanted : sets & all_planned);
			continue;
		}
		if (s->kind == HODO_SLOT_XRAY && !hodo_xray_ready(o->text + s->addr))
			continue; /* the XRay runtime has patched it since */
		/*
		 * Anything else is not ours: perhaps a debugger's breakpoint, or a jump, which may contain
		 * any byte.
		 */
		if (is != want && (is == s->on || is == s->off) && !hodo_engine_has(o->text + s->addr))
			hodo_patch_byte(patch, o->text + s->addr, want);
	}
}

static void count(uint32_t found, uint32_t on)
{
	struct hodo_shm *shm = hodo_shm();

	if (!hodo_recording.on || !shm)
		return;
	/* The maximum so far: some may have been in a library that is closed by now. */
	if (found > shm->functions)
		hodo_store(&shm->functions, found);
	if (on > shm->functions_on)
		hodo_store(&shm->functions_on, on);
}

int hodo_slots_patch(uint64_t sets)
{
	static struct hodo_patch patch;
	uint32_t found = 0, on = 0;
	int error;

	if (!hodo_patch_possible())
		return sets ? -EOPNOTSUPP : 0; /* they stay calls, to a hook that does nothing */
	hodo_engine_want_landings(false);
	hodo_patch_begin(&patch);
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		struct hodo_func_object *o = &hodo_func_objects[i];

		if (!o->in_use)
			continue;
		patch_object(o, sets, &patch);
		found += o->nfunctions;
		for (uint32_t f = 0; f < o->nfunctions; f++)
			on += (o->functions[f].sets & sets) != 0;
	}
	if (sets)
		hodo_engine_want_landings(true);
	error = hodo_patch_end(&patch);
	if (!error)
		error = hodo_engine_apply();
	count(found, on);
	return error;
}
