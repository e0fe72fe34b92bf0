/* SPDX-License-Identifier: MIT */
/* list.c - hodo list: events and functions, wherever they come from, as tables. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

void hodo_list_add_class(struct hodo_list *l, const struct hodo_read_class *c, const char *object)
{
	struct hodo_read_class *new = hodo_must(hodo_vec_add(l->classes, l->n));

	*new = *c;
	new->object = object;
}

int hodo_list_add_file(struct hodo_list *l, const char *path, const char *object, const struct hodo_read_options *o,
		       const struct hodo_list_args *a)
{
	struct hodo_list_file *file = hodo_must(hodo_vec_add(l->files, l->nfiles));
	int err = hodo_read_elf_open(&file->elf, path, o);

	file->sdt = HODO_ELF_CLOSED;
	file->object = hodo_must(strdup(object));
	for (uint32_t i = 0; !err && i < hodo_read_elf_nclasses(file->elf); i++)
		hodo_list_add_class(l, hodo_read_elf_class(file->elf, i), file->object);
	if (!err && !a->events && !a->functions)
		err = hodo_list_add_sdt(l, file, path, a->args.quiet);
	l->short_names = hodo_shortens_names(&a->args);
	return !err && !a->events && !a->sdt ? hodo_list_add_functions(l, file, path) : err;
}

void hodo_list_free(struct hodo_list *l)
{
	for (uint32_t i = 0; i < l->nfiles; i++) {
		hodo_read_elf_close(l->files[i].elf);
		hodo_sym_close(l->files[i].sym);
		hodo_elf_close(&l->files[i].sdt);
		free(l->files[i].object);
	}
	hodo_list_free_sdt(l);
	free(l->files);
	free(l->classes);
	free(l->functions);
	hodo_symbols_free(l->symbols);
}

/* ------------------------------------------------------------------------- events */

/* off: no -e asked for it, or nobody records. */
static const char *state_name(uint8_t state)
{
	return state & HODO_STATE_DISABLED ? "disabled" : !(state & HODO_STATE_RECORDED) ? "off" :
	       state & HODO_STATE_FILTERED ? "filtered" : "on";
}

/* What a process says of an event; NULL: there is no process. */
static const uint8_t *state_of(const struct hodo_table *t, const void *row)
{
	const struct hodo_list *l = t->context;

	return l->states ? &l->states[((const struct hodo_read_class *)row)->id] : NULL;
}

static struct hodo_cell state(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const uint8_t *state = state_of(t, row);

	return hodo_cell_string(state ? state_name(*state) : NULL);
}

/* argument: the bit of the state. */
static struct hodo_cell state_bit(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const uint8_t *state = state_of(t, row);

	return state ? (struct hodo_cell){ .type = HODO_CELL_BOOL, .u = !!(*state & (unsigned)c->argument) }
		     : hodo_cell_string(NULL);
}

static struct hodo_cell kind(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(hodo_read_kind_name(((const struct hodo_read_class *)row)->kind));
}

static struct hodo_cell sites(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	uint32_t n = ((const struct hodo_read_class *)row)->sites;

	return n ? hodo_cell_u64(n) : hodo_cell_string(NULL);
}

static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_text_char(to, '(');
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct hodo_read_labels *labels = c->fields[i].labels;

		hodo_text_add(to, i ? ", " : "");
		hodo_add_plain(to, c->fields[i].name);
		hodo_text_printf(to, ":%s", hodo_read_type_name(c->fields[i].type));
		for (uint32_t k = 0; labels && k < labels->n; k++) {
			hodo_text_add(to, k ? "|" : " ");
			hodo_add_plain(to, labels->names[k]);
		}
	}
	hodo_text_char(to, ')');
}

static void put_fields_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_json_array(j, key);
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct hodo_read_labels *labels = c->fields[i].labels;

		hodo_json_object(j, NULL);
		hodo_json_string(j, "name", c->fields[i].name);
		hodo_json_string(j, "type", hodo_read_type_name(c->fields[i].type));
		if (labels)
			hodo_json_object(j, "labels");
		for (uint32_t k = 0; labels && k < labels->n; k++)
			hodo_json_i64(j, labels->names[k], labels->values[k]);
		if (labels)
			hodo_json_end(j);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_place(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_add_plain(to, c->file);
	if (*c->file)
		hodo_text_printf(to, ":%u", c->line);
}

