/* SPDX-License-Identifier: MIT */
/* record_findings.c - what the recording itself tells at its end: what tracers found, names that come near. */
#define _GNU_SOURCE
#include "record_findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "list_functions.h"
#include <export/symbols.h>
#include <record/pattern.h>

#define WRONG_TOLD_MAX 20u
#define HELD_MAX 256u /* pairs of a loop and a callback that are told apart */
#define HELD_TOLD_MAX 10u
#define CHAIN_SHOWN 12u
#define ROLE_SHOWN 64u
#define NAMES_LOOKED_AT_MAX 50000u /* for such that come near */

struct held {
	const char *function, *loop;
	uint64_t ids[2];
	uint64_t calls, ns_max;
};

struct findings {
	struct hodo_symbols *symbols;
	uint64_t wrong;
	struct held held[HELD_MAX];
	uint32_t helds;
	uint64_t stack_bytes; /* 0: none */
	uint32_t stack_tid;
	char stack_comm[32], stack_chain[1024];
};

/* Whether it is one of libhodo's own, with the fields that are read here. */
static bool is_event(const struct hodo_read_class *cls, const char *name, const uint8_t *types, uint32_t n)
{
	if (cls->kind != HODO_KIND_FUNCTION || strcmp(cls->name, name) != 0 || cls->nfields != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (cls->fields[i].type != types[i])
			return false;
	return true;
}

static const char *name_of(struct findings *f, const struct hodo_read_event *e, uint64_t address, uint64_t *id)
{
	struct hodo_place place;

	hodo_symbols_find(f->symbols, e->process, e->ts_ns, address, &place);
	if (id)
		*id = place.id;
	return place.name;
}

static uint64_t chain_at(const struct hodo_read_value *chain, uint32_t i)
{
	uint64_t address = 0;

	if (i < chain->count)
		memcpy(&address, (const uint8_t *)chain->data + 8 * (size_t)i, sizeof(address));
	return address;
}

/* At once: one line a place. */
static void take_wrong(struct findings *f, const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;
	uint64_t caller = chain_at(&v[3], 1);
	char role[ROLE_SHOWN + 32] = "without a role";

	if (++f->wrong > WRONG_TOLD_MAX)
		return;
	if (!v[2].null)
		snprintf(role, sizeof(role), "of role '%.*s'", (int)(v[2].count < ROLE_SHOWN ? v[2].count : ROLE_SHOWN),
			 (const char *)v[2].data);
	hodo_error("%s[%u]: %s was called%s%s in a thread %s (%u): it is for '%.*s' only", e->process->comm, e->pid,
		   name_of(f, e, v[0].u, NULL), caller ? " by " : "", caller ? name_of(f, e, caller, NULL) : "", role,
		   e->tid, (int)(v[1].count < ROLE_SHOWN ? v[1].count : ROLE_SHOWN), (const char *)v[1].data);
}

static void take_held(struct findings *f, const struct hodo_read_event *e)
{
	uint64_t freq = e->process->clock.freq_hz ? e->process->clock.freq_hz : 1;
	uint64_t ns = (uint64_t)((unsigned __int128)e->values[2].u * 1000000000u / freq);
	struct held h = { .calls = 1, .ns_max = ns }, *at = f->held;

	h.function = name_of(f, e, e->values[0].u, &h.ids[0]);
	h.loop = name_of(f, e, e->values[1].u, &h.ids[1]);
	while (at < f->held + f->helds && (at->ids[0] != h.ids[0] || at->ids[1] != h.ids[1]))
		at++;
	if (at < f->held + f->helds) {
		at->calls++;
		at->ns_max = ns > at->ns_max ? ns : at->ns_max;
	} else if (f->helds < HELD_MAX) {
		f->held[f->helds++] = h;
	}
}

static void take_stack(struct findings *f, const struct hodo_read_event *e)
{
	size_t used = 0;

	if (e->values[0].u <= f->stack_bytes)
		return;
	f->stack_bytes = e->values[0].u;
	f->stack_tid = e->tid;
	snprintf(f->stack_comm, sizeof(f->stack_comm), "%s", e->comm);
	f->stack_chain[0] = 0;
	for (uint32_t i = 0; i < e->values[2].count && used < sizeof(f->stack_chain) - 1; i++) {
		const char *name = i < CHAIN_SHOWN ? name_of(f, e, chain_at(&e->values[2], i), NULL) : "...";
		int len = snprintf(f->stack_chain + used, sizeof(f->stack_chain) - used, "%s%s", i ? " < " : "", name);

		used += len > 0 ? (size_t)len : 0;
		if (i == CHAIN_SHOWN)
			break;
	}
}

static void take(struct findings *f, const struct hodo_read_event *e)
{
	static const uint8_t wrong[] = { HODO_TYPE_PTR, HODO_TYPE_STR, HODO_TYPE_STR, HODO_TYPE_ARRAY | HODO_TYPE_PTR };
	static const uint8_t held[] = { HODO_TYPE_PTR, HODO_TYPE_PTR, HODO_TYPE_U64 };
	static const uint8_t stack[] = { HODO_TYPE_U64, HODO_TYPE_U32, HODO_TYPE_ARRAY | HODO_TYPE_PTR };

	if (is_event(e->cls, "func:wrong_thread", wrong, 4))
		take_wrong(f, e);
	else if (is_event(e->cls, "func:held", held, 3))
		take_held(f, e);
	else if (is_event(e->cls, "func:stack", stack, 3))
		take_stack(f, e);
}

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->ns_max < y->ns_max ? 1 : x->ns_max > y->ns_max ? -1 : 0;
}

