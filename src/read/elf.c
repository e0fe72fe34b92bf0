/* SPDX-License-Identifier: MIT */
/*
 * elf.c - the events that an executable or library offers, from its file.
 *
 * Descriptors need no relocation, so the bytes in the file are all there is to
 * read: sites in the section hodo_sites, each with the distance to its
 * descriptor in virtual addresses, which the loadable segments map to the file.
 */
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/fields.h>

#define DESC_MAX_BYTES (2u << 20)
#define SITES_MAX      (4u << 20)
#define STRINGS        6

/* 0, -EBADMSG if the file has none there, -EIO. */
int hodo_read_elf_at(const struct hodo_read_elf *e, uint64_t addr, void *dst, size_t len)
{
	size_t n;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		ssize_t got;

		if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD || addr < ph.p_vaddr)
			continue;
		if (addr - ph.p_vaddr > ph.p_filesz || len > ph.p_filesz - (addr - ph.p_vaddr))
			continue;
		if (ph.p_offset > INT64_MAX / 2 || addr - ph.p_vaddr > INT64_MAX / 2)
			return -EBADMSG;
		got = pread(e->fd, dst, len, (off_t)(ph.p_offset + (addr - ph.p_vaddr)));
		return got < 0 ? -EIO : (size_t)got == len ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}

/* ------------------------------------------------------------------ descriptors */

/* The descriptor at addr in memory of its own; NULL with *err set. */
static struct hodo_desc *load_desc(const struct hodo_read_elf *e, uint64_t addr, int *err)
{
	struct hodo_desc head, *d;

	*err = hodo_read_elf_at(e, addr, &head, sizeof(head));
	if (*err)
		return NULL;
	*err = -EBADMSG;
	if (head.size < sizeof(head) || head.version != HODO_ABI_VERSION || head.total < sizeof(head) ||
	    head.total > DESC_MAX_BYTES || head.strings < sizeof(head) || head.strings > head.total ||
	    head.nfields > HODO_FIELDS_MAX || head.nfields > head.total - sizeof(head))
		return NULL;
	d = malloc(head.total);
	*err = d ? hodo_read_elf_at(e, addr, d, head.total) : -ENOMEM;
	if (*err) {
		free(d);
		return NULL;
	}
	*d = head; /* the checked copy, whatever was read the second time */
	return d;
}

/* Finds the six texts. */
static int find_strings(const struct hodo_desc *d, const char *s[STRINGS])
{
	const char *p = (const char *)d + d->strings, *end = (const char *)d + d->total;

	for (unsigned i = 0; i < STRINGS; i++) {
		const char *nul = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;

		if (!nul)
			return -EBADMSG;
		s[i] = p;
		p = nul + 1;
	}
	return 0;
}

static void class_free(struct elf_class *c)
{
	if (!c)
		return;
	free(c->strings);
	free(c->names);
	free(c);
}

static int name_class(struct elf_class *c, const struct hodo_desc *d, const char *const s[STRINGS])
{
	const uint8_t *types = (const uint8_t *)(d + 1);
	bool begin = d->kind == HODO_KIND_SPAN_BEGIN || d->kind == HODO_KIND_BEGIN;
	bool end = d->kind == HODO_KIND_SPAN_END || d->kind == HODO_KIND_END;
	size_t room = strlen(s[0]) + strlen(s[1]) + 16;
	const char *names[HODO_FIELDS_MAX];
	char *name;

	c->names = malloc(room + HODO_FIELDS_NAMES_MAX);
	if (!c->names)
		return -ENOMEM;
	name = c->names + HODO_FIELDS_NAMES_MAX;
	snprintf(name, room, "%s:%s%s", s[0], s[1], begin ? ".begin" : end ? ".end" : "");
	c->pub.name = name;
	if (hodo_fields_names(s[2], d->nfields, c->names, HODO_FIELDS_NAMES_MAX, names) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < d->nfields; i++) {
		if (!hodo_fields_fixed_size(types[i]))
			return -EBADMSG;
		c->fields[i].name = names[i];
		c->fields[i].type = types[i];
	}
	return 0;
}

