/* SPDX-License-Identifier: MIT */
/* list_functions.c - hodo list: the functions of a file, or those that a recording has events of. */
#define _GNU_SOURCE
#include "list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <base/intern.h>
#include <base/vec.h>

/* ------------------------------------------------------------------------- files */

int hodo_list_add_functions(struct hodo_list *l, struct hodo_list_file *file, const char *path)
{
	struct hodo_sym_source source = { .path = path };
	const struct hodo_read_function *found;
	uint32_t n;
	int err = hodo_read_elf_functions(file->elf, &found, &n);

	if (err || !n)
		return err;
	/* Without symbols they are still listed. */
	hodo_sym_open(&file->sym, &source);
	l->objects++;
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_listed_function *f = hodo_must(hodo_vec_add(l->functions, l->nfunctions));
		struct hodo_symbol symbol;

		*f = (struct hodo_listed_function){
			.addr = found[i].addr, .slot = found[i].slot, .exits = found[i].exits, .object = file->object,
			.name = found[i].name,
		};
		if (file->sym && hodo_sym_find(file->sym, f->addr, &symbol))
			f->name = l->short_names ? hodo_sym_brief(file->sym, &symbol) : symbol.name;
	}
	return 0;
}

/* -------------------------------------------------------------------- recordings */

/* An object that several processes have, or that came twice, counts once. */
static void count_objects(struct hodo_list *l, const struct hodo_read *r)
{
	HODO_AUTO(hodo_strings_free) struct hodo_strings known = { 0 };
	char key[PATH_MAX + sizeof(((struct hodo_read_object *)0)->build_id)];

	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nobjects; k++) {
			const struct hodo_read_object *o = &p->objects[k];
			size_t len = strnlen(o->path, PATH_MAX);
			uint32_t before = known.map.n;

			if (!o->functions)
				continue;
			memcpy(mempcpy(key, o->path, len), o->build_id, sizeof(o->build_id));
			if (hodo_strings_add_bytes(&known, key, len + sizeof(o->build_id)) == HODO_STRINGS_NONE)
				exit(hodo_no_memory());
			if (known.map.n > before)
				l->traceable += o->functions;
		}
	}
	l->objects = known.map.n;
}

static void see(struct hodo_map *seen, const struct hodo_place *place)
{
	struct hodo_listed_function *f = hodo_must(hodo_map_add_u64(seen, place->id, NULL));

	f->name = place->name;
	f->object = place->object;
	f->events++;
}

static bool has_function_events(const struct hodo_read *r)
{
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		for (uint32_t k = 0; k < hodo_read_process(r, i)->nclasses; k++)
			if (hodo_read_process(r, i)->classes[k]->kind == HODO_KIND_FUNCTION)
				return true;
	return false;
}

int hodo_list_add_recorded(struct hodo_list *l, struct hodo_read *r, const char *path, const struct hodo_args *args)
{
	struct hodo_map seen = HODO_MAP(struct hodo_listed_function, id);
	const struct hodo_read_event *e;
	int got;

	count_objects(l, r);
	l->recording = true;
	if (!path || !has_function_events(r))
		return 0;
	l->symbols = hodo_must(hodo_symbols_new(path));
	hodo_ask_debuginfod(args, l->symbols);
	if (l->short_names)
		hodo_symbols_shorten(l->symbols);
	while ((got = hodo_read_next(r, &e)) > 0) {
		struct hodo_place place;

		if (e->cls->kind != HODO_KIND_FUNCTION || !e->cls->nfields ||
		    strcmp(e->cls->fields[0].name, "addr") != 0 || e->values[0].type != HODO_TYPE_PTR)
			continue;
		hodo_symbols_find(l->symbols, e->process, e->ts_ns, e->values[0].u, &place);
		see(&seen, &place);
	}
	l->functions = seen.entries;
	l->nfunctions = seen.n;
	seen.entries = NULL;
	hodo_map_free(&seen);
	return got;
}

/* ------------------------------------------------------------------------ output */

static const char *const slot_names[] = {
	[HODO_READ_SLOT_ENTRY_EXIT] = "entry_exit", [HODO_READ_SLOT_XRAY] = "xray",
	[HODO_READ_SLOT_INSTRUMENT] = "instrument", [HODO_READ_SLOT_PATCHABLE] = "patchable",
	[HODO_READ_SLOT_MCOUNT] = "mcount",
};

static struct hodo_cell slot_name(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	unsigned slot = ((const struct hodo_listed_function *)row)->slot;

	return hodo_cell_string(slot < sizeof(slot_names) / sizeof(slot_names[0]) && slot_names[slot] ? slot_names[slot]
												     : "?");
}

static void put_name(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *name = ((const struct hodo_listed_function *)row)->name;

	hodo_add_plain(to, *name ? name : "(no name)");
}

#define ROW(name) HODO_MEMBER(struct hodo_listed_function, name)
static const struct hodo_column columns[] = {
	{ "name", "FUNCTION", ROW(name), .put = put_name },
	{ "object", ROW(object) },
	{ "addr", "ADDRESS", HODO_AS_HEX, 18, ROW(addr) },
	{ "slot", .width = 10, .get = slot_name },
	{ "exits", .as = HODO_AS_ID, .width = 5, ROW(exits) },
};
const struct hodo_columns hodo_function_columns = { "functions", HODO_COLUMNS(columns),
						    .text = "addr,slot,exits,name" };

static const struct hodo_column seen_columns[] = {
	{ "name", "FUNCTION", ROW(name), .put = put_name },
	{ "object", "", ROW(object) },
	{ "events", .as = HODO_AS_COUNT, .width = 15, ROW(events) },
};
const struct hodo_columns hodo_seen_function_columns = { "functions of a recording", HODO_COLUMNS(seen_columns),
							 .text = "events,name,object" };

static int by_name(const void *a, const void *b)
{
	const struct hodo_listed_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	return order ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

struct hodo_table hodo_list_functions(struct hodo_list *l)
{
	if (l->nfunctions)
		qsort(l->functions, l->nfunctions, sizeof(*l->functions), by_name);
	return (struct hodo_table){ .columns = l->recording ? &hodo_seen_function_columns : &hodo_function_columns,
				    .first = l->functions, .n = l->nfunctions, .stride = sizeof(*l->functions) };
}

void hodo_list_put_function_count(struct hodo_text *to, const struct hodo_list *l, const char *path)
{
	uint64_t n = l->recording ? l->traceable : l->nfunctions;
	char buf[32], objects[64] = "";

	if (!n)
		return;
	if (l->objects > 1)
		snprintf(objects, sizeof(objects), " in %u programs and libraries", l->objects);
	hodo_text_printf(to, "%s traceable function%s%s: 'hodo list --functions ", hodo_grouped(n, buf),
			 n == 1 ? "" : "s", objects);
	hodo_add_plain(to, path);
	hodo_text_add(to, l->recording ? "' lists those that were seen\n" : "' lists them\n");
}
