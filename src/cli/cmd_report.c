/* SPDX-License-Identifier: MIT */
/* cmd_report.c - hodo report. */
#define _GNU_SOURCE
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: hodo report [options] [DIR]\n\n"
	"For each function in a recording (hodo.data): calls, time in all, time of its own,\n"
	"average and distribution. Then what the tracers stack, loop, thread and latency\n"
	"found, if they were at work.\n\n"
	"  --sort KEY         total (the default), self, calls, avg, p50, p99, max, min or name\n"
	"  --limit N, -n N    the first N functions only\n"
	"  --thread TID|COMM  of this thread, or of threads whose name matches a glob\n"
	"  --diff DIR         what is different in that recording: times and calls here and there\n"
	"  --json             one JSON object\n"
	"  -q, --quiet        no warnings, no word about lost events\n"
	"  -h, --help\n";

enum { OPT_SORT = HODO_OPT_VERB, OPT_THREAD, OPT_DIFF };
enum sort { SORT_TOTAL, SORT_SELF, SORT_CALLS, SORT_AVG, SORT_P50, SORT_P99, SORT_MAX, SORT_MIN, SORT_NAME };
static const char *const sorts[] = { "total", "self", "calls", "avg", "p50", "p99", "max", "min", "name" };

struct args {
	const char *dir, *thread, *diff;
	uint64_t limit;
	enum sort sort;
	bool json, quiet;
};

static int parse_sort(const char *text, enum sort *sort)
{
	for (unsigned i = 0; i < sizeof(sorts) / sizeof(*sorts); i++) {
		if (strcmp(text, sorts[i]) == 0) {
			*sort = (enum sort)i;
			return 0;
		}
	}
	return -1;
}

static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "limit", required_argument, NULL, 'n' },
		{ "thread", required_argument, NULL, OPT_THREAD },
		{ "diff", required_argument, NULL, OPT_DIFF },
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":n:qh", options, help)) != -1) {
		switch (c) {
		case OPT_SORT:
			if (parse_sort(optarg, &a->sort) < 0)
				return hodo_usage(argv[0], "--sort is total, self, calls, avg, p50, p99, max, min or "
						  "name, not '%s'", optarg);
			break;
		case 'n':
			if (hodo_parse_number(optarg, UINT64_MAX, &a->limit) < 0)
				return hodo_usage(argv[0], "'%s' is no number of functions", optarg);
			break;
		case OPT_THREAD:
			a->thread = optarg;
			break;
		case OPT_DIFF:
			a->diff = optarg;
			break;
		case HODO_OPT_JSON:
			a->json = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			return 0;
		default:
			return HODO_EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording, and another with --diff, not '%s' too", argv[optind + 1]);
	a->dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	return -1;
}

/* ------------------------------------------------------------------------ order */

static double key_of(const struct report_row *row, enum sort sort)
{
	switch (sort) {
	case SORT_SELF:
		return (double)row->self_ns;
	case SORT_CALLS:
		return (double)row->calls;
	case SORT_AVG:
		return report_avg_ns(row);
	case SORT_P50:
		return (double)report_time_at(row, 0.5);
	case SORT_P99:
		return (double)report_time_at(row, 0.99);
	case SORT_MAX:
		return (double)row->max_ns;
	case SORT_MIN:
		return row->ended ? (double)row->min_ns : 0;
	case SORT_NAME:
		return 0;
	default:
		return (double)row->total_ns;
	}
}

struct item {
	const struct report_row *row, *other; /* other: of --diff; either may be NULL there */
	double key;
};

static const char *name_of(const struct item *i)
{
	return i->row ? i->row->name : i->other->name;
}

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return strcmp(name_of(x), name_of(y));
}

static struct item *make_items(const struct report *rep, enum sort sort)
{
	struct item *items = calloc(rep->nrows + 1, sizeof(*items));

	for (uint32_t i = 0; items && i < rep->nrows; i++)
		items[i] = (struct item){ &rep->rows[i], NULL, key_of(&rep->rows[i], sort) };
	if (items)
		qsort(items, rep->nrows, sizeof(*items), by_key);
	return items;
}

/* ------------------------------------------------------------------------- text */

static void put_row(FILE *f, const struct report_row *row)
{
	const uint64_t times[] = { row->total_ns, row->self_ns, (uint64_t)(report_avg_ns(row) + 0.5),
				   row->ended ? row->min_ns : 0, report_time_at(row, 0.5), report_time_at(row, 0.99),
				   row->max_ns };
	char buf[32];

	fprintf(f, "%12s", hodo_grouped(row->calls, buf));
	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		fprintf(f, "  %10s", row->ended ? hodo_duration(times[i], buf) : "-  ");
	fputs("  ", f);
	hodo_put_plain(f, row->name);
	if (row->left)
		fprintf(f, " (%s left)", hodo_grouped(row->left, buf));
	if (row->open)
		fprintf(f, " (%s open)", hodo_grouped(row->open, buf));
	fputc('\n', f);
}

