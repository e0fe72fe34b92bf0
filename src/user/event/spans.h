/* SPDX-License-Identifier: MIT */
/* spans.h - when spans began, for filters and triggers that ask for $duration. In a section, except for
 * prepare. */
#pragma once

#include <user/user.h>

/* What an event begins or ends. */
struct hodo_span {
	uint64_t name; /* the address of the only copy of its name; 0: no $duration wanted */
	bool begins, ends;
	bool scope;      /* of a thread; else the event's first field is the id */
	uint8_t id_type; /* enum hodo_type of the id, HODO_TYPE_NONE: there are no fields */
};

HODO_HIDDEN bool hodo_spans_prepare(void); /* a recording begins; false: no memory */
HODO_HIDDEN void hodo_spans_begin(const struct hodo_span *span, uint32_t tid, const struct hodo_piece *pieces,
				  size_t count, int64_t now_ns);
/* False: its start is not known. */
HODO_HIDDEN bool hodo_spans_end(const struct hodo_span *span, uint32_t tid, const struct hodo_piece *pieces,
				size_t count, int64_t *begin_ns);
