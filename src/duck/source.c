/* SPDX-License-Identifier: MIT */
/*
 * source.c - recordings as a table function of the database: hodo_rows(NUMBER) has the rows of the table of that
 * number, and reads the columns alone that a statement needs.
 *
 * Who runs beside whom: the library calls scan() from several threads, each with a struct scanner of its own, which has
 * the recording that it reads. They share what nobody changes any more, and `next`.
 *
 *	          next              sources, schema
 *	scan()    fetch_add         read
 *	others    before the threads begin, in init()
 */
#include "duck_impl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of one place in a statement where the table is read. */
struct bound {
	struct duck_sources *sources;
	uint32_t number;
};

/* Of one run of it. */
struct scan {
	const struct bound *bound;
	_Atomic uint32_t next; /* recording that nobody reads yet: relaxed, since it decides only who takes which */
	uint32_t ncolumns;     /* of the chunks */
	uint32_t columns[HODO_ROWS_COLUMNS_MAX]; /* of the table; UINT32_MAX: none, rows are counted */
	bool wanted[HODO_ROWS_COLUMNS_MAX];
};

/* Of one thread. */
struct scanner {
	struct hodo_read *reader;
	struct hodo_symbols *symbols;
	const char *recording;
	struct hodo_rows *rows;
	const struct hodo_rows_batch *batch;
	uint32_t from; /* in it */
};

static void bind_rows(duck_handle info)
{
	struct duck_sources *sources = duck.bind_get_extra_info(info);
	duck_handle parameter = duck.bind_get_parameter(info, 0);
	int64_t number = duck.get_int64(parameter);
	const struct hodo_rows_table *table;
	struct bound *bound;

	duck.destroy_value(&parameter);
	if (number < 0 || number >= hodo_rows_ntables(sources->schema)) {
		duck.bind_set_error(info, "hodo_rows: there is no table of that number");
		return;
	}
	bound = malloc(sizeof(*bound));
	if (!bound) {
		duck.bind_set_error(info, "no memory");
		return;
	}
	*bound = (struct bound){ sources, (uint32_t)number };
	table = hodo_rows_table(sources->schema, bound->number);
	for (uint32_t i = 0; i < table->ncolumns; i++) {
		duck_handle type = duck_type(table->columns[i].type, hodo_rows_members(sources->schema),
					     hodo_rows_nmembers(sources->schema));

		duck.bind_add_result_column(info, table->columns[i].name, type);
		duck.destroy_logical_type(&type);
	}
	duck.bind_set_bind_data(info, bound, free);
}

static void init_scan(duck_handle info)
{
	const struct bound *bound = duck.init_get_bind_data(info);
	const struct hodo_rows_table *table = hodo_rows_table(bound->sources->schema, bound->number);
	struct scan *scan = calloc(1, sizeof(*scan));
	uint64_t n = duck.init_get_column_count(info);

	if (!scan || n > HODO_ROWS_COLUMNS_MAX) {
		free(scan);
		duck.init_set_error(info, scan ? "too many columns" : "no memory");
		return;
	}
	scan->bound = bound;
	scan->ncolumns = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t column = duck.init_get_column_index(info, i);

		scan->columns[i] = column < table->ncolumns ? (uint32_t)column : UINT32_MAX;
		if (column < table->ncolumns)
			scan->wanted[column] = true;
	}
	duck.init_set_max_threads(info, bound->sources->nrecordings ? bound->sources->nrecordings : 1);
	duck.init_set_init_data(info, scan, free);
}

static void close_recording(struct scanner *s)
{
	hodo_rows_close(s->rows);
	hodo_symbols_free(s->symbols);
	hodo_read_close(s->reader);
	*s = (struct scanner){ 0 };
}

static void free_scanner(void *scanner)
{
	close_recording(scanner);
	free(scanner);
}

static void init_scanner(duck_handle info)
{
	struct scanner *s = calloc(1, sizeof(*s));

	if (s)
		duck.init_set_init_data(info, s, free_scanner);
	else
		duck.init_set_error(info, "no memory");
}

