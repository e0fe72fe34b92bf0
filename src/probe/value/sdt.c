/* SPDX-License-Identifier: MIT */
/*
 * sdt.c - static probes of installed programs and libraries (USDT) as events of a plan. Their arguments are
 * fields, arg1, arg2, …; those without a place in the note are left out.
 */
#include "sdt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <base/vec.h>
#include <core/glob.h>
#include <core/kind.h>
#include <core/search.h>
#include <elf/sdt.h>
#include <elf/sites.h>
#include <elf/symbols.h>
#include <hodo/abi.h>

#include "location.h"
#include "value.h"

#define FS 4 /* the segment's number */
#define ANYWHERE (INT64_MAX / 4)
#define FOLLOWS 12u /* instructions between a note and its site, at most */

/* ---------------------------------------------------------------------- arguments */

static uint8_t type_of(const struct hodo_sdt_arg *a)
{
	if (a->is_float)
		return a->size == 4 ? HODO_TYPE_F32 : a->size == 8 ? HODO_TYPE_F64 : HODO_TYPE_NONE;
	switch (a->size) {
	case 1: return a->is_signed ? HODO_TYPE_I8 : HODO_TYPE_U8;
	case 2: return a->is_signed ? HODO_TYPE_I16 : HODO_TYPE_U16;
	case 4: return a->is_signed ? HODO_TYPE_I32 : HODO_TYPE_U32;
	case 8:
	case 0: return a->is_signed ? HODO_TYPE_I64 : HODO_TYPE_U64;
	default: return HODO_TYPE_NONE;
	}
}

/* A whole register; 32-bit ones make 32-bit addresses, and rip is useless without a symbol. */
static bool is_general(const struct hodo_sdt_register *r)
{
	return r->kind == HODO_SDT_GENERAL && r->bytes == 8;
}

/*
 * The start of the sum: a segment's base, a symbol, a register, or nothing. *base: a register not added yet. The thread's
 * and the object's own data are mapped. What a register points to need not be: the compiler may give the place of p->n
 * where p is NULL, since nothing reads it there.
 */
static bool start(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame, bool *base)
{
	uint64_t address;
	unsigned reg;

	if (a->segment.kind != HODO_SDT_NONE) {
		if (a->segment.kind != HODO_SDT_SEGMENT || a->segment.number != FS || a->symbol ||
		    !hodo_fetch_start(f, HODO_FETCH_THREAD, 0, 0))
			return false;
		hodo_fetch_mapped(f, -ANYWHERE, ANYWHERE);
		return true;
	}
	if (a->symbol) {
		*base = *base && a->base.kind != HODO_SDT_RIP;
		if (!hodo_elf_find_address(e->elf, a->symbol, a->symbol_len, &address) ||
		    !hodo_fetch_start(f, HODO_FETCH_ADDRESS, 0, (int64_t)address))
			return false;
		hodo_fetch_mapped(f, -ANYWHERE, ANYWHERE);
		return true;
	}
	if (!*base)
		return hodo_fetch_start(f, HODO_FETCH_CONSTANT, 0, 0);
	*base = false;
	reg = hodo_fetch_general(a->base.number);
	if (!is_general(&a->base) || !hodo_fetch_start(f, HODO_FETCH_REGISTER, reg, 0))
		return false;
	if (frame && reg == HODO_FETCH_RBP)
		hodo_fetch_frame(f);
	return true;
}

static bool memory(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame,
		   unsigned bytes)
{
	bool base = a->base.kind != HODO_SDT_NONE, index = a->index.kind != HODO_SDT_NONE;
	bool done = start(f, e, a, frame, &base);

	if (done && base)
		done = is_general(&a->base) && hodo_fetch_index(f, hodo_fetch_general(a->base.number), 1);
	if (done && index)
		done = is_general(&a->index) &&
		       hodo_fetch_index(f, hodo_fetch_general(a->index.number), a->scale ? a->scale : 1);
	done = done && hodo_fetch_add(f, a->offset);
	return done && hodo_fetch_load(f, bytes, false);
}

