/* SPDX-License-Identifier: MIT */
/*
 * recording_symbols.c - names for the addresses of a recording, and which of them are of one function.
 *
 *	address, process, time  ->  place          a table of the addresses asked for last
 *	                        ->  mapped object  the process's objects by address, then time
 *	                        ->  source         symbols, one for each path and build-id
 *
 * A library may replace another at the same addresses: a place is valid for the time in which no object with
 * the address comes or goes.
 */
#include "recording_symbols.h"
#include "symbols_dir.h"

#include <base/map.h>
#include <base/number.h>
#include <base/scope.h>
#include <base/text.h>
#include <core/search.h>
#include <pack/tree.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "debuginfod.h"
#include "store.h"
#include "unwind.h"
#include <unistd.h>

#define CACHE_SLOTS 131072u /* of one cache line; pairs */
/* Objects checked for one process, if many had the same addresses; then a few for each address. */
#define STEPS_MAX  (1ull << 31)
#define STEPS_EACH 64u
/* Nameless addresses that are kept separately: for code without a file, there can be as many as events. */
#define UNNAMED_MAX (1u << 18)
#define PACKED_MAX_BYTES (1u << 30) /* of the symbols of one object */

/* The symbols of a file, by its build-id and path. */
struct source {
	struct hodo_bytes key;
	bool tried, asked; /* here; a server */
	bool has_build_id;
	struct hodo_sym *sym;
	struct hodo_sym *older; /* before a server was asked: names of it are in use */
	const char *path;
	uint64_t unnamed; /* places without a name */
};

/* A process's objects. */
struct mapped {
	const struct hodo_read_process *process;
	uint64_t steps;
	uint64_t ends[]; /* the highest end of objects 0 .. i */
};

struct cached {
	const struct hodo_read_process *process; /* NULL: free */
	uint64_t address;
	int64_t from_ns, until_ns; /* the place is good for from_ns <= ts_ns < until_ns */
	struct hodo_place place;
};

/* Identifies a function: its number is the place's id. */
struct place_key {
	uint64_t where; /* the source's number + 1; for addresses outside of objects, the process */
	uint64_t start; /* in the source; of these in memory */
};

struct hodo_symbols {
	char *folder[2]; /* where saved symbols may be */
	struct hodo_tree *packed; /* NULL: the recording is a directory, and has no packed parts */
	struct cached *cache;
	struct hodo_map mapped;  /* struct mapped by process */
	struct hodo_map sources;
	struct hodo_map unnamed; /* texts by struct place_key */
	struct hodo_map places;
	struct hodo_sym_elsewhere elsewhere;
	char *store;
	const int *roots;
	uint32_t nroots;
	bool shorten;
};

/* ------------------------------------------------------------------- new and free */

struct hodo_symbols *hodo_symbols_new(const char *recording)
{
	struct hodo_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct hodo_symbols){
		.mapped = HODO_MAP_KEPT(uint64_t),
		.sources = HODO_MAP_BYTES(struct source),
		.unnamed = HODO_MAP_KEPT(struct place_key),
		.places = { .entry_bytes = sizeof(struct place_key), .key_bytes = sizeof(struct place_key) },
	};
	hodo_hash_seed();
	if (hodo_tree_open(&s->packed, recording) == 0 && hodo_tree_dirfd(s->packed) >= 0 &&
	    !hodo_tree_part(s->packed, 0)) {
		hodo_tree_close(s->packed);
		s->packed = NULL;
	}
	s->elsewhere.store = s->store = hodo_store_default();
	s->cache = calloc(CACHE_SLOTS, sizeof(*s->cache));
	/* A single process's folder may have been opened. */
	if (!s->cache || asprintf(&s->folder[0], "%s/" HODO_SYMBOLS_DIR, recording) < 0 ||
	    asprintf(&s->folder[1], "%s/../" HODO_SYMBOLS_DIR, recording) < 0) {
		hodo_symbols_free(s);
		return NULL;
	}
	return s;
}

void hodo_symbols_shorten(struct hodo_symbols *symbols)
{
	symbols->shorten = true;
}

void hodo_symbols_roots(struct hodo_symbols *symbols, const int *roots, uint32_t n)
{
	symbols->roots = roots;
	symbols->nroots = n;
}

void hodo_symbols_fetch(struct hodo_symbols *symbols, struct hodo_debuginfod *client)
{
	symbols->elsewhere.debuginfod = client;
}

const struct hodo_sym_elsewhere *hodo_symbols_elsewhere(const struct hodo_symbols *symbols)
{
	return &symbols->elsewhere;
}

