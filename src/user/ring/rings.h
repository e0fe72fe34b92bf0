/* SPDX-License-Identifier: MIT */
/*
 * rings.h - views of the rings, the fallback ring, the clock, and memory that lasts as long as a recording.
 */
#pragma once

#include <time.h>
#include <user/user.h>

/* clock.c */
HODO_HIDDEN void hodo_clock_init(void);
HODO_HIDDEN int64_t hodo_clock_ns(clockid_t id);
HODO_HIDDEN uint64_t hodo_clock_read(uint32_t clock); /* ticks of enum hodo_clock, ordered after older loads */
HODO_SHARED uint64_t hodo_clock_now(void); /* ticks of the recording's clock, ordered after older loads */
HODO_SHARED uint64_t hodo_ticks_now(void); /* of the recording's clock, or the TSC if there is none; in no order */
extern HODO_SHARED uint64_t hodo_ticks_per_s; /* as the recorder says; 0: it does not */

/* view.c; with signals blocked. */
HODO_HIDDEN bool hodo_view_setup(uint32_t ring); /* makes it usable; false: not now */
/* Touches the pages of packets up to one ahead of seq, once per ring. */
HODO_HIDDEN void hodo_view_populate_ahead(struct hodo_view *v, uint64_t seq);
HODO_HIDDEN bool hodo_view_too_old(const struct hodo_view *v, uint64_t word); /* the open packet is */

/* fallback.c */
HODO_HIDDEN int hodo_fallback_prepare(void); /* a recording begins; 0 or -ENOMEM */
/* Writes the event to the fallback ring, or counts it as lost. In a section; the pieces fit in a packet. */
HODO_HIDDEN void hodo_fallback_write(struct hodo_state *state, const struct hodo_piece *pieces, size_t count);

/* pool.c; under the control lock */
HODO_HIDDEN void hodo_pool_reset(void); /* a recording begins */
HODO_HIDDEN void *hodo_pool_take(uint64_t size); /* NULL: no memory */
HODO_HIDDEN void *hodo_pool_copy(const void *from, size_t size);
