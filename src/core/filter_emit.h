/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_emit.h - between filter_parse.c (the grammar) and filter_emit.c. The first error stays in p->rc;
 * nothing is done after it. */
#ifndef HODO_CORE_FILTER_EMIT_H
#define HODO_CORE_FILTER_EMIT_H

#include "filter_parse.h"

/* One line into the caller's buffer, with the column of where. */
void hodo_filter_fail(struct hodo_filter_parser *p, int rc, const char *where, const char *words);
/* The same with the token in quotes between before and behind. */
void hodo_filter_fail_quoting(struct hodo_filter_parser *p, const char *before, const struct hodo_filter_token *t,
			      const char *behind);
/* The token is not what the grammar wants; wanted says what is ("expected …"). */
void hodo_filter_unexpected(struct hodo_filter_parser *p, const char *wanted);

/* Emits an opcode and its operand, and tracks what it takes from the stack and leaves there. */
void hodo_filter_emit(struct hodo_filter_parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops);
void hodo_filter_emit_int(struct hodo_filter_parser *p, uint64_t v, bool is_unsigned);
void hodo_filter_emit_text(struct hodo_filter_parser *p);
/* An instruction whose operand is a name. */
void hodo_filter_emit_name(struct hodo_filter_parser *p, uint8_t op, const struct hodo_filter_token *name,
			   unsigned int pops);
/*
 * left was compared with what was parsed last. If both are bare and one is a name, the other may be one of
 * its labels: both are emitted again.
 */
void hodo_filter_allow_labels(struct hodo_filter_parser *p, const struct hodo_filter_bare *left);
/* Header, names, instructions. */
void hodo_filter_assemble(struct hodo_filter_parser *p, uint8_t *code, size_t size, size_t *len);

#endif
