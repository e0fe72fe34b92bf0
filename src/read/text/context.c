/* SPDX-License-Identifier: MIT */
/* context.c - the context before the fields of events: stacks, and texts. */
#include "text.h"

#include <read/file/load.h>
#include <read/file/reader.h>

#include <string.h>

#define CALLERS_MAX 256u

void hodo_read_code(struct hodo_read *reader, const struct hodo_read_code_ops *ops, void *data)
{
	size_t size = ops ? ops->size : 0;

	memset(&reader->code, 0, sizeof(reader->code));
	if (size)
		memcpy(&reader->code, ops, size < sizeof(*ops) ? size : sizeof(*ops));
	reader->code_data = data;
}

/* The index of the context field with that name and type, or ncontext. */
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

static void add(struct hodo_read_text *t, const char *s)
{
	hodo_text_add(&t->out, s);
}

/* Unless it is the first in braces. */
static void add_separator(struct hodo_read_text *t, const char *s)
{
	if (t->out.len > 0 && t->out.data[t->out.len - 1] != '{')
		add(t, s);
}

/* "name+0x1c", or "0x…". For a function: its name, else the same, or null in JSON. */
static void add_address(struct hodo_read_text *t, const struct hodo_read_event *e, uint64_t address, bool json)
{
	const struct hodo_read *r = hodo_read_reader_of(e);
	bool function = e->cls->kind == HODO_KIND_FUNCTION; /* these have no context */
	uint64_t offset = 0;
	const char *name = function ? r->symbol(r->symbol_data, e->process, e->ts_ns, address) :
			   r->code.name ? r->code.name(r->code_data, e->process, e->ts_ns, address, &offset) : NULL;
	size_t len = name ? strlen(name) : 0;
	char *o = hodo_text_room(&t->out, len > SIZE_MAX / 16 ? SIZE_MAX : len * HODO_ESCAPED_MAX + 64);

	if (!o)
		return;
	if (json && !name && function) {
		hodo_read_text_end(t, stpcpy(o, "null"));
		return;
	}
	if (json)
		*o++ = '"';
	if (name)
		o = json ? hodo_escape_json(o, name, len, HODO_JSON_PLAIN) : hodo_escape_plain(o, name, len, false);
	if (!name || offset)
		o = hodo_format_hex(stpcpy(o, name ? "+0x" : "0x"), name ? offset : address);
	if (json)
		*o++ = '"';
	hodo_read_text_end(t, o);
}

void hodo_read_add_addresses(struct hodo_read_text *t, const struct hodo_read_event *e, const struct hodo_read_value *v,
			     bool json)
{
	if (v->type == HODO_TYPE_PTR) {
		add_address(t, e, v->u, json);
		return;
	}
	hodo_text_char(&t->out, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			add(t, json ? "," : ", ");
		add_address(t, e, load64((const uint8_t *)v->data + 8 * (size_t)i), json);
	}
	hodo_text_char(&t->out, ']');
}

/* Adds the stack as its callers. false: it cannot be unwound; adds nothing. */
static bool add_callers(struct hodo_read_text *t, const struct hodo_read_event *e, const char *before, bool json)
{
	const struct hodo_read *r = hodo_read_reader_of(e);
	uint64_t addresses[CALLERS_MAX];
	struct hodo_read_value callers = { .type = HODO_TYPE_PTR | HODO_TYPE_ARRAY, .data = addresses };
	struct hodo_read_stack stack;

	if (!r->code.unwind || !hodo_read_event_stack(e, &stack))
		return false;
	callers.count = r->code.unwind(r->code_data, e->process, e->ts_ns, &stack, addresses, CALLERS_MAX);
	if (callers.count > CALLERS_MAX)
		callers.count = CALLERS_MAX;
	add(t, before);
	hodo_read_add_addresses(t, e, &callers, json);
	return true;
}

static bool is_address(const struct hodo_read_field *f)
{
	return (f->type & ~(uint32_t)HODO_TYPE_ARRAY) == HODO_TYPE_PTR;
}

/* One field; registers belong to the stack, whose raw bytes are not shown. */
static void add_field(struct hodo_read_text *t, const struct hodo_read_event *e, uint32_t i)
{
	const struct hodo_read_field *f = &e->cls->context[i];
	const struct hodo_read_value *v = &e->context[i];
	struct hodo_read_value size = { .type = HODO_TYPE_U32, .u = v->count };
	bool is_stack = f->type == HODO_TYPE_BYTES;

	if (strcmp(f->name, "stack_regs") == 0)
		return;
	add_separator(t, " ");
	hodo_text_plain(&t->out, f->name, strlen(f->name));
	if (is_stack && add_callers(t, e, "=", false))
		return;
	add(t, is_stack ? "_bytes=" : "=");
	if (is_address(f))
		hodo_read_add_addresses(t, e, v, false);
	else
		hodo_read_add_value(&t->out, f, is_stack ? &size : v, t->c);
}

int hodo_read_add_context(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	add(t, " {");
	for (uint32_t i = 0; i < e->cls->ncontext; i++)
		add_field(t, e, i);
	add(t, "}");
	return t->out.error;
}

/* ------------------------------------------------------------------------- JSON */

static void add_key(struct hodo_read_text *t, const char *name)
{
	add_separator(t, ",");
	hodo_text_json(&t->out, name, strlen(name), HODO_JSON_PLAIN);
	add(t, ":");
}

/* Adds names of addresses, under the same keys. */
static void add_symbols(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	bool first = true;

	add(t, ",\"symbols\":{");
	for (uint32_t i = 0; i < e->cls->ncontext; i++) {
		const struct hodo_read_field *f = &e->cls->context[i];

		if (is_address(f)) {
			add_key(t, f->name);
			hodo_read_add_addresses(t, e, &e->context[i], true);
			first = false;
		}
	}
	add_callers(t, e, first ? "\"stack\":" : ",\"stack\":", true);
	add(t, "}");
}

int hodo_read_add_context_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	bool addresses = false;

	add(t, ",\"context\":{");
	for (uint32_t i = 0; i < e->cls->ncontext; i++) {
		const struct hodo_read_field *f = &e->cls->context[i];

		addresses |= is_address(f) || f->type == HODO_TYPE_BYTES;
		add_key(t, f->name);
		hodo_read_add_value_json(&t->out, &e->context[i], t->c);
	}
	add(t, "}");
	if (addresses && hodo_read_reader_of(e)->code.name)
		add_symbols(t, e);
	return t->out.error;
}
