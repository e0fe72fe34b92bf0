/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_emit.h - between filter_parse.c (the grammar) and filter_emit.c. What fails is left in p->rc, and nothing is
 * done after that. */
#ifndef HODO_CORE_FILTER_EMIT_H
#define HODO_CORE_FILTER_EMIT_H

#include "filter_parse.h"

/* One line into the caller's buffer, with the column of where. */
void hodo_filter_fail(struct hodo_filter_parser *p, int rc, const char *where, const char *words);
/* before, what the token is, behind. */
void hodo_filter_fail_quoting(struct hodo_filter_parser *p, const char *before, const struct hodo_filter_token *t,
			      const char *behind);
/* What stands here was not looked for; wanted was ("expected …"). */
void hodo_filter_unexpected(struct hodo_filter_parser *p, const char *wanted);

/* An opcode and its operand; what it takes from the stack and leaves there. */
void hodo_filter_emit(struct hodo_filter_parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops);
void hodo_filter_emit_int(struct hodo_filter_parser *p, uint64_t v, bool is_unsigned);
void hodo_filter_emit_text(struct hodo_filter_parser *p);
/* An instruction whose operand is a name. */
void hodo_filter_emit_name(struct hodo_filter_parser *p, uint8_t op, const struct hodo_filter_token *name,
			   unsigned int pops);
/*
 * left was compared with what was parsed last: if both are bare, and one is a name, the other may be a label of
 * it. So both are made anew.
 */
void hodo_filter_allow_labels(struct hodo_filter_parser *p, const struct hodo_filter_bare *left);
/* Header, names, instructions. */
void hodo_filter_assemble(struct hodo_filter_parser *p, uint8_t *code, size_t size, size_t *len);

#endif
