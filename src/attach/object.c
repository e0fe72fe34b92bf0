/* SPDX-License-Identifier: MIT */
/*
 * object.c - the ELF objects mapped in the process, and their functions. Files are read through the process's
 * own root directory, with its rights, and only if they are the mapped ones; files that it may not read or
 * that have been deleted, and the vdso, which has no path, are read from its memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/rights.h>
#include <base/scope.h>

#include "attach_impl.h"

#define OBJECTS_MAX   16384u
#define NESTED_MAX    8u /* how many functions and labels may start inside one that covers an address */
#define IMAGE_MAX     (256u << 20)
#define SCAN_MAX      (64u << 20)

/* ------------------------------------------------------------------- opening */

static bool open_file(const struct hodo_attach_target *t, const struct hodo_proc_map *m, struct hodo_attach_object *o)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	char path[4096];
	struct stat st;

	if (hodo_rights_of_process(&rights, t->pid) < 0)
		return false;
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			snprintf(path, sizeof(path), "/proc/%d/root%s", (int)t->pid, m->name);
		else if (i == 1) /* its root directory is a part of ours (chroot): maps has the path that we see */
			snprintf(path, sizeof(path), "%s", m->name);
		else
			snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)t->pid,
				 (unsigned long long)m->start, (unsigned long long)m->end);
		if (hodo_elf_open(&o->file, path) < 0)
			continue;
		/* Some file systems report a different device in maps: the inode decides. */
		if (fstat(o->file.fd, &st) == 0 && st.st_ino == m->inode)
			return true;
		hodo_elf_close(&o->file);
	}
	return false;
}

/* The mapped part of the file. If its section headers are not in memory, it has no sections. */
static bool open_memory(const struct hodo_attach_target *t, const struct hodo_proc_map *first, uint32_t n,
			struct hodo_attach_object *o)
{
	uint64_t size = 0;
	Elf64_Ehdr *header;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = first[i].offset + (first[i].end - first[i].start);

		if (first[i].inode == first->inode && end > size)
			size = end;
	}
	if (size < sizeof(*header) || size > IMAGE_MAX)
		return false;
	o->image = calloc(1, size);
	if (!o->image)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (first[i].inode == first->inode && first[i].readable)
			hodo_attach_read(t, first[i].start, (char *)o->image + first[i].offset,
					 first[i].end - first[i].start);
	}
	header = o->image;
	if (header->e_shoff + (uint64_t)header->e_shnum * sizeof(Elf64_Shdr) > size || !first->inode == !o->name[0]) {
		header->e_shoff = 0;
		header->e_shnum = header->e_shstrndx = 0;
	}
	o->file.elf = elf_memory(o->image, size);
	return o->file.elf && elf_kind(o->file.elf) == ELF_K_ELF;
}

static bool find_bias(const struct hodo_proc_map *first, struct hodo_attach_object *o)
{
	GElf_Phdr p;

	for (size_t i = 0; hodo_elf_segment(o->file.elf, &i, PT_LOAD, 0, &p);) {
		if ((p.p_offset & ~4095ull) != first->offset)
			continue;
		o->bias = first->start - (p.p_vaddr & ~4095ull);
		return true;
	}
	return false;
}

/* ----------------------------------------------------------------- functions */

/* Labels without a size may be inside functions, and tell nothing about what follows them. */
static uint32_t sized_function_at(const struct hodo_elf_symbols *s, uint64_t address)
{
	uint32_t i = hodo_elf_symbols_at(s, address);

	for (uint32_t n = 0; i != HODO_ELF_NONE && n < NESTED_MAX; n++) {
		if (s->list[i].size && address < s->list[i].end)
			return i;
		i = i ? s->list[i - 1].first : HODO_ELF_NONE;
	}
	return HODO_ELF_NONE;
}

/* Of a function's names, an unsafe one if there is any, else the shown one. */
bool hodo_attach_function_at(const struct hodo_attach_object *o, uint64_t address, struct hodo_attach_function *f)
{
	const struct hodo_elf_symbols *s = &o->symbols;
	uint32_t first = sized_function_at(s, address - o->bias), next;

	if (first == HODO_ELF_NONE)
		return false;
	next = hodo_elf_symbols_next(s, first);
	*f = (struct hodo_attach_function){ .name = s->list[first].name };
	for (uint32_t i = first; i < next && !f->unsafe; i++) {
		f->unsafe = hodo_attach_name_unsafe(s->list[i].name);
		if (f->unsafe)
			f->name = s->list[i].name;
	}
	return true;
}

uint64_t hodo_attach_symbol(const struct hodo_attach_object *o, const char *name, uint64_t *size)
{
	GElf_Sym symbol;

	if (!hodo_elf_find_symbol(o->file.elf, name, &symbol))
		return 0;
	if (size)
		*size = symbol.st_size;
	return o->bias + symbol.st_value;
}

uint64_t hodo_attach_bytes(const struct hodo_attach_target *t, const struct hodo_attach_object *o, const void *bytes,
			   size_t len)
{
	for (uint32_t i = 0; i < t->nmaps; i++) {
		const struct hodo_proc_map *m = &t->maps[i];
		uint64_t size = m->end - m->start;
		const char *found;
		char *copy;

		if (m->start < o->start || m->end > o->end || !m->executable || !m->readable || size > SCAN_MAX)
			continue;
		copy = malloc(size);
		if (!copy)
			return 0;
		found = hodo_attach_read(t, m->start, copy, size) ? memmem(copy, size, bytes, len) : NULL;
		size = found ? m->start + (uint64_t)(found - copy) : 0;
		free(copy);
		if (size)
			return size;
	}
	return 0;
}

