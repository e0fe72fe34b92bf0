/* SPDX-License-Identifier: MIT */
/* saved.c - an object's code without its bytes: a head, functions, exits, and the marks of all segments. */
#include "saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_impl.h"

struct head {
	uint64_t instructions, finder;
	uint32_t segments, functions, exits, landings;
	struct {
		uint64_t addr;
		uint32_t landing, zero;
	} landing[HODO_PROBE_LANDINGS_MAX];
};

struct function {
	uint64_t start, end, room;
	uint32_t exits;
	uint8_t reason, flags, zero[2];
};
enum { PART = 1, ENTERED = 2, BRANCHED = 4, LABELS = 8, UNSURE = 16, FLAGS = 31 };

struct exit {
	uint64_t addr;
	uint32_t since;
	uint8_t leave, unsure, zero[2];
};

static uint64_t code_bytes(const struct hodo_probe_object *o)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < o->nsegments; i++)
		n += o->segments[i].end - o->segments[i].start;
	return n;
}

/* ------------------------------------------------------------------------- save */

static void put(uint8_t **to, const void *from, size_t n)
{
	memcpy(*to, from, n);
	*to += n;
}

static void put_head(uint8_t **to, const struct hodo_probe_object *o)
{
	struct head h = { .instructions = o->ninstructions, .finder = o->finder, .segments = o->nsegments,
			  .functions = o->nfunctions, .exits = o->nexits, .landings = o->nlandings };

	for (uint32_t i = 0; i < o->nlandings; i++) {
		h.landing[i].addr = o->landings[i].addr;
		h.landing[i].landing = o->landings[i].landing;
	}
	put(to, &h, sizeof(h));
}

int hodo_probe_object_save(const struct hodo_probe_object *o, uint8_t **bytes, size_t *n)
{
	uint8_t *to;

	*n = sizeof(struct head) + o->nfunctions * sizeof(struct function) + o->nexits * sizeof(struct exit) +
	     code_bytes(o);
	*bytes = to = malloc(*n);
	if (!to)
		return -ENOMEM;
	put_head(&to, o);
	for (uint32_t i = 0; i < o->nfunctions; i++) {
		const struct hodo_probe_function *f = &o->functions[i];
		struct function x = { f->start, f->end, f->room, f->nexits, f->reason, 0, { 0 } };

		x.flags = (uint8_t)(f->part * PART | f->entered * ENTERED | f->branched * BRANCHED |
				    f->labels * LABELS | f->unsure * UNSURE);
		put(&to, &x, sizeof(x));
	}
	for (uint32_t i = 0; i < o->nexits; i++) {
		const struct hodo_probe_exit *e = &o->exits[i];
		const struct exit x = { e->addr, e->since, e->leave, e->unsure, { 0 } };

		put(&to, &x, sizeof(x));
	}
	for (uint32_t i = 0; i < o->nsegments; i++)
		put(&to, o->segments[i].marks, o->segments[i].end - o->segments[i].start);
	return 0;
}

/* ---------------------------------------------------------------------- restore */

/* What is left of the bytes. */
struct rest {
	const uint8_t *at;
	size_t n;
};

static bool get(struct rest *r, void *to, size_t n)
{
	if (r->n < n)
		return false;
	memcpy(to, r->at, n);
	r->at += n;
	r->n -= n;
	return true;
}

static bool get_head(struct rest *r, struct hodo_probe_object *o)
{
	struct head h;

	if (!get(r, &h, sizeof(h)) || h.segments != o->nsegments || h.landings > HODO_PROBE_LANDINGS_MAX ||
	    h.functions > r->n / sizeof(struct function) || h.exits > r->n / sizeof(struct exit))
		return false;
	o->ninstructions = h.instructions;
	o->finder = h.finder;
	o->nfunctions = h.functions;
	o->nexits = h.exits;
	o->nlandings = h.landings;
	for (uint32_t i = 0; i < h.landings; i++)
		o->landings[i] = (struct hodo_probe_landing){ h.landing[i].addr, (uint8_t)h.landing[i].landing };
	return true;
}

