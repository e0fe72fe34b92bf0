/* SPDX-License-Identifier: MIT */
/* parquet_files.c - a batch as files of Parquet: see parquet.h. The rows of a file are in the order of their ts. */
#include "parquet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DAY_NS    86400000000000ll
/*
 * Not version 2: DuckDB stores differences of 32-bit values in more bits there, which not all readers take. Names are
 * enums, which have a dictionary in any case; to look for one in other columns with many values costs more than it
 * saves. A batch is one group, also when it has a few rows more than it should.
 */
#define FORM      "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 1000, " \
		  "ROW_GROUP_SIZE 1000000"
#define NOT_KNOWN "__HIVE_DEFAULT_PARTITION__" /* what others call a partition of rows without a value */

static int64_t day_of(int64_t ts)
{
	return ts / DAY_NS - (ts % DAY_NS < 0);
}

/* ------------------------------------------------------------------------- files */

/* Makes the folders of a path, whose last word is the file's. */
static int make_folders(const char *base, char *path)
{
	for (char *slash = path + strlen(base) + 1; (slash = strchr(slash, '/')); slash++) {
		int failed;

		*slash = 0;
		failed = mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (failed)
			return failed;
	}
	return 0;
}

/* YYYY-MM-DD of a day since 1970, by the calendar's rule of 400 years. */
static void add_day(struct hodo_text *t, int64_t day)
{
	int64_t z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153;
	int64_t month = m < 10 ? m + 3 : m - 9;

	hodo_text_printf(t, "%04lld-%02lld-%02lld", (long long)(year + era * 400 + (month <= 2)), (long long)month,
			 (long long)(of_year - (153 * m + 2) / 5 + 1));
}

/* host: NULL: not known. */
static void add_path(struct duck_files *f, const char *host, int64_t day)
{
	struct hodo_text *t = &f->path;

	t->len = 0;
	hodo_text_add(t, f->to);
	hodo_text_char(t, '/');
	duck_add_folder(t, f->gathered->batch->table->name);
	hodo_text_add(t, "/host=");
	if (host)
		duck_add_folder(t, host);
	else
		hodo_text_add(t, NOT_KNOWN);
	hodo_text_add(t, "/day=");
	add_day(t, day);
	hodo_text_printf(t, "/%s-%04u.parquet", f->stem, f->number);
	hodo_text_char(t, 0);
}

/* One file: of the rows that have been set. */
static int write_file(struct duck_files *f, const char *host, int64_t day)
{
	struct hodo_text *t = &f->sql;
	int err;

	add_path(f, host, day);
	err = f->path.error ? f->path.error : make_folders(f->to, f->path.data);
	if (err) {
		f->failed_write = true;
		return hodo_why(f->e, err, "%s", strerror(-err));
	}
	t->len = 0;
	hodo_text_printf(t, "COPY (SELECT * FROM %s()) TO ", f->gathered->name);
	duck_quote_text(t, f->path.data);
	hodo_text_printf(t, " (" FORM ", KV_METADATA {hodo_schema: '%d', hodo_table: ", HODO_ROWS_VERSION);
	duck_quote_text(t, f->gathered->batch->table->name);
	hodo_text_add(t, "})");
	err = t->error ? t->error : duck_db_run(f->db, hodo_text_string(t), f->e);
	f->failed_write |= err == -EIO;
	f->written += !err;
	return err;
}

/* ------------------------------------------------------------------------- parts */

/* A row, by where it belongs. */
struct part {
	uint32_t host; /* UINT32_MAX: not known */
	uint32_t row;
	int64_t ts;
};

static int by_place(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static const char *host_name(const struct duck_files *f, uint32_t host)
{
	return host == UINT32_MAX ? NULL : f->gathered->hosts[host];
}

/* Whether the rows are one file's as they stand. */
static bool is_one(const struct duck_files *f)
{
	const struct hodo_rows_batch *b = f->gathered->batch;
	const int64_t *ts = b->columns[0].data;
	uint32_t host = duck_gathered_host(f->gathered, 0);

	if (!b->sorted || day_of(ts[0]) != day_of(ts[b->n - 1]))
		return false;
	for (uint32_t i = 1; i < b->n; i++)
		if (duck_gathered_host(f->gathered, i) != host)
			return false;
	return true;
}

static int write_parts(struct duck_files *f, struct part *parts, uint32_t *rows)
{
	struct duck_gathered *g = f->gathered;
	const int64_t *ts = g->batch->columns[0].data;
	uint32_t n = g->batch->n;
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct part){ duck_gathered_host(g, i), i, ts[i] };
	qsort(parts, n, sizeof(*parts), by_place);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = parts[i].row;
	for (uint32_t i = 0, end; !err && i < n; i = end) {
		int64_t day = day_of(parts[i].ts);

		for (end = i + 1; end < n && parts[end].host == parts[i].host && day_of(parts[end].ts) == day;)
			end++;
		g->rows = rows + i;
		g->n = end - i;
		err = write_file(f, host_name(f, parts[i].host), day);
	}
	g->rows = NULL;
	return err;
}

int duck_files_write(struct duck_files *f)
{
	const struct hodo_rows_batch *b = f->gathered->batch;
	struct part *parts;
	uint32_t *rows;
	int err;

	f->gathered->rows = NULL;
	f->gathered->n = b->n;
	if (is_one(f))
		return write_file(f, host_name(f, duck_gathered_host(f->gathered, 0)),
				  day_of(((const int64_t *)b->columns[0].data)[0]));
	parts = malloc(b->n * sizeof(*parts));
	rows = malloc(b->n * sizeof(*rows));
	err = parts && rows ? write_parts(f, parts, rows) : hodo_why(f->e, -ENOMEM, "no memory");
	free(parts);
	free(rows);
	return err;
}
