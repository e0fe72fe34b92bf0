/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * labels.h - the labels in an event's descriptor (HODO_DESC_LABELLED), "0:RED=0,GREEN=1;3:OFF=0,ON=1;", and which
 * labels an event has.
 */
#pragma once

#include <hodo/abi.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

struct hodo_label {
	const char *name; /* not NUL-terminated */
	size_t len;       /* > 0 */
	int64_t value;
};

/*
 * Takes the next field's index, or its next label, off the text. False at the end, of the field or of the
 * text, and where the text is damaged; after a field's last label, the next field's index can be taken. The
 * text may be anything.
 */
bool hodo_labels_field(const char **text, unsigned *field);
bool hodo_labels_next(const char **text, struct hodo_label *label);

enum hodo_labels_of { HODO_LABELS_OF_OTHERS, HODO_LABELS_OF_PROVIDER, HODO_LABELS_OF_EVENT };
/*
 * Whether the labels of owner, a provider or an event, belong to the event with that full name; the greater
 * result takes precedence.
 */
enum hodo_labels_of hodo_labels_of(const char *owner, const char *event);
