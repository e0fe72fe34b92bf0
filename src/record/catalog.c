/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - reads a traced process's catalogue.
 *
 * Each record is copied out of shared memory before anything in it is looked
 * at, so that what was checked is what is used.
 */
#include "catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#include "names.h"
#include "shm.h"

/* The NUL-terminated texts of a record, taken one after the other. */
struct texts {
	const char *at;
	size_t left;
	bool bad;
};

static const char *texts_next(struct texts *t)
{
	const char *s = t->at;
	const char *end = t->left ? memchr(s, 0, t->left) : NULL;

	if (!end) {
		t->bad = true;
		return "";
	}
	t->left -= (size_t)(end - s) + 1;
	t->at = end + 1;
	return s;
}

/* Zeroed; it goes with the catalogue. */
static void *allocate(struct hodo_catalog *c, size_t len)
{
	void *p = hodo_arena_alloc(&c->memory, len);

	return p ? memset(p, 0, len) : NULL;
}

static char *copy_text(char **to, const char *s, size_t max)
{
	size_t len = strnlen(s, max);
	char *start = *to;

	memcpy(start, s, len);
	start[len] = 0;
	*to += len + 1;
	return start;
}

/* Field names are libhodo's and so identifiers already; a hostile one is made so, and unlike those before it. */
static void name_fields(struct hodo_catalog_event *e, char **to, struct texts *t)
{
	for (unsigned int i = 0; i < e->nfields; i++) {
		char name[HODO_NAME_MAX + 16];
		unsigned int again = 0;
		const char *raw = texts_next(t);

		snprintf(name, HODO_NAME_MAX + 1, "%s", raw);
		hodo_name_identifier(name, HODO_NAME_MAX + 1);
		for (unsigned int j = 0; j < i; j++) {
			if (strcmp(e->field[j], name) != 0)
				continue;
			snprintf(name, sizeof(name), "field%u_%u", i, again++);
			j = UINT32_MAX; /* from the first again; a fresh number differs from at most one each */
		}
		e->field[i] = copy_text(to, name, sizeof(name));
	}
}

static bool is_event_kind(unsigned int kind)
{
	return (kind >= HODO_KIND_EVENT && kind <= HODO_KIND_COUNTER) || kind == HODO_KIND_FUNCTION;
}

/* Adds how large an event is, with its context. As hodo_read_layouts_add(). */
static int add_shape(struct hodo_catalog *c, const struct hodo_catalog_event *e)
{
	uint32_t context = e->kind == HODO_KIND_FUNCTION ? 0 : c->context.n;
	uint8_t types[HODO_PAYLOAD_FIELDS_MAX];

	memcpy(types, c->context.type, context);
	memcpy(types + context, e->type, e->nfields);
	return hodo_read_layouts_add(&c->walk, e->id, types, context + e->nfields);
}

static int add_event(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record_event *r = record;
	const uint8_t *types = (const uint8_t *)(r + 1);
	struct hodo_catalog_event *e;
	struct texts t;
	char *to;
	int err;

	if (size < sizeof(*r) || r->nfields > HODO_FIELDS_MAX || size - sizeof(*r) < r->nfields ||
	    r->head.id == 0 || !is_event_kind(r->kind))
		return -EBADMSG;
	if (hodo_layouts_have(&c->walk, r->head.id))
		return -EEXIST;
	e = allocate(c, sizeof(*e));
	/* Names that are made up are longer than what they stand for. */
	to = allocate(c, size + HODO_FIELDS_MAX * 16 + 8);
	if (!e || !to)
		return -ENOMEM;
	t = (struct texts){ (const char *)types + r->nfields, size - sizeof(*r) - r->nfields, false };
	e->id = r->head.id;
	e->kind = r->kind;
	e->nfields = r->nfields;
	e->line = r->line;
	memcpy(e->type, types, r->nfields);
	e->name = copy_text(&to, texts_next(&t), HODO_NAME_MAX * 2 + 1);
	name_fields(e, &to, &t);
	e->format = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	e->file = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	e->function = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	e->object = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	err = t.bad || !e->name[0] ? -EBADMSG : add_shape(c, e);
	if (err)
		return err == -EINVAL ? -EBADMSG : err;
	return hodo_vec_push(c->event, c->events, e);
}