static void tell(struct findings *f)
{
	char buf[32];

	if (f->wrong > WRONG_TOLD_MAX)
		hodo_error("%" PRIu64 " more calls in wrong threads: 'hodo print' shows them",
			   f->wrong - WRONG_TOLD_MAX);
	qsort(f->held, f->helds, sizeof(f->held[0]), by_time);
	for (uint32_t i = 0; i < f->helds && i < HELD_TOLD_MAX; i++) {
		const char *longest = hodo_duration(f->held[i].ns_max, buf);

		hodo_error("%s held the loop %s %" PRIu64 " time%s, for %s at most", f->held[i].function,
			   f->held[i].loop, f->held[i].calls, f->held[i].calls == 1 ? "" : "s",
			   longest + strspn(longest, " "));
	}
	if (f->helds > HELD_TOLD_MAX)
		hodo_error("%u more callbacks held a loop: 'hodo print' shows them", f->helds - HELD_TOLD_MAX);
	if (f->stack_bytes)
		hodo_error("the deepest stack was %s, of thread %u (%s): %s", hodo_human_bytes(f->stack_bytes, buf),
			   f->stack_tid, f->stack_comm, f->stack_chain);
}

void hodo_record_findings(const char *recording)
{
	struct findings *f = calloc(1, sizeof(*f));
	struct hodo_read *reader = f ? hodo_open(recording, true) : NULL;
	const struct hodo_read_event *e;

	if (reader)
		f->symbols = hodo_symbols_new(recording);
	while (reader && f->symbols && hodo_read_next(reader, &e) > 0)
		take(f, e);
	if (reader && f->symbols)
		tell(f);
	if (f)
		hodo_symbols_free(f->symbols);
	hodo_read_close(reader);
	free(f);
}

/* ----------------------------------------------------------------- names that come near */

/* Names of one file's functions; C++ without parameters. Returns how many were looked at. */
static uint32_t see_file(struct hodo_pattern_list *list, const char *path, uint32_t max)
{
	struct hodo_read_options o = { .size = sizeof(o) };
	struct hodo_function_list functions = { 0 };
	struct hodo_read_elf *elf;
	uint32_t n = 0;

	if (hodo_read_elf_open(&elf, path, &o) < 0)
		return 0;
	if (hodo_function_list_file(&functions, elf, path) == 0)
		n = functions.n < max ? functions.n : max;
	for (uint32_t i = 0; i < n; i++) {
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(functions.functions[i].name, "("),
			 functions.functions[i].name);
		for (uint32_t p = 0; p < list->n && name[0]; p++)
			hodo_pattern_near(&list->pattern[p], name);
	}
	hodo_function_list_free(&functions);
	hodo_read_elf_close(elf);
	return n;
}

/* Files of all processes, each once. */
static void see_files(struct hodo_pattern_list *list, const struct hodo_read *reader)
{
	uint32_t left = NAMES_LOOKED_AT_MAX;
	const struct hodo_read_process *p;
	const char *last = "";

	for (uint32_t i = 0; (p = hodo_read_process(reader, i)) && left > 0; i++) {
		for (uint32_t j = 0; j < p->nobjects && left > 0; j++) {
			if (p->objects[j].functions == 0 || strcmp(p->objects[j].path, last) == 0)
				continue;
			last = p->objects[j].path;
			left -= see_file(list, last, left);
		}
	}
}

void hodo_record_unmatched(const char *recording, const struct hodo_function_names *patterns, uint64_t found)
{
	struct hodo_pattern_list list = { .pattern = calloc(patterns->n + 1, sizeof(*list.pattern)) };
	struct hodo_read *reader = hodo_open(recording, true);
	struct hodo_text text = { 0 };
	const char *p = patterns->text;

	for (uint32_t i = 0; list.pattern && i < patterns->n; i++, p += strlen(p) + 1) {
		list.pattern[list.n].text = strdup(p);
		list.n += list.pattern[list.n].text != NULL;
	}
	if (reader)
		see_files(&list, reader);
	hodo_pattern_unknown(&list, "", &text);
	hodo_error("none of %" PRIu64 " traceable functions matches %s: 'hodo list --functions FILE' names them", found,
		   text.s && !text.error ? text.s : "what is asked for");
	hodo_text_free(&text);
	hodo_pattern_free(&list);
	hodo_read_close(reader);
}
