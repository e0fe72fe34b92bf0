/* SPDX-License-Identifier: MIT */
/* view_losses.c - where events were lost, for the page. */
#include "view_work.h"

#include <base/vec.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES_MAX 65536u

enum { DISCARDED, OVERWRITTEN, DAMAGED };

/* Merges pairs of neighbours with the same stream and cause. */
static void merge(struct hodo_view_work *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nlosses; i++) {
		struct hodo_view_loss *x = &w->losses[i], *next = i + 1 < w->nlosses ? x + 1 : NULL;
		struct hodo_view_loss one = *x;

		if (next && next->stream == x->stream && next->kind == x->kind) {
			one.until_ns = next->until_ns > x->until_ns ? next->until_ns : x->until_ns;
			one.count += next->count;
			i++;
		}
		w->losses[n++] = one;
	}
	w->nlosses = n;
}

int hodo_view_loss(void *work, const struct hodo_read_loss *loss)
{
	struct hodo_view_work *w = work;
	struct hodo_view_loss *l;

	if (w->nlosses == LOSSES_MAX)
		merge(w);
	if (w->nlosses == LOSSES_MAX)
		return 0; /* so many streams: each has been seen */
	if (hodo_vec_reserve(w->losses, w->losses_room, w->nlosses + 1) < 0)
		return -ENOMEM;
	l = &w->losses[w->nlosses++];
	*l = (struct hodo_view_loss){
		.process = loss->process,
		.stream = loss->stream,
		.from_ns = loss->from_ns,
		.until_ns = loss->until_ns,
		.count = loss->discarded + loss->overwritten + loss->damaged,
		.kind = loss->overwritten ? OVERWRITTEN : loss->damaged ? DAMAGED : DISCARDED,
	};
	return 0;
}

static void cause_of(const struct hodo_view_loss *loss, char text[200])
{
	const struct hodo_read_lost *lost = &loss->stream->lost;
	const struct {
		uint64_t n;
		const char *text;
	} causes[] = {
		{ lost->full, "the buffer was full" },
		{ lost->too_large, "larger than a packet" },
		{ lost->busy, "the shared buffer was busy" },
		{ lost->unwritten, "the output could not be written" },
		{ lost->damaged, "damaged packets" },
	};
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; loss->kind == DISCARDED && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].n)
			len += (size_t)snprintf(text + len, 200 - len, "%s%s", len ? ", or " : "", causes[i].text);
	if (len == 0)
		strcpy(text, loss->kind == OVERWRITTEN ? "newer events overwrote them" :
			     loss->kind == DAMAGED     ? "damaged packets" : "the cause is not known");
}

static int by_time(const void *a, const void *b)
{
	const struct hodo_view_loss *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : 0;
}

int hodo_view_losses_finish(struct hodo_view_work *w)
{
	for (uint32_t i = 0; i < w->nlosses; i++) {
		char text[200];

		cause_of(&w->losses[i], text);
		w->losses[i].cause = hodo_strings_add(&w->names, text);
		if (w->losses[i].cause == HODO_STRINGS_NONE)
			return -ENOMEM;
	}
	if (w->nlosses)
		qsort(w->losses, w->nlosses, sizeof(*w->losses), by_time);
	return 0;
}
