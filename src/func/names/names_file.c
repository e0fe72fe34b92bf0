/* SPDX-License-Identifier: MIT */
/*
 * names_file.c - the files of loaded objects, and their separate debug files.
 *
 * They are read into our own memory, not mapped: truncating a mapped file would raise SIGBUS in the traced
 * program. They may be hostile: every offset is checked against the file's size. A file is used only if it is
 * the loaded one: the same build-id, or if there is none, the same program headers.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <core/note.h>
#include "names_file.h"
#include <errno.h>
#include <user/libc/sys.h>

#ifndef HODO_NAMES_DEBUG /* the tests have their own */
#define HODO_NAMES_DEBUG "/usr/lib/debug"
#endif
#define SECTIONS_MAX 65536u
#define PART_MAX (1ull << 30) /* bytes of a symbol table, or of its strings */
#define NOTES_MAX 4096u /* bytes of a segment of notes that are searched */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* ----------------------------------------------------------------------- reading */

static bool read_all(long fd, uint64_t offset, void *to, size_t bytes)
{
	uint8_t *p = to;

	while (bytes > 0) {
		long n = hodo_sys4(SYS_pread64, fd, p, bytes, offset);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

/* If /proc/self/mem cannot be opened, the memory is read directly: it was mapped when the object was seen. */
bool hodo_names_peek(uintptr_t from, void *to, size_t bytes)
{
	long fd = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
	bool good;

	if (fd < 0) {
		__builtin_memcpy(to, (const void *)from, bytes);
		return true;
	}
	good = read_all(fd, from, to, bytes);
	hodo_sys1(SYS_close, fd);
	return good;
}

static void *part(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes)
{
	if (bytes > PART_MAX || offset > f->size || bytes > f->size - offset ||
	    !read_all(f->fd, offset, f->image + offset, bytes))
		return 0;
	return f->image + offset;
}

void *hodo_names_file_table(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes)
{
	return offset % sizeof(void *) ? 0 : part(f, offset, bytes);
}

char *hodo_names_file_texts(const struct hodo_names_file *f, uint32_t section, uint64_t *bytes)
{
	const ElfW(Shdr) *s = section < f->nsections ? &f->sections[section] : 0;
	char *p;

	*bytes = s && s->sh_type == SHT_STRTAB ? s->sh_size : 0;
	p = *bytes ? part(f, s->sh_offset, *bytes) : 0;
	return p && !p[*bytes - 1] ? p : 0;
}

/* --------------------------------------------------------------------- identity */

static bool find_build_id(const uint8_t *notes, size_t bytes, struct hodo_build_id *id)
{
	const uint8_t *at = notes;
	struct hodo_elf_note note;

	while (hodo_note_next(&at, notes + bytes, &note)) {
		if (note.type != NT_GNU_BUILD_ID || !hodo_note_is(&note, "GNU", 4) || note.size == 0 ||
		    note.size > HODO_BUILD_ID_MAX)
			continue;
		id->n = note.size;
		__builtin_memcpy(id->bytes, note.desc, note.size);
		return true;
	}
	return false;
}

static size_t notes_bytes(uint64_t bytes)
{
	return bytes < NOTES_MAX ? (size_t)bytes : NOTES_MAX;
}

void hodo_names_identify(const struct dl_phdr_info *info, struct hodo_build_id *id)
{
	uint8_t *notes = hodo_map(NOTES_MAX); /* stacks may be small */

	id->n = 0;
	for (int i = 0; i < info->dlpi_phnum && notes && !id->n; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		size_t n = notes_bytes(p->p_memsz);

		if (p->p_type == PT_NOTE && hodo_names_peek(info->dlpi_addr + p->p_vaddr, notes, n))
			find_build_id(notes, n, id);
	}
	if (notes)
		hodo_sys2(SYS_munmap, notes, NOTES_MAX);
}

static bool has_id(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes,
		   const struct hodo_build_id *wanted)
{
	size_t n = notes_bytes(bytes);
	const uint8_t *notes = part(f, offset, n);
	struct hodo_build_id id;

	return notes && find_build_id(notes, n, &id) && id.n == wanted->n &&
	       __builtin_memcmp(id.bytes, wanted->bytes, id.n) == 0;
}

/* A debug file's segments describe the program's layout, not its own; its sections describe that. */
static bool is_meant(const struct hodo_names_file *f, const struct dl_phdr_info *info, const struct hodo_build_id *id)
{
	if (!id->n)
		return info && f->nphdr == info->dlpi_phnum &&
		       __builtin_memcmp(f->phdr, info->dlpi_phdr, f->nphdr * sizeof(*f->phdr)) == 0;
	for (uint32_t i = 0; info && i < f->nphdr; i++) {
		const ElfW(Phdr) *p = &f->phdr[i];

		if (p->p_type == PT_NOTE && has_id(f, p->p_offset, p->p_filesz, id))
			return true;
	}
	for (uint32_t i = 0; !info && i < f->nsections; i++) {
		const ElfW(Shdr) *s = &f->sections[i];

		if (s->sh_type == SHT_NOTE && has_id(f, s->sh_offset, s->sh_size, id))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------- files */

bool hodo_names_header(const ElfW(Ehdr) *h)
{
	return __builtin_memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == OWN_CLASS &&
	       h->e_ident[EI_DATA] == OWN_DATA && (h->e_type == ET_EXEC || h->e_type == ET_DYN) &&
	       h->e_phentsize == sizeof(ElfW(Phdr));
}

/* A file may have no sections; if there are too many, the first one has their number. */
static void read_headers(struct hodo_names_file *f)
{
	const ElfW(Ehdr) *h = f->header;
	const ElfW(Shdr) *first;
	uint64_t n;

	n = h->e_phnum;
	f->phdr = hodo_names_file_table(f, h->e_phoff, n * sizeof(*f->phdr));
	f->nphdr = f->phdr ? (uint32_t)n : 0;
	if (!h->e_shoff || h->e_shentsize != sizeof(*first))
		return;
	first = hodo_names_file_table(f, h->e_shoff, sizeof(*first));
	n = h->e_shnum ? h->e_shnum : first ? first->sh_size : 0;
	f->sections = n <= SECTIONS_MAX ? hodo_names_file_table(f, h->e_shoff, n * sizeof(*first)) : 0;
	f->nsections = f->sections ? (uint32_t)n : 0;
	n = h->e_shstrndx == SHN_XINDEX && first ? first->sh_link : h->e_shstrndx;
	f->section_names = hodo_names_file_texts(f, (uint32_t)n, &f->section_names_bytes);
}

bool hodo_names_file_open(struct hodo_names_file *f, const char *path, const struct dl_phdr_info *info,
			  const struct hodo_build_id *id)
{
	struct statx st;

	*f = (struct hodo_names_file){ 0 };
	f->fd = hodo_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (f->fd < 0)
		return false;
	if (hodo_sys6(SYS_statx, f->fd, (long)"", AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&st, 0) == 0 &&
	    S_ISREG(st.stx_mode)) {
		f->size = st.stx_size;
		f->image = hodo_map(f->size);
	}
	f->header = f->image ? part(f, 0, sizeof(*f->header)) : 0;
	if (f->header && hodo_names_header(f->header)) {
		read_headers(f);
		if (is_meant(f, info, id))
			return true;
	}
	hodo_sys1(SYS_close, f->fd);
	hodo_names_file_close(f);
	return false;
}

/* "/usr/lib/debug/.build-id/xx/yyyy.debug" */
bool hodo_names_file_debug(struct hodo_names_file *f, const struct hodo_build_id *id)
{
	static const char front[] = HODO_NAMES_DEBUG "/.build-id/", digits[] = "0123456789abcdef";
	char path[sizeof(front) + 2 * HODO_BUILD_ID_MAX + sizeof("/.debug")], *p = path + sizeof(front) - 1;

	__builtin_memcpy(path, front, sizeof(front));
	for (uint32_t i = 0; i < id->n; i++) {
		*p++ = digits[id->bytes[i] >> 4];
		*p++ = digits[id->bytes[i] & 15];
		if (i == 0)
			*p++ = '/';
	}
	__builtin_memcpy(p, ".debug", sizeof(".debug"));
	return id->n && hodo_names_file_open(f, path, 0, id);
}

void hodo_names_file_done(struct hodo_names_file *f)
{
	if (f->image)
		hodo_sys1(SYS_close, f->fd);
}

void hodo_names_file_close(struct hodo_names_file *f)
{
	if (f->image)
		hodo_sys2(SYS_munmap, f->image, f->size);
	f->image = 0;
}
