/* SPDX-License-Identifier: MIT */
/*
 * names_file.c - the files of loaded objects, and their separate debug files.
 *
 * They are read into memory of our own, not mapped: one that is cut short while it is mapped
 * would be a SIGBUS in the traced program. They are hostile input: every place in them is checked against the
 * file's size. A file counts only if it is the one that is loaded: the same build-id,
 * or where there is none, the same program headers.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "names_file.h"

#define SECTIONS_MAX 65536u
#define TABLE_MAX (1ull << 30) /* bytes of a symbol table, or of its strings */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* ----------------------------------------------------------------------- memory */

bool hodo_names_piece_make(struct hodo_names_piece *piece, size_t bytes)
{
	size_t mapped = (bytes + HODO_PAGE) & ~(size_t)(HODO_PAGE - 1);
	void *p = hodo_map(mapped);

	if (!p)
		return false;
	*piece = (struct hodo_names_piece){ p, bytes, mapped };
	return true;
}

void hodo_names_piece_free(struct hodo_names_piece *piece)
{
	if (piece->mapped)
		hodo_sys2(SYS_munmap, piece->p, piece->mapped);
	*piece = (struct hodo_names_piece){ 0 };
}

/* ------------------------------------------------------------------------- files */

long hodo_names_file(const char *path, uint64_t *size, uint64_t *device, uint64_t *inode)
{
	long fd = hodo_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	struct statx st;
	long error;

	if (fd < 0)
		return fd;
	error = hodo_sys6(SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&st, 0);
	if (error < 0 || !S_ISREG(st.stx_mode)) {
		hodo_sys1(SYS_close, fd);
		return error < 0 ? error : -EINVAL;
	}
	if (size)
		*size = st.stx_size;
	if (device)
		*device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	if (inode)
		*inode = st.stx_ino;
	return fd;
}

bool hodo_names_read(long fd, uint64_t offset, void *to, size_t bytes)
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

bool hodo_names_header(const ElfW(Ehdr) *h)
{
	return __builtin_memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == OWN_CLASS &&
	       h->e_ident[EI_DATA] == OWN_DATA && (h->e_type == ET_EXEC || h->e_type == ET_DYN) &&
	       h->e_phentsize == sizeof(ElfW(Phdr));
}

bool hodo_names_file_piece(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes,
			   struct hodo_names_piece *piece)
{
	if (bytes > TABLE_MAX || offset > f->size || bytes > f->size - offset ||
	    !hodo_names_piece_make(piece, bytes))
		return false;
	if (hodo_names_read(f->fd, offset, piece->p, bytes))
		return true;
	hodo_names_piece_free(piece);
	return false;
}

uint32_t hodo_names_file_count(const struct hodo_names_file *f)
{
	return (uint32_t)(f->sections.bytes / sizeof(ElfW(Shdr)));
}

const ElfW(Shdr) *hodo_names_file_section(const struct hodo_names_file *f, uint32_t i)
{
	return i < hodo_names_file_count(f) ? (const ElfW(Shdr) *)f->sections.p + i : 0;
}

void hodo_names_file_close(struct hodo_names_file *f)
{
	if (f->fd >= 0)
		hodo_sys1(SYS_close, f->fd);
	hodo_names_piece_free(&f->sections);
	hodo_names_piece_free(&f->section_names);
	f->fd = -1;
}

/* A file without sections is as good as one; they are counted in the first where there are too many. */
static void file_read_sections(struct hodo_names_file *f)
{
	uint64_t count = f->header.e_shnum, strings = f->header.e_shstrndx;
	const ElfW(Shdr) *names;
	ElfW(Shdr) first;

	if (!f->header.e_shoff || f->header.e_shentsize != sizeof(ElfW(Shdr)) ||
	    !hodo_names_read(f->fd, f->header.e_shoff, &first, sizeof(first)))
		return;
	count = count ? count : first.sh_size;
	strings = strings == SHN_XINDEX ? first.sh_link : strings;
	if (count == 0 || count > SECTIONS_MAX ||
	    !hodo_names_file_piece(f, f->header.e_shoff, count * sizeof(ElfW(Shdr)), &f->sections))
		return;
	names = hodo_names_file_section(f, (uint32_t)strings);
	if (names && names->sh_type == SHT_STRTAB)
		hodo_names_file_piece(f, names->sh_offset, names->sh_size, &f->section_names);
}

static bool file_open(struct hodo_names_file *f, const char *path)
{
	*f = (struct hodo_names_file){ .fd = -1 };
	f->fd = hodo_names_file(path, &f->size, 0, 0);
	if (f->fd < 0)
		return false;
	if (!hodo_names_read(f->fd, 0, &f->header, sizeof(f->header)) || !hodo_names_header(&f->header)) {
		hodo_names_file_close(f);
		return false;
	}
	file_read_sections(f);
	return true;
}

/* --------------------------------------------------------------------- identity */

/*
 * Bytes of the process's own memory that may be unmapped by now. Where its file is not to be had they
 * are simply read: they were there when the object was seen.
 */
static bool peek(uintptr_t from, void *to, size_t bytes)
{
	long fd = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
	bool good;

	if (fd < 0) {
		__builtin_memcpy(to, (const void *)from, bytes);
		return true;
	}
	good = hodo_names_read(fd, from, to, bytes);
	hodo_sys1(SYS_close, fd);
	return good;
}

