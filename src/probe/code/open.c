/* SPDX-License-Identifier: MIT */
/* open.c - opens a file as probes see it. */
#include "object.h"

#include <errno.h>
#include <string.h>

#include <elf/symbols.h>

#include "landings.h"
#include "code_impl.h"

static enum hodo_probe_reason refuse(Elf *elf)
{
	static const struct {
		const char *name; /* begins so */
		enum hodo_probe_reason reason;
	} names[] = {
		{ "ld-linux", HODO_PROBE_LOADER }, { "ld-musl", HODO_PROBE_LOADER }, { "linux-vdso", HODO_PROBE_VDSO },
		{ "libhodo.so", HODO_PROBE_HODO }, { "libhodo-func.so", HODO_PROBE_HODO },
	};
	static const char *const go[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid" };
	const char *name = hodo_elf_soname(elf);
	GElf_Shdr section;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return HODO_PROBE_MACHINE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i].name, strlen(names[i].name)) == 0)
			return names[i].reason;
	/* Go moves stacks, and stops threads by signals, using its tables for a thread's address. Other
	 * linkers than Go's may put the tables elsewhere; the notes of the build stay. */
	for (size_t i = 0; i < sizeof(go) / sizeof(go[0]); i++)
		if (hodo_elf_section(elf, NULL, go[i], &section))
			return HODO_PROBE_GO;
	return HODO_PROBE_FINE;
}

int hodo_probe_object_open(struct hodo_probe_object *o, const struct hodo_elf *e, enum hodo_probe_reason *why)
{
	GElf_Sym finder;
	int err;

	*o = (struct hodo_probe_object){ .enter_windows = o->enter_windows, .no_jumps = o->no_jumps,
					 .shadow_stacks = o->shadow_stacks };
	*why = refuse(e->elf);
	err = *why ? -EOPNOTSUPP : hodo_probe_code_read(o, e);
	if (!err)
		err = hodo_probe_functions_find(o, e);
	if (!err && !o->nfunctions) {
		*why = HODO_PROBE_NO_FUNCTIONS;
		err = -EOPNOTSUPP;
	}
	if (!err)
		err = hodo_probe_mark_own(o, e);
	if (!err)
		hodo_probe_mark_labels(o, e); /* damaged tables cost windows or traps */
	if (!err)
		err = hodo_probe_object_decode(o, e);
	if (err) {
		hodo_probe_object_close(o);
		return err;
	}
	if (hodo_elf_find_symbol(e->elf, "_dl_find_object", &finder))
		o->finder = finder.st_value;
	hodo_probe_landings_find(o, e->elf);
	return 0;
}
