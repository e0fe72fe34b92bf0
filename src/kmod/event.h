/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * event.h - an event of the kernel: what its writers read, its description, and what switches it on and off.
 *
 * Everything except id, head and rules is accessed only under hodo_lock. These are set before the event is
 * switched on, and change only when no writer is inside (hodo_quiesce()).
 */
#pragma once

#include <hodo/abi.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct hodo_control_dir;
struct hodo_event;
struct hodo_rules;

extern struct mutex hodo_lock; /* the module's only one; its writers never take it */

struct hodo_field {
	const char *name;  /* an identifier */
	const char *ctype; /* the type's name in the kernel's source, for people; NULL: see type */
	uint8_t type;      /* enum hodo_type */
};

/* Where an event comes from. */
struct hodo_source {
	const char *name; /* "tracepoint", "syscall", "module", "function" */
	/*
	 * Makes writers call hodo_emit_begin(), or stops them. May sleep. 0 or negative errno. After
	 * switching off, writers may still be inside until hodo_quiesce() has returned.
	 */
	int (*set)(struct hodo_event *event, bool on);
};

struct hodo_event {
	/* What writers read. */
	uint64_t head; /* of its records: hodo_event_word() of id, at time 0 */
	struct hodo_rules *rules; /* NULL: all are recorded */
	uint16_t id;

	/* Set when it is added, and constant. Names have at most HODO_NAME_MAX bytes. */
	const char *provider, *name; /* with .begin or .end if the kind requires it */
	const struct hodo_field *fields;
	uint8_t nfields; /* HODO_FIELDS_MAX at most */
	uint8_t kind;    /* enum hodo_kind */
	uint32_t line;
	const char *format;   /* of a mark; or the kernel's print fmt; "" */
	const char *file, *function; /* "": not known */
	const char *object;   /* name of its module, or "vmlinux" */
	const struct hodo_source *source;
	bool absent;          /* it is known but has no place now: cannot be switched on */

	/* registry.c's. */
	struct list_head list; /* of all events, in the order of ids */
	struct hlist_node hash;
	bool enabled;   /* by its file in the control tree */
	bool recorded;  /* the running recording wants it, and it is on */
	bool described; /* in that recording's catalogue */
	uint16_t described_id; /* its id there, 0: none */
	/* control.c's. */
	struct hodo_control_dir *dir;
	char *filter; /* text of its file; NULL: none */
	uint8_t *filter_code; /* its program */
	uint32_t filter_len;
	char *filter_refused; /* the file's text about a later refused filter; NULL: none */
};

/*
 * Registers an event: gives it an id, a place in the control tree, and, if the present recording wants it by
 * its name, records it from now on. 0; -EEXIST: the name exists; -EINVAL; -ENOSPC; -ENOMEM. Under hodo_lock.
 */
int hodo_event_add(struct hodo_event *event);
/* Switches it off and forgets it; no writer is inside afterwards. Under hodo_lock; sleeps. */
void hodo_event_remove(struct hodo_event *event);
/* Adds or removes n at once: removing waits once for all. Those that cannot be added are logged and left out. */
void hodo_events_add(struct hodo_event *const *events, size_t n);
void hodo_events_remove(struct hodo_event *const *events, size_t n);
/* No longer absent: records it if the present recording wants it. */
void hodo_event_came(struct hodo_event *event);
/* absent is set, or it will be removed: no events from now on. true: writers may be inside: call
 * hodo_quiesce(), then hodo_rules_free(). */
bool hodo_event_goes(struct hodo_event *event);
/* NULL: there is none. Under hodo_lock. */
struct hodo_event *hodo_event_find(const char *provider, const char *name);
/* Of all events. Under hodo_lock. */
extern struct list_head hodo_events;

/* Is told of each event that comes and goes, under hodo_lock: the control tree, once it is there. NULL: nobody. */
extern const struct hodo_event_watch {
	void (*added)(struct hodo_event *event);
	void (*removed)(struct hodo_event *event);
} *hodo_event_watch;

/* Control tree: whether the event is in the recording that `enabled` starts or has started. Under hodo_lock. */
int hodo_event_enable(struct hodo_event *event, bool on);
/* All of a provider, NULL: all events, except functions, which are switched one by one. Waits once. Returns
 * the first error. */
int hodo_events_enable(const char *provider, bool on);
/* Whether the event is among these. */
bool hodo_event_is_of(const struct hodo_event *event, const char *provider);

/* Sets its own filter, for recordings of the control tree; text and code are kfree()d later, or on failure.
 * NULL: none. */
int hodo_event_filter(struct hodo_event *event, char *text, uint8_t *code, uint32_t len);

/* Names for the values of a field, for all events of the provider; the caller keeps the texts. Under
 * hodo_lock. */
struct hodo_kernel_labels {
	struct list_head list;
	const char *provider, *field;
	uint32_t n;
	const int64_t *values;
	const char *const *names;
};
void hodo_labels_add(struct hodo_kernel_labels *labels);
void hodo_labels_remove(struct hodo_kernel_labels *labels);

/* Waits until no writer of an event switched off before is inside. Sleeps. */
void hodo_quiesce(void);
