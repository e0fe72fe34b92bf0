/* SPDX-License-Identifier: MIT */
/*
 * parquet_duplicates.c - whether a directory of Parquet has the events already that are to be added. The same is asked
 * of recordings when they are read (duplicates.c); here it is asked once, when there are still two to choose from, and
 * no question has to look at all processes.
 *
 * Parts of a recording have the same processes one after the other, and at the border of two parts at about the same
 * time: so where times overlap, it is the events that decide. As many of them in a time that is mostly the same are the
 * same, also if a merge has moved its hosts' clocks a little; else one that both have says so.
 */
#include "duck_impl.h"

#include <base/file.h>
#include <base/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKED   16u /* recordings with a process at the same time */
#define TABLE    "processes"
#define IS_GIVEN "hive_partitioning = false, filename = true)"

struct pair {
	char *recording, *stem;
	int64_t since_ns, until_ns; /* the time that both have */
	bool same;
};

struct pairs {
	struct pair all[LOOKED];
	uint32_t n;
};

/* ------------------------------------------------------------------------------ files */

static void add_pattern(struct hodo_text *sql, const char *to, const char *table, const char *host, const char *stem)
{
	struct hodo_text pattern = { 0 };

	duck_add_glob_text(&pattern, to);
	hodo_text_printf(&pattern, "/%s/", table);
	duck_add_glob_text(&pattern, host ? host : "");
	hodo_text_printf(&pattern, "%s/*/%s*.parquet", host ? "" : "*", stem);
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
		hodo_text_add(sql, any ? ", " : "");
		add_pattern(sql, to, TABLE, all ? NULL : host, "");
		any = true;
	}
	return any;
}

/* -------------------------------------------------------------------------- questions */

static int run(struct duck_db *db, struct hodo_text *sql, const struct hodo_duck_sink *sink, struct duck_error *e)
{
	struct duck_result result = { 0 };
	int err = sql->error;

	if (err)
		return duck_fail(e, err, "no memory");
	if (duck.query(db->connection, hodo_text_string(sql), &result) != 0)
		err = duck_db_error(duck.result_error(&result), e);
	else
		err = duck_result_put(&result, sink, e);
	duck.destroy_result(&result);
	return err;
}

static char *text_of(const struct hodo_duck_cell *cell)
{
	return strndup(cell->null ? "" : cell->text, cell->null ? 0 : cell->len);
}

static int64_t number_of(const struct hodo_duck_cell *cell)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*s", cell->null ? 0 : (int)cell->len, cell->text);
	return strtoll(text, NULL, 10);
}

static int take_pair(void *data, uint32_t n, const struct hodo_duck_cell *cells)
{
	struct pairs *pairs = data;
	struct pair *p = &pairs->all[pairs->n];

	if (pairs->n == LOOKED)
		return 0;
	pairs->n++;
	*p = (struct pair){ text_of(&cells[0]), text_of(&cells[1]), number_of(&cells[2]), number_of(&cells[3]),
			    number_of(&cells[4]) };
	return p->recording && p->stem ? 0 : -ENOMEM;
}

/* Processes that both have, at times that overlap. */
static int find_pairs(struct duck_db *db, const char *files, const char *aside, const char *stem, struct pairs *pairs,
		      struct duck_error *e)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	const struct hodo_duck_sink sink = { .row = take_pair, .data = pairs };

	hodo_text_printf(&sql, "WITH o AS (SELECT *, regexp_extract(filename, '([^/]*)-[0-9]+[.]parquet$', 1) AS stem "
			 "FROM read_parquet([%s], union_by_name = true, " IS_GIVEN "), n AS (SELECT * FROM read_parquet(",
			 files);
	add_pattern(&sql, aside, TABLE, NULL, "");
	hodo_text_printf(&sql, ", " IS_GIVEN "), p AS (SELECT o.recording, o.stem, greatest(o.ts, n.ts) AS since, "
			 "least(o.end_ns, n.end_ns) AS until, least(o.end_ns - o.ts, n.end_ns - n.ts) AS shorter, "
			 "o.events = n.events AS same FROM o JOIN n USING (uuid) "
			 "WHERE o.stem <> '%s' AND o.events > 0 AND n.events > 0) "
			 "SELECT recording, stem, since, until, (same AND 2 * (until - since) >= shorter)::INTEGER AS same "
			 "FROM p WHERE since <= until ORDER BY same DESC, until - since DESC LIMIT %u", stem, LOOKED);
	return run(db, &sql, &sink, e);
}

static int take_any(void *any, uint32_t n, const struct hodo_duck_cell *cells)
{
	*(bool *)any = true;
	return 0;
}

/* An event that is in both. */
static int share_event(struct duck_db *db, const char *to, const char *aside, const struct pair *pair, bool *shared,
		       struct duck_error *e)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	const struct hodo_duck_sink sink = { .row = take_any, .data = shared };

	hodo_text_add(&sql, "WITH o AS (SELECT ts, cpu, pid, tid, name FROM read_parquet(");
	add_pattern(&sql, to, "events", NULL, pair->stem);
	hodo_text_printf(&sql, ", " IS_GIVEN " WHERE ts BETWEEN %lld AND %lld), "
			 "n AS (SELECT ts, cpu, pid, tid, name FROM read_parquet(", (long long)pair->since_ns,
			 (long long)pair->until_ns);
	add_pattern(&sql, aside, "events", NULL, "");
	hodo_text_printf(&sql, ", " IS_GIVEN " WHERE ts BETWEEN %lld AND %lld) "
			 "SELECT 1 FROM o JOIN n USING (ts, cpu, pid, tid, name) LIMIT 1", (long long)pair->since_ns,
			 (long long)pair->until_ns);
	return run(db, &sql, &sink, e);
}

int hodo_duck_parquet_twice(const char *to, const char *aside, const char stem[HODO_DUCK_STEM], char *other,
			    size_t other_bytes, char *error, size_t error_bytes)
{
	struct duck_error e = { error, error_bytes };
	HODO_AUTO(hodo_text_free) struct hodo_text files = { 0 };
	struct pairs pairs = { 0 };
	struct duck_db db;
	bool twice = false;
	int err;

	if (!add_files(&files, to, aside))
		return 0;
	err = duck_db_open(&db, HODO_DUCK_MEMORY, NULL, true, &e);
	if (err)
		return err;
	err = find_pairs(&db, hodo_text_string(&files), aside, stem, &pairs, &e);
	for (uint32_t i = 0; i < pairs.n; i++) {
		const struct pair *p = &pairs.all[i];

		twice |= !err && p->same;
		/* Without the table of events it is not known. */
		if (!err && !twice)
			share_event(&db, to, aside, p, &twice, &e);
		if (twice && !*other)
			snprintf(other, other_bytes, "%s", p->recording);
	}
	for (uint32_t i = 0; i < pairs.n; i++) {
		free(pairs.all[i].recording);
		free(pairs.all[i].stem);
	}
	duck_db_close(&db);
	return err == -ENOMEM ? err : twice;
}
