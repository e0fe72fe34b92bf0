/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kind.h - the names of events' kinds. */
#pragma once

#include <hodo/abi.h>

/* What an event's name has after that of its statement. */
static inline const char *hodo_kind_suffix(uint8_t kind)
{
	switch (kind) {
	case HODO_KIND_SPAN_BEGIN:
	case HODO_KIND_BEGIN:
		return ".begin";
	case HODO_KIND_SPAN_END:
	case HODO_KIND_END:
		return ".end";
	}
	return "";
}

/* "event", "span_begin" …, as metadata has it; "?" for an unknown kind. */
static inline const char *hodo_kind_name(unsigned kind)
{
	static const char *const names[] = {
		"?",   "event",	  "mark",   "tracepoint", "span_begin", "span_end", "begin",
		"end", "counter", "labels", "function",
	};

	_Static_assert(sizeof(names) / sizeof(names[0]) == HODO_KIND_FUNCTION + 1, "one for each kind");
	return kind <= HODO_KIND_FUNCTION ? names[kind] : "?";
}
