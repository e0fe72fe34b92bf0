/* SPDX-License-Identifier: MIT */
/* emit.h - how events come in: from sites by arch/x86_64/site.S, whose frame pointer points to frame, and by calls. */
#ifndef HODO_USER_EMIT_H
#define HODO_USER_EMIT_H

#include "user.h"

/* Where an event happened. */
struct hodo_origin {
	uintptr_t ip, sp, bp;
};
/* Of the site: the frame lies below the red zone of its function. */
static inline struct hodo_origin hodo_site_origin(const uintptr_t *frame)
{
	return (struct hodo_origin){ frame[1], (uintptr_t)(frame + 2) + 128, frame[0] };
}

/* emit.c. Any fields, as hodo_ops.emit_pieces. */
HODO_HIDDEN void hodo_emit_from(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
				struct hodo_origin *from);
HODO_HIDDEN void hodo_site_slow(struct hodo_state *state, const void *data, size_t len);

/* gather.c. hodo_state.how of events whose payload is not the values, but texts or arrays; and of tracepoints. */
#define HODO_HOW_GATHER 1u
#define HODO_HOW_PROBES 2u
/* In the constructor. */
HODO_HIDDEN void hodo_gather_init(void);

/* scan.c. A state is this event's from now on. Under the control lock. */
HODO_SHARED void hodo_state_bind(struct hodo_state *state, struct hodo_event *event, const struct hodo_desc *desc);

/* plan.c. How values become a payload, hodo_event.plan: a byte a step, as writer.S has them, too. */
enum hodo_step {
	HODO_STEP_END = 0,
	HODO_STEP_NUMBERS = 8, /* up to this: as many bytes as they are */
	HODO_STEP_ARRAY = 0x40, /* | bytes of an element: a pointer and a count; bytes, too */
	HODO_STEP_TEXT = 0x80,  /* | field's number: a pointer; and a count, if that bit is set in hodo_state.values */
};
/* The plan, and hodo_event.room: bytes of payload with HODO_TEXT_ROOM for each text or array. */
#define HODO_TEXT_ROOM 16u
HODO_HIDDEN void hodo_plan_make(struct hodo_event *event);

#endif
