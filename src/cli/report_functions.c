/* SPDX-License-Identifier: MIT */
/* report_functions.c - the table of functions, the whole report, and what differs from another recording's. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------------------ columns */

static struct hodo_cell avg(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = hodo_cell_f64(report_avg_ns(row));

	v.blank = !((const struct report_row *)row)->ended;
	return v;
}

/* The member at the offset, of the calls that ended. */
static struct hodo_cell time_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct report_row *r = row;
	struct hodo_cell v = hodo_cell_u64(*(const uint64_t *)((const char *)row + c->offset));

	v.blank = !r->ended;
	if (!r->ended && c->offset == offsetof(struct report_row, min_ns))
		v.u = 0;
	return v;
}

/* argument: the quantile. */
static struct hodo_cell time_at(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = hodo_cell_u64(report_time_at(row, c->argument));

	v.blank = !((const struct report_row *)row)->ended;
	return v;
}

static void put_left_and_open(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct report_row *r = row;
	char buf[32];

	if (r->left)
		hodo_text_printf(to, "(%s left)", hodo_grouped(r->left, buf));
	if (r->open)
		hodo_text_printf(to, "%s(%s open)", r->left ? " " : "", hodo_grouped(r->open, buf));
}

static void put_found(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	hodo_json_bool(j, key, true);
}

static int bars_of(const struct report_row *row, struct report_bar bars[REPORT_BARS_MAX])
{
	return report_bars_times(&row->times, bars, REPORT_BARS_MAX);
}

static void put_histogram_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	struct report_bar bars[REPORT_BARS_MAX];

	if (report_histogram_wanted(t->context, ((const struct report_row *)row)->name))
		report_bars_put_json(j, key, bars, bars_of(row, bars));
}

#define ROW(name) HODO_MEMBER(struct report_row, name)
static const struct hodo_column columns[] = {
	{ "function", .flags = HODO_IDENTITY, ROW(name), .also = "name" },
	{ "object", .flags = HODO_NO_DIFF, ROW(object) },
	{ "found", .as = HODO_AS_JSON, .flags = HODO_DIFF_ONLY, .put_json = put_found },
	{ "calls", .as = HODO_AS_COUNT, .width = 12, ROW(calls), .also = "count" },
	{ "left", .as = HODO_AS_COUNT, ROW(left) },
	{ "open", .as = HODO_AS_COUNT, ROW(open) },
	{ "no_exit", .as = HODO_AS_COUNT, ROW(no_exit) },
	{ "total_ns", .as = HODO_AS_TIME, .width = 10, ROW(total_ns), .get = time_of },
	{ "self_ns", .as = HODO_AS_TIME, .width = 10, ROW(self_ns), .get = time_of },
	{ "avg_ns", .as = HODO_AS_AVERAGE, .width = 10, .get = avg },
	{ "min_ns", .as = HODO_AS_TIME, .width = 10, ROW(min_ns), .get = time_of },
	{ "p50_ns", .as = HODO_AS_TIME, .width = 10, .get = time_at, .argument = 0.5 },
	{ "p99_ns", .as = HODO_AS_TIME, .width = 10, .get = time_at, .argument = 0.99 },
	{ "max_ns", .as = HODO_AS_TIME, .width = 10, ROW(max_ns), .get = time_of },
	{ "unfinished", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_left_and_open },
	{ "histogram", .as = HODO_AS_JSON, .flags = HODO_NO_DIFF, .put_json = put_histogram_json },
};
const struct hodo_columns report_function_columns = {
	"functions", HODO_COLUMNS(columns), .sort = "total", .diff = "total,self,avg,calls",
	.text = "calls,total,self,avg,min,p50,p99,max,function,unfinished",
};

/* ------------------------------------------------------------------------- report */

static void put_text(struct hodo_text *to, const struct report *rep, const struct hodo_table *t,
		     const struct report_look *look)
{
	struct report_bar bars[REPORT_BARS_MAX];
	char a[32];

	if (t->n)
		hodo_table_put(to, t, look->table.color);
	if (rep->totals.orphans)
		hodo_text_printf(to, "exits of calls that are not in the recording: %s\n",
				 hodo_grouped(rep->totals.orphans, a));
	for (size_t i = 0; i < t->n - t->hidden; i++) {
		const struct report_row *row = hodo_table_row(t, i);
		int n = row->ended && report_histogram_wanted(look, row->name) ? bars_of(row, bars) : 0;

		if (n <= 0)
			continue;
		hodo_text_char(to, '\n');
		hodo_add_plain(to, row->name);
		hodo_text_add(to, ":\n");
		report_bars_put(to, bars, n, true);
	}
	report_put_lists(to, rep);
}

