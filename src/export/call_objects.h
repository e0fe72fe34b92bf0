/* SPDX-License-Identifier: MIT */
/* call_objects.h - where the functions of a call tree lie: each object file once, whatever processes mapped it. */
#ifndef HODO_EXPORT_CALL_OBJECTS_H
#define HODO_EXPORT_CALL_OBJECTS_H

#include "call_tree.h"
#include <base/intern.h>

struct hodo_call_objects {
	struct hodo_strings paths;
	const struct hodo_read_object **objects; /* as they were mapped where they were seen first */
	uint32_t n;
};

#define HODO_CALL_BUILD_ID_TEXT (2 * sizeof(((struct hodo_read_object *)0)->build_id) + 1)

/* The number of the object that a function is in, from 0 on as they come, and the function's address in its file; NONE:
 * it is in none that is known. */
uint32_t hodo_call_objects_of(struct hodo_call_objects *o, const struct hodo_call_frame *f, uint64_t *offset);
/* The build-id in hexadecimal digits; "": none. */
void hodo_call_objects_id(const struct hodo_read_object *object, char text[HODO_CALL_BUILD_ID_TEXT]);
void hodo_call_objects_free(struct hodo_call_objects *o);

#endif
