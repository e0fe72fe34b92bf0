/* SPDX-License-Identifier: MIT */
/* pattern.c - see pattern.h. */
#include "pattern.h"

void hodo_pattern_see_fields(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first)
{
	/* A name compared with a field may be one of its labels. */
	for (uint32_t i = 0; i < c->labels_count && list->n; i++)
		for (uint32_t k = 0; k < c->labels[i]->n; k++)
			hodo_pattern_see_field(list, c->labels[i]->label[k]);
	for (uint32_t i = first; i < c->events && list->n; i++)
		for (uint8_t k = 0; k < c->event[i]->nfields && c->event[i]->kind != HODO_KIND_FUNCTION; k++)
			hodo_pattern_see_field(list, c->event[i]->field[k]);
}

void hodo_pattern_see(struct hodo_pattern_list *list, const struct hodo_catalog *c, uint32_t first)
{
	for (uint32_t i = first; i < c->events && list->n; i++)
		if (c->event[i]->kind != HODO_KIND_FUNCTION) /* patterns of events do not name these */
			hodo_pattern_see_event(list, c->event[i]->name);
}
