/* SPDX-License-Identifier: MIT */
#include "top_calls.h"

#include <stdlib.h>

#include <sym/recording_symbols.h>
#include <read/time/live.h>

#include <cli/say.h>

#define NOWHERE "/dev/null" /* no recording that could have saved symbols */
#define BITS (1ull << 63)   /* in a key: no address of a program has it */
#define MAPS_MAX 256u       /* for a process whose objects come and go: then the last one is kept */

struct known {
	uint64_t address; /* or BITS and some of one */
	uint32_t row;
};

/* A process's objects, as they were at some time. Symbols are found by its address: it stays. */
struct map {
	struct map *before;
	struct hodo_read_process process;
	struct hodo_read_object object[];
};

struct hodo_top_calls {
	struct hodo_top_model *model;
	struct hodo_live *live;
	struct hodo_symbols *symbols;
	struct hodo_roots roots; /* the process's, if it does not have ours */
	struct hodo_map known;
	struct map *map; /* the present one */
	uint32_t maps;
	uint32_t objects; /* of the catalogue, when it was made */
};

struct hodo_top_calls *hodo_top_calls_new(struct hodo_top_model *m, struct hodo_live *live)
{
	struct hodo_top_calls *c = hodo_must(calloc(1, sizeof(*c)));

	c->model = m;
	c->live = live;
	c->symbols = hodo_must(hodo_symbols_new(NOWHERE));
	c->known = (struct hodo_map)HODO_MAP(struct known, address);
	return c;
}

void hodo_top_calls_free(struct hodo_top_calls *c)
{
	if (!c)
		return;
	hodo_symbols_free(c->symbols);
	hodo_roots_close(&c->roots);
	for (struct map *map; (map = c->map);) {
		c->map = map->before;
		free(map);
	}
	hodo_map_free(&c->known);
	free(c);
}

static int by_start(const void *a, const void *b)
{
	const struct hodo_read_object *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct hodo_read_object object_of(const struct hodo_catalog_object *from)
{
	struct hodo_read_object o = {
		.size = sizeof(o), .path = from->path, .base = from->is.base, .start = from->is.start,
		.end = from->is.end, .from_ns = INT64_MIN, .until_ns = INT64_MAX, .functions = from->is.functions,
		.build_id_len = from->is.build_id_len,
	};

	memcpy(o.build_id, from->is.build_id, sizeof(o.build_id));
	return o;
}

/* Updates what is mapped now. Other objects may have replaced code: addresses are looked up again. */
static void look_at_objects(struct hodo_top_calls *c, const struct hodo_process *p)
{
	const struct hodo_catalog *from = &p->catalog;
	struct map *map;
	uint32_t n = 0;

	if (c->map && (c->objects == from->objects || c->maps == MAPS_MAX))
		return;
	map = hodo_must(calloc(1, sizeof(*map) + from->objects * sizeof(*map->object)));
	hodo_live_forget_shorts(c->live);
	for (uint32_t i = 0; i < from->objects; i++) {
		if (from->object[i].until != HODO_CATALOG_MAPPED)
			continue;
		map->object[n++] = object_of(&from->object[i]);
		hodo_must(hodo_live_short(c->live, from->object[i].is.short_start, from->object[i].is.short_end) == 0 ?
			  map : NULL);
	}
	qsort(map->object, n, sizeof(*map->object), by_start);
	map->process = (struct hodo_read_process){ .size = sizeof(map->process), .pid = (uint32_t)p->id.pid,
						   .owner = p->id.flight.uid, .nobjects = n, .objects = map->object };
	if (!c->map)
		hodo_roots_add(&c->roots, p->id.pid);
	hodo_symbols_roots(c->symbols, c->roots.fd, c->roots.n);
	map->before = c->map;
	c->map = map;
	c->maps++;
	c->objects = from->objects;
	hodo_map_clear(&c->known);
}

uint32_t hodo_top_calls_row(struct hodo_top_calls *c, const struct hodo_process *p, uint64_t address, bool bits)
{
	struct hodo_place place;
	struct known *known;
	bool is_new;

	look_at_objects(c, p);
	known = hodo_must(hodo_map_add_u64(&c->known, bits ? address | BITS : address & ~BITS, &is_new));
	if (!is_new)
		return known->row;
	if (bits)
		address = hodo_live_address(c->live, address);
	hodo_symbols_find(c->symbols, &c->map->process, 0, address, &place);
	return known->row = hodo_top_span(c->model, place.name);
}
