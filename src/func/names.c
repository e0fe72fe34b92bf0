/* SPDX-License-Identifier: MIT */
/* names.c - function symbols of loaded objects, from their files (names_file.c). */
#include <core/symbol_name.h>
#include "names_file.h"

#define OVERLAP_MAX 64  /* symbols that may begin within another one, looking back */

#define SYM_TYPE(s) ((s)->st_info & 0xf)
#define SYM_BIND(s) ((s)->st_info >> 4)

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
	struct hodo_names_piece sections, section_names;
	struct hodo_names_piece symbols, strings;
	struct hodo_names_piece index; /* struct symbol[], by address */
	uint32_t count;
};

/* ---------------------------------------------------------------------- symbols */

static bool read_symbols(struct hodo_names *names, const struct hodo_names_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < hodo_names_file_count(f); i++) {
		const ElfW(Shdr) *s = hodo_names_file_section(f, i), *strings;

		if (s->sh_type != type || s->sh_entsize != sizeof(ElfW(Sym)))
			continue;
		strings = hodo_names_file_section(f, s->sh_link);
		if (!strings || strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
		    !hodo_names_file_piece(f, s->sh_offset, s->sh_size, &names->symbols))
			return false;
		if (hodo_names_file_piece(f, strings->sh_offset, strings->sh_size, &names->strings))
			return true;
		hodo_names_piece_free(&names->symbols);
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
	struct hodo_names_piece other = { 0 };
	struct symbol *a;

	if (!n || !hodo_names_piece_make(&names->index, n * sizeof(*a)) ||
	    !hodo_names_piece_make(&other, n * sizeof(*a)))
		return;
	a = names->index.p;
	collect(names, a);
	for (unsigned shift = 0; shift < 32; shift += 16) {
		radix_pass(a, other.p, n, shift);
		radix_pass(other.p, a, n, shift + 8);
	}
	hodo_names_piece_free(&other);
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

static void take_sections(struct hodo_names *names, struct hodo_names_file *f)
{
	names->sections = f->sections;
	names->section_names = f->section_names;
	f->sections = f->section_names = (struct hodo_names_piece){ 0 };
}

static bool read_files(struct hodo_names *names, const struct dl_phdr_info *info, const char *path,
		       struct hodo_names_opening *o)
{
	bool own, debug = false, found = false;

	hodo_names_file_identify(o, info);
	names->verified = o->id.n != 0;
	own = hodo_names_file_loaded(o, info, path) ||
	      (info->dlpi_name && !*info->dlpi_name && hodo_names_file_loaded(o, info, "/proc/self/exe"));
	if (own)
		found = read_symbols(names, &o->file, SHT_SYMTAB);
	if (!found)
		debug = hodo_names_file_debug(o);
	if (debug)
		found = read_symbols(names, &o->debug, SHT_SYMTAB);
	if (own && !found)
		read_symbols(names, &o->file, SHT_DYNSYM);
	if (own || debug)
		take_sections(names, own ? &o->file : &o->debug);
	hodo_names_file_close(&o->file);
	hodo_names_file_close(&o->debug);
	return own || debug;
}

struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path)
{
	struct hodo_names_piece own, opening;
	struct hodo_names *names;
	bool good;

	if (!hodo_names_piece_make(&own, sizeof(*names)))
		return 0;
	names = own.p;
	names->base = info->dlpi_addr;
	set_range(names, info);
	good = names->low < names->high && hodo_names_piece_make(&opening, sizeof(struct hodo_names_opening));
	if (good) {
		good = read_files(names, info, path, opening.p);
		hodo_names_piece_free(&opening);
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
	hodo_names_piece_free(&names->sections);
	hodo_names_piece_free(&names->section_names);
	hodo_names_piece_free(&names->symbols);
}

void hodo_names_close(struct hodo_names *names)
{
	struct hodo_names_piece own = { names, sizeof(*names), HODO_PAGE };

	if (!names)
		return;
	hodo_names_trim(names);
	hodo_names_piece_free(&names->strings);
	hodo_names_piece_free(&names->index);
	hodo_names_piece_free(&own);
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

static bool text_is(const struct hodo_names_piece *strings, uint32_t at, const char *text)
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
