/* SPDX-License-Identifier: MIT */
/*
 * graph.c - the surest way from each clock to the reference: Dijkstra's, with how wrong times become on the way as the
 * length. The wall clock is a node, too: each clock is as far from it as its host knows.
 */
#include "graph.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/quantity.h>
#include <base/vec.h>

/* Lengths where nothing is known: any number of known ones is less, and messages are better than none. */
#define ONE_WAY_NS 1e16
#define WALL_NS    1e18

/* The edges of each node, one after the other: those of node i from first[i] to first[i + 1]. */
struct adjacent {
	uint32_t *first;
	const struct hodo_merge_edge **edge;
};

void hodo_graph_free(struct hodo_merge_graph *g)
{
	for (uint32_t i = 0; g && i < g->nedges; i++)
		hodo_bounds_free(&g->edge[i].bounds);
	if (g) {
		free(g->edge);
		free(g->bound);
		free(g->node);
	}
	free(g);
}

static int adjacent_fill(struct adjacent *a, const struct hodo_merge_graph *g)
{
	uint32_t *at = calloc(g->n + 1, sizeof(*at));

	a->first = calloc(g->n + 2, sizeof(*a->first));
	a->edge = calloc(2 * (size_t)g->nedges + 1, sizeof(const struct hodo_merge_edge *));
	if (!at || !a->first || !a->edge) {
		free(at);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->nedges; i++) {
		a->first[g->edge[i].from + 1]++;
		a->first[g->edge[i].to + 1]++;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		a->first[i + 1] += a->first[i];
		at[i] = a->first[i];
	}
	for (uint32_t i = 0; i < g->nedges; i++) {
		a->edge[at[g->edge[i].from]++] = &g->edge[i];
		a->edge[at[g->edge[i].to]++] = &g->edge[i];
	}
	free(at);
	return 0;
}

/* ------------------------------------------------------------------------- lengths */

/* How wrong the edge's line is at a time of `to`. */
static double edge_error_ns(const struct hodo_merge_edge *e, int64_t x_ns)
{
	return e->slack_ns + hodo_bounds_error_ns(&e->bounds, x_ns, hodo_time_map(&e->line, x_ns));
}

static double edge_length(const struct hodo_merge_graph *g, const struct hodo_merge_edge *e)
{
	const struct hodo_merge_node *to = &g->node[e->to];

	return e->known ? fmax(edge_error_ns(e, to->begin_ns), edge_error_ns(e, to->end_ns)) : ONE_WAY_NS;
}

static double wall_length(const struct hodo_merge_node *n)
{
	return n->synchronised ? (double)n->error_ns : WALL_NS;
}

static struct hodo_line_of_time edge_line(const struct hodo_merge_edge *e, uint32_t from)
{
	return e->to == from ? e->line : hodo_time_inverse(&e->line);
}

double hodo_graph_error_ns(const struct hodo_merge_graph *g, uint32_t node, int64_t x_ns)
{
	double error = 0;

	while (g->node[node].parent != HODO_NO_NODE) {
		const struct hodo_merge_node *n = &g->node[node], *wall = &g->node[g->n];

		if (n->edge && !n->edge->known)
			return -1;
		if (n->edge) {
			struct hodo_line_of_time line = edge_line(n->edge, node);
			int64_t y_ns = hodo_time_map(&line, x_ns);

			error += edge_error_ns(n->edge, n->edge->to == node ? x_ns : y_ns);
			x_ns = y_ns;
			node = n->parent;
			continue;
		}
		/* Over the wall clock to another one. */
		if (!n->synchronised || !g->node[wall->parent].synchronised)
			return -1;
		error += (double)(n->error_ns + g->node[wall->parent].error_ns);
		x_ns = hodo_time_sum(x_ns, hodo_time_difference(n->wall_ns, g->node[wall->parent].wall_ns));
		node = wall->parent;
	}
	return error;
}

enum hodo_merge_by hodo_graph_by(const struct hodo_merge_graph *g, uint32_t node)
{
	const struct hodo_merge_node *n = &g->node[node];

	if (n->parent == HODO_NO_NODE)
		return HODO_MERGE_REFERENCE;
	if (n->edge)
		return n->edge->by;
	return n->synchronised && g->node[g->node[g->n].parent].synchronised ? HODO_MERGE_NTP : HODO_MERGE_WALL;
}

