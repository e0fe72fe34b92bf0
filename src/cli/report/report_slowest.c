/* SPDX-License-Identifier: MIT */
/* report_slowest.c - the tables of the slowest spans, system calls and calls. */
#include "report.h"

#include <string.h>

static void put_when(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	char when[32];

	hodo_text_add(to, hodo_clock_text(((const struct hodo_stats_slowest_row *)row)->begin_ns, when));
}

static struct hodo_cell off_cpu(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_slowest_row *r = row;

	return r->off_known ? hodo_cell_u64(r->off_ns) : hodo_cell_string(NULL);
}

static struct hodo_cell host(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(((const struct hodo_stats_slowest_row *)row)->host);
}

/* They are escaped already. */
static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *fields = ((const struct hodo_stats_slowest_row *)row)->fields;

	hodo_text_add(to, fields ? fields + strspn(fields, " ") : "");
}

static void put_end(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const char *event = ((const struct hodo_stats_slowest_row *)row)->fields;

	if (event)
		hodo_text_add(hodo_json_value(j, key), event);
}

static void put_left(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	hodo_text_add(to, ((const struct hodo_stats_slowest_row *)row)->left ? "(left)" : "");
}

#define ROW(name) HODO_MEMBER(struct hodo_stats_slowest_row, name)
#define WHEN                                                                                                           \
	{ "ts", "BEGAN", .width = 18, ROW(begin_ns), .put = put_when }
#define WHERE                                                                                                          \
	{ "host", "HOST", .flags = HODO_OPTIONAL | HODO_IF_ANY, .most = 24, .get = host }
#define WHO                                                                                                            \
	{ "pid", .as = HODO_AS_ID, ROW(pid) }, { "tid", .as = HODO_AS_ID, ROW(tid) }, { "comm", ROW(comm) },           \
	{ "thread", .flags = HODO_TEXT_ONLY, ROW(thread) }
#define DURATION { "duration_ns", "DURATION", HODO_AS_TIME, 10, ROW(duration_ns) }

static const struct hodo_column span_columns[] = {
	DURATION, { "off_cpu_ns", "OFF CPU", HODO_AS_TIME, 10, HODO_OPTIONAL | HODO_IF_ANY, .get = off_cpu },
	WHEN, WHERE, WHO, { "name", "SPAN", ROW(name) },
	{ "fields", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_fields },
	{ "end", .as = HODO_AS_JSON, .put_json = put_end },
};
static const struct hodo_column call_columns[] = {
	{ "self_ns", "SELF", HODO_AS_TIME, 10, ROW(rank_ns) }, DURATION, WHEN, WHERE, WHO,
	{ "function", ROW(name), .also = "name" },
	{ "left", .as = HODO_AS_FLAG, ROW(left) },
	{ "noted", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_left },
};

const struct hodo_columns report_slowest_columns[2] = {
	{ "slowest_spans", HODO_COLUMNS(span_columns), .sort = "duration", .head = HODO_DIM,
	  .text = "duration,off_cpu,ts,host,thread,name,fields" },
	{ "slowest_calls", HODO_COLUMNS(call_columns), .sort = "self", .head = HODO_DIM,
	  .text = "self,duration,ts,host,thread,function,noted" },
};

static struct hodo_table make_table(const struct report *rep, unsigned i)
{
	const struct hodo_stats_slowest *s = &rep->stats.slowest;
	const struct hodo_stats_slowest_list *list = i ? &s->calls : &s->spans;
	struct hodo_table t = { .columns = &report_slowest_columns[i], .first = list->row, .n = list->n,
				.stride = sizeof(list->row[0]) };

	hodo_table_arrange(&t, &rep->o->args.look);
	return t;
}

void report_slowest_put(struct hodo_text *to, const struct report *rep)
{
	static const char *const titles[] = { "Slowest spans and system calls", "Slowest calls, by their own time" };
	const bool color = rep->o->args.look.color;

	for (unsigned i = 0; i < 2; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(rep, i);
		const struct hodo_column *columns[HODO_COLUMNS_MAX];

		if (!t.n || !hodo_table_columns(&t, false, columns))
			continue;
		hodo_text_printf(to, "\n%s%s:%s\n", hodo_style(color, HODO_HEADING), titles[i],
				 hodo_style(color, HODO_PLAIN));
		hodo_table_put(to, &t, color);
	}
}

void report_slowest_put_json(struct hodo_json *j, const struct report *rep)
{
	for (unsigned i = 0; i < 2; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(rep, i);

		hodo_table_put_json(j, t.columns->name, &t);
	}
}
