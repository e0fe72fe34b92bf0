/* SPDX-License-Identifier: MIT */
/* test_columns.c - which events are selected, and that tables in columns have the values of the events. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <errno.h>
#include <hodo/columns.h>
#include <unistd.h>

static char why[256];

static struct hodo_read_columns *columns_of(struct hodo_read *r, const char *const *names, uint32_t n, uint32_t rows)
{
	const struct hodo_read_columns_options o = { .size = sizeof(o), .table = HODO_READ_TABLE_EVENTS, .names = names,
						     .nnames = n, .rows = rows, .json = true, .error = why,
						     .error_bytes = sizeof(why) };
	struct hodo_read_columns *c;

	assert_int_equal(hodo_read_columns_new(&c, r, &o), 0);
	return c;
}

static void select_events(struct hodo_read *r, const char *events, const char *filter)
{
	const struct hodo_read_selection s = { .size = sizeof(s), .events = events, .filter = filter };

	assert_int_equal(hodo_read_select(r, &s, false, why, sizeof(why)), 0);
}

/* -------------------------------------------------------------------- comparison */

static bool is_valid(const struct hodo_read_column *c, uint32_t row)
{
	return !c->valid || (c->valid[row / 8] >> row % 8 & 1);
}

static const struct hodo_read_column *column_of(const struct hodo_read_batch *b, const char *name)
{
	for (uint32_t i = 0; i < b->ncolumns; i++)
		if (strcmp(b->columns[i]->name, name) == 0)
			return b->columns[i];
	return NULL;
}

static const char *text_at(const struct hodo_read_columns *c, const struct hodo_read_column *column, uint32_t row)
{
	return is_valid(column, row) ? hodo_read_columns_text(c, ((const uint32_t *)column->values)[row]) : NULL;
}

static int64_t signed_at(const struct hodo_read_column *c, uint32_t row)
{
	const void *at = (const char *)c->values + (size_t)row * c->bytes;

	return c->bytes == 1 ? *(const int8_t *)at : c->bytes == 2 ? *(const int16_t *)at :
	       c->bytes == 4 ? *(const int32_t *)at : *(const int64_t *)at;
}

static void check_varying(const struct hodo_read_column *c, uint32_t row, const struct hodo_read_value *v)
{
	uint32_t from = c->offsets[row], n = c->offsets[row + 1] - from;

	if (v->type == HODO_TYPE_STR && v->null) {
		assert_false(is_valid(c, row));
		assert_int_equal(n, 0);
		return;
	}
	assert_true(is_valid(c, row));
	if (v->type != HODO_TYPE_STR) /* in a text, one byte may have become two */
		assert_int_equal(n, v->count);
	else
		assert_true(n >= v->count && n <= 2 * v->count);
	if (n == v->count && v->type != (HODO_TYPE_BOOL | HODO_TYPE_ARRAY))
		assert_memory_equal((const char *)c->values + (size_t)from * c->bytes, v->data, (size_t)n * c->bytes);
}

static void check_value(const struct hodo_read_column *c, uint32_t row, const struct hodo_read_value *v)
{
	double f;

	assert_int_equal(c->type, v->type);
	if (v->type >= HODO_TYPE_STR) {
		check_varying(c, row, v);
		return;
	}
	assert_true(is_valid(c, row));
	if (v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64) {
		f = c->bytes == 4 ? (double)((const float *)c->values)[row] : ((const double *)c->values)[row];
		assert_memory_equal(&f, &v->f, sizeof(f));
	} else if (v->type == HODO_TYPE_BOOL) {
		assert_int_equal(((const uint8_t *)c->values)[row], v->u != 0);
	} else {
		assert_true(((uint64_t)signed_at(c, row) ^ v->u) << (64 - 8 * c->bytes) == 0);
	}
}

