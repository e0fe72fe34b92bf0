/* SPDX-License-Identifier: MIT */
/*
 * names.c - function symbols of loaded objects, from their files.
 *
 * Files are read into memory of our own, not mapped: one that is cut short while it is mapped
 * would be a SIGBUS in the traced program. They are hostile input: every place in them is checked against the
 * file's size. A file counts only if it is the one that is loaded: the same build-id,
 * or where there is none, the same program headers.
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <core/symbol_name.h>
#include "names.h"

#ifndef HODO_NAMES_DEBUG /* the tests have one of their own */
#define HODO_NAMES_DEBUG "/usr/lib/debug"
#endif
#define SECTIONS_MAX 65536u
#define TABLE_MAX (1ull << 30) /* bytes of a symbol table, or of its strings */
#define BUILD_ID_MAX 64u
#define NOTES_MAX 4096u /* bytes of a segment of notes that are looked at */
#define OVERLAP_MAX 64  /* symbols that may begin within another one, looking back */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define SYM_TYPE(s) ((s)->st_info & 0xf)
#define SYM_BIND(s) ((s)->st_info >> 4)

/* Memory of our own; one more byte than asked for, which is zero. */
struct piece {
	void *p;
	size_t bytes, mapped;
};

struct symbol {
	uint32_t addr; /* from the text's start */
	uint32_t size;
	uint32_t name; /* offset in the strings */
	uint32_t rank; /* core/symbol_name.h; then the index of the name at this address that is shown */
};

struct hodo_names {
	uintptr_t base;
	uintptr_t low, high; /* addresses in the file that segments are loaded for */
	uintptr_t text, text_end; /* the executable ones of them */
	bool verified;
	struct piece sections, section_names;
	struct piece symbols, strings;
	struct piece index; /* struct symbol[], by address */
	uint32_t count;
};

struct build_id {
	uint32_t n;
	uint8_t bytes[BUILD_ID_MAX];
};

/* ----------------------------------------------------------------------- memory */

static bool piece_make(struct piece *piece, size_t bytes)
{
	size_t mapped = (bytes + HODO_PAGE) & ~(size_t)(HODO_PAGE - 1);
	void *p = hodo_map(mapped);

	if (!p)
		return false;
	*piece = (struct piece){ p, bytes, mapped };
	return true;
}

static void piece_free(struct piece *piece)
{
	if (piece->mapped)
		hodo_sys2(SYS_munmap, piece->p, piece->mapped);
	*piece = (struct piece){ 0 };
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

struct file {
	long fd;
	uint64_t size;
	ElfW(Ehdr) header;
	struct piece sections, section_names;
};

static bool file_piece(const struct file *f, uint64_t offset, uint64_t bytes, struct piece *piece)
{
	if (bytes > TABLE_MAX || offset > f->size || bytes > f->size - offset || !piece_make(piece, bytes))
		return false;
	if (hodo_names_read(f->fd, offset, piece->p, bytes))
		return true;
	piece_free(piece);
	return false;
}

static uint32_t file_count(const struct file *f)
{
	return (uint32_t)(f->sections.bytes / sizeof(ElfW(Shdr)));
}

static const ElfW(Shdr) *file_section(const struct file *f, uint32_t i)
{
	return i < file_count(f) ? (const ElfW(Shdr) *)f->sections.p + i : 0;
}

static void file_close(struct file *f)
{
	if (f->fd >= 0)
		hodo_sys1(SYS_close, f->fd);
	piece_free(&f->sections);
	piece_free(&f->section_names);
	f->fd = -1;
}

/* A file without sections is as good as one; they are counted in the first where there are too many. */
static void file_read_sections(struct file *f)
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
	    !file_piece(f, f->header.e_shoff, count * sizeof(ElfW(Shdr)), &f->sections))
		return;
	names = file_section(f, (uint32_t)strings);
	if (names && names->sh_type == SHT_STRTAB)
		file_piece(f, names->sh_offset, names->sh_size, &f->section_names);
}

