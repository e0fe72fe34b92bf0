/* SPDX-License-Identifier: MIT */
/* select.c - chooses among a file's functions by patterns. */
#include "select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <core/function_pattern.h>
#include <core/glob.h>
#include <core/search.h>
#include <core/symbol_name.h>
#include <elf/demangle.h>
#include <elf/object.h>
#include <probe/code/source.h>

static struct hodo_function_pattern take_apart(const char *text)
{
	struct hodo_function_pattern p;

	hodo_function_pattern(&p, text, strlen(text));
	return p;
}

static bool means_file(const struct hodo_probe_choice *c, const struct hodo_function_pattern *p)
{
	return p->file ? hodo_function_file_is(p->file, p->file_len, c->path, c->soname) : c->by_default;
}

/* Whether some pattern does more than exclude. */
static bool names_any(const struct hodo_probe_choice *c)
{
	for (uint32_t i = 0; i < c->npatterns; i++)
		if (c->patterns[i][0] != '!')
			return true;
	return false;
}

static bool some_mean(const struct hodo_probe_choice *c)
{
	for (uint32_t i = 0; i < c->npatterns; i++) {
		struct hodo_function_pattern p = take_apart(c->patterns[i]);

		if (!p.without && means_file(c, &p))
			return true;
	}
	return c->by_default && !names_any(c);
}

/* For functions with slots: these patterns apply to all files. */
static struct hodo_probe_choice in_slots(const struct hodo_probe_choice *c)
{
	struct hodo_probe_choice all = *c;

	all.by_default = true;
	return all;
}

bool hodo_probe_choice_wants_functions(const struct hodo_probe_choice *c)
{
	const struct hodo_probe_choice all = in_slots(c);

	return some_mean(c) || ((c->nin_slots || c->nprobed) && some_mean(&all));
}

bool hodo_probe_choice_by_source(const struct hodo_probe_choice *c)
{
	for (uint32_t i = 0; i < c->npatterns; i++)
		if (take_apart(c->patterns[i]).source)
			return true;
	return false;
}

bool hodo_probe_choice_wants_slots(const struct hodo_probe_choice *c)
{
	const struct hodo_probe_choice all = in_slots(c);

	return c->has_slots && hodo_probe_choice_by_source(c) && some_mean(&all);
}

/* ------------------------------------------------------------------------- names */

/* A function's symbol names and readable names; none: it has no symbol. */
struct names {
	const struct hodo_elf_symbols *symbols;
	uint32_t first, end;
	const char *source; /* the file that it was written in; NULL: not known */
};

/* Removes parameters, template arguments, and what precedes the name. In place. */
static void make_short(char *name)
{
	char *to = name;
	int depth = 0;

	for (const char *c = name; *c && !(*c == '(' && depth == 0 && to > name); c++) {
		depth += *c == '<';
		if (depth == 0 && *c == ' ')
			to = name;
		else if (depth == 0)
			*to++ = *c;
		depth -= *c == '>' && depth > 0;
	}
	*to = 0;
}

/* Whether the short form of a C++ name matches, with or without parameters. */
static bool brief_matches(const char *glob, size_t len, const char *symbol, bool parameters)
{
	HODO_AUTO_FREE char *brief = hodo_elf_demangle_brief(symbol, parameters);

	return brief && hodo_glob_name(glob, len, brief, strlen(brief));
}

/* Of operators, which make_short() does not know. */
static bool short_matches(const char *glob, size_t len, const char *symbol)
{
	HODO_AUTO_FREE char *name = strstr(glob, "operator") ? hodo_elf_demangle_short(symbol, false) : NULL;

	return name && hodo_glob_name(glob, len, name, strlen(name));
}

