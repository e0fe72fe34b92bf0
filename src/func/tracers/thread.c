/* SPDX-License-Identifier: MIT */
/*
 * thread.c - the thread tracer: reports functions that belong to a role (HODO_ONLY_IN) and are called in a
 * thread with another (hodo_thread_role()).
 *
 * Roles are interned (user/event/roles.c). Dispatch reads the table from functions to roles, which is changed under
 * the control lock, a word at a time: function 0 ends a probe sequence, 1 is a deleted entry.
 */
#include <core/bounded_text.h>
#include <func/func.h>
#include <func/names/names.h>
#include <func/slots/slots.h>
#include <func/threads.h>
#include "tracers.h"
#include <user/event/event.h>
#include <user/objects/objects.h>
#include <user/libc/sys.h>

#define FUNCTIONS_MAX 8192u
#define SLOTS (4 * FUNCTIONS_MAX)
#define SITES 4096u /* reported call sites, 2^n */
#define SITES_TRIED 64u
#define SLOT_DISTANCE_MAX 64u /* bytes from a function's start to its slot */

/* ------------------------------------------------------------ functions with roles */

static struct {
	uint64_t function; /* 0 free, 1 was in use */
	const char *role;
	uint64_t base; /* of its object */
} slots[SLOTS];
static uint32_t used; /* slots that are not free */

static uint32_t hash(uint64_t a)
{
	return (uint32_t)((a * 0x9e3779b97f4a7c15ull) >> 40);
}

static void add_function(uint64_t function, const char *role, uint64_t base)
{
	uint32_t i = hash(function) & (SLOTS - 1);

	for (; slots[i].function; i = (i + 1) & (SLOTS - 1)) {
		if (slots[i].function == function && slots[i].role == role)
			return;
	}
	if (used == FUNCTIONS_MAX)
		return;
	used++;
	slots[i].role = role;
	slots[i].base = base;
	hodo_store_release(&slots[i].function, function);
}

/*
 * Whether the function may be called in that role: it has the role, or has none. *wanted: one of its roles.
 */
static bool allowed(uint64_t function, const char *role, const char **wanted)
{
	bool any = false;
	uint64_t at;

	for (uint32_t i = hash(function) & (SLOTS - 1); (at = hodo_load_acquire(&slots[i].function));
	     i = (i + 1) & (SLOTS - 1)) {
		if (at != function)
			continue;
		any = true;
		*wanted = slots[i].role;
		if (role && hodo_bounded_is(slots[i].role, hodo_bounded_len(slots[i].role), role))
			return true;
	}
	return !any;
}

/* -------------------------------------------------------------------- the tracer */

static uint64_t reported[SITES];

/* Once the table is full, nothing more is reported. */
static bool first_time(uint64_t function, uint64_t site)
{
	uint64_t key = (function ^ (site << 21 | site >> 43)) * 0x9e3779b97f4a7c15ull | 1;
	uint32_t i = (uint32_t)(key >> 40);

	for (uint32_t n = 0; n < SITES_TRIED; n++, i++) {
		uint64_t *t = &reported[i & (SITES - 1)], was = hodo_load(t);

		if (was == key)
			return false;
		if (was == 0 && hodo_cas_acquire(t, &was, key))
			return true;
		if (was == key)
			return false;
	}
	return false;
}

static void put_text(struct hodo_piece *pieces, uint16_t *length, const char *text)
{
	*length = text ? (uint16_t)hodo_bounded_len(text) : HODO_NULL_TEXT_LEN;
	pieces[0] = (struct hodo_piece){ length, sizeof(*length) };
	pieces[1] = (struct hodo_piece){ text ? text : HODO_NULL_TEXT, *length };
}

static void report(struct hodo_func_thread *t, uint64_t function, const char *wanted, const char *role)
{
	uint16_t wanted_length, role_length;
	struct hodo_piece pieces[7] = { { &function, sizeof(function) } };
	uint32_t n = hodo_func_chain(&t->shadow, t->chain, sizeof(t->chain) / sizeof(t->chain[0]));
	size_t total = 0;

	put_text(&pieces[1], &wanted_length, wanted);
	put_text(&pieces[3], &role_length, role);
	pieces[5] = (struct hodo_piece){ &n, sizeof(n) };
	pieces[6] = (struct hodo_piece){ t->chain, n * sizeof(t->chain[0]) };
	for (unsigned i = 0; i < 7; i++)
		total += pieces[i].len;
	hodo_func_emit_pieces(HODO_FUNC_WRONG_THREAD, pieces, 7, total);
}

