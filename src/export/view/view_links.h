/* SPDX-License-Identifier: MIT */
/* view_links.h - arrows from spans with a context to those that began in other processes, because of them. */
#pragma once

#include <hodo/read.h>

/* A span with an identifier of its own. */
struct hodo_view_span {
	uint64_t span, parent; /* parent 0: none */
	int64_t begin;         /* as in rows */
	uint32_t track;
	const struct hodo_read_process *process;
};

/* Where an arrow leads from and to. */
struct hodo_view_link {
	uint32_t from, to; /* tracks */
	int64_t begin, end;
};

#define HODO_VIEW_SPANS_MAX (1u << 20) /* looked at; links of later ones are left out */
#define HODO_VIEW_LINKS_MAX 20000u     /* on the page: what it looks at for each frame */

struct hodo_view_links {
	struct hodo_view_span *spans;
	uint32_t nspans;
	struct hodo_view_link *links;
	uint32_t n;
};

/* Notes the span that the event begins, if it has an identifier. 0 or -ENOMEM. */
int hodo_view_links_begin(struct hodo_view_links *l, const struct hodo_read_event *event, uint32_t track,
			  int64_t begin);
/* Once all are known: finds links. 0 or -ENOMEM. */
int hodo_view_links_find(struct hodo_view_links *l);
/* The table "links"; nothing, if there are none. */
struct hodo_view_container;
void hodo_view_links_put(struct hodo_view_container *c, const struct hodo_view_links *links);
void hodo_view_links_free(struct hodo_view_links *l);
