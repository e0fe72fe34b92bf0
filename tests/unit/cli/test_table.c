/* SPDX-License-Identifier: MIT */
/* test_table.c - tables of src/cli/output/table.h: text, JSON, order, choice of columns, difference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <cli/output/table.h>

/* What the engine needs from the command. */
bool hodo_use_color(enum hodo_color color, int fd)
{
	return color == HODO_COLOR_ALWAYS && fd >= 0;
}

const char *hodo_style(bool color, enum hodo_style style)
{
	return !color ? "" : style == HODO_PLAIN ? "<>" : style == HODO_NAME ? "<name>" : "<head>";
}

void hodo_add_plain(struct hodo_text *to, const char *text)
{
	hodo_text_plain(to, text, strlen(text));
}

static char said[512];

int hodo_say(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return status;
}

int hodo_no_memory(void)
{
	return 1;
}

/* ------------------------------------------------------------------ tables to try */

struct point {
	int32_t x, y;
};

struct row {
	const char *name, *note;
	uint64_t count, total_ns, rare;
	int64_t until_ns;
	double mean;
	struct point point;
	const char *tags[2];
	uint32_t ntags, pid;
};

static struct hodo_cell half(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = hodo_cell_u64((uint64_t)((double)((const struct row *)row)->total_ns * c->argument));

	v.blank = v.u == 0;
	return v;
}

static void put_note(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	hodo_text_add(to, ((const struct row *)row)->note);
}

static const struct hodo_column point_columns[] = {
	{ "x", HODO_MEMBER(struct point, x) }, { "y", HODO_MEMBER(struct point, y) },
};
static const struct hodo_columns points = { "points", HODO_COLUMNS(point_columns) };

#define ROW(name) HODO_MEMBER(struct row, name)
static const struct hodo_column columns[] = {
	{ "name", "WHAT", .flags = HODO_IDENTITY, .most = 8, .style = HODO_NAME, ROW(name) },
	{ "count", .as = HODO_AS_COUNT, .width = 7, ROW(count), .also = "calls" },
	{ "total_ns", .as = HODO_AS_TIME, .width = 10, ROW(total_ns) },
	{ "half_ns", .as = HODO_AS_TIME, .width = 10, .get = half, .argument = 0.5 },
	{ "rare", .as = HODO_AS_COUNT, .width = 5, .flags = HODO_IF_ANY, ROW(rare) },
	{ "mean", .as = HODO_AS_NUMBER, ROW(mean) },
	{ "pid", .as = HODO_AS_ID, ROW(pid) },
	{ "until_ns", .as = HODO_AS_SECONDS, .flags = HODO_OPTIONAL, ROW(until_ns) },
	{ "point", .as = HODO_AS_JSON, HODO_INNER(struct row, point, &points) },
	{ "tags", .as = HODO_AS_JSON, HODO_POINTERS(struct row, tags, ntags, &hodo_texts), .inlined = true },
	{ "note", .flags = HODO_NOTE | HODO_TEXT_ONLY, .put = put_note },
};
static const struct hodo_columns schema = { "rows", HODO_COLUMNS(columns), .sort = "count", .head = HODO_HEADING,
					    .text = "name,count,total,rare,note", .diff = "total,count" };

static const struct row rows[] = {
	{ "beta", "(1 open)", 1234567, 1500, 0, INT64_MAX, 2.5, { 1, -2 }, { "t\"1", "t2" }, 2, 30 },
	{ "gamma\x1b", "", 7, 2000000, 0, 5, INFINITY, { 0, 0 }, { NULL }, 0, 4 },
	{ "\xc3\xa4lpha", "", 7, 0, 0, INT64_MAX, NAN, { 0, 0 }, { NULL }, 0, 200 },
};

static struct hodo_table table_of(const struct row *first, size_t n)
{
	return (struct hodo_table){ .columns = &schema, .first = first, .n = n, .stride = sizeof(*first) };
}

