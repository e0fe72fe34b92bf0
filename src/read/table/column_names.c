/* SPDX-License-Identifier: MIT */
/* column_names.c - see column_names.h. */
#include "column_names.h"

#include <base/escape.h>
#include <string.h>

#define NAME_MAX_BYTES 255u /* more is cut off */

void hodo_column_text(struct hodo_text *t, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	char *o = hodo_text_room(t, 2 * len + 1);

	if (o)
		t->len += (size_t)(hodo_escape_utf8(o, name, len, 0) - o);
}

const char *hodo_column_name(struct hodo_text *t, const char *prefix, const struct hodo_read_field *field, bool label,
			     unsigned again)
{
	uint32_t type = label ? HODO_TYPE_STR : field->type;

	t->len = 0;
	hodo_text_add(t, prefix);
	hodo_column_text(t, field->name);
	hodo_text_add(t, label ? "_label" : "");
	if (again == 2)
		hodo_text_printf(t, "_%s%s", hodo_read_type_name(type & ~(uint32_t)HODO_TYPE_ARRAY),
				 type & HODO_TYPE_ARRAY ? "s" : "");
	else if (again > 2)
		hodo_text_printf(t, "_%u", again - 1);
	return hodo_text_string(t);
}
