/* SPDX-License-Identifier: MIT */
/* trace_context.h - traces over several processes and hosts: what <hodo/trace_context.h> calls. */
#pragma once

#include <user/user.h>

struct hodo_trace_context;

/* As struct hodo_ops has them. Signal safe; any thread. */
HODO_HIDDEN void hodo_trace_context_enter(struct hodo_trace_context *c, const char *traceparent);
HODO_HIDDEN void hodo_trace_context_leave(const struct hodo_trace_context *c);
HODO_HIDDEN int hodo_trace_context_text(char *traceparent);
/* In a fork child: identifiers are not its parent's. */
HODO_HIDDEN void hodo_trace_context_forked(void);
