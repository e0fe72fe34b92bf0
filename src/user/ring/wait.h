/* SPDX-License-Identifier: MIT */
/* wait.h - the interface of wait.c. */
#pragma once

#include <user/user.h>

/* Of one event, all zero at first. */
struct hodo_wait {
	uint64_t begun_ns;
	uint32_t *space; /* of the ring; NULL: hodo_wait_sleep() is a short pause */
	uint32_t seen;   /* in it */
};

HODO_HIDDEN void hodo_wait_begin(void); /* a recording begins */
HODO_HIDDEN void hodo_wait_never(uint32_t tid); /* the listener's: others wait for it */

/*
 * With signals blocked, in a recording, when the ring is full (or, without a ring, something else is in use).
 * False: the event is lost. True: call hodo_wait_sleep() if the ring is still full, with the program's signal
 * mask, and try again.
 */
HODO_HIDDEN bool hodo_wait_prepare(struct hodo_wait *wait, struct hodo_ring *ring);
HODO_HIDDEN void hodo_wait_sleep(struct hodo_wait *wait);
