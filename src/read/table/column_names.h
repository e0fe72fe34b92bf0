/* SPDX-License-Identifier: MIT */
/* column_names.h - what the columns of fields are called, in all tables (docs/design/tables.md). */
#ifndef HODO_READ_TABLE_COLUMN_NAMES_H
#define HODO_READ_TABLE_COLUMN_NAMES_H

#include <base/text.h>
#include <hodo/read.h>

/*
 * The again-th name that a field's column can have, from 1 on, if others have those before: NAME, NAME_TYPE, NAME_2, …
 * behind a prefix, or of its labels NAME_label, NAME_label_str, NAME_label_2, … As UTF-8, and not too long. In t, whose
 * error is set without memory.
 */
const char *hodo_column_name(struct hodo_text *t, const char *prefix, const struct hodo_read_field *field, bool label,
			     unsigned again);
/* Appends a name that a program gave, in that form. */
void hodo_column_text(struct hodo_text *t, const char *name);

/* The i-th field of a class: those of the context, then its own. */
static inline const struct hodo_read_field *hodo_class_field(const struct hodo_read_class *cls, uint32_t i)
{
	return i < cls->ncontext ? &cls->context[i] : &cls->fields[i - cls->ncontext];
}

#endif
