/* SPDX-License-Identifier: MIT */
/*
 * query.c - recordings and directories of Parquet as tables, and statements about them. Each table is a view: the rows
 * of the recordings, and those of the files. Tables of event classes may be many: their views are made when a statement
 * names them, or all if they are few.
 */
#include "duck_impl.h"

#include <base/escape.h>
#include <base/file.h>
#include <base/intern.h>
#include <base/near.h>
#include <base/scope.h>
#include <base/vec.h>
#include <base/why.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ------------------------------------------------------------------------ hints */

/* What DuckDB's messages do not say: what to do about them in a recording's tables. */

static void append(struct hodo_why *e, const char *format, const char *text)
{
	size_t len = strlen(e->text);

	snprintf(e->text + len, sizeof(e->text) - len, format, text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The first word:word outside of quotes, whose length goes to len; NULL: there is none. a::b is a cast. */
static const char *find_event(const char *sql, size_t *len)
{
	char quote = 0;

	for (const char *p = sql; *p; p++) {
		const char *begin = p, *end;

		if (quote) {
			quote = *p == quote ? 0 : quote;
			continue;
		}
		if (*p == '\'' || *p == '"')
			quote = *p;
		if (*p != ':' || p == sql || !is_word(p[-1]) || !is_word(p[1]))
			continue;
		while (begin > sql && is_word(begin[-1]))
			begin--;
		for (end = p + 1; is_word(*end);)
			end++;
		*len = (size_t)(end - begin);
		return begin;
	}
	return NULL;
}

/* A statement was refused, as e says: what helps if it names an event without double quotes. */
static void duck_hint_event(const char *sql, bool (*is_table)(void *data, const char *name), void *data,
			    struct hodo_why *e)
{
	char name[128], pair[160];
	size_t len;
	const char *event = find_event(sql, &len);

	if (!event || len >= sizeof(name))
		return;
	memcpy(name, event, len);
	name[len] = 0;
	snprintf(pair, sizeof(pair), "%s.begin", name);
	if (is_table(data, name))
		append(e, ": write \"%s\", in double quotes", name);
	else if (is_table(data, pair))
		append(e, ": a span is in the table spans: FROM spans WHERE name = '%s'", name);
}

/* The file of Parquet that a message names; false: none. */
static bool duck_hint_file(const struct hodo_why *e, char *path, size_t bytes)
{
	static const char suffix[] = ".parquet";
	const char *end = strstr(e->text, suffix), *begin = end;

	if (!end)
		return false;
	end += strlen(suffix);
	/* Quoted, or a word of its own. */
	while (begin > e->text && !strchr("'\"", begin[-1]) && !(begin[-1] == ' ' && *begin == '/'))
		begin--;
	if (begin == e->text || (size_t)(end - begin) >= bytes)
		return false;
	memcpy(path, begin, (size_t)(end - begin));
	path[end - begin] = 0;
	return true;
}

/* It is none of hodo's: what helps if its directory is missing. Cuts the path short. */
static void duck_hint_folder(struct hodo_why *e, char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return;
	*slash = 0;
	if (access(path, F_OK) != 0)
		append(e, ": there is no directory %s: make it", path);
}

/* ------------------------------------------------------------------- parameters */

/* The values that statements get, and whether all of them were wanted. */
struct duck_parameters {
	const struct hodo_duck_parameter *given;
	uint32_t n;
	bool *used;             /* some statement has it */
	bool any;               /* some statement has parameters */
	struct hodo_near *near; /* names of the statements' like it */
};

/* name: $NAME of the statement; NULL: it has a number. */
static int bind_one(struct duck_parameters *p, duck_handle statement, uint64_t i, const char *name,
		    struct hodo_why *e)
{
	for (uint32_t k = 0; k < p->n && name; k++) {
		if (strcasecmp(p->given[k].name, name) != 0)
			continue;
		p->used[k] = true;
		return duck.bind_varchar(statement, i, p->given[k].value) ? hodo_why(e, -ENOMEM, "no memory") : 0;
	}
	return hodo_why(e, -EINVAL, "the statement has $%s: give it a value with --set %s=VALUE", name ? name : "?",
			name ? name : "PARAM");
}

/* Gives a statement its values. 0, or a negative errno: it has one that was not given. */
static int duck_parameters_bind(struct duck_parameters *p, duck_handle statement, struct hodo_why *e)
{
	int err = 0;

	for (uint64_t i = 1; i <= duck.nparams(statement) && !err; i++) {
		char *name = duck.parameter_name(statement, i);

		for (uint32_t k = 0; k < p->n && name; k++)
			hodo_near_look(&p->near[k], name);
		p->any = true;
		err = bind_one(p, statement, i, name, e);
		if (name)
			duck.free(name);
	}
	return err;
}

/*
 * After all statements were bound: 0, or -EINVAL: none has one that was given. What is not given at all is not looked
 * for: the one that is given under a wrong name says more.
 */
static int duck_parameters_check(struct duck_parameters *p, struct hodo_why *e)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (!p->used[k])
			return hodo_why(e, -EINVAL, "--set %s: the statement has no $%s%s", p->given[k].name,
					p->given[k].name, p->near[k].n ? hodo_near_text(&p->near[k]) :
					p->any ? ": write it as the statement does" : ", and no other: leave it out");
	return 0;
}

static int duck_parameters_start(struct duck_parameters *p, const struct hodo_duck_parameter *given, uint32_t n)
{
	*p = (struct duck_parameters){ .given = given, .n = n };
	p->used = calloc(n + 1, sizeof(*p->used));
	p->near = calloc(n + 1, sizeof(*p->near));
	for (uint32_t k = 0; k < n && p->near; k++)
		p->near[k].wanted = given[k].name;
	return p->used && p->near ? 0 : -ENOMEM;
}

static void duck_parameters_end(struct duck_parameters *p)
{
	free(p->used);
	free(p->near);
}

/* --------------------------------------------------- recordings and directories */

#define VIEWS_AT_ONCE 256u

/* A directory of Parquet, and the names of its tables' folders. */
struct folder {
	char *path;
	struct hodo_strings names;
};

/* A table, wherever its rows are. */
struct view {
	struct hodo_bytes name; /* in small letters */
	const char *shown;      /* as it was found first */
	bool made;
};

struct hodo_duck {
	struct hodo_duck_options options;
	struct duck_db db;
	struct duck_sources sources;
	struct duck_seen seen;
	struct folder *folders;
	uint32_t nfolders;
	struct hodo_map views; /* struct view */
	struct hodo_arena memory;
	struct hodo_text sql;
	bool ready;
};

/* ------------------------------------------------------------------------ sources */

static int add_view(struct hodo_duck *d, const char *name)
{
	char *folded = hodo_arena_copy(&d->memory, name, strlen(name));
	struct view *view;
	bool is_new;

	if (!folded)
		return -ENOMEM;
	for (char *p = folded; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 'a' - 'A');
	view = hodo_map_add_bytes(&d->views, folded, strlen(folded), &is_new);
	if (view && is_new)
		view->shown = hodo_arena_copy(&d->memory, name, strlen(name));
	return view && view->shown ? 0 : -ENOMEM;
}

/* {"hodo_schema":1} */
static int check_mark(const char *path, int fd, struct hodo_why *e)
{
	char text[256];
	const char *number;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	long version;

	text[n < 0 ? 0 : n] = 0;
	number = strstr(text, "\"hodo_schema\":");
	version = number ? strtol(number + strlen("\"hodo_schema\":"), NULL, 10) : 0;
	if (version < 1)
		return hodo_why(e, -EBADMSG, "%s/" HODO_DUCK_MARK ": does not say of which version the tables are",
				path);
	if (version > HODO_ROWS_VERSION)
		return hodo_why(e, -EPROTONOSUPPORT, "%s: is of a newer hodo (tables %ld, here %d): install that one",
				path, version, HODO_ROWS_VERSION);
	return 0;
}

#define FOLDERS 3 /* a table's, a host's, a day's */

/* Whether a folder has a file of Parquet. */
static bool has_files(int dirfd_, const char *name, int depth)
{
	HODO_AUTO_CLOSEDIR DIR *dir = depth ? hodo_dir_list(dirfd_, name) : NULL;
	bool has = false;

	for (const char *entry; dir && !has && (entry = hodo_dir_next(dir));) {
		size_t len = strlen(entry);

		has = (len > 8 && strcmp(entry + len - 8, ".parquet") == 0) || has_files(dirfd(dir), entry, depth - 1);
	}
	return has;
}

static int add_folder(struct hodo_duck *d, const char *path, struct hodo_why *e)
{
	HODO_AUTO_CLOSEDIR DIR *dir = opendir(path);
	struct folder *f = hodo_vec_add(d->folders, d->nfolders);
	int err = 0;

	if (!dir)
		return hodo_why(e, -errno, "%s: cannot be read: %s", path, strerror(errno));
	if (!f || !(f->path = strdup(path)))
		return hodo_why(e, -ENOMEM, "no memory");
	for (const char *name; !err && (name = hodo_dir_next(dir));) {
		char decoded[NAME_MAX + 1];

		if (*name == '.' || *name == '_' || !has_files(dirfd(dir), name, FOLDERS))
			continue;
		if (hodo_strings_add(&f->names, name) == HODO_STRINGS_NONE)
			return hodo_why(e, -ENOMEM, "no memory");
		snprintf(decoded, sizeof(decoded), "%s", name);
		/* A name that is none of ours is left alone. */
		if (hodo_percent_decode(decoded) && *decoded)
			err = add_view(d, decoded);
	}
	if (err)
		return hodo_why(e, err, "no memory");
	err = duck_seen_add_folder(&d->seen, path, dirfd(dir), e);
	return err < 0 ? err : err > 0;
}

/* 1: e says what is left out, or counted twice. */
static int add_opened(struct hodo_duck *d, const char *path, struct hodo_read *reader, struct hodo_why *e)
{
	int twice = duck_seen_add(&d->seen, &d->sources, path, reader, e);
	char *copy;

	if (twice < 0 || twice == DUCK_ADDS_NOTHING)
		return twice;
	copy = strdup(path);
	if (!copy || hodo_vec_push(d->sources.recordings, d->sources.nrecordings, copy) < 0) {
		free(copy);
		return hodo_why(e, -ENOMEM, "no memory");
	}
	if (hodo_rows_schema_add(d->sources.schema, reader) < 0)
		return hodo_why(e, -ENOMEM, "no memory");
	return twice != DUCK_NOT_TWICE;
}

static int add_recording(struct hodo_duck *d, const char *path, struct hodo_why *e)
{
	struct hodo_read *reader = NULL;
	struct hodo_symbols *symbols = NULL;
	int err = d->options.open(d->options.data, path, &reader, &symbols, e);

	if (!err)
		err = add_opened(d, path, reader, e);
	hodo_symbols_free(symbols);
	hodo_read_close(reader);
	return err;
}

int hodo_duck_add(struct hodo_duck *d, const char *path, struct hodo_why *e)
{
	HODO_AUTO_FREE char *mark = NULL;
	HODO_AUTO_CLOSE int fd = -1;
	int err;

	if (asprintf(&mark, "%s/" HODO_DUCK_MARK, path) < 0)
		return hodo_why(e, -ENOMEM, "no memory");
	fd = hodo_file_open(AT_FDCWD, mark);
	if (fd < 0)
		return add_recording(d, path, e);
	err = check_mark(path, fd, e);
	return err ? err : add_folder(d, path, e);
}

/* -------------------------------------------------------------------------- views */

static void add_files(struct hodo_duck *d, const char *folder, const char *table)
{
	struct hodo_text pattern = { 0 };

	duck_add_glob_text(&pattern, folder);
	hodo_text_char(&pattern, '/');
	duck_add_glob_text(&pattern, table);
	hodo_text_add(&pattern, "/**/*.parquet");
	duck_quote_text(&d->sql, hodo_text_string(&pattern));
	hodo_text_fail(&d->sql, pattern.error);
	hodo_text_free(&pattern);
}

/* Whether a folder is a table's. A name that was too long for a folder is found, and shown, by what was made of it. */
static bool is_of(const char *folder, const char *encoded, const char *name)
{
	char decoded[NAME_MAX + 1];

	snprintf(decoded, sizeof(decoded), "%s", folder);
	return strcasecmp(folder, encoded) == 0 || (hodo_percent_decode(decoded) && strcasecmp(decoded, name) == 0);
}

/* The first columns of a class's table: files have text and function only where a row has one (batch_function.c). */
#define CLASS_HEAD "SELECT NULL::BIGINT AS ts, NULL::VARCHAR AS host, NULL::VARCHAR AS process, NULL::UINTEGER AS pid, " \
		   "NULL::VARCHAR AS thread, NULL::UINTEGER AS tid, NULL::INTEGER AS cpu, NULL::VARCHAR AS text, " \
		   "NULL::VARCHAR AS function WHERE false UNION ALL BY NAME "

/* What the folders have of a table; false: nothing. */
static bool add_parquet(struct hodo_duck *d, const char *name)
{
	struct hodo_text folder = { 0 };
	bool any = false;

	duck_add_folder(&folder, name);
	hodo_text_string(&folder);
	for (uint32_t i = 0; i < d->nfolders && folder.data; i++) {
		for (uint32_t k = 0; k < d->folders[i].names.map.n; k++) {
			const char *has = hodo_strings_at(&d->folders[i].names, k);

			if (!is_of(has, folder.data, name))
				continue;
			if (!any && hodo_rows_find(d->sources.schema, name) >= HODO_ROWS_FIXED)
				hodo_text_add(&d->sql, CLASS_HEAD);
			hodo_text_add(&d->sql, any ? ", " : "SELECT * FROM read_parquet([");
			add_files(d, d->folders[i].path, has);
			any = true;
		}
	}
	hodo_text_add(&d->sql, any ? "], union_by_name = true, hive_partitioning = false)" : "");
	hodo_text_free(&folder);
	return any;
}

static int make_view(struct hodo_duck *d, struct view *view, struct hodo_why *e)
{
	uint32_t number = hodo_rows_find(d->sources.schema, view->shown);
	struct hodo_text *t = &d->sql;
	size_t begin;
	int err;

	t->len = 0;
	hodo_text_add(t, "CREATE VIEW ");
	duck_quote_name(t, view->shown);
	hodo_text_add(t, " AS ");
	/* Without recordings it has no rows, but columns, where no file has any. */
	if (number != UINT32_MAX && duck_sources_any(&d->sources))
		hodo_text_printf(t, "SELECT * FROM hodo_rows(%u) UNION ALL BY NAME ", number);
	begin = t->len;
	if (!add_parquet(d, view->shown) && number != UINT32_MAX && duck_sources_any(&d->sources))
		t->len = begin - strlen(" UNION ALL BY NAME ");
	else if (t->len == begin)
		hodo_text_printf(t, "SELECT * FROM hodo_rows(%u)", number);
	view->made = true;
	err = t->error ? t->error : duck_db_run(&d->db, hodo_text_string(t), e);
	return err;
}

/* Whether a statement asks for the tables themselves. */
static bool asks_for_all(const char *sql)
{
	static const char *const words[] = {
		"information_schema", "duckdb_", "sqlite_", "pg_", "pragma", "show", "describe",
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(sql, words[i]))
			return true;
	return false;
}

/* Whether a statement may name it: its name stands somewhere there, in any case of letters. Files of Parquet are opened
 * when their view is made, and one that is damaged is in the way of those alone who ask for it. */
static bool is_named(const struct hodo_duck *d, const struct view *view, const char *sql)
{
	HODO_AUTO(hodo_text_free) struct hodo_text quoted = { 0 };

	if (d->views.n <= VIEWS_AT_ONCE && (!d->nfolders || asks_for_all(sql)))
		return true;
	if (!strchr(view->shown, '"'))
		return strcasestr(sql, view->shown);
	duck_quote_name(&quoted, view->shown);
	/* Without memory for the name, it may be named. */
	return !hodo_text_string(&quoted) || strcasestr(sql, quoted.data);
}

static int make_views(struct hodo_duck *d, const char *sql, struct hodo_why *e)
{
	int err = 0;

	for (uint32_t i = 0; i < d->views.n && !err; i++) {
		struct view *view = hodo_map_at(&d->views, i);

		if (view->made || !is_named(d, view, sql))
			continue;
		err = make_view(d, view, e);
		/* A class may have any name, one of the library's own, too: it is a table that is not there then. */
		if (err != -ENOMEM && hodo_rows_find(d->sources.schema, view->shown) >= HODO_ROWS_FIXED)
			err = 0;
	}
	return err;
}

/* The table of tables, and what is known before the first statement. */
static int get_ready(struct hodo_duck *d, struct hodo_why *e)
{
	int err = 0;

	for (uint32_t i = 0; i < hodo_rows_ntables(d->sources.schema) && !err; i++)
		if (add_view(d, hodo_rows_table(d->sources.schema, i)->name) < 0)
			err = hodo_why(e, -ENOMEM, "no memory");
	d->sql.len = 0;
	hodo_text_printf(&d->sql, "CREATE VIEW " HODO_ROWS_OF_TABLES " AS SELECT %d AS version, name FROM (VALUES ", HODO_ROWS_VERSION);
	for (uint32_t i = 0; i < d->views.n; i++) {
		hodo_text_add(&d->sql, i ? ", (" : "(");
		duck_quote_text(&d->sql, ((struct view *)hodo_map_at(&d->views, i))->shown);
		hodo_text_char(&d->sql, ')');
	}
	hodo_text_add(&d->sql, ") AS tables(name)");
	if (!err)
		err = duck_db_run(&d->db, hodo_text_string(&d->sql), e);
	d->ready = true;
	return err;
}

/* --------------------------------------------------------------------- statements */

static int prepare(struct hodo_duck *d, duck_handle all, uint64_t i, duck_handle *statement, struct hodo_why *e)
{
	if (duck.prepare_extracted_statement(d->db.connection, all, i, statement) == 0)
		return 0;
	return duck_db_error(duck.prepare_error(*statement), e);
}

/* last: no other statement may have the parameters that none had so far. */
static int run_one(struct hodo_duck *d, duck_handle all, uint64_t i, struct duck_parameters *parameters, bool last,
		   const struct hodo_duck_sink *sink, struct hodo_why *e)
{
	enum { QUERY_RESULT = 3 };
	struct duck_result result = { 0 };
	duck_handle statement = NULL;
	struct hodo_why missing;
	int err = prepare(d, all, i, &statement, e), lacks = 0;

	if (!err)
		lacks = duck_parameters_bind(parameters, statement, &missing);
	/* One under a wrong name explains that another one is missing. */
	if (!err && last)
		err = duck_parameters_check(parameters, e);
	if (!err && lacks)
		*e = missing, err = lacks;
	if (!err && duck.execute_prepared(statement, &result) != 0)
		err = duck_db_error(duck.result_error(&result), e);
	else if (!err && duck.result_return_type(result) == QUERY_RESULT)
		err = duck_result_put(&result, sink, e);
	duck.destroy_result(&result);
	duck.destroy_prepare(&statement);
	return err;
}

static bool is_table(void *duck_, const char *name)
{
	struct hodo_duck *d = duck_;
	HODO_AUTO_FREE char *folded = strdup(name);

	for (char *p = folded; p && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return folded && hodo_map_find_bytes(&d->views, folded, strlen(folded));
}

static int take_recording(void *recording, uint32_t n, const struct hodo_duck_cell *cells)
{
	snprintf(recording, PATH_MAX, "%.*s", cells[0].null ? 0 : (int)cells[0].len, cells[0].text);
	return 0;
}

/* A file cannot be read: whose it is, and what helps. The names of files begin with their recording's stem. */
static void hint_file(struct hodo_duck *d, struct hodo_why *e)
{
	char path[PATH_MAX], recording[PATH_MAX] = "";
	const struct hodo_duck_sink sink = { .row = take_recording, .data = recording };
	struct duck_result result = { 0 };
	bool ours = false;

	if (!duck_hint_file(e, path, sizeof(path)))
		return;
	for (uint32_t i = 0; i < d->nfolders; i++) {
		size_t len = strlen(d->folders[i].path);
		const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		struct hodo_text pattern = { 0 };

		if (strncmp(path, d->folders[i].path, len) != 0)
			continue;
		ours = true;
		duck_add_glob_text(&pattern, d->folders[i].path);
		hodo_text_printf(&pattern, "/hosts/*/*/%.16s-*.parquet", base);
		d->sql.len = 0;
		hodo_text_add(&d->sql, "SELECT recording FROM read_parquet(");
		duck_quote_text(&d->sql, hodo_text_string(&pattern));
		hodo_text_char(&d->sql, ')');
		if (duck.query(d->db.connection, hodo_text_string(&d->sql), &result) == 0)
			duck_result_put(&result, &sink, NULL);
		duck.destroy_result(&result);
		hodo_text_free(&pattern);
	}
	if (!ours) {
		duck_hint_folder(e, path);
		return;
	}
	hodo_why(e, 0, "%s: export %s%s with --force again, or remove that file", e->text,
		 *recording ? "the recording " : "its recording", recording);
}

int hodo_duck_run(struct hodo_duck *d, const char *sql, const struct hodo_duck_parameter *parameters,
		  uint32_t nparameters, const struct hodo_duck_sink *sink, struct hodo_why *e)
{
	struct duck_parameters given = { 0 };
	duck_handle all = NULL;
	int err = d->ready ? 0 : get_ready(d, e);
	uint64_t n;

	if (!err)
		err = make_views(d, sql, e);
	if (err) {
		hint_file(d, e);
		return err;
	}
	n = duck.extract_statements(d->db.connection, sql, &all);
	if (n == 0 && duck.extract_statements_error(all))
		err = duck_db_error(duck.extract_statements_error(all), e);
	if (!err && duck_parameters_start(&given, parameters, nparameters) < 0)
		err = hodo_why(e, -ENOMEM, "no memory");
	for (uint64_t i = 0; i < n && !err; i++)
		err = run_one(d, all, i, &given, i + 1 == n && !d->options.many, sink, e);
	duck_parameters_end(&given);
	duck.destroy_extracted(&all);
	if (err < 0 && err != -EPIPE) {
		duck_hint_event(sql, is_table, d, e);
		hint_file(d, e);
	}
	return err;
}

void hodo_duck_interrupt(struct hodo_duck *d)
{
	duck.interrupt(d->db.connection);
}

/* ------------------------------------------------------------------ open and close */

int hodo_duck_open(struct hodo_duck **duck_, const struct hodo_duck_options *options, struct hodo_why *e)
{
	struct hodo_duck *d = calloc(1, sizeof(*d));
	int err;

	*duck_ = NULL;
	if (!d)
		return hodo_why(e, -ENOMEM, "no memory");
	d->options = *options;
	d->views = (struct hodo_map)HODO_MAP_BYTES(struct view);
	d->sources.options = &d->options;
	d->sources.schema = hodo_rows_schema_new();
	err = d->sources.schema ? duck_db_open(&d->db, options->memory, options->temporary, false, e)
				: hodo_why(e, -ENOMEM, "no memory");
	if (!err)
		err = duck_sources_register(&d->sources, &d->db, e);
	if (err) {
		hodo_duck_close(d);
		return err;
	}
	*duck_ = d;
	return 0;
}

void hodo_duck_close(struct hodo_duck *d)
{
	if (!d)
		return;
	if (d->db.db)
		duck_db_close(&d->db);
	for (uint32_t i = 0; i < d->nfolders; i++) {
		free(d->folders[i].path);
		hodo_strings_free(&d->folders[i].names);
	}
	free(d->folders);
	for (uint32_t i = 0; i < d->sources.nrecordings; i++)
		free(d->sources.recordings[i]);
	free(d->sources.recordings);
	duck_seen_free(&d->seen);
	hodo_rows_schema_free(d->sources.schema);
	hodo_map_free(&d->views);
	hodo_arena_free(&d->memory);
	hodo_text_free(&d->sql);
	free(d);
}
