/* SPDX-License-Identifier: MIT */
/*
 * value.h - a value of a probe, as a field of an event: its type, and the program that fetches it. The
 * program's final number is the value (for I…, U…, BOOL, CHAR, PTR its lower bytes, for F32 and F64 its
 * bits), or the address of a string or of bytes.
 */
#pragma once

#include "location.h"
#include <base/why.h>
#include <probe/text/spec.h>

struct hodo_probe_field {
	char *name;      /* unique in its probe */
	char *type_name; /* as in the source; "" if not known */
	char *from;      /* in words */
	uint8_t type;    /* enum hodo_type of abi.h: a scalar, HODO_TYPE_STR, HODO_TYPE_BYTES */
	uint8_t missing; /* enum hodo_missing: there is no value, and no program */
	/* For strings and bytes: the most to read, and whether reading may fault. A string may end before. */
	uint32_t most;
	bool may_fault;
	struct hodo_fetch fetch, length; /* length: for HODO_TYPE_BYTES, a signed number; n 0: `most` */
};

/*
 * Resolves a value at a place; result: for HODO_SPEC_RETURN, which only has $retval and registers. 0;
 * -EINVAL, or -ENOENT: no such variable or member, both with the reason in why; -ENOMEM. Free it in any case.
 */
int hodo_probe_field_make(struct hodo_probe_field *f, const struct hodo_scope *s, bool result,
			  const struct hodo_spec_value *v, struct hodo_why *why);
/* A field without a value, with the reason; type: NULL: not known. 0 or -ENOMEM. */
int hodo_probe_field_missing(struct hodo_probe_field *f, const char *name, const struct hodo_ctype *type,
			     enum hodo_missing why);
/* "i32", "str". */
const char *hodo_probe_field_type(const struct hodo_probe_field *f);
void hodo_probe_field_free(struct hodo_probe_field *f);
