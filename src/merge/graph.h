/* SPDX-License-Identifier: MIT */
/* graph.h - which clocks are known to differ by what, and the surest way from each to that of the reference. */
#pragma once

#include "merge.h"

/* A clock: of a boot of a machine, which several recordings may have. */
struct hodo_merge_node {
	int64_t begin_ns, end_ns; /* of its recordings, by the clock as the first of them has it */
	int64_t mono_ns; /* of the first, as in struct hodo_merge_recording */
	bool mono_known;
	bool synchronised;
	int64_t wall_ns, error_ns; /* to be added to get the wall clock at its best; how wrong that is at most */
	uint64_t pairs; /* messages between it and others */
	/* The way to the reference; parent: NO_NODE for the reference itself, nodes for the wall clock. */
	uint32_t parent;
	const struct hodo_merge_edge *edge; /* to the parent; NULL: wall clock */
	struct hodo_line_of_time line;      /* its times as the reference's */
	double distance;
	bool settled;
};
#define HODO_NO_NODE UINT32_MAX

/* Messages between two nodes: what is known of how times of `to` become those of `from`. */
struct hodo_merge_edge {
	uint32_t from, to;
	enum hodo_merge_by by;
	uint64_t pairs;
	struct hodo_line_of_time line; /* times of `to` as those of `from` */
	struct hodo_bounds bounds;     /* all lines that it could be */
	double slack_ns; /* messages contradict each other by that */
	bool known;      /* how wrong the line is: as far as bounds say */
};

/* What one message says: at x_ns, the correction of `to` is at least or at most that. */
struct hodo_merge_bound {
	uint32_t from, to;
	int64_t x_ns, correction_ns;
	uint32_t pair; /* as in struct hodo_passed */
	bool most, returned;
};

struct hodo_merge_graph {
	struct hodo_merge_node *node;
	uint32_t n;
	struct hodo_merge_edge *edge;
	uint32_t nedges;
	struct hodo_merge_bound *bound;
	uint32_t nbounds;
};

/* Fills in the ways and lines of nodes. 0 or -ENOMEM. */
int hodo_graph_walk(struct hodo_merge_graph *g, uint32_t reference);
/* How wrong the node's line is at that time of its own, at most; negative: not known. */
double hodo_graph_error_ns(const struct hodo_merge_graph *g, uint32_t node, int64_t x_ns);
enum hodo_merge_by hodo_graph_by(const struct hodo_merge_graph *g, uint32_t node);
/* Makes the edges of the bounds, and warns where messages contradict each other. 0 or -ENOMEM. */
int hodo_graph_connect(struct hodo_merge *m, struct hodo_merge_graph *g);
void hodo_graph_free(struct hodo_merge_graph *g);
