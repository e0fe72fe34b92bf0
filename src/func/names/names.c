/* SPDX-License-Identifier: MIT */
/* names.c - function symbols of loaded objects, from their files (names_file.c). */
#include <sys/mman.h>
#include <core/symbol_name.h>
#include "names_file.h"
#include "names.h"
#include <core/search.h>
#include <user/libc/sys.h>

#define OVERLAP_MAX 64  /* how many symbols to look back for one that contains the address */

#define SYM_TYPE(info) ((info)&0xf)
#define SYM_BIND(info) ((info) >> 4)

struct symbol {
	uint32_t addr; /* from the text's start */
	uint32_t size;
	uint32_t name; /* offset in the strings */
	uint32_t rank; /* type and binding; core/symbol_name.h's; index of the name that is shown for this address */
};

struct hodo_names {
	uintptr_t base;
	uintptr_t low, high; /* addresses in the file that loaded segments cover */
	uintptr_t text, text_end; /* the executable ones of them */
	struct hodo_names_file own, debug;
	char *texts; /* of the names */
	uint64_t ntexts;
	struct symbol *index; /* by address */
	size_t index_bytes;
	uint32_t count;
};

/* ---------------------------------------------------------------------- symbols */

static bool is_function(const ElfW(Sym) *s)
{
	uint32_t type = SYM_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON || s->st_name == 0)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && SYM_BIND(s->st_info) != STB_LOCAL);
}

static struct symbol symbol_of(const struct hodo_names *names, const ElfW(Sym) *s)
{
	char *name = names->texts + s->st_name, *version = __builtin_strchr(name, '@');
	uint64_t room = names->text_end - s->st_value;

	if (version) /* name@VERSION, as linkers write it */
		*version = 0;
	return (struct symbol){ (uint32_t)(s->st_value - names->text),
				(uint32_t)(s->st_size < room ? s->st_size : room), s->st_name, s->st_info };
}

static uint32_t collect(const struct hodo_names *names, const ElfW(Sym) *all, size_t n, struct symbol *out)
{
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++) {
		ElfW(Sym) s = all[i]; /* a hostile file may place its texts, which get cut, in here */

		if (is_function(&s) && s.st_value >= names->text && s.st_value < names->text_end &&
		    s.st_name < names->ntexts)
			out[count++] = symbol_of(names, &s);
	}
	return count;
}

static bool is_better(const struct hodo_names *names, const struct symbol *a, const struct symbol *b)
{
	return a->rank != b->rank ? a->rank < b->rank :
				    __builtin_strcmp(names->texts + a->name, names->texts + b->name) < 0;
}

/* Puts the shown name first among those at one address, a[first] up to a[next]; it gets a size if one of them
 * has one. */