static int add_class(struct hodo_read_elf *e, struct hodo_desc *d, const char *const s[STRINGS],
		     uint32_t sites)
{
	struct elf_class *c;
	int err;

	if (hodo_read_grow(&e->classes, e->nclasses, &e->classes_room, sizeof(*e->classes)) < 0)
		return -ENOMEM;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	err = name_class(c, d, s);
	if (err) {
		class_free(c);
		return err;
	}
	c->strings = (char *)d;
	c->pub.size = sizeof(c->pub);
	c->pub.kind = d->kind;
	c->pub.format = s[3];
	c->pub.file = s[4];
	c->pub.func = s[5];
	c->pub.line = d->line;
	c->pub.object = e->path;
	c->pub.nfields = d->nfields;
	c->pub.fields = c->fields;
	c->pub.sites = sites;
	e->classes[e->nclasses++] = c;
	return 0;
}

/* Values as a list of numbers, and names without blanks: what labels are made of elsewhere. */
static int add_labels(struct hodo_read_elf *e, struct hodo_desc *d, const char *const s[STRINGS])
{
	char *names = (char *)s[2], *out = names, *values, *v;
	int err;

	if (d->labels < sizeof(*d) || d->labels > d->total ||
	    d->nlabels > (d->total - d->labels) / sizeof(int64_t))
		return -EBADMSG;
	if (hodo_read_grow(&e->texts, e->ntexts + 1, &e->texts_room, sizeof(*e->texts)) < 0)
		return -ENOMEM;
	values = v = malloc((size_t)d->nlabels * 22 + 1);
	if (!values)
		return -ENOMEM;
	*v = 0;
	for (uint32_t i = 0; i < d->nlabels; i++) {
		int64_t n;

		memcpy(&n, (const char *)d + d->labels + i * sizeof(n), sizeof(n));
		v += sprintf(v, "%s%lld", i ? "," : "", (long long)n);
	}
	for (const char *p = names; *p; p++)
		if (*p != ' ' && *p != '\t')
			*out++ = *p;
	*out = 0;
	err = hodo_read_labels_parse(&e->labels, (char *)s[0], (char *)s[1], names, values);
	free(values);
	if (err)
		return err == -EINVAL ? -EBADMSG : err;
	e->texts[e->ntexts++] = (char *)d;
	return 0;
}

/* Takes one descriptor that `sites` sites have. 0, or -ENOMEM, -EIO; damaged ones are counted. */
static int add_desc(struct hodo_read_elf *e, uint64_t addr, uint32_t sites)
{
	const char *s[STRINGS];
	struct hodo_desc *d;
	int err;

	d = load_desc(e, addr, &err);
	if (d) {
		err = find_strings(d, s);
		if (err || d->kind < HODO_KIND_EVENT || d->kind > HODO_KIND_LABELS || !*s[0] || !*s[1])
			err = -EBADMSG;
		else if (d->kind == HODO_KIND_LABELS)
			err = add_labels(e, d, s);
		else
			err = add_class(e, d, s, sites);
		if (err)
			free(d);
	}
	if (err == -EBADMSG) {
		e->bad++;
		err = 0;
	}
	return err;
}

/* ------------------------------------------------------------------------ sites */

static int add_sites(struct hodo_read_elf *e, const GElf_Shdr *sh, Elf_Data *data)
{
	size_t n = data->d_size / sizeof(struct hodo_site);

	for (size_t i = 0; i < n && e->ndescs < SITES_MAX; i++) {
		uint64_t at = sh->sh_addr + i * sizeof(struct hodo_site) + offsetof(struct hodo_site, desc);
		struct hodo_site site;

		memcpy(&site, (const char *)data->d_buf + i * sizeof(site), sizeof(site));
		if (!site.desc)
			continue;
		if (hodo_read_grow(&e->descs, e->ndescs, &e->descs_room, sizeof(*e->descs)) < 0)
			return -ENOMEM;
		e->descs[e->ndescs++] = at + (uint64_t)(int64_t)site.desc;
	}
	return 0;
}