/* 1: a recording is open; 0: there are no more; or a negative errno. */
static int open_recording(struct scan *scan, struct scanner *s, struct hodo_why *e)
{
	const struct duck_sources *sources = scan->bound->sources;
	const struct hodo_duck_options *o = sources->options;
	uint32_t i;
	struct hodo_rows_source source = { .schema = sources->schema, .columns = scan->wanted,
					   .number = scan->bound->number };
	int err;

	do {
		i = atomic_fetch_add_explicit(&scan->next, 1, memory_order_relaxed);
		if (i >= sources->nrecordings)
			return 0;
	} while (!sources->recordings[i]);
	source.recording = s->recording = sources->recordings[i];
	err = o->open(o->data, source.recording, &s->reader, &s->symbols, e);
	if (err)
		return err;
	source.reader = s->reader;
	source.places = hodo_symbols_places(s->symbols);
	err = hodo_rows_open(&s->rows, &source);
	if (err)
		hodo_why(e, err, "%s: cannot be read: %s", source.recording, strerror(-err));
	return err ? err : 1;
}

/* 1: there is a batch with rows to give; 0: nothing is left; or a negative errno. */
static int find_batch(struct scan *scan, struct scanner *s, struct hodo_why *e)
{
	const struct hodo_duck_options *o = scan->bound->sources->options;
	int got;

	while (!s->batch || s->from >= s->batch->n) {
		got = s->rows ? 1 : open_recording(scan, s, e);
		if (got <= 0)
			return got;
		s->from = 0;
		got = hodo_rows_next(s->rows, &s->batch);
		if (got < 0)
			return hodo_why(e, got, "%s: cannot be read on: %s", s->recording, strerror(-got));
		if (got > 0)
			continue;
		if (o->read)
			o->read(o->data, s->recording, s->reader);
		close_recording(s);
	}
	return 1;
}

static void scan_rows(duck_handle info, duck_handle chunk)
{
	struct scan *scan = duck.function_get_init_data(info);
	struct scanner *s = duck.function_get_local_init_data(info);
	const struct duck_sources *sources = scan->bound->sources;
	struct duck_fill fill = {
		.copies = true,
		.children = sources->numbers,
		.nchildren = hodo_rows_nmembers(sources->schema),
		.members = hodo_rows_members(sources->schema),
		.member_of = sources->numbers,
	};
	struct hodo_why why = { "no memory" };
	int got = find_batch(scan, s, &why);

	if (got > 0) {
		fill.batch = s->batch;
		fill.from = s->from;
		fill.n = s->batch->n - s->from < DUCK_ROWS ? s->batch->n - s->from : DUCK_ROWS;
	}
	for (uint32_t i = 0; i < scan->ncolumns && got > 0; i++)
		if (scan->columns[i] != UINT32_MAX &&
		    duck_vector_fill(duck.data_chunk_get_vector(chunk, i), &fill, scan->columns[i], NULL) < 0)
			got = -ENOMEM;
	if (got < 0)
		duck.function_set_error(info, why.text);
	duck.data_chunk_set_size(chunk, got > 0 ? fill.n : 0);
	s->from += fill.n;
}

bool duck_sources_any(const struct duck_sources *sources)
{
	for (uint32_t i = 0; i < sources->nrecordings; i++)
		if (sources->recordings[i])
			return true;
	return false;
}

int duck_sources_register(struct duck_sources *sources, struct duck_db *db, struct hodo_why *e)
{
	duck_handle function = duck.create_table_function(), number = duck.create_logical_type(DUCK_BIGINT);
	int err = 0;

	for (uint32_t i = 0; i < HODO_ROWS_MEMBERS_MAX; i++)
		sources->numbers[i] = i; /* the struct's children are all members, in their order */
	duck.table_function_set_name(function, "hodo_rows");
	duck.table_function_add_parameter(function, number);
	duck.table_function_set_extra_info(function, sources, NULL);
	duck.table_function_set_bind(function, bind_rows);
	duck.table_function_set_init(function, init_scan);
	duck.table_function_set_local_init(function, init_scanner);
	duck.table_function_set_function(function, scan_rows);
	duck.table_function_supports_projection_pushdown(function, true);
	if (duck.register_table_function(db->connection, function) != 0)
		err = hodo_why(e, -EINVAL, "DuckDB takes no table function: set HODO_DUCKDB to another libduckdb.so");
	duck.destroy_logical_type(&number);
	duck.destroy_table_function(&function);
	return err;
}
