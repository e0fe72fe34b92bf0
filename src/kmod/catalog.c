/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * catalog.c - appends records to a memory's catalogue.
 *
 * Only catalog_used publishes a record: a reader that loads it with acquire finds the record complete.
 * Without the release store, it could see the new length and old bytes.
 */
#include "catalog.h"

#include <linux/minmax.h>
#include <linux/string.h>

struct builder {
	uint8_t *start, *at, *end; /* at == NULL: it does not fit */
};

static struct builder begin(struct hodo_memory *memory, size_t head)
{
	struct builder b = { .start = memory->catalog + memory->shm->catalog_used,
			     .end = memory->catalog + memory->catalog_size };

	if (head <= (size_t)(b.end - b.start))
		b.at = b.start + head;
	return b;
}

static void add(struct builder *b, const void *data, size_t len)
{
	if (!b->at || len > (size_t)(b->end - b->at)) {
		b->at = NULL;
		return;
	}
	memcpy(b->at, data, len);
	b->at += len;
}

static void add_text(struct builder *b, const char *text)
{
	text = text ? text : "";
	add(b, text, strlen(text) + 1);
}

/* It was zero before, and padding must be zero. */
static void drop(struct builder *b)
{
	memset(b->start, 0, (b->at ? b->at : b->end) - b->start);
}

static int publish(struct hodo_memory *memory, struct builder *b, uint16_t type, uint16_t id)
{
	struct hodo_record *head = (struct hodo_record *)b->start;
	size_t size = b->at ? (b->at - b->start + 7) & ~(size_t)7 : SIZE_MAX;

	if (size > (size_t)(b->end - b->start)) {
		memory->shm->catalog_lost++;
		drop(b);
		return -ENOSPC;
	}
	head->size = size;
	head->type = type;
	head->id = id;
	smp_store_release(&memory->shm->catalog_used, memory->shm->catalog_used + size);
	return 0;
}

static struct builder build_event(struct hodo_memory *memory, const struct hodo_event *event)
{
	struct builder b = begin(memory, sizeof(struct hodo_record_event));
	struct hodo_record_event *r = (struct hodo_record_event *)b.start;

	if (b.at) {
		r->kind = event->kind;
		r->nfields = event->nfields;
		r->line = event->line;
	}
	for (unsigned int i = 0; i < event->nfields; i++)
		add(&b, &event->fields[i].type, 1);
	add(&b, event->provider, strlen(event->provider));
	add(&b, ":", 1);
	add_text(&b, event->name);
	for (unsigned int i = 0; i < event->nfields; i++)
		add_text(&b, event->fields[i].name);
	/* The kernel's print formats have special arguments, which readers could not use. */
	add_text(&b, event->kind == HODO_KIND_MARK ? event->format : "");
	add_text(&b, event->file);
	add_text(&b, event->function);
	add_text(&b, event->object);
	return b;
}

int hodo_catalog_event(struct hodo_memory *memory, const struct hodo_event *event)
{
	struct builder b = build_event(memory, event);

	return publish(memory, &b, HODO_RECORD_EVENT, event->id);
}

/* The catalogue's record that equals this one, which is complete except for its head; NULL: none. */
static const struct hodo_record *find(const struct hodo_memory *memory, const struct builder *b, uint16_t type)
{
	const size_t head = sizeof(struct hodo_record), len = b->at ? b->at - b->start : SIZE_MAX;
	const struct hodo_record *r;

	for (const uint8_t *p = memory->catalog; p < b->start; p += r->size) {
		r = (const struct hodo_record *)p;
		if (r->type == type && len <= r->size && len + 7 >= r->size &&
		    memcmp(p + head, b->start + head, len - head) == 0)
			return r;
	}
	return NULL;
}

uint16_t hodo_catalog_find(struct hodo_memory *memory, const struct hodo_event *event)
{
	struct builder b = build_event(memory, event);
	const struct hodo_record *r = find(memory, &b, HODO_RECORD_EVENT);

	drop(&b);
	return r ? r->id : 0;
}

/* A module that is loaded again brings its labels again. */
int hodo_catalog_labels(struct hodo_memory *memory, const struct hodo_kernel_labels *labels)
{
	struct builder b = begin(memory, sizeof(struct hodo_record_labels));

	if (b.at)
		((struct hodo_record_labels *)b.start)->n = labels->n;
	add(&b, labels->values, labels->n * sizeof(*labels->values));
	add_text(&b, labels->provider);
	add_text(&b, labels->field);
	for (uint32_t i = 0; i < labels->n; i++)
		add_text(&b, labels->names[i]);
	if (!find(memory, &b, HODO_RECORD_LABELS))
		return publish(memory, &b, HODO_RECORD_LABELS, 0);
	drop(&b);
	return 0;
}

void hodo_catalog_warning(struct hodo_memory *memory, const char *text)
{
	struct builder b = begin(memory, sizeof(struct hodo_record));

	add_text(&b, text);
	publish(memory, &b, HODO_RECORD_WARNING, 0);
}
