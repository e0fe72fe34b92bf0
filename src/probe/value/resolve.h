/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - the meaning of a probe's text in a file: the places, and the fields of each.
 *
 * A function's entry includes inlined copies. A return only includes the function's own exits.
 */
#pragma once

#include <base/why.h>

#include "value.h"

#define HODO_PROBE_POINTS_MAX 1048576u

struct hodo_probe_point {
	uint64_t address;     /* in the file; for a return, the entry of the function whose exits it is at */
	const char *function; /* the function that contains it, as symbols show it; "": none. Owned by the image */
	uint64_t start;       /* of the function; past the address if none is known */
	const char *inlined;  /* the function whose requested copy begins there; else NULL */
	uint64_t copy;        /* the debug information's entry of that copy */
	bool entry, result;   /* the function's entry; its exits */
	struct hodo_probe_field *fields;
	uint32_t nfields;
};

struct hodo_probe_points {
	struct hodo_probe_point *list; /* by address */
	uint32_t n;
	uint32_t inlined; /* copies that a return leaves out */
};

/* 0; -EINVAL, with a line in why; -ENOMEM. Free it in any case. */
int hodo_probe_resolve(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
		       struct hodo_why *why);
/* hodo_probe_resolve() with all variables available at each place, instead of the text's values. */
int hodo_probe_resolve_all(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
			   struct hodo_why *why);
void hodo_probe_points_free(struct hodo_probe_points *p);