void hodo_symbols_free(struct hodo_symbols *symbols)
{
	struct hodo_symbols *s = symbols;

	if (!s)
		return;
	for (uint32_t i = 0; i < s->sources.n; i++) {
		const struct source *source = hodo_map_at(&s->sources, i);

		hodo_sym_close(source->sym);
		hodo_sym_close(source->older);
	}
	hodo_debuginfod_free(s->elsewhere.debuginfod);
	free(s->store);
	hodo_map_free(&s->mapped);
	hodo_map_free(&s->sources);
	hodo_map_free(&s->unnamed);
	hodo_map_free(&s->places);
	free(s->cache);
	hodo_tree_close(s->packed);
	free(s->folder[0]);
	free(s->folder[1]);
	free(s);
}

/* ------------------------------------------------------------------------ objects */

/* NULL: no memory. */
static struct mapped *find_mapped(struct hodo_symbols *s, const struct hodo_read_process *p)
{
	struct mapped *m = hodo_map_keep_u64(&s->mapped, (uintptr_t)p, sizeof(*m) + p->nobjects * sizeof(*m->ends));

	if (!m || m->process)
		return m;
	m->process = p;
	for (uint32_t i = 0; i < p->nobjects; i++) {
		m->ends[i] = p->objects[i].end;
		if (i > 0 && m->ends[i - 1] > m->ends[i])
			m->ends[i] = m->ends[i - 1];
	}
	return m;
}

/*
 * Whether a is a better answer than b: mapped at that time, the latest; else the last that was unmapped (a
 * profile is written after the program's end); else the first mapped later (it was recorded late).
 */
static bool is_better(const struct hodo_read_object *a, const struct hodo_read_object *b, int64_t ts_ns)
{
	unsigned kind[2];

	for (unsigned i = 0; i < 2; i++) {
		const struct hodo_read_object *o = i ? b : a;

		kind[i] = o->from_ns > ts_ns ? 0 : o->until_ns <= ts_ns ? 1 : 2;
	}
	if (kind[0] != kind[1])
		return kind[0] > kind[1];
	return kind[0] == 2 ? a->from_ns > b->from_ns
			    : kind[0] == 1 ? a->until_ns > b->until_ns : a->from_ns < b->from_ns;
}

/*
 * The index of the object with the address at that time; UINT32_MAX: none. from_ns, until_ns: when that
 * holds.
 */
static uint32_t find_object(struct mapped *m, int64_t ts_ns, uint64_t address, int64_t *from_ns,
			    int64_t *until_ns)
{
	const struct hodo_read_object *objects = m->process->objects;
	uint32_t behind = hodo_search(i, m->process->nobjects, objects[i].start > address), found = UINT32_MAX;

	*from_ns = INT64_MIN;
	*until_ns = INT64_MAX;
	for (uint32_t i = behind; i-- > 0 && m->ends[i] > address;) {
		const struct hodo_read_object *o = &objects[i];

		if (m->steps++ > STEPS_MAX && behind - i > STEPS_EACH)
			break;
		if (address >= o->end)
			continue;
		hodo_object_changes(o, ts_ns, from_ns, until_ns);
		if (found == UINT32_MAX || is_better(o, &objects[found], ts_ns))
			found = i;
	}
	return found;
}

/* ------------------------------------------------------------------------ sources */

/* With symbols from a packed recording. */
static void open_packed(struct hodo_symbols *s, struct source *source, const struct hodo_sym_source *from,
			const char *name)
{
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	struct hodo_sym_source packed = *from;
	char path[NAME_MAX + sizeof(HODO_SYMBOLS_DIR) + HODO_SYMBOLS_NAME_MAX + 2];
	const char *part;
	uid_t owner;
	int err;

	snprintf(path, sizeof(path), HODO_SYMBOLS_DIR "/%s", name);
	err = hodo_tree_read(s->packed, path, PACKED_MAX_BYTES, &text, &owner);
	for (uint32_t i = 0; err == -ENOENT && (part = hodo_tree_part(s->packed, i)) != NULL; i++) {
		snprintf(path, sizeof(path), "%s/" HODO_SYMBOLS_DIR "/%s", part, name);
		err = hodo_tree_read(s->packed, path, PACKED_MAX_BYTES, &text, &owner);
	}
	if (err < 0 || !text.len || strlen(hodo_text_string(&text)) != text.len)
		return;
	packed.saved_text = text.data;
	hodo_sym_open(&source->sym, &packed);
}

