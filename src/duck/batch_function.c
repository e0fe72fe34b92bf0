/* SPDX-License-Identifier: MIT */
/* batch_function.c - a batch as a table function: see batch_function.h. The library reads it by one thread. */
#include "batch_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------- names */

static int make_codes(struct duck_codes *c, const struct hodo_rows_batch *b)
{
	if (c->codes)
		return 0;
	c->codes = malloc((b->names->map.n + 1) * sizeof(*c->codes));
	if (c->codes)
		memset(c->codes, 0xff, b->names->map.n * sizeof(*c->codes));
	return c->codes ? 0 : -ENOMEM;
}

static void add_code(struct duck_codes *c, uint64_t name)
{
	if (c->codes[name] == UINT32_MAX)
		c->codes[name] = c->n++;
}

/* The enum of the names that have codes; NULL: there are none. kept: NULL, or gets the names by code. */
static duck_handle enum_type(struct duck_codes *c, const struct hodo_rows_batch *b, const char ***kept)
{
	const char **names = c->n ? calloc(c->n, sizeof(*names)) : NULL;
	duck_handle type = NULL;

	for (uint32_t i = 0; names && i < b->names->map.n; i++)
		if (c->codes[i] != UINT32_MAX)
			names[c->codes[i]] = hodo_strings_at(b->names, i);
	if (names)
		type = duck.create_enum_type(names, c->n);
	/* As the library decides it. */
	c->bytes = c->n <= UINT8_MAX ? 1 : c->n <= UINT16_MAX ? 2 : 4;
	if (kept)
		*kept = names;
	else
		free(names);
	return type;
}

static int code_names(struct duck_gathered *g, uint32_t column)
{
	const struct hodo_rows_values *v = &g->batch->columns[column];
	struct duck_codes *c = &g->codes[column];
	const uint32_t *names = v->data;
	uint32_t last = UINT32_MAX; /* most rows have the same as the one before */

	if (!v->nvalid)
		return 0;
	if (make_codes(c, g->batch) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->batch->n; i++)
		if (names[i] != last && hodo_rows_has(v, i)) {
			last = names[i];
			add_code(c, last);
		}
	g->types[column] = enum_type(c, g->batch, column == HODO_ROWS_HOST ? &g->hosts : NULL);
	return g->types[column] ? 0 : -ENOMEM;
}

/* -------------------------------------------------------------------------- fields */

/* Of a class's table, columns that most classes have no value for are given only where one has. */
static bool is_given(const struct hodo_rows_batch *b, uint32_t column)
{
	return b->columns[column].nvalid > 0 || b->number < HODO_ROWS_FIXED ||
	       (column != HODO_ROWS_TEXT && column != HODO_ROWS_FUNCTION);
}

/* Which members have a value, and which names they have. */
static int find_members(struct duck_gathered *g, const struct hodo_rows_values *v, bool *used)
{
	const struct hodo_rows_column *members = hodo_rows_members(g->schema);
	const struct hodo_rows_bytes *rows = v->data;

	for (uint32_t i = 0; v->data && i < g->batch->n; i++) {
		const struct hodo_rows_cell *cell = rows[i].data;

		for (uint32_t n = hodo_rows_has(v, i) ? rows[i].n : 0; n > 0; n--, cell++) {
			struct duck_codes *c = &g->member_codes[cell->member];

			used[cell->member] = true;
			if (members[cell->member].type != HODO_ROWS_NAME)
				continue;
			if (make_codes(c, g->batch) < 0)
				return -ENOMEM;
			add_code(c, cell->u);
		}
	}
	return 0;
}

