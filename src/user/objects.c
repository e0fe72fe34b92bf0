/* SPDX-License-Identifier: MIT */
/*
 * objects.c - the loaded objects that hold sites, found through their notes
 * (struct hodo_note) by dl_iterate_phdr.
 *
 * Runs under the control lock, and inside the loader's while it maps or unmaps
 * something; objects may not be relocated yet, so only self-relative places
 * are followed.
 */
#include <dlfcn.h>
#include "sys.h"
#include "user.h"

static struct hodo_object objects[HODO_OBJECTS_MAX];
static unsigned nobjects;
const struct hodo_extension *hodo_func = &hodo_extension;
bool hodo_objects_foreign;

struct range {
	uintptr_t start, end;
	uint32_t flags;
};
static struct range ranges[16]; /* PT_LOAD of the object being looked at */
static unsigned nranges;

/* Bytes from p to the end of the mapped segment with these flags, 0 if it is in none. */
size_t hodo_objects_room(uintptr_t p, uint32_t flags)
{
	for (unsigned i = 0; i < nranges; i++) {
		if (p >= ranges[i].start && p < ranges[i].end && (ranges[i].flags & flags) == flags)
			return ranges[i].end - p;
	}
	return 0;
}

static void load_ranges(const struct dl_phdr_info *info)
{
	nranges = 0;
	for (int i = 0; i < info->dlpi_phnum && nranges < 16; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD) {
			ranges[nranges].start = info->dlpi_addr + p->p_vaddr;
			ranges[nranges].end = ranges[nranges].start + p->p_memsz;
			ranges[nranges++].flags = p->p_flags;
		}
	}
}

#define TARGET(field) ((uintptr_t)&(field) + (uintptr_t)(intptr_t)(field))

static bool site_valid(const struct hodo_site *s)
{
	const uint8_t *code = (const uint8_t *)TARGET(s->addr);
	int32_t distance;

	if (s->addr == 0)
		return true;
	if (hodo_objects_room((uintptr_t)code, PF_X | PF_R) < 5)
		return false;
	__builtin_memcpy(&distance, code + 1, sizeof(distance));
	return (code[0] == 0xa9 || code[0] == 0xe9) && (uintptr_t)(code + 5 + distance) == TARGET(s->cold);
}

static void bind_state(struct hodo_state *state, struct hodo_event *event)
{
	state->event = event;
	state->id = event->id;
	state->on = hodo_recording.on ? &hodo_on_words()[event->id] : &hodo_zero_on;
	event->states++;
}

#define REFUSED reserved[0]

static void add_site(const struct hodo_site *s, const char *object)
{
	struct hodo_state *state = (struct hodo_state *)TARGET(s->state);
	const struct hodo_desc *desc = (const struct hodo_desc *)TARGET(s->desc);
	size_t size = hodo_objects_room((uintptr_t)desc, PF_R);
	struct hodo_event *event;

	if (size < sizeof(*desc) || !site_valid(s))
		return;
	if (s->state == 0) {
		if (desc->kind == HODO_KIND_LABELS)
			hodo_registry_labels(desc, size);
		return;
	}
	if (hodo_objects_room((uintptr_t)state, PF_W) < sizeof(*state) || state->event || state->REFUSED)
		return;
	event = hodo_registry_add(desc, size, object);
	if (!event) {
		state->REFUSED = 1;
		return;
	}
	if (!event->states && hodo_recording.on)
		hodo_registry_select(event);
	bind_state(state, event);
	hodo_registry_publish(event);
}

/* The path of an object, for the catalogue; the main program's has no name in the loader's list. */
const char *hodo_objects_path(const struct dl_phdr_info *info)
{
	static char exe[512];
	long n;

	if (info->dlpi_name && *info->dlpi_name)
		return info->dlpi_name;
	n = hodo_sys3(SYS_readlink, "/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	return exe;
}

static void add_object(const struct dl_phdr_info *info, const struct hodo_note *note)
{
	const struct hodo_site *sites = (const struct hodo_site *)TARGET(note->sites_start);
	const struct hodo_site *end = (const struct hodo_site *)TARGET(note->sites_stop);
	const struct hodo_ops **ops = (const struct hodo_ops **)TARGET(note->ops);
	const char *path;
	struct hodo_object *o;

	for (unsigned i = 0; i < nobjects; i++) {
		if (objects[i].base == info->dlpi_addr && objects[i].ops == ops) {
			objects[i].seen = true;
			return;
		}
	}
	if (hodo_objects_room((uintptr_t)ops, PF_W) < sizeof(*ops) || nobjects == HODO_OBJECTS_MAX ||
	    hodo_loader_blind)
		return;
	if (*ops && *ops != &hodo_user_ops) {
		hodo_objects_foreign = true;
		return;
	}
	if (sites > end ||
	    hodo_objects_room((uintptr_t)sites, PF_R) < (size_t)((const char *)end - (const char *)sites))
		sites = end = 0; /* an object without sites has no such section */
	o = &objects[nobjects++];
	*o = (struct hodo_object){ info->dlpi_addr, sites, end, ops, true };
	/* Before any of its sites can be made to jump. */
	hodo_store_release(ops, &hodo_user_ops);
	path = hodo_objects_path(info);
	for (const struct hodo_site *s = sites; s < end; s++)
		add_site(s, path);
}

/* One of our notes; functions: set to the one of that kind. */
static void take_note(const struct dl_phdr_info *info, uint32_t type, const void *desc,
		      const struct hodo_note_functions **functions)
{
	if (type == HODO_NOTE_TYPE)
		add_object(info, desc);
	else if (type == HODO_NOTE_FUNCTIONS)
		*functions = desc;
	else if (type == HODO_NOTE_ROLES && hodo_func)
		hodo_func->roles(info, desc);
}

static void find_notes(const struct dl_phdr_info *info, const ElfW(Phdr) *segment,
		       const struct hodo_note_functions **functions)
{
	uintptr_t p = info->dlpi_addr + segment->p_vaddr, end = p + segment->p_memsz;
	size_t align = segment->p_align == 8 ? 8 : 4;

	if (segment->p_memsz > hodo_objects_room(p, PF_R))
		return;
	while (end - p >= 12 && p < end) {
		const uint32_t *head = (const uint32_t *)p; /* name size, descriptor size, type */
		uintptr_t name = p + 12, desc = p + ((12 + (size_t)head[0] + align - 1) & ~(align - 1));
		uintptr_t next = desc + (((size_t)head[1] + align - 1) & ~(align - 1));

		if (desc > end || desc < p || next < desc || next > end + align)
			return;
		/* All kinds of our notes have the same size. */
		if (head[0] == 5 && head[1] == sizeof(struct hodo_note) && desc + head[1] <= end &&
		    __builtin_memcmp((const void *)name, "Hodo", 5) == 0)
			take_note(info, head[2], (const void *)desc, functions);
		p = next;
	}
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct hodo_note_functions *functions = 0;

	load_ranges(info);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			find_notes(info, &info->dlpi_phdr[i], &functions);
	}
	hodo_loaded_object(info, functions);
	return 0;
}

