/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - start events that wait for their end events; finds the one of an end event.
 *
 * An end event belongs to the latest start event of its key that has none yet. hodo_pair_key() makes the key of events
 * that pair by their role (struct hodo_read_class):
 *
 *	spans         by process, base name and thread
 *	begin, end    by process, base name and id, the first field: core/key.h says when two ids are the same
 *	system calls  by thread, which is in one at a time
 *	calls         by process, thread and frame
 *
 * If more than HODO_PAIRS_MAX start events wait, the oldest is given up.
 */
#pragma once

#include "key.h"

#define HODO_PAIRS_MAX (1u << 20)

/* A start event that waits for its end event. */
struct hodo_pair {
	int64_t begin_ns;
	const char *base; /* of a system call; else NULL */
	uintptr_t user;   /* the caller's */
};

struct hodo_pairs;

struct hodo_pairs *hodo_pairs_new(void); /* NULL: no memory */
void hodo_pairs_free(struct hodo_pairs *pairs); /* NULL is allowed */

static inline bool hodo_role_begins(uint32_t role)
{
	return role == HODO_READ_ROLE_SPAN_BEGIN || role == HODO_READ_ROLE_BEGIN ||
	       role == HODO_READ_ROLE_SYSCALL_BEGIN || role == HODO_READ_ROLE_CALL_ENTRY;
}

static inline bool hodo_role_ends(uint32_t role)
{
	return role == HODO_READ_ROLE_SPAN_END || role == HODO_READ_ROLE_END || role == HODO_READ_ROLE_SYSCALL_END ||
	       role == HODO_READ_ROLE_CALL_EXIT;
}

/* The hodo_pair.base of an event. */
static inline const char *hodo_pair_base(const struct hodo_read_event *e)
{
	return e->cls->role == HODO_READ_ROLE_SYSCALL_BEGIN || e->cls->role == HODO_READ_ROLE_SYSCALL_END ? e->cls->base
													 : NULL;
}

/* The key of an event that begins or ends something; false: it does neither. */
bool hodo_pair_key(struct hodo_text *key, const struct hodo_read_event *event);

enum hodo_paired {
	HODO_PAIR_NONE,    /* there is no *pair */
	HODO_PAIR_FOUND,   /* end: *pair is its start */
	HODO_PAIR_LEFT,    /* *pair has no end: the thread is in, or leaves, another system call; or it was lost */
	HODO_PAIR_GIVEN_UP /* start: *pair made room */
};

/*
 * Adds a start event. base: of a system call, else NULL. process: whose events were lost, if any: where some were,
 * since the latest start of the key, that one's end is taken to be among them, rather than that it contains another of
 * its kind: it is LEFT; NULL: never. NONE, LEFT or GIVEN_UP; -ENOMEM: it is not added.
 */
int hodo_pairs_begin(struct hodo_pairs *pairs, const struct hodo_text *key, const struct hodo_pair *begin,
		     const struct hodo_read_process *process, struct hodo_pair *pair);
/*
 * Removes the start event of an end event. NONE: there is none; FOUND; LEFT: there is none, either, but *pair is
 * removed; -ENOMEM.
 */
int hodo_pairs_end(struct hodo_pairs *pairs, const struct hodo_text *key, const char *base, struct hodo_pair *pair);
/* Removes the oldest. false: none. */
bool hodo_pairs_oldest(struct hodo_pairs *pairs, struct hodo_pair *pair);

/*
 * Pairs as the reader makes them, of all events that it reads: spans, HODO_BEGIN and HODO_END, system calls; and calls,
 * after hodo_read_spans(). From the beginning on, for one at a time; unfinished NULL: no longer for the one with this
 * data.
 *
 * unfinished: the end of a start for which something was put will not come; called from hodo_read_next(), before it
 * returns the event that shows so, at ts_ns. given_up: too many were waiting.
 */
int hodo_read_pairs(struct hodo_read *reader,
		    void (*unfinished)(void *data, uintptr_t user, int64_t ts_ns, bool given_up), void *data);
/* For the start event that hodo_read_next() returned last: its user, not 0. Its number, valid until it is finished;
 * UINT32_MAX: the event is no start event. */
uint32_t hodo_read_pair_put(struct hodo_read *reader, uintptr_t user);
/* For the end event that it returned last: its start event, with user 0 if nothing was put. False: there is none. */
bool hodo_read_pair_of(const struct hodo_read *reader, struct hodo_pair *begin);
void hodo_read_pair_remove(struct hodo_read *reader, uint32_t number); /* as if it had never begun */
void hodo_read_pairs_end(struct hodo_read *reader, int64_t ts_ns);     /* unfinished, for all that wait */

/* The number of the start event added last, valid until that is removed; and how to remove it. */
uint32_t hodo_pairs_last(const struct hodo_pairs *pairs);
void hodo_pairs_remove(struct hodo_pairs *pairs, uint32_t number);
const struct hodo_pair *hodo_pairs_at(const struct hodo_pairs *pairs, uint32_t number);
