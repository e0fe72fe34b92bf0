/* SPDX-License-Identifier: MIT */
/* emit.h - how events come in: from sites through arch/x86_64/site.S, whose frame pointer points to frame,
 * and through calls. */
#pragma once

#include "event.h"

/* Where an event happened. */
struct hodo_origin {
	uintptr_t ip, sp, bp;
};
/* The site's: its frame lies below the red zone of its function. */
static inline struct hodo_origin hodo_site_origin(const uintptr_t *frame)
{
	return (struct hodo_origin){ frame[1], (uintptr_t)(frame + 2) + 128, frame[0] };
}

/* Any fields, as in hodo_ops.emit_pieces. */
HODO_HIDDEN void hodo_emit_from(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
				struct hodo_origin *from);
HODO_HIDDEN void hodo_site_slow(struct hodo_state *state, const void *data, size_t len);
