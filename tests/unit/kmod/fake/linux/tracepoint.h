/* SPDX-License-Identifier: MIT */
/* tracepoint.h - what callers need of a tracepoint: here, the type of its probes. */
#ifndef FAKE_TRACEPOINT_H
#define FAKE_TRACEPOINT_H

#include <linux/types.h>

#define TRACEPOINTS_ENABLED
#define PARAMS(args...) args
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define TP_CONDITION(args...) args
#define DEFINE_TRACE(...) these_are_not_to_be_created
#define DEFINE_TRACE_FN(...) these_are_not_to_be_created

#define DECLARE_TRACE(name, proto, args)                                                                       \
	static inline __maybe_unused void check_trace_callback_type_##name(void (*probe)(void *__data, proto)) \
	{                                                                                                      \
		(void)probe;                                                                                   \
	}
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(template, name, proto, args) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_PRINT(template, name, proto, args, print) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT(name, proto, args, tstruct, assign, print) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                                  \
	DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                                 \
	DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_NOP(...)

#endif