static int find_sites(struct hodo_read_elf *e)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int err = 0;

	if (elf_getshdrstrndx(e->elf, &names) != 0)
		return -EBADMSG;
	while (!err && (scn = elf_nextscn(e->elf, scn)) != NULL) {
		Elf_Data *data;
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(e->elf, names, sh.sh_name);
		if (!name || strcmp(name, "hodo_sites") != 0 || sh.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			err = add_sites(e, &sh, data);
	}
	return err;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int add_descs(struct hodo_read_elf *e)
{
	int err = 0;

	if (e->ndescs)
		qsort(e->descs, e->ndescs, sizeof(*e->descs), by_number);
	for (uint32_t i = 0, n; i < e->ndescs && !err; i += n) {
		for (n = 1; i + n < e->ndescs && e->descs[i + n] == e->descs[i]; n++)
			;
		err = add_desc(e, e->descs[i], n);
	}
	return err;
}

/* ---------------------------------------------------------------------- classes */

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_class *x = *(struct hodo_read_class *const *)a;
	const struct hodo_read_class *y = *(struct hodo_read_class *const *)b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Several places of one event become one class, that of the first place. */
static void join_classes(struct hodo_read_elf *e)
{
	uint32_t kept = 0;

	if (e->nclasses)
		qsort(e->classes, e->nclasses, sizeof(*e->classes), by_name);
	for (uint32_t i = 0, first = 0; i < e->nclasses; i++) {
		struct elf_class *c = e->classes[i];
		uint32_t k;

		if (kept == 0 || strcmp(e->classes[first]->pub.name, c->pub.name) != 0)
			first = kept;
		for (k = first; k < kept && k < first + 16; k++)
			if (hodo_read_class_same(&e->classes[k]->pub, &c->pub))
				break;
		if (k < kept && k < first + 16) {
			e->classes[k]->pub.sites += c->pub.sites;
			class_free(c);
		} else {
			e->classes[kept++] = c;
		}
	}
	e->nclasses = kept;
	hodo_read_labels_sort(&e->labels);
	for (uint32_t i = 0; i < kept; i++)
		hodo_read_labels_attach(&e->labels, e->classes[i]->pub.name, e->classes[i]->fields,
					e->classes[i]->pub.nfields);
}

/* --------------------------------------------------------------------- open, close */

static int open_elf(struct hodo_read_elf *e, const char *path)
{
	struct stat st;
	GElf_Ehdr eh;

	e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (e->fd < 0)
		return -errno;
	if (fstat(e->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	/* Read, not mapped: the file may shrink. */
	e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &eh))
		return -ENOEXEC;
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ||
	    eh.e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOEXEC;
	return 0;
}

static void explain(const struct hodo_read_options *o, const char *path, int err)
{
	const char *what = strerror(-err);
	char text[512];

	if (err == -ENOEXEC)
		what = "not a linked 64-bit ELF program or library of this byte order";
	else if (err == -EBADMSG)
		what = "a damaged ELF file";
	else if (err == -ENOENT)
		what = "no such file";
	if (o && o->error && o->error_bytes) {
		snprintf(text, sizeof(text), "%.300s: %s", path, what);
		hodo_read_clean(o->error, o->error_bytes, text);
	}
}

int hodo_read_elf_open(struct hodo_read_elf **elf, const char *path, const struct hodo_read_options *options)
{
	struct hodo_read_elf *e;
	char text[512], clean[512];
	int err;

	if (!elf || !path || (options && options->size < sizeof(*options)))
		return -EINVAL;
	*elf = NULL;
	e = calloc(1, sizeof(*e));
	if (!e) {
		explain(options, path, -ENOMEM);
		return -ENOMEM;
	}
	e->fd = -1;
	e->path = strdup(path);
	err = e->path ? open_elf(e, path) : -ENOMEM;
	if (!err)
		err = find_sites(e);
	if (!err)
		err = add_descs(e);
	if (err) {
		hodo_read_elf_close(e);
		explain(options, path, err);
		return err;
	}
	join_classes(e);
	if (e->bad && options && options->warn) {
		snprintf(text, sizeof(text), "%.300s: %u event descriptors are damaged: skipped", path,
			 e->bad);
		hodo_read_clean(clean, sizeof(clean), text);
		options->warn(options->data, clean);
	}
	*elf = e;
	return 0;
}

void hodo_read_elf_close(struct hodo_read_elf *elf)
{
	struct hodo_read_elf *e = elf;

	if (!e)
		return;
	for (uint32_t i = 0; i < e->nclasses; i++)
		class_free(e->classes[i]);
	for (uint32_t i = 0; i < e->ntexts; i++)
		free(e->texts[i]);
	hodo_read_labels_free(&e->labels);
	if (e->elf)
		elf_end(e->elf);
	if (e->fd >= 0)
		close(e->fd);
	hodo_read_functions_free(e->functions);
	free(e->texts);
	free(e->classes);
	free(e->descs);
	free(e->path);
	free(e);
}

uint32_t hodo_read_elf_nclasses(const struct hodo_read_elf *elf)
{
	return elf->nclasses;
}

const struct hodo_read_class *hodo_read_elf_class(const struct hodo_read_elf *elf, uint32_t i)
{
	return i < elf->nclasses ? &elf->classes[i]->pub : NULL;
}