static int make_struct(struct duck_gathered *g, uint32_t column)
{
	const struct hodo_rows_column *members = hodo_rows_members(g->schema);
	duck_handle types[HODO_ROWS_MEMBERS_MAX];
	const char *names[HODO_ROWS_MEMBERS_MAX] = { "none" };
	bool used[HODO_ROWS_MEMBERS_MAX] = { false };
	uint32_t n = 0;

	if (find_members(g, &g->batch->columns[column], used) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < hodo_rows_nmembers(g->schema); i++) {
		g->children[i] = used[i] ? n : UINT32_MAX;
		if (!used[i])
			continue;
		g->member_of[n] = i;
		names[n] = members[i].name;
		types[n++] = g->member_codes[i].codes ? enum_type(&g->member_codes[i], g->batch, NULL)
						      : duck_type(members[i].type, NULL, 0);
	}
	g->nchildren = n;
	if (n == 0)
		types[n++] = duck.create_logical_type(DUCK_BOOLEAN);
	g->types[column] = duck.create_struct_type(types, names, n);
	for (uint32_t i = 0; i < n; i++)
		duck.destroy_logical_type(&types[i]);
	return g->types[column] ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------ the batch */

void duck_gathered_drop(struct duck_gathered *g)
{
	for (uint32_t i = 0; g->batch && i < g->batch->table->ncolumns; i++) {
		if (g->types[i])
			duck.destroy_logical_type(&g->types[i]);
		free(g->codes[i].codes);
		g->codes[i] = (struct duck_codes){ 0 };
	}
	for (uint32_t i = 0; i < HODO_ROWS_MEMBERS_MAX; i++) {
		free(g->member_codes[i].codes);
		g->member_codes[i] = (struct duck_codes){ 0 };
	}
	free(g->hosts);
	g->hosts = NULL;
	g->batch = NULL;
}

uint32_t duck_gathered_host(const struct duck_gathered *g, uint32_t row)
{
	const struct hodo_rows_values *v = &g->batch->columns[HODO_ROWS_HOST];

	return g->hosts && hodo_rows_has(v, row) ? g->codes[HODO_ROWS_HOST].codes[((const uint32_t *)v->data)[row]]
						 : UINT32_MAX;
}

int duck_gathered_set(struct duck_gathered *g, const struct hodo_rows_batch *at, const struct hodo_rows_batch *batch)
{
	int err = 0;

	duck_gathered_drop(g);
	g->batch = batch;
	g->ncolumns = 0;
	for (uint32_t i = 0; i < batch->table->ncolumns && !err; i++) {
		uint32_t type = batch->table->columns[i].type;

		g->types[i] = NULL;
		if (type == HODO_ROWS_FIELDS)
			err = make_struct(g, i);
		else if (type == HODO_ROWS_NAME)
			err = code_names(g, i);
		if (!err && !g->types[i])
			g->types[i] = duck_type(type, NULL, 0);
		if (is_given(batch, i))
			g->columns[g->ncolumns++] = i;
	}
	if (err)
		duck_gathered_drop(g);
	else
		g->batch = at;
	return err;
}

/* -------------------------------------------------------------------- the function */

static void bind_gathered(duck_handle info)
{
	struct duck_gathered *g = duck.bind_get_extra_info(info);

	for (uint32_t i = 0; i < g->ncolumns; i++) {
		uint32_t column = g->columns[i];

		duck.bind_add_result_column(info, g->batch->table->columns[column].name, g->types[column]);
	}
	duck.bind_set_bind_data(info, g, NULL);
}

static void init_gathered(duck_handle info)
{
	((struct duck_gathered *)duck.init_get_bind_data(info))->at = 0;
	duck.init_set_max_threads(info, 1);
}

static void give_rows(duck_handle info, duck_handle chunk)
{
	struct duck_gathered *g = duck.function_get_bind_data(info);
	struct duck_fill fill = {
		.batch = g->batch,
		.rows = g->rows,
		.from = g->at,
		.n = g->n - g->at < DUCK_ROWS ? g->n - g->at : DUCK_ROWS,
		.children = g->children,
		.member_codes = g->member_codes,
		.nchildren = g->nchildren,
		.members = hodo_rows_members(g->schema),
		.member_of = g->member_of,
	};
	int err = 0;

	for (uint32_t i = 0; fill.n && i < g->ncolumns && !err; i++) {
		const struct duck_codes *codes = &g->codes[g->columns[i]];

		err = duck_vector_fill(duck.data_chunk_get_vector(chunk, i), &fill, g->columns[i],
				       codes->codes ? codes : NULL);
	}
	if (err)
		duck.function_set_error(info, "no memory");
	duck.data_chunk_set_size(chunk, err ? 0 : fill.n);
	g->at += fill.n;
}

int duck_gathered_register(struct duck_gathered *g, struct duck_db *db, struct hodo_why *e)
{
	duck_handle function = duck.create_table_function();
	int err = 0;

	duck.table_function_set_name(function, g->name);
	duck.table_function_set_extra_info(function, g, NULL);
	duck.table_function_set_bind(function, bind_gathered);
	duck.table_function_set_init(function, init_gathered);
	duck.table_function_set_function(function, give_rows);
	if (duck.register_table_function(db->connection, function) != 0)
		err = hodo_why(e, -EINVAL, "DuckDB takes no table function: set HODO_DUCKDB to another libduckdb.so");
	duck.destroy_table_function(&function);
	return err;
}
