/* SPDX-License-Identifier: MIT */
/*
 * event.h - the events of a process: what they are, whether they are recorded, and what comes with them.
 */
#pragma once

#include <core/condition.h>
#include <user/user.h>

struct hodo_event {
	const struct hodo_filter *filter; /* 0: refuse.S knows */
	struct hodo_probes *probes; /* 8: site.S knows. NULL or the current list, read inside probe_enter/leave */
	uint16_t room, id;          /* 16: room and plan (steps.h), writer.S knows */
	uint8_t plan[HODO_TRACE_FIELDS_MAX + 1], varying; /* varying: how many texts and arrays */
	uint8_t kind;
	uint8_t nfields;
	uint8_t types[HODO_TRACE_FIELDS_MAX];
	bool matched, disabled; /* a pattern of the recording names it; hodo_disable() does */
	bool filtered;  /* filter is in use */
	uint32_t bound; /* the recording, as rules.c counts them, of filter and rules */
	struct hodo_rules_event *rules; /* this event's conditions and spans; NULL: none */
	uint32_t states; /* states of loaded objects that refer to it */
	uint32_t nprobes;
	uint32_t record; /* offset of its record in the private catalogue */
};

HODO_HIDDEN void hodo_gather_init(void); /* gather.c: in the constructor */

/* emit.c */
HODO_HIDDEN void hodo_emit_init(void);
extern HODO_SHARED const struct hodo_ops hodo_user_ops;
HODO_SHARED void hodo_emit_slow(struct hodo_state *state, const void *data, size_t len);

/* registry.c; all under the control lock */
extern HODO_HIDDEN struct hodo_event *hodo_events; /* [1 .. hodo_nevents]; mapped for the first one */
extern HODO_HIDDEN uint32_t hodo_nevents;
HODO_SHARED struct hodo_event *hodo_registry_add(const struct hodo_desc *desc, size_t room, const char *object);
/* The n-th text of a descriptor of which room bytes may be read; "" if missing. */
HODO_HIDDEN const char *hodo_registry_text(const struct hodo_desc *desc, size_t room, unsigned n);
/* labels.c, also the next: takes the labels of a HODO_LABELS, and of an event's descriptor (core/labels.h). */
HODO_HIDDEN void hodo_registry_labels(const struct hodo_desc *desc, size_t room);
HODO_HIDDEN void hodo_registry_event_labels(const struct hodo_event *event, const struct hodo_desc *desc,
					    size_t room);
#define HODO_EVENT_NAME_MAX (2u * HODO_NAME_MAX + 16u) /* bytes, the NUL included */
/* Stores its on word, from its state. Also in a section, without the lock; see rules.c. */
HODO_SHARED void hodo_registry_publish(struct hodo_event *event);
/* Whether a pattern names the event itself, or the span that it begins or ends. */
HODO_HIDDEN bool hodo_registry_matches(const char *pattern, const void *event);
/* Length of the span's name, which is the event's without .begin or .end; 0: not of a span. */
HODO_HIDDEN size_t hodo_registry_span_len(const struct hodo_event *event);
/* The value of a label of the event's field; false: no such label. Also in labels.c. */
HODO_HIDDEN bool hodo_registry_label(const struct hodo_event *event, const char *field, const char *label, size_t len,
				     int64_t *value);
HODO_HIDDEN const char *hodo_registry_name(const struct hodo_event *event);

/*
 * catalog.c; all under the control lock. What a recorder learns of a process's events, in records (abi.h). Kept
 * twice: in private memory, from which a fork child's new recording is filled, and in the recording's shared memory.
 */
#define HODO_CATALOG_RECORD_MAX 8192 /* bytes of one record: texts are cut to stay below */

/* The record under construction. */
struct hodo_catalog_build {
	uint32_t used;
	uint8_t bytes[HODO_CATALOG_RECORD_MAX] __attribute__((aligned(8)));
};
extern HODO_HIDDEN struct hodo_catalog_build hodo_catalog_build;

