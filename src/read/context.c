/* SPDX-License-Identifier: MIT */
/* context.c - what stands before the fields of events: stacks, and texts. */
#include "text.h"

#include <errno.h>

#define CALLERS_MAX 256u
#define VALUE_ROOM  64 /* of a number with its sign, quotes or brackets */

void hodo_read_code(struct hodo_read *reader, const struct hodo_read_code_ops *ops, void *data)
{
	size_t size = ops ? ops->size : 0;

	memset(&reader->code, 0, sizeof(reader->code));
	if (size)
		memcpy(&reader->code, ops, size < sizeof(*ops) ? size : sizeof(*ops));
	reader->code_data = data;
}

/* The index of the context's field with that name and type; ncontext if there is none. */
static uint32_t find(const struct hodo_read_class *c, const char *name, uint32_t type)
{
	uint32_t i = 0;

	while (i < c->ncontext && (c->context[i].type != type || strcmp(c->context[i].name, name) != 0))
		i++;
	return i;
}

bool hodo_read_event_stack(const struct hodo_read_event *event, struct hodo_read_stack *stack)
{
	const struct hodo_read_class *c = event->cls;
	uint32_t regs = find(c, "stack_regs", HODO_TYPE_U64 | HODO_TYPE_ARRAY), bytes = find(c, "stack", HODO_TYPE_BYTES);
	const uint8_t *r;

	if (regs == c->ncontext || bytes == c->ncontext || event->context[regs].count < 3)
		return false;
	r = event->context[regs].data;
	*stack = (struct hodo_read_stack){ .size = sizeof(*stack), .ip = load64(r), .sp = load64(r + 8),
					   .bp = load64(r + 16), .bytes = event->context[bytes].data,
					   .nbytes = event->context[bytes].count };
	return true;
}

/* ------------------------------------------------------------------------ texts */

static const struct hodo_read *reader_of(const struct hodo_read_event *e)
{
	return ((const struct hodo_trace *)(const void *)e->process)->reader;
}

static int add(struct hodo_read_text *t, const char *s)
{
	size_t len = strlen(s);
	char *o = hodo_read_text_reserve(t, len);

	if (!o)
		return -ENOMEM;
	memcpy(o, s, len);
	t->len += len;
	return 0;
}

/* "name+0x1c", or "0x…". */
static int add_address(struct hodo_read_text *t, const struct hodo_read_event *e, uint64_t address, bool json)
{
	const struct hodo_read *r = reader_of(e);
	uint64_t offset = 0;
	const char *name = r->code.name ? r->code.name(r->code_data, e->process, e->ts_ns, address, &offset) : NULL;
	size_t len = name ? strlen(name) : 0;
	char *o = len > SIZE_MAX / 16 ? NULL : hodo_read_text_reserve(t, len * PUT_ESCAPED + VALUE_ROOM);

	if (!o)
		return -ENOMEM;
	if (json)
		*o++ = '"';
	if (name)
		o = json ? hodo_read_put_json(o, name, len) : hodo_read_put_plain(o, name, len, false);
	if (!name || offset)
		o = hodo_read_put_hex(stpcpy(o, name ? "+0x" : "0x"), name ? offset : address);
	if (json)
		*o++ = '"';
	t->len = (size_t)(o - t->data);
	return 0;
}

/* Unaligned addresses. */
static int add_addresses(struct hodo_read_text *t, const struct hodo_read_event *e, const uint8_t *p, uint32_t n,
			 bool json)
{
	int err = add(t, "[");

	for (uint32_t i = 0; i < n && !err; i++) {
		if (i > 0)
			err = add(t, json ? "," : ", ");
		if (!err)
			err = add_address(t, e, load64(p + 8 * (size_t)i), json);
	}
	return err ? err : add(t, "]");
}

/* The stack as its callers. 1: done, 0: it cannot be unwound. */
static int add_callers(struct hodo_read_text *t, const struct hodo_read_event *e, const char *before, bool json)
{
	const struct hodo_read *r = reader_of(e);
	uint64_t addresses[CALLERS_MAX];
	struct hodo_read_stack stack;
	uint32_t n;
	int err;

	if (!r->code.unwind || !hodo_read_event_stack(e, &stack))
		return 0;
	n = r->code.unwind(r->code_data, e->process, e->ts_ns, &stack, addresses, CALLERS_MAX);
	err = add(t, before);
	if (!err)
		err = add_addresses(t, e, (const uint8_t *)addresses, n < CALLERS_MAX ? n : CALLERS_MAX, json);
	return err ? err : 1;
}