static void put_more_sites(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	if (c->sites > 1)
		hodo_text_printf(to, "and %u more", c->sites - 1);
}

static void put_format(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	if (!*c->format)
		return;
	hodo_text_char(to, '"');
	hodo_add_plain(to, c->format);
	hodo_text_char(to, '"');
}

#define ROW(name) HODO_MEMBER(struct hodo_read_class, name)
static const struct hodo_column columns[] = {
	{ "name", .most = 40, .style = HODO_NAME, ROW(name) },
	{ "state", .width = 8, .flags = HODO_OPTIONAL | HODO_IF_ANY, .get = state },
	{ "loaded", .as = HODO_AS_FLAG, .flags = HODO_OPTIONAL, .get = state_bit, .argument = HODO_STATE_LOADED },
	{ "probed", .as = HODO_AS_FLAG, .flags = HODO_OPTIONAL, .get = state_bit, .argument = HODO_STATE_PROBED },
	{ "kind", .width = 10, .get = kind },
	{ "fields", .put = put_fields, .put_json = put_fields_json },
	{ "format", ROW(format), .put = put_format },
	{ "file", ROW(file) },
	{ "line", .as = HODO_AS_ID, ROW(line) },
	{ "func", ROW(func) },
	{ "object", ROW(object) },
	{ "sites", .flags = HODO_NOTE | HODO_OPTIONAL, .get = sites, .put = put_more_sites },
	{ "place", .style = HODO_DIM, .flags = HODO_TEXT_ONLY, .put = put_place },
};
const struct hodo_columns hodo_list_columns = { "events", HODO_COLUMNS(columns), .headless = true,
					       .text = "name,state,kind,fields,place,sites,format" };

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_class *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	order = order ? order : (x->id > y->id) - (x->id < y->id);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Differing definitions are listed separately; only a few of one name are compared. */
static bool is_listed(const struct hodo_read_class *listed, size_t n, const struct hodo_read_class *c)
{
	for (size_t k = n; k > 0 && n - k < 8 && strcmp(listed[k - 1].name, c->name) == 0; k--)
		if (strcmp(listed[k - 1].object, c->object) == 0 && hodo_read_class_same(&listed[k - 1], c))
			return true;
	return false;
}

/* Lists an event of several processes once. */
static void join(struct hodo_list *l)
{
	size_t kept = 0;

	if (l->n)
		qsort(l->classes, l->n, sizeof(*l->classes), by_name);
	for (size_t i = 0; i < l->n; i++)
		if (!is_listed(l->classes, kept, &l->classes[i]))
			l->classes[kept++] = l->classes[i];
	l->n = kept;
}

/* ------------------------------------------------------------------------- output */

void hodo_list_put_recorder(struct hodo_text *to, const struct hodo_msg_answer *a)
{
	if (a->by == HODO_BY_FLIGHT) {
		hodo_text_add(to, " by itself, in ");
		hodo_add_plain(to, a->path);
	} else if (a->by != HODO_BY_NOBODY) {
		hodo_text_add(to, " by hodo");
		if (a->recorder)
			hodo_text_printf(to, " (process %u)", a->recorder);
	}
}

void hodo_list_put_recorder_json(struct hodo_json *j, const struct hodo_msg_answer *a)
{
	static const char *const by[] = { "nobody", "hodo", "flight" };

	hodo_json_string(j, "recorded_by", by[a->by <= HODO_BY_FLIGHT ? a->by : HODO_BY_NOBODY]);
	if (a->recorder)
		hodo_json_u64(j, "recorder", a->recorder);
	if (a->by == HODO_BY_FLIGHT)
		hodo_json_string(j, "flight", a->path);
}

