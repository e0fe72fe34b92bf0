/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - names for the addresses of a recording.
 *
 *	address, process, time  ->  place          a table of the addresses asked for last
 *	                        ->  mapped object  the process's objects by address, then time
 *	                        ->  source         symbols, one for each path and build-id
 *
 * A library that takes the place of another has its addresses too: a place is
 * good for the time in which no object that holds the address comes or goes.
 */
#define _GNU_SOURCE
#include "symbols.h"
#include "symbols_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_SLOTS 131072u /* of one cache line; pairs */
/* Objects looked at for one process, where many had the same addresses; then a few for each address. */
#define STEPS_MAX  (1ull << 31)
#define STEPS_EACH 64u
/* Addresses without a name that are told apart: of code that no file has there can be as many as there are events. */
#define UNNAMED_MAX (1u << 18)

struct source {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_len;
	uint64_t hash;
	bool tried;
	struct hodo_sym *sym;
};

/* A process's objects. */
struct mapped {
	const struct hodo_read_process *process;
	uint64_t *ends;          /* the highest end of objects 0 .. i */
	struct source **sources; /* NULL until asked for */
	uint64_t steps;
};

struct cached {
	const struct hodo_read_process *process; /* NULL: free */
	uint64_t address;
	int64_t from_ns, until_ns; /* the place is good for from_ns <= ts_ns < until_ns */
	struct hodo_place place;
};

struct unnamed {
	uint64_t address;
	char text[20];
};

struct hodo_symbols {
	char *folder[2]; /* where saved symbols may be */
	struct cached *cache;
	struct mapped **mapped;
	uint32_t nmapped, mapped_room;
	struct source **sources; /* open addressing by hash */
	uint32_t nsources, sources_mask;
	struct unnamed **unnamed; /* likewise */
	uint32_t nunnamed, unnamed_mask;
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return mix(h ^ len);
}

/* ------------------------------------------------------------------- new and free */

struct hodo_symbols *hodo_symbols_new(const char *recording)
{
	struct hodo_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->cache = calloc(CACHE_SLOTS, sizeof(*s->cache));
	/* One process's folder may have been opened itself. */
	if (!s->cache || asprintf(&s->folder[0], "%s/" HODO_SYMBOLS_DIR, recording) < 0 ||
	    asprintf(&s->folder[1], "%s/../" HODO_SYMBOLS_DIR, recording) < 0) {
		hodo_symbols_free(s);
		return NULL;
	}
	return s;
}

void hodo_symbols_free(struct hodo_symbols *symbols)
{
	struct hodo_symbols *s = symbols;

	if (!s)
		return;
	for (uint32_t i = 0; i < s->nmapped; i++) {
		free(s->mapped[i]->ends);
		free(s->mapped[i]->sources);
		free(s->mapped[i]);
	}
	for (uint32_t i = 0; s->sources && i <= s->sources_mask; i++) {
		if (s->sources[i])
			hodo_sym_close(s->sources[i]->sym);
		free(s->sources[i]);
	}
	for (uint32_t i = 0; s->unnamed && i <= s->unnamed_mask; i++)
		free(s->unnamed[i]);
	free(s->mapped);
	free(s->sources);
	free(s->unnamed);
	free(s->cache);
	free(s->folder[0]);
	free(s->folder[1]);
	free(s);
}

/* ------------------------------------------------------------------------ objects */

static struct mapped *add_mapped(struct hodo_symbols *s, const struct hodo_read_process *p)
{
	struct mapped *m;

