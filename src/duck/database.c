/* SPDX-License-Identifier: MIT */
/* database.c - a database of DuckDB's in memory, and statements for it. */
#include "duck_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is set when it is opened. Nothing is fetched from the network, whatever a statement names. */
static int set_all(duck_handle config, uint64_t memory, const char *temporary, bool one_thread)
{
	char limit[32];
	const char *const options[][2] = {
		{ "autoinstall_known_extensions", "false" },
		{ "autoload_known_extensions", "false" },
		{ "memory_limit", limit },
		{ "temp_directory", temporary ? temporary : "" },
	};

	snprintf(limit, sizeof(limit), "%lluKiB", (unsigned long long)(memory >> 10));
	/* Threads that have nothing to do look for it all the time. */
	if (one_thread && duck.set_config(config, "threads", "1") != 0)
		return -EINVAL;
	for (unsigned i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (duck.set_config(config, options[i][0], options[i][1]) != 0)
			return -EINVAL;
	return 0;
}

int duck_db_open(struct duck_db *db, uint64_t memory, const char *temporary, bool one_thread, struct hodo_why *e)
{
	duck_handle config = NULL;
	char *message = NULL;
	int err = hodo_duck_load(e);

	*db = (struct duck_db){ 0 };
	if (err)
		return err;
	if (duck.vector_size() != DUCK_ROWS)
		return hodo_why(e, -ENOSYS, "this libduckdb.so has chunks of %llu rows instead of %u: set "
				"HODO_DUCKDB to one that is built as usual", (unsigned long long)duck.vector_size(),
				DUCK_ROWS);
	if (duck.create_config(&config) != 0 || set_all(config, memory, temporary, one_thread) < 0)
		err = hodo_why(e, -ENOSYS, "DuckDB %s lacks a setting that hodo needs: set HODO_DUCKDB to another "
			       "one", duck.library_version());
	else if (duck.open_ext(NULL, &db->db, config, &message) != 0)
		err = duck_db_error(message, e);
	else if (duck.connect(db->db, &db->connection) != 0)
		err = hodo_why(e, -ENOMEM, "DuckDB makes no connection: no memory");
	if (message)
		duck.free(message);
	duck.destroy_config(&config);
	if (err)
		duck_db_close(db);
	return err;
}

void duck_db_close(struct duck_db *db)
{
	if (db->connection)
		duck.disconnect(&db->connection);
	if (db->db)
		duck.close(&db->db);
	*db = (struct duck_db){ 0 };
}

int duck_db_error(const char *message, struct hodo_why *e)
{
	size_t n = 0;
	int err = -EINVAL;

	message = message ? message : "no reason given";
	if (strstr(message, "No space left") || strncmp(message, "IO Error", 8) == 0)
		err = -EIO;
	if (strncmp(message, "Out of Memory", 13) == 0)
		err = -ENOMEM;
	/* The first paragraph: behind it there is the statement, and advice for those who wrote it. */
	for (; *message && n + 1 < sizeof(e->text) && strncmp(message, "\n\n", 2) != 0; message++)
		e->text[n++] = iscntrl((unsigned char)*message) ? ' ' : *message;
	e->text[n] = 0;
	return err;
}

int duck_db_run(struct duck_db *db, const char *sql, struct hodo_why *e)
{
	struct duck_result result = { 0 };
	int err = 0;

	if (duck.query(db->connection, sql, &result) != 0)
		err = duck_db_error(duck.result_error(&result), e);
	duck.destroy_result(&result);
	return err;
}

static void quote(struct hodo_text *sql, const char *text, char mark)
{
	hodo_text_char(sql, mark);
	for (; *text; text++) {
		if (*text == mark)
			hodo_text_char(sql, mark);
		hodo_text_char(sql, *text);
	}
	hodo_text_char(sql, mark);
}

void duck_quote_text(struct hodo_text *sql, const char *text)
{
	quote(sql, text, '\'');
}

void duck_quote_name(struct hodo_text *sql, const char *name)
{
	/* A name that is empty is none to DuckDB. */
	quote(sql, *name ? name : " ", '"');
}

void duck_add_glob_text(struct hodo_text *t, const char *path)
{
	for (; *path; path++)
		hodo_text_printf(t, strchr("*?[", *path) ? "[%c]" : "%c", *path);
}

/* ------------------------------------------------------------------------------ types */

/* The library's type for one of enum hodo_type, HODO_ROWS_NAME included. */
static int type_id(uint32_t type)
{
	static const uint8_t types[] = {
		[HODO_TYPE_NONE] = DUCK_BOOLEAN,  [HODO_TYPE_I8] = DUCK_TINYINT,    [HODO_TYPE_U8] = DUCK_UTINYINT,
		[HODO_TYPE_I16] = DUCK_SMALLINT,  [HODO_TYPE_U16] = DUCK_USMALLINT, [HODO_TYPE_I32] = DUCK_INTEGER,
		[HODO_TYPE_U32] = DUCK_UINTEGER,  [HODO_TYPE_I64] = DUCK_BIGINT,    [HODO_TYPE_U64] = DUCK_UBIGINT,
		[HODO_TYPE_BOOL] = DUCK_BOOLEAN,  [HODO_TYPE_CHAR] = DUCK_TINYINT,  [HODO_TYPE_F32] = DUCK_FLOAT,
		[HODO_TYPE_F64] = DUCK_DOUBLE,    [HODO_TYPE_PTR] = DUCK_UBIGINT,   [HODO_TYPE_STR] = DUCK_VARCHAR,
		[HODO_TYPE_BYTES] = DUCK_BLOB,
	};

	if (type == HODO_ROWS_NAME)
		return DUCK_VARCHAR;
	type &= ~(uint32_t)HODO_TYPE_ARRAY;
	return type < sizeof(types) ? types[type] : DUCK_BOOLEAN;
}

static duck_handle struct_type(const struct hodo_rows_column *members, uint32_t n)
{
	duck_handle types[HODO_ROWS_MEMBERS_MAX], type;
	const char *names[HODO_ROWS_MEMBERS_MAX] = { "none" };

	for (uint32_t i = 0; i < n; i++) {
		types[i] = duck_type(members[i].type, NULL, 0);
		names[i] = members[i].name;
	}
	/* There is no struct without members. */
	if (n == 0)
		types[n++] = duck.create_logical_type(DUCK_BOOLEAN);
	type = duck.create_struct_type(types, names, n);
	for (uint32_t i = 0; i < n; i++)
		duck.destroy_logical_type(&types[i]);
	return type;
}

duck_handle duck_type(uint32_t type, const struct hodo_rows_column *members, uint32_t nmembers)
{
	duck_handle element, whole;

	if (type == HODO_ROWS_FIELDS)
		return struct_type(members, nmembers);
	element = duck.create_logical_type(type_id(type));
	if (type == HODO_ROWS_NAME || !(type & HODO_TYPE_ARRAY))
		return element;
	whole = duck.create_list_type(element);
	duck.destroy_logical_type(&element);
	return whole;
}

/* ------------------------------------------------------------------------ folders */

#define FOLDER_MAX 200u /* bytes: with what stands before it a name that file systems take */

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("_-.", c);
}

/* What is too long ends with a number made of all of it: two names are two folders. */
void duck_add_folder(struct hodo_text *path, const char *name)
{
	uint64_t sum = 0xcbf29ce484222325ull;
	size_t begin = path->len;

	for (const char *p = name; *p; p++) {
		sum = (sum ^ (uint8_t)*p) * 0x100000001b3ull;
		if (path->len - begin > FOLDER_MAX - 20)
			continue;
		if (is_plain(*p) && !(p == name && *p == '.'))
			hodo_text_char(path, *p);
		else
			hodo_text_printf(path, "%%%02X", (uint8_t)*p);
	}
	if (path->len - begin > FOLDER_MAX - 20)
		hodo_text_printf(path, "~%016llx", (unsigned long long)sum);
}
