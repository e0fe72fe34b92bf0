/* SPDX-License-Identifier: MIT */
/* view_write.c - puts what view.c took in into the page: docs/design/view.md. */
#define _GNU_SOURCE
#include "view_work.h"

#include "view_container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char hodo_view_template[], hodo_view_template_end[];

const char *hodo_view_page(size_t *len)
{
	*len = (size_t)(hodo_view_template_end - hodo_view_template);
	return hodo_view_template;
}

/* ---------------------------------------------------------------------- columns */

/* Rows of one class; texts are numbered over slices, then instants. */
struct part {
	const struct hodo_view_row *rows;
	uint32_t n;
	uint32_t first_text;
};

static void put_value(struct hodo_view_packer *p, const void *value, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	unsigned char turned[8];

	for (size_t i = 0; i < size; i++)
		turned[i] = ((const unsigned char *)value)[size - 1 - i];
	hodo_view_pack(p, turned, size);
#else
	hodo_view_pack(p, value, size);
#endif
}

/* A function that puts a column: in EXPR, i is the number of the row. */
#define COLUMN(FUNCTION, TYPE, DATA, EXPR)                                             \
	static void FUNCTION(struct hodo_view_packer *p, const void *data, uint32_t n) \
	{                                                                              \
		const DATA *d = data;                                                  \
		for (uint32_t i = 0; i < n; i++) {                                     \
			TYPE value = (TYPE)(EXPR);                                     \
			put_value(p, &value, sizeof(value));                           \
		}                                                                      \
	}

COLUMN(row_track, uint32_t, struct part, d->rows[i].track)
COLUMN(row_name, uint32_t, struct part, d->rows[i].name)
COLUMN(row_kind, uint8_t, struct part, d->rows[i].kind)
COLUMN(row_flags, uint8_t, struct part, d->rows[i].flags)
COLUMN(row_depth, uint16_t, struct part, d->rows[i].depth)
COLUMN(row_begin, double, struct part, d->rows[i].begin)
COLUMN(row_duration, double, struct part, d->rows[i].duration)
COLUMN(row_self, double, struct part, d->rows[i].self)
COLUMN(row_value, double, struct part, d->rows[i].value)
COLUMN(row_id, double, struct part, d->rows[i].id)

static void row_text(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	const struct part *part = data;
	uint32_t text = part->first_text;

	for (uint32_t i = 0; i < n; i++) {
		int32_t value = part->rows[i].text == HODO_VIEW_NO_TEXT ? -1 : (int32_t)text++;

		put_value(p, &value, sizeof(value));
	}
}

static const struct hodo_view_column slices[] = {
	{ "track", "u32", 4, row_track, 0 }, { "name", "u32", 4, row_name, 0 },
	{ "kind", "u8", 1, row_kind, 0 },    { "flags", "u8", 1, row_flags, 0 },
	{ "depth", "u16", 2, row_depth, 0 }, { "begin", "f64", 8, row_begin, 0 },
	{ "duration", "f64", 8, row_duration, 0 }, { "self", "f64", 8, row_self, 0 },
	{ "text", "i32", 4, row_text, 0 },   { "id", "f64", 8, row_id, 0 }, { 0 },
};
static const struct hodo_view_column instants[] = {
	{ "track", "u32", 4, row_track, 0 }, { "name", "u32", 4, row_name, 0 },
	{ "time", "f64", 8, row_begin, 0 },  { "text", "i32", 4, row_text, 0 }, { 0 },
};
static const struct hodo_view_column values[] = {
	{ "track", "u32", 4, row_track, 0 }, { "time", "f64", 8, row_begin, 0 },
	{ "value", "f64", 8, row_value, 0 }, { 0 },
};

/* Losses, whose processes and times are of this recording. */
struct losses {
	const struct hodo_view_loss *all;
	const uint32_t *processes;
	int64_t begin_ns;
};

static double since(int64_t ns, int64_t begin_ns)
{
	return (double)ns - (double)begin_ns < 9e15 ? (double)(int64_t)((uint64_t)ns - (uint64_t)begin_ns) : 9e15;
}

COLUMN(loss_process, uint32_t, struct losses, d->processes[i])
COLUMN(loss_cpu, int32_t, struct losses, d->all[i].stream->cpu)
COLUMN(loss_begin, double, struct losses, since(d->all[i].from_ns, d->begin_ns))
COLUMN(loss_end, double, struct losses, since(d->all[i].until_ns, d->begin_ns))
COLUMN(loss_count, double, struct losses, d->all[i].count)
COLUMN(loss_cause, uint32_t, struct losses, d->all[i].cause)