static void open_source(struct hodo_symbols *s, struct source *source, const struct hodo_read_object *o, uid_t owner)
{
	struct hodo_sym_source from = { .owner = owner,
				        .build_id = o->build_id_len ? o->build_id : NULL,
					.build_id_len = o->build_id_len,
					.store = s->store };
	char name[HODO_SYMBOLS_NAME_MAX], *saved;

	source->tried = true;
	source->path = o->path;
	source->has_build_id = o->build_id_len > 0;
	hodo_symbols_name(name, o->path, o->build_id, o->build_id_len);
	if (s->packed)
		open_packed(s, source, &from, name);
	for (unsigned i = 0; i < 2 && !s->packed && !source->sym; i++) {
		if (asprintf(&saved, "%s/%s", s->folder[i], name) < 0)
			return;
		from.saved = saved;
		/* Without one, debug files would do. */
		if (access(saved, F_OK) == 0)
			hodo_sym_open(&source->sym, &from);
		free(saved);
	}
	from.saved = NULL;
	from.path = o->path;
	/* The kernel's addresses change with each boot: only what was kept is valid. */
	if (!source->sym && strcmp(o->path, HODO_KERNEL_OBJECT) != 0)
		hodo_symbols_open(&source->sym, &from, s->roots, s->nroots);
}

/* What a server has takes the place of what is here, if it has more. */
static bool fetch(struct hodo_symbols *s, struct source *source, const struct hodo_read_object *o)
{
	struct hodo_sym_source from = { .owner = geteuid(), .build_id = o->build_id, .build_id_len = o->build_id_len };
	HODO_AUTO_FREE char *path = NULL;

	if (!s->elsewhere.debuginfod || source->asked || !o->build_id_len || strcmp(o->path, HODO_KERNEL_OBJECT) == 0)
		return false;
	source->asked = true;
	path = hodo_debuginfod_find(s->elsewhere.debuginfod, o->build_id, o->build_id_len, HODO_STORE_DEBUGINFO);
	if (!path)
		return false;
	from.path = path;
	source->older = source->sym;
	if (hodo_sym_open(&source->sym, &from) == 0)
		return true;
	source->sym = source->older;
	source->older = NULL;
	return false;
}

/* NULL: no memory. Valid until the next call. */
static struct source *source_of(struct hodo_symbols *s, const struct hodo_read_object *o, uid_t owner)
{
	HODO_AUTO(hodo_text_free) struct hodo_text key = { 0 };
	struct source *source;

	hodo_text_bytes(&key, &owner, sizeof(owner));
	hodo_text_bytes(&key, &o->build_id_len, sizeof(o->build_id_len));
	hodo_text_bytes(&key, o->build_id, o->build_id_len);
	hodo_text_add(&key, o->path);
	source = key.error ? NULL : hodo_map_add_bytes(&s->sources, key.data, key.len, NULL);
	if (source && !source->tried)
		open_source(s, source, o, owner);
	return source;
}

/* -------------------------------------------------------------------------- places */

/* "file+0x…" or, without a file, "0x…"; kept for good. NULL: there are too many. */
static const char *unnamed(struct hodo_symbols *s, const char *file, const struct place_key *key)
{
	char *text = s->unnamed.n < UNNAMED_MAX || hodo_map_find(&s->unnamed, key) ?
		     hodo_map_keep(&s->unnamed, key, strlen(file) + sizeof("+0x") + 16) : NULL;

	if (text)
		*hodo_format_hex(stpcpy(stpcpy(text, file), *file ? "+0x" : "0x"), key->start) = 0;
	return text;
}

/* The name of an address without a symbol. */
static void name_place(struct hodo_symbols *s, const struct hodo_read_object *o, const struct place_key *in_object,
		       uint64_t address, struct hodo_place *place)
{
	const char *slash = o ? strrchr(o->path, '/') : NULL; /* others are [vdso] and the like */
	const struct place_key outside = { 0, address };

	place->in_file = slash != NULL;
	place->name = unnamed(s, slash ? slash + 1 : "", slash ? in_object : &outside);
	place->start = place->name ? address : o ? o->base : 0;
	if (!place->name) {
		place->name = "0x?";
		place->in_file = false;
	}
	place->full = place->name;
}

static bool find_symbol(struct hodo_symbols *s, struct source *source, const struct hodo_read_object *o,
			uint64_t address, struct hodo_symbol *symbol)
{
	if (!source)
		return false;
	if (source->sym && hodo_sym_find(source->sym, address - o->base, symbol))
		return true;
	return fetch(s, source, o) && hodo_sym_find(source->sym, address - o->base, symbol);
}

static void make_place(struct hodo_symbols *s, struct mapped *m, uint32_t object, uint64_t address,
		       struct hodo_place *place)
{
	const struct hodo_read_object *o = object == UINT32_MAX ? NULL : &m->process->objects[object];
	struct source *source = o ? source_of(s, o, m->process->owner) : NULL;
	struct place_key key = { source ? hodo_map_index(&s->sources, source) + 1ull :
					  (uintptr_t)(m ? m->process : NULL), source ? address - o->base : address };
	struct hodo_symbol symbol;
	const void *known;
	bool is_new = false;

