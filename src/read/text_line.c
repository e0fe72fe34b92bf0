/* SPDX-License-Identifier: MIT */
/* text_line.c - an event as a line of text, or of JSON. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define DIM        "\033[2m"
#define NAME_COLOR "\033[36m"
#define PLAIN      "\033[0m"
/* Time, cpu, tid, pid, punctuation, colours; comm not. */
#define HEAD_ROOM 256

static char *put(char *o, const char *s, size_t len)
{
	memcpy(o, s, len);
	return o + len;
}

/* One element of an array, or a scalar. */
static char *put_scalar(char *o, uint32_t type, const struct hodo_read_value *v, bool json, locale_t c)
{
	switch (type) {
	case HODO_TYPE_BOOL:
		return stpcpy(o, v->u ? "true" : "false");
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		return hodo_read_put_u64(o, v->u);
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		return hodo_read_put_float(o, v->f, type == HODO_TYPE_F32, json, c);
	case HODO_TYPE_PTR:
		if (json)
			return hodo_read_put_u64(o, v->u);
		return hodo_read_put_hex(stpcpy(o, "0x"), v->u);
	default:
		return hodo_read_put_i64(o, v->i);
	}
}

static char *put_bytes(char *o, const struct hodo_read_value *v)
{
	const uint8_t *p = v->data;

	for (uint32_t i = 0; i < v->count; i++) {
		*o++ = "0123456789abcdef"[p[i] >> 4];
		*o++ = "0123456789abcdef"[p[i] & 15];
	}
	return o;
}

static char *put_array(char *o, const struct hodo_read_value *v, bool json, locale_t c)
{
	uint8_t type = (uint8_t)(v->type & ~(uint32_t)HODO_TYPE_ARRAY);
	const uint8_t *p = v->data;

	*o++ = '[';
	for (uint32_t i = 0; i < v->count; i++) {
		struct hodo_read_value e;

		p = hodo_read_value_take(type, p, &e);
		if (i > 0)
			*o++ = ',';
		o = put_scalar(o, type, &e, json, c);
	}
	*o++ = ']';
	return o;
}

static char *put_var(char *o, const struct hodo_read_value *v, bool json, locale_t c)
{
	if (v->type & HODO_TYPE_ARRAY)
		return put_array(o, v, json, c);
	if (v->type == HODO_TYPE_STR && v->null)
		return stpcpy(o, json ? "null" : HODO_NULL_TEXT);
	if (v->type == HODO_TYPE_BYTES && !json)
		return put_bytes(o, v);
	*o++ = '"';
	if (v->type == HODO_TYPE_BYTES)
		o = put_bytes(o, v);
	else
		o = json ? hodo_read_put_json(o, v->data, v->count)
			 : hodo_read_put_plain(o, v->data, v->count, true);
	*o++ = '"';
	return o;
}

char *hodo_read_put_value(char *o, const struct hodo_read_field *f, const struct hodo_read_value *v,
			  locale_t c)
{
	if (f->labels) {
		const char *label = hodo_read_label(f->labels, v->i);

		if (label)
			return hodo_read_put_plain(o, label, strlen(label), false);
	}
	if (v->type == HODO_TYPE_CHAR && v->i >= 0x20 && v->i < 0x7f) {
		*o++ = '\'';
		*o++ = (char)v->i;
		*o++ = '\'';
		return o;
	}
	if (v->type >= HODO_TYPE_STR)
		return put_var(o, v, false, c);
	return put_scalar(o, v->type, v, false, c);
}

