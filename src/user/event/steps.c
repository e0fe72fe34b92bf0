/* SPDX-License-Identifier: MIT */
/* steps.c - how the values that a site passes become an event's payload; made once for each event. */
#include <core/fields.h>
#include "steps.h"

void hodo_steps_make(struct hodo_event *event)
{
	uint8_t *step = event->plan;
	unsigned numbers = 0;

	for (unsigned i = 0; i < event->nfields; i++) {
		unsigned element = hodo_fields_element_size(event->types[i]);
		unsigned size = hodo_fields_fixed_size(event->types[i]);

		event->room = (uint16_t)(event->room + size + (element ? HODO_TEXT_ROOM : 0));
		if (numbers && (element || numbers + size > HODO_STEP_NUMBERS)) {
			*step++ = (uint8_t)numbers;
			numbers = 0;
		}
		if (event->types[i] == HODO_TYPE_STR)
			*step++ = (uint8_t)(HODO_STEP_TEXT | i);
		else if (element)
			*step++ = (uint8_t)(HODO_STEP_ARRAY | element);
		else
			numbers += size;
		event->varying += element != 0;
	}
	*step++ = (uint8_t)numbers;
	*step = HODO_STEP_END;
}
