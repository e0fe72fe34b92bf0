/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_bind.c - binding a filter program to the events of one kind: names become places in the event. */
#include "fields.h"
#include "filter.h"
#include "filter_impl.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#define NO_FIELD 255u

const char *const hodo_filter_var_names[HODO_FILTER_VARS] = {
	"$tid", "$pid", "$cpu", "$comm", "$duration", "$off_cpu"
};
const struct hodo_filter hodo_filter_none = { .first = HODO_TEST_REJECT };

/* Length of a NUL-terminated name; HODO_NAME_MAX + 1 if it is longer. Without a bound, the compiler would
 * call strlen. */
static size_t name_len(const char *name)
{
	size_t len = 0;

	while (len <= HODO_NAME_MAX && name[len] != '\0')
		len++;
	return len;
}

/* The number of the program's name that equals this NUL-terminated one, or -1. */
static int find_name(const uint8_t *code, const char *name)
{
	size_t pos = HODO_FILTER_HEADER, len = name_len(name);
	int n;

	for (n = 0; n < code[3]; n++) {
		if (code[pos] == len && __builtin_memcmp(code + pos + 1, name, len) == 0)
			return n;
		pos += 1 + (size_t)code[pos];
	}
	return -1;
}

bool hodo_filter_names_var(const uint8_t *code, enum hodo_filter_var var)
{
	return find_name(code, hodo_filter_var_names[var]) >= 0;
}

/* Where each name's field is in the event; field_of: its number. */
static int bind_names(struct hodo_filter *out, const uint8_t *code, unsigned int nfields, const uint8_t *types,
		      const char *const *names, uint8_t *field_of)
{
	uint8_t piece = 0; /* the current run of fixed bytes */
	uint8_t offset = 0; /* no overflow: at most 32 fields of 8 bytes, and nothing begins after the last */
	uint32_t met = 0;   /* names whose field was found, even if it counts as absent */
	unsigned int i;

	for (i = 0; i < nfields; i++) {
		bool variable = hodo_fields_element_size(types[i]) != 0;
		unsigned int size = hodo_fields_fixed_size(types[i]);
		int n = find_name(code, names[i]);

		if (size == 0)
			return -EINVAL;
		if (n >= 0 && !(met >> n & 1) &&
		    (HODO_FILTER_FLOAT || (types[i] != HODO_TYPE_F32 && types[i] != HODO_TYPE_F64))) {
			out->fields[n].type = types[i];
			out->fields[n].piece = (uint8_t)(variable ? piece + 1 : piece);
			out->fields[n].offset = offset;
			out->fields[n].last = (uint8_t)(offset + size - 1);
		}
		if (n >= 0 && !(met >> n & 1))
			field_of[n] = (uint8_t)i;
		if (n >= 0)
			met |= 1u << n;
		if (variable) {
			piece = (uint8_t)(piece + 2);
			offset = 0;
		} else {
			offset = (uint8_t)(offset + size);
		}
	}
	for (i = 0; i < HODO_FILTER_VARS; i++) {
		int n = find_name(code, hodo_filter_var_names[i]);

		if (n >= 0)
			out->fields[n] = (struct hodo_filter_field){ HODO_FILTER_TYPE_VAR, (uint8_t)i, 0, 0 };
	}
	return 0;
}

/* The program's n-th name. */
static const uint8_t *name_at(const uint8_t *code, unsigned int n)
{
	const uint8_t *p = code + HODO_FILTER_HEADER;

	while (n--)
		p += 1 + (size_t)*p;
	return p;
}

/* Finds which of the program's labels this event has. */
static void bind_labels(struct hodo_filter *out, const uint8_t *code, const uint8_t *types, const uint8_t *field_of,
			const struct hodo_filter_labels *labels)
{
	const uint8_t *p = out->code, *end = p + out->len;

	for (; p < end; p += 1 + hodo_filter_operand(*p, p + 1)) {
		const uint8_t *label;
		unsigned int of;
		size_t len;

		if (*p != HODO_FILTER_LABEL && *p != HODO_FILTER_LABEL_TEXT)
			continue;
		of = field_of[p[2]];
		if (*p == HODO_FILTER_LABEL) {
			label = name_at(code, p[3]) + 1;
			len = label[-1];
		} else {
			label = p + 5;
			len = hodo_filter_u16(p + 3);
		}
		if (of != NO_FIELD && hodo_fields_is_integer(types[of]) &&
		    labels->find(labels, of, (const char *)label, len, &out->label[p[1]]))
			out->label_set |= 1u << p[1];
	}
}

int hodo_filter_bind(struct hodo_filter *out, const uint8_t *code, size_t len, unsigned int nfields,
		     const uint8_t *types, const char *const *names, const struct hodo_filter_labels *labels)
{
	uint8_t field_of[HODO_FILTER_NAMES_MAX];
	size_t start;
	unsigned int i;

	if (nfields > HODO_FIELDS_MAX || hodo_filter_verify(code, len))
		return -EINVAL;
	__builtin_memset(out, 0, sizeof(*out));
	start = hodo_filter_header_len(code, len);
	out->code = code + start;
	out->len = (uint16_t)(len - start);
	__builtin_memset(field_of, NO_FIELD, sizeof(field_of));
	if (bind_names(out, code, nfields, types, names, field_of))
		return -EINVAL;
	if (labels)
		bind_labels(out, code, types, field_of, labels);
	for (i = 0; i < code[3]; i++) {
		uint8_t type = out->fields[i].type & (uint8_t)~HODO_TYPE_ARRAY;

		if (type == HODO_TYPE_F32 || type == HODO_TYPE_F64)
			out->flags |= HODO_FILTER_USES_FLOAT;
	}
	hodo_filter_make_steps(out);
	return 0;
}

size_t hodo_filter_size(const struct hodo_filter *f)
{
	return __builtin_offsetof(struct hodo_filter, test) + f->tests * sizeof(f->test[0]);
}

bool hodo_filter_always(const struct hodo_filter *f)
{
	return f->first == HODO_TEST_ACCEPT;
}

bool hodo_filter_never(const struct hodo_filter *f)
{
	return f->first == HODO_TEST_REJECT;
}