static bool one_matches(const char *glob, const char *symbol)
{
	size_t len = strlen(glob);
	HODO_AUTO_FREE char *name = NULL;

	if (hodo_glob_name(glob, len, symbol, hodo_symbol_whole_name(symbol)))
		return true;
	name = symbol[0] == '_' ? hodo_elf_demangle(symbol) : NULL;
	if (!name)
		return false;
	if (hodo_glob_name(glob, len, name, strlen(name)) ||
	    (strpbrk(glob, "<(") &&
	     (brief_matches(glob, len, symbol, false) || brief_matches(glob, len, symbol, true))))
		return true;
	if (short_matches(glob, len, symbol))
		return true;
	make_short(name);
	return hodo_glob_name(glob, len, name, strlen(name));
}

static bool matches(const struct hodo_function_pattern *p, const struct names *names)
{
	const char *glob = p->glob;

	if (!glob)
		return false; /* a range of addresses is for functions with slots, which the process knows */
	if (p->source && !(names->source && hodo_source_file_is(p->source, p->source_len, names->source)))
		return false;
	if (!strcmp(glob, "*"))
		return true;
	for (uint32_t i = names->first; i < names->end; i++)
		if (one_matches(glob, names->symbols->list[i].name))
			return true;
	return false;
}

/* ------------------------------------------------------------------------ choosing */

/* Whether some pattern matches, and none of those with "!"; libhodo selects by the same rule (func/slots/select.c). */
static bool is_wanted(const struct hodo_probe_choice *c, const struct names *names)
{
	bool wanted = !names_any(c);

	for (uint32_t i = 0; i < c->npatterns; i++) {
		struct hodo_function_pattern p = take_apart(c->patterns[i]);

		/* An exclusion applies everywhere, unless it names a file. */
		if ((!p.without || p.file) && !means_file(c, &p))
			continue;
		if ((p.without || !wanted) && matches(&p, names)) {
			if (p.without)
				return false;
			wanted = true;
		}
	}
	return wanted;
}

/* One that has slots, and that the other list of patterns also matches. */
static bool is_wanted_in_slots(const struct hodo_probe_choice *c, const struct names *names)
{
	const struct hodo_probe_choice all = in_slots(c);

	for (uint32_t i = 0; i < c->nin_slots; i++) {
		struct hodo_function_pattern p = take_apart(c->in_slots[i]);

		if (means_file(&all, &p) && matches(&p, names))
			return is_wanted(&all, names);
	}
	return false;
}

/* Its slots must not be used beside a probe's code that replaces one of them. */
static bool is_probed(const struct hodo_probe_choice *c, const struct hodo_probe_object *o,
		      const struct hodo_probe_function *f)
{
	uint32_t i = hodo_search(k, c->nprobed, c->probed[k] >= f->start);

	for (; i < c->nprobed && c->probed[i] < f->end; i++)
		if (c->probed[i] == f->start || hodo_probe_is_slot(o, c->probed[i]))
			return true;
	return false;
}

static bool is_chosen(struct hodo_probe_choice *c, const struct hodo_probe_object *o,
		      const struct hodo_probe_function *f, const struct names *names)
{
	enum hodo_probe_slots slots = hodo_probe_function_slots(o, f);
	const struct hodo_probe_choice all = in_slots(c);

	if (slots == HODO_PROBE_SLOTS_NONE)
		return some_mean(c) && is_wanted(c, names);
	if (slots == HODO_PROBE_SLOTS_SWITCHED && is_probed(c, o, f) && is_wanted(&all, names))
		return true;
	if (!is_wanted_in_slots(c, names))
		return false;
	c->fixed += slots == HODO_PROBE_SLOTS_FIXED;
	return slots == HODO_PROBE_SLOTS_SWITCHED;
}

/* A moved part belongs to the function whose name it has. */
static struct names names_of(const struct hodo_elf_symbols *s, const struct hodo_probe_function *f, uint64_t *bytes)
{
	uint32_t i = hodo_elf_symbols_at(s, f->start);
	struct names names = { .symbols = s };

