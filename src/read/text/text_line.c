/* SPDX-License-Identifier: MIT */
/* text_line.c - an event as a line of text, or of JSON. */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <base/quantity.h>
#include <read/event/runs.h>
#include <read/file/clock.h>
#include <read/file/reader.h>

#define DIM        "\033[2m"
#define NAME_COLOR "\033[36m"
#define PLAIN      "\033[0m"
/* Time, cpu, tid, pid, punctuation, colours, but not comm. */
#define HEAD_ROOM 256

static char *put(char *o, const char *s, size_t len)
{
	memcpy(o, s, len);
	return o + len;
}

static char *put_piece(char *o, const struct hodo_class_piece *piece)
{
	return put(o, piece->data, piece->len);
}

/* "HH:MM:SS.nnnnnnnnn"; the first part is kept for the events of the same second. */
static char *put_time(struct hodo_read_text *t, char *o, int64_t ts_ns)
{
	int64_t second = ts_ns / (int64_t)NS_PER_S, ns = ts_ns % (int64_t)NS_PER_S;

	if (ns < 0) {
		second--;
		ns += (int64_t)NS_PER_S;
	}
	if (second != t->second) {
		time_t when = (time_t)second;
		struct tm tm;

		if (!localtime_r(&when, &tm) || !strftime(t->hms, sizeof(t->hms), "%H:%M:%S", &tm))
			strcpy(t->hms, "??:??:??");
		t->second = second;
	}
	o = put(o, t->hms, 8);
	*o = '.';
	for (unsigned i = 9; i > 0; i--, ns /= 10)
		o[i] = (char)('0' + ns % 10);
	return o + 10;
}

static const struct hodo_class *class_of(const struct hodo_read_event *e)
{
	return (const struct hodo_class *)(const void *)e->cls;
}

/* Formats a mark's text separately. */
static int make_mark(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	if (!t->mark)
		t->mark = hodo_read_text_new();
	if (!t->mark)
		return -ENOMEM;
	hodo_read_text_clear(t->mark);
	return hodo_read_text_mark(t->mark, e);
}

/* The host's name, if there are several; "": not. */
static const char *host_of(const struct hodo_read_event *e)
{
	bool many = e->process && hodo_read_reader_of(e)->nhosts > 1;

	return many && e->process->hostname ? e->process->hostname : "";
}

static size_t room_for(const struct hodo_read_text *t, const struct hodo_read_event *e, size_t comm_len)
{
	size_t room = HEAD_ROOM + (comm_len + strlen(host_of(e))) * HODO_ESCAPED_MAX + class_of(e)->text.room +
		      (size_t)e->payload_bytes * HODO_ESCAPED_MAX;

	return e->cls->kind == HODO_KIND_MARK ? room + t->mark->out.len * HODO_ESCAPED_MAX : room;
}

/* ------------------------------------------------------------ names of functions */

void hodo_read_symbols(struct hodo_read *reader,
		       const char *(*name)(void *data, const struct hodo_read_process *process, int64_t ts_ns,
					   uint64_t address),
		       void *data)
{
	reader->symbol = name;
	reader->symbol_data = data;
}

/* Whether the fields hold functions' addresses, which may have names. */
static bool has_symbols(const struct hodo_read_event *e)
{
	return e->cls->kind == HODO_KIND_FUNCTION && hodo_read_reader_of(e)->symbol;
}

/* The fields of an event about functions, with names for addresses. */
static void add_function_line(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_read *r = hodo_read_reader_of(e);
	const struct hodo_class *c = class_of(e);

	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		const struct hodo_read_value *v = &e->values[i];
		const struct hodo_read_field *f = &c->fields[i];

		/* "addr=" only precedes an address. */
		if (v->type == HODO_TYPE_PTR && strcmp(f->name, "addr") == 0 &&
		    r->symbol(r->symbol_data, e->process, e->ts_ns, v->u))
			hodo_text_char(&t->out, ' ');
		else
			hodo_text_bytes(&t->out, c->text.field[i].line.data, c->text.field[i].line.len);
		if ((v->type & ~(uint32_t)HODO_TYPE_ARRAY) == HODO_TYPE_PTR)
			hodo_read_add_addresses(t, e, v, false);
		else
			hodo_read_add_value(&t->out, f, v, t->c);
	}
}

/* After the fields, which keep the addresses. */
static void add_function_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_class *c = class_of(e);

	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		const struct hodo_read_value *v = &e->values[i];
		const char *name = c->fields[i].name, *key = NULL;

		if (v->type == HODO_TYPE_PTR)
			key = strcmp(name, "addr") == 0 ? ",\"function\":" :
			      strcmp(name, "loop") == 0 ? ",\"loop\":" : NULL;
		else if (v->type == (HODO_TYPE_ARRAY | HODO_TYPE_PTR) && strcmp(name, "chain") == 0)
			key = ",\"chain\":";
		if (!key)
			continue;
		hodo_text_add(&t->out, key);
		hodo_read_add_addresses(t, e, v, true);
	}
}

/* ----------------------------------------------------------------------- what an end shows of its start */

