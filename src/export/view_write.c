/* SPDX-License-Identifier: MIT */
/* view_write.c - puts what view.c took in into the page: docs/design/view.md. */
#define _GNU_SOURCE
#include "view_work.h"

#include "view_container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	for (uint32_t i = 0; i < f->n; i++) {
		for (uint32_t k = 0; k < 8u * f->all[i].powers; k++) {
			uint16_t place = (uint16_t)(8u * f->all[i].power + k);
			double n = (double)f->all[i].buckets[k];

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

/* Grows; for what a header is made of. */
struct memory {
	char *data;
	size_t len, room;
};

static int remember(void *data, const void *bytes, size_t len)
{
	struct memory *m = data;

	if (m->len + len > m->room) {
		size_t room = 2 * (m->len + len);
		char *more = realloc(m->data, room);

		if (!more)
			return -ENOMEM;
		m->data = more;
		m->room = room;
	}
	memcpy(m->data + m->len, bytes, len);
	m->len += len;
	return 0;
}

static void put_text(struct hodo_export_out *o, const char *key, const char *text)
{
	hodo_export_puts(o, key);
	hodo_export_put_json(o, text ? text : "", text ? strlen(text) : 0);
}

/* Processes by address, with their numbers. */
struct numbered {
	const struct hodo_read_process *process;
	uint32_t number;
};

static int by_address(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->process == y->process ? 0 : (uintptr_t)x->process < (uintptr_t)y->process ? -1 : 1;
}

static struct numbered *number(const struct hodo_read *reader, uint32_t *n)
{
	struct numbered *all;

	*n = hodo_read_nprocesses(reader);
	all = reallocarray(NULL, *n ? *n : 1, sizeof(*all));
	for (uint32_t i = 0; all && i < *n; i++)
		all[i] = (struct numbered){ hodo_read_process(reader, i), i };
	if (all)
		qsort(all, *n, sizeof(*all), by_address);
	return all;
}

static int64_t number_of(const struct numbered *all, uint32_t n, const struct hodo_read_process *process)
{
	struct numbered key = { .process = process }, *found = bsearch(&key, all, n, sizeof(*all), by_address);

	return found ? (int64_t)found->number : -1;
}

static void put_processes(struct hodo_export_out *o, const struct hodo_read *reader)
{
	hodo_export_puts(o, ",\"processes\":[");
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);

		hodo_export_printf(o, "%s{\"pid\":%u", i ? "," : "", p->pid);
		put_text(o, ",\"comm\":", p->comm);
		put_text(o, ",\"exe\":", p->exe);
		hodo_export_printf(o, ",\"kernel\":%s}", p->kernel ? "true" : "false");
	}
	hodo_export_puts(o, "]");
}

static void put_tracks(struct hodo_export_out *o, const struct hodo_view_work *w, const struct numbered *numbers,
		       uint32_t nnumbers)
{
	static const char *const kinds[] = { "thread", "async", "counter", "cpu" };

	hodo_export_puts(o, ",\"tracks\":[");
	for (uint32_t i = 0; i < w->rows.ntracks; i++) {
		const struct hodo_view_track *t = &w->tracks[i];
		const bool *thin = w->rows.shares[i].thin;

		hodo_export_printf(o, "%s{\"kind\":\"%s\",\"process\":%lld,\"pid\":%u,\"tid\":%u,\"cpu\":%d,"
				   "\"name\":%u,\"depth\":%u,\"coarse\":%s}", i ? "," : "", kinds[t->track->kind],
				   (long long)number_of(numbers, nnumbers, t->track->process), t->track->pid,
				   t->track->tid, t->track->cpu, t->name, t->depth,
				   thin[0] || thin[1] || thin[2] ? "true" : "false");
	}
	hodo_export_puts(o, "]");
}

