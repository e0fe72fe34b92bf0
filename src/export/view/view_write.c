/* SPDX-License-Identifier: MIT */
/* view_write.c - writes what view.c has read into the page: docs/design/view.md. */
#define _GNU_SOURCE
#include <export/hosts.h>
#include "view.h"
#include "view_work.h"

#include "view_container.h"

#include <base/vec.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char hodo_view_template[], hodo_view_template_end[];

const char *hodo_view_page(size_t *len)
{
	*len = (size_t)(hodo_view_template_end - hodo_view_template);
	return hodo_view_template;
}

/* What of the recording the page has. */
struct page {
	struct hodo_view_work *w;
	uint32_t shown[HODO_VIEW_CLASSES];
	struct hodo_map numbers; /* of processes */
	struct omitted *omitted; /* by track and time */
	uint32_t nomitted;
};

/* A stretch of a track and how many of its slices and instants are not in the page. */
struct omitted {
	uint32_t track, count;
	double begin, end; /* from the page's time 0 */
};

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

static int64_t number_of(const struct page *page, const struct hodo_read_process *process)
{
	const struct numbered *n = hodo_map_find_u64(&page->numbers, (uintptr_t)process);

	return n ? (int64_t)n->number : -1;
}

static double since(int64_t ns, int64_t begin_ns)
{
	return (double)ns - (double)begin_ns < 9e15 ? (double)(int64_t)((uint64_t)ns - (uint64_t)begin_ns) : 9e15;
}

static void put_processes(struct hodo_json *j, const struct hodo_read *reader)
{
	hodo_json_array(j, "processes");
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);
		char name[160];

		hodo_json_object(j, NULL);
		hodo_json_u64(j, "pid", p->pid);
		hodo_json_string(j, "comm", hodo_name_apart(reader, p, p->comm ? p->comm : "", name));
		hodo_json_string(j, "exe", p->exe ? p->exe : "");
		hodo_json_bool(j, "kernel", p->kernel);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_tracks(struct hodo_json *j, const struct page *page)
{
	const struct hodo_view_work *w = page->w;
	static const char *const kinds[] = { "thread", "async", "counter", "cpu" };

	hodo_json_array(j, "tracks");
	for (uint32_t i = 0; i < w->rows.ntracks; i++) {
		const struct hodo_view_track *t = &w->tracks[i];
		const bool *thin = w->rows.shares[i].thin;

		hodo_json_object(j, NULL);
		hodo_json_string(j, "kind", kinds[t->track->kind]);
		hodo_json_i64(j, "process", number_of(page, t->track->process));
		hodo_json_u64(j, "pid", t->track->pid);
		hodo_json_u64(j, "tid", t->track->process ? hodo_number_apart(t->track->process, t->track->tid) : 0);
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
	const struct hodo_view_input *v = w->view;
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
		snprintf(text, sizeof(text), "%llu slices are counted only in the total: there are too many different names",
			 (unsigned long long)w->figures.beyond);
		hodo_json_string(j, NULL, text);
	}
	hodo_json_end(j);
}

static void put_totals(struct hodo_json *j, const struct page *page)
{
	const struct hodo_view_work *w = page->w;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < w->nlosses; i++)
		lost += w->losses[i].count;
	hodo_json_object(j, "totals");
	hodo_json_u64(j, "events", w->events);
	hodo_json_u64(j, "slices", w->counts[HODO_VIEW_SLICES]);
	hodo_json_u64(j, "instants", w->counts[HODO_VIEW_INSTANTS]);
	hodo_json_u64(j, "values", w->counts[HODO_VIEW_VALUES]);
	hodo_json_u64(j, "shown_slices", page->shown[0]);
	hodo_json_u64(j, "shown_instants", page->shown[1]);
	hodo_json_u64(j, "shown_values", page->shown[2]);
	hodo_json_u64(j, "waits", w->counts[HODO_VIEW_WAITS]);
	hodo_json_u64(j, "shown_waits", page->shown[HODO_VIEW_WAITS]);
	hodo_json_u64(j, "lost", lost);
	hodo_json_end(j);
}

static void put_header(struct hodo_json *j, void *data)
{
	const struct page *page = data;
	const struct hodo_view_work *w = page->w;
	const struct hodo_view_input *v = w->view;
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
	put_tracks(j, page);
	put_totals(j, page);
}