static const struct hodo_view_column losses[] = {
	{ "process", "u32", 4, loss_process, 0 }, { "cpu", "i32", 4, loss_cpu, 0 },
	{ "begin", "f64", 8, loss_begin, 0 },     { "end", "f64", 8, loss_end, 0 },
	{ "count", "f64", 8, loss_count, 0 },     { "cause", "u32", 4, loss_cause, 0 }, { 0 },
};

COLUMN(figure_name, uint32_t, struct hodo_view_figure, d[i].name)
COLUMN(figure_track, uint32_t, struct hodo_view_figure, d[i].track)
COLUMN(figure_count, double, struct hodo_view_figure, d[i].count)
COLUMN(figure_total, double, struct hodo_view_figure, d[i].total)
COLUMN(figure_self, double, struct hodo_view_figure, d[i].self)
COLUMN(figure_min, double, struct hodo_view_figure, d[i].min)
COLUMN(figure_max, double, struct hodo_view_figure, d[i].max)
COLUMN(figure_buckets, uint32_t, struct hodo_view_figure, 8u * d[i].powers)

static void figure_histogram(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	const struct hodo_view_figure *f = data;
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; at += 8u * f[i++].powers)
		put_value(p, &at, sizeof(at));
}

static const struct hodo_view_column aggregates[] = {
	{ "name", "u32", 4, figure_name, 0 },   { "track", "u32", 4, figure_track, 0 },
	{ "count", "f64", 8, figure_count, 0 }, { "total", "f64", 8, figure_total, 0 },
	{ "self", "f64", 8, figure_self, 0 },   { "min", "f64", 8, figure_min, 0 },
	{ "max", "f64", 8, figure_max, 0 },     { "histogram", "u32", 4, figure_histogram, 0 },
	{ "buckets", "u32", 4, figure_buckets, 0 }, { 0 },
};

/* The buckets of all figures, one after the other. */
static void each_bucket(struct hodo_view_packer *p, const struct hodo_view_figures *f, bool count)
{
	const struct hodo_view_figure *all = f->map.entries;

	for (uint32_t i = 0; i < f->map.n; i++) {
		for (uint32_t k = 0; k < 8u * all[i].powers; k++) {
			uint16_t place = (uint16_t)(8u * all[i].power + k);
			double n = (double)all[i].buckets[k];

			if (count)
				put_value(p, &n, sizeof(n));
			else
				put_value(p, &place, sizeof(place));
		}
	}
}

static void bucket_place(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	each_bucket(p, data, false);
}

static void bucket_count(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	each_bucket(p, data, true);
}

static const struct hodo_view_column buckets[] = {
	{ "log2x8", "u16", 2, bucket_place, 0 }, { "count", "f64", 8, bucket_count, 0 }, { 0 },
};

/* Texts, in the order of their rows. */
static uint32_t text_len(const struct hodo_view_rows *rows, const struct hodo_view_row *row, const char **text)
{
	const char *at = rows->texts + 4 * (size_t)row->text;
	uint32_t len;

	memcpy(&len, at, sizeof(len));
	*text = at + sizeof(len);
	return len;
}

enum { TEXT_AT, TEXT_LENGTH, TEXT_BYTES };

static void each_text(struct hodo_view_packer *p, const struct hodo_view_rows *rows, int what)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		const char *text;
		uint32_t len;

		if (rows->rows[i].text == HODO_VIEW_NO_TEXT)
			continue;
		len = text_len(rows, &rows->rows[i], &text);
		if (what == TEXT_BYTES)
			hodo_view_pack(p, text, len);
		else
			put_value(p, what == TEXT_AT ? &at : &len, sizeof(len));
		at += len;
	}
}

static void text_at(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	each_text(p, data, TEXT_AT);
}

static void text_length(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	each_text(p, data, TEXT_LENGTH);
}

static void text_bytes(struct hodo_view_packer *p, const void *data, uint32_t n)
{
	each_text(p, data, TEXT_BYTES);
}

/* ------------------------------------------------------------------------ header */

/* A process, by its address, and its number. */
struct numbered {
	const struct hodo_read_process *process;
	uint32_t number;
};

static int number(struct hodo_map *numbers, const struct hodo_read *reader)
{
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		struct numbered *n = hodo_map_add_u64(numbers, (uintptr_t)hodo_read_process(reader, i), NULL);

		if (!n)
			return -ENOMEM;
		n->number = i;
	}
	return 0;
}

static int64_t number_of(const struct hodo_map *numbers, const struct hodo_read_process *process)
{
	const struct numbered *n = hodo_map_find_u64(numbers, (uintptr_t)process);

	return n ? (int64_t)n->number : -1;
}

