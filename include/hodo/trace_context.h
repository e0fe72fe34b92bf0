/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_context.h - the part of hodo/trace.h for traces over several processes and hosts, as the W3C's Trace
 * Context and OpenTelemetry have them. Not in the kernel.
 */
#ifndef HODO_TRACE_CONTEXT_H
#define HODO_TRACE_CONTEXT_H

#pragma GCC system_header

/* Bytes of a traceparent, with its NUL: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" */
#define HODO_TRACEPARENT_BYTES 56

/*
 * HODO_SPAN_CONTEXT(provider, name, traceparent, values…): a declaration; a HODO_SPAN that is part of a trace over
 * several processes and hosts. traceparent, a text or NULL, names the parent that the work came from, as the W3C's
 * Trace Context has it ("00-…-…-01", the HTTP header of that name). If it names none, the parent is the span that the
 * thread is in, or else a new trace begins. At most 12 values, behind the fields trace_hi, trace_lo, parent_id and
 * span_id. traceparent is evaluated only when the span is enabled.
 *
 * int hodo_span_traceparent(char traceparent[HODO_TRACEPARENT_BYTES]): names the innermost such span that the calling
 * thread is in, to be sent along with the work that is given to others. Its flag "sampled" is the remote parent's,
 * however far above; without one, it is set. Returns 0; -ENOENT if it is in none, since none is enabled, -ENOSYS if
 * libhodo is not loaded, and the text is empty then: pass on what came in. Any thread, signal handlers as well.
 */
#define HODO_SPAN_CONTEXT(provider, name, traceparent, ...) \
	HODO_NONE_(0, ##__VA_ARGS__)                        \
	HODO_SPAN_CONTEXT_I_(__COUNTER__, #provider, #name "__begin", #provider "\0" #name "\0", traceparent, \
			     #__VA_ARGS__, __VA_ARGS__)

#ifdef HODO_DISABLE

#define HODO_SPAN_CONTEXT_I_(n, provider, name, text, traceparent, args, ...) \
	do {                                                                  \
		if (0)                                                        \
			(void)(const char *)(traceparent);                    \
		HODO_SITE_(0, text, __VA_ARGS__);                             \
	} while (0)

static inline HODO_OWN_ int hodo_span_traceparent(char *traceparent)
{
	traceparent[0] = 0;
	return -ENOSYS;
}

#else

/* An older library has fewer members. */
static inline HODO_OWN_ const HODO_STRUCT_ hodo_ops *hodo_context_ops_(void)
{
	const HODO_STRUCT_ hodo_ops *ops = hodo_ops_ptr_;

	return ops && ops->size > __builtin_offsetof(HODO_STRUCT_ hodo_ops, context_text) ? ops : 0;
}

static inline HODO_OWN_ int hodo_span_traceparent(char *traceparent)
{
	const HODO_STRUCT_ hodo_ops *ops = hodo_context_ops_();

	if (ops)
		return ops->context_text(traceparent);
	traceparent[0] = 0;
	return -ENOSYS;
}

static inline HODO_OWN_ void hodo_context_enter_(HODO_STRUCT_ hodo_trace_context *context, const char *traceparent)
{
	const HODO_STRUCT_ hodo_ops *ops = hodo_ops_ptr_; /* there: the site is on */

	if (__builtin_expect(ops->size > __builtin_offsetof(HODO_STRUCT_ hodo_ops, context_text), 1))
		ops->context_enter(context, traceparent);
	else
		__builtin_memset(context, 0, sizeof(*context));
}

/* Who was entered has something to return to. */
static inline HODO_OWN_ void hodo_context_leave_(const HODO_STRUCT_ hodo_trace_context *context)
{
	if (context->before[3])
		hodo_ops_ptr_->context_leave(context);
}

/* The context lies in a variable of its own, whose address libhodo gets: the flag of an idle span can stay in a
 * register. */
#ifdef __cplusplus
struct hodo_span_context_ {
	hodo_state *hodo_end_ = nullptr;
	const hodo_trace_context *context_;
	HODO_INLINED_ explicit hodo_span_context_(const hodo_trace_context *context) : context_(context) {}
	hodo_span_context_(const hodo_span_context_ &) = delete;
	hodo_span_context_ &operator=(const hodo_span_context_ &) = delete;
	HODO_INLINED_ ~hodo_span_context_()
	{
		if (__builtin_expect(hodo_end_ != nullptr, 0)) {
			HODO_SPAN_END_(hodo_end_);
			hodo_context_leave_(context_);
		}
	}
};
#define HODO_SPAN_CONTEXT_VARS_(span, context) \
	hodo_trace_context context;            \
	hodo_span_context_ span(&context)
#else
struct hodo_span_context_ {
	HODO_STATE_TYPE_ *hodo_end_; /* as in struct hodo_span_ */
	const struct hodo_trace_context *context;
};
static inline HODO_OWN_ void hodo_span_context_close_(struct hodo_span_context_ *span)
{
	if (__builtin_expect(span->hodo_end_ != 0, 0)) {
		HODO_SPAN_END_(span->hodo_end_);
		hodo_context_leave_(span->context);
	}
}
#define HODO_SPAN_CONTEXT_VARS_(span, context_)    \
	struct hodo_trace_context context_;        \
	struct hodo_span_context_ span __attribute__((cleanup(hodo_span_context_close_), unused)) = { 0, &context_ }
#endif

/* Four addresses, as they are shown in hexadecimal. */
#define HODO_CONTEXT_NAMES_ "trace_hi,trace_lo,parent_id,span_id,"
#define HODO_CONTEXT_VALUES_(context)                                                     \
	(const void *)(context).trace[0], (const void *)(context).trace[1],               \
		(const void *)(context).parent, (const void *)(context).span
#define HODO_CONTEXT_LIST_1(context, ...) HODO_CONTEXT_VALUES_(context)
#define HODO_CONTEXT_LIST_0(context, ...) HODO_CONTEXT_VALUES_(context), __VA_ARGS__
#define HODO_CONTEXT_LIST_(context, ...) HODO_PASTE_(HODO_CONTEXT_LIST_, HODO_IS_EMPTY_(__VA_ARGS__))(context, __VA_ARGS__)

#define HODO_SPAN_CONTEXT_I_(n, provider, name, text, traceparent, args, ...)                                   \
	HODO_SPAN_CONTEXT_II_(HODO_PASTE_(HODO_SPAN_NAME_, n), HODO_PASTE_(HODO_SPAN_NAME_, HODO_PASTE_(context_, n)), \
			      provider, name, text, traceparent, args, __VA_ARGS__)
#define HODO_SPAN_CONTEXT_II_(span, context, provider, name, text, traceparent, args, ...)                          \
	HODO_SPAN_CONTEXT_VARS_(span, context);                                                                    \
	do {                                                                                                       \
		HODO_NOTED_(provider, name, __VA_ARGS__)                                                           \
		HODO_CALL_(HODO_SPAN_BEGIN_WITH_, hodo_context_enter_(&context, (traceparent));, span, text,       \
			   HODO_CONTEXT_NAMES_ args, HODO_CONTEXT_LIST_(context, HODO_VALUES_(__VA_ARGS__)));      \
	} while (0)

#endif /* !HODO_DISABLE */

#endif