/* ---------------------------------------------------------------- the objects */

static void close_object(struct hodo_attach_object *o)
{
	hodo_elf_symbols_free(&o->symbols);
	hodo_elf_close(&o->file);
	free(o->image);
}

/* Consecutive mappings of one file, including anonymous ones between them. */
static uint32_t count_maps(const struct hodo_attach_target *t, uint32_t at)
{
	const struct hodo_proc_map *first = &t->maps[at];
	uint32_t n = 1, last = 1;

	if (!first->inode)
		return 1;
	while (at + n < t->nmaps) {
		const struct hodo_proc_map *m = &t->maps[at + n];

		if (m->inode == first->inode && m->dev == first->dev && m->offset > first->offset)
			last = n + 1;
		else if (m->inode)
			break;
		n++;
	}
	return last;
}

static bool add_object(struct hodo_attach_target *t, uint32_t at, uint32_t n)
{
	const struct hodo_proc_map *first = &t->maps[at];
	struct hodo_attach_object *o = &t->objects[t->nobjects];
	uint8_t magic[4];

	*o = (struct hodo_attach_object){ .start = first->start, .end = t->maps[at + n - 1].end, .name = first->name,
					  .file = HODO_ELF_CLOSED };
	if (!hodo_attach_read(t, first->start, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return false;
	if (((!first->inode || !open_file(t, first, o)) && !open_memory(t, first, n, o)) || !find_bias(first, o)) {
		close_object(o);
		return false;
	}
	o->kind = hodo_attach_object_kind(o->name);
	if (o->start == t->loader_base)
		o->kind = HODO_ATTACH_LOADER;
	if (hodo_elf_symbols_add(&o->symbols, o->file.elf) == 0)
		hodo_elf_symbols_sort(&o->symbols);
	t->nobjects++;
	return true;
}

static int find_libc(struct hodo_attach_target *t)
{
	for (uint32_t i = 0; i < t->nobjects; i++) {
		struct hodo_attach_object *o = &t->objects[i];

		if (strstr(o->name, "/ld-musl") || strstr(o->name, "/libc.musl") || strstr(o->name, "-musl/"))
			return hodo_why(t->why, -EOPNOTSUPP, "process %d uses musl, whose loader cannot load libhodo "
					"later: start it with HODO_LISTEN=1 and libhodo in LD_PRELOAD", t->pid);
		if (o->kind == HODO_ATTACH_LIBC && hodo_attach_symbol(o, "gnu_get_libc_version", NULL))
			t->libc = o;
		if (o->kind == HODO_ATTACH_HODO && hodo_attach_symbol(o, "hodo_attach_", NULL))
			t->hodo = o;
	}
	/* It may be linked into the program, static or not. */
	for (uint32_t i = 0; i < t->nobjects && !t->hodo; i++) {
		if (hodo_attach_symbol(&t->objects[i], "hodo_attach_", NULL))
			t->hodo = &t->objects[i];
	}
	if (t->libc)
		return 0;
	if (t->hodo && hodo_attach_symbol(t->hodo, "raise", NULL)) {
		t->libc = t->hodo;
		return 0;
	}
	if (!t->loader_base)
		return hodo_why(t->why, -EOPNOTSUPP, "process %d is a static program, which cannot load libraries: "
				"link it with libhodo.a", t->pid);
	return hodo_why(t->why, -EAGAIN, "process %d uses an unknown C library: start it with HODO_LISTEN=1", t->pid);
}

int hodo_attach_objects_open(struct hodo_attach_target *t)
{
	elf_version(EV_CURRENT);
	t->objects = calloc(t->nmaps < OBJECTS_MAX ? t->nmaps + 1 : OBJECTS_MAX, sizeof(*t->objects));
	if (!t->objects)
		return hodo_why(t->why, -ENOMEM, "out of memory");
	for (uint32_t i = 0, n; i < t->nmaps && t->nobjects < OBJECTS_MAX - 1; i += n) {
		const struct hodo_proc_map *m = &t->maps[i];

		n = 1;
		if (!m->readable || m->offset != 0 || (!m->inode && m->start != t->vdso_base))
			continue;
		n = count_maps(t, i);
		if (!add_object(t, i, n))
			n = 1;
	}
	return find_libc(t);
}

void hodo_attach_objects_close(struct hodo_attach_target *t)
{
	for (uint32_t i = 0; i < t->nobjects; i++)
		close_object(&t->objects[i]);
	free(t->objects);
	t->objects = NULL;
	t->nobjects = 0;
	t->libc = t->hodo = NULL;
}

static int compare_object(const void *address, const void *object)
{
	const struct hodo_attach_object *o = object;
	uint64_t at = *(const uint64_t *)address;

	return at < o->start ? -1 : at >= o->end;
}

struct hodo_attach_object *hodo_attach_object_at(const struct hodo_attach_target *t, uint64_t address)
{
	return bsearch(&address, t->objects, t->nobjects, sizeof(*t->objects), compare_object);
}
