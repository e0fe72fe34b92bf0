/* SPDX-License-Identifier: MIT */
/*
 * sdt.c - see sdt.h. A note's descriptor: the address of the probe, that of .stapsdt.base when it was linked, that of
 * the semaphore, and three texts. prelink moves an object's sections but does not relocate the contents of
 * notes: .stapsdt.base shows by how much.
 */
#include "sdt.h"

#include <string.h>

#include <core/note.h>

#define NOTE_SDT 3

struct words {
	uint64_t address, base, semaphore;
};

/* The text at *at, which advances past it; NULL: it does not end before end. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *text = *at, *nul = memchr(text, 0, (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return (const char *)text;
}

/* base: where .stapsdt.base is; 0: the file has none. */
static bool take_probe(uint64_t base, const struct hodo_elf_note *note, struct hodo_elf_sdt *probe)
{
	const uint8_t *at = note->desc, *end = at + note->size;
	struct words words;
	uint64_t moved;

	if (note->size < sizeof(words))
		return false;
	memcpy(&words, at, sizeof(words));
	at += sizeof(words);
	moved = base && words.base ? base - words.base : 0;
	probe->address = words.address + moved;
	probe->semaphore = words.semaphore ? words.semaphore + moved : 0;
	probe->provider = take_text(&at, end);
	probe->name = probe->provider ? take_text(&at, end) : NULL;
	probe->args = probe->name ? take_text(&at, end) : NULL;
	return probe->args && *probe->provider && *probe->name;
}

/* One section of notes. */
static int take_section(const Elf_Data *data, uint64_t base, uint32_t *probes, hodo_elf_sdt_fn each, void *arg,
			uint32_t *damaged)
{
	const uint8_t *at = data->d_buf, *end = at + data->d_size;
	struct hodo_elf_note note;

	while (hodo_note_next(&at, end, &note)) {
		struct hodo_elf_sdt probe;
		int err;

		if (note.type != NOTE_SDT || !hodo_note_is(&note, "stapsdt", sizeof("stapsdt")))
			continue;
		if (*probes >= HODO_ELF_SDT_MAX || !take_probe(base, &note, &probe)) {
			++*damaged;
			continue;
		}
		++*probes;
		err = each(arg, &probe);
		if (err)
			return err;
	}
	/* Only padding may be left over. */
	while (at < end && *at == 0)
		at++;
	*damaged += at < end;
	return 0;
}

int hodo_elf_sdt(const struct hodo_elf *e, hodo_elf_sdt_fn each, void *arg, uint32_t *damaged)
{
	const char *ident = elf_getident(e->elf, NULL);
	uint32_t probes = 0;
	Elf_Scn *scn = NULL;
	uint64_t base = 0;
	GElf_Shdr sh;
	int err = 0;

	*damaged = 0;
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	if (hodo_elf_section(e->elf, NULL, ".stapsdt.base", &sh))
		base = sh.sh_addr;
	while (!err && (scn = hodo_elf_section(e->elf, scn, ".note.stapsdt", &sh)) != NULL) {
		Elf_Data *data = elf_rawdata(scn, NULL);

		if (data && data->d_buf && sh.sh_type == SHT_NOTE)
			err = take_section(data, base, &probes, each, arg, damaged);
		else
			++*damaged;
	}
	return err;
}
