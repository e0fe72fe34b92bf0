/* SPDX-License-Identifier: MIT */
/* landings.c - finds the functions by which calls are left in the symbol tables. */
#include "landings.h"

#include <hodo/abi_plan.h>
#include <string.h>

#include <elf/file.h>
#include <elf/symbols.h>

static const struct landing {
	const char *name;
	enum hodo_plan_landing landing;
} landings[] = {
	{ "__cxa_begin_catch", HODO_LANDING_HERE }, { "__cxa_get_exception_ptr", HODO_LANDING_HERE },
	{ "_Unwind_Resume", HODO_LANDING_HERE },    { "longjmp", HODO_LANDING_JUMP },
	{ "_longjmp", HODO_LANDING_JUMP },          { "siglongjmp", HODO_LANDING_JUMP },
	{ "__longjmp_chk", HODO_LANDING_JUMP },     { "setcontext", HODO_LANDING_CONTEXT },
	{ "swapcontext", HODO_LANDING_CONTEXT_2 },
};

static const struct landing *by_name(const char *name)
{
	if (!name || !strpbrk(name, "jx_")) /* most have none of these names' letters */
		return NULL;
	for (size_t i = 0; i < sizeof(landings) / sizeof(landings[0]); i++)
		if (strcmp(name, landings[i].name) == 0)
			return &landings[i];
	return NULL;
}

/* Arguments are only known for libc's functions: others with the same names may have any arguments. */
static bool is_libc(Elf *elf)
{
	GElf_Sym start;

	return hodo_elf_find_symbol(elf, "__libc_start_main", &start);
}

static void add(struct hodo_probe_object *o, uint64_t addr, enum hodo_plan_landing landing)
{
	for (uint32_t i = 0; i < o->nlandings; i++)
		if (o->landings[i].addr == addr)
			return;
	if (o->nlandings < HODO_PROBE_LANDINGS_MAX)
		o->landings[o->nlandings++] = (struct hodo_probe_landing){ addr, (uint8_t)landing };
}

typedef void see_fn(void *arg, const GElf_Sym *symbol, const struct landing *landing);

/* Each symbol of such a name. */
static void each(Elf *elf, see_fn *see, void *arg)
{
	GElf_Shdr sh;
	GElf_Sym symbol;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh));) {
		Elf_Data *data = sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM ? elf_getdata(scn, NULL) : NULL;

		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const struct landing *l = by_name(elf_strptr(elf, sh.sh_link, symbol.st_name));

			if (l)
				see(arg, &symbol, l);
		}
	}
}

static void add_defined(void *o, const GElf_Sym *symbol, const struct landing *l)
{
	if (symbol->st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		add(o, symbol->st_value, l->landing);
}

void hodo_probe_landings_find(struct hodo_probe_object *o, Elf *elf)
{
	uint32_t n = 0;
	bool libc;

	each(elf, add_defined, o);
	libc = o->nlandings && is_libc(elf);
	for (uint32_t i = 0; i < o->nlandings; i++)
		if (libc || o->landings[i].landing == HODO_LANDING_HERE)
			o->landings[n++] = o->landings[i];
	o->nlandings = n;
}

static void look(void *arg, const GElf_Sym *symbol, const struct landing *l)
{
	unsigned *found = arg;

	(void)l;
	*found |= symbol->st_shndx == SHN_UNDEF ? HODO_PROBE_LANDS_REFERS : HODO_PROBE_LANDS_DEFINES;
}

unsigned hodo_probe_landings_in(Elf *elf)
{
	unsigned found = 0;

	each(elf, look, &found);
	return found;
}
