/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * labels.h - the labels in an event's descriptor (HODO_DESC_LABELLED), "0:RED=0,GREEN=1;3:OFF=0,ON=1;", and which
 * labels an event has.
 */
#ifndef HODO_CORE_LABELS_H
#define HODO_CORE_LABELS_H

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
 * Takes the next field's place off the text, or its next label. False at the end, of the field or of all, and at what
 * is damaged; after the last label of a field the next one's place can be taken. The text may be anything.
 */
bool hodo_labels_field(const char **text, unsigned *field);
bool hodo_labels_next(const char **text, struct hodo_label *label);

enum hodo_labels_of { HODO_LABELS_OF_OTHERS, HODO_LABELS_OF_PROVIDER, HODO_LABELS_OF_EVENT };
/* Whether labels that are a provider's or an event's are of the event of that full name; the greater comes first. */
enum hodo_labels_of hodo_labels_of(const char *owner, const char *event);

#endif
