/* SPDX-License-Identifier: MIT */
/*
 * sites.c - finds a file's sites. Descriptors need no relocation, so the file's bytes suffice: sites in the section
 * hodo_sites, each with the distance to its descriptor in virtual addresses, which the loadable segments map
 * to the file.
 */
#include "sites.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/vec.h>

#define DESC_MAX_BYTES (2u << 20)
#define SITES_MAX      (4u << 20)

/* A copy of the descriptor at addr; NULL with *err set. -EPROTONOSUPPORT: of another version. */
static struct hodo_desc *load_desc(const struct hodo_elf *e, uint64_t addr, uint8_t *version, int *err)
{
	struct hodo_desc head, *d;

	*err = hodo_elf_read_at(e, addr, &head, sizeof(head));
	if (*err)
		return NULL;
	*version = head.version;
	*err = head.version && head.version != HODO_ABI_VERSION ? -EPROTONOSUPPORT : -EBADMSG;
	if (head.size < sizeof(head) || head.version != HODO_ABI_VERSION || head.total < sizeof(head) ||
	    head.total > DESC_MAX_BYTES || head.strings < sizeof(head) || head.strings > head.total ||
	    head.nfields > HODO_FIELDS_MAX || head.nfields > head.total - sizeof(head))
		return NULL;
	d = malloc(head.total);
	*err = d ? hodo_elf_read_at(e, addr, d, head.total) : -ENOMEM;
	if (*err) {
		free(d);
		return NULL;
	}
	*d = head; /* the checked copy, in case the second read differs */
	return d;
}

/* Where they begin. */
static int find_texts(const struct hodo_desc *d, const char *s[HODO_ELF_TEXTS])
{
	const char *p = (const char *)d + d->strings, *end = (const char *)d + d->total;

	bool labelled = d->kind != HODO_KIND_LABELS && d->labels & HODO_DESC_LABELLED;
	unsigned texts = labelled ? HODO_ELF_TEXTS : HODO_ELF_LABELS;

	s[HODO_ELF_LABELS] = "";
	for (unsigned i = 0; i < texts; i++) {
		const char *nul = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;

		if (!nul)
			return -EBADMSG;
		s[i] = p;
		p = nul + 1;
	}
	return 0;
}

static int add_desc(const struct hodo_elf *e, uint64_t addr, uint32_t sites, hodo_elf_site_fn each, void *arg,
		    struct hodo_elf_useless *useless)
{
	const char *text[HODO_ELF_TEXTS];
	uint8_t version = 0;
	int err;
	struct hodo_desc *d = load_desc(e, addr, &version, &err);

	if (d) {
		err = find_texts(d, text);
		if (!err)
			err = each(arg, d, text, sites);
		if (err)
			free(d);
	}
	useless->damaged += err == -EBADMSG;
	if (err == -EPROTONOSUPPORT) {
		useless->foreign++;
		useless->version = version;
	}
	return err == -EBADMSG || err == -EPROTONOSUPPORT ? 0 : err;
}

/* ------------------------------------------------------------------------ sites */

static int add_sites(struct hodo_elf_site_places *p, const GElf_Shdr *sh, const Elf_Data *data)
{
	size_t n = data->d_size / sizeof(struct hodo_site);

	for (size_t i = 0; i < n && p->n < SITES_MAX; i++) {
		uint64_t at = sh->sh_addr + i * sizeof(struct hodo_site);
		struct hodo_elf_site_place *place;
		struct hodo_site site;

		memcpy(&site, (const char *)data->d_buf + i * sizeof(site), sizeof(site));
		if (!site.desc || (!site.addr && site.cold)) /* a semaphore from other headers */
			continue;
		place = hodo_vec_add(p->list, p->n);
		if (!place)
			return -ENOMEM;
		place->addr = site.addr ? at + offsetof(struct hodo_site, addr) + (uint64_t)(int64_t)site.addr : 0;
		place->desc = at + offsetof(struct hodo_site, desc) + (uint64_t)(int64_t)site.desc;
	}
	return 0;
}

static int read_sites(struct hodo_elf_site_places *p, const struct hodo_elf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	int err = 0;

	while (!err && (scn = hodo_elf_section(e->elf, scn, "hodo_sites", &sh)) != NULL) {
		Elf_Data *data = elf_rawdata(scn, NULL);

		if (data && data->d_buf)
			err = add_sites(p, &sh, data);
	}
	return err;
}

static int by_desc(const void *a, const void *b)
{
	const struct hodo_elf_site_place *x = a, *y = b;

	return hodo_order(x->desc, y->desc);
}

int hodo_elf_sites(const struct hodo_elf *e, hodo_elf_site_fn each, void *arg, struct hodo_elf_useless *useless)
{
	struct hodo_elf_site_places p = { 0 };
	int err;

	memset(useless, 0, sizeof(*useless));
	err = read_sites(&p, e);
	hodo_order_sort(p.list, p.n, by_desc);
	for (uint32_t i = 0, n; i < p.n && !err; i += n) {
		for (n = 1; i + n < p.n && p.list[i + n].desc == p.list[i].desc; n++)
			;
		err = add_desc(e, p.list[i].desc, n, each, arg, useless);
	}
	free(p.list);
	return err;
}

/* -------------------------------------------------------------------- by address */

static int by_addr(const void *a, const void *b)
{
	const struct hodo_elf_site_place *x = a, *y = b;

	return hodo_order(x->addr, y->addr) ?: hodo_order(x->desc, y->desc);
}

int hodo_elf_sites_find(struct hodo_elf_site_places *p, const struct hodo_elf *e)
{
	int err = read_sites(p, e);

	hodo_order_sort(p->list, p->n, by_addr);
	return err;
}

struct hodo_desc *hodo_elf_site_desc(const struct hodo_elf *e, uint64_t addr, const char *text[HODO_ELF_TEXTS])
{
	uint8_t version;
	int err;
	struct hodo_desc *d = load_desc(e, addr, &version, &err);

	if (d && find_texts(d, text) < 0) {
		free(d);
		return NULL;
	}
	return d;
}
