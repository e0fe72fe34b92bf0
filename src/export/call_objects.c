/* SPDX-License-Identifier: MIT */
/* call_objects.c - see call_objects.h. */
#define _GNU_SOURCE
#include "call_objects.h"

#include <base/escape.h>
#include <base/vec.h>
#include <stdlib.h>

uint32_t hodo_call_objects_of(struct hodo_call_objects *o, const struct hodo_call_frame *f, uint64_t *offset)
{
	uint32_t i = f->mapped ? hodo_strings_add(&o->paths, f->object) : HODO_STRINGS_NONE;

	*offset = 0;
	if (i == HODO_STRINGS_NONE || (i == o->n && hodo_vec_push(o->objects, o->n, f->mapped) < 0))
		return HODO_CALL_NONE;
	*offset = f->start - f->mapped->base;
	return i < o->n ? i : HODO_CALL_NONE;
}

void hodo_call_objects_id(const struct hodo_read_object *object, char text[HODO_CALL_BUILD_ID_TEXT])
{
	uint32_t len = object->build_id_len < sizeof(object->build_id) ? object->build_id_len
								       : (uint32_t)sizeof(object->build_id);

	*hodo_format_bytes(text, object->build_id, len) = 0;
}

void hodo_call_objects_free(struct hodo_call_objects *o)
{
	hodo_strings_free(&o->paths);
	free(o->objects);
	o->objects = NULL;
	o->n = 0;
}