static void put_processes(struct hodo_json *j, const struct hodo_read *reader)
{
	hodo_json_array(j, "processes");
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);

		hodo_json_object(j, NULL);
		hodo_json_u64(j, "pid", p->pid);
		hodo_json_string(j, "comm", p->comm ? p->comm : "");
		hodo_json_string(j, "exe", p->exe ? p->exe : "");
		hodo_json_bool(j, "kernel", p->kernel);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_tracks(struct hodo_json *j, const struct hodo_view_work *w, const struct hodo_map *numbers)
{
	static const char *const kinds[] = { "thread", "async", "counter", "cpu" };

	hodo_json_array(j, "tracks");
	for (uint32_t i = 0; i < w->rows.ntracks; i++) {
		const struct hodo_view_track *t = &w->tracks[i];
		const bool *thin = w->rows.shares[i].thin;

		hodo_json_object(j, NULL);
		hodo_json_string(j, "kind", kinds[t->track->kind]);
		hodo_json_i64(j, "process", number_of(numbers, t->track->process));
		hodo_json_u64(j, "pid", t->track->pid);
		hodo_json_u64(j, "tid", t->track->tid);
		hodo_json_i64(j, "cpu", t->track->cpu);
		hodo_json_u64(j, "name", t->name);
		hodo_json_u64(j, "depth", t->depth);
		hodo_json_bool(j, "coarse", thin[0] || thin[1] || thin[2]);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_warnings(struct hodo_json *j, const struct hodo_view_work *w)
{
	const struct hodo_view *v = w->view;
	uint32_t n = 0;
	const char *const *warnings = v->warnings ? v->warnings(v->warnings_data, &n) : NULL;
	char text[128];

	hodo_json_array(j, "warnings");
	for (uint32_t i = 0; i < n; i++)
		hodo_json_string(j, NULL, warnings[i]);
	for (uint32_t i = 0; i < hodo_read_nprocesses(v->reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(v->reader, i);

		for (uint32_t k = 0; k < p->nwarnings; k++)
			hodo_json_string(j, NULL, p->warnings[k]);
	}
	if (w->figures.beyond) {
		snprintf(text, sizeof(text), "%llu slices have names that are too many: they are in no figure but the total",
			 (unsigned long long)w->figures.beyond);
		hodo_json_string(j, NULL, text);
	}
	hodo_json_end(j);
}

static void put_totals(struct hodo_json *j, const struct hodo_view_work *w, const uint32_t *shown)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < w->nlosses; i++)
		lost += w->losses[i].count;
	hodo_json_object(j, "totals");
	hodo_json_u64(j, "events", w->events);
	hodo_json_u64(j, "slices", w->counts[HODO_VIEW_SLICES]);
	hodo_json_u64(j, "instants", w->counts[HODO_VIEW_INSTANTS]);
	hodo_json_u64(j, "values", w->counts[HODO_VIEW_VALUES]);
	hodo_json_u64(j, "shown_slices", shown[0]);
	hodo_json_u64(j, "shown_instants", shown[1]);
	hodo_json_u64(j, "shown_values", shown[2]);
	hodo_json_u64(j, "lost", lost);
	hodo_json_end(j);
}

static void put_header(struct hodo_json *j, const struct hodo_view_work *w, const uint32_t *shown,
		       const struct hodo_map *numbers)
{
	const struct hodo_view *v = w->view;
	int64_t end_ns = w->last_ns;

	for (uint32_t i = 0; i < w->nlosses; i++)
		end_ns = w->losses[i].until_ns > end_ns ? w->losses[i].until_ns : end_ns;
	hodo_json_string(j, "title", v->title ? v->title : "");
	hodo_json_string(j, "dir", v->dir ? v->dir : "");
	hodo_json_printf(j, "begin_ns", "\"%lld\"", (long long)w->begin_ns);
	hodo_json_printf(j, "duration_ns", "%.0f", since(end_ns, w->begin_ns));
	hodo_json_string(j, "hodo", v->version ? v->version : "");
	put_warnings(j, w);
	hodo_json_array(j, "strings");
	for (uint32_t i = 0; i < w->names.map.n; i++)
		hodo_json_string(j, NULL, hodo_strings_at(&w->names, i));
	hodo_json_end(j);
	put_processes(j, v->reader);
	put_tracks(j, w, numbers);
	put_totals(j, w, shown);
}

/* -------------------------------------------------------------------------- page */

/* As content of an element that has no elements. */
static void put_html(struct hodo_text *o, const char *text)
{
	struct hodo_text plain = { 0 };

	hodo_text_plain(&plain, text, strlen(text));
	for (const char *p = hodo_text_string(&plain); *p; p++) {
		if (strchr("&<>\"'", *p))
			hodo_text_printf(o, "&#%d;", *p);
		else
			hodo_text_char(o, *p);
	}
	o->error = o->error ? o->error : plain.error;
	hodo_text_free(&plain);
}

static int put_container(struct hodo_text *o, const char *id, struct hodo_json *header,
			 const struct hodo_view_table *tables, unsigned n)
{
	struct hodo_view_packer packer;
	int err;

	hodo_view_tables_json(header, tables, n);
	hodo_json_end(header);
	err = header->text->error;
	if (err)
		return err;
	hodo_text_printf(o, "<script type=\"text/plain\" id=\"%s\">", id);
	hodo_view_pack_start(&packer, o);
	hodo_view_container(&packer, header->text->data, header->text->len, tables, n);
	err = hodo_view_pack_end(&packer);
	hodo_text_add(o, "</script>\n");
	return err;
}

static int put_main(struct hodo_view_work *w, const uint32_t *shown)
{
	const struct hodo_view_rows *r = &w->rows;
	static const struct hodo_view_row none;
	const struct hodo_view_row *rows = r->n ? r->rows : &none;
	struct part s = { rows, shown[0], 0 }, i = { rows + shown[0], shown[1], 0 };
	struct part v = { rows + shown[0] + shown[1], shown[2], 0 };
	struct losses l = { w->losses, NULL, w->begin_ns };
	struct hodo_view_table tables[] = {
		{ "slices", s.n, &s, slices }, { "instants", i.n, &i, instants }, { "values", v.n, &v, values },
		{ "losses", w->nlosses, &l, losses },
		{ "aggregates", w->figures.map.n, w->figures.map.entries, aggregates },
		{ "buckets", 0, &w->figures, buckets },
	};
	bool whole = shown[0] == w->counts[0] && shown[1] == w->counts[1] && shown[2] == w->counts[2];
	unsigned n = whole ? 4 : 6;
	struct hodo_text text = { 0 };
	struct hodo_json header = { .text = &text, .form = HODO_JSON_SCRIPT };
	uint32_t *processes = reallocarray(NULL, w->nlosses + 1u, sizeof(*processes));
	struct hodo_map numbers = HODO_MAP(struct numbered, process);
	int err = processes ? number(&numbers, w->view->reader) : -ENOMEM;

	for (uint32_t k = 0; k < s.n; k++)
		i.first_text += r->rows[k].text != HODO_VIEW_NO_TEXT;
	for (uint32_t k = 0; k < w->figures.map.n; k++)
		tables[5].n += 8u * ((const struct hodo_view_figure *)hodo_map_at(&w->figures.map, k))->powers;
	if (!err) {
		for (uint32_t k = 0; k < w->nlosses; k++)
			processes[k] = (uint32_t)number_of(&numbers, w->losses[k].process);
		l.processes = processes;
		hodo_json_object(&header, NULL);
		put_header(&header, w, shown, &numbers);
		err = put_container(w->view->out, "hodo-main", &header, tables, n);
	}
	hodo_text_free(&text);
	hodo_map_free(&numbers);
	free(processes);
	return err;
}

static int put_texts(struct hodo_view_work *w)
{
	struct hodo_view_column columns[] = {
		{ "at", "u32", 4, text_at, 0 }, { "length", "u32", 4, text_length, 0 },
		{ "bytes", "u8", 1, text_bytes, 0 }, { 0 },
	};
	struct hodo_view_table table = { "text", 0, &w->rows, columns };
	struct hodo_text text = { 0 };
	struct hodo_json header = { .text = &text, .form = HODO_JSON_SCRIPT };
	int err;

	for (uint32_t i = 0; i < w->rows.n; i++) {
		const char *bytes;

		if (w->rows.rows[i].text == HODO_VIEW_NO_TEXT)
			continue;
		table.n++;
		columns[TEXT_BYTES].own_n += text_len(&w->rows, &w->rows.rows[i], &bytes);
	}
	hodo_json_object(&header, NULL);
	err = put_container(w->view->out, "hodo-text", &header, &table, 1);
	hodo_text_free(&text);
	return err;
}

int hodo_view_write_page(struct hodo_view_work *w)
{
	static const char title[] = "<!--hodo:title-->", data[] = "<!--hodo:data-->";
	struct hodo_text *o = w->view->out;
	uint32_t shown[HODO_VIEW_CLASSES] = { 0 };
	const char *page, *at, *then;
	size_t len;
	int err;

	page = hodo_view_page(&len);
	at = memmem(page, len, title, sizeof(title) - 1);
	then = memmem(page, len, data, sizeof(data) - 1);
	if (!at || !then || then < at)
		return -ENOSYS;
	for (uint32_t i = 0; i < w->rows.n; i++)
		shown[hodo_view_class(&w->rows.rows[i])]++;
	hodo_text_bytes(o, page, (size_t)(at - page));
	put_html(o, w->view->title);
	at += sizeof(title) - 1;
	hodo_text_bytes(o, at, (size_t)(then - at));
	err = put_main(w, shown);
	if (!err)
		err = put_texts(w);
	then += sizeof(data) - 1;
	hodo_text_bytes(o, then, len - (size_t)(then - page));
	return err ? err : o->error;
}