static void check_text(const struct hodo_table *t, bool color, const char *wanted)
{
	struct hodo_text text = { 0 };

	hodo_table_put(&text, t, color);
	assert_string_equal(hodo_text_string(&text), wanted);
	hodo_text_free(&text);
}

static void check_json(const struct hodo_table *t, const char *wanted)
{
	struct hodo_text text = { 0 };
	struct hodo_json j = { .text = &text };

	hodo_table_put_json(&j, NULL, t);
	assert_string_equal(hodo_text_string(&text), wanted);
	hodo_text_free(&text);
}

static void arrange(struct hodo_table *t, const char *names, const char *sort, uint64_t limit)
{
	const struct hodo_show look = { .columns = names, .sort = sort, .limit = limit };

	hodo_table_arrange(t, &look);
}

/* The names of rows in order, with spaces. */
static void check_order(const char *sort, const char *wanted)
{
	struct hodo_table t = table_of(rows, 3);
	char found[64] = "";

	arrange(&t, NULL, sort, UINT64_MAX);
	for (size_t i = 0; i < t.n; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%zd", i ? " " : "",
			 (const struct row *)hodo_table_row(&t, i) - rows);
	assert_string_equal(found, wanted);
	hodo_table_free(&t);
}

/* -------------------------------------------------------------------------- tests */

/* A name's column is as wide as the widest name, at most 8; control bytes are escaped; a character counts once. */
TEST(text)
{
	struct hodo_table t = table_of(rows, 3);

	check_text(&t, false,
		   "WHAT        COUNT    TOTAL\n"
		   "beta      1,234,567    1.500 us (1 open)\n"
		   "gamma\\x1b        7    2.000 ms\n"
		   "\xc3\xa4lpha           7    0.000 us\n");
	check_text(&t, true,
		   "<head>WHAT        COUNT    TOTAL<>\n"
		   "<name>beta<>      1,234,567    1.500 us (1 open)\n"
		   "<name>gamma\\x1b<>        7    2.000 ms\n"
		   "<name>\xc3\xa4lpha<>           7    0.000 us\n");
}

TEST(limit_and_total)
{
	const struct row total = { .name = "total", .note = "", .count = 9, .rare = 3 };
	struct hodo_table t = table_of(rows, 3);

	t.total = &total;
	arrange(&t, NULL, NULL, 1);
	check_text(&t, false,
		   "WHAT        COUNT    TOTAL      RARE\n"
		   "beta      1,234,567    1.500 us      0 (1 open)\n"
		   "and 2 more\n"
		   "total           9    0.000 us      3\n");
	hodo_table_free(&t);
	arrange(&t, NULL, NULL, 0);
	t.more[0] = "... ";
	t.more[1] = " others";
	t.total = NULL;
	check_text(&t, false, "WHAT        COUNT    TOTAL\n... 3 others\n");
	check_json(&t, "[]");
	hodo_table_free(&t);
}

/* In the order of the names; titles are made from the keys; blank values print nothing. */
TEST(chosen)
{
	struct hodo_table t = table_of(rows, 3);

	arrange(&t, "half,pid,name", NULL, UINT64_MAX);
	check_text(&t, false,
		   "  HALF      PID  WHAT\n"
		   "  0.750 us   30  beta\n"
		   "  1.000 ms    4  gamma\\x1b\n"
		   "       -    200  \xc3\xa4lpha\n");
	hodo_table_free(&t);
}

TEST(json)
{
	struct hodo_table t = table_of(rows, 2);

	check_json(&t,
		   "[{\"name\":\"beta\",\"count\":1234567,\"total_ns\":1500,\"half_ns\":750,\"rare\":0,\"mean\":2.5,"
		   "\"pid\":30,\"point\":{\"x\":1,\"y\":-2},\"tags\":[\"t\\\"1\",\"t2\"]},"
		   "{\"name\":\"gamma\\u001b\",\"count\":7,\"total_ns\":2000000,\"half_ns\":1000000,\"rare\":0,"
		   "\"mean\":null,\"pid\":4,\"until_ns\":5,\"point\":{\"x\":0,\"y\":0},\"tags\":[]}]");
	arrange(&t, "tags,calls", NULL, 1);
	check_json(&t, "[{\"tags\":[\"t\\\"1\",\"t2\"],\"count\":1234567}]");
	hodo_table_free(&t);
}

