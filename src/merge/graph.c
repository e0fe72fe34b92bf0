/* SPDX-License-Identifier: MIT */
/*
 * graph.c - the surest way from each clock to the reference: Dijkstra's, with how wrong times become on the way as the
 * length. The wall clock is a node, too: each clock is as far from it as its host knows.
 */
#include "graph.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
