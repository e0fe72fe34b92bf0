/* SPDX-License-Identifier: MIT */
/* merge.c - finds how the times of each recording are moved. */
#include "merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <base/vec.h>
#include <read/file/wall.h>

#include "graph.h"

#define NS_PER_S      1000000000
#define BOOT_ERROR_NS 1000 /* of two recordings of one boot: their samples of its clock take less */

struct folder_uuid {
	uint8_t uuid[16];
	uint32_t recording; /* its index + 1 */
};

const char *hodo_merge_by_text(enum hodo_merge_by by)
{
	static const char *const texts[] = {
		[HODO_MERGE_REFERENCE] = "reference", [HODO_MERGE_BOOT] = "boot", [HODO_MERGE_MESSAGES] = "messages",
		[HODO_MERGE_ONE_WAY] = "one-way messages", [HODO_MERGE_NTP] = "NTP", [HODO_MERGE_WALL] = "wall clock",
	};

	return texts[by];
}

struct hodo_merge *hodo_merge_new(void)
{
	struct hodo_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->uuids = calloc(1, sizeof(*m->uuids));
	if (!m->uuids || hodo_messages_begin(&m->messages) < 0) {
		hodo_merge_free(m);
		return NULL;
	}
	hodo_hash_seed();
	*m->uuids = (struct hodo_map)HODO_MAP(struct folder_uuid, uuid);
	return m;
}

void hodo_merge_free(struct hodo_merge *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		free(m->recording[i].host);
		free(m->recording[i].folder);
		free(m->recording[i].boot_id);
	}
	hodo_messages_free(&m->messages);
	hodo_graph_free(m->graph);
	if (m->uuids)
		hodo_map_free(m->uuids);
	free(m->uuids);
	free(m->recording);
	free(m);
}

/* -------------------------------------------------------------------- one recording */

/* Of any folder, such as one in a part, all say the same. */
static void note_wall(struct hodo_merge_recording *r, const struct hodo_read_process *p)
{
	const struct hodo_wall *begin = &hodo_read_walls(p)[0], *end = &hodo_read_walls(p)[1], *best = end;
	const struct hodo_read_clock *c = &p->clock;
	int64_t offset_ns;

	if (!begin->known && c->kind == HODO_CLOCK_MONOTONIC && c->freq_hz == NS_PER_S && !r->wall_known &&
	    !__builtin_mul_overflow(c->offset_s, NS_PER_S, &offset_ns) &&
	    !__builtin_add_overflow(offset_ns, c->offset_ticks, &r->mono_ns))
		r->wall_known = true;
	if (!begin->known || r->wall_known || __builtin_sub_overflow(begin->real_ns, begin->mono_ns, &r->mono_ns))
		return;
	r->wall_known = true;
	/* Where it was synchronised, or else later: setting a clock makes it better. */
	if (!end->known || (begin->synchronised && (!end->synchronised || begin->max_error_ns < end->max_error_ns)))
		best = begin;
	if (__builtin_sub_overflow(best->real_ns, best->mono_ns, &offset_ns) ||
	    __builtin_sub_overflow(offset_ns, r->mono_ns, &r->step_ns))
		r->step_ns = 0;
	r->synchronised = best->synchronised;
	r->error_ns = best->error_ns > best->max_error_ns ? best->error_ns : best->max_error_ns;
	if (r->error_ns < BOOT_ERROR_NS)
		r->error_ns = BOOT_ERROR_NS;
	/* More is no knowledge, and cannot be added up. */
	r->synchronised &= r->error_ns < (int64_t)NS_PER_S * 1000000;
}

static int note_uuid(struct hodo_merge *m, const struct hodo_read_process *p)
{
	struct folder_uuid *u = hodo_map_add(m->uuids, p->uuid, NULL);

	if (!u)
		return -ENOMEM;
	if (u->recording && u->recording != m->n)
		return hodo_why(&m->why, -EINVAL, "%s and %s are the same recording, or have parts of one: leave one "
				"out", m->recording[u->recording - 1].path, m->recording[m->n - 1].path);
	u->recording = m->n;
	return 0;
}

static void note_times(struct hodo_merge_recording *r, const struct hodo_read_process *p)
{
	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_stream *s = p->streams[i];

		if (s->packets == 0)
			continue;
		if (!r->begin_ns || s->begin_ns < r->begin_ns)
			r->begin_ns = s->begin_ns;
		if (!r->end_ns || s->end_ns > r->end_ns)
			r->end_ns = s->end_ns;
	}
}