static void put_warnings(struct hodo_export_out *o, const struct hodo_view_work *w)
{
	const struct hodo_view *v = w->view;
	uint32_t n = 0;
	const char *const *told = v->warnings ? v->warnings(v->warnings_data, &n) : NULL;
	bool first = true;

	hodo_export_puts(o, ",\"warnings\":[");
	for (uint32_t i = 0; i < n; i++, first = false)
		put_text(o, first ? "" : ",", told[i]);
	for (uint32_t i = 0; i < hodo_read_nprocesses(v->reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(v->reader, i);

		for (uint32_t k = 0; k < p->nwarnings; k++, first = false)
			put_text(o, first ? "" : ",", p->warnings[k]);
	}
	if (w->figures.beyond)
		hodo_export_printf(o, "%s\"%llu slices have names that are too many: they are in no figure but the total\"",
				   first ? "" : ",", (unsigned long long)w->figures.beyond);
	hodo_export_puts(o, "]");
}

static void put_totals(struct hodo_export_out *o, const struct hodo_view_work *w, const uint32_t *shown)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < w->losses.n; i++)
		lost += w->losses.all[i].count;
	hodo_export_printf(o, ",\"totals\":{\"events\":%llu,\"slices\":%llu,\"instants\":%llu,\"values\":%llu,"
			   "\"shown_slices\":%u,\"shown_instants\":%u,\"shown_values\":%u,\"lost\":%llu}",
			   (unsigned long long)w->events, (unsigned long long)w->counts[HODO_VIEW_SLICES],
			   (unsigned long long)w->counts[HODO_VIEW_INSTANTS],
			   (unsigned long long)w->counts[HODO_VIEW_VALUES], shown[0], shown[1], shown[2],
			   (unsigned long long)lost);
}

static void put_header(struct hodo_export_out *o, const struct hodo_view_work *w, const uint32_t *shown,
		       const struct numbered *numbers, uint32_t nnumbers)
{
	const struct hodo_view *v = w->view;
	int64_t end_ns = w->last_ns;

	for (uint32_t i = 0; i < w->losses.n; i++)
		end_ns = w->losses.all[i].until_ns > end_ns ? w->losses.all[i].until_ns : end_ns;
	put_text(o, "{\"title\":", v->title);
	put_text(o, ",\"dir\":", v->dir);
	hodo_export_printf(o, ",\"begin_ns\":\"%lld\",\"duration_ns\":%.0f", (long long)w->begin_ns,
			   since(end_ns, w->begin_ns));
	put_text(o, ",\"hodo\":", v->version);
	put_warnings(o, w);
	hodo_export_puts(o, ",\"strings\":[");
	for (uint32_t i = 0; i < w->names.n; i++)
		put_text(o, i ? "," : "", w->names.text[i]);
	hodo_export_puts(o, "]");
	put_processes(o, v->reader);
	put_tracks(o, w, numbers, nnumbers);
	put_totals(o, w, shown);
	hodo_export_puts(o, ",");
}

/* -------------------------------------------------------------------------- page */

/* As content of an element that has no elements. */
static int put_html(struct hodo_export_out *o, const char *text)
{
	struct hodo_read_text *plain = hodo_read_text_new();
	const char *data;
	size_t len;

	if (!plain || hodo_read_text_plain(plain, text, strlen(text)) < 0) {
		hodo_read_text_free(plain);
		return -ENOMEM;
	}
	data = hodo_read_text_data(plain, &len);
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '&' || data[i] == '<' || data[i] == '>' || data[i] == '"' || data[i] == '\'')
			hodo_export_printf(o, "&#%d;", data[i]);
		else
			hodo_export_put(o, data + i, 1);
	}
	hodo_read_text_free(plain);
	return 0;
}

static int put_container(struct hodo_export_out *o, const char *id, const char *json, size_t len,
			 const struct hodo_view_table *tables, unsigned n)
{
	struct hodo_view_packer packer;
	int err;

	hodo_export_printf(o, "<script type=\"text/plain\" id=\"%s\">", id);
	err = hodo_view_pack_start(&packer, o);
	if (!err)
		hodo_view_container(&packer, json, len, tables, n);
	err = hodo_view_pack_end(&packer);
	hodo_export_puts(o, "</script>\n");
	return err;
}

