/* SPDX-License-Identifier: MIT */
/*
 * value.h - a value of a probe, as a field of an event: its type, and the program that fetches it. By whoever runs the
 * programs: the number that `fetch` ends with is the value (of I…, U…, BOOL, CHAR, PTR its lower bytes, of F32 and F64
 * its bits), or the address of a string or of bytes.
 */
#ifndef HODO_PROBE_VALUE_H
#define HODO_PROBE_VALUE_H

#include "location.h"
#include "spec.h"

struct hodo_probe_field {
	char *name;      /* unique in its probe */
	char *type_name; /* as the source has it; "" if it is not known */
	char *from;      /* in words */
	uint8_t type;    /* enum hodo_type of abi.h: a scalar, HODO_TYPE_STR, HODO_TYPE_BYTES */
	uint8_t missing; /* enum hodo_missing: there is no value, and no program */
	/* Of strings and bytes: how many are read at most, and whether reading them may fault. A string ends before. */
	uint32_t most;
	bool may_fault;
	struct hodo_fetch fetch, length; /* length: of HODO_TYPE_BYTES, as a signed number; n 0: it is `most` */
};

/*
 * What a value is there; result: of HODO_SPEC_RETURN, where $retval and registers are alone. 0; -EINVAL, and what is
 * wrong in error; -ENOENT: the same, there is no such variable or member; -ENOMEM. It is to be freed in any case.
 */
int hodo_probe_field_make(struct hodo_probe_field *f, const struct hodo_scope *s, bool result,
			  const struct hodo_spec_value *v, char error[HODO_SPEC_ERROR]);
/* One that has no value, and says why; type: NULL: none is known. 0 or -ENOMEM. */
int hodo_probe_field_missing(struct hodo_probe_field *f, const char *name, const struct hodo_ctype *type,
			     enum hodo_missing why);
/* "i32", "str". */
const char *hodo_probe_field_type(const struct hodo_probe_field *f);
void hodo_probe_field_free(struct hodo_probe_field *f);

#endif
