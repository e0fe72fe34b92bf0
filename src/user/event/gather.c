/* SPDX-License-Identifier: MIT */
/*
 * gather.c - events whose payload is more than the site's values: texts and arrays, which a site passes as
 * pointers and lengths (hodo/abi.h), and tracepoints, which have probes. arch/x86_64/site.S calls this.
 *
 * Runs where an event happens, in signal handlers too; the vector registers are the program's. It uses as
 * much stack as the event's fields need.
 */
#include "emit.h"
#include "steps.h"
#include <user/objects/objects.h>

#ifdef __x86_64__

/* An event under construction: runs of the fixed part, each up to a length, and the data of that length. */
struct gathered {
	struct hodo_piece *piece;
	uint8_t *fixed; /* the next byte of the fixed part, */
	uint8_t *start; /* and the first that is in no piece yet */
	size_t total;
};

static inline void end_run(struct gathered *g)
{
	size_t len = (size_t)(g->fixed - g->start);

	if (!len)
		return;
	*g->piece++ = (struct hodo_piece){ g->start, len };
	g->total += len;
	g->start = g->fixed;
}

static inline void add_data(struct gathered *g, const void *data, size_t len)
{
	end_run(g);
	*g->piece++ = (struct hodo_piece){ data, len };
	g->total += len;
}

/* Makes it too long for any packet, so that it counts as lost. */
static inline void refuse(struct gathered *g) { g->total = SIZE_MAX / 2; }

static inline void add_text(struct gathered *g, const char *text, size_t len)
{
	uint16_t n;

	if (!text) {
		text = HODO_NULL_TEXT;
		len = HODO_NULL_TEXT_LEN;
	}
	n = (uint16_t)len;
	__builtin_memcpy(g->fixed, &n, sizeof(n));
	g->fixed += sizeof(n);
	add_data(g, text, len);
	if (len > HODO_STR_MAX)
		refuse(g);
}

static inline void add_elements(struct gathered *g, const void *data, size_t count, size_t size)
{
	bool refused = data && count > UINT32_MAX;
	uint32_t n = data && !refused ? (uint32_t)count : 0;

	__builtin_memcpy(g->fixed, &n, sizeof(n));
	g->fixed += sizeof(n);
	add_data(g, data, n * size);
	if (refused)
		refuse(g);
}

static size_t bounded_length(const char *text, size_t n)
{
	const char *nul = text && n ? __builtin_memchr(text, 0, n) : 0;

	return nul ? (size_t)(nul - text) : n;
}

/* Takes one step of a plan. Returns where the next value is. bounded: a bit for each text. */
static inline const uint8_t *add_step(struct gathered *g, unsigned step, unsigned bounded, const uint8_t *from)
{
	const char *data;
	size_t n;

	/* Reads up to 7 bytes past the numbers: there is room, here and on the site's stack. */
	__builtin_memcpy(&data, from, sizeof(data));
	if (step <= HODO_STEP_NUMBERS) {
		__builtin_memcpy(g->fixed, &data, sizeof(data));
		g->fixed += step;
		return from + step;
	}
	from += sizeof(data);
	if (step & HODO_STEP_TEXT && !(bounded >> (step & ~HODO_STEP_TEXT) & 1)) {
		add_text(g, data, data ? __builtin_strlen(data) : 0);
		return from;
	}
	__builtin_memcpy(&n, from, sizeof(n));
	if (step & HODO_STEP_TEXT)
		add_text(g, data, bounded_length(data, n));
	else
		add_elements(g, data, n, step & ~HODO_STEP_ARRAY);
	return from + sizeof(n);
}

static void gather(struct hodo_state *state, const uint8_t *values, const uintptr_t *frame)
{
	struct hodo_origin from = hodo_site_origin(frame);
	const struct hodo_event *event = state->event;
	uint32_t varying = event->varying;
	struct hodo_piece pieces[2 * varying + 1];
	uint64_t fixed[(event->room - varying * HODO_TEXT_ROOM) / 8 + 2];
	struct gathered g = { pieces, (uint8_t *)fixed, (uint8_t *)fixed, 0 };

	for (const uint8_t *step = event->plan; *step; step++)
		values = add_step(&g, *step, state->values, values);
	end_run(&g);
	hodo_emit_from(state, pieces, (size_t)(g.piece - pieces), g.total, &from);
}

/* Its site names the function that calls them with the values. */
static void call_probes(struct hodo_state *state, const void *values, const uintptr_t *frame)
{
	const struct hodo_probes *list;
	uintptr_t back = frame[1];
	uint32_t token;
	int32_t distance;

	list = hodo_probe_enter(state, &token);
	if (!list)
		return;
	__builtin_memcpy(&distance, (const void *)(back - 9), sizeof(distance));
	hodo_x86_keep((void (*)(long, long, long))(back + (uintptr_t)(intptr_t)distance), (long)list, (long)values, 0);
	hodo_probe_leave(token);
}

#endif

void hodo_gather_init(void)
{
#ifdef __x86_64__
	_Static_assert(offsetof(struct hodo_event, probes) == 8 && offsetof(struct hodo_event, room) == 16 &&
			       offsetof(struct hodo_event, plan) == 20 && offsetof(struct hodo_state, how) == 19 &&
			       offsetof(struct hodo_state, values) == 20, "x86.inc");
	hodo_x86_gather_slow = gather;
	hodo_x86_probes = call_probes;
#endif
}
