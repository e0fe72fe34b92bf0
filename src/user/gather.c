/* SPDX-License-Identifier: MIT */
/*
 * gather.c - events whose values are not the payload: texts and arrays, which a site hands over as pointers and
 * lengths (hodo/abi.h), and tracepoints, which have probes. Called by arch/x86_64/site.S.
 *
 * Runs where an event happens, in signal handlers too; the vector registers are the program's. What is on the stack is
 * as much as the event's fields need.
 */
#include "emit.h"

#ifdef __x86_64__

/* An event that is being put together: runs of the fixed part, each up to a length, and what that is the length of. */
struct gathered {
	struct hodo_piece *piece;
	uint8_t *fixed; /* the next byte of the fixed part, */
	uint8_t *start; /* and of it the first that is in no piece yet */
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

/* Too long for any packet, so that it is counted. */
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

static inline void add_number(struct gathered *g, const uint8_t *from, unsigned size)
{
	switch (size) {
	case 1:
		*g->fixed = *from;
		break;
	case 2:
		__builtin_memcpy(g->fixed, from, 2);
		break;
	case 4:
		__builtin_memcpy(g->fixed, from, 4);
		break;
	default:
		__builtin_memcpy(g->fixed, from, 8);
	}
	g->fixed += size;
}

static size_t bounded_length(const char *text, size_t n)
{
	const char *nul = text && n ? __builtin_memchr(text, 0, n) : 0;

	return nul ? (size_t)(nul - text) : n;
}

/* Adds a field that has a length; where the next one's value is. */
static inline const uint8_t *add_varying(struct gathered *g, uint8_t type, unsigned size, bool bounded,
					 const uint8_t *from)
{
	const char *data;
	size_t n;

	__builtin_memcpy(&data, from, sizeof(data));
	from += sizeof(data);
	if (type == HODO_TYPE_STR && !bounded) {
		add_text(g, data, data ? __builtin_strlen(data) : 0);
		return from;
	}
	__builtin_memcpy(&n, from, sizeof(n));
	if (type == HODO_TYPE_STR)
		add_text(g, data, bounded_length(data, n));
	else
		add_elements(g, data, n, size);
	return from + sizeof(n);
}

static void gather(struct hodo_state *state, const uint8_t *values, const uintptr_t *frame)
{
	struct hodo_origin from = hodo_site_origin(frame);
	const struct hodo_event *event = state->event;
	struct hodo_piece pieces[2u * event->varying + 1];
	uint64_t fixed[event->nfields];
	struct gathered g = { pieces, (uint8_t *)fixed, (uint8_t *)fixed, 0 };

	for (uint32_t i = 0; i < event->nfields; i++) {
		unsigned size = event->sizes[i];

		if (size & HODO_VARIES) {
			values = add_varying(&g, event->types[i], size & ~HODO_VARIES, state->values >> i & 1, values);
		} else {
			add_number(&g, values, size);
			values += size;
		}
	}
	end_run(&g);
	hodo_emit_from(state, pieces, (size_t)(g.piece - pieces), g.total, &from);
}

/* Its site knows the function that calls them with the values. */
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
	hodo_x86_gather = gather;
	hodo_x86_probes = call_probes;
#endif
}
