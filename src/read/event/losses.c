/* SPDX-License-Identifier: MIT */
/* losses.c - collects the times of losses: each stream has those of its own, each trace those of all its streams. */
#include "losses.h"

#include <base/vec.h>
#include <core/search.h>
#include <read/file/stream.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIMES_MAX (1u << 20) /* of a stream or trace: beyond that, the last one covers all later ones */
#define BACK_MAX 256u        /* times after the place of a new one: more only if a file's times run back */

/* ------------------------------------------------------------------ what packets say */

/* Whether packets count no other events as lost than damaged ones. */
static bool counts_damaged(const struct hodo_stream *s)
{
	const struct hodo_read_lost *causes = &s->lost_by_cause;

	return causes->damaged && causes->damaged == hodo_read_lost_sum(causes) &&
	       (s->lost_known || s->trace->pub.complete);
}

static int tell(const struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss), void *data,
		int64_t from_ns, int64_t until_ns, struct hodo_read_loss loss)
{
	loss.size = sizeof(loss);
	loss.process = &s->trace->pub;
	loss.stream = &s->pub;
	loss.from_ns = from_ns < until_ns ? from_ns : until_ns;
	loss.until_ns = until_ns;
	if (loss.discarded && counts_damaged(s)) {
		loss.damaged += loss.discarded;
		loss.discarded = 0;
	}
	return loss.discarded || loss.overwritten || loss.damaged ? found(data, &loss) : 0;
}

/*
 * A full ring refuses events when its last packet has no room, until it is closed: after its last event.
 * Events refused for other reasons may be anywhere in the packet, and those missing between headers are
 * before it.
 */
int hodo_losses_packet(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss), void *data)
{
	const struct hodo_read_lost *causes = &s->lost_by_cause;
	struct hodo_loss_walk *l = &s->loss;
	uint64_t rose = s->discarded > l->discarded ? s->discarded - l->discarded : 0;
	uint64_t skipped = s->events_gap - l->gap, before = skipped < rose ? skipped : rose;
	int64_t begin_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->cursor.time);
	int64_t before_ns = s->pub.packets > 1 ? l->end_ns : begin_ns;
	bool overwrites = s->trace->pub.mode == HODO_MODE_OVERWRITE;
	int err = 0;

	if (skipped)
		err = tell(s, found, data, before_ns, begin_ns, (struct hodo_read_loss){
			.discarded = overwrites ? 0 : before, .overwritten = overwrites ? before : 0 });
	if (!err && s->hole)
		err = tell(s, found, data, before_ns, begin_ns, (struct hodo_read_loss){ .damaged = s->hole });
	l->late = rose - before;
	if (!err && (s->head.events == 0 || !s->lost_known || causes->too_large || causes->busy || causes->damaged)) {
		err = tell(s, found, data, s->head.events == 0 ? before_ns : begin_ns, s->pub.end_ns,
			   (struct hodo_read_loss){ .discarded = l->late });
		l->late = 0;
	}
	return err;
}

int hodo_losses_packet_end(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss),
			   void *data)
{
	int64_t last_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->cursor.time);
	bool unread = !s->skip && s->head.events > s->packet_events;
	struct hodo_loss_walk *l = &s->loss;
	int err = tell(s, found, data, last_ns, s->pub.end_ns, (struct hodo_read_loss){ .discarded = l->late });

	if (!err && unread)
		err = tell(s, found, data, last_ns, s->pub.end_ns,
			   (struct hodo_read_loss){ .damaged = s->head.events - s->packet_events });
	*l = (struct hodo_loss_walk){ .gap = s->events_gap, .discarded = s->discarded, .end_ns = s->pub.end_ns };
	return err;
}

/* ------------------------------------------------------------------------ their sum */

/* Events between two headers that no packet counts as lost, where packets are missing, too: those are damaged. */
void hodo_losses_gap(struct hodo_stream *s, bool missing, uint64_t rose)
{
	const struct hodo_packet *h = &s->head;
	uint64_t gap = h->events_before > s->events_next ? h->events_before - s->events_next : 0;

	s->hole = 0;
	if (gap < UINT64_MAX / 2)
		s->events_gap += gap;
	if (gap < UINT64_MAX / 2 && s->pub.packets > 0 && missing && gap > rose)
		s->hole = gap - rose;
	s->holes += s->hole;
	s->events_next = h->events_before + h->events;
	s->seq = h->packet_seq_num;
}

