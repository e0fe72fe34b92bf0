/* SPDX-License-Identifier: MIT */
/* losses.c - see losses.h. Each stream has the times of its losses, and each trace those of all of its streams. */
#include "losses.h"
#include "internal.h"

#include <base/vec.h>
#include <core/search.h>
#include <errno.h>
#include <stdlib.h>

#define TIMES_MAX (1u << 20) /* of a stream or trace: beyond, the last one has all that follow */
#define BACK_MAX 256u        /* times behind the place of a new one: more of them only if a file's times run back */

/* ------------------------------------------------------------------ what packets say */

static int tell(const struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss), void *data,
		int64_t from_ns, int64_t until_ns, struct hodo_read_loss loss)
{
	loss.size = sizeof(loss);
	loss.process = &s->trace->pub;
	loss.stream = &s->pub;
	loss.from_ns = from_ns < until_ns ? from_ns : until_ns;
	loss.until_ns = until_ns;
	return loss.discarded || loss.overwritten || loss.damaged ? found(data, &loss) : 0;
}

/*
 * A full ring refuses events when its last packet has no room, until that is closed: behind its last event. What is
 * refused for other reasons may be anywhere in the packet, and what the headers skip lies before it.
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
	/* Numbers begin again in each file of a recording in parts. */
	bool hole = s->pub.packets > 1 && l->file == s->walked && s->head.packet_seq_num > l->seq + 1;
	int err = 0;

	if (skipped)
		err = tell(s, found, data, before_ns, begin_ns, (struct hodo_read_loss){
			.discarded = overwrites ? 0 : before, .overwritten = overwrites ? before : 0 });
	if (!err && hole && skipped > before)
		err = tell(s, found, data, before_ns, begin_ns, (struct hodo_read_loss){ .damaged = skipped - before });
	l->late = rose - before;
	if (!err && (s->head.events == 0 || !s->lost_known || causes->too_large || causes->busy)) {
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
	*l = (struct hodo_loss_walk){ .gap = s->events_gap, .discarded = s->discarded, .end_ns = s->pub.end_ns,
				      .seq = s->head.packet_seq_num, .file = s->walked };
	return err;
}

/* ------------------------------------------------------------------------- tables */

static void join(struct hodo_loss_time *one, int64_t from_ns, int64_t until_ns)
{
	one->from_ns = from_ns < one->from_ns ? from_ns : one->from_ns;
	one->until_ns = until_ns > one->until_ns ? until_ns : one->until_ns;
}

/* Puts it in its place, mostly the last, and makes one of those that it joins. 0 or -ENOMEM. */
static int add(struct hodo_losses *l, int64_t from_ns, int64_t until_ns)
{
	struct hodo_loss_time one = { from_ns, until_ns };
	uint32_t at = l->n, behind;

	while (at > 0 && l->n - at <= BACK_MAX && l->times[at - 1].until_ns >= from_ns)
		at--;
	if (l->n - at > BACK_MAX)
		at = 0; /* all are one from now on: the time is bounded, and nothing that may be lost is missed */
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

/* The first packet lies behind what was overwritten before it, in the times of other streams too. */
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

/* What no packet tells of. */
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

static const struct hodo_trace *trace_of(const struct hodo_read_process *process)
{
	return (const struct hodo_trace *)(const void *)process;
}

bool hodo_losses_between(const struct hodo_read_process *process, int32_t cpu, int64_t from_ns, int64_t until_ns)
{
	const struct hodo_trace *t = trace_of(process);

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
	return trace_of(process)->losses.n > 0;
}
