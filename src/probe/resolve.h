/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - what a probe's text means in a file: the places, and the fields that each has.
 *
 * A function's entry is meant everywhere: at its own, and where copies of it were inlined. A return is meant at the
 * function's own exits alone.
 */
#ifndef HODO_PROBE_RESOLVE_H
#define HODO_PROBE_RESOLVE_H

#include "value.h"

#define HODO_PROBE_POINTS_MAX 1048576u

struct hodo_probe_point {
	uint64_t address;     /* in the file; of a return the function's entry, whose exits are meant */
	const char *function; /* that holds it, as the symbols show it; "": none does. Of the image */
	uint64_t start;       /* of it; behind the address where no function is known */
	const char *inlined;  /* the function of which a copy begins there; NULL: none was asked for */
	uint64_t copy;        /* … the debug information's entry of it */
	bool entry, result;   /* the function's entry; its exits */
	struct hodo_probe_field *fields;
	uint32_t nfields;
};

struct hodo_probe_points {
	struct hodo_probe_point *list; /* by address */
	uint32_t n;
	uint32_t inlined; /* copies that a return leaves out */
};

/* 0; -EINVAL, and what is wrong in one line in error; -ENOMEM. To be freed in any case. */
int hodo_probe_resolve(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
		       char error[HODO_SPEC_ERROR]);
/* The same with all variables that can be named there, in place of the text's values. */
int hodo_probe_resolve_all(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
			   char error[HODO_SPEC_ERROR]);
/* For hodo_probe_field_make(): the place of a point. */
void hodo_probe_point_scope(const struct hodo_probe_point *p, const struct hodo_probe_image *i, struct hodo_scope *s);
void hodo_probe_points_free(struct hodo_probe_points *p);

#endif
