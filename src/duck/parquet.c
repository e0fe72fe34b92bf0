/* SPDX-License-Identifier: MIT */
/*
 * parquet.c - a recording as files of Parquet, to/TABLE/host=HOST/day=DAY/STEM-NNNN.parquet.
 *
 * One thread reads the recording and makes batches of rows (rows.h); the others, "hands", write one each. Batches have
 * a bounded number of rows and bytes, and there are at most as many as hands: so memory is bounded.
 *
 * Who uses what, beside whom. The mutex is held where batch.n changes, so that what was written before is seen after:
 *
 *	                       reader                 a hand's thread
 *	hand, batch.n == 0     reads and writes       waits; changes nothing
 *	hand, batch.n != 0     waits; reads batch.n   reads and writes; makes batch.n 0
 *	names of the rows      adds to them           does not look: they are in the hand's dictionaries
 *	the writer's members   reads and writes       reads over, with the mutex
 *	the database           nothing                a connection of its own
 */
#include "batch_function.h"

#include <base/scope.h>
#include <base/why.h>
#include <read/file/identity.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------- a batch as files */

/* Rows in the order of their ts: what a hand does. */

/* Of a file, which is one group: a question needs memory for each group of all files, an export for one's rows. */
#define DUCK_FILE_ROWS 245760

struct duck_files {
	const char *to, *stem;
	struct duck_db *db;
	struct duck_gathered *gathered; /* the batch */
	uint32_t number;  /* of this batch among those of its table: a part of the files' names */
	uint64_t written; /* files */
	bool failed_write;
	struct hodo_why *e;
	struct hodo_text sql, path;
};

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

/* Writes the rows of the batch: a file, or one for each host and day. 0 or a negative errno. */
static int duck_files_write(struct duck_files *f)
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

/* ------------------------------------------------------------------ all batches */

#define HANDS     2u

struct hand {
	struct writer *w;
	struct duck_db db; /* a connection of its own to the writer's */
	struct duck_gathered gathered;
	struct hodo_rows_batch batch; /* n 0: none */
	struct duck_files files;
	struct hodo_why why;
	int err;
	pthread_t thread;
	bool runs; /* there is a thread */
};

struct writer {
	struct hodo_duck_parquet *p;
	struct duck_db db;
	struct hodo_rows_schema *schema;
	uint32_t *files; /* batches of each table */
	char stem[HODO_DUCK_STEM];
	struct hodo_why *e;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* of a hand: its batch came or went; or over */
	bool over;
	struct hand hands[HANDS];
};

/* ------------------------------------------------------------------------- hands */

static void *write_batches(void *data)
{
	struct hand *h = data;
	struct writer *w = h->w;

	pthread_mutex_lock(&w->mutex);
	for (;;) {
		while (!h->batch.n && !w->over)
			pthread_cond_wait(&w->changed, &w->mutex);
		if (!h->batch.n)
			break;
		pthread_mutex_unlock(&w->mutex);
		if (!h->err)
			h->err = duck_files_write(&h->files);
		duck_gathered_drop(&h->gathered);
		pthread_mutex_lock(&w->mutex);
		hodo_rows_batch_free(&h->batch);
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

/* One without a batch. */
static struct hand *wait_for_hand(struct writer *w)
{
	struct hand *idle = NULL;

	pthread_mutex_lock(&w->mutex);
	for (;;) {
		for (uint32_t i = 0; i < HANDS && !idle; i++)
			if (!w->hands[i].batch.n)
				idle = &w->hands[i];
		if (idle)
			break;
		pthread_cond_wait(&w->changed, &w->mutex);
	}
	pthread_mutex_unlock(&w->mutex);
	return idle;
}

static int hand_over(struct writer *w, struct hodo_rows *rows)
{
	struct hand *h = wait_for_hand(w);
	struct hodo_rows_batch batch = { 0 };
	int err = h->err ? h->err : hodo_rows_take(rows, &batch);

	/* It says itself what went wrong. */
	if (h->err)
		return err;
	if (!err)
		err = duck_gathered_set(&h->gathered, &h->batch, &batch);
	if (err) {
		hodo_rows_batch_free(&batch);
		return hodo_why(w->e, err, "no memory");
	}
	w->p->rows += batch.n;
	h->files.number = w->files[batch.number]++;
	pthread_mutex_lock(&w->mutex);
	h->batch = batch;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->mutex);
	return 0;
}

static int start_hand(struct writer *w, struct hand *h)
{
	int err;

	h->w = w;
	h->gathered.schema = w->schema;
	snprintf(h->gathered.name, sizeof(h->gathered.name), "hodo_gathered%u", (unsigned)(h - w->hands));
	h->files = (struct duck_files){ .to = w->p->to, .stem = w->stem, .db = &h->db, .gathered = &h->gathered,
					.e = &h->why };
	if (duck.connect(w->db.db, &h->db.connection) != 0)
		return hodo_why(w->e, -ENOMEM, "DuckDB makes no connection: no memory");
	err = duck_gathered_register(&h->gathered, &h->db, w->e);
	if (!err)
		err = -pthread_create(&h->thread, NULL, write_batches, h);
	h->runs = !err;
	return err;
}

/* Waits for all, and takes what they say. */
static int end_hands(struct writer *w, int err)
{
	pthread_mutex_lock(&w->mutex);
	w->over = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->mutex);
	for (uint32_t i = 0; i < HANDS; i++) {
		struct hand *h = &w->hands[i];

		if (h->runs)
			pthread_join(h->thread, NULL);
		w->p->files += h->files.written;
		w->p->failed_write |= h->files.failed_write;
		if (h->err && (!err || err == h->err))
			*w->e = h->why, err = h->err;
		hodo_text_free(&h->files.sql);
		hodo_text_free(&h->files.path);
		if (h->db.connection)
			duck.disconnect(&h->db.connection);
	}
	return err;
}

