/* SPDX-License-Identifier: MIT */
/* file.c - reads an ELF file's sections, segments and relocations. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/scope.h>

/* Checks the file before opening it: merely opening a device may have effects. Its descriptor or a negative
 * errno. */
static int open_regular(const char *path)
{
	HODO_AUTO_CLOSE int place = open(path, O_PATH | O_CLOEXEC);
	char again[32];
	struct stat st;
	int fd;

	if (place < 0 || fstat(place, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT) /* no /proc here */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int hodo_elf_open(struct hodo_elf *e, const char *path)
{
	int fd = open_regular(path);

	*e = HODO_ELF_CLOSED;
	return fd < 0 ? fd : hodo_elf_take(e, fd);
}

int hodo_elf_take(struct hodo_elf *e, int fd)
{
	int err = elf_version(EV_CURRENT) == EV_NONE ? -ENOEXEC : 0;

	*e = (struct hodo_elf){ .fd = fd };
	if (!err) {
		e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
		err = e->elf && elf_kind(e->elf) == ELF_K_ELF ? 0 : -ENOEXEC;
	}
	if (err)
		hodo_elf_close(e);
	return err;
}

void hodo_elf_close(struct hodo_elf *e)
{
	elf_end(e->elf);
	hodo_close(e->fd);
	*e = HODO_ELF_CLOSED;
}

/* -------------------------------------------------------------------- sections */

const char *hodo_elf_section_name(Elf *elf, const GElf_Shdr *header)
{
	const char *name = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, header->sh_name);
	return name ? name : "";
}

Elf_Scn *hodo_elf_section(Elf *elf, Elf_Scn *after, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = after;

	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, header) && header->sh_type != SHT_NOBITS &&
		    (!name || strcmp(hodo_elf_section_name(elf, header), name) == 0))
			return scn;
	return NULL;
}

const uint8_t *hodo_elf_section_bytes(Elf *elf, const char *name, uint64_t *address, size_t *size)
{
	GElf_Shdr sh;
	Elf_Scn *scn = hodo_elf_section(elf, NULL, name, &sh);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		return NULL;
	*address = sh.sh_addr;
	*size = data->d_size;
	return data->d_buf;
}

const char *hodo_elf_soname(Elf *elf)
{
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, ".dynamic", &sh)) != NULL;) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Dyn dyn;

		for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
			const char *name = dyn.d_tag == DT_SONAME ? elf_strptr(elf, sh.sh_link, dyn.d_un.d_val) : NULL;

			if (name)
				return name;
		}
	}
	return "";
}

bool hodo_elf_has_lines(Elf *elf)
{
	GElf_Shdr sh;

	return hodo_elf_section(elf, NULL, ".debug_line", &sh) || hodo_elf_section(elf, NULL, ".zdebug_line", &sh);
}

bool hodo_elf_has_symbols(Elf *elf)
{
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL;) {
		const char *name = hodo_elf_section_name(elf, &sh);

		if (sh.sh_type == SHT_SYMTAB || strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0)
			return true;
	}
	return false;
}

bool hodo_elf_is_whole(const struct hodo_elf *e)
{
	Elf_Scn *scn = NULL;
	struct stat st;
	GElf_Shdr sh;
	size_t n;

	if (fstat(e->fd, &st) < 0 || elf_getshdrnum(e->elf, &n) != 0 || n == 0)
		return false;
	while ((scn = elf_nextscn(e->elf, scn)) != NULL)
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_NOBITS && (sh.sh_offset > (uint64_t)st.st_size ||
						  sh.sh_size > (uint64_t)st.st_size - sh.sh_offset)))
			return false;
	return true;
}

/* -------------------------------------------------------------------- segments */

bool hodo_elf_segment(Elf *elf, size_t *next, uint32_t type, uint32_t rights, GElf_Phdr *header)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	while (*next < n && *next < INT32_MAX)
		if (gelf_getphdr(elf, (int)(*next)++, header) && (type == PT_NULL || header->p_type == type) &&
		    (header->p_flags & rights) == rights)
			return true;
	return false;
}

int hodo_elf_read_at(const struct hodo_elf *e, uint64_t address, void *to, size_t len)
{
	GElf_Phdr ph;

	for (size_t i = 0; hodo_elf_segment(e->elf, &i, PT_LOAD, 0, &ph);) {
		ssize_t got;

		if (address < ph.p_vaddr || address - ph.p_vaddr > ph.p_filesz ||
		    len > ph.p_filesz - (address - ph.p_vaddr))
			continue;
		if (ph.p_offset > INT64_MAX / 2 || address - ph.p_vaddr > INT64_MAX / 2)
			return -EBADMSG;
		got = pread(e->fd, to, len, (off_t)(ph.p_offset + (address - ph.p_vaddr)));
		return got < 0 ? -EIO : (size_t)got == len ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}

/* ----------------------------------------------------------------- relocations */

static int section_relocations(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, hodo_elf_relocation_fn each, void *arg)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	Elf_Scn *table = sh->sh_link ? elf_getscn(elf, sh->sh_link) : NULL;
	size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Shdr table_sh = { 0 };
	int err = 0;

	if (table && gelf_getshdr(table, &table_sh) && table_sh.sh_type == SHT_DYNSYM)
		symbols = elf_getdata(table, NULL);
	for (size_t i = 0; i < n && i < INT32_MAX && !err; i++) {
		const char *name = NULL;
		GElf_Sym sym = { 0 };
		GElf_Rela r;

		if (!gelf_getrela(data, (int)i, &r))
			return -EBADMSG;
		if (symbols && GELF_R_SYM(r.r_info) && gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym))
			name = elf_strptr(elf, table_sh.sh_link, sym.st_name);
		err = each(arg, r.r_offset, (uint32_t)GELF_R_TYPE(r.r_info), r.r_addend, name ? name : "",
			   sym.st_value);
	}
	return err;
}

int hodo_elf_relocations(Elf *elf, hodo_elf_relocation_fn each, void *arg)
{
	Elf_Scn *scn = NULL;
	int err = 0;

	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && (sh.sh_flags & SHF_ALLOC))
			err = section_relocations(elf, scn, &sh, each, arg);
	}
	return err;
}
