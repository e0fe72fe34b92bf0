/* SPDX-License-Identifier: MIT */
/*
 * select.c - which functions a tracer wants: turns texts of hodo_tracer.functions into sets.
 *
 * All under the control lock. Equal texts share a set. An unused text keeps its bit, and its result for the
 * functions of each object, until the bit is needed for another: tracers that come and go cause no lookups in
 * symbol tables.
 */
#include <core/symbol_name.h>
#include <core/function_pattern.h>
#include <core/glob.h>
#include <func/names/names.h>
#include "slots.h"
#include <func/names/mangled.h>
#include <errno.h>
#include <user/libc/sys.h>

#define SETS 64u
#define TEXT_MAX (1u << 20) /* bytes of a text */
#define NAME_MAX_BYTES 2048 /* of a short name; longer ones are cut */
#define ALIASES_MAX 64u /* names of a function to compare */

struct set {
	struct hodo_function_pattern *patterns; /* NULL: the bit is free. The text follows them */
	uint32_t npatterns;
	size_t bytes; /* of that mapping */
	char *text;
	size_t len;
	uint32_t users;
	bool globs;    /* names are needed */
	bool positive; /* some pattern is not a "!" */
	bool planned;  /* contains all functions of a plan, whose author has chosen them */
	bool sources;  /* some pattern names a source file: the plan's author has chosen those with slots, too */
};

static struct set sets[SETS]; /* [0]: all functions */
static uint64_t done[HODO_FUNC_OBJECTS_MAX]; /* sets that were computed for all functions of the object */

/* ---------------------------------------------------------------------- texts */

static int parse_item(char *p, struct hodo_function_pattern *out)
{
	size_t len;

	while (*p == ' ' || *p == '\t')
		p++;
	for (len = __builtin_strlen(p); len && (p[len - 1] == ' ' || p[len - 1] == '\t');)
		p[--len] = 0;
	return hodo_function_pattern(out, p, len) ? 0 : -EINVAL;
}

static bool is_all(const struct hodo_function_pattern *p)
{
	return p->glob && !p->source && p->glob[0] == '*' && !p->glob[1];
}

static int parse(struct set *set)
{
	char *p = set->text;
	int error = 0;

	for (uint32_t i = 0; i < set->npatterns && !error; i++) {
		char *next = p + __builtin_strlen(p) + 1;

		error = parse_item(p, &set->patterns[i]);
		set->positive = set->positive || !set->patterns[i].without;
		set->sources = set->sources || set->patterns[i].source;
		set->globs = set->globs || (set->patterns[i].glob && !is_all(&set->patterns[i]));
		p = next;
	}
	return error;
}

static void forget(struct set *set)
{
	hodo_sys2(SYS_munmap, set->patterns, set->bytes);
	*set = (struct set){ 0 };
}

/* What separates two patterns becomes a NUL. */
static int fill(struct set *set, const char *text, size_t len)
{
	uint32_t n = 1;
	int error;

	for (size_t i = 0; (i += hodo_glob_first(text + i, len - i)) < len; i++)
		n++;
	*set = (struct set){ .bytes = n * sizeof(*set->patterns) + len + 1, .len = len, .npatterns = n, .users = 1 };
	set->patterns = hodo_map(set->bytes);
	if (!set->patterns)
		return -ENOMEM;
	set->text = (char *)(set->patterns + n);
	__builtin_memcpy(set->text, text, len);
	for (size_t i = 0; (i += hodo_glob_first(text + i, len - i)) < len; i++)
		set->text[i] = 0;
	error = parse(set);
	if (error)
		forget(set);
	return error;
}

/* ----------------------------------------------------------------------- sets */

/* A free bit, else an unused one; 0: none. */
static unsigned find_room(void)
{
	unsigned unused = 0;

	for (unsigned i = 1; i < SETS; i++) {
		if (!sets[i].patterns)
			return i;
		if (!sets[i].users && !unused)
			unused = i;
	}
	return unused;
}

