/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter.c - verifies a filter program before it runs.
 *
 * Afterwards, the machine (filter_run.c) does not check operands, skips and stack: whatever a program from
 * the socket could do wrong is refused here.
 */
#include "filter.h"
#include "filter_impl.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

const struct hodo_filter_effect hodo_filter_effects[256] = {
	[HODO_FILTER_I8] = { 1, 0, 1 },
	[HODO_FILTER_I64] = { 8, 0, 1 },
	[HODO_FILTER_U64] = { 8, 0, 1 },
	[HODO_FILTER_F64] = { 8, 0, HODO_FILTER_FLOAT },
	[HODO_FILTER_TEXT] = { 2, 0, 1 },
	[HODO_FILTER_FIELD] = { 1, 0, 1 },
	[HODO_FILTER_HAS] = { 1, 0, 1 },
	[HODO_FILTER_LABEL] = { 3, 0, 1 },
	[HODO_FILTER_LABEL_TEXT] = { 4, 0, 1 },
	[HODO_FILTER_LEN] = { 1, 0, 1 },
	[HODO_FILTER_NOT ... HODO_FILTER_NEG] = { 0, 1, 1 },
	[HODO_FILTER_ELEMENT] = { 1, 1, 1 },
	[HODO_FILTER_MUL ... HODO_FILTER_OR] = { 0, 2, 1 },
	[HODO_FILTER_LT ... HODO_FILTER_LOR] = { 0, 2, 1 },
	[HODO_FILTER_SELECT] = { 0, 3, 1 },
	[HODO_FILTER_LAND_SKIP ... HODO_FILTER_LOR_SKIP] = { 2, 1, 1 },
};

/*
 * Bytes of the instruction at pos, or 0 if it is unknown or incomplete. names: how many the program has.
 */
static size_t instruction_len(const uint8_t *code, size_t len, size_t pos, unsigned int names)
{
	const uint8_t *operand = code + pos + 1;
	uint8_t op = code[pos];
	size_t bytes;

	if (!hodo_filter_effects[op].pushes || len - pos < 1u + hodo_filter_effects[op].operand)
		return 0;
	switch (op) {
	case HODO_FILTER_FIELD:
	case HODO_FILTER_HAS:
	case HODO_FILTER_LEN:
	case HODO_FILTER_ELEMENT:
		if (operand[0] >= names)
			return 0;
		break;
	case HODO_FILTER_LABEL:
	case HODO_FILTER_LABEL_TEXT:
		if (operand[0] >= HODO_FILTER_LABELS_MAX || operand[1] >= names ||
		    (op == HODO_FILTER_LABEL && operand[2] >= names))
			return 0;
		break;
	}
	bytes = 1 + hodo_filter_operand(op, operand);
	return len - pos < bytes ? 0 : bytes;
}

/* Where the instructions begin, or 0 if header or names are not valid. */
size_t hodo_filter_header_len(const uint8_t *code, size_t len)
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
 * Note a skip whose end is pos. A skip inside another must end no later; if it does, the check fails when the
 * inner one lands after the outer one should have.
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

/*
 * At the instruction at pos: every skip that should have landed by now must land here, at the same stack
 * depth.
 */
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
	size_t pos = hodo_filter_header_len(code, len);

	if (pos == 0)
		return -EINVAL;
	while (pos < len) {
		size_t bytes = instruction_len(code, len, pos, code[3]);
		struct hodo_filter_effect e = hodo_filter_effects[code[pos]];

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
	return landings_check(&skips, pos, depth) || depth != 1 ? -EINVAL : 0;
}
