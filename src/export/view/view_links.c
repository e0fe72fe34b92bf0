/* SPDX-License-Identifier: MIT */
#include "view_links.h"

#include <base/vec.h>
#include <core/search.h>
#include <stdlib.h>

#include <export/otlp/otlp_impl.h>
#include "view_container.h"

int hodo_view_links_begin(struct hodo_view_links *l, const struct hodo_read_event *event, uint32_t track,
			  int64_t begin)
{
	struct otlp_ids ids;
	uint64_t parent;

	if (l->nspans == HODO_VIEW_SPANS_MAX || !otlp_context(event, &ids, &parent))
		return 0;
	return hodo_vec_push(l->spans, l->nspans,
			     ((struct hodo_view_span){ ids.span, parent, begin, track, event->process }));
}

static int by_span(const void *a, const void *b)
{
	const struct hodo_view_span *x = a, *y = b;

	return (x->span > y->span) - (x->span < y->span);
}

int hodo_view_links_find(struct hodo_view_links *l)
{
	int err = 0;

	if (l->nspans)
		qsort(l->spans, l->nspans, sizeof(*l->spans), by_span);
	for (uint32_t i = 0; i < l->nspans && l->n < HODO_VIEW_LINKS_MAX && !err; i++) {
		const struct hodo_view_span *to = &l->spans[i], *from;
		uint32_t at = hodo_search(k, l->nspans, l->spans[k].span >= to->parent);

		from = at < l->nspans && l->spans[at].span == to->parent ? &l->spans[at] : NULL;
		if (!from || from->process == to->process)
			continue;
		err = hodo_vec_push(l->links, l->n,
				    ((struct hodo_view_link){ from->track, to->track, from->begin, to->begin }));
	}
	return err;
}

void hodo_view_links_put(struct hodo_view_container *c, const struct hodo_view_links *links)
{
	const struct hodo_view_link *l = links->links;
	uint32_t n = links->n;

	if (n == 0)
		return;
	hodo_view_table(c, "links", n);
	HODO_VIEW_COLUMN(c, "from", u32, n, l[i].from);
	HODO_VIEW_COLUMN(c, "to", u32, n, l[i].to);
	HODO_VIEW_COLUMN(c, "begin", f64, n, l[i].begin);
	HODO_VIEW_COLUMN(c, "end", f64, n, l[i].end);
	hodo_view_table_end(c);
}

void hodo_view_links_free(struct hodo_view_links *l)
{
	free(l->spans);
	free(l->links);
}