/* ------------------------------------------------------------------------ tables */

/* text: the number of the first row's text; slices are numbered first, then instants. */
static void put_rows(struct hodo_view_container *c, const struct hodo_view_row *r, uint32_t n,
		     enum hodo_view_class class, int32_t text)
{
	static const char *const names[] = { "slices", "instants", "values" };
	bool slices = class == HODO_VIEW_SLICES;

	hodo_view_table(c, names[class], n);
	HODO_VIEW_COLUMN(c, "track", u32, n, r[i].track);
	if (class != HODO_VIEW_VALUES)
		HODO_VIEW_COLUMN(c, "name", u32, n, r[i].name);
	if (slices) {
		HODO_VIEW_COLUMN(c, "kind", u8, n, r[i].kind);
		HODO_VIEW_COLUMN(c, "flags", u8, n, r[i].flags);
		HODO_VIEW_COLUMN(c, "depth", u16, n, r[i].depth);
	}
	HODO_VIEW_COLUMN(c, slices ? "begin" : "time", f64, n, r[i].begin);
	if (slices) {
		HODO_VIEW_COLUMN(c, "duration", f64, n, r[i].duration);
		HODO_VIEW_COLUMN(c, "self", f64, n, r[i].kind == HODO_SLICE_ASYNC ? r[i].duration : r[i].self);
	}
	if (class == HODO_VIEW_VALUES)
		HODO_VIEW_COLUMN(c, "value", f64, n, r[i].value);
	else
		HODO_VIEW_COLUMN(c, "text", i32, n, r[i].text == HODO_VIEW_NO_TEXT ? -1 : text++);
	if (slices)
		HODO_VIEW_COLUMN(c, "id", f64, n, r[i].id);
	hodo_view_table_end(c);
}

static void put_waits(struct hodo_view_container *c, const struct hodo_view_row *r, uint32_t n)
{
	if (n == 0)
		return;
	hodo_view_table(c, "waits", n);
	HODO_VIEW_COLUMN(c, "thread", u32, n, r[i].id);
	HODO_VIEW_COLUMN(c, "waker", u32, n, r[i].id >> 32);
	HODO_VIEW_COLUMN(c, "cpu", u32, n, r[i].track);
	HODO_VIEW_COLUMN(c, "why", u8, n, r[i].flags);
	HODO_VIEW_COLUMN(c, "begin", f64, n, r[i].begin);
	HODO_VIEW_COLUMN(c, "woken", f64, n, r[i].woken == HODO_VIEW_NEVER ? (double)NAN : (double)r[i].woken);
	HODO_VIEW_COLUMN(c, "duration", f64, n, r[i].duration);
	hodo_view_table_end(c);
}

/* A column of rows of slices that lead from thread to thread: of which slice, from and to which track. */
static void put_flow_column(struct hodo_view_container *c, const struct hodo_view_row *r, uint32_t slices, uint32_t n,
			    const char *name)
{
	if (!hodo_view_column(c, name, "u32", 4, n))
		return;
	for (uint32_t i = 0; i < slices; i++)
		if (r[i].kind == HODO_SLICE_ASYNC && r[i].from != HODO_VIEW_NO_TRACK)
			hodo_view_put_value(c, *name == 's' ? &i : *name == 'f' ? &r[i].from : &r[i].to, sizeof(i));
}

static void put_flows(struct hodo_view_container *c, const struct hodo_view_row *r, uint32_t slices)
{
	static const char *const columns[] = { "slice", "from", "to" };
	uint32_t n = 0;

	for (uint32_t i = 0; i < slices; i++)
		n += r[i].kind == HODO_SLICE_ASYNC && r[i].from != HODO_VIEW_NO_TRACK;
	if (n == 0)
		return;
	hodo_view_table(c, "flows", n);
	for (unsigned k = 0; k < 3; k++)
		put_flow_column(c, r, slices, n, columns[k]);
	hodo_view_table_end(c);
}

/* The text of row i; NULL: it has none. */
static uint32_t text_of(const struct hodo_view_rows *rows, uint32_t i, const char **text)
{
	uint32_t place = rows->rows[i].text, len = 0;
	const char *at = place == HODO_VIEW_NO_TEXT ? NULL : rows->texts.data + 4 * (size_t)place;

	if (at)
		memcpy(&len, at, sizeof(len));
	*text = at ? at + sizeof(len) : NULL;
	return len;
}

