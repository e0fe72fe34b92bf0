/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.c - takes packets from one ring of a traced process.
 */
#include "ring_reader.h"

#include <string.h>

#include "shm.h"

#define HEADER ((uint32_t)sizeof(struct hodo_packet))

/* A decoded commit word. */
struct place {
	uint64_t number; /* of the packet, modulo 2^44 / packet_size */
	uint32_t offset; /* in the packet */
	uint32_t events;
};

void hodo_ring_reader_init(struct hodo_ring_reader *r, struct hodo_ring *ring, const uint8_t *packets,
			   const struct hodo_layout *layout, enum hodo_mode mode, uint8_t *copy)
{
	memset(r, 0, sizeof(*r));
	r->ring = ring;
	r->packets = packets;
	r->ring_size = layout->ring_size;
	r->packet_size = layout->packet_size;
	r->mode = mode;
	r->copy = copy;
	r->ts_max = UINT64_MAX;
}

static struct place place_of(const struct hodo_ring_reader *r, uint64_t word)
{
	uint64_t position = word >> HODO_WORD_COUNT_BITS;

	return (struct place){ position / r->packet_size, (uint32_t)(position & (r->packet_size - 1)),
			       (uint32_t)(word & HODO_WORD_COUNT_MASK) };
}

/* How far packet number b lies after a; numbers wrap at 2^44 bytes of ring. */
static uint64_t number_delta(const struct hodo_ring_reader *r, uint64_t b, uint64_t a)
{
	return (b - a) & ((1ull << (64 - HODO_WORD_COUNT_BITS)) / r->packet_size - 1);
}

static const uint8_t *packet_at(const struct hodo_ring_reader *r, uint64_t number)
{
	return r->packets + (number * r->packet_size & (r->ring_size - 1));
}

static uint64_t slots(const struct hodo_ring_reader *r)
{
	return r->ring_size / r->packet_size;
}

/* Ten years on any clock; later times would overflow readers' nanoseconds. */
#define TICKS_MAX (1ull << 60)

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	a = a < HODO_RING_COUNT_MAX ? a : HODO_RING_COUNT_MAX;
	b = b < HODO_RING_COUNT_MAX ? b : HODO_RING_COUNT_MAX;
	return a + b < HODO_RING_COUNT_MAX ? a + b : HODO_RING_COUNT_MAX;
}

/* Adds a count to the sum, as far as there is room, and returns what was added. */
static uint64_t take_count(struct hodo_ring_reader *r, const uint64_t *p, uint64_t *sum)
{
	uint64_t n = hodo_ring_count(p);

	r->untrue |= hodo_shm_load64(p) >= HODO_RING_COUNT_MAX;
	if (n > HODO_RING_COUNT_MAX - *sum)
		n = HODO_RING_COUNT_MAX - *sum;
	*sum += n;
	return n;
}

bool hodo_ring_locate(struct hodo_ring_reader *r, uint64_t *word, uint64_t *current)
{
	for (int tries = 0; tries < 64; tries++) {
		struct place p;
		uint64_t seq, again;

		*word = hodo_shm_load64(&r->ring->word);
		if (*word == 0)
			return false;
		p = place_of(r, *word);
		if (r->mode == HODO_MODE_DISCARD) {
			/* At most slots - 1 packets are closed and not consumed: no need to ask the header. */
			*current = r->next + number_delta(r, p.number, r->next);
			if (*current - r->next < slots(r) && p.offset >= HEADER)
				return true;
			break;
		}
		seq = hodo_shm_get64(packet_at(r, p.number) + offsetof(struct hodo_packet, packet_seq_num));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		again = hodo_shm_load64(&r->ring->word);
		/* The header belongs to this word only if the packet was still open after it was read. */
		if (place_of(r, again).number != p.number)
			continue;
		*current = seq;
		if (p.offset >= HEADER && seq >= r->next && number_delta(r, p.number, seq) == 0)
			return true;
		break;
	}
	r->broken = true;
	return false;
}

uint64_t hodo_ring_ahead(const struct hodo_ring_reader *r, uint64_t later, uint64_t word)
{
	return number_delta(r, place_of(r, later).number, place_of(r, word).number);
}

static void damaged(struct hodo_ring_reader *r)
{
	r->damage++;
	r->skipped = true;
}

/* Events missing before one whose events_before is given: overwritten, or in invalid packets. */
static void missing_before(struct hodo_ring_reader *r, uint64_t before)
{
	uint64_t gap = before - r->expect;

	if (before <= r->expect)
		return;
	if (gap > HODO_RING_COUNT_MAX - r->missed)
		gap = HODO_RING_COUNT_MAX - r->missed;
	if (r->skipped || r->mode == HODO_MODE_DISCARD)
		r->lost.damaged += gap;
	else
		r->lost.overwritten += gap;
	r->missed += gap;
	r->expect = before;
}