/* The greatest first; names and process numbers from the least up; equal rows by name. */
TEST(order)
{
	check_order(NULL, "0 1 2");
	check_order("calls", "0 1 2");
	check_order("name", "0 1 2");
	check_order("total", "1 0 2");
	check_order("total_ns", "1 0 2");
	check_order("half", "1 0 2");
	check_order("pid", "1 0 2");
	check_order("mean", "1 0 2"); /* infinity is the greatest; what is not a number is last */
	check_order("unheard_of", "0 1 2");
}

TEST(difference)
{
	static const struct row after[] = {
		{ "new", "", 5, 10, .until_ns = INT64_MAX }, { "beta", "", 1234567, 3000, .until_ns = INT64_MAX },
		{ "\xc3\xa4lpha", "", 14, 0, .until_ns = INT64_MAX },
	};
	const struct hodo_show text_look = { .limit = 3 }, json_look = { .limit = 1, .json = true, .columns = "count",
									  .sort = "total" };
	struct hodo_table a = table_of(rows, 3), b = table_of(after, 3);
	struct hodo_text text = { 0 };
	struct hodo_json j = { .text = &text };

	assert_int_equal(hodo_table_diff(&text, NULL, NULL, &a, &b, &text_look, "Title:\n"), 4);
	assert_string_equal(hodo_text_string(&text),
		"Title:\n"
		"  TOTAL BEFORE   AFTER    CHANGE  COUNT BEFORE      AFTER    CHANGE\n"
		"  2.000 ms    0.000 us   -100.0%            7           0   -100.0%  gamma\\x1b\n"
		"  0.000 us    0.000 us         -            7          14   +100.0%  \xc3\xa4lpha\n"
		"  0.000 us    0.010 us       new            0           5       new  new\n"
		"and 1 more\n");
	text.len = 0;
	assert_int_equal(hodo_table_diff(&text, &j, NULL, &a, &b, &json_look, NULL), 4);
	assert_string_equal(hodo_text_string(&text),
		"[{\"name\":\"gamma\\u001b\",\"before\":{\"count\":7},\"after\":null}]");
	hodo_text_free(&text);
}

static const struct hodo_columns *const both[] = { &schema, &points, NULL };

static int look_at(struct hodo_show look)
{
	static const struct hodo_verb verb = { .name = "verb" };
	struct hodo_args a = { .verb = &verb, .look = look };

	return hodo_show_make(&a, both);
}

TEST(names)
{
	assert_int_equal(look_at((struct hodo_show){ .columns = "x,total,name" }), HODO_GO_ON);
	assert_int_equal(look_at((struct hodo_show){ .columns = "name,z" }), 2);
	assert_non_null(strstr(said, "no column 'z'"));
	assert_int_equal(look_at((struct hodo_show){ .columns = "name," }), 2);
	assert_int_equal(look_at((struct hodo_show){ .sort = "x,y" }), 2);
	assert_int_equal(look_at((struct hodo_show){ .sort = "y" }), HODO_GO_ON);
	assert_string_equal(hodo_columns_key(both, 0), "name");
	assert_string_equal(hodo_columns_key(both, 12), "y");
	assert_null(hodo_columns_key(both, 13));
	/* No more than the text has room for. */
	char many[3 * 100] = "x";
	for (int i = 0; i < 99; i++)
		strcat(many, ",x");
	struct hodo_table t = { .columns = &points, .first = &rows[0].point, .n = 1, .stride = sizeof(struct point) };
	const struct hodo_column *found[HODO_COLUMNS_MAX];

	t.chosen = many;
	assert_int_equal(hodo_table_columns(&t, false, found), HODO_COLUMNS_MAX);
}
