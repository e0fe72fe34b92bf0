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
#include "parquet.h"

#include <base/scope.h>
#include <errno.h>
#include <pthread.h>
#include <read/file/identity.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
