/* SPDX-License-Identifier: MIT */
/* list_functions.c - hodo list: the functions of a file, or those that a recording has events of. */
#define _GNU_SOURCE
#include "list_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int by_name(const void *a, const void *b)
{
	const struct hodo_listed_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	return order ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

static void sort(struct hodo_function_list *l)
{
	if (l->n)
		qsort(l->functions, l->n, sizeof(*l->functions), by_name);
}

/* ------------------------------------------------------------------------- files */

int hodo_function_list_file(struct hodo_function_list *l, struct hodo_read_elf *elf, const char *path)
{
	struct hodo_sym_source source = { .path = path };
	const struct hodo_read_function *found;
	int err = hodo_read_elf_functions(elf, &found, &l->n);

	if (!err && l->n) {
		l->functions = calloc(l->n, sizeof(*l->functions));
		err = l->functions ? 0 : -ENOMEM;
	}
	if (err) {
		l->n = 0;
		return err;
	}
	/* Without symbols they are listed all the same. */
	if (l->n)
		hodo_sym_open(&l->sym, &source);
	for (uint32_t i = 0; i < l->n; i++) {
		struct hodo_listed_function *f = &l->functions[i];
		struct hodo_symbol symbol;

		f->addr = found[i].addr;
		f->slot = found[i].slot;
		f->exits = found[i].exits;
		f->object = path;
		f->name = l->sym && hodo_sym_find(l->sym, f->addr, &symbol) ? symbol.name : found[i].name;
	}
	sort(l);
	return 0;
}

int hodo_function_list_merge(struct hodo_function_list *to, const struct hodo_function_list *from,
			     const char *object)
{
	struct hodo_listed_function *grown;

	if (!from->n)
		return 0;
	grown = realloc(to->functions, ((size_t)to->n + from->n) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	to->functions = grown;
	for (uint32_t i = 0; i < from->n; i++) {
		grown[to->n] = from->functions[i];
		grown[to->n++].object = object;
	}
	to->objects++;
	sort(to);
	return 0;
}

/* -------------------------------------------------------------------- recordings */

static int by_object(const void *a, const void *b)
{
	const struct hodo_read_object *x = *(const struct hodo_read_object *const *)a;
	const struct hodo_read_object *y = *(const struct hodo_read_object *const *)b;
	int order = strcmp(x->path, y->path);

	return order ? order : memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

/* An object that several processes have, or that came twice, counts once. */
void hodo_function_list_objects(struct hodo_function_list *l, const struct hodo_read *r)
{
	const struct hodo_read_object **all;
	uint32_t n = 0, filled = 0;

	l->recording = true;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		n += hodo_read_process(r, i)->nobjects;
	all = calloc(n ? n : 1, sizeof(*all));
	for (uint32_t i = 0; all && i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nobjects; k++)
			if (p->objects[k].functions)
				all[filled++] = &p->objects[k];
	}
	if (filled)
		qsort(all, filled, sizeof(*all), by_object);
	for (uint32_t i = 0; i < filled; i++) {
		if (i > 0 && by_object(&all[i - 1], &all[i]) == 0)
			continue;
		l->traceable += all[i]->functions;
		l->objects++;
	}
	free(all);
}

static int see(struct hodo_map *seen, const struct hodo_place *place)
{
	struct hodo_listed_function *f = hodo_map_add_u64(seen, place->id, NULL);

	if (!f)
		return -ENOMEM;
	f->name = place->name;
	f->object = place->object;
	f->events++;
	return 0;
}

static bool has_function_events(const struct hodo_read *r)
{
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		for (uint32_t k = 0; k < hodo_read_process(r, i)->nclasses; k++)
			if (hodo_read_process(r, i)->classes[k]->kind == HODO_KIND_FUNCTION)
				return true;
	return false;
}

int hodo_function_list_recording(struct hodo_function_list *l, struct hodo_read *r, const char *path)
{
	const struct hodo_read_event *e;
	int got = 0, err = 0;

	hodo_function_list_objects(l, r);
	if (!has_function_events(r))
		return 0;
	l->seen = (struct hodo_map)HODO_MAP(struct hodo_listed_function, id);
	l->symbols = hodo_symbols_new(path);
	if (!l->symbols)
		return -ENOMEM;
	while (!err && (got = hodo_read_next(r, &e)) > 0) {
		struct hodo_place place;

		if (e->cls->kind != HODO_KIND_FUNCTION || !e->cls->nfields ||
		    strcmp(e->cls->fields[0].name, "addr") != 0 || e->values[0].type != HODO_TYPE_PTR)
			continue;
		hodo_symbols_find(l->symbols, e->process, e->ts_ns, e->values[0].u, &place);
		err = see(&l->seen, &place);
	}
	l->functions = l->seen.entries;
	l->n = l->seen.n;
	sort(l);
	return err ? err : got;
}

void hodo_function_list_free(struct hodo_function_list *l)
{
	if (l->functions != l->seen.entries)
		free(l->functions);
	hodo_map_free(&l->seen);
	hodo_sym_close(l->sym);
	hodo_symbols_free(l->symbols);
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

struct hodo_table hodo_function_table(const struct hodo_function_list *l)
{
	return (struct hodo_table){ .columns = l->recording ? &hodo_seen_function_columns : &hodo_function_columns,
				    .first = l->functions, .n = l->n, .stride = sizeof(*l->functions) };
}

void hodo_function_list_count(struct hodo_text *to, const struct hodo_function_list *l, const char *path)
{
	uint64_t n = l->recording ? l->traceable : l->n;
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