static int get(const char *text, size_t len, bool planned)
{
	struct set fresh;
	unsigned bit;
	int error;

	if (len == 0) {
		sets[0].users++;
		return 0;
	}
	if (len > TEXT_MAX)
		return -EINVAL;
	error = fill(&fresh, text, len);
	if (error)
		return error;
	for (unsigned i = 1; i < SETS; i++) {
		if (sets[i].patterns && sets[i].len == len && sets[i].planned == planned &&
		    __builtin_memcmp(sets[i].text, fresh.text, len) == 0) {
			forget(&fresh);
			sets[i].users++;
			return (int)i;
		}
	}
	bit = find_room();
	if (!bit) {
		forget(&fresh);
		return -ENOSPC;
	}
	if (sets[bit].patterns)
		forget(&sets[bit]);
	sets[bit] = fresh;
	sets[bit].planned = planned;
	for (unsigned i = 0; i < HODO_FUNC_OBJECTS_MAX; i++)
		done[i] &= ~(1ull << bit);
	return (int)bit;
}

int hodo_select_get(const char *functions)
{
	size_t len = 0;

	while (functions && len <= TEXT_MAX && functions[len])
		len++;
	return get(functions, len, false);
}

/* Patterns that each end with a NUL; none, or no bytes: all functions. */
static int get_patterns(const char *texts, uint32_t n, uint32_t len, bool planned)
{
	if (n == 0 || len == 0)
		return get(0, 0, false);
	return get(texts, texts[len - 1] ? len : len - 1, planned);
}

int hodo_select_patterns(const char *texts, uint32_t n, uint32_t len)
{
	return get_patterns(texts, n, len, false);
}

int hodo_select_recorded(const char *texts, uint32_t n, uint32_t len)
{
	return get_patterns(texts, n, len, true);
}

uint64_t hodo_select_planned(void)
{
	uint64_t mask = 1;

	for (unsigned i = 1; i < SETS; i++)
		mask |= (uint64_t)sets[i].planned << i;
	return mask;
}

void hodo_select_put(int bit)
{
	if (bit >= 0 && bit < (int)SETS && sets[bit].users > 0)
		sets[bit].users--;
}

uint64_t hodo_select_active(void)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < SETS; i++)
		mask |= (uint64_t)(sets[i].users > 0) << i;
	return mask;
}

/* -------------------------------------------------------------------- matching */

/* A function being compared, one name at a time: the short form is made when a pattern needs it. */
struct candidate {
	const struct hodo_names *names;
	const char *path; /* of its object */
	uintptr_t addr;
	uint32_t n;       /* names */
	const char *name; /* NULL: not looked up yet */
	uint32_t i;       /* which it is */
	size_t len, short_len;
	bool has_short;
	char short_name[NAME_MAX_BYTES];
	struct hodo_mangled_texts texts;
};

static void look_up(struct candidate *c, uint32_t i)
{
	if (c->name && c->i == i)
		return;
	c->i = i;
	c->name = hodo_names_other(c->names, c->addr, i);
	c->len = __builtin_strlen(c->name);
	c->has_short = false;
}

/* A conversion's type is only in the text: "Store::operator bool". */
static bool bare_matches(struct candidate *c, const char *glob, size_t len)
{
	struct hodo_mangled_texts *t = &c->texts;

	t->full_len = hodo_name_without_arguments(t->full, t->full_len);
	return hodo_glob_name(glob, len, t->full, t->full_len);
}

/* Whether a pattern with template arguments or parameters matches the name as it is shown, short or whole. */
static bool text_matches(struct candidate *c, const char *glob, size_t len)
{
	const struct hodo_mangled_texts *t = &c->texts;
	bool conversion = hodo_glob("*operator *", 11, glob, len);

	if (!__builtin_strchr(glob, '<') && !__builtin_strchr(glob, '(') && !conversion)
		return false;
	for (int parameters = 0; parameters < 2; parameters++) {
		if (!hodo_mangled_text(c->name, parameters, &c->texts))
			continue;
		if (hodo_glob_name(glob, len, t->brief, t->brief_len) ||
		    hodo_glob_name(glob, len, t->full, t->full_len) ||
		    (conversion && !parameters && bare_matches(c, glob, len)))
			return true;
	}
	return false;
}

