/* SPDX-License-Identifier: MIT */
/* steps.h - how values become a payload (hodo_event.plan): a byte for each step. writer.S knows them, too. */
#pragma once

#include "event.h"

enum hodo_step {
	HODO_STEP_END = 0,
	HODO_STEP_NUMBERS = 8, /* up to this: that many bytes of numbers */
	HODO_STEP_ARRAY = 0x40, /* | size of an element: a pointer and a count; also for bytes */
	HODO_STEP_TEXT = 0x80,  /* | field's number: a pointer; and a count, if that bit is set in hodo_state.values */
};
/* Makes the steps, and hodo_event.room: bytes of payload with HODO_TEXT_ROOM for each text or array. */
#define HODO_TEXT_ROOM 16u
HODO_HIDDEN void hodo_steps_make(struct hodo_event *event);
