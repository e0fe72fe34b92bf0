/* SPDX-License-Identifier: MIT */
/*
 * objects.c - the loaded objects; the segments and notes of the current one (scan.c).
 *
 * Runs under the control lock, and inside the loader's while it maps or unmaps something.
 */
#include <core/note.h>
#include <user/process/process.h>
#include "objects.h"

struct hodo_object hodo_objects[HODO_OBJECTS_MAX];
uint32_t hodo_nobjects;

void hodo_objects_each(void (*f)(const struct hodo_site *site, struct hodo_state *state, void *data), void *data)
{
	for (uint32_t i = 0; i < hodo_nobjects; i++) {
		for (const struct hodo_site *s = hodo_objects[i].sites; s < hodo_objects[i].sites_end; s++) {
			struct hodo_state *state = (struct hodo_state *)HODO_TARGET(s->state);

			if (s->state && state->event)
				f(s, state, data);
		}
	}
}

void hodo_objects_set_planned(void)
{
	for (uint32_t i = 0; i < hodo_nobjects; i++)
		hodo_objects[i].planned = true;
}

/* ------------------------------------------------ the object being looked at */

struct range {
	uintptr_t start, end;
	uint32_t flags;
};
static struct range ranges[16]; /* PT_LOAD of the current object */
static unsigned nranges;
static const struct hodo_object *current; /* NULL: it is not in the table */

/* Bytes from p to the end of the mapped segment with these flags, 0 if it is in none. */
size_t hodo_objects_room(uintptr_t p, uint32_t flags)
{
	for (unsigned i = 0; i < nranges; i++) {
		if (p >= ranges[i].start && p < ranges[i].end && (ranges[i].flags & flags) == flags)
			return ranges[i].end - p;
	}
	return 0;
}

struct hodo_object *hodo_objects_look_at(const struct dl_phdr_info *info)
{
	struct hodo_object fresh = { .base = info->dlpi_addr, .start = ~0ul, .text = ~0ul }, *o = hodo_objects, *end;

	nranges = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		struct range r = { at, at + p->p_memsz, p->p_flags };

		if (p->p_type != PT_LOAD)
			continue;
		if (nranges < sizeof(ranges) / sizeof(ranges[0]))
			ranges[nranges++] = r;
		fresh.start = r.start < fresh.start ? r.start : fresh.start;
		fresh.end = r.end > fresh.end ? r.end : fresh.end;
		if (!(r.flags & PF_X))
			continue;
		fresh.text = r.start < fresh.text ? r.start : fresh.text;
		fresh.text_end = r.end > fresh.text_end ? r.end : fresh.text_end;
	}
	for (end = o + hodo_nobjects; o < end; o++) {
		if (o->base == fresh.base && o->start == fresh.start && o->end == fresh.end)
			break;
	}
	current = 0;
	if (o == end) {
		if (hodo_nobjects == HODO_OBJECTS_MAX || hodo_loader_blind)
			return 0;
		*o = fresh;
		hodo_nobjects++;
	}
	o->seen = true;
	current = o;
	return o;
}

bool hodo_objects_idle(void)
{
	return current && current->idle;
}

/* The path of an object, for the catalogue. The program itself has no name in the loader's list; in a static
 * program of musl's the name is misleading. */
const char *hodo_objects_path(const struct dl_phdr_info *info)
{
	static char exe[512];

	if (info->dlpi_name && *info->dlpi_name && __builtin_strcmp(info->dlpi_name, "/proc/self/exe") != 0)
		return info->dlpi_name;
	hodo_process_exe(exe, sizeof(exe));
	return exe;
}

void hodo_objects_notes(const struct dl_phdr_info *info, const char *name,
			void (*found)(const struct dl_phdr_info *info, uint32_t type, const void *desc, size_t size,
				      void *data),
			void *data)
{
	uint32_t name_size = (uint32_t)__builtin_strlen(name) + 1;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;
		const uint8_t *at = (const uint8_t *)start, *end = at + segment->p_memsz;
		struct hodo_elf_note note;

		if (segment->p_type != PT_NOTE || segment->p_memsz > hodo_objects_room(start, PF_R))
			continue;
		while (hodo_note_next(&at, end, &note)) {
			if (hodo_note_is(&note, name, name_size))
				found(info, note.type, note.desc, note.size, data);
		}
	}
}
