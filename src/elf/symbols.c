/* SPDX-License-Identifier: MIT */
/* symbols.c - reads symbol tables, and puts the functions into order. */
#include "symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/hash.h>
#include <base/order.h>
#include <base/vec.h>
#include <core/search.h>
#include <core/symbol_name.h>

#define NESTED_MAX 16u /* how many functions may start inside one that covers an address */

void hodo_elf_symbols_free(struct hodo_elf_symbols *s)
{
	for (uint32_t i = 0; i < s->ntexts; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->list);
	*s = (struct hodo_elf_symbols){ 0 };
}

/* ---------------------------------------------------------------------- tables */

struct section {
	uint64_t end;
	bool code;
};

static struct section *list_sections(Elf *elf, size_t *n)
{
	struct section *s;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(elf, n) != 0)
		return NULL;
	s = calloc(*n ? *n : 1, sizeof(*s));
	while (s && (scn = elf_nextscn(elf, scn)) != NULL) {
		size_t i = elf_ndxscn(scn);
		GElf_Shdr sh;

		if (i >= *n || !gelf_getshdr(scn, &sh))
			continue;
		s[i].code = (sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
		if (__builtin_add_overflow(sh.sh_addr, sh.sh_size, &s[i].end))
			s[i].end = UINT64_MAX;
	}
	return s;
}

/* If the symbol has no size, end is at first that of its section. */
static int add_symbol(struct hodo_elf_symbols *list, const GElf_Sym *s, char *name, const struct section *in)
{
	unsigned type = GELF_ST_TYPE(s->st_info), binding = GELF_ST_BIND(s->st_info);
	bool typed = type == STT_FUNC || type == STT_GNU_IFUNC;
	struct hodo_elf_symbol *symbol;

	/* Local symbols follow the name of their source file, which distinguishes f.cold of one from f.cold
	 * of another. */
	if (type == STT_FILE) {
		list->scope++;
		return 0;
	}
	if (s->st_shndx == SHN_UNDEF || !in || !in->code || !(typed || (type == STT_NOTYPE && binding != STB_LOCAL)))
		return 0;
	name[strcspn(name, "@")] = 0; /* f@@VERSION, as linkers write it in symbol tables that are not dynamic */
	if (!*name || list->n == HODO_ELF_SYMBOLS_MAX)
		return 0;
	symbol = hodo_vec_add(list->list, list->n);
	if (!symbol)
		return -ENOMEM;
	*symbol = (struct hodo_elf_symbol){ .start = s->st_value,
					    .size = s->st_size,
					    .end = in->end,
					    .name = name,
					    .scope = binding == STB_LOCAL ? list->scope : 0,
					    .rank = hodo_symbol_rank(name, type, binding, s->st_size) };
	return 0;
}

/* A copy of the section's bytes, NUL-terminated. */
static char *copy_strings(struct hodo_elf_symbols *s, Elf *elf, size_t index, size_t *len)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	char **copy;

	if (!data || !data->d_buf || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
		return NULL;
	copy = hodo_vec_add(s->texts, s->ntexts);
	if (copy)
		*copy = malloc(data->d_size + 1);
	if (!copy || !*copy)
		return NULL;
	memcpy(*copy, data->d_buf, data->d_size);
	(*copy)[data->d_size] = 0;
	*len = data->d_size;
	return *copy;
}

static int add_table(struct hodo_elf_symbols *list, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
		     const struct section *sections, size_t nsections)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), len = 0, n;
	char *strings;
	int err = 0;

	if (!data || !data->d_buf || !size)
		return 0;
	strings = copy_strings(list, elf, sh->sh_link, &len);
	if (!strings)
		return 0;
	n = data->d_size / size;
	for (size_t i = 1; i < n && i <= INT32_MAX && !err; i++) {
		const struct section *in;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s))
			break;
		in = s.st_shndx < nsections && s.st_shndx < SHN_LORESERVE ? &sections[s.st_shndx] : NULL;
		if (s.st_name < len)
			err = add_symbol(list, &s, strings + s.st_name, in);
	}
	return err;
}

bool hodo_elf_find_symbol(Elf *elf, const char *name, GElf_Sym *symbol)
{
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh));) {
		Elf_Data *data = sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM ? elf_getdata(scn, NULL) : NULL;

		for (int i = 1; data && gelf_getsym(data, i, symbol); i++) {
			const char *own = elf_strptr(elf, sh.sh_link, symbol->st_name);

			if (symbol->st_shndx != SHN_UNDEF && own && strcmp(own, name) == 0)
				return true;
		}
	}
	return false;
}

bool hodo_elf_find_address(Elf *elf, const char *name, size_t len, uint64_t *address)
{
	bool found = false;
	GElf_Shdr sh;
	GElf_Sym s;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh));) {
		Elf_Data *data = sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM ? elf_getdata(scn, NULL) : NULL;

		for (int i = 1; data && gelf_getsym(data, i, &s); i++) {
			const char *own = elf_strptr(elf, sh.sh_link, s.st_name);

			if (!own || strncmp(own, name, len) != 0 || own[len])
				continue;
			if (s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE ||
			    GELF_ST_TYPE(s.st_info) == STT_TLS || (found && s.st_value != *address))
				return false;
			*address = s.st_value;
			found = true;
		}
	}
	return found;
}