/* ---------------------------------------------------------------------------- ways */

static void reach(struct hodo_merge_graph *g, uint32_t node, uint32_t from, const struct hodo_merge_edge *edge,
		  double length)
{
	struct hodo_merge_node *n = &g->node[node];
	double distance = g->node[from].distance + length;

	if (n->settled || distance >= n->distance)
		return;
	n->distance = distance;
	n->parent = from;
	n->edge = edge;
}

/* The line of a node whose way is known. */
static void settle(struct hodo_merge_graph *g, uint32_t node)
{
	struct hodo_merge_node *n = &g->node[node];
	int64_t middle_ns = hodo_time_middle(n->begin_ns, n->end_ns), difference;
	uint32_t other = n->parent;
	struct hodo_line_of_time line;

	n->settled = true;
	if (node == g->n)
		return;
	if (n->parent == HODO_NO_NODE) {
		n->line = (struct hodo_line_of_time){ middle_ns, middle_ns, 0 };
		return;
	}
	if (n->edge) {
		line = edge_line(n->edge, node);
	} else {
		other = g->node[g->n].parent;
		difference = hodo_time_difference(n->wall_ns, g->node[other].wall_ns);
		line = (struct hodo_line_of_time){ middle_ns, hodo_time_sum(middle_ns, difference), 0 };
	}
	n->line = hodo_time_join(&line, &g->node[other].line, middle_ns);
}

static uint32_t nearest(const struct hodo_merge_graph *g)
{
	uint32_t best = HODO_NO_NODE;

	for (uint32_t i = 0; i <= g->n; i++)
		if (!g->node[i].settled && g->node[i].distance < INFINITY &&
		    (best == HODO_NO_NODE || g->node[i].distance < g->node[best].distance))
			best = i;
	return best;
}

int hodo_graph_walk(struct hodo_merge_graph *g, uint32_t reference)
{
	struct adjacent a = { 0 };
	int err = adjacent_fill(&a, g);

	for (uint32_t i = 0; i <= g->n; i++) {
		g->node[i].distance = INFINITY;
		g->node[i].parent = HODO_NO_NODE;
	}
	g->node[reference].distance = 0;
	for (uint32_t at; !err && (at = nearest(g)) != HODO_NO_NODE;) {
		settle(g, at);
		if (at == g->n) {
			for (uint32_t i = 0; i < g->n; i++)
				reach(g, i, at, NULL, wall_length(&g->node[i]));
			continue;
		}
		reach(g, g->n, at, NULL, wall_length(&g->node[at]));
		for (uint32_t i = a.first[at]; i < a.first[at + 1]; i++)
			reach(g, a.edge[i]->from == at ? a.edge[i]->to : a.edge[i]->from, at, a.edge[i],
			      edge_length(g, a.edge[i]));
	}
	free(a.first);
	free(a.edge);
	return err;
}

/* -------------------------------------------------- what the messages between two clocks say of their difference */

#define SLACK_MIN_NS 100.0
#define SLACK_MAX_NS 1e18
#define SLACK_BELIEVED_NS 1e7 /* beyond, messages are wrongly paired, not clocks uneven */

static int by_nodes(const void *a, const void *b)
{
	const struct hodo_merge_bound *x = a, *y = b;

	return hodo_order(x->from, y->from) ?: hodo_order(x->to, y->to);
}

#define ALL_PAIRS UINT32_MAX

/*
 * Cuts off what the n messages exclude, if each may be wrong by slack. exchanged: HODO_NO_PAIR, or the pair, or
 * ALL_PAIRS, whose messages were sent by those who are said to have received them.
 */
static void cut_all(struct hodo_bounds *b, const struct hodo_merge_bound *bound, uint32_t n, double slack_ns,
		    bool returned, uint32_t exchanged)
{
	int64_t slack = (int64_t)slack_ns;

	b->least = b->most = 0;
	for (uint32_t i = 0; i < n && b->n; i++) {
		uint32_t pair = bound[i].pair;
		bool other = pair != HODO_NO_PAIR && (pair == exchanged || exchanged == ALL_PAIRS);

		if (bound[i].returned && !returned)
			continue;
		if (bound[i].most != other)
			hodo_bounds_most(b, bound[i].x_ns, hodo_time_sum(bound[i].correction_ns, slack));
		else
			hodo_bounds_least(b, bound[i].x_ns, hodo_time_sum(bound[i].correction_ns, -slack));
	}
}