static bool has_field(const struct hodo_read_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (strcmp(cls->fields[i].name, name) == 0)
			return true;
	return false;
}

/* Clocks of several CPUs may differ a little. */
static uint64_t duration_ns(const struct hodo_read_event *e)
{
	return e->ts_ns > e->begin->ts_ns ? (uint64_t)(e->ts_ns - e->begin->ts_ns) : 0;
}

/* A call's start has its function, as its end does. */
static uint32_t nfields(const struct hodo_read_begin *b)
{
	return b->cls->kind == HODO_KIND_FUNCTION ? 0 : b->cls->nfields;
}

void hodo_read_add_off_cpu(struct hodo_text *text, const struct hodo_read_off_cpu *off)
{
	char time[32];

	hodo_text_printf(text, " off_cpu=%s", hodo_duration_plain(off->ns, time));
	if (off->counted)
		hodo_text_printf(text, " waits=%llu preempted=%llu", (unsigned long long)off->waits,
				 (unsigned long long)off->preempted);
}

/* Appends what an end shows of its start. */
static void add_begin(struct hodo_read_text *t, const struct hodo_read_event *e, bool timed)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->begin->cls;
	char duration[32];

	if (timed)
		hodo_text_printf(&t->out, " duration=%s", hodo_duration_plain(duration_ns(e), duration));
	if (timed && e->off_cpu)
		hodo_read_add_off_cpu(&t->out, e->off_cpu);
	for (uint32_t i = 0; i < nfields(e->begin); i++) {
		/* Both have the id. */
		if (has_field(e->cls, c->fields[i].name))
			continue;
		hodo_text_bytes(&t->out, c->text.field[i].line.data, c->text.field[i].line.len);
		hodo_read_add_value(&t->out, &c->fields[i], &e->begin->values[i], t->c);
	}
}

static void add_begin_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->begin->cls;

	hodo_text_printf(&t->out, ",\"duration_ns\":%llu", (unsigned long long)duration_ns(e));
	if (e->off_cpu)
		hodo_text_printf(&t->out, ",\"off_cpu_ns\":%llu", (unsigned long long)e->off_cpu->ns);
	if (e->off_cpu && e->off_cpu->counted)
		hodo_text_printf(&t->out, ",\"waits\":%llu,\"preempted\":%llu", (unsigned long long)e->off_cpu->waits,
				 (unsigned long long)e->off_cpu->preempted);
	hodo_text_printf(&t->out, ",\"begin\":{\"ts\":%lld,\"fields\":{", (long long)e->begin->ts_ns);
	for (uint32_t i = 0; i < nfields(e->begin); i++) {
		hodo_text_bytes(&t->out, c->text.field[i].json.data, c->text.field[i].json.len);
		hodo_read_add_value_json(&t->out, &e->begin->values[i], t->c);
	}
	hodo_text_char(&t->out, '}');
	if (nfields(e->begin))
		hodo_read_add_labels_json(&t->out, c, e->begin->values);
	hodo_text_char(&t->out, '}');
}

/* ----------------------------------------------------------------------------------- whole lines */

/* The rest of the line, for which there is no room yet. */
static int finish_line(struct hodo_read_text *t, const struct hodo_read_event *e, const char *o, bool timed)
{
	hodo_read_text_end(t, o);
	if (has_symbols(e))
		add_function_line(t, e);
	if (e->begin)
		add_begin(t, e, timed);
	if (e->cls->ncontext)
		hodo_read_add_context(t, e);
	hodo_text_char(&t->out, '\n');
	return t->out.error;
}

static int finish_json(struct hodo_read_text *t, const struct hodo_read_event *e, const char *o)
{
	hodo_read_text_end(t, o);
	hodo_read_add_labels_json(&t->out, class_of(e), e->values);
	if (has_symbols(e))
		add_function_json(t, e);
	if (e->begin)
		add_begin_json(t, e);
	if (e->cls->ncontext)
		hodo_read_add_context_json(t, e);
	hodo_text_add(&t->out, "}\n");
	return t->out.error;
}

/* ------------------------------------------------------------------------ events */

/* Time, host if there are several, CPU, thread and name. */
static char *put_head(struct hodo_read_text *text, char *o, const struct hodo_read_event *e, size_t comm_len,
		      bool color)
{
	const struct hodo_class *c = class_of(e);
	const char *host = host_of(e);

	if (color)
		o = stpcpy(o, DIM);
	*o++ = '[';
	o = put_time(text, o, e->ts_ns);
	*o++ = ']';
	if (color)
		o = stpcpy(o, PLAIN);
	*o++ = ' ';
	if (*host) {
		o = hodo_escape_plain(o, host, strlen(host), false);
		*o++ = ' ';
	}
	o = hodo_format_i64(o, e->cpu);
	*o++ = ' ';
	/* A process's folder has its own pid; the kernel's has events of all processes. */
	if (e->process && e->process->kernel && e->pid && e->pid != e->tid) {
		o = hodo_format_u64(o, e->pid);
		*o++ = '/';
	}
	o = hodo_format_u64(o, e->tid);
	*o++ = ' ';
	o = hodo_escape_plain(o, e->comm, comm_len, false);
	*o++ = ' ';
	if (color)
		o = stpcpy(o, NAME_COLOR);
	o = put_piece(o, &c->text.line);
	if (color)
		o = stpcpy(o, PLAIN);
	return o;
}

