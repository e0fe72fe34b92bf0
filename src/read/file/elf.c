/* SPDX-License-Identifier: MIT */
/* elf.c - the events and the traceable functions that an executable or library offers, from its file. */
#include "labels.h"
#include "warn.h"

#include <base/arena.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/text.h>
#include <base/vec.h>
#include <core/fields.h>
#include <core/kind.h>
#include <core/labels.h>
#include <elf/sites.h>
#include <elf/slots.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elf_class {
	struct hodo_read_class pub;
	struct hodo_read_field fields[HODO_FIELDS_MAX];
	char names[]; /* of fields and event */
};

struct hodo_read_elf {
	struct hodo_elf file;
	char *path;
	struct hodo_elf_useless useless;
	struct elf_class **classes;
	uint32_t nclasses;
	struct hodo_labels labels;
	struct hodo_desc **texts; /* descriptors, that classes and labels point into */
	uint32_t ntexts;
	struct hodo_elf_slots slots;
	struct hodo_read_function *functions; /* NULL until asked for */
};

/* ------------------------------------------------------------------ descriptors */

static int name_fields(struct elf_class *c, const struct hodo_desc *d, const char *fields)
{
	const uint8_t *types = (const uint8_t *)(d + 1);
	const char *names[HODO_FIELDS_MAX];

	if (hodo_fields_names(fields, d->nfields, c->names, HODO_FIELDS_NAMES_MAX, names) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < d->nfields; i++) {
		if (!hodo_fields_fixed_size(types[i]))
			return -EBADMSG;
		c->fields[i].name = names[i];
		c->fields[i].type = types[i];
	}
	return 0;
}

/* The labels of an event's field, which are next in the text. */
static int add_field_labels(struct hodo_read_elf *e, const char *event, const char *field, const char **text)
{
	HODO_AUTO(hodo_text_free) struct hodo_text names = { 0 };
	HODO_AUTO_FREE int64_t *values = NULL;
	struct hodo_label label;
	uint32_t n = 0;
	int err = 0;
	char *copy;

	while (!err && hodo_labels_next(text, &label)) {
		hodo_text_add(&names, n ? "," : "");
		hodo_text_bytes(&names, label.name, label.len);
		err = hodo_vec_push(values, n, label.value);
	}
	if (err || !n || names.error)
		return err ? err : names.error ? names.error : -EBADMSG;
	copy = hodo_arena_copy(&e->labels.memory, names.data, names.len);
	return copy ? hodo_read_labels_add(&e->labels, event, field, copy, values, n) : -ENOMEM;
}

/* Skips damaged ones: the event is still valid. */
static int add_own_labels(struct hodo_read_elf *e, const struct elf_class *c, const char *text)
{
	unsigned field;
	int err = 0;

	while (!err && hodo_labels_field(&text, &field) && field < c->pub.nfields)
		err = add_field_labels(e, c->pub.name, c->fields[field].name, &text);
	return err == -EBADMSG || err == -EINVAL ? 0 : err;
}

static int add_class(struct hodo_read_elf *e, struct hodo_desc *d, const char *const s[HODO_ELF_TEXTS],
		     uint32_t sites)
{
	size_t room = strlen(s[0]) + strlen(s[1]) + 16;
	struct elf_class *c = calloc(1, sizeof(*c) + HODO_FIELDS_NAMES_MAX + room);
	char *name = c ? c->names + HODO_FIELDS_NAMES_MAX : NULL;
	int err = c ? name_fields(c, d, s[2]) : -ENOMEM;

	if (!err)
		err = hodo_vec_push(e->classes, e->nclasses, c);
	if (err) {
		free(c);
		return err;
	}
	snprintf(name, room, "%s:%s%s", s[0], s[1], hodo_kind_suffix(d->kind));
	c->pub.size = sizeof(c->pub);
	c->pub.name = name;
	c->pub.kind = d->kind;
	c->pub.format = s[3];
	c->pub.file = s[4];
	c->pub.func = s[5];
	c->pub.line = d->line;
	c->pub.object = e->path;
	c->pub.nfields = d->nfields;
	c->pub.fields = c->fields;
	c->pub.sites = sites;
	return add_own_labels(e, c, s[HODO_ELF_LABELS]);
}

static int add_labels(struct hodo_read_elf *e, struct hodo_desc *d, const char *const s[HODO_ELF_TEXTS])
{
	char *names = (char *)s[2], *out = names;
	int err;

	if (d->labels < sizeof(*d) || d->labels > d->total ||
	    d->nlabels > (d->total - d->labels) / sizeof(int64_t))
		return -EBADMSG;
	for (const char *p = names; *p; p++)
		if (*p != ' ' && *p != '\t')
			*out++ = *p;
	*out = 0;
	err = hodo_read_labels_add(&e->labels, s[0], s[1], names, (const char *)d + d->labels, d->nlabels);
	return err == -EINVAL ? -EBADMSG : err;
}

