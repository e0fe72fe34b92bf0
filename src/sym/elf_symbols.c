/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.c - functions from the symbol tables of ELF files.
 *
 * Local symbols stand behind the name of their source file (STT_FILE), which
 * tells f.cold of one file from f.cold of another.
 */
#include "internal.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#define PROBES_MAX 64u /* in the table of names; a file made to collide finds less */

struct raw {
	uint64_t start, size;
	uint64_t limit; /* end of its section */
	uint64_t whole; /* start of the function that it is a part of */
	const char *name;
	uint32_t scope; /* of the source file; 0: global */
	uint32_t rank;  /* the least is the name to give */
};

struct hodo_sym_collect {
	struct raw *raw;
	uint32_t n, room;
	uint32_t scope;
	uint32_t *hash; /* by name and scope: index + 1 */
	uint32_t mask;
};

struct section {
	uint64_t end;
	bool code;
};

struct hodo_sym_collect *hodo_sym_collect_new(void)
{
	return calloc(1, sizeof(struct hodo_sym_collect));
}

void hodo_sym_collect_free(struct hodo_sym_collect *c)
{
	if (!c)
		return;
	free(c->raw);
	free(c->hash);
	free(c);
}

/* ---------------------------------------------------------------------- tables */

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

/* Of names for one address: functions before mere labels, whole ones before parts, malloc before __libc_malloc
 * and _IO_puts after puts, what all may call before what is known in one file. */
static uint32_t rank(const char *name, unsigned type, unsigned binding)
{
	uint32_t underscores = strncmp(name, "_Z", 2) == 0 ? 0 : (uint32_t)strspn(name, "_");
	uint32_t r = type == STT_NOTYPE;

	r = r << 1 | (hodo_sym_without_suffix(name, strlen(name)) != strlen(name));
	r = r << 3 | (underscores > 7 ? 7 : underscores);
	return r << 2 | (binding == STB_GLOBAL ? 0u : binding == STB_WEAK ? 1u : 2u);
}

static int add_symbol(struct hodo_sym_collect *c, const GElf_Sym *s, const char *name, const struct section *in)
{
	unsigned type = GELF_ST_TYPE(s->st_info), binding = GELF_ST_BIND(s->st_info);

	if (type == STT_FILE) {
		c->scope++;
		return 0;
	}
	if (s->st_shndx == SHN_UNDEF || !*name || !in || !in->code)
		return 0;
	/* Labels in assembly have no type; local ones are no functions. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && !(type == STT_NOTYPE && binding != STB_LOCAL))
		return 0;
	if (c->n == HODO_SYM_FUNCTIONS_MAX)
		return 0;
	if (hodo_sym_grow(&c->raw, c->n, &c->room, sizeof(*c->raw)) < 0)
		return -ENOMEM;
	c->raw[c->n++] = (struct raw){ .start = s->st_value,
				       .size = s->st_size,
				       .limit = in->end,
				       .whole = s->st_value,
				       .name = name,
				       .scope = binding == STB_LOCAL ? c->scope : 0,
				       .rank = rank(name, type, binding) };
	return 0;
}

/* The section's bytes in memory of sym's own, NUL-terminated. */
static char *copy_strings(struct hodo_sym *sym, Elf *elf, size_t index, size_t *len)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	char *copy;

	if (!data || !data->d_buf || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
		return NULL;
	copy = malloc(data->d_size + 1);
	if (!copy)
		return NULL;
	memcpy(copy, data->d_buf, data->d_size);
	copy[data->d_size] = 0;
	*len = data->d_size;
	return hodo_sym_keep_text(sym, copy) == 0 ? copy : NULL;
}

static int add_table(struct hodo_sym_collect *c, struct hodo_sym *sym, Elf *elf, Elf_Scn *scn,
		     const GElf_Shdr *sh, const struct section *sections, size_t nsections)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), len = 0, n;
	const char *strings;
	int err = 0;

	if (!data || !data->d_buf || !size)
		return 0;
	strings = copy_strings(sym, elf, sh->sh_link, &len);
	if (!strings)
		return 0;
	n = data->d_size / size;
	for (size_t i = 1; i < n && i <= INT32_MAX && !err; i++) {
		const struct section *in;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s))
			break;
		in = s.st_shndx < nsections && s.st_shndx < SHN_LORESERVE ? &sections[s.st_shndx] : NULL;
		err = add_symbol(c, &s, s.st_name < len ? strings + s.st_name : "", in);
	}
	return err;
}

