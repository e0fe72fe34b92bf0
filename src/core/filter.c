/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter.c - the filter program before it runs: verification, and binding to an event.
 *
 * After verification the machine (filter_run.c) needs no check of its own on
 * operands, skips and stack; all that a program from the socket could do wrong
 * is refused here.
 */
#include "filter.h"
#include "fields.h"
#include "filter_impl.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

/* What an instruction takes from the stack and leaves on it. */
struct effect {
	uint8_t operand; /* bytes behind the opcode; a text's own bytes come on top */
	uint8_t pops;
	uint8_t pushes; /* 0: no such instruction */
};

static struct effect effect_of(uint8_t op)
{
	switch (op) {
	case HODO_FILTER_I8:
	case HODO_FILTER_FIELD:
	case HODO_FILTER_HAS:
		return (struct effect){ 1, 0, 1 };
	case HODO_FILTER_I64:
	case HODO_FILTER_U64:
		return (struct effect){ 8, 0, 1 };
	case HODO_FILTER_F64:
		return (struct effect){ 8, 0, HODO_FILTER_FLOAT };
	case HODO_FILTER_TEXT:
		return (struct effect){ 2, 0, 1 };
	case HODO_FILTER_NOT ... HODO_FILTER_NEG:
		return (struct effect){ 0, 1, 1 };
	case HODO_FILTER_MUL ... HODO_FILTER_OR:
	case HODO_FILTER_LT ... HODO_FILTER_LOR:
		return (struct effect){ 0, 2, 1 };
	case HODO_FILTER_SELECT:
		return (struct effect){ 0, 3, 1 };
	case HODO_FILTER_LAND_SKIP:
	case HODO_FILTER_LOR_SKIP:
		return (struct effect){ 2, 1, 1 };
	}
	return (struct effect){ 0, 0, 0 };
}

/*
 * Bytes of the instruction at pos, or 0 if it is unknown or not whole. names
 * is how many the program has.
 */
static size_t instruction_len(const uint8_t *code, size_t len, size_t pos, unsigned int names)
{
	uint8_t op = code[pos];
	struct effect e = effect_of(op);
	size_t bytes = 1 + (size_t)e.operand;

	if (!e.pushes || len - pos < bytes)
		return 0;
	if ((op == HODO_FILTER_FIELD || op == HODO_FILTER_HAS) && code[pos + 1] >= names)
		return 0;
	if (op == HODO_FILTER_TEXT) {
		bytes += hodo_filter_u16(code + pos + 1);
		if (len - pos < bytes)
			return 0;
	}
	return bytes;
}

/* Where the instructions begin, or 0 if header or names are not as they must be. */
static size_t header_len(const uint8_t *code, size_t len)
{
	size_t pos = HODO_FILTER_HEADER;
	unsigned int n;

	if (len < HODO_FILTER_HEADER || len > HODO_FILTER_MAX || code[0] != 'H' || code[1] != 'F' ||
	    code[2] != HODO_FILTER_VERSION || code[3] > HODO_FILTER_NAMES_MAX)
		return 0;
	for (n = code[3]; n > 0; n--) {
		if (pos == len || code[pos] == 0 || len - pos - 1 < code[pos])
			return 0;
		pos += 1 + (size_t)code[pos];
	}
	return pos;
}

/* Skips that have not yet landed, innermost last. */
struct landings {
	unsigned int n;
	struct {
		size_t pos;
		unsigned int depth;
	} at[HODO_FILTER_STACK_MAX];
};

/*
 * Note a skip whose end is pos. One inside another must end no later; that it
 * does is seen when the inner one lands and the outer one should have before.
 */
static int landings_add(struct landings *l, size_t pos, size_t len, unsigned int depth)
{
	if (pos > len || l->n == HODO_FILTER_STACK_MAX)
		return -EINVAL;
	l->at[l->n].pos = pos;
	l->at[l->n].depth = depth;
	l->n++;
	return 0;
}

