/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi_context.h - the part of hodo/abi.h for spans of traces over several processes, which includes it.
 *
 * enter(context, traceparent): the calling thread is in a span of its own until leave(context): below the remote
 * parent that traceparent, a text or NULL, names; else below the span that it is in; else the first of a new trace.
 * text(traceparent): writes the 56 bytes that name the span that the thread is in. 0, or -ENOENT and "": it is in none.
 */
#ifndef HODO_ABI_CONTEXT_H
#define HODO_ABI_CONTEXT_H

/* Identifiers as numbers: the first character of a text is the highest digit. parent 0: there is none. */
struct hodo_trace_context {
	uint64_t trace[2];
	uint64_t parent;
	uint64_t span;
	uint64_t before[4]; /* the library's own: what the thread was in before. [3]: not 0 if leave is to be called */
};
HODO_ASSERT_SIZE_(struct hodo_trace_context, 64);

#endif
