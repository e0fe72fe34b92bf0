/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kind.h"

const char *hodo_kind_name(unsigned kind)
{
	static const char *const names[] = {
		"?",   "event",	  "mark",   "tracepoint", "span_begin", "span_end", "begin",
		"end", "counter", "labels", "function",
	};

	_Static_assert(sizeof(names) / sizeof(names[0]) == HODO_KIND_FUNCTION + 1, "one for each kind");
	return kind <= HODO_KIND_FUNCTION ? names[kind] : "?";
}