static int put_main(struct hodo_view_work *w, const uint32_t *shown)
{
	const struct hodo_view_rows *r = &w->rows;
	static const struct hodo_view_row none;
	const struct hodo_view_row *rows = r->n ? r->rows : &none;
	struct part s = { rows, shown[0], 0 }, i = { rows + shown[0], shown[1], 0 };
	struct part v = { rows + shown[0] + shown[1], shown[2], 0 };
	struct losses l = { w->losses.all, NULL, w->begin_ns };
	struct hodo_view_table tables[] = {
		{ "slices", s.n, &s, slices }, { "instants", i.n, &i, instants }, { "values", v.n, &v, values },
		{ "losses", w->losses.n, &l, losses }, { "aggregates", w->figures.n, w->figures.all, aggregates },
		{ "buckets", 0, &w->figures, buckets },
	};
	bool whole = shown[0] == w->counts[0] && shown[1] == w->counts[1] && shown[2] == w->counts[2];
	unsigned n = whole ? 4 : 6;
	struct memory m = { 0 };
	struct hodo_export_out header;
	uint32_t nnumbers, *processes = reallocarray(NULL, w->losses.n + 1u, sizeof(*processes));
	struct numbered *numbers = number(w->view->reader, &nnumbers);
	int err = -ENOMEM;

	for (uint32_t k = 0; k < s.n; k++)
		i.first_text += r->rows[k].text != HODO_VIEW_NO_TEXT;
	for (uint32_t k = 0; k < w->figures.n; k++)
		tables[5].n += 8u * w->figures.all[k].powers;
	hodo_export_out_init(&header, remember, &m);
	if (processes && numbers) {
		for (uint32_t k = 0; k < w->losses.n; k++)
			processes[k] = (uint32_t)number_of(numbers, nnumbers, w->losses.all[k].process);
		l.processes = processes;
		put_header(&header, w, shown, numbers, nnumbers);
		hodo_view_tables_json(&header, tables, n);
		hodo_export_puts(&header, "}");
		err = hodo_export_flush(&header);
	}
	if (!err)
		err = put_container(w->view->out, "hodo-main", m.data, m.len, tables, n);
	hodo_export_out_free(&header);
	free(m.data);
	free(numbers);
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
	struct memory m = { 0 };
	struct hodo_export_out header;
	int err;

	for (uint32_t i = 0; i < w->rows.n; i++) {
		const char *text;

		if (w->rows.rows[i].text == HODO_VIEW_NO_TEXT)
			continue;
		table.n++;
		columns[TEXT_BYTES].own_n += text_len(&w->rows, &w->rows.rows[i], &text);
	}
	hodo_export_out_init(&header, remember, &m);
	hodo_export_puts(&header, "{");
	hodo_view_tables_json(&header, &table, 1);
	hodo_export_puts(&header, "}");
	err = hodo_export_flush(&header);
	if (!err)
		err = put_container(w->view->out, "hodo-text", m.data, m.len, &table, 1);
	hodo_export_out_free(&header);
	free(m.data);
	return err;
}

int hodo_view_write_page(struct hodo_view_work *w)
{
	static const char title[] = "<!--hodo:title-->", data[] = "<!--hodo:data-->";
	struct hodo_export_out *o = w->view->out;
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
	hodo_export_put(o, page, (size_t)(at - page));
	err = put_html(o, w->view->title);
	at += sizeof(title) - 1;
	hodo_export_put(o, at, (size_t)(then - at));
	if (!err)
		err = put_main(w, shown);
	if (!err)
		err = put_texts(w);
	then += sizeof(data) - 1;
	hodo_export_put(o, then, len - (size_t)(then - page));
	return err ? err : o->error;
}