/* Whether the header is plausible, for an open packet as well as a closed one. */
static bool header_plausible(const struct hodo_ring_reader *r, const struct hodo_packet *h, uint64_t seq)
{
	return h->magic == HODO_CTF_MAGIC && h->packet_seq_num == seq && h->timestamp_begin >= r->ts_end &&
	       h->timestamp_begin < TICKS_MAX && h->events_before >= r->expect &&
	       h->events_before < HODO_RING_COUNT_MAX;
}

static bool closed_plausible(const struct hodo_ring_reader *r, const struct hodo_packet *h, uint64_t seq)
{
	uint64_t bytes = h->content_size / 8;

	return header_plausible(r, h, seq) && h->content_size % 8 == 0 && bytes >= HEADER &&
	       bytes <= r->packet_size && h->timestamp_begin <= h->timestamp_end && h->timestamp_end < TICKS_MAX &&
	       h->events <= (bytes - HEADER) / HODO_EVENT_HEADER;
}

/* Gives a checked packet to the sink. refused: events refused before its end. */
static void give(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink, struct hodo_packet *h,
		 const uint8_t *body, uint64_t refused)
{
	uint64_t discarded;

	missing_before(r, h->events_before);
	discarded = add_capped(refused, r->missed);
	if (discarded < r->discarded)
		discarded = r->discarded;
	h->events_discarded = r->discarded = discarded;
	h->packet_size = h->content_size;
	r->expect = h->events_before + h->events;
	r->ts_end = h->timestamp_end;
	r->skipped = false;
	sink->packet(sink->arg, r, h, body);
}

static uint64_t refused_now(const struct hodo_ring_reader *r)
{
	uint64_t n = add_capped(hodo_ring_count(&r->ring->lost_full), hodo_ring_count(&r->ring->lost_too_large));

	return add_capped(n, hodo_ring_count(&r->ring->lost_busy));
}

/* Events refused before the end of closed packet seq: the next packet has that. */
static uint64_t refused_until(const struct hodo_ring_reader *r, uint64_t seq)
{
	const uint8_t *next = packet_at(r, seq + 1);

	return hodo_ring_believed(hodo_shm_get64(next + offsetof(struct hodo_packet, events_discarded)));
}

/* Makes the header of the rest of the next packet, part of which was given. False: it is invalid. */
static bool skip_given(const struct hodo_ring_reader *r, struct hodo_packet *h)
{
	if (!r->given.events)
		return true;
	if (h->events < r->given.events || h->content_size / 8 < HEADER + r->given.bytes)
		return false;
	h->events -= r->given.events;
	h->content_size -= 8ull * r->given.bytes;
	h->events_before += r->given.events;
	h->timestamp_begin = r->ts_end;
	return true;
}

/*
 * The rest of a packet, at body with HODO_ANCHOR_BYTES of room before it, gets its own anchor, and begins
 * with its own first event, not with the last one given. Returns where it begins.
 */
static uint8_t *begin_rest(const struct hodo_ring_reader *r, struct hodo_packet *h, uint8_t *body)
{
	const struct hodo_cursor *given = &r->given.cursor;
	uint64_t words[2], first = 0, bytes = h->content_size / 8 - HEADER;

	if (!r->given.events || bytes < HODO_EVENT_HEADER)
		return body;
	memcpy(&first, body, bytes < sizeof(first) ? bytes : sizeof(first));
	if ((first & HODO_FORM_MASK) == HODO_FORM_ANCHOR) {
		h->timestamp_begin = first & ~3ull;
		return body;
	}
	h->timestamp_begin = hodo_cursor_time(given, first);
	hodo_anchor_words(words, h->timestamp_begin & ~3ull, given->tid, given->window);
	h->content_size += 8ull * sizeof(words);
	return memcpy(body - sizeof(words), words, sizeof(words));
}

static void next_packet(struct hodo_ring_reader *r)
{
	r->next++;
	memset(&r->given, 0, sizeof(r->given));
}

/* Removes from a checked packet what is later than the copy; then it is the last. */
static void cut(struct hodo_ring_reader *r, const struct hodo_read_layouts *table, struct hodo_packet *h,
		const uint8_t *body, size_t len)
{
	struct hodo_walked w;

	hodo_layouts_walk(table, body, len, h->timestamp_begin, r->ts_max, h->events, &w);
	r->ended = true;
	h->events = (uint32_t)w.walk.events;
	h->timestamp_end = w.walk.timestamp_last;
	h->content_size = 8ull * (HEADER + w.walk.bytes);
}

/*
 * A closed packet, in shared memory or already in r->copy. The copy is what is checked and goes to the sink:
 * an honest process does not write there any more, but another could between check and use. A frozen ring is
 * already a copy.
 */