static void put_text(FILE *f, const struct report *rep, const struct item *items, uint32_t n)
{
	char a[32];

	if (rep->nrows) {
		fprintf(f, "%12s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %s\n", "CALLS", "  TOTAL", "  SELF",
			"  AVG", "  MIN", "  P50", "  P99", "  MAX", "FUNCTION");
		for (uint32_t i = 0; i < n; i++)
			put_row(f, items[i].row);
		if (n < rep->nrows)
			fprintf(f, "and %s more\n", hodo_grouped(rep->nrows - n, a));
	}
	if (rep->totals.orphans)
		fprintf(f, "exits of calls that are not in the recording: %s\n",
			hodo_grouped(rep->totals.orphans, a));
	report_put_lists(f, rep);
}

static void put_number(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, ",\"%s\":%llu", name, (unsigned long long)n);
}

static void put_row_json(FILE *f, const struct report_row *row)
{
	put_number(f, "calls", row->calls);
	put_number(f, "left", row->left);
	put_number(f, "open", row->open);
	put_number(f, "no_exit", row->no_exit);
	put_number(f, "total_ns", row->total_ns);
	put_number(f, "self_ns", row->self_ns);
	fprintf(f, ",\"avg_ns\":%.1f", report_avg_ns(row));
	put_number(f, "min_ns", row->ended ? row->min_ns : 0);
	put_number(f, "p50_ns", report_time_at(row, 0.5));
	put_number(f, "p99_ns", report_time_at(row, 0.99));
	put_number(f, "max_ns", row->max_ns);
}

static void put_json(FILE *f, const struct report *rep, const struct item *items, uint32_t n)
{
	struct hodo_read_lost lost = hodo_read_lost(rep->r, NULL);

	fputs("{\"version\":1,\"functions\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",{\"function\":" : "{\"function\":", f);
		hodo_put_json(f, items[i].row->name);
		fputs(",\"object\":", f);
		hodo_put_json(f, items[i].row->object);
		put_row_json(f, items[i].row);
		fputc('}', f);
	}
	fputs("]", f);
	put_number(f, "calls", rep->totals.calls);
	put_number(f, "returned", rep->totals.returned);
	put_number(f, "left", rep->totals.left);
	put_number(f, "open", rep->totals.open);
	put_number(f, "orphans", rep->totals.orphans);
	put_number(f, "lost", hodo_lost_all(&lost));
	report_put_lists_json(f, rep);
	fputs("}\n", f);
}

/* ------------------------------------------------------------------------- diff */

static uint64_t name_id(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ull;
	return h ? h : 1;
}

