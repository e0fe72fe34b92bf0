/* SPDX-License-Identifier: MIT */
/* otlp_impl.h - what the files of the otlp format share. */
#pragma once

#include <export/export.h>
#include "otlp_message.h"
#include "otlp.pb-c.h"

#include <base/map.h>

#define OTLP_SET(message, field, value) ((message).has_##field = 1, (message).field = (value))

/* Of what a recording says there is no end: these are OpenTelemetry's own limits where it has some. */
#define OTLP_TEXT_MAX       4096u /* bytes of a text or of bytes; longer ones are cut */
#define OTLP_ELEMENTS_MAX   256u  /* of an array */
#define OTLP_EVENTS_MAX     128u  /* of a span; more are dropped, and counted in the span */
#define OTLP_SPAN_MAX       (256u << 10) /* bytes of a span: what comes then is dropped, and counted */
#define OTLP_OPEN_MAX       (256u << 20) /* bytes of all open spans: what comes then is dropped, and counted */
#define OTLP_BATCH_ITEMS    512u
#define OTLP_BATCH_BYTES    (1u << 20)
#define OTLP_ATTRIBUTES_MAX (HODO_FIELDS_MAX + 8u)

struct otlp_ids {
	uint64_t trace[2], span; /* high half first; not 0 */
};

/* The attributes of one message: they hold until the next are begun. */
struct otlp_attributes {
	struct hodo_arena texts;
	struct hodo_export *e;
	Otlp__KeyValue pairs[OTLP_ATTRIBUTES_MAX], *list[OTLP_ATTRIBUTES_MAX];
	Otlp__AnyValue values[OTLP_ATTRIBUTES_MAX];
	size_t n;
};

/* One span or value of a batch. */
struct otlp_item {
	const struct hodo_read_process *process;
	const char *name; /* of a counter */
	size_t at, len;   /* its bytes */
	uint64_t key;     /* of hodo_otlp_message */
};

struct otlp_batch {
	bool metrics;
	struct hodo_text bytes;
	struct otlp_item items[OTLP_BATCH_ITEMS];
	uint32_t n;
	/* Of a request that is put together, from the inside to the outside. */
	struct hodo_text metric, scope, resource, request, json;
};

/* otlp_attributes.c */
void otlp_attributes_begin(struct otlp_attributes *a, struct hodo_export *e);
void otlp_attributes_free(struct otlp_attributes *a);
void otlp_add_text(struct otlp_attributes *a, const char *key, const char *text, size_t len);
void otlp_add_number(struct otlp_attributes *a, const char *key, int64_t number);
/* The event's fields from `first` on, a mark's text, the context. but: a class whose fields' names are taken. */
void otlp_add_event(struct otlp_attributes *a, const struct hodo_read_event *event, uint32_t first,
		    const struct hodo_read_class *but);
char *otlp_text(struct otlp_attributes *a, const char *text, size_t len); /* as UTF-8, cut */

/* otlp_batch.c: adds an item whose bytes stand at the end of b->bytes, from `at` on, unless it was sent before; sends a
 * batch that is full. */
int otlp_batch_add(struct otlp_batch *b, struct hodo_export *e, const struct otlp_item *item);
int otlp_batch_send(struct otlp_batch *b, struct hodo_export *e); /* what there is. 0 or a negative errno */
void otlp_batch_free(struct otlp_batch *b);
/* A message behind what there is. */
void otlp_put(struct hodo_text *to, const ProtobufCMessage *message);
/* Bytes, or a message, behind what there is, as a field of the message around it. */
void otlp_put_field(struct hodo_text *to, uint32_t field, const void *bytes, size_t len);
void otlp_put_message(struct hodo_text *to, uint32_t field, const ProtobufCMessage *message);

/* otlp_json.c: a message as OpenTelemetry's JSON. 0 or a negative errno. */
int otlp_json(struct hodo_text *to, const ProtobufCMessageDescriptor *type, const void *bytes, size_t len);

/* otlp.c: sends what is in both batches. 0 or a negative errno. */
int otlp_flush(void *state, struct hodo_export *e);

/* otlp_ids.c: of a span of a thread that has none of its own; the same each time. begin: in ticks, which do not
 * depend on how exactly their frequency is known, as times do while the recording goes on. */
uint64_t otlp_id(const struct hodo_read_process *process, uint32_t tid, uint64_t begin, uint32_t same,
		 uint32_t which);
void otlp_id_bytes(uint8_t *to, uint64_t id); /* 8 */
/* Those that a start event of HODO_SPAN_CONTEXT has, as its first OTLP_CONTEXT_FIELDS fields; false: it has none. */
#define OTLP_CONTEXT_FIELDS 4u
bool otlp_context(const struct hodo_read_event *event, struct otlp_ids *ids, uint64_t *parent);
uint64_t otlp_fold(uint64_t h, const void *bytes, size_t len); /* a hash that is the same in each run */