static bool file_open(struct file *f, const char *path)
{
	*f = (struct file){ .fd = -1 };
	f->fd = hodo_names_file(path, &f->size, 0, 0);
	if (f->fd < 0)
		return false;
	if (!hodo_names_read(f->fd, 0, &f->header, sizeof(f->header)) || !hodo_names_header(&f->header)) {
		file_close(f);
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

static bool find_build_id(const uint8_t *p, size_t bytes, size_t align, struct build_id *id)
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
		    head[1] > 0 && head[1] <= BUILD_ID_MAX) {
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
	return bytes < NOTES_MAX ? (size_t)bytes : NOTES_MAX;
}

static bool memory_build_id(const struct dl_phdr_info *info, uint8_t *notes, struct build_id *id)
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

static bool file_phdrs(const struct file *f, ElfW(Phdr) *phdr)
{
	return f->header.e_phnum <= HODO_NAMES_PHDRS_MAX &&
	       hodo_names_read(f->fd, f->header.e_phoff, phdr, f->header.e_phnum * sizeof(*phdr));
}

static bool same_id(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && __builtin_memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* wanted: of the loaded object; n == 0: it has none. notes: room for NOTES_MAX. */
static bool is_loaded_file(const struct file *f, const struct dl_phdr_info *info, const struct build_id *wanted,
			   uint8_t *notes, ElfW(Phdr) *phdr)
{
	struct build_id id = { 0 };

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
static bool is_debug_file(const struct file *f, const struct build_id *wanted, uint8_t *notes)
{
	for (uint32_t i = 0; i < file_count(f); i++) {
		const ElfW(Shdr) *s = file_section(f, i);
		size_t n = notes_bytes(s->sh_size);
		struct build_id id;

		if (s->sh_type == SHT_NOTE && hodo_names_read(f->fd, s->sh_offset, notes, n) &&
		    find_build_id(notes, n, s->sh_addralign, &id) && same_id(&id, wanted))
			return true;
	}
	return false;
}

/* "/usr/lib/debug/.build-id/xx/yyyy.debug" */
static void debug_path(const struct build_id *id, char *path)
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

/* ---------------------------------------------------------------------- symbols */

static bool read_symbols(struct hodo_names *names, const struct file *f, uint32_t type)
{
	for (uint32_t i = 0; i < file_count(f); i++) {
		const ElfW(Shdr) *s = file_section(f, i), *strings;

		if (s->sh_type != type || s->sh_entsize != sizeof(ElfW(Sym)))
			continue;
		strings = file_section(f, s->sh_link);
		if (!strings || strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
		    !file_piece(f, s->sh_offset, s->sh_size, &names->symbols))
			return false;
		if (file_piece(f, strings->sh_offset, strings->sh_size, &names->strings))
			return true;
		piece_free(&names->symbols);
		return false;
	}
	return false;
}

static bool is_function(const ElfW(Sym) *s)
{
	uint32_t type = SYM_TYPE(s);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON || s->st_name == 0)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && SYM_BIND(s) != STB_LOCAL);
}

static void radix_pass(const struct symbol *from, struct symbol *to, uint32_t n, unsigned shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[from[i].addr >> shift & 255]++;
	for (unsigned i = 0; i < 256; i++) {
		uint32_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].addr >> shift & 255]++] = from[i];
}

static struct symbol symbol_of(const struct hodo_names *names, const ElfW(Sym) *s, uint64_t size)
{
	char *name = (char *)names->strings.p + s->st_name, *version = __builtin_strchr(name, '@');

	if (version) /* name@VERSION, as linkers write it */
		*version = 0;
	return (struct symbol){ (uint32_t)(s->st_value - names->text), (uint32_t)size, s->st_name,
				hodo_symbol_rank(name, SYM_TYPE(s), SYM_BIND(s), s->st_size) };
}

static uint32_t collect(const struct hodo_names *names, struct symbol *out)
{
	const ElfW(Sym) *s = names->symbols.p;
	size_t n = names->symbols.bytes / sizeof(*s);
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t size = s[i].st_size;

		if (!is_function(&s[i]) || s[i].st_value < names->text || s[i].st_value >= names->text_end ||
		    s[i].st_name >= names->strings.bytes)
			continue;
		if (size > names->text_end - s[i].st_value)
			size = names->text_end - s[i].st_value;
		if (out)
			out[count] = symbol_of(names, &s[i], size);
		count++;
	}
	return count;
}

static bool is_better(const struct hodo_names *names, const struct symbol *a, const struct symbol *b)
{
	const char *strings = names->strings.p;

	return a->rank != b->rank ? a->rank < b->rank : __builtin_strcmp(strings + a->name, strings + b->name) < 0;
}