static void put_losses(struct hodo_view_container *c, const struct page *page)
{
	const struct hodo_view_loss *l = page->w->losses;
	uint32_t n = page->w->nlosses;

	hodo_view_table(c, "losses", n);
	HODO_VIEW_COLUMN(c, "process", u32, n, number_of(page, l[i].process));
	HODO_VIEW_COLUMN(c, "cpu", i32, n, l[i].stream->cpu);
	HODO_VIEW_COLUMN(c, "begin", f64, n, since(l[i].from_ns, page->w->begin_ns));
	HODO_VIEW_COLUMN(c, "end", f64, n, since(l[i].until_ns, page->w->begin_ns));
	HODO_VIEW_COLUMN(c, "count", f64, n, l[i].count);
	HODO_VIEW_COLUMN(c, "cause", u32, n, l[i].cause);
	hodo_view_table_end(c);
}

static void each_bucket(struct hodo_view_container *c, const struct hodo_view_figure *f, uint32_t n, bool place)
{
	for (; n > 0; n--, f++) {
		for (uint32_t k = 0; k < 8u * f->powers; k++) {
			uint16_t at = (uint16_t)(8u * f->power + k);
			double count = (double)f->buckets[k];

			hodo_view_put_value(c, place ? (const void *)&at : &count, place ? sizeof(at) : sizeof(count));
		}
	}
}

/* Only if not all slices are shown; then the buckets of all figures, one after the other. */
static void put_figures(struct hodo_view_container *c, const struct hodo_map *figures)
{
	const struct hodo_view_figure *f = figures->entries;
	uint32_t n = figures->n, buckets = 0, next = 0;

	for (uint32_t i = 0; i < n; i++)
		buckets += 8u * f[i].powers;
	hodo_view_table(c, "aggregates", n);
	HODO_VIEW_COLUMN(c, "name", u32, n, f[i].name);
	HODO_VIEW_COLUMN(c, "track", u32, n, f[i].track);
	HODO_VIEW_COLUMN(c, "count", f64, n, f[i].count);
	HODO_VIEW_COLUMN(c, "total", f64, n, f[i].total);
	HODO_VIEW_COLUMN(c, "self", f64, n, f[i].self);
	HODO_VIEW_COLUMN(c, "min", f64, n, f[i].min);
	HODO_VIEW_COLUMN(c, "max", f64, n, f[i].max);
	HODO_VIEW_COLUMN(c, "histogram", u32, n, (next += 8u * f[i].powers) - 8u * f[i].powers);
	HODO_VIEW_COLUMN(c, "buckets", u32, n, 8u * f[i].powers);
	hodo_view_table_end(c);
	hodo_view_table(c, "buckets", buckets);
	if (hodo_view_column(c, "log2x8", "u16", 2, buckets))
		each_bucket(c, f, n, true);
	if (hodo_view_column(c, "count", "f64", 8, buckets))
		each_bucket(c, f, n, false);
	hodo_view_table_end(c);
}

static void put_omitted(struct hodo_view_container *c, const struct page *page)
{
	const struct omitted *o = page->omitted;
	uint32_t n = page->nomitted;

	hodo_view_table(c, "omitted", n);
	HODO_VIEW_COLUMN(c, "track", u32, n, o[i].track);
	HODO_VIEW_COLUMN(c, "begin", f64, n, o[i].begin);
	HODO_VIEW_COLUMN(c, "end", f64, n, o[i].end);
	HODO_VIEW_COLUMN(c, "count", f64, n, o[i].count);
	hodo_view_table_end(c);
}

static void put_tables(struct hodo_view_container *c, void *data)
{
	const struct page *page = data;
	const struct hodo_view_work *w = page->w;
	static const struct hodo_view_row none;
	const struct hodo_view_row *row = w->rows.n ? w->rows.rows : &none;
	int32_t texts = 0;
	bool whole = true;

	for (uint32_t i = 0; i < page->shown[0]; i++)
		texts += row[i].text != HODO_VIEW_NO_TEXT;
	for (unsigned k = 0; k < HODO_VIEW_CLASSES; k++) {
		if (k == HODO_VIEW_WAITS)
			put_waits(c, row, page->shown[k]);
		else
			put_rows(c, row, page->shown[k], (enum hodo_view_class)k, k ? texts : 0);
		row += page->shown[k];
		whole &= page->shown[k] == w->counts[k];
	}
	put_losses(c, page);
	put_flows(c, w->rows.n ? w->rows.rows : &none, page->shown[0]);
	hodo_view_links_put(c, &w->links);
	if (whole)
		return;
	put_figures(c, &w->figures.map);
	put_omitted(c, page);
}

