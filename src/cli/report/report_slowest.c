/* SPDX-License-Identifier: MIT */
/* report_slowest.c - which spans, system calls and calls took longest, one by one. */
#define _GNU_SOURCE
#include "report.h"

#include <read/event/threads.h>
#include <string.h>

#define ROOM_DEFAULT 10u
#define ROOM_MAX     1000u

void report_slowest_start(struct report_slowest *s, struct hodo_symbols *symbols, const struct hodo_args *args,
			  bool hosts)
{
	uint64_t room = args->look.limit == UINT64_MAX ? ROOM_DEFAULT : args->look.limit;

	*s = (struct report_slowest){ .symbols = symbols, .args = args, .hosts = hosts,
				      .room = (uint32_t)(room < ROOM_MAX ? room : ROOM_MAX) };
	s->spans.row = hodo_must(calloc(s->room + 1, sizeof(*s->spans.row)));
	s->calls.row = hodo_must(calloc(s->room + 1, sizeof(*s->calls.row)));
	s->text = hodo_must(hodo_read_text_new());
}

static void free_row(struct report_slowest_row *row)
{
	free(row->thread);
	free(row->fields);
}

static void free_list(struct report_slowest_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free_row(&list->row[i]);
	free(list->row);
}

void report_slowest_free(struct report_slowest *s)
{
	free_list(&s->spans);
	free_list(&s->calls);
	hodo_read_text_free(s->text);
}

/* A row of the list, to fill in except for its rank; NULL: enough are as slow. */
static struct report_slowest_row *insert(struct report_slowest *s, struct report_slowest_list *list, uint64_t rank_ns)
{
	uint32_t at = list->n;

	while (at > 0 && list->row[at - 1].rank_ns < rank_ns)
		at--;
	if (at == s->room)
		return NULL;
	if (list->n == s->room)
		free_row(&list->row[--list->n]);
	memmove(&list->row[at + 1], &list->row[at], (list->n++ - at) * sizeof(list->row[0]));
	list->row[at] = (struct report_slowest_row){ .rank_ns = rank_ns };
	return &list->row[at];
}

static void set_thread(const struct report_slowest *s, struct report_slowest_row *row,
		       const struct hodo_read_process *process, const char *comm, uint32_t pid, uint32_t tid)
{
	row->host = s->hosts ? process->hostname : NULL;
	row->comm = comm;
	row->pid = pid;
	row->tid = tid;
	if (asprintf(&row->thread, "%s[%u]", comm, tid) < 0)
		exit(hodo_no_memory());
}

/* As in print, or the whole event as in print --json. */
static char *fields_of(struct report_slowest *s, const struct hodo_read_event *e)
{
	const char *data;
	size_t len;

	hodo_read_text_clear(s->text);
	if (s->args->look.json)
		hodo_must(hodo_read_text_json(s->text, e) < 0 ? NULL : s);
	else
		hodo_must(hodo_read_text_line(s->text, e, HODO_READ_FIELDS | HODO_READ_UNTIMED) < 0 ? NULL : s);
	data = hodo_read_text_data(s->text, &len);
	return hodo_must(strndup(data, len - 1)); /* without the end of the line */
}

void report_slowest_span(struct report_slowest *s, const struct hodo_read_event *e)
{
	const struct hodo_read_begin *begin = e->begin;
	uint64_t ns = e->ts_ns > begin->ts_ns ? (uint64_t)(e->ts_ns - begin->ts_ns) : 0;
	struct report_slowest_row *row = insert(s, &s->spans, ns);
	const struct hodo_read_thread *t;

	if (!row)
		return;
	t = begin->tid == e->tid ? NULL : hodo_read_thread(e->process, begin->tid);
	row->name = e->cls->base;
	set_thread(s, row, e->process, t ? t->comm : e->comm, begin->pid, begin->tid);
	row->begin_ns = begin->ts_ns;
	row->duration_ns = ns;
	row->off_known = e->off_cpu;
	row->off_ns = e->off_cpu ? e->off_cpu->ns : 0;
	row->fields = fields_of(s, e);
}

void report_slowest_call(struct report_slowest *s, const struct hodo_read_call *call)
{
	struct report_slowest_row *row = insert(s, &s->calls, call->self_ns);
	struct hodo_place place;

	if (!row)
		return;
	hodo_symbols_find(s->symbols, call->process, call->entry_ns, call->function, &place);
	row->name = place.name;
	set_thread(s, row, call->process, call->comm, call->process->pid, call->tid);
	row->begin_ns = call->entry_ns;
	row->duration_ns = (uint64_t)(call->end_ns - call->entry_ns);
	row->left = call->flags & HODO_READ_CALL_LEFT;
}

/* ------------------------------------------------------------------------ tables */

static void put_when(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	char when[32];

	hodo_text_add(to, hodo_clock_text(((const struct report_slowest_row *)row)->begin_ns, when));
}

static struct hodo_cell off_cpu(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct report_slowest_row *r = row;

	return r->off_known ? hodo_cell_u64(r->off_ns) : hodo_cell_string(NULL);
}

static struct hodo_cell host(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(((const struct report_slowest_row *)row)->host);
}

/* They are escaped already. */
static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *fields = ((const struct report_slowest_row *)row)->fields;

	hodo_text_add(to, fields ? fields + strspn(fields, " ") : "");
}

static void put_end(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const char *event = ((const struct report_slowest_row *)row)->fields;

	if (event)
		hodo_text_add(hodo_json_value(j, key), event);
}

static void put_left(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	hodo_text_add(to, ((const struct report_slowest_row *)row)->left ? "(left)" : "");
}

#define ROW(name) HODO_MEMBER(struct report_slowest_row, name)
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

static struct hodo_table make_table(const struct report_slowest *s, unsigned i)
{
	const struct report_slowest_list *list = i ? &s->calls : &s->spans;
	struct hodo_table t = { .columns = &report_slowest_columns[i], .context = s, .first = list->row, .n = list->n,
				.stride = sizeof(list->row[0]) };

	hodo_table_arrange(&t, &s->args->look);
	return t;
}

void report_slowest_put(struct hodo_text *to, const struct report_slowest *s)
{
	static const char *const titles[] = { "Slowest spans and system calls", "Slowest calls, by their own time" };
	const bool color = s->args->look.color;

	for (unsigned i = 0; i < 2; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(s, i);
		const struct hodo_column *columns[HODO_COLUMNS_MAX];

		if (!t.n || !hodo_table_columns(&t, false, columns))
			continue;
		hodo_text_printf(to, "\n%s%s:%s\n", hodo_style(color, HODO_HEADING), titles[i],
				 hodo_style(color, HODO_PLAIN));
		hodo_table_put(to, &t, color);
	}
}

void report_slowest_put_json(struct hodo_json *j, const struct report_slowest *s)
{
	for (unsigned i = 0; i < 2; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(s, i);

		hodo_table_put_json(j, t.columns->name, &t);
	}
}
