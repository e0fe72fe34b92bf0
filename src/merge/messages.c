/* SPDX-License-Identifier: MIT */
#include "messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <base/order.h>
#include <base/vec.h>
#include <read/event/key.h>

#define CONTEXT_FIELDS 4u
#define PARENT         2u
#define SPAN           3u
#define SPANS          UINT32_MAX /* in place of a pair's number */

int hodo_messages_begin(struct hodo_messages *m)
{
	*m = (struct hodo_messages){ .max = HODO_MESSAGES_MAX, .limit = UINT64_MAX };
	return 0;
}

void hodo_messages_free(struct hodo_messages *m)
{
	hodo_sides_free(m);
	free(m->message);
	hodo_text_free(&m->key);
}

/* ------------------------------------------------------------------------- classes */

/* What the events of a class say; or the ends of spans, by the class of their start events, whose fields they have. */
struct plan {
	uint64_t cls; /* address; with 1 added, for ends */
	bool context; /* the span has identifiers of its own */
	uint32_t npairs;
	struct {
		uint32_t pair;
		bool receives;
		uint8_t at[HODO_FIELDS_MAX];
	} *pair;
};

static bool is_context(const struct hodo_read_class *cls)
{
	static const char *const names[CONTEXT_FIELDS] = { "trace_hi", "trace_lo", "parent_id", "span_id" };

	if (cls->kind != HODO_KIND_SPAN_BEGIN || cls->nfields < CONTEXT_FIELDS)
		return false;
	for (uint32_t i = 0; i < CONTEXT_FIELDS; i++)
		if (cls->fields[i].type != HODO_TYPE_PTR || strcmp(cls->fields[i].name, names[i]) != 0)
			return false;
	return true;
}

bool hodo_messages_has(struct hodo_messages *m, const struct hodo_read *r)
{
	bool has = false;

	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses; k++) {
			has |= is_context(p->classes[k]);
			has |= hodo_sides_look(m, p->classes[k]);
		}
	}
	return has;
}

/* name: of the event, of which the class may be the start event. */
static int add_side(struct plan *p, const struct hodo_message_end *e, const char *name,
		    const struct hodo_read_class *cls, uint32_t pair, bool receives)
{
	uint8_t at[HODO_FIELDS_MAX];
	__typeof__(p->pair) side;

	if (strcmp(e->event, name) != 0 || !hodo_sides_fields(e, cls, at))
		return 0;
	side = hodo_vec_add(p->pair, p->npairs);
	if (!side)
		return -ENOMEM;
	side->pair = pair;
	side->receives = receives;
	memcpy(side->at, at, sizeof(at));
	return 0;
}

static int plan_class(const struct hodo_messages *m, struct plan *p, const char *name,
		      const struct hodo_read_class *cls)
{
	int err = 0;

	for (uint32_t i = 0; i < m->npairs && !err; i++) {
		err = add_side(p, &m->pair[i].sends, name, cls, i, false);
		if (!err)
			err = add_side(p, &m->pair[i].receives, name, cls, i, true);
	}
	return err;
}

/* NULL: no memory. */
static struct plan *plan_of(const struct hodo_messages *m, struct hodo_map *plans, const struct hodo_read_class *cls,
			    const struct hodo_read_event *e)
{
	bool is_new, end = cls != e->cls;
	struct plan *p = hodo_map_add_u64(plans, (uintptr_t)cls + end, &is_new);

	if (p && is_new) {
		p->context = !end && is_context(cls);
		if (plan_class(m, p, e->cls->name, cls) < 0)
			return NULL;
	}
	return p;
}

/* ---------------------------------------------------------------------------- keys */

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