static int put_json(struct hodo_text *to, const struct report *rep, const struct hodo_table *t,
		    const struct report_look *look)
{
	struct hodo_read_lost lost = hodo_read_lost(rep->r, NULL);
	struct hodo_json j = { .text = to };
	int err;

	hodo_json_object(&j, NULL);
	hodo_json_u64(&j, "version", 1);
	hodo_table_put_json(&j, "functions", t);
	hodo_json_u64(&j, "calls", rep->totals.calls);
	hodo_json_u64(&j, "returned", rep->totals.returned);
	hodo_json_u64(&j, "left", rep->totals.left);
	hodo_json_u64(&j, "open", rep->totals.open);
	hodo_json_u64(&j, "orphans", rep->totals.orphans);
	hodo_json_u64(&j, "lost", hodo_lost_all(&lost));
	report_put_lists_json(&j, rep);
	err = report_put_sections_json(&j, &rep->events, look);
	hodo_json_end(&j);
	hodo_text_char(to, '\n');
	return err;
}

static bool has_functions(const struct report *rep)
{
	return rep->rows.n || rep->nstacks || rep->nheld || rep->nwrong || rep->totals.orphans;
}

bool report_empty(const struct report *rep)
{
	return !has_functions(rep) && !rep->events.rows.n;
}

int report_put(struct hodo_text *to, const struct report *rep, const struct report_look *look)
{
	struct hodo_table t = { .columns = &report_function_columns, .context = look, .first = rep->rows.entries,
				.n = rep->rows.n, .stride = sizeof(struct report_row) };
	int err = hodo_table_arrange(&t, &look->table);

	if (!err && look->table.json) {
		err = put_json(to, rep, &t, look);
	} else if (!err) {
		put_text(to, rep, &t, look);
		err = report_put_sections(to, &rep->events, look, !has_functions(rep));
	}
	hodo_table_free(&t);
	return err;
}

/* --------------------------------------------------------------------------- diff */

/* All functions of a name. */
struct merged {
	struct hodo_bytes name;
	struct report_row row;
};

/* Functions of one name as one, whatever object they are of: another build is another object. */
static int merge_names(struct hodo_table *t, struct hodo_map *to, const struct report *from)
{
	for (uint32_t i = 0; i < from->rows.n; i++) {
		const struct report_row *r = hodo_map_at(&from->rows, i);
		bool is_new;
		struct merged *m = hodo_map_add_bytes(to, r->name, strlen(r->name), &is_new);
		struct report_row *row = m ? &m->row : NULL;

		if (!m)
			return -ENOMEM;
		if (is_new)
			*row = (struct report_row){ .name = r->name, .object = r->object, .min_ns = UINT64_MAX };
		if (!hodo_histogram_merge(&row->times, &r->times))
			return -ENOMEM;
		row->calls += r->calls;
		row->left += r->left;
		row->open += r->open;
		row->no_exit += r->no_exit;
		row->ended += r->ended;
		row->total_ns += r->total_ns;
		row->sum_ns += r->sum_ns;
		row->self_ns += r->self_ns;
		row->min_ns = r->min_ns < row->min_ns ? r->min_ns : row->min_ns;
		row->max_ns = r->max_ns > row->max_ns ? r->max_ns : row->max_ns;
	}
	*t = (struct hodo_table){ .columns = &report_function_columns, .n = to->n, .stride = to->entry_bytes,
				  .first = (const char *)to->entries + offsetof(struct merged, row) };
	return 0;
}

static void free_names(struct hodo_map *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		hodo_histogram_free(&((struct merged *)hodo_map_at(names, i))->row.times);
	hodo_map_free(names);
}

int report_put_diff(struct hodo_text *to, const struct report *rep, const struct report *other,
		    const struct report_look *look)
{
	struct hodo_map before = HODO_MAP_BYTES(struct merged), after = HODO_MAP_BYTES(struct merged);
	struct hodo_json j = { .text = to };
	struct hodo_table a, b;
	int err = merge_names(&a, &before, rep);
	long n = err ? err : merge_names(&b, &after, other);

	if (look->table.json) {
		hodo_json_object(&j, NULL);
		hodo_json_u64(&j, "version", 1);
	}
	if (n == 0)
		n = hodo_table_diff(to, &j, "functions", &a, &b, &look->table, NULL);
	if (n >= 0)
		err = report_put_sections_diff(to, &j, &rep->events, &other->events, look, n == 0);
	if (look->table.json) {
		hodo_json_end(&j);
		hodo_text_char(to, '\n');
	}
	free_names(&before);
	free_names(&after);
	return n < 0 ? (int)n : err;
}