static int add_labels(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record_labels *r = record;
	struct hodo_catalog_labels *l;
	struct texts t;
	char *to;

	if (size < sizeof(*r) || r->n > HODO_CATALOG_LABELS_MAX || (size - sizeof(*r)) / 8 < r->n)
		return -EBADMSG;
	if (c->labels_count >= HODO_CATALOG_LABELS_MAX)
		return -EEXIST;
	l = allocate(c, sizeof(*l));
	to = allocate(c, size + 8);
	if (!l || !to)
		return -ENOMEM;
	l->n = r->n;
	l->value = allocate(c, r->n * sizeof(*l->value));
	l->label = allocate(c, r->n * sizeof(*l->label));
	if (!l->value || !l->label)
		return -ENOMEM;
	memcpy(l->value, r + 1, r->n * sizeof(*l->value));
	t = (struct texts){ (const char *)(r + 1) + r->n * 8, size - sizeof(*r) - r->n * 8, false };
	l->provider = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	l->field = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	for (uint32_t i = 0; i < r->n; i++)
		l->label[i] = copy_text(&to, texts_next(&t), HODO_CATALOG_RECORD_MAX);
	return t.bad ? -EBADMSG : hodo_vec_push(c->labels, c->labels_count, l);
}

static int add_warning(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record *r = record;
	struct texts t = { (const char *)(r + 1), size - sizeof(*r), false };
	const char *s = texts_next(&t);
	char *copy;

	if (t.bad)
		return -EBADMSG;
	if (c->warnings >= HODO_CATALOG_WARNINGS_MAX)
		return -EEXIST;
	copy = hodo_arena_copy(&c->memory, s, strlen(s));
	return copy ? hodo_vec_push(c->warning, c->warnings, copy) : -ENOMEM;
}

