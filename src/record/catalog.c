/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - reads a traced process's catalogue.
 *
 * Each record is copied out of shared memory before anything in it is read, so that what is used is what was
 * checked. The copy stays, since texts remain in it.
 *
 * A record that contradicts itself ends the reading: the catalogue was overwritten, and where the next record begins
 * is unknown. An event with a value of an unknown type contradicts nothing. It is left out, as if it were not there:
 * packets are read up to the first event of it, as with any unknown id.
 */
#include "catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <core/labels.h>

#include <record/write/names.h>
#include <record/ring/shm.h>

#define WARNING_MAX 1024    /* bytes of one of ours */
#define FILE_SHOWN_MAX 300 /* bytes of a file's name in a warning */

/* The NUL-terminated texts of a record, taken one after the other. */
struct texts {
	char *at;
	size_t left;
	bool bad;
};

/* Those after its first bytes. */
static struct texts texts_of(void *record, size_t size, size_t first)
{
	return (struct texts){ (char *)record + first, size - first, false };
}

static const char *texts_next(struct texts *t)
{
	const char *s = t->at;
	char *end = t->left ? memchr(s, 0, t->left) : NULL;

	if (!end) {
		t->bad = true;
		return "";
	}
	t->left -= (size_t)(end - s) + 1;
	t->at = end + 1;
	return s;
}

/*
 * Field names come from libhodo and are identifiers; a hostile one is turned into an identifier that differs
 * from those before it.
 */
static int name_fields(struct hodo_catalog *c, struct hodo_catalog_event *e, struct texts *t)
{
	for (unsigned int i = 0; i < e->nfields; i++) {
		char name[HODO_NAME_MAX + 16];
		unsigned int again = 0;

		snprintf(name, HODO_NAME_MAX + 1, "%s", texts_next(t));
		hodo_name_identifier(name, HODO_NAME_MAX + 1);
		for (unsigned int j = 0; j < i; j++) {
			if (strcmp(e->field[j], name) != 0)
				continue;
			snprintf(name, sizeof(name), "field%u_%u", i, again++);
			j = UINT32_MAX; /* start over; each name excludes at most one number */
		}
		e->field[i] = hodo_arena_copy(&c->memory, name, strlen(name));
		if (!e->field[i])
			return -ENOMEM;
	}
	return 0;
}

static bool is_event_kind(unsigned int kind)
{
	return (kind >= HODO_KIND_EVENT && kind <= HODO_KIND_COUNTER) || kind == HODO_KIND_FUNCTION;
}

/* Adds the size of an event with its context, like hodo_read_layouts_add(). */
static int add_shape(struct hodo_catalog *c, const struct hodo_catalog_event *e)
{
	uint32_t context = e->kind == HODO_KIND_FUNCTION ? 0 : c->context.n;
	uint8_t types[HODO_PAYLOAD_FIELDS_MAX];

	memcpy(types, c->context.type, context);
	memcpy(types + context, e->type, e->nfields);
	hodo_layouts_note_call(&c->walk, e->id, e->kind, e->name, e->type, e->nfields);
	return hodo_read_layouts_add(&c->walk, e->id, types, context + e->nfields);
}

static int push_warning(struct hodo_catalog *c, const char *text)
{
	return c->warnings >= HODO_CATALOG_WARNINGS_MAX ? -EEXIST : hodo_vec_push(c->warning, c->warnings, text);
}

/* Takes a warning in its place. 0; -EEXIST: there are too many; -ENOMEM. */
static int leave_out(struct hodo_catalog *c, const struct hodo_catalog_event *e)
{
	char text[WARNING_MAX];
	const char *kept;

	if (c->warnings >= HODO_CATALOG_WARNINGS_MAX)
		return -EEXIST;
	snprintf(text, sizeof(text), "event %s at %.*s:%u is not recorded, nor are events behind it in its packets: "
		 "the type of a value is unknown; with a newer <hodo/trace.h>, the compiler names it",
		 e->name, FILE_SHOWN_MAX, e->file, e->line);
	kept = hodo_arena_copy(&c->memory, text, strlen(text));
	return kept ? push_warning(c, kept) : -ENOMEM;
}