static int note(struct hodo_merge *m, struct hodo_merge_recording *r, struct hodo_read *reader, const char *name)
{
	int err = hodo_read_scan(reader);

	r->complete = true;
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader) && !err; i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);

		note_wall(r, p);
		note_times(r, p);
		r->complete &= p->complete;
		if (p->boot_id && !r->boot_id)
			r->boot_id = strdup(p->boot_id);
		if (p->hostname && *p->hostname && !name)
			name = p->hostname;
		err = p->boot_id && !r->boot_id ? -ENOMEM : note_uuid(m, p);
	}
	/* Without events, its processes' ends are all that there is. */
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader) && !r->end_ns; i++)
		r->begin_ns = r->end_ns = hodo_read_process(reader, i)->end_ns;
	r->messages = hodo_messages_has(&m->messages, reader);
	r->host = strdup(name ? name : "unknown");
	return err ? err : r->host ? 0 : -ENOMEM;
}

static int open_recording(struct hodo_merge *m, const char *path, struct hodo_read **reader)
{
	struct hodo_read_options o = { .size = sizeof(o), .warn = m->reporter.report,
				       .data = m->reporter.arg, .error = m->why.text,
				       .error_bytes = sizeof(m->why.text) };

	return hodo_read_open(reader, path, &o);
}

int hodo_merge_add(struct hodo_merge *m, const char *path, const char *name)
{
	struct hodo_merge_recording *r;
	struct hodo_read *reader;
	int err;

	if (m->n == HODO_MERGE_MAX)
		return hodo_why(&m->why, -E2BIG, "more than %u recordings: merge fewer", HODO_MERGE_MAX);
	err = open_recording(m, path, &reader);
	if (err)
		return err;
	if (hodo_read_nhosts(reader) > 1) {
		hodo_read_close(reader);
		return hodo_why(&m->why, -EINVAL, "%s is merged already: give its directories host-*", path);
	}
	r = hodo_vec_add(m->recording, m->n);
	if (r) {
		r->path = path;
		r->given_name = name != NULL;
		err = note(m, r, reader, name);
	} else {
		err = -ENOMEM;
	}
	hodo_read_close(reader);
	if (err && !m->why.text[0])
		hodo_why(&m->why, err, "%s: cannot be read: %s", path, strerror(-err));
	return err;
}

int hodo_merge_check(struct hodo_merge *m)
{
	return hodo_sides_check(&m->messages, &m->why);
}

int hodo_merge_read(struct hodo_merge *m, uint32_t i)
{
	struct hodo_read *reader;
	int err;

	/* Warnings came when it was opened first. */
	if (!m->recording[i].messages || m->n < 2)
		return 0;
	err = hodo_read_open(&reader, m->recording[i].path, NULL);
	if (!err) {
		err = hodo_messages_read(&m->messages, reader, i);
		hodo_read_close(reader);
	}
	return err ? hodo_why(&m->why, err, "%s: cannot be read: %s", m->recording[i].path, strerror(-err)) : 0;
}

/* --------------------------------------------------------------------------- solve */

/* What is to be added to a recording's times to have those of its node. */
static int64_t shift_of(const struct hodo_merge_graph *g, const struct hodo_merge_recording *r)
{
	const struct hodo_merge_node *n = &g->node[r->node];

	return r->wall_known && n->mono_known ? hodo_time_difference(n->mono_ns, r->mono_ns) : 0;
}

static void add_to_node(struct hodo_merge_graph *g, const struct hodo_merge_recording *r, bool first)
{
	struct hodo_merge_node *n = &g->node[r->node];
	int64_t shift;

	if (first) {
		*n = (struct hodo_merge_node){ .begin_ns = r->begin_ns, .end_ns = r->end_ns, .mono_ns = r->mono_ns,
					       .mono_known = r->wall_known, .synchronised = r->synchronised,
					       .wall_ns = r->step_ns, .error_ns = r->error_ns };
		return;
	}
	shift = shift_of(g, r);
	if (hodo_time_sum(r->begin_ns, shift) < n->begin_ns)
		n->begin_ns = hodo_time_sum(r->begin_ns, shift);
	if (hodo_time_sum(r->end_ns, shift) > n->end_ns)
		n->end_ns = hodo_time_sum(r->end_ns, shift);
	if (r->synchronised && (!n->synchronised || r->error_ns < n->error_ns)) {
		n->synchronised = true;
		n->wall_ns = hodo_time_difference(r->step_ns, shift);
		n->error_ns = r->error_ns;
	}
}

struct by_boot {
	struct hodo_bytes boot_id;
	uint32_t node; /* + 1 */
};