static int try_slack(struct hodo_bounds *b, const struct hodo_merge_bound *bound, uint32_t n, double slack_ns,
		     bool returned, uint32_t exchanged)
{
	int64_t x0_ns = b->x0_ns, base_ns = b->base_ns;

	hodo_bounds_free(b);
	if (hodo_bounds_begin(b, x0_ns, base_ns) < 0)
		return -ENOMEM;
	cut_all(b, bound, n, slack_ns, returned, exchanged);
	return 0;
}

/* The least slack with which there are lines at all, to within a hundredth. */
static int find_slack(struct hodo_bounds *b, const struct hodo_merge_bound *bound, uint32_t n, double *slack_ns)
{
	double low = 0, high = SLACK_MIN_NS;
	int err = try_slack(b, bound, n, high, true, HODO_NO_PAIR);

	while (!err && !b->n && high < SLACK_MAX_NS) {
		low = high;
		high *= 2;
		err = try_slack(b, bound, n, high, true, HODO_NO_PAIR);
	}
	while (!err && high - low > high / 100) {
		double middle = (low + high) / 2;

		err = try_slack(b, bound, n, middle, true, HODO_NO_PAIR);
		*(b->n ? &high : &low) = middle;
	}
	*slack_ns = high;
	return err ? err : try_slack(b, bound, n, high, true, HODO_NO_PAIR);
}

/* With messages in one direction only: what the wall clocks say, as far as the messages allow it. */
static void use_walls(const struct hodo_merge_graph *g, struct hodo_merge_edge *e)
{
	const struct hodo_merge_node *from = &g->node[e->from], *to = &g->node[e->to];
	int64_t correction = hodo_time_difference(to->wall_ns, from->wall_ns), error = to->error_ns + from->error_ns;
	const int64_t at[2] = { to->begin_ns, to->end_ns };
	struct hodo_corner before[HODO_BOUNDS_CORNERS];
	uint32_t n = e->bounds.n;

	e->by = HODO_MERGE_ONE_WAY;
	e->known = to->synchronised && from->synchronised;
	memcpy(before, e->bounds.corner, n * sizeof(*before));
	for (unsigned i = 0; i < 2 && e->known; i++) {
		hodo_bounds_least(&e->bounds, at[i], hodo_time_sum(correction, -error));
		hodo_bounds_most(&e->bounds, at[i], hodo_time_sum(correction, error));
	}
	if (e->known && e->bounds.n) {
		e->line = hodo_bounds_middle(&e->bounds);
		return;
	}
	/* Nothing is known of the wall clocks, or they are wrong. */
	e->known = false;
	memcpy(e->bounds.corner, before, n * sizeof(*before));
	e->bounds.n = n;
	correction = hodo_bounds_clamp(&e->bounds, correction);
	e->line = (struct hodo_line_of_time){ e->bounds.x0_ns, hodo_time_sum(e->bounds.x0_ns, correction), 0 };
}

static const char *host_of(const struct hodo_merge *m, uint32_t node)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->recording[i].node == node)
			return m->recording[i].host;
	return "?";
}

/*
 * Messages that no line satisfies: whether one does if they were sent by those who are said to have received them, and
 * the other way round. of: the pair, ALL_PAIRS if it takes those of all, or HODO_NO_PAIR. All come first: of two, one
 * in each direction, one alone would make them messages in one direction, which say little.
 */
static int find_exchanged(const struct hodo_merge *m, struct hodo_bounds *b, const struct hodo_merge_bound *bound,
			  uint32_t n, uint32_t *of)
{
	uint32_t first = HODO_NO_PAIR, candidate = ALL_PAIRS;
	bool several = false;
	int err = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (bound[i].pair == HODO_NO_PAIR)
			continue;
		several |= first != HODO_NO_PAIR && bound[i].pair != first;
		first = first == HODO_NO_PAIR ? bound[i].pair : first;
	}
	*of = HODO_NO_PAIR;
	for (uint32_t i = 0; i <= m->messages.npairs && first != HODO_NO_PAIR && !err; candidate = i++) {
		err = try_slack(b, bound, n, 0, true, candidate);
		if (err || !b->n)
			continue;
		*of = candidate == ALL_PAIRS && !several ? first : candidate;
		break;
	}
	return err;
}