/* Where to write the event's text, with room for it; NULL: no memory. */
static char *begin(struct hodo_read_text *text, const struct hodo_read_event *e, size_t comm_len)
{
	if (e->cls->kind == HODO_KIND_MARK && make_mark(text, e) < 0)
		return NULL;
	return hodo_text_room(&text->out, room_for(text, e, comm_len));
}

int hodo_read_text_line(struct hodo_read_text *text, const struct hodo_read_event *event, unsigned flags)
{
	const struct hodo_read_event *e = event;
	const struct hodo_class *c = class_of(e);
	bool mark = e->cls->kind == HODO_KIND_MARK, symbols = has_symbols(e);
	size_t comm_len = strlen(e->comm);
	char *o = begin(text, e, comm_len);

	if (!o)
		return -ENOMEM;
	if (!(flags & HODO_READ_FIELDS))
		o = put_head(text, o, e, comm_len, flags & HODO_READ_COLOR);
	if (mark) {
		size_t len;
		const char *data = hodo_read_text_data(text->mark, &len);

		/* Formats often end in a newline, which the line already has. */
		if (len > 0 && data[len - 1] == '\n')
			len--;
		*o++ = ' ';
		o = hodo_escape_plain(o, data, len, false);
	}
	for (uint32_t i = 0; !mark && !symbols && i < e->cls->nfields; i++) {
		o = put_piece(o, &c->text.field[i].line);
		o = hodo_read_put_value(o, &c->fields[i], &e->values[i], text->c);
	}
	if (__builtin_expect(symbols || e->begin || e->cls->ncontext, 0))
		return finish_line(text, e, o, !(flags & HODO_READ_UNTIMED));
	*o++ = '\n';
	hodo_read_text_end(text, o);
	return 0;
}

int hodo_read_text_json(struct hodo_read_text *text, const struct hodo_read_event *event)
{
	const struct hodo_read_event *e = event;
	const struct hodo_class *c = class_of(e);
	bool mark = e->cls->kind == HODO_KIND_MARK;
	size_t comm_len = strlen(e->comm);
	const char *host = host_of(e);
	char *o = begin(text, e, comm_len);

	if (!o)
		return -ENOMEM;
	o = hodo_format_i64(put(o, "{\"ts\":", 6), e->ts_ns);
	if (*host) {
		o = hodo_escape_json(put(o, ",\"host\":\"", 9), host, strlen(host), HODO_JSON_PLAIN);
		*o++ = '"';
	}
	o = hodo_format_i64(put(o, ",\"cpu\":", 7), e->cpu);
	o = hodo_format_u64(put(o, ",\"pid\":", 7), e->pid);
	o = hodo_format_u64(put(o, ",\"tid\":", 7), e->tid);
	o = put(o, ",\"comm\":\"", 9);
	o = hodo_escape_json(o, e->comm, comm_len, HODO_JSON_PLAIN);
	*o++ = '"';
	o = put_piece(o, &c->text.json);
	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		o = put_piece(o, &c->text.field[i].json);
		o = hodo_read_put_value_json(o, &e->values[i], text->c);
	}
	*o++ = '}';
	if (mark) {
		size_t len;
		const char *data = hodo_read_text_data(text->mark, &len);

		o = put(o, ",\"text\":\"", 9);
		o = hodo_escape_json(o, data, len, HODO_JSON_PLAIN);
		*o++ = '"';
	}
	if (__builtin_expect(has_symbols(e) || e->begin || e->cls->ncontext || c->labelled, 0))
		return finish_json(text, e, o);
	o = put(o, "}\n", 2);
	hodo_read_text_end(text, o);
	return 0;
}

/* ----------------------------------------------------------------------------------- arguments of calls */

static void add_name(struct hodo_text *t, const char *name, bool json)
{
	if (json) {
		hodo_text_json(t, name, strlen(name), HODO_JSON_PLAIN);
		hodo_text_char(t, ':');
	} else {
		hodo_text_plain(t, name, strlen(name));
		hodo_text_char(t, '=');
	}
}

int hodo_read_text_arguments(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t first, bool json)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->cls;
	struct hodo_text *t = &text->out;

	hodo_text_add(t, json ? "{" : "");
	for (uint32_t i = first; i < e->cls->nfields; i++) {
		if (i > first)
			hodo_text_add(t, json ? "," : ", ");
		add_name(t, c->fields[i].name, json);
		if (json)
			hodo_read_add_value_json(t, &e->values[i], text->c);
		else
			hodo_read_add_value(t, &c->fields[i], &e->values[i], text->c);
	}
	hodo_text_add(t, json ? "}" : "");
	return t->error;
}

int hodo_read_text_field(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t field, bool json)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->cls;

	if (json)
		hodo_read_add_value_json(&text->out, &e->values[field], text->c);
	else
		hodo_read_add_value(&text->out, &c->fields[field], &e->values[field], text->c);
	return text->out.error;
}