/* Forgets objects that are no longer mapped; their memory is not touched, and how many states each event
 * has left is counted anew from those that stay. */
static void drop_unseen(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < nobjects; i++) {
		if (objects[i].seen)
			objects[kept++] = objects[i];
	}
	if (kept == nobjects)
		return;
	nobjects = kept;
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_events[i].states = 0;
	for (unsigned i = 0; i < nobjects; i++) {
		for (const struct hodo_site *s = objects[i].sites; s < objects[i].sites_end; s++) {
			struct hodo_state *state = (struct hodo_state *)TARGET(s->state);

			if (s->state && state->event)
				state->event->states++;
		}
	}
}

#ifdef __x86_64__
struct hodo_place hodo_places[HODO_REPLACED];

static bool in_libc(uintptr_t function)
{
	extern __typeof__(dladdr) dladdr __attribute__((weak));
	Dl_info info, libc;

	return !&dladdr || !dladdr((void *)function, &info) || !dladdr((void *)dl_iterate_phdr, &libc) ||
	       info.dli_fbase == libc.dli_fbase;
}

/* What libhodo is in front of is called on from there, until somebody wants functions. */
static void find_places(void)
{
	static const char *const names[HODO_REPLACED] = { "__cyg_profile_func_enter", "__cyg_profile_func_exit",
							  "mcount", "__fentry__" };
	void **const to[HODO_REPLACED] = { &hodo_x86_enter_to, &hodo_x86_exit_to, &hodo_x86_mcount_to,
					   &hodo_x86_fentry_to };

	for (unsigned i = 0; i < HODO_REPLACED; i++) {
		struct hodo_place *p = &hodo_places[i];

		p->at = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
		p->next = (uintptr_t)dlsym(RTLD_NEXT, names[i]);
		p->foreign = p->next && !in_libc(p->next);
		hodo_store_release(to[i], (void *)p->next);
	}
}
#endif

static int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *) = dl_iterate_phdr;

/*
 * Finds libc's dl_iterate_phdr, also where the program has one in front of it: a sanitizer's is not ready for a call
 * before its own constructor. Weak: a static program has no dlsym, and nothing in front. In the constructor, before
 * the control lock: dlsym() takes the loader's, which a thread in dlopen() holds that waits for the other.
 */
void hodo_objects_prepare(void)
{
	extern __typeof__(dlsym) dlsym __attribute__((weak));
	void *own = &dlsym ? dlsym(RTLD_NEXT, "dl_iterate_phdr") : 0;

	if (own)
		*(void **)&iterate = own;
#ifdef __x86_64__
	if (&dlsym)
		find_places();
#endif
}

void hodo_objects_scan(void)
{
	for (unsigned i = 0; i < nobjects; i++)
		objects[i].seen = false;
	hodo_loaded_begin();
	iterate(look, 0);
	drop_unseen();
	hodo_loaded_end();
}

void hodo_objects_each(void (*f)(struct hodo_object *object, const struct hodo_site *site, void *data), void *data)
{
	for (unsigned i = 0; i < nobjects; i++) {
		for (const struct hodo_site *s = objects[i].sites; s < objects[i].sites_end; s++)
			f(&objects[i], s, data);
	}
}

static void rebind(struct hodo_object *object, const struct hodo_site *site, void *data)
{
	struct hodo_state *state = (struct hodo_state *)TARGET(site->state);

	if (site->state && state->event)
		hodo_store_release(&state->on, hodo_recording.on ? &hodo_on_words()[state->id] : &hodo_zero_on);
}

void hodo_objects_rebind(void)
{
	hodo_objects_each(rebind, 0);
}