int hodo_catalog_add_object(struct hodo_catalog *c, const struct hodo_record_object *r, const char *path)
{
	struct hodo_catalog_object *o;

	if (c->objects >= HODO_CATALOG_OBJECTS_MAX) {
		c->objects_dropped++;
		return -EEXIST;
	}
	o = allocate(c, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->path = hodo_arena_copy(&c->memory, path, strlen(path));
	o->base = r->base;
	o->start = r->start;
	o->end = r->end;
	o->from = r->ticks;
	o->until = HODO_CATALOG_MAPPED;
	o->functions = r->functions;
	o->build_id_len = r->build_id_len;
	memcpy(o->build_id, r->build_id, r->build_id_len);
	return o->path ? hodo_vec_push(c->object, c->objects, o) : -ENOMEM;
}

static int add_object(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record_object *r = record;
	struct texts t;
	const char *path;

	if (size < sizeof(*r) || r->build_id_len > sizeof(r->build_id) || r->start >= r->end)
		return -EBADMSG;
	t = (struct texts){ (const char *)(r + 1), size - sizeof(*r), false };
	path = texts_next(&t);
	return t.bad ? -EBADMSG : hodo_catalog_add_object(c, r, path);
}

/* Ends the latest object with that start. */
static int end_object(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record_unload *r = record;
	if (size < sizeof(*r))
		return -EBADMSG;
	for (uint32_t i = c->objects; i-- > 0 && c->unload_steps < HODO_CATALOG_UNLOAD_STEPS; c->unload_steps++) {
		struct hodo_catalog_object *o = c->object[i];

		if (o->start != r->start || o->until != HODO_CATALOG_MAPPED)
			continue;
		o->until = r->ticks;
		return 0;
	}
	return -EEXIST;
}

static const struct {
	uint32_t flag;
	uint8_t type;
	const char *name;
} known[] = {
	{ HODO_CONTEXT_COMM, HODO_TYPE_STR, "comm" },
	{ HODO_CONTEXT_PID, HODO_TYPE_U32, "pid" },
	{ HODO_CONTEXT_IP, HODO_TYPE_PTR, "ip" },
	{ HODO_CONTEXT_CALLSTACK, HODO_TYPE_ARRAY | HODO_TYPE_PTR, "callstack" },
	{ HODO_CONTEXT_STACK, HODO_TYPE_ARRAY | HODO_TYPE_U64, "stack_regs" },
	{ HODO_CONTEXT_STACK, HODO_TYPE_BYTES, "stack" },
};

static bool is_identifier(const char *s, size_t size)
{
	size_t n = strnlen(s, size);

	return n > 0 && n < size &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

static void add_field(struct hodo_context_fields *f, uint8_t type, const char *prefix, const char *name)
{
	f->type[f->n] = type;
	snprintf(f->name[f->n], sizeof(f->name[f->n]), "%s%s", prefix, name);
	f->n++;
}

int hodo_context_fields(const struct hodo_context_config *config, struct hodo_context_fields *fields)
{
	fields->n = 0;
	if (config->size != sizeof(*config) || config->flags >= 2 * HODO_CONTEXT_COUNTERS ||
	    config->counters > HODO_COUNTERS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (config->flags & known[i].flag)
			add_field(fields, known[i].type, "", known[i].name);
	for (uint32_t i = 0; (config->flags & HODO_CONTEXT_COUNTERS) && i < config->counters; i++) {
		if (!is_identifier(config->counter[i].name, sizeof(config->counter[i].name)))
			return -EINVAL;
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(config->counter[i].name, config->counter[k].name) == 0)
				return -EINVAL;
		add_field(fields, HODO_TYPE_U64, "perf_", config->counter[i].name);
	}
	return 0;
}

/* Events that are known already have their shapes. */
static int add_context(struct hodo_catalog *c, const void *record, size_t size)
{
	const struct hodo_record_context *r = record;
	if (size < sizeof(*r) || c->events || c->context.n || hodo_context_fields(&r->config, &c->context) < 0)
		return -EBADMSG;
	return 0;
}

/* 1 if taken, 0 if skipped, or negative errno. r is a private copy. */
static int add_record(struct hodo_catalog *c, const struct hodo_record *r, size_t size)
{
	static int (*const add[])(struct hodo_catalog *c, const void *record, size_t size) = {
		[HODO_RECORD_EVENT] = add_event,     [HODO_RECORD_LABELS] = add_labels,
		[HODO_RECORD_WARNING] = add_warning, [HODO_RECORD_OBJECT] = add_object,
		[HODO_RECORD_UNLOAD] = end_object,   [HODO_RECORD_CONTEXT] = add_context,
	};
	int err;

	if (r->type >= sizeof(add) / sizeof(*add) || !add[r->type]) /* of a later version */
		return 0;
	err = add[r->type](c, r, size);
	return err == 0 ? 1 : err == -EEXIST ? 0 : err;
}

int hodo_catalog_read(struct hodo_catalog *c, const uint8_t *base, uint64_t used)
{
	int taken = 0, err = 0;

	if (c->broken || used <= c->parsed)
		return 0;
	while (c->parsed < used && !err) {
		uint64_t left = used > HODO_CATALOG_SIZE ? 0 : used - c->parsed;
		uint32_t size = left < sizeof(struct hodo_record) ? 0 : hodo_shm_get32(base + c->parsed);
		struct hodo_record *copy;

		if (size < sizeof(*copy) || size > left || size > HODO_CATALOG_RECORD_MAX || size % 8 != 0) {
			err = -EBADMSG;
			break;
		}
		copy = malloc(size);
		if (!copy)
			return -ENOMEM;
		hodo_shm_copy(copy, base + c->parsed, size);
		err = add_record(c, copy, size);
		free(copy);
		if (err < 0)
			break;
		taken += err;
		err = 0;
		c->parsed += size;
	}
	c->broken = err == -EBADMSG;
	return err ? err : taken;
}

void hodo_catalog_free(struct hodo_catalog *c)
{
	hodo_arena_free(&c->memory);
	free(c->object);
	free(c->event);
	free(c->labels);
	free(c->warning);
	hodo_layouts_clear(&c->walk);
	memset(c, 0, sizeof(*c));
}