	*place = (struct hodo_place){ .object = o ? o->path : "", .mapped = o };
	if (find_symbol(s, source, o, address, &symbol)) {
		place->full = symbol.name;
		place->name = s->shorten ? hodo_sym_brief(source->sym, &symbol) : symbol.name;
		place->start = symbol.start + o->base;
		place->named = true;
	} else {
		name_place(s, source ? o : NULL, &key, address, place);
	}
	key.start = source ? place->start - o->base : place->start;
	known = hodo_map_add(&s->places, &key, &is_new);
	if (source && is_new && !place->named)
		source->unnamed++;
	place->id = known ? hodo_map_index(&s->places, known) + 1ull : UINT64_MAX;
}

void hodo_symbols_find(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, struct hodo_place *place)
{
	uint64_t h = hodo_hash_mix(address, (uintptr_t)process);
	struct cached *pair = &symbols->cache[h & (CACHE_SLOTS - 2)], *c;
	struct mapped *m;
	uint32_t object;

	for (c = pair; c < pair + 2; c++) {
		if (c->address == address && c->process == process && c->from_ns <= ts_ns && ts_ns < c->until_ns) {
			*place = c->place;
			return;
		}
	}
	pair[1] = pair[0]; /* the older one goes */
	c = pair;
	m = find_mapped(symbols, process);
	c->process = process;
	c->address = address;
	c->from_ns = INT64_MIN;
	c->until_ns = INT64_MAX;
	object = m ? find_object(m, ts_ns, address, &c->from_ns, &c->until_ns) : UINT32_MAX;
	make_place(symbols, m, object, address, &c->place);
	*place = c->place;
}

bool hodo_symbols_unnamed(const struct hodo_symbols *symbols, uint32_t i, struct hodo_unnamed *unnamed)
{
	const struct source *source = i < symbols->sources.n ? hodo_map_at(&symbols->sources, i) : NULL;

	if (source)
		*unnamed = (struct hodo_unnamed){ source->path, source->unnamed, source->sym != NULL,
						  source->has_build_id };
	return source != NULL;
}

const char *hodo_symbols_name_at(struct hodo_symbols *symbols, const struct hodo_read_event *event, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(symbols, event->process, event->ts_ns, address, &place);
	return place.name;
}

bool hodo_symbols_line(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, const char **file, uint32_t *line)
{
	struct mapped *m = find_mapped(symbols, process);
	int64_t from_ns, until_ns;
	uint32_t object = m ? find_object(m, ts_ns, address, &from_ns, &until_ns) : UINT32_MAX;
	const struct hodo_read_object *o = object == UINT32_MAX ? NULL : &process->objects[object];
	struct source *source = o ? source_of(symbols, o, process->owner) : NULL;

	if (source && (!source->sym || !hodo_sym_has_lines(source->sym)))
		fetch(symbols, source, o);
	return source && source->sym && hodo_sym_line(source->sym, address - o->base, file, line);
}

/* ----------------------------------------------------------------------- functions */

const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(symbols, process, ts_ns, address, &place);
	return place.named || place.in_file ? place.name : NULL;
}

bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b)
{
	struct hodo_place one, two;

	hodo_symbols_find(symbols, process, ts_ns, a, &one);
	hodo_symbols_find(symbols, process, ts_ns, b, &two);
	return one.id == two.id || !one.named || !two.named;
}

static void find_place(void *symbols, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
		       struct hodo_place *place)
{
	hodo_symbols_find(symbols, process, ts_ns, address, place);
}

static bool is_same(void *symbols, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	return hodo_function_same(symbols, process, ts_ns, a, b);
}

struct hodo_places hodo_symbols_places(struct hodo_symbols *symbols)
{
	return symbols ? (struct hodo_places){ symbols, find_place, is_same } : (struct hodo_places){ 0 };
}

bool hodo_function_is(const char *glob, const struct hodo_place *place)
{
	const char *name = place->full;
	size_t len = strlen(name), depth = 0;
	char *part;
	bool is;

	if (fnmatch(glob, name, 0) == 0 || fnmatch(glob, place->name, 0) == 0)
		return true;
	if (!memchr(name, '(', len))
		return false;
	/* Without "(int) const": back to the parenthesis that matches the last one. */
	while (len > 0 && name[len - 1] != ')')
		len--;
	while (len > 0) {
		len--;
		depth += name[len] == ')';
		depth -= name[len] == '(';
		if (depth == 0)
			break;
	}
	part = strndup(name, len);
	is = part && len > 0 && fnmatch(glob, part, 0) == 0;
	free(part);
	return is;
}