static int add_event(struct hodo_catalog *c, void *record, size_t size)
{
	const struct hodo_record_event *r = record;
	struct hodo_catalog_event *e;
	const char *name;
	struct texts t;
	int err;

	if (size < sizeof(*r) || r->nfields > HODO_FIELDS_MAX || size - sizeof(*r) < r->nfields ||
	    r->head.id == 0 || !is_event_kind(r->kind))
		return -EBADMSG;
	if (hodo_layouts_have(&c->walk, r->head.id))
		return -EEXIST;
	e = hodo_arena_alloc(&c->memory, sizeof(*e));
	if (!e)
		return -ENOMEM;
	t = texts_of(record, size, sizeof(*r) + r->nfields);
	*e = (struct hodo_catalog_event){ .id = r->head.id, .kind = r->kind, .nfields = r->nfields, .line = r->line,
					  .type = (const uint8_t *)(r + 1) };
	name = texts_next(&t);
	e->name = hodo_arena_copy(&c->memory, name, strnlen(name, HODO_NAME_MAX * 2 + 1));
	err = e->name ? name_fields(c, e, &t) : -ENOMEM;
	e->format = texts_next(&t);
	e->file = texts_next(&t);
	e->function = texts_next(&t);
	e->object = texts_next(&t);
	if (!err)
		err = t.bad || !e->name[0] ? -EBADMSG : add_shape(c, e);
	if (err)
		return err == -EINVAL ? leave_out(c, e) : err;
	return hodo_vec_push(c->event, c->events, e);
}

static int add_labels(struct hodo_catalog *c, void *record, size_t size)
{
	const struct hodo_record_labels *r = record;
	struct hodo_catalog_labels *l;
	struct texts t;

	if (size < sizeof(*r) || r->n > HODO_CATALOG_LABELS_MAX || (size - sizeof(*r)) / 8 < r->n)
		return -EBADMSG;
	if (c->labels_count >= HODO_CATALOG_LABELS_MAX)
		return -EEXIST;
	l = hodo_arena_alloc(&c->memory, sizeof(*l) + r->n * sizeof(*l->label));
	if (!l)
		return -ENOMEM;
	l->n = r->n;
	l->value = (const int64_t *)(r + 1);
	t = texts_of(record, size, sizeof(*r) + r->n * 8);
	l->provider = texts_next(&t);
	l->field = texts_next(&t);
	for (uint32_t i = 0; i < r->n; i++)
		l->label[i] = texts_next(&t);
	return t.bad ? -EBADMSG : hodo_vec_push(c->labels, c->labels_count, l);
}

const struct hodo_catalog_labels *hodo_catalog_labels_of(const struct hodo_catalog *c,
							 const struct hodo_catalog_event *e, const char *field)
{
	enum hodo_labels_of best = HODO_LABELS_OF_OTHERS;
	const struct hodo_catalog_labels *found = NULL;

	for (uint32_t i = c->labels_count; i-- > 0 && best != HODO_LABELS_OF_EVENT;) {
		const struct hodo_catalog_labels *l = c->labels[i];
		enum hodo_labels_of of = hodo_labels_of(l->provider, e->name);

		if (l->n > 0 && of > best && strcmp(l->field, field) == 0) {
			best = of;
			found = l;
		}
	}
	return found;
}

static int add_warning(struct hodo_catalog *c, void *record, size_t size)
{
	struct texts t = texts_of(record, size, sizeof(struct hodo_record));
	const char *s = texts_next(&t);

	if (t.bad)
		return -EBADMSG;
	return push_warning(c, s);
}

