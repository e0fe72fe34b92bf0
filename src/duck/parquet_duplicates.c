/* SPDX-License-Identifier: MIT */
/*
 * parquet_duplicates.c - whether a directory of Parquet has the events already that are to be added. The same is asked
 * of recordings when they are read (duplicates.c); here it is asked once, when there are still two to choose from, and
 * no question has to look at all processes. Their table has the numbers of the events that each process has.
 */
#include "duck_impl.h"

#include <base/file.h>
#include <base/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TABLE "processes"

/* ------------------------------------------------------------------------------ files */

static void add_pattern(struct hodo_text *sql, const char *to, const char *host)
{
	struct hodo_text pattern = { 0 };

	duck_add_glob_text(&pattern, to);
	hodo_text_add(&pattern, "/" TABLE "/");
	duck_add_glob_text(&pattern, host ? host : "");
	hodo_text_printf(&pattern, "%s/*/*.parquet", host ? "" : "*");
	duck_quote_text(sql, hodo_text_string(&pattern));
	hodo_text_fail(sql, pattern.error);
	hodo_text_free(&pattern);
}

static bool has_few_hosts(int processes)
{
	HODO_AUTO_CLOSEDIR DIR *dir = hodo_dir_list(processes, ".");
	uint32_t n = 0;

	while (dir && n <= HODO_DUCK_HOSTS_LOOKED && hodo_dir_next(dir))
		n++;
	return n <= HODO_DUCK_HOSTS_LOOKED;
}

/* The files of processes with which to compare, as a list; false: there are none. */
static bool add_files(struct hodo_text *sql, const char *to, const char *aside)
{
	HODO_AUTO_CLOSE int there = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ours = hodo_dir_open(AT_FDCWD, aside);
	HODO_AUTO_CLOSE int processes = there < 0 ? -1 : hodo_dir_open(there, TABLE);
	HODO_AUTO_CLOSEDIR DIR *dir = ours < 0 ? NULL : hodo_dir_list(ours, TABLE);
	bool all = processes >= 0 && has_few_hosts(processes), any = false;

	if (processes < 0 || !dir)
		return false;
	for (const char *host; !(all && any) && (host = hodo_dir_next(dir));) {
		if (!all && faccessat(processes, host, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		add_pattern(sql, to, all ? NULL : host);
		hodo_text_add(sql, ", ");
		any = true;
	}
	return any;
}

/* ------------------------------------------------------------------------- the question */

struct other {
	char *name;
	size_t bytes;
	bool found;
};

static int take_name(void *other, uint32_t n, const struct hodo_duck_cell *cells)
{
	struct other *o = other;

	o->found = true;
	snprintf(o->name, o->bytes, "%.*s", cells->null ? 0 : (int)cells->len, cells->text);
	return 0;
}

/* Numbers of events are as rows_facts.c writes them: "cpu0:0-17 cpu1:3-5". Files of earlier versions have none. */
static void add_question(struct hodo_text *sql, const char *files, const char *aside, const char *stem)
{
	hodo_text_printf(sql, "WITH p AS (SELECT filename, recording, uuid, "
			 "unnest(string_split(event_numbers, ' ')) AS run FROM read_parquet([%s", files);
	add_pattern(sql, aside, NULL);
	hodo_text_add(sql, "], union_by_name = true, hive_partitioning = false, filename = true)), "
		      "r AS (SELECT recording, uuid, split_part(run, ':', 1) AS stream, "
		      "TRY_CAST(split_part(split_part(run, ':', 2), '-', 1) AS UBIGINT) AS a, "
		      "TRY_CAST(split_part(run, '-', 2) AS UBIGINT) AS b, starts_with(filename, ");
	duck_quote_text(sql, aside);
	hodo_text_printf(sql, " || '/') AS added, contains(filename, '/%s-') AS again FROM p) "
			 "SELECT o.recording FROM r o JOIN r n USING (uuid, stream) WHERE n.added AND NOT o.added "
			 "AND NOT o.again AND o.a < n.b AND n.a < o.b LIMIT 1", stem);
}

int hodo_duck_parquet_twice(const char *to, const char *aside, const char stem[HODO_DUCK_STEM], char *other,
			    size_t other_bytes, struct hodo_why *e)
{
	HODO_AUTO(hodo_text_free) struct hodo_text files = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	struct other found = { other, other_bytes, false };
	const struct hodo_duck_sink sink = { .row = take_name, .data = &found };
	struct duck_result result = { 0 };
	struct duck_db db;
	int err;

	if (!add_files(&files, to, aside))
		return 0;
	add_question(&sql, hodo_text_string(&files), aside, stem);
	if (sql.error)
		return hodo_why(e, sql.error, "no memory");
	err = duck_db_open(&db, HODO_DUCK_MEMORY, NULL, true, e);
	if (err)
		return err;
	if (duck.query(db.connection, hodo_text_string(&sql), &result) != 0)
		err = duck_db_error(duck.result_error(&result), e);
	else
		err = duck_result_put(&result, &sink, e);
	duck.destroy_result(&result);
	duck_db_close(&db);
	return err == -ENOMEM ? err : found.found;
}