/* If the recording was interrupted, or the line is damaged, the packets have the number, but not all causes. */
static void add_unknown(const struct hodo_stream *s, struct hodo_read_lost *lost)
{
	uint64_t named = hodo_read_lost_sum(lost), gap;

	if (named >= s->discarded)
		return;
	gap = s->discarded - named;
	if (s->trace->pub.mode == HODO_MODE_OVERWRITE && s->events_gap > lost->overwritten) {
		uint64_t overwritten = s->events_gap - lost->overwritten;

		overwritten = overwritten < gap ? overwritten : gap;
		lost->overwritten += overwritten;
		gap -= overwritten;
	}
	lost->unknown = gap;
}

void hodo_losses_sum(struct hodo_stream *s)
{
	s->pub.lost = s->lost_by_cause;
	add_unknown(s, &s->pub.lost);
	s->pub.lost.damaged += s->pub.damaged + s->holes;
}

/* ------------------------------------------------------------------------- tables */

static void join(struct hodo_loss_time *one, int64_t from_ns, int64_t until_ns)
{
	one->from_ns = from_ns < one->from_ns ? from_ns : one->from_ns;
	one->until_ns = until_ns > one->until_ns ? until_ns : one->until_ns;
}

/* Inserts it, usually at the end, and merges those that it joins. 0 or -ENOMEM. */
static int add(struct hodo_losses *l, int64_t from_ns, int64_t until_ns)
{
	struct hodo_loss_time one = { from_ns, until_ns };
	uint32_t at = l->n, behind;

	while (at > 0 && l->n - at <= BACK_MAX && l->times[at - 1].until_ns >= from_ns)
		at--;
	if (l->n - at > BACK_MAX)
		at = 0; /* all are one from now on: bounds the time, and misses no loss */
	else if (at == l->n && l->n == TIMES_MAX)
		at--;
	behind = at;
	while (behind < l->n && (l->times[behind].from_ns <= until_ns || l->n - at > BACK_MAX || l->n == TIMES_MAX)) {
		join(&one, l->times[behind].from_ns, l->times[behind].until_ns);
		behind++;
	}
	if (behind == at && hodo_vec_reserve(l->times, l->room, l->n + 1) < 0)
		return -ENOMEM;
	memmove(l->times + at + 1, l->times + behind, (l->n - behind) * sizeof(*l->times));
	l->times[at] = one;
	l->n = l->n - (behind - at) + 1;
	return 0;
}

static int learn(struct hodo_stream *s, int64_t from_ns, int64_t until_ns)
{
	int err = add(&s->losses, from_ns, until_ns);

	return err ? err : add(&s->trace->losses, from_ns, until_ns);
}

static int found(void *data, const struct hodo_read_loss *loss)
{
	return learn(data, loss->from_ns, loss->until_ns);
}

/* What was overwritten lies before the first packet, also in the times of other streams. */
int hodo_losses_stream_begins(struct hodo_stream *s)
{
	s->losses.n = 0;
	return s->lost_before ? learn(s, INT64_MIN, s->pub.begin_ns) : 0;
}

int hodo_losses_learn(struct hodo_stream *s)
{
	return hodo_losses_packet(s, found, s);
}

int hodo_losses_learn_end(struct hodo_stream *s)
{
	return hodo_losses_packet_end(s, found, s);
}

/* Losses that no packet reports. */
int hodo_losses_stream_ends(struct hodo_stream *s)
{
	if (hodo_read_lost_sum(&s->lost_by_cause) <= s->discarded)
		return 0;
	return learn(s, s->pub.packets ? s->pub.end_ns : INT64_MIN, INT64_MAX);
}

void hodo_losses_free(struct hodo_losses *l)
{
	free(l->times);
	*l = (struct hodo_losses){ 0 };
}

static bool is_between(const struct hodo_losses *l, int64_t from_ns, int64_t until_ns)
{
	uint32_t at = hodo_search(i, l->n, l->times[i].until_ns >= from_ns);

	return at < l->n && l->times[at].from_ns <= until_ns;
}

bool hodo_losses_between(const struct hodo_read_process *process, int32_t cpu, int64_t from_ns, int64_t until_ns)
{
	const struct hodo_trace *t = hodo_trace_of(process);

	if (t->losses.n == 0 || !is_between(&t->losses, from_ns, until_ns))
		return false;
	if (cpu == HODO_LOSSES_ANY_CPU)
		return true;
	for (uint32_t i = 0; i < t->nstreams; i++) {
		const struct hodo_stream *s = t->streams[i];

		if ((s->pub.cpu == cpu || s->pub.cpu < 0) && is_between(&s->losses, from_ns, until_ns))
			return true;
	}
	return false;
}

bool hodo_losses_any(const struct hodo_read_process *process)
{
	return hodo_trace_of(process)->losses.n > 0;
}
