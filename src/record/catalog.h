/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - a traced process's catalogue, read from shared memory: its events, labels of their fields, its
 * warnings, and the executable and libraries that were mapped.
 *
 * Memory is bounded by what the catalogue can hold (HODO_CATALOG_SIZE), and by
 * the limits below for what is not bounded by the 16-bit event id.
 */
#pragma once

#include <base/arena.h>
#include <hodo/abi.h>
#include <read/event/pattern.h>

#include <record/ring/event_walk.h>

#define HODO_CATALOG_RECORD_MAX (1u << 20) /* bytes of one record */
#define HODO_CATALOG_LABELS_MAX 4096u      /* label records, and labels of one */
#define HODO_CATALOG_WARNINGS_MAX 1024u    /* kept; more are dropped */
#define HODO_CATALOG_OBJECTS_MAX 65536u    /* kept; more are dropped */
#define HODO_CATALOG_UNLOAD_STEPS (1u << 26) /* objects searched, in total, for all unload records */

/* The fields that precede those of every event. */
#define HODO_CONTEXT_NAME_MAX 48u /* bytes of a field's name, its NUL included */

struct hodo_context_fields {
	uint32_t n;
	uint8_t type[HODO_CONTEXT_FIELDS_MAX];
	char name[HODO_CONTEXT_FIELDS_MAX][HODO_CONTEXT_NAME_MAX]; /* identifiers, all different */
};

/* 0, or -EINVAL if the configuration makes no sense. */
int hodo_context_fields(const struct hodo_context_config *config, struct hodo_context_fields *fields);

struct hodo_catalog_event {
	uint16_t id;
	uint8_t kind;
	uint8_t nfields;
	uint32_t line;
	const uint8_t *type;
	const char *name;                   /* "kv:put" */
	const char *field[HODO_FIELDS_MAX]; /* identifiers, all different */
	const char *format;
	const char *file;
	const char *function;
	const char *object;
};

struct hodo_catalog_labels {
	uint32_t n;
	const int64_t *value; /* n */
	const char *provider, *field;
	const char *label[]; /* n */
};

#define HODO_CATALOG_MAPPED UINT64_MAX /* until: it still is */

struct hodo_catalog_object {
	const char *path;
	struct hodo_record_object is;
	uint64_t until; /* ticks */
};

struct hodo_catalog {
	struct hodo_arena memory; /* of everything below except the arrays */
	uint64_t parsed; /* bytes */
	bool broken;     /* a record was invalid: nothing after it is read */
	struct hodo_catalog_event **event; /* in the order of their coming */
	uint32_t events;
	struct hodo_catalog_labels **labels;
	uint32_t labels_count;
	const char **warning;
	uint32_t warnings;
	struct hodo_catalog_object *object; /* in the order of their coming */
	uint32_t objects;
	uint32_t objects_dropped;
	uint32_t unload_steps;
	struct hodo_context_fields context; /* of all events except functions' */
	struct hodo_read_layouts walk;
};

/* Whether there is nothing new up to used, or nothing readable. */
static inline bool hodo_catalog_is_read(const struct hodo_catalog *c, uint64_t used)
{
	return c->broken || used <= c->parsed;
}

/*
 * Reads what is new up to used (hodo_shm.catalog_used, loaded once) in the
 * HODO_CATALOG_SIZE bytes at base, which may change meanwhile. Returns the
 * number of records taken, 0 if there is nothing new; -EBADMSG, once, if the catalogue is broken (what came
 * before stays valid); -ENOMEM.
 */
int hodo_catalog_read(struct hodo_catalog *c, const uint8_t *base, uint64_t used);
/*
 * Adds an object that is not in the process's catalogue; the caller keeps its path. 0; -EEXIST: too many;
 * -ENOMEM.
 */
int hodo_catalog_add_object(struct hodo_catalog *c, const struct hodo_record_object *r, const char *path);
/* The labels of an event's field: its own before its provider's, the latest of several; or NULL. */
const struct hodo_catalog_labels *hodo_catalog_labels_of(const struct hodo_catalog *c,
							 const struct hodo_catalog_event *e, const char *field);
void hodo_catalog_free(struct hodo_catalog *c);

/* Checks off the events of a catalogue from index first on: their names (a span's also without .begin and
 * .end), or their fields. */
void hodo_pattern_see_fields(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first);
void hodo_pattern_see(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first);