/* Of the names at one address, a[first] up to a[next], the one that is shown comes first, and has a size if one has. */
static void settle(const struct hodo_names *names, struct symbol *a, uint32_t first, uint32_t next)
{
	uint32_t size = 0;

	for (uint32_t i = first; i < next; i++) {
		struct symbol front = a[first];

		size = size ? size : a[i].size;
		if (is_better(names, &a[i], &front)) {
			size = a[i].size ? a[i].size : size;
			a[first] = a[i];
			a[i] = front;
		}
	}
	a[first].size = size;
	for (uint32_t i = first; i < next; i++)
		a[i].rank = first;
}

static void build_index(struct hodo_names *names)
{
	uint32_t n = collect(names, 0);
	struct piece other = { 0 };
	struct symbol *a;

	if (!n || !piece_make(&names->index, n * sizeof(*a)) || !piece_make(&other, n * sizeof(*a)))
		return;
	a = names->index.p;
	collect(names, a);
	for (unsigned shift = 0; shift < 32; shift += 16) {
		radix_pass(a, other.p, n, shift);
		radix_pass(other.p, a, n, shift + 8);
	}
	piece_free(&other);
	for (uint32_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && a[next].addr == a[i].addr;)
			next++;
		settle(names, a, i, next);
	}
	names->count = n;
}

/* --------------------------------------------------------------------- open, close */

static void set_range(struct hodo_names *names, const struct dl_phdr_info *info)
{
	names->low = names->text = ~(uintptr_t)0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t end = p->p_vaddr + p->p_memsz;

		if (p->p_type != PT_LOAD || end < p->p_vaddr)
			continue;
		names->low = p->p_vaddr < names->low ? p->p_vaddr : names->low;
		names->high = end > names->high ? end : names->high;
		if (!(p->p_flags & PF_X))
			continue;
		names->text = p->p_vaddr < names->text ? p->p_vaddr : names->text;
		names->text_end = end > names->text_end ? end : names->text_end;
	}
	if (names->text < names->text_end && names->text_end - names->text > UINT32_MAX)
		names->text_end = names->text + UINT32_MAX;
}

static void take_sections(struct hodo_names *names, struct file *f)
{
	names->sections = f->sections;
	names->section_names = f->section_names;
	f->sections = f->section_names = (struct piece){ 0 };
}

/* What opening needs besides: too much for a small stack. */
struct opening {
	uint8_t notes[NOTES_MAX];
	ElfW(Phdr) phdr[HODO_NAMES_PHDRS_MAX];
	struct build_id id;
	struct file file, debug;
	char path[2 * BUILD_ID_MAX + sizeof(HODO_NAMES_DEBUG) + 32];
};

static bool open_loaded(struct opening *o, const struct dl_phdr_info *info, const char *path)
{
	if (!file_open(&o->file, path))
		return false;
	if (is_loaded_file(&o->file, info, &o->id, o->notes, o->phdr))
		return true;
	file_close(&o->file);
	return false;
}

static bool open_debug(struct opening *o)
{
	if (!o->id.n)
		return false;
	debug_path(&o->id, o->path);
	if (!file_open(&o->debug, o->path))
		return false;
	if (is_debug_file(&o->debug, &o->id, o->notes))
		return true;
	file_close(&o->debug);
	return false;
}

static bool read_files(struct hodo_names *names, const struct dl_phdr_info *info, const char *path, struct opening *o)
{
	bool own, debug = false, found = false;

	o->file.fd = o->debug.fd = -1;
	memory_build_id(info, o->notes, &o->id);
	names->verified = o->id.n != 0;
	own = open_loaded(o, info, path) ||
	      (info->dlpi_name && !*info->dlpi_name && open_loaded(o, info, "/proc/self/exe"));
	if (own)
		found = read_symbols(names, &o->file, SHT_SYMTAB);
	if (!found)
		debug = open_debug(o);
	if (debug)
		found = read_symbols(names, &o->debug, SHT_SYMTAB);
	if (own && !found)
		read_symbols(names, &o->file, SHT_DYNSYM);
	if (own || debug)
		take_sections(names, own ? &o->file : &o->debug);
	file_close(&o->file);
	file_close(&o->debug);
	return own || debug;
}

struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path)
{
	struct piece own, opening;
	struct hodo_names *names;
	bool good;

	if (!piece_make(&own, sizeof(*names)))
		return 0;
	names = own.p;
	names->base = info->dlpi_addr;
	set_range(names, info);
	good = names->low < names->high && piece_make(&opening, sizeof(struct opening));
	if (good) {
		good = read_files(names, info, path, opening.p);
		piece_free(&opening);
	}
	if (!good) {
		hodo_names_close(names);
		return 0;
	}
	build_index(names);
	return names;
}

void hodo_names_trim(struct hodo_names *names)
{
	piece_free(&names->sections);
	piece_free(&names->section_names);
	piece_free(&names->symbols);
}

void hodo_names_close(struct hodo_names *names)
{
	struct piece own = { names, sizeof(*names), HODO_PAGE };

	if (!names)
		return;
	hodo_names_trim(names);
	piece_free(&names->strings);
	piece_free(&names->index);
	piece_free(&own);
}

bool hodo_names_verified(const struct hodo_names *names)
{
	return names->verified;
}

/* ------------------------------------------------------------------------- finding */

/* Of the symbols that begin at or below the address, the last that reaches it; else the last, if it has no size. */
static const struct symbol *find_symbol(const struct hodo_names *names, uint32_t addr)
{
	const struct symbol *a = names->index.p;
	uint32_t low = 0, high = names->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (a[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low, n = 0; i > 0 && n < OVERLAP_MAX; n++) {
		i = a[i - 1].rank;
		if (addr - a[i].addr < a[i].size)
			return &a[i];
	}
	if (low > 0 && a[a[low - 1].rank].size == 0)
		return &a[a[low - 1].rank];
	return 0;
}

static const struct symbol *symbol_around(const struct hodo_names *names, uintptr_t addr)
{
	uintptr_t in_file = addr - names->base;

	return in_file >= names->text && in_file < names->text_end ?
	       find_symbol(names, (uint32_t)(in_file - names->text)) : 0;
}

const char *hodo_names_find(const struct hodo_names *names, uintptr_t addr, uintptr_t *start)
{
	const struct symbol *s = symbol_around(names, addr);

	if (start)
		*start = s ? names->base + names->text + s->addr : 0;
	return s ? (const char *)names->strings.p + s->name : "";
}

uint32_t hodo_names_count(const struct hodo_names *names, uintptr_t addr)
{
	const struct symbol *s = symbol_around(names, addr), *all = names->index.p;
	uint32_t n = 0;

	while (s && s + n < all + names->count && s[n].addr == s->addr)
		n++;
	return n;
}

const char *hodo_names_other(const struct hodo_names *names, uintptr_t addr, uint32_t i)
{
	return (const char *)names->strings.p + symbol_around(names, addr)[i].name;
}

static bool text_is(const struct piece *strings, uint32_t at, const char *text)
{
	return at < strings->bytes && __builtin_strcmp((const char *)strings->p + at, text) == 0;
}

uintptr_t hodo_names_section(const struct hodo_names *names, const char *section, size_t *size)
{
	const ElfW(Shdr) *s = names->sections.p;
	size_t n = names->sections.bytes / sizeof(*s);

	for (size_t i = 0; i < n; i++) {
		if (!(s[i].sh_flags & SHF_ALLOC) || s[i].sh_addr < names->low || s[i].sh_addr >= names->high ||
		    s[i].sh_size == 0 || s[i].sh_size > names->high - s[i].sh_addr ||
		    !text_is(&names->section_names, s[i].sh_name, section))
			continue;
		if (size)
			*size = s[i].sh_size;
		return names->base + s[i].sh_addr;
	}
	if (size)
		*size = 0;
	return 0;
}

uintptr_t hodo_names_symbol(const struct hodo_names *names, const char *symbol)
{
	const ElfW(Sym) *s = names->symbols.p;
	size_t n = names->symbols.bytes / sizeof(*s);

	for (size_t i = 0; i < n; i++) {
		if (s[i].st_shndx == SHN_UNDEF || s[i].st_shndx == SHN_ABS || SYM_TYPE(&s[i]) == STT_TLS ||
		    s[i].st_value < names->low || s[i].st_value >= names->high)
			continue;
		if (text_is(&names->strings, s[i].st_name, symbol))
			return names->base + s[i].st_value;
	}
	return 0;
}