/* Only a plan's author knows the sources of functions: here such a pattern is one of names. */
static const char *glob_of(const struct hodo_function_pattern *p)
{
	return p->source ? p->source : p->glob;
}

static bool name_matches(struct candidate *c, const char *glob)
{
	size_t len = __builtin_strlen(glob);

	if (hodo_glob_name(glob, len, c->name, c->len) ||
	    hodo_glob_name(glob, len, c->name, hodo_symbol_whole_name(c->name)))
		return true;
	if (!c->has_short) {
		c->short_len = hodo_mangled_name(c->name, c->short_name, sizeof(c->short_name));
		if (c->short_len >= sizeof(c->short_name))
			c->short_len = sizeof(c->short_name) - 1;
		c->has_short = true;
	}
	return hodo_glob_name(glob, len, c->short_name, c->short_len) || text_matches(c, glob, len);
}

/* Any of the function's names. */
static bool glob_matches(struct candidate *c, const struct hodo_function_pattern *p)
{
	if (is_all(p))
		return true;
	for (uint32_t i = 0; i < c->n && i < ALIASES_MAX; i++) {
		look_up(c, i);
		if (c->len && name_matches(c, glob_of(p)))
			return true;
	}
	return false;
}

static bool pattern_matches(struct candidate *c, const struct hodo_function_pattern *p)
{
	if (p->file && !hodo_function_file_is(p->file, p->file_len, c->path, ""))
		return false;
	return p->glob ? glob_matches(c, p) : c->addr >= p->low && c->addr < p->high;
}

/* Some pattern matches, and none of those with "!". */
static bool set_wants(const struct set *set, struct candidate *c)
{
	bool wanted = !set->positive;

	for (uint32_t i = 0; i < set->npatterns; i++) {
		const struct hodo_function_pattern *p = &set->patterns[i];

		if (!p->without && wanted)
			continue;
		if (!pattern_matches(c, p))
			continue;
		if (p->without)
			return false;
		wanted = true;
	}
	return wanted;
}

static bool wants(const struct set *set, struct candidate *c)
{
	return set->planned && set->sources ? hodo_planned_chose(c->addr) : set_wants(set, c);
}

static void select_function(struct hodo_function *f, uint64_t todo, struct candidate *c)
{
	uint64_t wanted = f->sets & ~todo;

	c->name = 0;
	c->n = c->names ? hodo_names_count(c->names, c->addr) : 0;
	for (uint64_t left = todo; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if ((f->planned && sets[i].planned) || wants(&sets[i], c))
			wanted |= 1ull << i;
	}
	/* Dispatch may be reading it. */
	hodo_store(&f->sets, wanted | 1);
}

void hodo_select_object(struct hodo_func_object *object, const struct dl_phdr_info *info)
{
	uint64_t *known = &done[object - hodo_func_objects], todo = 0;
	struct candidate *c;
	bool names = false;

	if (!object->nfunctions)
		return;
	/* Functions never matched before are in no set, not even in that of all. */
	if (!(object->functions[0].sets & 1))
		*known = 0;
	for (unsigned i = 1; i < SETS; i++) {
		if (!sets[i].users || (*known >> i & 1))
			continue;
		todo |= 1ull << i;
		names = names || sets[i].globs;
	}
	if (!todo && (object->functions[0].sets & 1))
		return;
	c = hodo_map(sizeof(*c));
	if (!c)
		return;
	c->names = names ? hodo_names_open(info, object->path) : 0;
	c->path = object->path;
	for (uint32_t i = 0; i < object->nfunctions; i++) {
		c->addr = object->text + object->functions[i].addr;
		select_function(&object->functions[i], todo, c);
	}
	hodo_names_close((struct hodo_names *)c->names);
	hodo_mangled_done();
	hodo_sys2(SYS_munmap, c, sizeof(*c));
	*known |= todo;
}