int hodo_catalog_add_object(struct hodo_catalog *c, const struct hodo_record_object *r, const char *path)
{
	struct hodo_catalog_object *o;

	if (c->objects >= HODO_CATALOG_OBJECTS_MAX) {
		c->objects_dropped++;
		return -EEXIST;
	}
	o = hodo_vec_add(c->object, c->objects);
	if (!o)
		return -ENOMEM;
	*o = (struct hodo_catalog_object){ path, *r, HODO_CATALOG_MAPPED };
	return 0;
}

static int add_object(struct hodo_catalog *c, void *record, size_t size)
{
	const struct hodo_record_object *r = record;
	struct texts t;
	const char *path;

	if (size < sizeof(*r) || r->build_id_len > sizeof(r->build_id) || r->start >= r->end ||
	    r->short_start > r->short_end || (r->short_end && (r->short_start < r->start || r->short_end > r->end)))
		return -EBADMSG;
	t = texts_of(record, size, sizeof(*r));
	path = texts_next(&t);
	return t.bad ? -EBADMSG : hodo_catalog_add_object(c, r, path);
}

/* Ends the latest object with that start. */
static int end_object(struct hodo_catalog *c, void *record, size_t size)
{
	const struct hodo_record_unload *r = record;
	if (size < sizeof(*r))
		return -EBADMSG;
	for (uint32_t i = c->objects; i-- > 0 && c->unload_steps < HODO_CATALOG_UNLOAD_STEPS; c->unload_steps++) {
		struct hodo_catalog_object *o = &c->object[i];

		if (o->is.start != r->start || o->until != HODO_CATALOG_MAPPED)
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
	if (config->size != sizeof(*config) || config->flags & ~HODO_CONTEXT_ALL ||
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
	if (config->flags & HODO_CONTEXT_CPU_TIME)
		add_field(fields, HODO_TYPE_U64, "", "cpu_time");
	return 0;
}

/* Events that are already known have their shapes. */
static int add_context(struct hodo_catalog *c, void *record, size_t size)
{
	const struct hodo_record_context *r = record;
	if (size < sizeof(*r) || c->events || c->context.n || hodo_context_fields(&r->config, &c->context) < 0)
		return -EBADMSG;
	return 0;
}

/* 1 if taken, 0 if skipped, or negative errno. r is a private copy. */
static int add_record(struct hodo_catalog *c, struct hodo_record *r, size_t size)
{
	static int (*const add[])(struct hodo_catalog *c, void *record, size_t size) = {
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

	if (hodo_catalog_is_read(c, used))
		return 0;
	while (c->parsed < used && !err) {
		uint64_t left = used > HODO_CATALOG_SIZE ? 0 : used - c->parsed;
		uint32_t size = left < sizeof(struct hodo_record) ? 0 : hodo_shm_get32(base + c->parsed);
		struct hodo_record *copy;

		if (size < sizeof(*copy) || size > left || size > HODO_CATALOG_RECORD_MAX || size % 8 != 0) {
			err = -EBADMSG;
			break;
		}
		copy = hodo_arena_alloc(&c->memory, size);
		if (!copy)
			return -ENOMEM;
		hodo_shm_copy(copy, base + c->parsed, size);
		err = add_record(c, copy, size);
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

/* -------------------------------------------------------------------- patterns */

void hodo_pattern_see_fields(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first)
{
	/* A name compared with a field may be one of its labels. */
	for (uint32_t i = 0; i < c->labels_count && list->n; i++)
		for (uint32_t k = 0; k < c->labels[i]->n; k++)
			hodo_pattern_see_field(list, c->labels[i]->label[k]);
	for (uint32_t i = first; i < c->events && list->n; i++)
		for (uint8_t k = 0; k < c->event[i]->nfields && c->event[i]->kind != HODO_KIND_FUNCTION; k++)
			hodo_pattern_see_field(list, c->event[i]->field[k]);
}

void hodo_pattern_see(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first)
{
	for (uint32_t i = first; i < c->events && list->n; i++)
		if (c->event[i]->kind != HODO_KIND_FUNCTION) /* patterns of events do not name these */
			hodo_pattern_see_event(list, c->event[i]->name);
}