/* Keys have the same hash in each run, so that the sample is the same, too. */
static void hash(const void *bytes, size_t len, uint64_t key[2])
{
	const uint8_t *p = bytes;
	uint64_t a = mix(len + 0x9e3779b97f4a7c15ull), b = mix(len + 0xc2b2ae3d27d4eb4full), word;

	for (; len > 0; p += len < 8 ? len : 8, len -= len < 8 ? len : 8) {
		word = 0;
		memcpy(&word, p, len < 8 ? len : 8);
		a = mix(a ^ word) + word;
		b = mix(b + word) ^ a;
	}
	key[0] = mix(a);
	key[1] = mix(b);
}

/* There are too many: keys whose hashes are in the upper half are left out from now on. */
static void thin(struct hodo_messages *m)
{
	uint32_t kept = 0;

	m->limit /= 2;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->message[i].key[0] <= m->limit)
			m->message[kept++] = m->message[i];
	m->n = kept;
}

int hodo_messages_add(struct hodo_messages *m, const uint64_t key[2], uint32_t recording, enum hodo_message_kind kind,
		      uint32_t pair, int64_t ts_ns)
{
	if (key[0] > m->limit)
		return 0;
	if (!m->message) {
		m->message = malloc(m->max * sizeof(*m->message));
		if (!m->message)
			return -ENOMEM;
	}
	/* Not for ever: a hostile recording may have one key only. */
	while (m->n == m->max && m->limit)
		thin(m);
	if (m->n < m->max && key[0] <= m->limit)
		m->message[m->n++] = (struct hodo_message){ { key[0], key[1] }, ts_ns, recording, kind, pair };
	return 0;
}

static void key_of_span(uint64_t span, uint64_t key[2])
{
	const struct { uint64_t kind, span; } text = { SPANS, span };

	hash(&text, sizeof(text), key);
}

static int add_span(struct hodo_messages *m, const struct hodo_read_value *values, uint32_t recording,
		    enum hodo_message_kind kind, int64_t ts_ns)
{
	uint64_t span = values[kind == HODO_MESSAGE_RECEIVED ? PARENT : SPAN].u, key[2];

	if (!span)
		return 0;
	key_of_span(span, key);
	return hodo_messages_add(m, key, recording, kind, HODO_NO_PAIR, ts_ns);
}

static int add_pairs(struct hodo_messages *m, const struct plan *p, const struct hodo_read_value *values, int64_t ts_ns,
		     uint32_t recording)
{
	uint64_t key[2];
	int err = 0;

	for (uint32_t i = 0; i < p->npairs && !err; i++) {
		struct hodo_message_pair *pair = &m->pair[p->pair[i].pair];
		bool receives = p->pair[i].receives;

		(receives ? &pair->receives : &pair->sends)->events++;
		hodo_key_start(&m->key);
		hodo_key_add_number(&m->key, p->pair[i].pair);
		for (uint32_t k = 0; k < pair->sends.nfields; k++)
			hodo_key_add_value(&m->key, &values[p->pair[i].at[k]]);
		err = m->key.error;
		if (err)
			break;
		hash(m->key.data, m->key.len, key);
		err = hodo_messages_add(m, key, recording, receives ? HODO_MESSAGE_RECEIVED_ONCE : HODO_MESSAGE_SENT,
					p->pair[i].pair, ts_ns);
	}
	return err;
}

static int take(struct hodo_messages *m, struct hodo_map *plans, const struct hodo_read_event *e, uint32_t recording)
{
	const struct hodo_read_begin *begin = e->cls->role == HODO_READ_ROLE_SPAN_END ? e->begin : NULL;
	const struct plan *p = plan_of(m, plans, e->cls, e);
	int err = p ? 0 : -ENOMEM;

	if (!err && p->context) {
		err = add_span(m, e->values, recording, HODO_MESSAGE_SENT, e->ts_ns);
		if (!err)
			err = add_span(m, e->values, recording, HODO_MESSAGE_RECEIVED, e->ts_ns);
	}
	if (!err && !m->one_way && begin && is_context(begin->cls))
		err = add_span(m, begin->values, recording, HODO_MESSAGE_RETURNED, e->ts_ns);
	if (!err)
		err = add_pairs(m, p, e->values, e->ts_ns, recording);
	if (err || !begin || !m->npairs)
		return err;
	p = plan_of(m, plans, begin->cls, e);
	return p ? add_pairs(m, p, begin->values, e->ts_ns, recording) : -ENOMEM;
}