/* Functions follow each other, with their exits. */
static bool get_function(struct rest *r, const struct hodo_probe_object *o, uint32_t i)
{
	struct hodo_probe_function *f = &o->functions[i];
	const struct hodo_probe_segment *s;
	struct function x;

	if (!get(r, &x, sizeof(x)) || x.start >= x.end || x.room < x.end || x.flags > FLAGS ||
	    x.reason >= HODO_PROBE_REASONS || (i && f[-1].end > x.start))
		return false;
	*f = (struct hodo_probe_function){ .start = x.start, .end = x.end, .room = x.room, .nexits = x.exits,
					   .reason = x.reason, .part = x.flags & PART, .entered = x.flags & ENTERED,
					   .branched = x.flags & BRANCHED, .labels = x.flags & LABELS,
					   .unsure = x.flags & UNSURE };
	f->exit = i ? f[-1].exit + f[-1].nexits : 0;
	s = hodo_probe_segment_at(o, f->start);
	if (s && f->end <= s->end)
		return x.room <= s->end && x.exits <= o->nexits - f->exit;
	return !x.exits && (f->reason || !s);
}

static bool get_exit(struct rest *r, const struct hodo_probe_object *o, uint32_t function, uint32_t i)
{
	const struct hodo_probe_function *f = &o->functions[function];
	struct exit x;

	if (!get(r, &x, sizeof(x)) || x.addr < f->start || x.addr >= f->end ||
	    (i > f->exit && o->exits[i - 1].addr >= x.addr) || x.leave > HODO_PROBE_TAIL_INDIRECT || x.unsure > 1)
		return false;
	o->exits[i] = (struct hodo_probe_exit){ .addr = x.addr, .function = function, .since = x.since,
						.leave = x.leave, .unsure = x.unsure };
	return true;
}

/* No instruction goes on behind the segment, and nothing is planned. */
static bool get_marks(struct rest *r, const struct hodo_probe_segment *s)
{
	size_t n = s->end - s->start;

	if (!get(r, s->marks, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (s->marks[i] & HODO_PROBE_MARK_TAKEN || (s->marks[i] & HODO_PROBE_MARK_LENGTH) > n - i)
			return false;
	return true;
}

static int restore(struct hodo_probe_object *o, struct rest r)
{
	uint32_t exits = 0;

	if (!get_head(&r, o))
		return -EBADMSG;
	o->functions = calloc(o->nfunctions + 1, sizeof(*o->functions));
	o->exits = calloc(o->nexits + 1, sizeof(*o->exits));
	if (!o->functions || !o->exits)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->nfunctions; i++)
		if (!get_function(&r, o, i))
			return -EBADMSG;
	for (uint32_t i = 0; i < o->nfunctions; i++)
		for (uint32_t k = 0; k < o->functions[i].nexits; k++)
			if (!get_exit(&r, o, i, exits++))
				return -EBADMSG;
	for (uint32_t i = 0; i < o->nsegments; i++)
		if (!get_marks(&r, &o->segments[i]))
			return -EBADMSG;
	return exits == o->nexits && r.n == 0 ? 0 : -EBADMSG;
}

int hodo_probe_object_restore(struct hodo_probe_object *o, const struct hodo_elf *e, const uint8_t *bytes, size_t n)
{
	int err;

	*o = (struct hodo_probe_object){ .enter_windows = o->enter_windows, .no_jumps = o->no_jumps,
					 .shadow_stacks = o->shadow_stacks };
	err = hodo_probe_code_read(o, e);
	/* For the slots, which are off in the code that probes see. */
	if (!err)
		err = hodo_probe_mark_own(o, e);
	if (!err)
		err = restore(o, (struct rest){ bytes, n });
	if (err)
		hodo_probe_object_close(o);
	return err;
}
