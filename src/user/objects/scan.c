/* SPDX-License-Identifier: MIT */
/*
 * scan.c - finds the loaded objects' sites, through their notes (struct hodo_note), by dl_iterate_phdr.
 *
 * Runs under the control lock, and inside the loader's while it maps or unmaps something; objects may not be
 * relocated yet, so only self-relative addresses are used.
 */
#include <dlfcn.h>
#include "extension.h"
#include "imports.h"
#include <user/libc/libc.h>
#include <user/process/process.h>
#include "objects.h"

/* hodo_state.how of tracepoints, and of events whose payload has texts or arrays besides values. */
#define HOW_GATHER 1u
#define HOW_PROBES 2u

bool hodo_objects_foreign, hodo_objects_refused;

static bool site_valid(const struct hodo_site *s)
{
	const uint8_t *code = (const uint8_t *)HODO_TARGET(s->addr);
	int32_t distance;

	if (s->addr == 0)
		return s->cold == 0 || hodo_objects_room(HODO_TARGET(s->cold), PF_W) >= sizeof(uint16_t);
	if (hodo_objects_room((uintptr_t)code, PF_X | PF_R) < 5)
		return false;
	__builtin_memcpy(&distance, code + 1, sizeof(distance));
	return (code[0] == 0xa9 || code[0] == 0xe9) && (uintptr_t)(code + 5 + distance) == HODO_TARGET(s->cold);
}

void hodo_state_bind(struct hodo_state *state, struct hodo_event *event, const struct hodo_desc *desc)
{
	if (!event->states && hodo_recording.on)
		hodo_rules_select(event);
	state->values = event->varying ? desc->nlabels : event->room;
	state->how = event->varying ? HOW_GATHER : 0;
	state->how |= event->kind == HODO_KIND_TRACEPOINT ? HOW_PROBES : 0;
	state->event = event;
	state->id = event->id;
	state->on = hodo_recording.on ? &hodo_on_words()[event->id] : &hodo_zero_on;
	event->states++;
}

/*
 * The current object's ABI version if it was built with other headers; nothing else is known of it then. 0:
 * ours.
 */
static uint8_t other_version;

static void warn_version(const char *path)
{
	char theirs[4] = "", ours[4] = "";

	hodo_fixed_text_number(theirs, sizeof(theirs), other_version);
	hodo_fixed_text_number(ours, sizeof(ours), HODO_ABI_VERSION);
	hodo_catalog_warn(path, ": its events are for version ", theirs, " of Hodoscope's headers, but "
			  "this libhodo records version ", ours, ": compile it with this version's headers");
	hodo_objects_refused = true;
}

static void add_site(const struct hodo_site *s, const char *object)
{
	struct hodo_state *state = (struct hodo_state *)HODO_TARGET(s->state);
	const struct hodo_desc *desc = (const struct hodo_desc *)HODO_TARGET(s->desc);
	size_t size = hodo_objects_room((uintptr_t)desc, PF_R);
	struct hodo_event *event;

	if (size < sizeof(*desc) || !site_valid(s))
		return;
	if (desc->version != HODO_ABI_VERSION) {
		other_version = desc->version;
		return;
	}
	if (s->state == 0) {
		if (desc->kind == HODO_KIND_LABELS)
			hodo_registry_labels(desc, size);
		return;
	}
	if (hodo_objects_room((uintptr_t)state, PF_W) < sizeof(*state) || state->event || state->refused)
		return;
	event = hodo_registry_add(desc, size, object);
	if (!event) {
		state->refused = 1;
		return;
	}
	hodo_registry_event_labels(event, desc, size);
	if (!s->addr && s->cold)
		hodo_want_guard();
	hodo_state_bind(state, event, desc);
	hodo_registry_publish(event);
}

/* libhodo's own note, like an object's: it tells another copy that this process is already served. */
__attribute__((used)) HODO_HIDDEN const struct hodo_ops *hodo_library_ops;
__asm__(".pushsection .note.hodo,\"a\",@note\n"
	".balign 4\n"
	".long 5, 16, 4\n" /* HODO_NOTE_LIBRARY */
	".asciz \"Hodo\"\n"
	".balign 4\n"
	".long 0, 0, hodo_library_ops-., 0\n"
	".popsection\n");

