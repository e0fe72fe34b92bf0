/* SPDX-License-Identifier: MIT */
/* call_objects.c - see call_objects.h. */
#define _GNU_SOURCE
#include "call_objects.h"

#include <stdlib.h>
#include <string.h>

#include <base/search.h>

#define STEPS 64u /* objects looked at for one address, where many had it */

static const struct hodo_read_object *find(const struct hodo_read_process *p, uint64_t address, const char *path)
{
	uint32_t behind = hodo_search(i, p->nobjects, p->objects[i].start > address);

	for (uint32_t i = behind; i-- > 0 && behind - i <= STEPS;)
		if (address < p->objects[i].end && strcmp(p->objects[i].path, path) == 0)
			return &p->objects[i];
	return NULL;
}

uint32_t hodo_call_objects_of(struct hodo_call_objects *o, const struct hodo_call_frame *f, uint64_t *offset)
{
	const struct hodo_read_object *object;
	uint32_t i;

	*offset = 0;
	if (f->kind != HODO_CALL_FUNCTION || !f->process || !f->object[0])
		return HODO_CALL_NONE;
	object = find(f->process, f->start, f->object);
	i = object ? hodo_strings_add(&o->paths, f->object) : HODO_STRINGS_NONE;
	if (i == HODO_STRINGS_NONE)
		return HODO_CALL_NONE;
	if (i == o->n) {
		const struct hodo_read_object **more = reallocarray(o->objects, i + 1, sizeof(*more));

		if (!more)
			return HODO_CALL_NONE;
		o->objects = more;
		o->objects[o->n++] = object;
	}
	*offset = f->start - object->base;
	return i < o->n ? i : HODO_CALL_NONE;
}

void hodo_call_objects_id(const struct hodo_read_object *object, char text[HODO_CALL_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	uint32_t len = object->build_id_len < sizeof(object->build_id) ? object->build_id_len
								       : (uint32_t)sizeof(object->build_id);

	for (uint32_t i = 0; i < len; i++) {
		text[2 * i] = digits[object->build_id[i] >> 4];
		text[2 * i + 1] = digits[object->build_id[i] & 15];
	}
	text[2 * len] = 0;
}

void hodo_call_objects_free(struct hodo_call_objects *o)
{
	hodo_strings_free(&o->paths);
	free(o->objects);
	o->objects = NULL;
	o->n = 0;
}
