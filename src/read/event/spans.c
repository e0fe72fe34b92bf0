/* SPDX-License-Identifier: MIT */
/*
 * spans.c - joins end events with their start events: what somebody put to a start event (pairs.h), and if these are
 * given, its fields and how long its thread had not run, are kept until its end comes.
 *
 * If whole spans are chosen, a first pass over the recording determines whether each end is taken, and notes
 * that for its start, by its index among all start events: the second pass meets them in the same order.
 */
#include "spans.h"
#include "pairs.h"
#include "runs.h"

#include <read/file/class.h>
#include <read/file/reader.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	struct hodo_read_begin begin;
	uint64_t number; /* among all start events */
	uintptr_t user;
	uint32_t owner; /* whose user that is; 0: nobody's */
	struct hodo_runs_mark mark;
	uint8_t payload[];
};

/* About a start event, two bits. */
enum verdict {
	NO_END,
	TAKEN,
	LEFT_OUT
};
#define PER_BYTE 4u

struct hodo_spans {
	struct hodo_pairs *pairs;
	struct hodo_runs *runs;
	struct hodo_read_off_cpu off_given;
	struct hodo_text key;
	struct kept *given; /* of the last event given */
	struct kept *spare; /* without a payload */
	struct hodo_read_value values[HODO_FIELDS_MAX];
	uint64_t begins; /* so far */
	bool begun;      /* the last event was the latest start event */
	void (*unfinished)(void *data, uintptr_t user, int64_t ts_ns, bool given_up);
	void *data;
	uint32_t owner; /* how many there were */
	uint8_t *verdicts;
	uint64_t room; /* bytes of them */
};

/* ----------------------------------------------------------------- start events */

struct hodo_spans *hodo_spans_new(void)
{
	struct hodo_spans *s = calloc(1, sizeof(*s));

	if (s && (s->pairs = hodo_pairs_new()) && (s->runs = hodo_runs_new(NULL, NULL)))
		return s;
	hodo_spans_free(s);
	return NULL;
}

void hodo_spans_rewind(struct hodo_spans *s)
{
	struct hodo_pair pair;

	while (hodo_pairs_oldest(s->pairs, &pair))
		free((struct kept *)pair.user);
	hodo_runs_rewind(s->runs);
	free(s->given);
	s->given = NULL;
	s->begins = 0;
}

void hodo_spans_free(struct hodo_spans *s)
{
	if (!s)
		return;
	if (s->pairs && s->runs)
		hodo_spans_rewind(s);
	hodo_pairs_free(s->pairs);
	hodo_runs_free(s->runs);
	hodo_text_free(&s->key);
	for (struct kept *next; s->spare; s->spare = next) {
		next = (struct kept *)s->spare->user;
		free(s->spare);
	}
	free(s->verdicts);
	free(s);
}

/* Without start events they are all alike, and come and go quickly. */
static struct kept *keep(struct hodo_spans *s, uint32_t bytes)
{
	struct kept *kept = s->spare;

	if (bytes || !kept)
		return malloc(sizeof(*kept) + bytes);
	s->spare = (struct kept *)kept->user;
	return kept;
}

static void drop(struct hodo_spans *s, struct kept *kept, bool begins)
{
	if (begins || !kept) {
		free(kept);
		return;
	}
	kept->user = (uintptr_t)s->spare;
	s->spare = kept;
}

/* Its end will not come. */
static void give_up(struct hodo_spans *s, const struct hodo_pair *pair, int64_t ts_ns, bool given_up)
{
	struct kept *kept = (struct kept *)pair->user;

	if (kept->owner == s->owner && s->unfinished)
		s->unfinished(s->data, kept->user, ts_ns, given_up);
	free(kept);
}

static int begin(struct hodo_spans *s, const struct hodo_read_event *e, bool begins)
{
	uint32_t bytes = begins ? e->payload_bytes : 0;
	struct kept *kept = keep(s, bytes);
	struct hodo_pair pair = { .begin_ns = e->ts_ns, .base = hodo_pair_base(e), .user = (uintptr_t)kept }, other;
	int paired;

	if (!kept)
		return -ENOMEM;
	kept->begin.ts_ns = e->ts_ns;
	kept->number = s->begins++;
	kept->owner = 0;
	if (begins) {
		kept->begin = (struct hodo_read_begin){ .size = sizeof(kept->begin), .ts_ns = e->ts_ns, .cpu = e->cpu,
							.pid = e->pid, .tid = e->tid, .cls = e->cls,
							.values = s->values, .payload = kept->payload,
							.payload_bytes = bytes };
		hodo_runs_mark(s->runs, e, &kept->mark);
		memcpy(kept->payload, e->payload, bytes);
	}
	paired = hodo_pairs_begin(s->pairs, &s->key, &pair, e->process, &other);
	if (paired < 0)
		free(kept);
	else if (paired != HODO_PAIR_NONE)
		give_up(s, &other, e->ts_ns, paired == HODO_PAIR_GIVEN_UP);
	return paired < 0 ? paired : 0;
}

