/* SPDX-License-Identifier: MIT */
/* view_losses.c - see view_losses.h. */
#include "view_losses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES_MAX 65536u

enum { DISCARDED, OVERWRITTEN, DAMAGED };

/* Makes one of two neighbours each that tell the same. */
static void merge(struct hodo_view_losses *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		struct hodo_view_loss *x = &l->all[i], *next = i + 1 < l->n ? x + 1 : NULL;
		struct hodo_view_loss one = *x;

		if (next && next->stream == x->stream && next->kind == x->kind) {
			one.until_ns = next->until_ns > x->until_ns ? next->until_ns : x->until_ns;
			one.count += next->count;
			i++;
		}
		l->all[n++] = one;
	}
	l->n = n;
}

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct hodo_view_losses *l = data;

	if (loss->until_ns < l->since_ns || loss->from_ns >= l->until_ns)
		return 0;
	if (l->n == l->room && l->room == LOSSES_MAX)
		merge(l);
	if (l->n == l->room && l->room == LOSSES_MAX)
		return 0; /* so many streams: each has been told of */
	if (l->n == l->room) {
		uint32_t room = l->room ? 2 * l->room : 64;
		struct hodo_view_loss *more = reallocarray(l->all, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->all = more;
		l->room = room;
	}
	l->all[l->n++] = (struct hodo_view_loss){
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
	};
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; loss->kind == DISCARDED && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].n)
			len += (size_t)snprintf(text + len, 200 - len, "%s%s", len ? ", or " : "", causes[i].text);
	if (len == 0)
		strcpy(text, loss->kind == OVERWRITTEN ? "newer events took their place" :
			     loss->kind == DAMAGED     ? "damaged packets" : "the cause is not known");
}

static int by_time(const void *a, const void *b)
{
	const struct hodo_view_loss *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : 0;
}

int hodo_view_losses(struct hodo_view_losses *l, struct hodo_read *reader, struct hodo_view_names *names)
{
	int err = hodo_read_losses(reader, found, l);

	if (err)
		return err;
	for (uint32_t i = 0; i < l->n; i++) {
		char text[200];

		cause_of(&l->all[i], text);
		l->all[i].cause = hodo_view_name(names, text);
		if (l->all[i].cause == UINT32_MAX)
			return -ENOMEM;
	}
	if (l->n)
		qsort(l->all, l->n, sizeof(*l->all), by_time);
	return 0;
}

void hodo_view_losses_free(struct hodo_view_losses *l)
{
	free(l->all);
	l->all = NULL;
	l->n = l->room = 0;
}