/* What distinguishes call sites: the return address, or, if that is not known or was replaced, the caller. */
static uint64_t site_of(const struct hodo_shadow *shadow, const struct hodo_frame *frame)
{
	if (!frame->sp && !(hodo_func_config.flags & HODO_FUNCTIONS_RETURNS))
		return *(const uint64_t *)frame->at;
	return shadow->n > 1 ? shadow->frames[shadow->n - 2].function : 0;
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	struct hodo_func_thread *t = hodo_func_thread(shadow);
	const char *role = hodo_tls.role ? hodo_tls.role : t->main ? "main" : 0, *wanted = 0;

	if (allowed(frame->function, role, &wanted))
		return;
	if (!first_time(frame->function, site_of(shadow, frame)))
		return;
	report(t, frame->function, wanted, role);
	if (hodo_func_config.flags & HODO_FUNCTIONS_ABORT)
		hodo_sys3(SYS_tgkill, hodo_sys0(SYS_getpid), hodo_gettid(), 6 /* SIGABRT */);
}

/* -------------------------------------------------------------------- objects and roles */

/*
 * The function that begins at start has the role. Padding may separate its first byte from its slot, so that
 * dispatch derives another address from the slot than the symbol's: that address gets the role, too.
 */
static void add_named(const struct hodo_func_object *o, const struct hodo_names *names, uintptr_t start,
		      const char *role)
{
	uint32_t s = hodo_search(i, o->nslots, o->text + o->slots[i].addr >= start);
	uintptr_t slot = s < o->nslots ? o->text + o->slots[s].addr : 0, other = start;

	add_function(start, role, o->base);
	if (!slot || o->slots[s].at != HODO_AT_ENTRY || slot - start > SLOT_DISTANCE_MAX)
		return;
	if (names)
		hodo_names_find(names, slot, &other);
	if (other != start) /* this one cannot be traced; the next one can */
		return;
	add_function(o->text + o->functions[o->slots[s].function].addr, role, o->base);
	if (o->slots[s].kind == HODO_SLOT_CALL || o->slots[s].kind == HODO_SLOT_XRAY)
		add_function(hodo_slot_function(slot + (o->slots[s].kind == HODO_SLOT_XRAY)), role, o->base);
}

/* The text, interned; NULL: it is not valid. */
static const char *role_of(uintptr_t name)
{
	size_t room = hodo_objects_room(name, PF_R);
	uint32_t length = 0;

	while (length < room && length < HODO_ROLE_MAX && ((const char *)name)[length])
		length++;
	if (length == 0 || length >= HODO_ROLE_MAX || length == room)
		return 0;
	return hodo_role_intern((const char *)name, length);
}

/* All units of an object share the same note. */
static void take_note(const struct dl_phdr_info *info, uint32_t type, const void *desc, size_t size, void *note)
{
	if (type == HODO_NOTE_ROLES && size == sizeof(struct hodo_note_roles))
		*(const struct hodo_note_roles **)note = desc;
}

void hodo_scan_roles(struct hodo_scan *scan)
{
	const struct hodo_func_object *o = scan->object;
	const struct hodo_note_roles *note = 0;
	uintptr_t start, end;

	hodo_objects_notes(scan->info, "Hodo", take_note, &note);
	start = note ? HODO_TARGET(note->roles_start) : 0;
	end = note ? HODO_TARGET(note->roles_stop) : 0;
	if (start >= end || hodo_objects_room(start, PF_R) < end - start || !o->nfunctions)
		return; /* no HODO_ONLY_IN in the object */
	for (const struct hodo_role *r = (const struct hodo_role *)start; (uintptr_t)(r + 1) <= end; r++) {
		const struct hodo_names *names = hodo_scan_names(scan);
		uintptr_t addr = HODO_TARGET(r->addr), function;
		const char *role = role_of(HODO_TARGET(r->name));

		if (!role || addr < o->text || addr >= o->text_end)
			continue;
		if (!names || !*hodo_names_find(names, addr, &function)) /* no symbols: the traceable one before it */
			function = o->text + o->functions[hodo_function_before(o->functions, o->nfunctions,
									      (uint32_t)(addr - o->text))].addr;
		if (function <= addr)
			add_named(o, names, function, role);
	}
}

void hodo_thread_forget(uintptr_t base)
{
	for (uint32_t i = 0; used && i < SLOTS; i++) {
		if (slots[i].function > 1 && slots[i].base == base)
			hodo_store_release(&slots[i].function, 1);
	}
}

static int start(const struct hodo_functions_config *config)
{
	for (uint32_t i = 0; i < SITES; i++)
		hodo_store(&reported[i], 0);
	return 0;
}

const struct hodo_builtin_ops hodo_builtin_thread = { .enter = enter, .start = start };
