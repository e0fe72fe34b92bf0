/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * event.h - an event of the kernel: what its writers read, what is said of it, and who switches it on and off.
 *
 * Everything but id, head and rules is written under hodo_lock alone. These are set before the
 * event is switched on, and change when no writer is inside (hodo_quiesce()).
 */
#ifndef HODO_KMOD_EVENT_H
#define HODO_KMOD_EVENT_H

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
	const char *ctype; /* the type's name in the kernel's source, for people; NULL: as type says */
	uint8_t type;      /* enum hodo_type */
};

/* Where an event comes from. */
struct hodo_source {
	const char *name; /* "tracepoint", "syscall", "module", "function" */
	/*
	 * Makes writers call hodo_emit_begin(), or no more. May sleep. 0 or negative errno. When it was
	 * switched off, writers may still be inside until hodo_quiesce() has returned.
	 */
	int (*set)(struct hodo_event *event, bool on);
};

struct hodo_event {
	/* What writers read. */
	uint64_t head; /* of its records: hodo_event_word() of id, at time 0 */
	struct hodo_rules *rules; /* NULL: every one is recorded */
	uint16_t id;

	/* Said by who adds it, and constant. Names are at most HODO_NAME_MAX bytes. */
	const char *provider, *name; /* with .begin or .end where the kind says so */
	const struct hodo_field *fields;
	uint8_t nfields; /* HODO_FIELDS_MAX at most */
	uint8_t kind;    /* enum hodo_kind */
	uint32_t line;
	const char *format;   /* of a mark; or the kernel's print fmt; "" */
	const char *file, *function; /* "": not known */
	const char *object;   /* name of the module that has it, "vmlinux" */
	const struct hodo_source *source;
	bool absent;          /* it is known but has no place at the moment: cannot be switched on */

	/* registry.c's. */
	struct list_head list; /* of all events, in the order of ids */
	struct hlist_node hash;
	bool enabled;   /* by its file in the control tree */
	bool recorded;  /* the recording that runs has asked for it, and it is on */
	bool described; /* in that recording's catalogue */
	uint16_t described_id; /* there: 0, none */
	/* control.c's. */
	struct hodo_control_dir *dir;
	char *filter; /* text of its file; NULL: none */
	uint8_t *filter_code; /* its program */
	uint32_t filter_len;
	char *filter_refused; /* what the file says of a text that was refused after that; NULL: nothing */
};

/*
 * Makes an event known: gives it an id, a place in the control tree, and, if the present recording wants events of its
 * name, records it from now on. 0; -EEXIST: there is one of that name; -EINVAL; -ENOSPC; -ENOMEM. Under hodo_lock.
 */
int hodo_event_add(struct hodo_event *event);
/* Switches it off and forgets it; no writer is inside afterwards. Under hodo_lock; sleeps. */
void hodo_event_remove(struct hodo_event *event);
/* Adds or removes n at once: removing waits once for all. Those that cannot be added are named in the log, left out. */
void hodo_events_add(struct hodo_event *const *events, size_t n);
void hodo_events_remove(struct hodo_event *const *events, size_t n);
/* absent is no longer: records it if the present recording wants it. */
void hodo_event_came(struct hodo_event *event);
/* absent is set, or it is to be removed: no events from now on. true: writers are inside, perhaps: hodo_quiesce(), then
 * hodo_rules_free(). */
bool hodo_event_goes(struct hodo_event *event);
/* NULL: there is none. Under hodo_lock. */
struct hodo_event *hodo_event_find(const char *provider, const char *name);
/* Of all events. Under hodo_lock. */
extern struct list_head hodo_events;

/* By the control tree: whether the event is in the recording that `enabled` starts, or is in. Under hodo_lock. */
int hodo_event_enable(struct hodo_event *event, bool on);
/* All of a provider, NULL: all there are, but for functions, which are switched one by one. Waits once. The first
 * error. */
int hodo_events_enable(const char *provider, bool on);
/* Whether the event is one of them. */
bool hodo_event_is_of(const struct hodo_event *event, const char *provider);

/* Its own filter from now on, in recordings of the control tree; text and code are kfree()d in time, also if it fails.
 * NULL: none. */
int hodo_event_filter(struct hodo_event *event, char *text, uint8_t *code, uint32_t len);

/* Names for the values of a field, of all events of the provider; the texts stay the caller's. Under hodo_lock. */
struct hodo_labels {
	struct list_head list;
	const char *provider, *field;
	uint32_t n;
	const int64_t *values;
	const char *const *names;
};
void hodo_labels_add(struct hodo_labels *labels);
void hodo_labels_remove(struct hodo_labels *labels);

/* Waits until no writer is inside that an event switched off before could have called. Sleeps. */
void hodo_quiesce(void);

#endif
