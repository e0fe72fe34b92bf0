/* SPDX-License-Identifier: MIT */
/* top_output.c - hodo top without a screen: an interval as lines of text, or as one line of JSON. */
#include "top.h"

#include <string.h>

#include <base/clock.h>
#include <base/json.h>

void hodo_top_put_lines(struct hodo_out *out, const struct hodo_top_model *m, struct hodo_top_view *v,
			uint32_t lines_max)
{
	struct hodo_top_frame frame = { 0 };
	struct hodo_text text = { 0 };
	int width = hodo_terminal_width();

	hodo_top_frame_build(&frame, m, v, width ? width : 100, 0);
	for (uint32_t i = 0; i < frame.n && i < lines_max; i++) {
		size_t len = strlen(frame.line[i].text);

		while (len > 0 && frame.line[i].text[len - 1] == ' ')
			len--;
		hodo_text_printf(&text, "%.*s\n", (int)len, frame.line[i].text);
	}
	if (frame.n > lines_max)
		hodo_text_printf(&text, "and %u more\n", frame.n - lines_max);
	hodo_out_text(out, &text);
	hodo_top_frame_free(&frame);
}

static void put_on(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	enum hodo_top_state state = ((const struct hodo_top_row *)row)->state;

	if (state == HODO_TOP_UNLOADED)
		hodo_json_null(j, key);
	else
		hodo_json_bool(j, key, state != HODO_TOP_OFF);
}

static struct hodo_cell cpu(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	uint32_t number = ((const struct hodo_top_row *)row)->number;

	return (struct hodo_cell){ .type = HODO_CELL_I64, .i = number == HODO_CPU_ANY ? -1 : (int64_t)number };
}

static struct hodo_cell comm(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const char *name = ((const struct hodo_top_row *)row)->name;

	return hodo_cell_string(name ? name : "");
}

/* A cell of the table that is shown. argument: its column. */
static struct hodo_cell shown(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_of(t, &hodo_top_columns.column[(int)c->argument], row);
}

#define ROW(name) HODO_MEMBER(struct hodo_top_row, name)
#define SHOWN(column) .get = shown, .argument = (column)
#define COUNTS                                                                                                         \
	{ "rate", .as = HODO_AS_RATE, ROW(events.rate) }, { "count", ROW(events.total) }, { "bytes", ROW(bytes.total) }
static const struct hodo_column events[] = {
	{ "name", ROW(name) }, COUNTS, { "limited", ROW(lost.total) }, { "on", .put_json = put_on },
};
static const struct hodo_column threads[] = {
	{ "pid", ROW(pid) }, { "tid", ROW(number) }, { "comm", .get = comm }, COUNTS,
	{ "cpu", .as = HODO_AS_RATE, SHOWN(HODO_TOP_CPU) },
};
static const struct hodo_column spans[] = {
	{ "name", ROW(name) }, { "rate", .as = HODO_AS_RATE, ROW(events.rate) }, { "count", ROW(events.total) },
	{ "open", SHOWN(HODO_TOP_OPEN) }, { "p50_ns", SHOWN(HODO_TOP_P50) }, { "p99_ns", SHOWN(HODO_TOP_P99) },
	{ "max_ns", SHOWN(HODO_TOP_MAX) }, { "all_p50_ns", SHOWN(HODO_TOP_ALL_P50) },
	{ "all_p99_ns", SHOWN(HODO_TOP_ALL_P99) }, { "all_max_ns", SHOWN(HODO_TOP_ALL_MAX) },
};
static const struct hodo_column counters[] = {
	{ "name", ROW(name) }, { "rate", .as = HODO_AS_RATE, ROW(events.rate) }, { "count", ROW(events.total) },
	{ "last", .as = HODO_AS_NUMBER, SHOWN(HODO_TOP_LAST) }, { "min", .as = HODO_AS_NUMBER, SHOWN(HODO_TOP_LEAST) },
	{ "max", .as = HODO_AS_NUMBER, SHOWN(HODO_TOP_MOST) },
};
static const struct hodo_column cpus[] = { { "cpu", .get = cpu }, COUNTS, { "lost", ROW(lost.total) } };
static const struct hodo_columns tables[HODO_TOP_KINDS] = {
	[HODO_TOP_EVENTS] = { "events", HODO_COLUMNS(events) }, [HODO_TOP_SPANS] = { "spans", HODO_COLUMNS(spans) },
	[HODO_TOP_COUNTERS] = { "counters", HODO_COLUMNS(counters) }, [HODO_TOP_THREADS] = { "threads", HODO_COLUMNS(threads) },
	[HODO_TOP_CPUS] = { "cpus", HODO_COLUMNS(cpus) },
};

void hodo_top_put_json(struct hodo_out *out, const struct hodo_top_model *m)
{
	struct hodo_text text = { 0 };
	struct hodo_json j = { .text = &text };

	hodo_json_object(&j, NULL);
	hodo_json_i64(&j, "ts", hodo_clock_ns(CLOCK_REALTIME));
	hodo_json_i64(&j, "interval_ns", m->interval_ns);
	hodo_json_u64(&j, "processes", m->live);
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++) {
		const struct hodo_table t = { .columns = &tables[kind], .first = m->table[kind].row,
					      .n = m->table[kind].n, .stride = sizeof(struct hodo_top_row) };

		hodo_table_put_json(&j, tables[kind].name, &t);
	}
	hodo_json_double(&j, "rate", m->events.rate, 3);
	hodo_json_u64(&j, "recorded", m->events.total);
	hodo_json_u64(&j, "bytes", m->bytes.total);
	hodo_json_u64(&j, "limited", m->limited);
	hodo_json_u64(&j, "given_up", m->given_up);
	hodo_put_object(&j, "lost", &hodo_top_causes, NULL, &m->causes);
	hodo_json_finish(&j);
	hodo_out_text(out, &text);
}
