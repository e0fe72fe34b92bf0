/* SPDX-License-Identifier: MIT */
/*
 * thread.c - the thread tracer: functions that belong to a role
 * (HODO_ONLY_IN) and are called in a thread of another (hodo_thread_role()).
 *
 * Roles are interned (user/roles.c). The table from functions to roles is read by dispatch and changed under the
 * control lock, a word at a time: function 0 ends a run of the open addressing, 1 was in use.
 */
#include <core/bounded_text.h>
#include "func.h"

#define NOTES_MAX 1024u
#define FUNCTIONS_MAX 8192u
#define SLOTS (4 * FUNCTIONS_MAX)
#define SITES 4096u /* call sites that were reported, 2^n */
#define SITES_TRIED 64u
#define SLOT_DISTANCE_MAX 64u /* bytes from a function's first to its slot */

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

/* Whether the function may be called in that role: it has it among its own, or has none. *wanted: one that it has. */
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

/* Whether this is the first time. Once the table is full nothing more is reported. */
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

/* What distinguishes call sites: the return address. Where that is not known, or was replaced, the caller. */
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

/* ------------------------------------------------------------- objects and their notes */

/* Taken over when the object is looked at; to which function each belongs is found when the tracer is wanted. */
static struct {
	uintptr_t addr; /* 0: free */
	const char *role;
	uint32_t note;
	bool resolved;
} marks[FUNCTIONS_MAX];
static struct {
	struct dl_phdr_info info; /* dlpi_phdr NULL: free */
	uintptr_t start;
} notes[NOTES_MAX];
static uint32_t nmarks, nnotes;

static void add_mark(const struct hodo_role *r, uint32_t note)
{
	uintptr_t addr = HODO_TARGET(r->addr), name = HODO_TARGET(r->name);
	size_t room = hodo_objects_room(name, PF_R);
	uint32_t length = 0, at = nmarks;
	const char *role;

	while (length < room && length < HODO_ROLE_MAX && ((const char *)name)[length])
		length++;
	if (length == 0 || length >= HODO_ROLE_MAX || length == room)
		return;
	role = hodo_role_intern((const char *)name, length);
	for (uint32_t i = 0; i < nmarks && at == nmarks; i++)
		at = marks[i].addr ? at : i;
	if (!role || at == FUNCTIONS_MAX)
		return;
	nmarks = at == nmarks ? nmarks + 1 : nmarks;
	marks[at].addr = addr;
	marks[at].role = role;
	marks[at].note = note;
	marks[at].resolved = false;
}

void hodo_thread_roles(const struct dl_phdr_info *info, const struct hodo_note_roles *note)
{
	uintptr_t start = HODO_TARGET(note->roles_start), end = HODO_TARGET(note->roles_stop);
	uint32_t at = nnotes;

	if (start >= end || (end - start) % sizeof(struct hodo_role) ||
	    hodo_objects_room(start, PF_R) < end - start)
		return; /* no HODO_ONLY_IN in the object */
	for (uint32_t i = 0; i < nnotes; i++) {
		if (!notes[i].info.dlpi_phdr)
			at = i;
		else if (notes[i].start == start)
			return; /* all of its units have the same */
	}
	if (at == NOTES_MAX)
		return;
	nnotes = at == nnotes ? nnotes + 1 : nnotes;
	notes[at].info = *info;
	notes[at].start = start;
	for (uintptr_t p = start; p < end; p += sizeof(struct hodo_role))
		add_mark((const struct hodo_role *)p, at);
}

static const struct hodo_func_object *object_at(uintptr_t addr)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		if (o->in_use && o->nfunctions && addr >= o->text && addr < o->text_end)
			return o;
	}
	return 0;
}

/* The traceable function that begins last before the address. For objects without symbols. */
static uintptr_t function_before(const struct hodo_func_object *o, uintptr_t addr)
{
	uintptr_t found = 0;

	for (uint32_t f = 0; f < o->nfunctions && o->text + o->functions[f].addr <= addr; f++)
		found = o->text + o->functions[f].addr;
	return found;
}

/* The first slot at or behind the address; nslots: none. */
static uint32_t slot_at(const struct hodo_func_object *o, uintptr_t addr)
{
	uint32_t low = 0, high = o->nslots;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->text + o->slots[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The function that begins at start has the role. Padding may stand between its first byte and its slot, so that what
 * dispatch takes for its address, judged by the slot, is not the symbol's: it has the role as well.
 */
static void add_named(const struct hodo_func_object *o, const struct hodo_names *names, uintptr_t start,
		      const char *role)
{
	uint32_t s = slot_at(o, start);
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

static void resolve(uint32_t note)
{
	const struct dl_phdr_info *info = &notes[note].info;
	struct hodo_names *names = 0;
	bool opened = false;

	for (uint32_t i = 0; i < nmarks; i++) {
		const struct hodo_func_object *o = object_at(marks[i].addr);
		uintptr_t start = 0;

		if (!marks[i].addr || marks[i].note != note || marks[i].resolved || !o)
			continue;
		if (!opened)
			names = hodo_names_open(info, hodo_objects_path(info));
		opened = marks[i].resolved = true;
		if (!names || !*hodo_names_find(names, marks[i].addr, &start))
			start = function_before(o, marks[i].addr);
		if (start)
			add_named(o, names, start, marks[i].role);
	}
	if (names)
		hodo_names_close(names);
}

static void objects(void)
{
	for (uint32_t i = 0; i < nnotes; i++) {
		if (notes[i].info.dlpi_phdr)
			resolve(i);
	}
}

void hodo_thread_forget(uintptr_t base)
{
	for (uint32_t i = 0; i < nmarks; i++) {
		if (marks[i].addr && notes[marks[i].note].info.dlpi_addr == base)
			marks[i].addr = 0;
	}
	for (uint32_t i = 0; i < nnotes; i++) {
		if (notes[i].info.dlpi_phdr && notes[i].info.dlpi_addr == base)
			notes[i].info.dlpi_phdr = 0;
	}
	for (uint32_t i = 0; used && i < SLOTS; i++) {
		if (slots[i].function > 1 && slots[i].base == base)
			hodo_store_release(&slots[i].function, 1);
	}
}

static int start(const struct hodo_functions_config *config)
{
	for (uint32_t i = 0; i < SITES; i++)
		hodo_store(&reported[i], 0);
	objects();
	return 0;
}

const struct hodo_builtin_ops hodo_builtin_thread = { .enter = enter, .start = start, .objects = objects };