	if (s->nmapped == s->mapped_room) {
		uint32_t room = s->mapped_room ? s->mapped_room * 2 : 16;
		struct mapped **more = reallocarray(s->mapped, room, sizeof(struct mapped *));

		if (!more)
			return NULL;
		s->mapped = more;
		s->mapped_room = room;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->process = p;
	m->ends = calloc(p->nobjects + 1, sizeof(*m->ends));
	m->sources = calloc(p->nobjects + 1, sizeof(struct source *));
	if (!m->ends || !m->sources) {
		free(m->ends);
		free(m->sources);
		free(m);
		return NULL;
	}
	for (uint32_t i = 0; i < p->nobjects; i++) {
		m->ends[i] = p->objects[i].end;
		if (i > 0 && m->ends[i - 1] > m->ends[i])
			m->ends[i] = m->ends[i - 1];
	}
	s->mapped[s->nmapped++] = m;
	return m;
}

static struct mapped *find_mapped(struct hodo_symbols *s, const struct hodo_read_process *p)
{
	/* The latest first: the same process is asked for again and again. */
	for (uint32_t i = s->nmapped; i-- > 0;) {
		if (s->mapped[i]->process != p)
			continue;
		if (i != s->nmapped - 1) {
			struct mapped *m = s->mapped[i];

			s->mapped[i] = s->mapped[s->nmapped - 1];
			s->mapped[s->nmapped - 1] = m;
		}
		return s->mapped[s->nmapped - 1];
	}
	return add_mapped(s, p);
}

/*
 * Whether a is the better answer than b: mapped at that time, the latest to come; else the last that went (a profile
 * is written when the program has ended); else the first to come (it was told of late).
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
 * The index of the object that the address is in at that time; UINT32_MAX: none. from_ns, until_ns: the
 * time for which that holds.
 */
static uint32_t find_object(struct mapped *m, int64_t ts_ns, uint64_t address, int64_t *from_ns,
			    int64_t *until_ns)
{
	const struct hodo_read_object *objects = m->process->objects;
	uint32_t low = 0, high = m->process->nobjects, found = UINT32_MAX;

	*from_ns = INT64_MIN;
	*until_ns = INT64_MAX;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (objects[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i-- > 0 && m->ends[i] > address;) {
		const struct hodo_read_object *o = &objects[i];
		const int64_t changes[2] = { o->from_ns, o->until_ns };

		if (m->steps++ > STEPS_MAX && low - i > STEPS_EACH)
			break;
		if (address >= o->end)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			if (changes[k] <= ts_ns && changes[k] > *from_ns)
				*from_ns = changes[k];
			if (changes[k] > ts_ns && changes[k] < *until_ns)
				*until_ns = changes[k];
		}
		if (found == UINT32_MAX || is_better(o, &objects[found], ts_ns))
			found = i;
	}
	return found;
}

/* ------------------------------------------------------------------------ sources */

static bool same_source(const struct source *a, const struct hodo_read_object *o, uint64_t hash)
{
	return a->hash == hash && a->build_id_len == o->build_id_len && strcmp(a->path, o->path) == 0 &&
	       memcmp(a->build_id, o->build_id, o->build_id_len) == 0;
}

static bool spread_sources(struct hodo_symbols *s)
{
	uint32_t mask = s->sources ? s->sources_mask * 2 + 1 : 63;
	struct source **slots = calloc((size_t)mask + 1, sizeof(struct source *));

	if (!slots)
		return false;
	for (uint32_t i = 0; s->sources && i <= s->sources_mask; i++) {
		uint64_t h = s->sources[i] ? s->sources[i]->hash : 0;

		if (!s->sources[i])
			continue;
		while (slots[h & mask])
			h++;
		slots[h & mask] = s->sources[i];
	}
	free(s->sources);
	s->sources = slots;
	s->sources_mask = mask;
	return true;
}

static struct source *source_of(struct hodo_symbols *s, const struct hodo_read_object *o)
{
	uint64_t hash = mix_bytes(mix_bytes(1, o->build_id, o->build_id_len), o->path, strlen(o->path)), h = hash;
	struct source *source;