/* Functions of one name as one, whatever object they are of: another build is another object. */
static bool merge_names(struct report *to, const struct report *from)
{
	for (uint32_t i = 0; i < from->nrows; i++) {
		const struct report_row *r = &from->rows[i];
		struct report_row *row = report_row(to, name_id(r->name));

		if (!row || !hodo_histogram_merge(&row->times, &r->times))
			return false;
		row->name = r->name;
		row->object = r->object;
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
	return true;
}

static const struct report_row *find(const struct report *rep, uint64_t id)
{
	for (uint32_t i = (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 32) & rep->index_mask; rep->nrows && rep->index[i];
	     i = (i + 1) & rep->index_mask)
		if (rep->rows[rep->index[i] - 1].id == id)
			return &rep->rows[rep->index[i] - 1];
	return NULL;
}

/* All functions of both, the largest change first; their number, or -1. */
static long pair(const struct report *a, const struct report *b, enum sort sort, struct item **out)
{
	struct item *items = calloc((size_t)a->nrows + b->nrows + 1, sizeof(*items));
	long n = 0;

	if (!items)
		return -1;
	for (uint32_t i = 0; i < a->nrows; i++)
		items[n++] = (struct item){ &a->rows[i], find(b, a->rows[i].id), 0 };
	for (uint32_t i = 0; i < b->nrows; i++)
		if (!find(a, b->rows[i].id))
			items[n++] = (struct item){ NULL, &b->rows[i], 0 };
	for (long i = 0; i < n; i++) {
		double before = items[i].row ? key_of(items[i].row, sort) : 0;
		double after = items[i].other ? key_of(items[i].other, sort) : 0;

		items[i].key = after > before ? after - before : before - after;
	}
	qsort(items, (size_t)n, sizeof(*items), by_key);
	*out = items;
	return n;
}

/* Before, after, and the change in percent. */
static void put_change(FILE *f, double before, double after, bool time)
{
	char a[32], b[32], percent[32] = "new";

	if (before > 0)
		snprintf(percent, sizeof(percent), "%+.1f%%", (after - before) / before * 100);
	else if (after <= 0)
		snprintf(percent, sizeof(percent), "-");
	if (time)
		fprintf(f, "%10s  %10s %9s  ", hodo_duration((uint64_t)(before + 0.5), a),
			hodo_duration((uint64_t)(after + 0.5), b), percent);
	else
		fprintf(f, "%11s %11s %9s  ", hodo_grouped((uint64_t)before, a), hodo_grouped((uint64_t)after, b),
			percent);
}

static const struct report_row nothing;

static void put_diff(FILE *f, const struct item *items, uint32_t n, uint32_t all)
{
	char buf[32];

	fprintf(f, "%-33s  %-33s  %-33s  %s\n", "  TOTAL", "  SELF", "  AVG", "     CALLS");
	for (uint32_t i = 0; i < n; i++) {
		const struct report_row *a = items[i].row ? items[i].row : &nothing;
		const struct report_row *b = items[i].other ? items[i].other : &nothing;

		put_change(f, (double)a->total_ns, (double)b->total_ns, true);
		put_change(f, (double)a->self_ns, (double)b->self_ns, true);
		put_change(f, report_avg_ns(a), report_avg_ns(b), true);
		put_change(f, (double)a->calls, (double)b->calls, false);
		hodo_put_plain(f, name_of(&items[i]));
		fputc('\n', f);
	}
	if (n < all)
		fprintf(f, "and %s more\n", hodo_grouped(all - n, buf));
}

static void put_diff_json(FILE *f, const struct item *items, uint32_t n)
{
	fputs("{\"version\":1,\"functions\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		const struct report_row *sides[] = { items[i].row, items[i].other };
		static const char *const names[] = { ",\"before\":{\"found\":true", ",\"after\":{\"found\":true" };
		static const char *const none[] = { ",\"before\":null", ",\"after\":null" };

		fputs(i ? ",{\"function\":" : "{\"function\":", f);
		hodo_put_json(f, name_of(&items[i]));
		for (unsigned k = 0; k < 2; k++) {
			fputs(sides[k] ? names[k] : none[k], f);
			if (sides[k]) {
				put_row_json(f, sides[k]);
				fputc('}', f);
			}
		}
		fputc('}', f);
	}
	fputs("]}\n", f);
}

static int diff(const struct report *rep, const struct args *a, FILE *f)
{
	struct report other = { 0 }, before = { 0 }, after = { 0 };
	int status = report_read(&other, a->diff, a->thread, a->quiet);
	struct item *items = NULL;
	long n = -1;

	if (status == 0 && merge_names(&before, rep) && merge_names(&after, &other))
		n = pair(&before, &after, a->sort, &items);
	if (n >= 0) {
		uint32_t shown = a->limit < (uint64_t)n ? (uint32_t)a->limit : (uint32_t)n;

		if (a->json)
			put_diff_json(f, items, shown);
		else
			put_diff(f, items, shown, (uint32_t)n);
	} else if (status == 0) {
		hodo_error("out of memory");
		status = HODO_EXIT_FAILURE;
	}
	free(items);
	report_free(&before);
	report_free(&after);
	report_free(&other);
	return status;
}

static int put_report(const struct report *rep, const struct args *a, FILE *f)
{
	struct item *items = make_items(rep, a->sort);
	uint32_t shown = a->limit < rep->nrows ? (uint32_t)a->limit : rep->nrows;

	if (!items) {
		hodo_error("out of memory");
		return HODO_EXIT_FAILURE;
	}
	if (a->json)
		put_json(f, rep, items, shown);
	else
		put_text(f, rep, items, shown);
	free(items);
	if (!rep->nrows && !rep->nstacks && !rep->nheld && !rep->nwrong && !a->json && !a->quiet)
		hodo_warning("%s has no calls of functions: record with --functions", rep->dir);
	return 0;
}

int hodo_cmd_report(int argc, char **argv)
{
	struct args a = { .limit = UINT64_MAX };
	struct report rep = { 0 };
	char *data = NULL;
	size_t len = 0;
	FILE *f;
	int status = parse_args(argc, argv, &a);

	if (status >= 0)
		return status;
	status = report_read(&rep, a.dir, a.thread, a.quiet);
	f = status ? NULL : open_memstream(&data, &len);
	if (!status && !f) {
		hodo_error("out of memory");
		status = HODO_EXIT_FAILURE;
	}
	if (!status)
		status = a.diff ? diff(&rep, &a, f) : put_report(&rep, &a, f);
	if (f && status) {
		fclose(f);
		free(data);
	} else if (f) {
		status = hodo_out_stream(f, &data, &len);
	}
	report_free(&rep);
	return status;
}