static int end(struct hodo_spans *s, struct hodo_read_event *e, bool begins)
{
	struct hodo_pair pair;
	int paired = hodo_pairs_end(s->pairs, &s->key, hodo_pair_base(e), &pair);

	if (paired == HODO_PAIR_LEFT)
		give_up(s, &pair, e->ts_ns, false);
	if (paired != HODO_PAIR_FOUND)
		return paired < 0 ? paired : 0;
	s->given = (struct kept *)pair.user;
	if (!begins)
		return 0;
	hodo_read_class_values((const struct hodo_class *)(const void *)s->given->begin.cls, s->given->payload,
			       s->values);
	e->begin = &s->given->begin;
	if (e->begin->tid == e->tid && hodo_runs_since(s->runs, e, &s->given->mark, &s->off_given))
		e->off_cpu = &s->off_given;
	return 0;
}

int hodo_spans_event(struct hodo_spans *s, struct hodo_read_event *e, bool begins)
{
	drop(s, s->given, begins);
	s->given = NULL;
	e->begin = NULL;
	e->off_cpu = NULL;
	s->begun = false;
	if (!begins && e->cls->kind == HODO_KIND_FUNCTION)
		return 0;
	if (!hodo_pair_key(&s->key, e))
		return begins && e->process->kernel ? hodo_runs_event(s->runs, e) : 0;
	s->begun = hodo_role_begins(e->cls->role);
	return s->begun ? begin(s, e, begins) : end(s, e, begins);
}

/* ------------------------------------------------------------------- others' pairs */

int hodo_read_pairs(struct hodo_read *r,
		    void (*unfinished)(void *data, uintptr_t user, int64_t ts_ns, bool given_up), void *data)
{
	if (!r->spans)
		r->spans = hodo_spans_new();
	if (!r->spans)
		return -ENOMEM;
	if (!unfinished && r->spans->data != data)
		return 0;
	r->spans->unfinished = unfinished;
	r->spans->data = data;
	r->spans->owner++;
	return 0;
}

uint32_t hodo_read_pair_put(struct hodo_read *r, uintptr_t user)
{
	uint32_t number = r->spans->begun ? hodo_pairs_last(r->spans->pairs) : UINT32_MAX;
	struct kept *kept = r->spans->begun ? (struct kept *)hodo_pairs_at(r->spans->pairs, number)->user : NULL;

	if (!kept)
		return number;
	kept->user = user;
	kept->owner = r->spans->owner;
	return number;
}

bool hodo_read_pair_of(const struct hodo_read *r, struct hodo_pair *begin)
{
	const struct kept *kept = r->spans->given;
	bool ours = kept && kept->owner == r->spans->owner;

	if (kept)
		*begin = (struct hodo_pair){ .begin_ns = kept->begin.ts_ns, .user = ours ? kept->user : 0 };
	return kept;
}

void hodo_read_pair_remove(struct hodo_read *r, uint32_t number)
{
	free((struct kept *)hodo_pairs_at(r->spans->pairs, number)->user);
	hodo_pairs_remove(r->spans->pairs, number);
}

void hodo_read_pairs_end(struct hodo_read *r, int64_t ts_ns)
{
	struct hodo_pair pair;

	while (hodo_pairs_oldest(r->spans->pairs, &pair))
		give_up(r->spans, &pair, ts_ns, false);
}

/* --------------------------------------------------------------- whole spans */

static enum verdict verdict_of(const struct hodo_spans *s, uint64_t number)
{
	return number / PER_BYTE < s->room ? s->verdicts[number / PER_BYTE] >> 2 * (number % PER_BYTE) & 3 : NO_END;
}

static int set_verdict(struct hodo_spans *s, uint64_t number, enum verdict verdict)
{
	uint64_t at = number / PER_BYTE, room = s->room ? 2 * s->room : 4096;
	uint8_t *verdicts = s->verdicts;

	while (room <= at)
		room *= 2;
	if (at >= s->room) {
		verdicts = realloc(verdicts, room);
		if (!verdicts)
			return -ENOMEM;
		memset(verdicts + s->room, 0, room - s->room);
		s->verdicts = verdicts;
		s->room = room;
	}
	verdicts[at] |= (uint8_t)(verdict << 2 * (number % PER_BYTE));
	return 0;
}

void hodo_spans_forget(struct hodo_spans *s)
{
	free(s->verdicts);
	s->verdicts = NULL;
	s->room = 0;
}

int hodo_spans_learn(struct hodo_spans *s, const struct hodo_read_event *e, bool taken)
{
	return e->begin ? set_verdict(s, s->given->number, taken ? TAKEN : LEFT_OUT) : 0;
}

bool hodo_spans_take(const struct hodo_spans *s, bool taken)
{
	enum verdict verdict = s->begun ? verdict_of(s, s->begins - 1) : NO_END;

	return verdict == NO_END ? taken : verdict == TAKEN;
}