	*bytes = f->end - f->start;
	if (i == HODO_ELF_NONE)
		return names;
	if (f->part) {
		i = s->list[s->list[i].whole].first;
		*bytes = s->list[i].size;
	}
	names.first = i;
	names.end = hodo_elf_symbols_next(s, i);
	return names;
}

static bool have_names(const char *const *patterns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *glob = take_apart(patterns[i]).glob;

		if (glob && strcmp(glob, "*") != 0)
			return true;
	}
	return false;
}

/* Selecting all functions of a file needs no names. */
static bool needs_names(const struct hodo_probe_choice *c)
{
	return c->min_bytes || have_names(c->patterns, c->npatterns) || have_names(c->in_slots, c->nin_slots);
}

/* Whether some pattern that applies to the file names a source. */
static bool needs_sources(const struct hodo_probe_choice *c)
{
	for (uint32_t i = 0; i < c->npatterns; i++) {
		struct hodo_function_pattern p = take_apart(c->patterns[i]);

		if (p.source && (c->nin_slots || c->has_slots || means_file(c, &p) || (p.without && !p.file)))
			return true;
	}
	return false;
}

static int read_sources(struct hodo_probe_choice *c, const struct hodo_elf_object *names, struct hodo_elf_dwarf *debug,
			struct hodo_source_files *sources)
{
	int err = 0;

	if (names->lines && hodo_elf_dwarf_open(debug, names->lines, names->build_id, names->build_id_len) == 0)
		err = hodo_source_files_read(sources, debug);
	c->sourceless = !sources->n;
	return err;
}

/* Adds it to those that are patched, or to those whose slots are used; or to none. */
static void choose(struct hodo_probe_choice *c, const struct hodo_probe_object *o, uint32_t i,
		   const struct names *names, uint32_t *list, uint32_t *n)
{
	const struct hodo_probe_function *f = &o->functions[i];
	const struct hodo_probe_choice all = in_slots(c);

	if (!f->reason && is_chosen(c, o, f, names))
		list[(*n)++] = i;
	else if (c->slotted && !f->part && hodo_probe_function_slots(o, f) != HODO_PROBE_SLOTS_NONE &&
		 is_wanted(&all, names))
		c->slotted[c->nslotted++] = i;
}

int hodo_probe_select(struct hodo_probe_choice *c, const struct hodo_probe_object *o, const char *path,
		      uint32_t **list, uint32_t *n)
{
	HODO_AUTO(hodo_elf_object_close) struct hodo_elf_object names = { 0 };
	HODO_AUTO(hodo_elf_dwarf_close) struct hodo_elf_dwarf debug = { .file = HODO_ELF_CLOSED };
	HODO_AUTO(hodo_source_files_free) struct hodo_source_files sources = { 0 };
	bool by_source = needs_sources(c);
	int err = 0;

	*n = 0;
	*list = calloc(o->nfunctions + 1, sizeof(**list));
	if (hodo_probe_choice_wants_slots(c))
		c->slotted = calloc(o->nfunctions + 1, sizeof(*c->slotted));
	if (!*list || (!c->slotted && hodo_probe_choice_wants_slots(c)))
		return -ENOMEM;
	/* Without symbols, functions have no names, which is no error. */
	if ((needs_names(c) || by_source) && hodo_elf_object_open(&names, path, NULL, 0, NULL) == 0)
		err = hodo_elf_symbols_join(&names.symbols);
	if (!err && by_source)
		err = read_sources(c, &names, &debug, &sources);
	for (uint32_t i = 0; i < o->nfunctions && !err; i++) {
		const struct hodo_probe_function *f = &o->functions[i];
		uint64_t bytes;
		struct names own = names_of(&names.symbols, f, &bytes);

		own.source = hodo_source_file_at(&sources, f->start);
		if (bytes >= c->min_bytes)
			choose(c, o, i, &own, *list, n);
	}
	return err;
}