char *hodo_read_put_value_json(char *o, const struct hodo_read_value *v, locale_t c)
{
	return v->type >= HODO_TYPE_STR ? put_var(o, v, true, c) : put_scalar(o, v->type, v, true, c);
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

		memcpy(t->hms, "??:??:??", 8);
		if (localtime_r(&when, &tm)) {
			const int part[] = { tm.tm_hour, tm.tm_min, tm.tm_sec };

			for (unsigned i = 0; i < 3; i++) {
				t->hms[3 * i] = (char)('0' + part[i] / 10);
				t->hms[3 * i + 1] = (char)('0' + part[i] % 10);
				if (i < 2)
					t->hms[3 * i + 2] = ':';
			}
		}
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

/* Formats a mark's text aside. */
static int make_mark(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	if (!t->mark)
		t->mark = hodo_read_text_new();
	if (!t->mark)
		return -ENOMEM;
	hodo_read_text_clear(t->mark);
	return hodo_read_text_mark(t->mark, e);
}

static size_t room_for(const struct hodo_read_text *t, const struct hodo_read_event *e, size_t comm_len)
{
	size_t room = HEAD_ROOM + comm_len * PUT_ESCAPED + class_of(e)->text.room +
		      (size_t)e->payload_bytes * PUT_ESCAPED;

	return e->cls->kind == HODO_KIND_MARK ? room + t->mark->len * PUT_ESCAPED : room;
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

static const struct hodo_read *reader_of(const struct hodo_read_event *e)
{
	return ((const struct hodo_trace *)(const void *)e->process)->reader;
}

/* Whether the fields hold functions' addresses, for which there may be names. */
static bool has_symbols(const struct hodo_read_event *e)
{
	return e->cls->kind == HODO_KIND_FUNCTION && reader_of(e)->symbol;
}

static const char *symbol_of(const struct hodo_read_event *e, uint64_t address)
{
	const struct hodo_read *r = reader_of(e);

	return r->symbol(r->symbol_data, e->process, e->ts_ns, address);
}

static int add(struct hodo_read_text *t, const char *s, size_t len)
{
	char *o = hodo_read_text_reserve(t, len);

	if (!o)
		return -ENOMEM;
	memcpy(o, s, len);
	t->len += len;
	return 0;
}

/* A function's name, or its address; in JSON null if it has no name. */
static int add_symbol(struct hodo_read_text *t, const struct hodo_read_event *e, uint64_t address, bool json)
{
	const char *name = symbol_of(e, address);
	char number[PUT_INTEGER_MAX + 2];

	if (name)
		return json ? hodo_read_text_json_string(t, name, strlen(name))
			    : hodo_read_text_plain(t, name, strlen(name));
	if (json)
		return add(t, "null", 4);
	return add(t, number, (size_t)(hodo_read_put_hex(stpcpy(number, "0x"), address) - number));
}

static int add_symbols(struct hodo_read_text *t, const struct hodo_read_event *e,
		       const struct hodo_read_value *v, bool json)
{
	int err = add(t, "[", 1);

	for (uint32_t i = 0; i < v->count && !err; i++) {
		if (i > 0)
			err = add(t, json ? "," : ", ", json ? 1 : 2);
		if (!err)
			err = add_symbol(t, e, load64((const uint8_t *)v->data + 8 * (size_t)i), json);
	}
	return err ? err : add(t, "]", 1);
}

/* The fields of an event of functions, names in place of addresses. */
static int add_function_line(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_class *c = class_of(e);
	int err = 0;

	for (uint32_t i = 0; i < e->cls->nfields && !err; i++) {
		const struct hodo_read_value *v = &e->values[i];
		const struct hodo_read_field *f = &c->fields[i];
		char *o;

		/* "addr=" stands before an address only. */
		if (v->type == HODO_TYPE_PTR && strcmp(f->name, "addr") == 0 && symbol_of(e, v->u))
			err = add(t, " ", 1);
		else
			err = add(t, c->text.field[i].line, c->text.field[i].line_len);
		if (err)
			break;
		if (v->type == HODO_TYPE_PTR) {
			err = add_symbol(t, e, v->u, false);
			continue;
		}
		if (v->type == (HODO_TYPE_ARRAY | HODO_TYPE_PTR)) {
			err = add_symbols(t, e, v, false);
			continue;
		}
		o = hodo_read_text_reserve(t, c->text.room + (size_t)e->payload_bytes * PUT_ESCAPED);
		if (!o)
			return -ENOMEM;
		t->len = (size_t)(hodo_read_put_value(o, f, v, t->c) - t->data);
	}
	return err ? err : add(t, "\n", 1);
}

/* Behind the fields, which keep the addresses. */
static int add_function_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_class *c = class_of(e);
	int err = 0;

	for (uint32_t i = 0; i < e->cls->nfields && !err; i++) {
		const struct hodo_read_value *v = &e->values[i];
		const char *name = c->fields[i].name, *key = NULL;

		if (v->type == HODO_TYPE_PTR)
			key = strcmp(name, "addr") == 0 ? ",\"function\":" :
			      strcmp(name, "loop") == 0 ? ",\"loop\":" : NULL;
		else if (v->type == (HODO_TYPE_ARRAY | HODO_TYPE_PTR) && strcmp(name, "chain") == 0)
			key = ",\"chain\":";
		if (!key)
			continue;
		err = add(t, key, strlen(key));
		if (!err && (v->type & HODO_TYPE_ARRAY))
			err = add_symbols(t, e, v, true);
		else if (!err)
			err = add_symbol(t, e, v->u, true);
	}
	return err ? err : add(t, "}\n", 2);
}

/* ------------------------------------------------------------------------ events */

/* Time, CPU, thread and name. */
static char *put_head(struct hodo_read_text *text, char *o, const struct hodo_read_event *e, size_t comm_len,
		      bool color)
{
	const struct hodo_class *c = class_of(e);

	if (color)
		o = stpcpy(o, DIM);
	*o++ = '[';
	o = put_time(text, o, e->ts_ns);
	*o++ = ']';
	if (color)
		o = stpcpy(o, PLAIN);
	*o++ = ' ';
	o = hodo_read_put_i64(o, e->cpu);
	*o++ = ' ';
	/* A process's own is said by its folder; of the kernel's there are those of all. */
	if (e->process && e->process->kernel && e->pid && e->pid != e->tid) {
		o = hodo_read_put_u64(o, e->pid);
		*o++ = '/';
	}
	o = hodo_read_put_u64(o, e->tid);
	*o++ = ' ';
	o = hodo_read_put_plain(o, e->comm, comm_len, false);
	*o++ = ' ';
	if (color)
		o = stpcpy(o, NAME_COLOR);
	o = put(o, c->text.line, c->text.line_len);
	if (color)
		o = stpcpy(o, PLAIN);
	return o;
}

int hodo_read_text_line(struct hodo_read_text *text, const struct hodo_read_event *event, unsigned flags)
{
	const struct hodo_read_event *e = event;
	const struct hodo_class *c = class_of(e);
	bool mark = e->cls->kind == HODO_KIND_MARK;
	size_t comm_len = strlen(e->comm);
	char *o;

	if (mark && make_mark(text, e) < 0)
		return -ENOMEM;
	o = hodo_read_text_reserve(text, room_for(text, e, comm_len));
	if (!o)
		return -ENOMEM;
	if (!(flags & HODO_READ_FIELDS))
		o = put_head(text, o, e, comm_len, flags & HODO_READ_COLOR);
	if (mark) {
		size_t len;
		const char *data = hodo_read_text_data(text->mark, &len);

		/* Formats often end in a newline, which the line has of itself. */
		if (len > 0 && data[len - 1] == '\n')
			len--;
		*o++ = ' ';
		o = hodo_read_put_plain(o, data, len, false);
	}
	if (has_symbols(e)) {
		text->len = (size_t)(o - text->data);
		return add_function_line(text, e);
	}
	for (uint32_t i = 0; !mark && i < e->cls->nfields; i++) {
		o = put(o, c->text.field[i].line, c->text.field[i].line_len);
		o = hodo_read_put_value(o, &c->fields[i], &e->values[i], text->c);
	}
	if (__builtin_expect(e->cls->ncontext != 0, 0)) {
		text->len = (size_t)(o - text->data);
		return hodo_read_add_context(text, e) < 0 ? -ENOMEM : add(text, "\n", 1);
	}
	*o++ = '\n';
	text->len = (size_t)(o - text->data);
	return 0;
}

int hodo_read_text_json(struct hodo_read_text *text, const struct hodo_read_event *event)
{
	const struct hodo_read_event *e = event;
	const struct hodo_class *c = class_of(e);
	bool mark = e->cls->kind == HODO_KIND_MARK;
	size_t comm_len = strlen(e->comm);
	char *o;

	if (mark && make_mark(text, e) < 0)
		return -ENOMEM;
	o = hodo_read_text_reserve(text, room_for(text, e, comm_len));
	if (!o)
		return -ENOMEM;
	o = hodo_read_put_i64(put(o, "{\"ts\":", 6), e->ts_ns);
	o = hodo_read_put_i64(put(o, ",\"cpu\":", 7), e->cpu);
	o = hodo_read_put_u64(put(o, ",\"pid\":", 7), e->pid);
	o = hodo_read_put_u64(put(o, ",\"tid\":", 7), e->tid);
	o = put(o, ",\"comm\":\"", 9);
	o = hodo_read_put_json(o, e->comm, comm_len);
	*o++ = '"';
	o = put(o, c->text.json, c->text.json_len);
	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		o = put(o, c->text.field[i].json, c->text.field[i].json_len);
		o = hodo_read_put_value_json(o, &e->values[i], text->c);
	}
	*o++ = '}';
	if (mark) {
		size_t len;
		const char *data = hodo_read_text_data(text->mark, &len);

		o = put(o, ",\"text\":\"", 9);
		o = hodo_read_put_json(o, data, len);
		*o++ = '"';
	}
	if (has_symbols(e)) {
		text->len = (size_t)(o - text->data);
		return add_function_json(text, e);
	}
	if (__builtin_expect(e->cls->ncontext != 0, 0)) {
		text->len = (size_t)(o - text->data);
		return hodo_read_add_context_json(text, e) < 0 ? -ENOMEM : add(text, "}\n", 2);
	}
	o = put(o, "}\n", 2);
	text->len = (size_t)(o - text->data);
	return 0;
}