/* At the instruction at pos: every skip that should have landed by now lands here, and is as deep. */
static int landings_check(struct landings *l, size_t pos, unsigned int depth)
{
	while (l->n && l->at[l->n - 1].pos <= pos) {
		l->n--;
		if (l->at[l->n].pos != pos || l->at[l->n].depth != depth)
			return -EINVAL;
	}
	return 0;
}

int hodo_filter_verify(const uint8_t *code, size_t len)
{
	struct landings skips = { .n = 0 };
	unsigned int depth = 0;
	size_t pos = header_len(code, len);

	if (pos == 0)
		return -EINVAL;
	while (pos < len) {
		size_t bytes = instruction_len(code, len, pos, code[3]);
		struct effect e = effect_of(code[pos]);

		if (bytes == 0 || landings_check(&skips, pos, depth) || depth < e.pops)
			return -EINVAL;
		depth += e.pushes - e.pops;
		if (depth > HODO_FILTER_STACK_MAX)
			return -EINVAL;
		if ((code[pos] == HODO_FILTER_LAND_SKIP || code[pos] == HODO_FILTER_LOR_SKIP) &&
		    landings_add(&skips, pos + bytes + hodo_filter_u16(code + pos + 1), len, depth))
			return -EINVAL;
		pos += bytes;
	}
	if (landings_check(&skips, pos, depth) || depth != 1)
		return -EINVAL;
	return 0;
}

/* ------------------------------------------------------------------ binding */

/* The number of the program's name that equals this NUL-terminated one, or -1. */
static int find_name(const uint8_t *code, const char *name)
{
	size_t pos = HODO_FILTER_HEADER, len = 0;
	int n;

	while (len <= HODO_NAME_MAX && name[len] != '\0')
		len++;
	for (n = 0; n < code[3]; n++) {
		if (code[pos] == len && __builtin_memcmp(code + pos + 1, name, len) == 0)
			return n;
		pos += 1 + (size_t)code[pos];
	}
	return -1;
}

/* Whether running the program on this event may touch floating point. */
static bool uses_float(const struct hodo_filter *f, unsigned int names)
{
	size_t pos = 0;
	unsigned int n;

	for (n = 0; n < names; n++)
		if (f->fields[n].type == HODO_TYPE_F32 || f->fields[n].type == HODO_TYPE_F64)
			return true;
	while (pos < f->len) {
		if (f->code[pos] == HODO_FILTER_F64)
			return true;
		pos += instruction_len(f->code, f->len, pos, names);
	}
	return false;
}

int hodo_filter_bind(struct hodo_filter *out, const uint8_t *code, size_t len, unsigned int nfields,
		     const uint8_t *types, const char *const *names)
{
	uint8_t piece = 0; /* of the run of fixed bytes that we are in */
	uint8_t offset = 0; /* 16 fields of 8 bytes at most */
	size_t start;
	unsigned int i;

	if (nfields > HODO_FIELDS_MAX || hodo_filter_verify(code, len))
		return -EINVAL;
	__builtin_memset(out, 0, sizeof(*out));
	start = header_len(code, len);
	out->code = code + start;
	out->len = (uint16_t)(len - start);
	for (i = 0; i < nfields; i++) {
		bool variable = hodo_fields_element_size(types[i]) != 0;
		unsigned int size = hodo_fields_fixed_size(types[i]);
		int n = find_name(code, names[i]);

		if (size == 0)
			return -EINVAL;
		if (n >= 0 && out->fields[n].type == HODO_TYPE_NONE) {
			out->fields[n].type = types[i];
			out->fields[n].piece = (uint8_t)(variable ? piece + 1 : piece);
			out->fields[n].offset = offset;
			out->fields[n].end = (uint8_t)(offset + size);
		}
		if (variable) {
			piece = (uint8_t)(piece + 2);
			offset = 0;
		} else {
			offset = (uint8_t)(offset + size);
		}
	}
	if (uses_float(out, code[3]))
		out->flags |= HODO_FILTER_USES_FLOAT;
	return 0;
}