static void take_closed(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink,
			const struct hodo_read_layouts *table, const uint8_t *packet, uint64_t seq, uint64_t refused)
{
	const uint8_t *from = packet + HEADER + r->given.bytes;
	uint8_t *copy = r->copy + HEADER + (r->given.events ? HODO_ANCHOR_BYTES : 0);
	const uint8_t *body = from;
	struct hodo_walk_result walk;
	struct hodo_packet h;
	uint32_t len;

	hodo_shm_copy(&h, packet, sizeof(h));
	if (!skip_given(r, &h) || !closed_plausible(r, &h, seq)) {
		damaged(r);
		return;
	}
	len = (uint32_t)(h.content_size / 8) - HEADER;
	hodo_drain_apart(r->drain);
	if (!r->frozen && packet != r->copy) {
		hodo_shm_copy(copy, from, len);
		body = begin_rest(r, &h, copy);
		len = (uint32_t)(h.content_size / 8) - HEADER;
	}
	hodo_walk(table, body, len, h.timestamp_begin, h.events, &walk);
	hodo_drain_back(r->drain);
	if (walk.events != h.events || walk.bytes != len || walk.ts_last > h.timestamp_end) {
		damaged(r);
		return;
	}
	hodo_ring_size_hint_packet(&r->size_hint, h.events + r->given.events);
	if (h.timestamp_end > r->ts_max && walk.ts_last > r->ts_max)
		cut(r, table, &h, body, len);
	if (h.events == 0) { /* the next one shows its losses */
		if (r->ended)
			missing_before(r, h.events_before);
		return;
	}
	give(r, sink, &h, body, refused);
}

int hodo_ring_poll(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink)
{
	const struct hodo_read_layouts *table;
	uint64_t word, current, used;

	if (r->broken || hodo_shm_load64(&r->ring->word) == r->word)
		return 0;
	if (r->mode == HODO_MODE_OVERWRITE) {
		r->word = hodo_shm_load64(&r->ring->word);
		return 0;
	}
	if (!hodo_ring_locate(r, &word, &current))
		return 0;
	used = current - r->next;
	hodo_ring_size_hint_look(&r->size_hint, hodo_ring_count(&r->ring->lost_full), used * 2 < slots(r));
	if (used > 0) {
		/* After the word: the catalogue has every id in a closed packet by now. */
		table = sink->table(sink->arg);
		while (r->next < current) {
			take_closed(r, sink, table, packet_at(r, r->next), r->next, refused_until(r, r->next));
			next_packet(r);
			hodo_ring_give_back(r, current);
		}
		hodo_ring_zero_ahead(r, current, used);
	}
	r->word = word;
	return (int)((used * r->packet_size + place_of(r, word).offset) * 16 / r->ring_size);
}

/* Overwrite mode: takes what is still readable of the closed packets, oldest first. */
static void take_flight(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink,
			const struct hodo_read_layouts *table, uint64_t word, uint64_t current, bool alive)
{
	uint64_t oldest = current + 2 > slots(r) ? current + 2 - slots(r) : 0;

	if (r->next < oldest)
		r->next = oldest;
	for (; r->next < current && !r->ended; r->next++) {
		const uint8_t *packet = packet_at(r, r->next);
		uint64_t refused = refused_until(r, r->next);

		if (alive) {
			uint64_t ahead;

			hodo_drain_apart(r->drain);
			hodo_shm_copy(r->copy, packet, r->packet_size);
			hodo_drain_back(r->drain);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			ahead = number_delta(r, place_of(r, hodo_shm_load64(&r->ring->word)).number,
					     place_of(r, word).number);
			/* A switch in progress overwrites the slot after the open one: hence the 2. */
			if (r->next + slots(r) < current + ahead + 2)
				continue;
			packet = r->copy;
		}
		take_closed(r, sink, table, packet, r->next, refused);
	}
}

/* The part of the open packet that is committed but not given yet. */
struct open {
	struct hodo_packet head;
	const uint8_t *body;
	struct hodo_walk_result walk;
	uint32_t events; /* how many there should be; walk.events are readable */
	bool sound;      /* the header is valid: else there is no body */
	bool whole;      /* everything is readable */
};