	if ((!s->sources || s->nsources > s->sources_mask / 2) && !spread_sources(s))
		return NULL;
	for (; s->sources[h & s->sources_mask]; h++)
		if (same_source(s->sources[h & s->sources_mask], o, hash))
			return s->sources[h & s->sources_mask];
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	source->path = o->path;
	source->build_id = o->build_id;
	source->build_id_len = o->build_id_len;
	source->hash = hash;
	s->sources[h & s->sources_mask] = source;
	s->nsources++;
	return source;
}

static void open_source(struct hodo_symbols *s, struct source *source)
{
	struct hodo_sym_source from = { .build_id = source->build_id_len ? source->build_id : NULL,
					.build_id_len = source->build_id_len };
	char name[HODO_SYMBOLS_NAME_MAX], *saved;

	source->tried = true;
	hodo_symbols_name(name, source->path, source->build_id, source->build_id_len);
	for (unsigned i = 0; i < 2 && !source->sym; i++) {
		if (asprintf(&saved, "%s/%s", s->folder[i], name) < 0)
			return;
		from.saved = saved;
		/* Where there is none, debug files would do. */
		if (access(saved, F_OK) == 0)
			hodo_sym_open(&source->sym, &from);
		free(saved);
	}
	from.saved = NULL;
	from.path = source->path;
	/* It lies elsewhere after each boot: what was kept is all there is. */
	if (!source->sym && strcmp(source->path, HODO_KERNEL_OBJECT) != 0)
		hodo_sym_open(&source->sym, &from);
}

static struct source *object_source(struct hodo_symbols *s, struct mapped *m, uint32_t i)
{
	if (!m->sources[i])
		m->sources[i] = source_of(s, &m->process->objects[i]);
	if (m->sources[i] && !m->sources[i]->tried)
		open_source(s, m->sources[i]);
	return m->sources[i];
}

/* -------------------------------------------------------------------------- places */

static bool spread_unnamed(struct hodo_symbols *s)
{
	uint32_t mask = s->unnamed ? s->unnamed_mask * 2 + 1 : 255;
	struct unnamed **slots = calloc((size_t)mask + 1, sizeof(struct unnamed *));

	if (!slots)
		return false;
	for (uint32_t i = 0; s->unnamed && i <= s->unnamed_mask; i++) {
		uint64_t h = s->unnamed[i] ? mix(s->unnamed[i]->address) : 0;

		if (!s->unnamed[i])
			continue;
		while (slots[h & mask])
			h++;
		slots[h & mask] = s->unnamed[i];
	}
	free(s->unnamed);
	s->unnamed = slots;
	s->unnamed_mask = mask;
	return true;
}

/* "0x…", kept for good; NULL: there are too many. */
static const char *unnamed(struct hodo_symbols *s, uint64_t address)
{
	struct unnamed *u;
	uint64_t h = mix(address);

	if ((!s->unnamed || s->nunnamed > s->unnamed_mask / 2) && !spread_unnamed(s))
		return NULL;
	for (; (u = s->unnamed[h & s->unnamed_mask]) != NULL; h++)
		if (u->address == address)
			return u->text;
	u = s->nunnamed < UNNAMED_MAX ? malloc(sizeof(*u)) : NULL;
	if (!u)
		return NULL;
	u->address = address;
	snprintf(u->text, sizeof(u->text), "0x%llx", (unsigned long long)address);
	s->unnamed[h & s->unnamed_mask] = u;
	s->nunnamed++;
	return u->text;
}

static void make_place(struct hodo_symbols *s, struct mapped *m, uint32_t object, uint64_t address,
		       struct hodo_place *place)
{
	const struct hodo_read_object *o = object == UINT32_MAX ? NULL : &m->process->objects[object];
	struct source *source = o ? object_source(s, m, object) : NULL;
	struct hodo_symbol symbol;
	uint64_t id;

	place->object = o ? o->path : "";
	if (source && source->sym && hodo_sym_find(source->sym, address - o->base, &symbol)) {
		place->name = symbol.name;
		place->start = symbol.start + o->base;
	} else {
		place->name = unnamed(s, address);
		place->start = place->name ? address : o ? o->base : 0;
		if (!place->name)
			place->name = "0x?";
	}
	/* Addresses in no object are told apart by process: they mean nothing elsewhere. */
	id = source ? mix(source->hash ^ mix(place->start - o->base))
		    : mix((uint64_t)(uintptr_t)(m ? m->process : NULL) ^ mix(place->start));
	place->id = id ? id : 1;
}

void hodo_symbols_find(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, struct hodo_place *place)
{
	uint64_t h = mix(address ^ (uint64_t)(uintptr_t)process);
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

bool hodo_symbols_line(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, const char **file, uint32_t *line)
{
	struct mapped *m = find_mapped(symbols, process);
	int64_t from_ns, until_ns;
	uint32_t object = m ? find_object(m, ts_ns, address, &from_ns, &until_ns) : UINT32_MAX;
	struct source *source = object == UINT32_MAX ? NULL : object_source(symbols, m, object);

	return source && source->sym &&
	       hodo_sym_line(source->sym, address - process->objects[object].base, file, line);
}