/* Begins a record with these bytes; the rest is zero. */
HODO_HIDDEN void hodo_catalog_begin(const void *head, size_t size);
HODO_HIDDEN void hodo_catalog_put(const void *bytes, size_t size); /* appends; the caller sees to it that they fit */
/* Appends text, cut to what a record holds, and a NUL. */
HODO_HIDDEN void hodo_catalog_text(const char *text);
/* Appends n names of fields or labels. */
HODO_HIDDEN void hodo_catalog_names(const char *names, unsigned n);
/* Its place, or 0: there is no room. */
HODO_HIDDEN uint32_t hodo_catalog_append(void);
/* The record there. Moves when the catalogue grows. */
HODO_HIDDEN const uint8_t *hodo_catalog_at(uint32_t place);
HODO_HIDDEN const uint8_t *hodo_catalog_bytes(uint64_t *len); /* the private one */
HODO_SHARED void hodo_catalog_warning(const char *const *parts, unsigned n);
/* A warning, of all these texts one after the other. */
#define hodo_catalog_warn(...) \
	hodo_catalog_warning((const char *const[]){ __VA_ARGS__ }, \
			     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
/* Adds a record that is complete except for its size; texts are its NUL-terminated texts. Cut to what a
 * record holds. */
HODO_HIDDEN void hodo_catalog_add(const struct hodo_record *record, size_t size, const char *text);
HODO_HIDDEN void hodo_catalog_export(void); /* copies it into a new recording's shared memory */

/* rules.c: patterns, conditions and filters; under the control lock, except for pass and act. */
HODO_HIDDEN void hodo_rules_prepare(void); /* a recording begins: before events are selected */
HODO_HIDDEN void hodo_rules_select(struct hodo_event *event); /* what the recording wants of it */
/* In a section: what to do with the event, HODO_VERDICT_*. May change on words (start triggers). */
HODO_HIDDEN uint32_t hodo_rules_pass(struct hodo_event *event, uint32_t on, const struct hodo_piece *pieces,
				    size_t count);
HODO_HIDDEN void hodo_rules_act(const struct hodo_event *event, uint32_t verdict); /* in a section */
extern HODO_HIDDEN bool hodo_rules_filters; /* a hint: the recording has a filter */

/* buffers.c: one for each event under construction. */
#define HODO_BUFFERS 64u
struct hodo_buffers {
	uint8_t *memory;
	uint64_t bytes, stride;
	uint32_t process; /* that mapped them */
	struct {
		uint64_t since; /* 0: free */
		uint64_t pad[7]; /* each in a cache line of its own */
	} taken[HODO_BUFFERS];
};
/* When a recording begins: of that many bytes each. 0, or -ENOMEM. */
HODO_HIDDEN int hodo_buffers_make(struct hodo_buffers *b, uint64_t size);
HODO_HIDDEN void *hodo_buffers_take(struct hodo_buffers *b); /* in a section; NULL: all are taken */
HODO_HIDDEN void hodo_buffers_release(struct hodo_buffers *b, const void *buffer);

/* context.c: what comes before an event's fields. */
struct hodo_context {
	struct hodo_piece *piece; /* in the caller's room */
	uint32_t n;
	size_t total;
	uint32_t flags, fixed; /* what is wanted, and the part of the room with values stored nowhere else */
	void *buffer;
};
HODO_HIDDEN bool hodo_context_valid(const uint8_t *at, uint32_t len);
HODO_HIDDEN int hodo_context_prepare(void); /* a recording begins; 0 or negative errno */
HODO_HIDDEN void hodo_context_end(void);    /* it has ended; nobody gathers */
/* In a section: how many pieces of room it needs, besides the event's own, which follow. */
HODO_HIDDEN uint32_t hodo_context_room(struct hodo_context *c);
/* ip, sp, bp of the function that contains the event. */
HODO_HIDDEN void hodo_context_gather(struct hodo_context *c, struct hodo_piece *room, uintptr_t ip, uintptr_t sp,
				     uintptr_t bp);
HODO_HIDDEN void hodo_context_release(struct hodo_context *c); /* the event is written */
HODO_HIDDEN bool hodo_context_addresses(void); /* parts of it are code addresses, or lead to some */

/* counters.c. prepare: closes the threads' counters; NULL: no counters. Under the control lock, and nobody is
 * in put. */
HODO_HIDDEN void hodo_counters_prepare(const struct hodo_context_config *config);
/* Appends the calling thread's counters; opens them at the first event of a recording (epoch). In a section. */
HODO_HIDDEN uint8_t *hodo_counters_put(uint8_t *at, uint32_t epoch);

/* roles.c */
#define HODO_ROLE_MAX 64u /* bytes of a role's name */
/* The role with that name; it stays valid. NULL: too many. Any thread, and signal handlers. */
HODO_SHARED const char *hodo_role_intern(const char *name, uint32_t length);
HODO_HIDDEN int hodo_role_set(const char *role); /* the calling thread's */

/*
 * section.c: what runs between enter and leave may use the recording's memory and filters: the end of the
 * recording waits for it. Signal safe; sections nest. Returns a token for leave, 0: there is no recording.
 */
HODO_SHARED uint32_t hodo_section_enter(void);
HODO_SHARED void hodo_section_leave(uint32_t token);
/* Under the control lock. close: false if a thread stayed inside for two seconds. */
HODO_HIDDEN void hodo_section_open(void);
HODO_HIDDEN bool hodo_section_close(void);
HODO_HIDDEN bool hodo_section_empty(void);
HODO_HIDDEN void hodo_section_forked(void);