/* Sets where the object's sites jump to, if it has any. */
static void open_door(const struct hodo_note *note)
{
#ifdef __x86_64__
	void (**enter)(void) = (void (**)(void))HODO_TARGET(note->enter);

	if (!note->enter || hodo_objects_room((uintptr_t)enter, PF_W) < HODO_ENTERS * sizeof(*enter))
		return;
	hodo_store_release(&enter[HODO_ENTER_SITE], hodo_x86_site);
	hodo_store_release(&enter[HODO_ENTER_SPAN_END], hodo_x86_span_end);
#endif
}

/* Whether the note's object is to be served from now on. */
static bool serve(const struct hodo_note *note)
{
	const struct hodo_ops **ops = (const struct hodo_ops **)HODO_TARGET(note->ops);

	if (hodo_objects_room((uintptr_t)ops, PF_W) < sizeof(*ops) || *ops == &hodo_user_ops)
		return false;
	if (*ops) {
		hodo_objects_foreign = true;
		return false;
	}
	/* Before any of its sites can be made to jump. */
	open_door(note);
	hodo_store_release(ops, &hodo_user_ops);
	return true;
}

static void add_sites(struct hodo_object *o, const struct dl_phdr_info *info, const struct hodo_note *note)
{
	const struct hodo_site *sites = (const struct hodo_site *)HODO_TARGET(note->sites_start);
	const struct hodo_site *end = (const struct hodo_site *)HODO_TARGET(note->sites_stop);
	const char *path;

	if (!serve(note))
		return;
	if (sites > end ||
	    hodo_objects_room((uintptr_t)sites, PF_R) < (size_t)((const char *)end - (const char *)sites))
		sites = end = 0; /* an object without sites has no such section */
	o->sites = sites;
	o->sites_end = end;
	path = hodo_objects_path(info);
	other_version = 0;
	for (const struct hodo_site *s = sites; s < end; s++)
		add_site(s, path);
	if (other_version)
		warn_version(path);
}

struct looked {
	struct hodo_object *object;
	const struct hodo_note_functions *functions;
};

static void take_note(const struct dl_phdr_info *info, uint32_t type, const void *desc, size_t size, void *data)
{
	struct looked *l = data;

	if (size != sizeof(struct hodo_note)) /* as in all kinds of ours */
		return;
	if (type == HODO_NOTE_TYPE && l->object)
		add_sites(l->object, info, desc);
	else if (type == HODO_NOTE_FUNCTIONS)
		l->functions = desc;
	else if (type == HODO_NOTE_LIBRARY)
		serve(desc);
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct looked l = { hodo_objects_look_at(info), 0 };

	hodo_objects_notes(info, "Hodo", take_note, &l);
	hodo_loaded_object(l.object, info, l.functions);
	return 0;
}

/* apart: the objects in other namespaces have been looked at. */
static int look_everywhere(struct dl_phdr_info *info, size_t size, void *apart)
{
	if (!*(bool *)apart)
		hodo_namespaces_each(look, 0);
	*(bool *)apart = true;
	return look(info, size, 0);
}

static void count_state(const struct hodo_site *site, struct hodo_state *state, void *data)
{
	state->event->states++;
}

static int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *) = dl_iterate_phdr;

/*
 * Finds libc's dl_iterate_phdr, even if the program interposes one: a sanitizer's cannot be called before its
 * constructor. Weak: a static program has no dlsym, and nothing is interposed. In the constructor, before the
 * control lock: dlsym() takes the loader's lock, and a thread in dlopen() that holds it may wait for the
 * control lock.
 */
void hodo_objects_prepare(void)
{
	extern __typeof__(dlsym) dlsym __attribute__((weak));
	void *own = &dlsym ? dlsym(RTLD_NEXT, "dl_iterate_phdr") : 0;

	/* Before the first scan: an earlier copy of the library may already serve this process. */
	hodo_objects_foreign = hodo_library_ops && hodo_library_ops != &hodo_user_ops;
	if (own)
		*(void **)&iterate = own;
	if (hodo_libc_debug())
		iterate = hodo_libc_objects_each;
	hodo_libc_objects_settle();
	if (&dlsym)
		hodo_imports_places();
}

void hodo_objects_scan(void)
{
	bool apart = false;

	hodo_loaded_begin();
	iterate(look_everywhere, &apart);
	if (!hodo_loaded_end())
		return;
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_events[i].states = 0;
	hodo_objects_each(count_state, 0);
	if (hodo_func)
		hodo_func->states();
}

void hodo_objects_scan_once(void)
{
	static bool scanned;

	if (!scanned)
		hodo_objects_scan();
	scanned = true;
}