static void settle(const struct hodo_names *names, struct symbol *a, uint32_t first, uint32_t next)
{
	uint32_t size = a[first].size;

	for (uint32_t i = first; i < next && next - first > 1; i++)
		a[i].rank = hodo_symbol_rank(names->texts + a[i].name, SYM_TYPE(a[i].rank), SYM_BIND(a[i].rank),
					     a[i].size);
	for (uint32_t i = first + 1; i < next; i++) {
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

static void build_index(struct hodo_names *names, const ElfW(Sym) *all, size_t nall)
{
	struct symbol *a = names->index = hodo_map(nall * sizeof(*a));
	uint32_t n = a ? collect(names, all, nall, a) : 0;

	names->index_bytes = nall * sizeof(*a);
	if (!hodo_sort(a, n, sizeof(*a) / sizeof(uint32_t)))
		return;
	for (uint32_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && a[next].addr == a[i].addr;)
			next++;
		settle(names, a, i, next);
	}
	names->count = n;
}

/* Reads the file's table of that type, if any. */
static bool read_symbols(struct hodo_names *names, const struct hodo_names_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->nsections; i++) {
		const ElfW(Shdr) *s = &f->sections[i];
		size_t bytes = s->sh_size;
		uintptr_t from, to;
		void *table;

		if (s->sh_type != type || s->sh_entsize != sizeof(ElfW(Sym)))
			continue;
		names->texts = hodo_names_file_texts(f, s->sh_link, &names->ntexts);
		table = names->texts ? hodo_names_file_table(f, s->sh_offset, bytes) : 0;
		if (!table)
			return false;
		build_index(names, table, bytes / sizeof(ElfW(Sym)));
		from = ((uintptr_t)table + HODO_PAGE - 1) & -(uintptr_t)HODO_PAGE;
		to = ((uintptr_t)table + bytes) & -(uintptr_t)HODO_PAGE;
		if (from < to) /* no longer needed */
			hodo_sys3(SYS_madvise, from, to - from, MADV_DONTNEED);
		return true;
	}
	return false;
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

struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path)
{
	struct hodo_names *names = hodo_map(sizeof(*names));
	struct hodo_build_id id;
	bool own, debug;

	if (!names)
		return 0;
	names->base = info->dlpi_addr;
	set_range(names, info);
	hodo_names_identify(info, &id);
	own = hodo_names_file_open(&names->own, path, info, &id) ||
	      (info->dlpi_name && !*info->dlpi_name && hodo_names_file_open(&names->own, "/proc/self/exe", info, &id));
	if (!own || !read_symbols(names, &names->own, SHT_SYMTAB)) {
		debug = hodo_names_file_debug(&names->debug, &id);
		if (!(debug && read_symbols(names, &names->debug, SHT_SYMTAB)) && own)
			read_symbols(names, &names->own, SHT_DYNSYM);
	}
	hodo_names_file_done(&names->own);
	hodo_names_file_done(&names->debug);
	if (names->own.image || names->debug.image)
		return names;
	hodo_names_close(names);
	return 0;
}

void hodo_names_close(struct hodo_names *names)
{
	if (!names)
		return;
	hodo_names_file_close(&names->own);
	hodo_names_file_close(&names->debug);
	if (names->index)
		hodo_sys2(SYS_munmap, names->index, names->index_bytes);
	hodo_sys2(SYS_munmap, names, sizeof(*names));
}

/* ------------------------------------------------------------------------- finding */

/* The last symbol at or below the address that reaches it; else the last one, if it has no size. */
static const struct symbol *find_symbol(const struct hodo_names *names, uint32_t addr)
{
	const struct symbol *a = names->index;
	uint32_t behind = hodo_search(i, names->count, a[i].addr > addr);

	for (uint32_t i = behind, n = 0; i > 0 && n < OVERLAP_MAX; n++) {
		i = a[i - 1].rank;
		if (addr - a[i].addr < a[i].size)
			return &a[i];
	}
	if (behind > 0 && a[a[behind - 1].rank].size == 0)
		return &a[a[behind - 1].rank];
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
	return s ? names->texts + s->name : "";
}

uint32_t hodo_names_count(const struct hodo_names *names, uintptr_t addr)
{
	const struct symbol *s = symbol_around(names, addr), *all = names->index;
	uint32_t n = 0;

	while (s && s + n < all + names->count && s[n].addr == s->addr)
		n++;
	return n;
}

const char *hodo_names_other(const struct hodo_names *names, uintptr_t addr, uint32_t i)
{
	return names->texts + symbol_around(names, addr)[i].name;
}

uintptr_t hodo_names_section(const struct hodo_names *names, const char *section, size_t *size)
{
	const struct hodo_names_file *f = names->own.image ? &names->own : &names->debug;

	*size = 0;
	for (uint32_t i = 0; f->section_names && i < f->nsections; i++) {
		const ElfW(Shdr) *s = &f->sections[i];

		if (!(s->sh_flags & SHF_ALLOC) || s->sh_addr < names->low || s->sh_addr >= names->high ||
		    s->sh_size == 0 || s->sh_size > names->high - s->sh_addr || s->sh_name >= f->section_names_bytes ||
		    __builtin_strcmp(f->section_names + s->sh_name, section) != 0)
			continue;
		*size = s->sh_size;
		return names->base + s->sh_addr;
	}
	return 0;
}

uintptr_t hodo_names_symbol(const struct hodo_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->count; i++) {
		if (__builtin_strcmp(names->texts + names->index[i].name, name) == 0)
			return names->base + names->text + names->index[i].addr;
	}
	return 0;
}