static void put_nothing(struct hodo_json *j, void *data)
{
}

/* In the order of their rows. */
static void put_texts(struct hodo_view_container *c, void *data)
{
	const struct hodo_view_rows *rows = data;
	uint32_t n = 0, at = 0, len;
	const char *text;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		n += rows->rows[i].text != HODO_VIEW_NO_TEXT;
		bytes += text_of(rows, i, &text);
	}
	hodo_view_table(c, "text", n);
	for (unsigned column = 0; column < 2; column++) {
		if (!hodo_view_column(c, column ? "length" : "at", "u32", 4, n))
			continue;
		for (uint32_t i = 0; i < rows->n; i++) {
			len = text_of(rows, i, &text);
			if (text)
				hodo_view_put_value(c, column ? &len : &at, sizeof(len));
			at += len;
		}
	}
	if (hodo_view_column(c, "bytes", "u8", 1, bytes)) {
		for (uint32_t i = 0; i < rows->n; i++) {
			len = text_of(rows, i, &text);
			hodo_view_put(c, text, len);
		}
	}
	hodo_view_table_end(c);
}

/* -------------------------------------------------------------------------- page */

static int list_omitted(struct page *page)
{
	const struct hodo_view_rows *rows = &page->w->rows;
	double duration = since(page->w->last_ns, page->w->begin_ns);

	for (uint32_t i = 0; i < rows->ntracks; i++) {
		const struct hodo_view_omitted *o = &rows->shares[i].omitted;

		for (uint32_t k = 0; o->counts && k < o->cells; k++) {
			struct omitted *added = o->counts[k] ? hodo_vec_add(page->omitted, page->nomitted) : NULL;

			if (o->counts[k] && !added)
				return -ENOMEM;
			if (added)
				*added = (struct omitted){ i, o->counts[k], ldexp(k, o->shift),
							   fmin(ldexp(k + 1, o->shift), duration) };
		}
	}
	return 0;
}

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

/* Where a placeholder is in the template; 0: missing. */
static size_t place_of(const char *what, size_t *len, const char **template)
{
	const char *at;

	*template = hodo_view_page(len);
	at = memmem(*template, *len, what, strlen(what));
	return at ? (size_t)(at - *template) : 0;
}

#define TITLE "<!--hodo:title-->"
#define DATA  "<!--hodo:data-->"

int hodo_view_write_head(struct hodo_text *o, const char *title)
{
	const char *template;
	size_t len, at = place_of(TITLE, &len, &template), then = place_of(DATA, &len, &template);

	if (!at || then < at)
		return -ENOSYS;
	hodo_text_bytes(o, template, at);
	put_html(o, title);
	at += strlen(TITLE);
	hodo_text_bytes(o, template + at, then - at);
	return o->error;
}

int hodo_view_write_data(struct hodo_view_work *w, bool after)
{
	struct page page = { .w = w, .numbers = HODO_MAP(struct numbered, process) };
	struct hodo_text *o = w->view->out;
	int err;

	for (uint32_t i = 0; i < w->rows.n; i++)
		page.shown[hodo_view_class(&w->rows.rows[i])]++;
	err = number(&page.numbers, w->view->reader);
	if (!err)
		err = list_omitted(&page);
	if (!err)
		err = hodo_view_container(o, after ? "hodo-after" : "hodo-main", put_header, put_tables, &page);
	if (!err)
		err = hodo_view_container(o, after ? "hodo-after-text" : "hodo-text", put_nothing, put_texts, &w->rows);
	hodo_map_free(&page.numbers);
	free(page.omitted);
	return err ? err : o->error;
}

int hodo_view_write_tail(struct hodo_text *o)
{
	const char *template;
	size_t len, at = place_of(DATA, &len, &template) + strlen(DATA);

	hodo_text_bytes(o, template + at, len - at);
	return o->error;
}