static bool fetch(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame)
{
	unsigned bytes = a->size ? a->size : 8;
	bool none = false;

	switch (a->form) {
	case HODO_SDT_CONSTANT:
		return start(f, e, a, frame, &none) && hodo_fetch_add(f, a->offset);
	case HODO_SDT_REGISTER:
		if (a->reg.kind == HODO_SDT_VECTOR)
			return a->reg.number < 16 && bytes >= 4 &&
			       hodo_fetch_start(f, HODO_FETCH_REGISTER, HODO_FETCH_XMM0 + a->reg.number, 0);
		return a->reg.kind == HODO_SDT_GENERAL &&
		       hodo_fetch_start(f, HODO_FETCH_REGISTER, hodo_fetch_general(a->reg.number), 0) &&
		       (!a->reg.shift || hodo_fetch_bits(f, a->reg.shift, 8, false));
	case HODO_SDT_MEMORY:
		return memory(f, e, a, frame, bytes);
	default:
		return false;
	}
}

/*
 * The field of a static probe's n-th argument, from 1. frame: rbp is the frame pointer there. 0; -ENOENT: it is not
 * understood, or its symbol is not in the file's data; -ENOMEM. Free it in any case.
 */
static int make_field(struct hodo_probe_field *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame,
		      unsigned n)
{
	*f = (struct hodo_probe_field){ .type = type_of(a) };
	if (f->type == HODO_TYPE_NONE || !fetch(&f->fetch, e, a, frame))
		return -ENOENT;
	return asprintf(&f->name, "arg%u", n) < 0 ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------------- probes */

struct taking {
	const char *const *patterns;
	unsigned n;
	struct hodo_probe_target *t;
	const struct hodo_elf *e;
	struct hodo_elf_site_places places;
	uint32_t *sites;
	Dwarf_CFI *frames; /* NULL: the file has none */
};

static bool is_wanted(const struct taking *t, const char *provider, const char *event, const char *suffix)
{
	HODO_AUTO_FREE char *name = NULL;
	bool wanted = false;
	int len = asprintf(&name, "%s:%s%s", provider, event, suffix);

	for (unsigned i = 0; i < t->n && len > 0 && !wanted; i++)
		wanted = hodo_glob(t->patterns[i], strlen(t->patterns[i]), name, (size_t)len);
	return wanted;
}

/* The event of a note job__begin is job.begin. */
static bool is_same(const struct hodo_elf_sdt *probe, const char *provider, const char *event, const char *suffix)
{
	size_t len = strlen(event);

	if (strcmp(probe->provider, provider) != 0 || strncmp(probe->name, event, len) != 0)
		return false;
	return *suffix ? strncmp(probe->name + len, "__", 2) == 0 && strcmp(probe->name + len + 2, suffix + 1) == 0 :
			 !probe->name[len];
}

/* Whether the descriptor is of the probe's event, and the patterns select that, too: by its own name. */
static bool is_selected(const struct taking *t, const struct hodo_elf_sdt *probe, uint64_t desc)
{
	const char *text[HODO_ELF_TEXTS];
	HODO_AUTO_FREE struct hodo_desc *d = hodo_elf_site_desc(t->e, desc, text);
	const char *suffix = d ? hodo_kind_suffix(d->kind) : "";

	return d && is_same(probe, text[HODO_ELF_PROVIDER], text[HODO_ELF_EVENT], suffix) &&
	       is_wanted(t, text[HODO_ELF_PROVIDER], text[HODO_ELF_EVENT], suffix);
}

/* The descriptor of the site that begins there; 0: none does. */
static uint64_t site_at(const struct hodo_elf_site_places *p, uint64_t addr)
{
	uint32_t i = hodo_search(k, p->n, p->list[k].addr >= addr);

	return i < p->n && p->list[i].addr == addr ? p->list[i].desc : 0;
}

/* Whether the address is that of the descriptor of a site without address. */
static bool is_desc(const struct hodo_elf_site_places *p, uint64_t addr)
{
	uint32_t i = hodo_search(k, p->n, p->list[k].addr || p->list[k].desc >= addr);

	return i < p->n && !p->list[i].addr && p->list[i].desc == addr;
}

/* The descriptor of a site without address that the instruction refers to; 0: it does not. */
static uint64_t desc_in(const struct hodo_elf_site_places *p, const uint8_t *bytes, unsigned length, uint64_t addr)
{
	for (unsigned k = 1; k + sizeof(int32_t) <= length; k++) {
		int32_t value;

		memcpy(&value, bytes + k, sizeof(value));
		if (is_desc(p, addr + length + (uint64_t)(int64_t)value))
			return addr + length + (uint64_t)(int64_t)value;
		if (is_desc(p, (uint32_t)value))
			return (uint32_t)value;
	}
	return 0;
}

/*
 * Whether libhodo records it: its site follows it. Most compilers leave nothing in between, but some a few
 * instructions, with jumps to the next one.
 */
static bool is_recorded(const struct taking *t, const struct hodo_elf_sdt *probe)
{
	struct hodo_instruction i = { 0 };
	uint64_t at = probe->address;

	for (unsigned n = 0; n < FOLLOWS && t->places.n; n++) {
		const struct hodo_probe_segment *s = hodo_probe_segment_at(t->t->object, at);
		uint64_t desc = site_at(&t->places, at);

		if (!desc && (!s || !hodo_instruction_decode(&i, s->bytes + (at - s->start), s->end - at, at)))
			return false;
		desc = desc ? desc : desc_in(&t->places, s->bytes + (at - s->start), i.length, at);
		if (desc)
			return is_selected(t, probe, desc);
		if (i.kind > HODO_INSTRUCTION_ENDBR && i.kind != HODO_INSTRUCTION_JUMP)
			return false;
		at = i.kind == HODO_INSTRUCTION_JUMP ? i.target : at + i.length;
	}
	return false;
}

static int take(void *arg, const struct hodo_elf_sdt *probe)
{
	struct taking *take = arg;
	struct hodo_probe_event *e;
	const char *at = probe->args;
	struct hodo_sdt_arg a;
	bool frame;

	if (!is_wanted(take, probe->provider, probe->name, ""))
		return 0;
	if (is_recorded(take, probe)) {
		++*take->sites;
		return 0;
	}
	frame = hodo_frame_pointer_at(take->frames, probe->address);
	e = hodo_vec_add(take->t->events, take->t->nevents);
	if (!e)
		return -ENOMEM;
	*e = (struct hodo_probe_event){ .addr = probe->address, .semaphore = probe->semaphore,
					.provider = strdup(probe->provider), .name = strdup(probe->name) };
	for (unsigned n = 1; e->nfields < HODO_TRACE_FIELDS_MAX && hodo_sdt_arg_next(&at, &a); n++) {
		struct hodo_probe_field *f = hodo_vec_add(e->fields, e->nfields);
		int err = f ? make_field(f, take->e, &a, frame, n) : -ENOMEM;

		if (err && f)
			hodo_probe_field_free(&e->fields[--e->nfields]);
		if (err == -ENOMEM)
			return err;
	}
	return e->provider && e->name ? 0 : -ENOMEM;
}

int hodo_probe_sdt(struct hodo_probe_target *t, const char *path, const char *const *patterns, unsigned n,
		   uint32_t *sites)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;
	struct taking taking = { .patterns = patterns, .n = n, .t = t, .e = &e, .sites = sites };
	uint32_t damaged;
	int err;

	if (!n || hodo_elf_open(&e, path) < 0)
		return 0;
	taking.frames = dwarf_getcfi_elf(e.elf);
	err = hodo_elf_sites_find(&taking.places, &e);
	if (!err)
		err = hodo_elf_sdt(&e, take, &taking, &damaged);
	free(taking.places.list);
	if (taking.frames)
		dwarf_cfi_end(taking.frames);
	return err;
}
