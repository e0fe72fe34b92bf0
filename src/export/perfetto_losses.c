/* SPDX-License-Identifier: MIT */
/* perfetto_losses.c - where events are missing, as slices on a track of their stream. */
#include "perfetto_impl.h"

#include <errno.h>

struct losses {
	struct perfetto *p;
	const struct hodo_read_stream *stream; /* of the last one, … */
	int64_t end_ns;                        /* … and where it ended */
};

static uint32_t index_of(const struct hodo_read_loss *loss)
{
	uint32_t i = 0;

	while (i + 1 < loss->process->nstreams && loss->process->streams[i] != loss->stream)
		i++;
	return i;
}

static int put(struct losses *l, const struct hodo_read_loss *loss, int64_t from_ns, int64_t until_ns)
{
	struct perfetto *p = l->p;
	struct perfetto_point point = { .ts_ns = from_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
					.name = perfetto_name(p, "lost events"), .category = p->lost };
	int err = point.name ? perfetto_loss_track(p, loss->process, index_of(loss), &point.track) : -ENOMEM;

	if (err)
		return err;
	if (loss->discarded)
		perfetto_note_number(p, NOTE_DISCARDED, loss->discarded);
	if (loss->overwritten)
		perfetto_note_number(p, NOTE_OVERWRITTEN, loss->overwritten);
	if (loss->damaged)
		perfetto_note_number(p, NOTE_DAMAGED, loss->damaged);
	err = perfetto_point(p, &point);
	point = (struct perfetto_point){ .ts_ns = until_ns, .track = point.track,
					 .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END };
	return err ? err : perfetto_point(p, &point);
}

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct losses *l = data;
	const struct hodo_export *e = l->p->e;
	int64_t from_ns = loss->from_ns, until_ns = loss->until_ns;

	if (e->until_ns != 0 && (until_ns < e->since_ns || from_ns >= e->until_ns))
		return 0;
	/* They follow each other, whatever a damaged stream says. */
	if (l->stream == loss->stream && from_ns < l->end_ns)
		from_ns = l->end_ns;
	if (until_ns < from_ns)
		until_ns = from_ns;
	l->stream = loss->stream;
	l->end_ns = until_ns;
	return put(l, loss, from_ns, until_ns);
}

int perfetto_losses(struct perfetto *p)
{
	struct losses l = { .p = p };

	return hodo_read_losses(p->e->reader, found, &l);
}