/* Copies and checks it. False if another packet is open by now. */
static bool read_open(struct hodo_ring_reader *r, const struct hodo_read_layouts *table, uint64_t word,
		      uint64_t current, struct open *o)
{
	const uint8_t *packet = packet_at(r, current);
	struct place p = place_of(r, word);
	struct hodo_packet *h = &o->head;
	uint32_t len;

	*o = (struct open){ .body = packet + HEADER };
	if (!r->frozen) {
		hodo_shm_copy(r->copy, packet, p.offset);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (place_of(r, hodo_shm_load64(&r->ring->word)).number != p.number)
			return false;
		o->body = r->copy + HEADER;
	}
	memcpy(h, o->body - HEADER, sizeof(*h));
	h->events = p.events;
	h->content_size = 8ull * p.offset;
	o->events = p.events > r->given.events ? p.events - r->given.events : 0;
	o->sound = skip_given(r, h) && header_plausible(r, h, current);
	if (!o->sound)
		return true;
	if (r->given.events) /* of at least an anchor's bytes */
		o->body = begin_rest(r, h, r->copy + HEADER + r->given.bytes);
	len = (uint32_t)(h->content_size / 8) - HEADER;
	hodo_walk(table, o->body, len, h->timestamp_begin, o->events, &o->walk);
	o->whole = o->walk.events == o->events && o->walk.bytes == len;
	h->events = o->walk.events;
	h->timestamp_end = o->walk.ts_last;
	h->content_size = 8ull * (HEADER + o->walk.bytes);
	return true;
}

/* At the end: takes the committed part of the open packet. False if another packet is open by now. */
static bool take_open(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink,
		      const struct hodo_read_layouts *table, uint64_t word, uint64_t current)
{
	uint64_t refused = refused_now(r);
	struct open o;

	if (!read_open(r, table, word, current, &o))
		return false;
	if (!o.whole)
		damaged(r);
	if (!o.sound) {
		missing_before(r, r->expect + o.events);
		return true;
	}
	missing_before(r, o.head.events_before);
	if (o.walk.events > 0 && o.walk.ts_last > r->ts_max)
		cut(r, table, &o.head, o.body, o.walk.bytes);
	if (o.head.events > 0)
		give(r, sink, &o.head, o.body, refused);
	if (o.walk.events < o.events && !r->ended) {
		r->skipped = true;
		missing_before(r, r->expect + (o.events - o.walk.events));
	}
	r->next = current;
	return true;
}

bool hodo_ring_take_open(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink)
{
	uint64_t word, current, refused = refused_now(r);
	struct open o;

	if (r->mode != HODO_MODE_DISCARD || r->broken || !hodo_ring_locate(r, &word, &current))
		return true;
	if (r->next != current || place_of(r, word).events <= r->given.events)
		return r->next == current;
	if (!read_open(r, sink->table(sink->arg), word, current, &o) || o.walk.events == 0)
		return false;
	r->given.bytes += o.walk.bytes - (uint32_t)(r->copy + HEADER + r->given.bytes - o.body);
	r->given.events += o.walk.events;
	r->given.cursor = o.walk.cursor;
	give(r, sink, &o.head, o.body, refused);
	return o.whole;
}

/* The total of losses; the stream writes the packet that reports it. */
static void finish_lost(struct hodo_ring_reader *r)
{
	uint64_t discarded = r->missed;

	/* Each cause at most the total, whatever the memory says. */
	r->lost.full = take_count(r, &r->ring->lost_full, &discarded);
	r->lost.too_large = take_count(r, &r->ring->lost_too_large, &discarded);
	r->lost.busy = take_count(r, &r->ring->lost_busy, &discarded);
	hodo_ring_size_hint_look(&r->size_hint, add_capped(r->lost.full, r->lost.overwritten), false);
	if (discarded > r->discarded)
		r->discarded = discarded;
}

void hodo_ring_finish(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink, bool alive)
{
	uint64_t word, current;

	/* In a live process the open packet may be closed meanwhile: then retry, a few times at most. */
	for (int round = 0; round < 4 && !r->broken && hodo_ring_locate(r, &word, &current); round++) {
		const struct hodo_read_layouts *table = sink->table(sink->arg);

		r->word = word;
		if (r->mode == HODO_MODE_OVERWRITE)
			take_flight(r, sink, table, word, current, alive);
		for (; r->next < current && !r->ended; next_packet(r))
			take_closed(r, sink, table, packet_at(r, r->next), r->next, refused_until(r, r->next));
		if (r->ended || take_open(r, sink, table, word, current))
			break;
	}
	finish_lost(r);
}

uint64_t hodo_ring_open_since(const struct hodo_ring_reader *r)
{
	if (r->word == 0 || r->broken)
		return 0;
	return hodo_shm_get64(packet_at(r, place_of(r, r->word).number) +
			      offsetof(struct hodo_packet, timestamp_begin));
}

uint64_t hodo_ring_events(const struct hodo_ring_reader *r)
{
	const uint8_t *before;

	if (r->word == 0 || r->broken)
		return r->expect;
	before = packet_at(r, place_of(r, r->word).number) + offsetof(struct hodo_packet, events_before);
	return add_capped(hodo_shm_get64(before), r->word & HODO_WORD_COUNT_MASK);
}