int hodo_sym_collect_add(struct hodo_sym_collect *c, struct hodo_sym *sym, Elf *elf, bool *full)
{
	Elf_Scn *scn = NULL;
	size_t n = 0;
	struct section *sections = list_sections(elf, &n);
	int err = sections ? 0 : -EBADMSG;

	*full = false;
	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		*full |= sh.sh_type == SHT_SYMTAB;
		c->scope++; /* of a table of its own */
		err = add_table(c, sym, elf, scn, &sh, sections, n);
	}
	free(sections);
	return err;
}

/* ----------------------------------------------------------------------- parts */

static uint32_t hash_of(const char *name, size_t len, uint32_t scope)
{
	uint64_t h = 0xcbf29ce484222325ull ^ scope;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32);
}

/* The slot of that name in that file, or the free one where it would be; NULL: too many collide. */
static uint32_t *slot_of(const struct hodo_sym_collect *c, const char *name, size_t len, uint32_t scope)
{
	uint32_t h = hash_of(name, len, scope);

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint32_t *slot = &c->hash[(h + i) & c->mask];
		const struct raw *r = *slot ? &c->raw[*slot - 1] : NULL;

		if (!r || (r->scope == scope && strncmp(r->name, name, len) == 0 && !r->name[len]))
			return slot;
	}
	return NULL;
}

static const struct raw *named(const struct hodo_sym_collect *c, const char *name, size_t len, uint32_t scope)
{
	uint32_t *slot = slot_of(c, name, len, scope);

	if ((!slot || !*slot) && scope)
		slot = slot_of(c, name, len, 0);
	return slot && *slot ? &c->raw[*slot - 1] : NULL;
}

/* f.isra.0.cold is a part of f.isra.0, and with it of f where there is one. */
static void join_part(const struct hodo_sym_collect *c, struct raw *part)
{
	size_t len = strlen(part->name), next;

	while ((next = hodo_sym_without_suffix(part->name, len)) < len) {
		const struct raw *whole = named(c, part->name, next, part->scope);

		if (whole)
			part->whole = whole->start;
		len = next;
	}
}

static int join_parts(struct hodo_sym_collect *c)
{
	uint32_t slots = 64;

	while (slots < 2 * c->n)
		slots *= 2;
	c->hash = calloc(slots, sizeof(*c->hash));
	if (!c->hash)
		return -ENOMEM;
	c->mask = slots - 1;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t *slot = slot_of(c, c->raw[i].name, strlen(c->raw[i].name), c->raw[i].scope);

		if (slot && !*slot)
			*slot = i + 1;
	}
	for (uint32_t i = 0; i < c->n; i++)
		join_part(c, &c->raw[i]);
	return 0;
}

/* ------------------------------------------------------------------------ finish */

static int by_start(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The first of each address; one that has no size gets another name's. */
static uint32_t drop_doubles(struct hodo_sym_collect *c)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		struct raw *last = kept ? &c->raw[kept - 1] : NULL;

		if (!last || last->start != c->raw[i].start)
			c->raw[kept++] = c->raw[i];
		else if (!last->size)
			last->size = c->raw[i].size;
	}
	return kept;
}

int hodo_sym_collect_finish(struct hodo_sym_collect *c, struct hodo_sym *sym)
{
	int err = c->n ? join_parts(c) : 0;

	if (err || !c->n)
		return err;
	qsort(c->raw, c->n, sizeof(*c->raw), by_start);
	c->n = drop_doubles(c);
	sym->functions = calloc(c->n, sizeof(*sym->functions));
	if (!sym->functions)
		return -ENOMEM;
	sym->n = c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct raw *r = &c->raw[i];
		struct hodo_sym_function *f = &sym->functions[i];

		f->start = r->start;
		f->size = r->size;
		f->name = r->name;
		f->file = HODO_SYM_NONE;
		if (!r->size)
			f->end = i + 1 < c->n && c->raw[i + 1].start < r->limit ? c->raw[i + 1].start : r->limit;
		else if (__builtin_add_overflow(r->start, r->size, &f->end))
			f->end = UINT64_MAX;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t whole = hodo_sym_starting(sym, c->raw[i].whole);

		sym->functions[i].whole = whole == HODO_SYM_NONE ? i : whole;
	}
	return 0;
}
