/* SPDX-License-Identifier: MIT */
/* piece.h - the result of an expression in a probe's text: a variable, a part of one, or the address of
 * either. */
#pragma once

#include "location.h"
#include <base/why.h>
#include <probe/text/spec.h>

struct hodo_part {
	const struct hodo_scope *scope;
	struct hodo_where where;
	uint64_t offset;       /* in it */
	struct hodo_ctype type; /* tag_known 0: not known; then it has `bytes` */
	unsigned bytes;
	uint8_t bit_at, bits;  /* of a bit field */
	uint8_t missing;
	bool address;          /* the value is the address of something of this type */
	bool is_float;         /* without a type: of a vector register */
	struct hodo_why *why;
};

/* *o must be all zero except for scope and why. 0; -EINVAL, -ENOENT as in hodo_probe_field_make(). */
int hodo_part_find(struct hodo_part *o, bool result, const struct hodo_spec_expr *e, const char *text);
/* The program for its value, of that many bytes, or for its address. False: none, see o->missing. */
bool hodo_part_scalar(struct hodo_part *o, uint64_t bytes, bool is_signed, struct hodo_fetch *f);
bool hodo_part_address(struct hodo_part *o, struct hodo_fetch *f);

void hodo_part_lose(struct hodo_part *o, enum hodo_missing why); /* the first reason counts */