/* Bytes that suffice for the value's text. */
static size_t room_for(const struct hodo_read_value *v)
{
	return VALUE_ROOM + (size_t)v->count * (v->type & HODO_TYPE_ARRAY ? PUT_FLOAT_MAX + 1 : PUT_ESCAPED);
}

static bool is_address(const struct hodo_read_field *f)
{
	return (f->type & ~(uint32_t)HODO_TYPE_ARRAY) == HODO_TYPE_PTR;
}

static int add_values(struct hodo_read_text *t, const struct hodo_read_event *e, const struct hodo_read_value *v,
		      bool json)
{
	return v->type == HODO_TYPE_PTR ? add_address(t, e, v->u, json)
					: add_addresses(t, e, v->data, v->count, json);
}

static int add_plain(struct hodo_read_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	char *o = hodo_read_text_reserve(t, room_for(v));

	if (!o)
		return -ENOMEM;
	t->len = (size_t)(hodo_read_put_value(o, f, v, t->c) - t->data);
	return 0;
}

/* One field; registers belong to the stack, whose bytes nobody wants to see. */
static int add_field(struct hodo_read_text *t, const struct hodo_read_event *e, uint32_t i)
{
	const struct hodo_read_field *f = &e->cls->context[i];
	const struct hodo_read_value *v = &e->context[i];
	struct hodo_read_value size = { .type = HODO_TYPE_U32, .u = v->count };
	bool is_stack = f->type == HODO_TYPE_BYTES;
	int err, got;

	if (strcmp(f->name, "stack_regs") == 0)
		return 0;
	err = t->data[t->len - 1] == '{' ? 0 : add(t, " ");
	if (!err)
		err = hodo_read_text_plain(t, f->name, strlen(f->name));
	if (!err && is_stack) {
		got = add_callers(t, e, "=", false);
		if (got)
			return got < 0 ? got : 0;
	}
	if (!err)
		err = add(t, is_stack ? "_bytes=" : "=");
	if (err)
		return err;
	return is_address(f) ? add_values(t, e, v, false) : add_plain(t, f, is_stack ? &size : v);
}

int hodo_read_add_context(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	int err = add(t, " {");

	for (uint32_t i = 0; i < e->cls->ncontext && !err; i++)
		err = add_field(t, e, i);
	return err ? err : add(t, "}");
}

/* ------------------------------------------------------------------------- JSON */

static int add_key(struct hodo_read_text *t, const char *name)
{
	int err = t->data[t->len - 1] == '{' ? 0 : add(t, ",");

	if (!err)
		err = hodo_read_text_json_string(t, name, strlen(name));
	return err ? err : add(t, ":");
}

static int add_json(struct hodo_read_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	int err = add_key(t, f->name);
	char *o = err ? NULL : hodo_read_text_reserve(t, room_for(v));

	if (!o)
		return -ENOMEM;
	t->len = (size_t)(hodo_read_put_value_json(o, v, t->c) - t->data);
	return 0;
}

/* Names of what is an address, under the same keys. */
static int add_symbols(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	int err = add(t, ",\"symbols\":{"), got;

	for (uint32_t i = 0; i < e->cls->ncontext && !err; i++) {
		const struct hodo_read_field *f = &e->cls->context[i];

		if (is_address(f)) {
			err = add_key(t, f->name);
			if (!err)
				err = add_values(t, e, &e->context[i], true);
		}
	}
	got = err ? err : add_callers(t, e, t->data[t->len - 1] == '{' ? "\"stack\":" : ",\"stack\":", true);
	return got < 0 ? got : add(t, "}");
}

int hodo_read_add_context_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	bool addresses = false;
	int err = add(t, ",\"context\":{");

	for (uint32_t i = 0; i < e->cls->ncontext && !err; i++) {
		const struct hodo_read_field *f = &e->cls->context[i];

		addresses |= is_address(f) || f->type == HODO_TYPE_BYTES;
		err = add_json(t, f, &e->context[i]);
	}
	if (!err)
		err = add(t, "}");
	return !err && addresses && reader_of(e)->code.name ? add_symbols(t, e) : err;
}