/* ------------------------------------------------------------------------ the whole */

static int write_mark(struct writer *w)
{
	HODO_AUTO_FREE char *path = NULL;
	HODO_AUTO_FCLOSE FILE *f = NULL;

	if (asprintf(&path, "%s/" HODO_DUCK_MARK, w->p->to) < 0)
		return hodo_why(w->e, -ENOMEM, "no memory");
	f = fopen(path, "we");
	if (!f || fprintf(f, "{\"hodo_schema\":%d}\n", HODO_ROWS_VERSION) < 0 || fflush(f) != 0) {
		w->p->failed_write = true;
		return hodo_why(w->e, -EIO, "%s", strerror(errno));
	}
	return 0;
}

/* By the hosts it is known that the recording is there. */
static bool is_wanted(void *parquet, const char *table)
{
	const struct hodo_duck_parquet *p = parquet;

	return !p->wanted || strcmp(table, "hosts") == 0 || p->wanted(p->data, table);
}

static int write_rows(struct writer *w)
{
	const struct hodo_rows_source source = {
		.schema = w->schema,
		.reader = w->p->reader,
		.places = hodo_symbols_places(w->p->symbols),
		.recording = w->p->recording,
		.since_ns = w->p->since_ns,
		.until_ns = w->p->until_ns,
		.wants = is_wanted,
		.data = w->p,
		.batch_rows = DUCK_FILE_ROWS,
		.pending_bytes = w->p->memory / 8,
	};
	const struct hodo_rows_batch *batch;
	struct hodo_rows *rows = NULL;
	int err = hodo_rows_open(&rows, &source), got = err;

	while (!err && (got = hodo_rows_next(rows, &batch)) > 0)
		err = hand_over(w, rows);
	if (got < 0)
		err = hodo_why(w->e, got, "%s", strerror(-got));
	/* What the hands have left refers to names of the rows. */
	err = end_hands(w, err);
	hodo_rows_close(rows);
	return err;
}

void hodo_duck_stem(const struct hodo_read *reader, char stem[HODO_DUCK_STEM])
{
	snprintf(stem, HODO_DUCK_STEM, "%016llx", (unsigned long long)hodo_read_identity(reader));
}

int hodo_duck_each_table(const struct hodo_read *reader, int (*each)(void *data, const char *table), void *data)
{
	struct hodo_rows_schema *schema = hodo_rows_schema_new();
	int err = schema ? hodo_rows_schema_add(schema, reader) : -ENOMEM;

	for (uint32_t i = 0; !err && i < hodo_rows_ntables(schema); i++)
		err = each(data, hodo_rows_table(schema, i)->name);
	hodo_rows_schema_free(schema);
	return err;
}

static int open_writer(struct writer *w)
{
	struct hodo_text temporary = { 0 };
	int err = hodo_duck_load(w->e);

	if (err)
		return err;
	hodo_duck_stem(w->p->reader, w->stem);
	w->schema = hodo_rows_schema_new();
	err = w->schema ? hodo_rows_schema_add(w->schema, w->p->reader) : -ENOMEM;
	w->files = err ? NULL : calloc(hodo_rows_ntables(w->schema), sizeof(*w->files));
	if (!w->files)
		return hodo_why(w->e, -ENOMEM, "no memory");
	if (hodo_rows_schema_omitted(w->schema))
		w->p->warn("there are too many event classes or fields: some have no table or column of their own");
	hodo_text_printf(&temporary, "%s/.tmp", w->p->to);
	/* The batches take as much again. */
	err = duck_db_open(&w->db, w->p->memory / 2, hodo_text_string(&temporary), true, w->e);
	hodo_text_free(&temporary);
	for (uint32_t i = 0; i < HANDS && !err; i++)
		err = start_hand(w, &w->hands[i]);
	return err;
}

int hodo_duck_parquet(struct hodo_duck_parquet *p, struct hodo_why *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return hodo_why(e, -ENOMEM, "no memory");
	w->p = p;
	w->e = e;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->changed, NULL);
	err = open_writer(w);
	if (!err)
		err = write_mark(w);
	if (!err)
		err = write_rows(w);
	else
		err = end_hands(w, err);
	if (w->db.db)
		duck_db_close(&w->db);
	hodo_rows_schema_free(w->schema);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->mutex);
	free(w->files);
	free(w);
	return err;
}