int hodo_messages_read(struct hodo_messages *m, struct hodo_read *r, uint32_t recording)
{
	struct hodo_map plans = HODO_MAP(struct plan, cls);
	const struct hodo_read_event *e;
	int got = 0, err = hodo_read_spans(r);

	while (!err && (got = hodo_read_next(r, &e)) > 0)
		err = take(m, &plans, e, recording);
	for (uint32_t i = 0; i < plans.n; i++)
		free(((struct plan *)hodo_map_at(&plans, i))->pair);
	hodo_map_free(&plans);
	return err ? err : got;
}

/* ------------------------------------------------------------------------ matching */

static int by_key(const void *a, const void *b)
{
	const struct hodo_message *x = a, *y = b;

	return memcmp(x->key, y->key, sizeof(x->key)) ?: hodo_order(x->kind, y->kind) ?:
	       hodo_order(x->ts_ns, y->ts_ns);
}

/* Those of one key, which are of one pair: at most one of them was sent, and at most one returned. */
static int match_key(struct hodo_messages *m, const struct hodo_message *first, uint32_t n,
		     int (*each)(void *data, const struct hodo_passed *p), void *data, uint64_t *ambiguous)
{
	struct hodo_message_pair *pair = first->pair < m->npairs ? &m->pair[first->pair] : NULL;
	const struct hodo_message *sent = NULL, *returned = NULL;
	uint32_t sends = 0, returns = 0, once = 0;
	int err = 0;

	for (uint32_t i = 0; i < n; i++) {
		sends += first[i].kind == HODO_MESSAGE_SENT;
		returns += first[i].kind == HODO_MESSAGE_RETURNED;
		once += first[i].kind == HODO_MESSAGE_RECEIVED_ONCE;
		sent = first[i].kind == HODO_MESSAGE_SENT ? &first[i] : sent;
		returned = first[i].kind == HODO_MESSAGE_RETURNED ? &first[i] : returned;
	}
	if (sends == 0 || sends + returns == n)
		return 0;
	if (sends > 1 || returns > 1 || once > 1) {
		*ambiguous += n - sends - returns;
		if (pair)
			pair->ambiguous += n - sends;
		return 0;
	}
	for (uint32_t i = 0; i < n && !err; i++) {
		struct hodo_passed p = { sent->recording, first[i].recording, sent->ts_ns, first[i].ts_ns,
					 first[i].pair, false };

		if (pair && first[i].kind >= HODO_MESSAGE_RECEIVED)
			*(p.from == p.to ? &pair->within : &pair->matched) += 1;
		if (first[i].kind < HODO_MESSAGE_RECEIVED || p.from == p.to)
			continue;
		err = each(data, &p);
		if (!err && returned) {
			p.sent_ns = first[i].ts_ns;
			p.received_ns = returned->ts_ns;
			p.returned = true;
			err = each(data, &p);
		}
	}
	return err;
}

int hodo_messages_match(struct hodo_messages *m, int (*each)(void *data, const struct hodo_passed *passed), void *data,
			uint64_t *ambiguous)
{
	int err = 0;

	*ambiguous = 0;
	hodo_order_sort(m->message, m->n, by_key);
	for (uint32_t i = 0, k; i < m->n && !err; i = k) {
		k = i + 1;
		while (k < m->n && memcmp(m->message[k].key, m->message[i].key, sizeof(m->message->key)) == 0)
			k++;
		err = match_key(m, &m->message[i], k - i, each, data, ambiguous);
	}
	return err;
}