static bool is_fixed(const char *name)
{
	static const char *const names[] = { "ts", "host", "process", "pid", "thread", "tid", "cpu", "text", "name" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The row has the values of the event, and none where the event has none. */
static void check_row(const struct hodo_read_columns *c, const struct hodo_read_batch *b, uint32_t row,
		      const struct hodo_read_event *e)
{
	uint32_t values = 0, fields = 0;

	assert_int_equal(signed_at(column_of(b, "ts"), row), e->ts_ns);
	assert_int_equal(signed_at(column_of(b, "tid"), row), e->tid);
	assert_int_equal(signed_at(column_of(b, "pid"), row), e->pid);
	assert_int_equal(signed_at(column_of(b, "cpu"), row), e->cpu);
	assert_string_equal(text_at(c, column_of(b, "process"), row), e->process->comm);
	assert_string_equal(text_at(c, column_of(b, "thread"), row), e->comm);
	assert_string_equal(text_at(c, column_of(b, "name"), row), e->cls->name);
	assert_int_equal(column_of(b, "text") && is_valid(column_of(b, "text"), row), e->cls->kind == HODO_KIND_MARK);
	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		const struct hodo_read_field *f = &e->cls->fields[i];
		const struct hodo_read_column *column = column_of(b, f->name);
		const char *label = f->labels ? hodo_read_label(f->labels, e->values[i].i) : NULL;

		fields += !(f->type == HODO_TYPE_STR && e->values[i].null);
		values += label != NULL;
		if (column && column->type == f->type && strcmp(f->name, "name") != 0 && strcmp(f->name, "text") != 0)
			check_value(column, row, &e->values[i]);
	}
	values += fields;
	for (uint32_t i = 0; i < b->ncolumns; i++) {
		const struct hodo_read_column *column = b->columns[i];

		values -= is_valid(column, row) && !is_fixed(column->name);
		if (!is_valid(column, row) && !column->offsets)
			assert_int_equal(signed_at(column, row), 0);
	}
	assert_int_equal(values, 0);
}

/* Every event is a row, for each size of batches. */
static uint64_t check_recording(const char *path, uint32_t rows)
{
	struct hodo_read *r = help_open(path), *other = help_open(path);
	struct hodo_read_columns *c = columns_of(r, NULL, 0, rows);
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_batch *b;
	const struct hodo_read_event *e;
	uint64_t n = 0;
	int got;

	while ((got = hodo_read_columns_next(c, &b)) > 0) {
		assert_true(b->rows > 0 && (!rows || b->rows <= rows));
		for (uint32_t row = 0; row < b->rows; row++, n++) {
			size_t len, from = b->json->offsets[row];
			const char *line;

			assert_int_equal(hodo_read_next(other, &e), 1);
			check_row(c, b, row, e);
			hodo_read_text_clear(text);
			hodo_read_text_json(text, e);
			line = hodo_read_text_data(text, &len);
			assert_int_equal(b->json->offsets[row + 1] - from, len - 1);
			assert_memory_equal((const char *)b->json->values + from, line, len - 1);
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(hodo_read_next(other, &e), 0);
	assert_int_equal(hodo_read_columns_next(c, &b), 0); /* again */
	hodo_read_text_free(text);
	hodo_read_columns_free(c);
	hodo_read_close(r);
	hodo_read_close(other);
	return n;
}

/* ------------------------------------------------------------------------- tests */

TEST(test_rows)
{
	gen_all(folder_path("all"));
	for (uint32_t rows = 0; rows < 9; rows++)
		assert_int_equal(check_recording(folder_path("all"), rows), 52);
}

TEST(test_random)
{
	uint64_t n = 0;

	for (unsigned seed = 0; seed < 40; seed++) {
		char name[32];

		snprintf(name, sizeof(name), "random%u", seed);
		gen_random(folder_path(name), seed);
		n += check_recording(folder_path(name), seed % 3 ? 0 : 7);
	}
	assert_true(n > 1000);
}

TEST(test_batches)
{
	gen_fixed(folder_path("fixed"), 200000);
	assert_int_equal(check_recording(folder_path("fixed"), 0), 200000); /* several batches */
}

TEST(test_wanted)
{
	static const char *const names[] = { "shard", "ts", "bytes" }, *const unknown[] = { "ts", "sherd\n" };
	struct hodo_read *r = help_open(folder_path("all"));
	struct hodo_read_columns_options o = { .size = sizeof(o), .names = unknown, .nnames = 2, .error = why,
					       .error_bytes = sizeof(why) };
	const struct hodo_read_batch *b;
	struct hodo_read_columns *c;
	uint64_t sum = 0;

	select_events(r, "kv:put", "shard < 4 && bytes > 0");
	c = columns_of(r, names, 3, 0);
	assert_int_equal(hodo_read_columns_schema(c)->ncolumns, 3);
	assert_string_equal(hodo_read_columns_schema(c)->columns[1]->name, "ts");
	assert_int_equal(hodo_read_columns_next(c, &b), 1);
	assert_int_equal(b->rows, 4); /* of shards 1, 2, 3; 3 */
	for (uint32_t i = 0; i < b->rows; i++)
		sum += ((const uint64_t *)b->columns[2]->values)[i];
	assert_int_equal(sum, 1 + 4 + 9 + 4096);
	assert_null(b->columns[2]->valid);
	hodo_read_columns_free(c);
	/* Only fields of selected events are columns. */
	c = columns_of(r, NULL, 0, 0);
	assert_non_null(column_of(hodo_read_columns_schema(c), "key"));
	assert_null(column_of(hodo_read_columns_schema(c), "ratio"));
	hodo_read_columns_free(c);
	assert_int_equal(hodo_read_columns_new(&c, r, &o), -ENOENT);
	assert_string_equal(why, "there is no column 'sherd\\n'");
	o.table = 7;
	assert_int_equal(hodo_read_columns_new(&c, r, &o), -EINVAL);
	hodo_read_close(r);
}

static uint64_t count(struct hodo_read *r)
{
	const struct hodo_read_event *e;
	uint64_t n = 0;

	while (hodo_read_next(r, &e) > 0)
		n++;
	return n;
}

TEST(test_select)
{
	static const struct hodo_read_selection selections[] = {
		{ .events = "kv" }, { .events = "kv:compact" }, { .events = "!kv:*" }, { .process = "500" },
		{ .process = "kv?" }, { .thread = "kvd worker" }, { .thread = "501", .filter = "shard == 3" },
		{ .events = "none:*" }, { .size = 0 },
	};
	static const uint64_t counts[] = { 44, 2, 8, 31, 21, 11, 1, 0, 52 };
	struct hodo_read_selection bad = { .filter = "shard ==" };
	struct hodo_read *r = help_open(folder_path("all"));

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(hodo_read_select(r, &selections[i], false, NULL, 0), 0);
		assert_int_equal(count(r), counts[i]);
	}
	select_events(r, "kv:compact", NULL);
	assert_int_equal(hodo_read_select(r, &bad, false, why, sizeof(why)), -EINVAL);
	assert_true(why[0]);
	bad = (struct hodo_read_selection){ .events = "a b" };
	assert_int_equal(hodo_read_select(r, &bad, false, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "'a b': an event pattern cannot have spaces");
	hodo_read_rewind(r);
	assert_int_equal(count(r), 2); /* as before */
	hodo_read_close(r);
}