/* What may be done about it. */
static const char *advice(const struct hodo_merge *m, uint32_t exchanged, bool use, char *text, size_t size)
{
	if (exchanged != HODO_NO_PAIR)
		snprintf(text, size, "they do not if the sides of %s%s are exchanged: the event that sends comes first",
			 exchanged == ALL_PAIRS ? "each --pair" : "--pair ",
			 exchanged == ALL_PAIRS ? "" : m->messages.pair[exchanged].text);
	else
		snprintf(text, size, "%s", use ? "a clock was set, or its drift changed; the line that is wrong by the least "
			 "is used" : "they are not used; are they paired by a key that is unique?");
	return text;
}

/* Messages that no line satisfies. false: they are of no use. */
static int reconcile(struct hodo_merge *m, const struct hodo_merge_graph *g, struct hodo_merge_edge *e,
		     const struct hodo_merge_bound *bound, uint32_t n, bool *use)
{
	const struct hodo_merge_node *from = &g->node[e->from], *to = &g->node[e->to];
	bool walls = from->synchronised && to->synchronised, returned = false;
	const char *a = host_of(m, e->from), *b = host_of(m, e->to);
	char size[32], text[512];
	uint32_t exchanged;
	int err = find_exchanged(m, &e->bounds, bound, n, &exchanged);

	for (uint32_t i = 0; i < n; i++)
		returned |= bound[i].returned;
	if (!err && returned && exchanged == HODO_NO_PAIR) {
		err = try_slack(&e->bounds, bound, n, 0, false, HODO_NO_PAIR);
		if (!err && e->bounds.n && e->bounds.least + e->bounds.most > 0) {
			hodo_report(&m->reporter, "spans of %s and %s end before what they sent arrived: only their "
				    "begins are used, as --one-way has it", a, b);
			return 0;
		}
	}
	if (!err)
		err = find_slack(&e->bounds, bound, n, &e->slack_ns);
	hodo_duration_plain((uint64_t)e->slack_ns, size);
	*use = e->bounds.n && e->slack_ns <= SLACK_BELIEVED_NS &&
	       !(walls && (double)(from->error_ns + to->error_ns) < e->slack_ns);
	if (!err)
		hodo_report(&m->reporter, "messages between %s and %s contradict each other by %s: %s", a, b, size,
			    advice(m, exchanged, *use, text, sizeof(text)));
	return err;
}

/* The n messages between two nodes. */
static int connect(struct hodo_merge *m, struct hodo_merge_graph *g, const struct hodo_merge_bound *bound, uint32_t n)
{
	struct hodo_merge_edge e = { .from = bound->from, .to = bound->to, .by = HODO_MERGE_MESSAGES, .known = true };
	const struct hodo_merge_node *to = &g->node[e.to];
	struct hodo_corner *less;
	bool use = true;
	int err = hodo_bounds_begin(&e.bounds, hodo_time_middle(to->begin_ns, to->end_ns), bound->correction_ns);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		e.pairs += !bound[i].returned;
	cut_all(&e.bounds, bound, n, 0, true, HODO_NO_PAIR);
	if (!e.bounds.n)
		err = reconcile(m, g, &e, bound, n, &use);
	if (!err && use && e.bounds.least && e.bounds.most)
		e.line = hodo_bounds_middle(&e.bounds);
	else if (!err && use)
		use_walls(g, &e);
	if (err || !use) {
		hodo_bounds_free(&e.bounds);
		return err;
	}
	less = realloc(e.bounds.corner, e.bounds.n * sizeof(*less));
	e.bounds.corner = less ? less : e.bounds.corner;
	g->node[e.from].pairs += e.pairs;
	g->node[e.to].pairs += e.pairs;
	err = hodo_vec_push(g->edge, g->nedges, e);
	if (err)
		hodo_bounds_free(&e.bounds);
	return err;
}

int hodo_graph_connect(struct hodo_merge *m, struct hodo_merge_graph *g)
{
	int err = 0;

	hodo_order_sort(g->bound, g->nbounds, by_nodes);
	for (uint32_t i = 0, k; i < g->nbounds && !err; i = k) {
		k = i + 1;
		while (k < g->nbounds && by_nodes(&g->bound[i], &g->bound[k]) == 0)
			k++;
		err = connect(m, g, &g->bound[i], k - i);
	}
	return err;
}