/* Recordings of one boot have one clock, if it is known how each of them is tied to it. */
static int make_nodes(struct hodo_merge *m, struct hodo_merge_graph *g)
{
	struct hodo_map boots = HODO_MAP_BYTES(struct by_boot);
	int err = 0;

	g->node = calloc(m->n + 1, sizeof(*g->node));
	for (uint32_t i = 0; i < m->n && g->node && !err; i++) {
		struct hodo_merge_recording *r = &m->recording[i];
		struct by_boot *b = NULL;

		if (r->boot_id && r->wall_known) {
			b = hodo_map_add_bytes(&boots, r->boot_id, strlen(r->boot_id), NULL);
			err = b ? 0 : -ENOMEM;
		}
		r->node = b && b->node ? b->node - 1 : g->n;
		add_to_node(g, r, r->node == g->n);
		g->n += r->node == g->n;
		if (b)
			b->node = r->node + 1;
	}
	hodo_map_free(&boots);
	return g->node ? err : -ENOMEM;
}

/* A message is a bound for the node with the larger number. */
static int add_bound(void *data, const struct hodo_passed *p)
{
	struct hodo_merge *m = data;
	struct hodo_merge_graph *g = m->graph;
	const struct hodo_merge_recording *from = &m->recording[p->from], *to = &m->recording[p->to];
	/* Who sent it: of what returned, the one that answered. */
	const struct hodo_merge_recording *sender = p->returned ? to : from, *receiver = p->returned ? from : to;
	int64_t sent_ns = hodo_time_sum(p->sent_ns, shift_of(g, sender));
	int64_t received_ns = hodo_time_sum(p->received_ns, shift_of(g, receiver));
	struct hodo_merge_bound b = { sender->node, receiver->node, received_ns, 0, p->pair, false, p->returned };

	if (sender->node == receiver->node || __builtin_sub_overflow(sent_ns, received_ns, &b.correction_ns))
		return 0;
	if (sender->node > receiver->node) {
		b = (struct hodo_merge_bound){ receiver->node, sender->node, sent_ns, 0, p->pair, true, p->returned };
		if (__builtin_sub_overflow(received_ns, sent_ns, &b.correction_ns))
			return 0;
	}
	return hodo_vec_push(g->bound, g->nbounds, b);
}

static void set_result(struct hodo_merge *m, struct hodo_merge_recording *r)
{
	const struct hodo_merge_graph *g = m->graph;
	const struct hodo_merge_node *n = &g->node[r->node];
	int64_t middle_ns = hodo_time_middle(r->begin_ns, r->end_ns), shift = shift_of(g, r);
	struct hodo_line_of_time own = { middle_ns, hodo_time_sum(middle_ns, shift), 0 };
	double at_begin = hodo_graph_error_ns(g, r->node, hodo_time_sum(r->begin_ns, shift)),
	       at_end = hodo_graph_error_ns(g, r->node, hodo_time_sum(r->end_ns, shift));

	r->by = hodo_graph_by(g, r->node);
	r->pairs = n->pairs;
	r->line = hodo_time_join(&own, &n->line, middle_ns);
	r->worst_ns = at_begin < 0 || at_end < 0 ? -1 : at_begin > at_end ? at_begin : at_end;
	if (r->by == HODO_MERGE_REFERENCE && r != &m->recording[m->reference]) {
		r->by = HODO_MERGE_BOOT;
		r->worst_ns = BOOT_ERROR_NS;
	}
}

/* The reference's own times stay as they are. */
static void keep_reference(struct hodo_merge *m)
{
	const struct hodo_merge_recording *r = &m->recording[m->reference];
	int64_t shift = shift_of(m->graph, r);

	for (uint32_t i = 0; i < m->n; i++)
		m->recording[i].line.y0_ns = hodo_time_difference(m->recording[i].line.y0_ns, shift);
}

/* One recording alone has no messages. */
static void tell_unmatched(struct hodo_merge *m)
{
	struct hodo_why why;

	for (uint32_t i = 0; i < m->messages.npairs && m->n > 1; i++)
		if (hodo_sides_unmatched(&m->messages.pair[i], &why))
			hodo_report(&m->reporter, "%s", why.text);
}

int hodo_merge_solve(struct hodo_merge *m)
{
	int err;

	m->graph = calloc(1, sizeof(*m->graph));
	err = m->graph ? make_nodes(m, m->graph) : -ENOMEM;
	if (!err)
		err = hodo_merge_name(m);
	if (!err)
		err = hodo_messages_match(&m->messages, add_bound, m, &m->ambiguous);
	/* Their memory is no longer needed. */
	free(m->messages.message);
	m->messages.message = NULL;
	if (!err)
		tell_unmatched(m);
	if (!err)
		err = hodo_graph_connect(m, m->graph);
	if (!err)
		err = hodo_graph_walk(m->graph, m->recording[m->reference].node);
	if (err)
		return hodo_why(&m->why, err, "%s", strerror(-err));
	for (uint32_t i = 0; i < m->n; i++)
		set_result(m, &m->recording[i]);
	keep_reference(m);
	return 0;
}