static bool find_build_id(const uint8_t *p, size_t bytes, size_t align, struct hodo_build_id *id)
{
	const uint8_t *end = p + bytes;

	align = align == 8 ? 8 : 4;
	while ((size_t)(end - p) >= 12) {
		uint32_t head[3]; /* name size, descriptor size, type */
		size_t desc, next;

		__builtin_memcpy(head, p, sizeof(head));
		desc = (12 + (size_t)head[0] + align - 1) & ~(align - 1);
		next = desc + (((size_t)head[1] + align - 1) & ~(align - 1));
		if (desc > (size_t)(end - p) || head[1] > (size_t)(end - p) - desc)
			return false;
		if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && __builtin_memcmp(p + 12, "GNU", 4) == 0 &&
		    head[1] > 0 && head[1] <= HODO_BUILD_ID_MAX) {
			id->n = head[1];
			__builtin_memcpy(id->bytes, p + desc, head[1]);
			return true;
		}
		if (next >= (size_t)(end - p))
			return false;
		p += next;
	}
	return false;
}

static size_t notes_bytes(uint64_t bytes)
{
	return bytes < HODO_NAMES_NOTES_MAX ? (size_t)bytes : HODO_NAMES_NOTES_MAX;
}

static bool memory_build_id(const struct dl_phdr_info *info, uint8_t *notes, struct hodo_build_id *id)
{
	id->n = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		size_t n = notes_bytes(p->p_memsz);

		if (p->p_type == PT_NOTE && peek(info->dlpi_addr + p->p_vaddr, notes, n) &&
		    find_build_id(notes, n, p->p_align, id))
			return true;
	}
	return false;
}

static bool file_phdrs(const struct hodo_names_file *f, ElfW(Phdr) *phdr)
{
	return f->header.e_phnum <= HODO_NAMES_PHDRS_MAX &&
	       hodo_names_read(f->fd, f->header.e_phoff, phdr, f->header.e_phnum * sizeof(*phdr));
}

static bool same_id(const struct hodo_build_id *a, const struct hodo_build_id *b)
{
	return a->n == b->n && __builtin_memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* wanted: of the loaded object; n == 0: it has none. notes: room for HODO_NAMES_NOTES_MAX. */
static bool is_loaded_file(const struct hodo_names_file *f, const struct dl_phdr_info *info,
			   const struct hodo_build_id *wanted, uint8_t *notes, ElfW(Phdr) *phdr)
{
	struct hodo_build_id id = { 0 };

	if (!file_phdrs(f, phdr))
		return false;
	for (int i = 0; i < f->header.e_phnum && !id.n; i++) {
		size_t n = notes_bytes(phdr[i].p_filesz);

		if (phdr[i].p_type == PT_NOTE && hodo_names_read(f->fd, phdr[i].p_offset, notes, n))
			find_build_id(notes, n, phdr[i].p_align, &id);
	}
	if (id.n || wanted->n)
		return same_id(&id, wanted);
	return f->header.e_phnum == info->dlpi_phnum &&
	       __builtin_memcmp(phdr, info->dlpi_phdr, f->header.e_phnum * sizeof(*phdr)) == 0;
}

/* A debug file's segments say where the program's are, not its own: its sections do. */
static bool is_debug_file(const struct hodo_names_file *f, const struct hodo_build_id *wanted, uint8_t *notes)
{
	for (uint32_t i = 0; i < hodo_names_file_count(f); i++) {
		const ElfW(Shdr) *s = hodo_names_file_section(f, i);
		size_t n = notes_bytes(s->sh_size);
		struct hodo_build_id id;

		if (s->sh_type == SHT_NOTE && hodo_names_read(f->fd, s->sh_offset, notes, n) &&
		    find_build_id(notes, n, s->sh_addralign, &id) && same_id(&id, wanted))
			return true;
	}
	return false;
}

/* "/usr/lib/debug/.build-id/xx/yyyy.debug" */
static void debug_path(const struct hodo_build_id *id, char *path)
{
	static const char front[] = HODO_NAMES_DEBUG "/.build-id/", digits[] = "0123456789abcdef";
	char *p = path;

	__builtin_memcpy(p, front, sizeof(front) - 1);
	p += sizeof(front) - 1;
	for (uint32_t i = 0; i < id->n; i++) {
		*p++ = digits[id->bytes[i] >> 4];
		*p++ = digits[id->bytes[i] & 15];
		if (i == 0)
			*p++ = '/';
	}
	__builtin_memcpy(p, ".debug", sizeof(".debug"));
}

bool hodo_names_file_loaded(struct hodo_names_opening *o, const struct dl_phdr_info *info, const char *path)
{
	if (!file_open(&o->file, path))
		return false;
	if (is_loaded_file(&o->file, info, &o->id, o->notes, o->phdr))
		return true;
	hodo_names_file_close(&o->file);
	return false;
}

bool hodo_names_file_debug(struct hodo_names_opening *o)
{
	if (!o->id.n)
		return false;
	debug_path(&o->id, o->path);
	if (!file_open(&o->debug, o->path))
		return false;
	if (is_debug_file(&o->debug, &o->id, o->notes))
		return true;
	hodo_names_file_close(&o->debug);
	return false;
}

void hodo_names_file_identify(struct hodo_names_opening *o, const struct dl_phdr_info *info)
{
	o->file.fd = o->debug.fd = -1;
	memory_build_id(info, o->notes, &o->id);
}