static int take_desc(void *elf, struct hodo_desc *d, const char *const s[HODO_ELF_TEXTS], uint32_t sites)
{
	struct hodo_read_elf *e = elf;
	int err;

	if (d->kind < HODO_KIND_EVENT || d->kind > HODO_KIND_LABELS || !*s[HODO_ELF_PROVIDER] || !*s[HODO_ELF_EVENT])
		return -EBADMSG;
	err = d->kind == HODO_KIND_LABELS ? add_labels(e, d, s) : add_class(e, d, s, sites);
	return err ? err : hodo_vec_push(e->texts, e->ntexts, d);
}

/* ---------------------------------------------------------------------- classes */

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_class *x = *(struct hodo_read_class *const *)a;
	const struct hodo_read_class *y = *(struct hodo_read_class *const *)b;

	return strcmp(x->name, y->name) ?: strcmp(x->file, y->file) ?: hodo_order(x->line, y->line);
}

/* Merges several places of one event into one class, that of the first place. */
static int join_classes(struct hodo_read_elf *e)
{
	uint32_t kept = 0;
	int err = 0;

	hodo_order_sort(e->classes, e->nclasses, by_name);
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
			free(c);
		} else {
			e->classes[kept++] = c;
		}
	}
	e->nclasses = kept;
	for (uint32_t i = 0; i < kept && !err; i++)
		err = hodo_read_labels_attach(&e->labels, e->classes[i]->pub.name, e->classes[i]->fields,
					      e->classes[i]->pub.nfields);
	return err;
}

/* --------------------------------------------------------------------- open, close */

static int open_elf(struct hodo_read_elf *e, const char *path)
{
	GElf_Ehdr eh;
	int err = hodo_elf_open(&e->file, path);

	if (err)
		return err;
	if (!gelf_getehdr(e->file.elf, &eh) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ||
	    eh.e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOEXEC;
	return hodo_elf_sites(&e->file, take_desc, e, &e->useless);
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

static void warn(const struct hodo_read_options *o, const char *text)
{
	char clean[512];

	hodo_read_clean(clean, sizeof(clean), text);
	o->warn(o->data, clean);
}

static void warn_useless(const struct hodo_read_elf *e, const struct hodo_read_options *o)
{
	const struct hodo_elf_useless *u = &e->useless;
	char text[512];

	if (u->damaged) {
		snprintf(text, sizeof(text), "%.300s: %u event descriptor%s damaged: skipped", e->path, u->damaged,
			 u->damaged == 1 ? " is" : "s are");
		warn(o, text);
	}
	if (u->foreign) {
		snprintf(text, sizeof(text), "%.300s: %u event%s of version %u of Hodoscope's headers, and this hodo knows"
			 " version %u: compile it with this version's headers",
			 e->path, u->foreign, u->foreign == 1 ? " is" : "s are",
			 u->version, HODO_ABI_VERSION);
		warn(o, text);
	}
}

int hodo_read_elf_open(struct hodo_read_elf **elf, const char *path, const struct hodo_read_options *options)
{
	struct hodo_read_elf *e;
	int err;

	if (!elf || !path || (options && options->size < sizeof(*options)))
		return -EINVAL;
	*elf = NULL;
	e = calloc(1, sizeof(*e));
	if (!e) {
		explain(options, path, -ENOMEM);
		return -ENOMEM;
	}
	e->file = HODO_ELF_CLOSED;
	e->path = strdup(path);
	err = e->path ? open_elf(e, path) : -ENOMEM;
	if (!err)
		err = join_classes(e);
	if (err) {
		hodo_read_elf_close(e);
		explain(options, path, err);
		return err;
	}
	if (options && options->warn)
		warn_useless(e, options);
	*elf = e;
	return 0;
}

void hodo_read_elf_close(struct hodo_read_elf *elf)
{
	struct hodo_read_elf *e = elf;

	if (!e)
		return;
	for (uint32_t i = 0; i < e->nclasses; i++)
		free(e->classes[i]);
	for (uint32_t i = 0; i < e->ntexts; i++)
		free(e->texts[i]);
	hodo_read_labels_free(&e->labels);
	hodo_elf_close(&e->file);
	hodo_elf_slots_free(&e->slots);
	free(e->functions);
	free(e->texts);
	free(e->classes);
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

int hodo_read_elf_functions(struct hodo_read_elf *elf, const struct hodo_read_function **functions, uint32_t *n)
{
	_Static_assert((int)HODO_ELF_SLOT_ENTRY_EXIT == HODO_READ_SLOT_ENTRY_EXIT &&
		       (int)HODO_ELF_SLOT_MCOUNT == HODO_READ_SLOT_MCOUNT, "the same numbers");
	struct hodo_elf_slots *s = &elf->slots;

	*functions = NULL;
	*n = 0;
	if (!elf->functions) {
		if (hodo_elf_slots_find(s, &elf->file) == 0)
			elf->functions = calloc(s->n ? s->n : 1, sizeof(*elf->functions));
		if (!elf->functions) {
			hodo_elf_slots_free(s);
			return -ENOMEM;
		}
		for (uint32_t i = 0; i < s->n; i++)
			elf->functions[i] = (struct hodo_read_function){
				.size = sizeof(*elf->functions), .addr = s->list[i].addr, .exits = s->list[i].exits,
				.slot = (enum hodo_read_slot)s->list[i].slot, .name = s->list[i].name
			};
	}
	*functions = elf->functions;
	*n = s->n;
	return 0;
}