static int offer(const struct hodo_table *t, const struct hodo_list_args *a)
{
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	unsigned columns = hodo_table_columns(t, false, column);

	for (size_t i = 0; columns && i < t->n; i++) {
		HODO_AUTO(hodo_text_free) struct hodo_text name = { 0 };
		HODO_AUTO(hodo_text_free) struct hodo_text about = { 0 };

		hodo_put_cell(&name, t, column[0], hodo_table_row(t, i));
		for (unsigned k = 1; k < columns; k++) {
			HODO_AUTO(hodo_text_free) struct hodo_text cell = { 0 };

			hodo_put_cell(&cell, t, column[k], hodo_table_row(t, i));
			hodo_text_printf(&about, "%s%s", about.len && cell.len ? " " : "", hodo_text_string(&cell));
		}
		a->offer(a->offer_data, hodo_text_string(&name), hodo_text_string(&about));
	}
	return 0;
}

/* The contents as tables. */
struct tables {
	struct hodo_table events, sdt, functions;
};

static void put_text(struct hodo_text *to, const struct hodo_list *l, const struct tables *t,
		     const struct hodo_list_args *a)
{
	if (!a->functions && !a->sdt)
		hodo_table_put(to, &t->events, a->args.look.color);
	if (t->sdt.n)
		hodo_table_put(to, &t->sdt, a->args.look.color);
	if (a->functions && t->functions.n)
		hodo_table_put(to, &t->functions, a->args.look.color);
	if (a->functions || a->events || a->sdt)
		return;
	hodo_list_put_function_count(to, l, a->path);
	if (!l->answer)
		return;
	hodo_text_printf(to, "process %d is %s", (int)l->pid,
			 l->answer->by == HODO_BY_NOBODY ? "not recorded" : "recorded");
	hodo_list_put_recorder(to, l->answer);
	hodo_text_char(to, '\n');
}

static void put_json(struct hodo_json *j, const struct hodo_list *l, const struct tables *t,
		     const struct hodo_list_args *a)
{
	if (l->pid) {
		hodo_json_i64(j, "pid", l->pid);
		hodo_json_bool(j, "listens", l->answer != NULL);
		if (l->answer)
			hodo_list_put_recorder_json(j, l->answer);
	}
	if (!a->functions && !a->sdt)
		hodo_table_put_json(j, "events", &t->events);
	if (!a->functions && !a->events && !l->recording && !l->answer)
		hodo_table_put_json(j, "sdt", &t->sdt);
	if (!a->events && !a->sdt)
		hodo_table_put_json(j, "functions", &t->functions);
}

int hodo_list_put(struct hodo_list *l, const struct hodo_list_args *a)
{
	struct tables t = { { .columns = &hodo_list_columns, .context = l, .stride = sizeof(*l->classes) },
			    hodo_list_sdt(l), hodo_list_functions(l) };
	struct hodo_page page;
	int status;

	join(l);
	t.events.first = l->classes;
	t.events.n = l->n;
	hodo_table_arrange(&t.events, &a->args.look);
	hodo_table_arrange(&t.sdt, &a->args.look);
	hodo_table_arrange(&t.functions, &a->args.look);
	if (a->offer) {
		status = offer(&t.events, a);
	} else {
		hodo_page_begin(&page, &a->args);
		if (a->args.look.json)
			put_json(&page.json, l, &t, a);
		else
			put_text(&page.text, l, &t, a);
		status = hodo_page_end(&page);
	}
	hodo_table_free(&t.events);
	hodo_table_free(&t.sdt);
	hodo_table_free(&t.functions);
	return status;
}

int hodo_list_table(const struct hodo_table *t, const char *key, const struct hodo_list_args *a)
{
	HODO_AUTO(hodo_table_free) struct hodo_table sorted = *t;
	struct hodo_page page;

	hodo_table_arrange(&sorted, &a->args.look);
	if (a->offer)
		return offer(&sorted, a);
	hodo_page_begin(&page, &a->args);
	if (a->args.look.json)
		hodo_table_put_json(&page.json, key, &sorted);
	else
		hodo_table_put(&page.text, &sorted, a->args.look.color);
	return hodo_page_end(&page);
}