int hodo_elf_symbols_add(struct hodo_elf_symbols *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t n = 0;
	struct section *sections = list_sections(elf, &n);
	int err = sections ? 0 : -EBADMSG;

	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		s->full |= sh.sh_type == SHT_SYMTAB;
		s->scope++; /* of a table of its own */
		err = add_table(s, elf, scn, &sh, sections, n);
	}
	free(sections);
	return err;
}

/* ----------------------------------------------------------------------- order */

static int by_start(const void *a, const void *b)
{
	const struct hodo_elf_symbol *x = a, *y = b;

	return hodo_order(x->start, y->start) ?: hodo_order(x->rank, y->rank) ?: strcmp(x->name, y->name) ?:
	       hodo_order(x->scope, y->scope);
}

/* Full symbol tables repeat those for dynamic linking. */
static void drop_doubles(struct hodo_elf_symbols *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct hodo_elf_symbol *last = kept ? &s->list[kept - 1] : NULL;

		if (!last || last->start != s->list[i].start || strcmp(last->name, s->list[i].name) != 0)
			s->list[kept++] = s->list[i];
		else if (last->size < s->list[i].size)
			last->size = s->list[i].size;
	}
	s->n = kept;
}

/* All names of a function get its size: that of the shown name, if it has one. */
static void settle_sizes(struct hodo_elf_symbols *s)
{
	for (uint32_t i = 0, next; i < s->n; i = next) {
		uint64_t size = 0, end = s->list[i].end;

		next = hodo_elf_symbols_next(s, i);
		for (uint32_t k = i; k < next && !size; k++)
			size = s->list[k].size;
		if (size && __builtin_add_overflow(s->list[i].start, size, &end))
			end = UINT64_MAX;
		if (!size && next < s->n && s->list[next].start < end)
			end = s->list[next].start;
		for (uint32_t k = i; k < next; k++) {
			s->list[k].size = size;
			s->list[k].end = end;
			s->list[k].first = s->list[k].whole = i;
		}
	}
}

/* ----------------------------------------------------------------------- parts */

/* Names by file: index + 1, open addressing. At most half full. */
struct names {
	const struct hodo_elf_symbols *s;
	uint32_t *slots, mask;
};

/* The slot of that name in that file, or the free one for it. */
static uint32_t *slot_of(const struct names *names, const char *name, size_t len, uint32_t scope)
{
	for (uint32_t h = hodo_hash_bytes(name, len) + scope;; h++) {
		uint32_t *slot = &names->slots[h & names->mask];
		const struct hodo_elf_symbol *s = *slot ? &names->s->list[*slot - 1] : NULL;

		if (!s || (s->scope == scope && strncmp(s->name, name, len) == 0 && !s->name[len]))
			return slot;
	}
}

/* f.isra.0.cold is a part of f.isra.0, and so of f if that exists. */
static void join_part(const struct names *names, struct hodo_elf_symbol *part)
{
	size_t len = strlen(part->name), next;

	while ((next = hodo_symbol_without_suffix(part->name, len)) < len) {
		uint32_t *slot = slot_of(names, part->name, next, part->scope);

		if (!*slot && part->scope)
			slot = slot_of(names, part->name, next, 0);
		if (*slot)
			part->whole = names->s->list[*slot - 1].first;
		len = next;
	}
}

int hodo_elf_symbols_join(struct hodo_elf_symbols *s)
{
	struct names names = { .s = s, .mask = 63 };

	while (names.mask < 2 * s->n)
		names.mask = names.mask * 2 + 1;
	names.slots = calloc((size_t)names.mask + 1, sizeof(*names.slots));
	if (!names.slots)
		return -ENOMEM;
	hodo_hash_seed();
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t *slot = slot_of(&names, s->list[i].name, strlen(s->list[i].name), s->list[i].scope);

		if (!*slot)
			*slot = i + 1;
	}
	for (uint32_t i = 0; i < s->n; i++)
		join_part(&names, &s->list[i]);
	free(names.slots);
	return 0;
}

void hodo_elf_symbols_sort(struct hodo_elf_symbols *s)
{
	hodo_order_sort(s->list, s->n, by_start);
	drop_doubles(s);
	settle_sizes(s);
}

/* ----------------------------------------------------------------------- finding */

uint32_t hodo_elf_symbols_at(const struct hodo_elf_symbols *s, uint64_t address)
{
	uint32_t n = hodo_search(i, s->n, s->list[i].start > address);

	for (uint32_t nested = 0; n && nested < NESTED_MAX; nested++) {
		n = s->list[n - 1].first;
		if (address < s->list[n].end)
			return n;
	}
	return HODO_ELF_NONE;
}
