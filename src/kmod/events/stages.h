/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stages.h - makes events of a kernel's header of tracepoints: the header is read once for each stage, and means
 * something else each time. Included once by a file that generate.py writes:
 *
 *	#define HODO_HEADER <trace/events/irq.h>
 *	#define HODO_HEADER_CREATES		if the header has something for the one who creates its tracepoints
 *	#define HODO_SKIP_CLASS_name ~,		classes and events to be left out
 *	#define HODO_SKIP_EVENT_name ~,
 *
 * For a class or event NAME it defines:
 *
 *	struct hodo_record_NAME		1: the record's fixed part
 *	struct hodo_order_NAME		2: a char for each of its fields; for their numbers
 *	struct hodo_vars_NAME		3: a struct hodo_var for each field that varies
 *	hodo_measure_NAME()		4: bytes of a record
 *	hodo_describe_NAME()		5: says of a struct hodo_event what its fields are
 *	hodo_probe_NAME()		6: writes a record; its data is the struct hodo_event
 *	struct hodo_tracepoint hodo_tp_NAME	7: the event
 *
 * Names of ours inside functions begin with __hodo_, since the arguments' and fields' names stand beside them. But
 * for the record's: some headers say entry for what others say __entry.
 */
#include "probe.h"

#include "tracepoints.h"
#include "emit.h"

/* 0: the tracepoints are declared as for whoever calls them; then what a header keeps for who creates them: helpers
 * of TP_fast_assign. Of the creation itself, nothing. */
#include HODO_HEADER

#ifdef HODO_HEADER_CREATES
#undef DEFINE_TRACE
#undef DEFINE_TRACE_FN
#undef DEFINE_TRACE_SYSCALL
#undef TRACEPOINTS_ENABLED
#define DEFINE_TRACE(...)
#define DEFINE_TRACE_FN(...)
#define DEFINE_TRACE_SYSCALL(...)
#define CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#include "reset.h"
#include HODO_HEADER
#undef CREATE_TRACE_POINTS
#endif
#undef TRACE_HEADER_MULTI_READ
#define TRACE_HEADER_MULTI_READ

/* ---------------------------------------------------------- 1: record */

#include "reset.h"
#define __field(t, i) t i;
#define __field_struct(t, i)                                                                                   \
	u32 __hodo_n_##i;                                                                                      \
	t i;
#define __array(t, i, n)                                                                                       \
	HODO_COUNT(t) __hodo_n_##i;                                                                            \
	t i[n];
#define HODO_NO_VARIABLES
#include "variables.h"
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_record_##name {                                                                            \
		tstruct                                                                                        \
	} __packed;
#include HODO_HEADER

/* ----------------------------------------------------------- 2: order */

#include "reset.h"
#define __field(t, i) char i;
#define __field_struct(t, i) char i;
#define __array(t, i, n) char i;
#define HODO_NO_VARIABLES
#include "variables.h"
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_order_##name {                                                                             \
		tstruct                                                                                        \
	};
#include HODO_HEADER

/* ------------------------------------------------------- 3: variables */

#include "reset.h"
#define __field(t, i)
#define __field_struct(t, i)
#define __array(t, i, n)
#define HODO_VARIABLE(t, i) struct hodo_var i;
#include "variables.h"
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_vars_##name {                                                                              \
		tstruct                                                                                        \
	};
#include HODO_HEADER

/* --------------------------------------------------------- 4: measure */

#include "reset.h"
#define __entry entry
#define __field(t, i)
#define __field_struct(t, i)
#define __array(t, i, n)
#define __dynamic_array(t, i, n)                                                                               \
	hodo_var_array(&__hodo_v->i, &__hodo_size, HODO_IS_CHAR(t), (size_t)(n) * sizeof(t));
#define __string(i, s) hodo_var_text(&__hodo_v->i, &__hodo_size, (const void *)(s));
#define __string_len(i, s, n) hodo_var_text_len(&__hodo_v->i, &__hodo_size, (const void *)(s), (size_t)(n));
#define __vstring(i, fmt, va)                                                                                  \
	hodo_var_array(&__hodo_v->i, &__hodo_size, true, hodo_vstring_size(fmt, va));
#define __bitmask(i, bits) hodo_var_array(&__hodo_v->i, &__hodo_size, false, HODO_LONGS(bits) * 8);
#define __cpumask(i) __bitmask(i, nr_cpumask_bits)
#define __sockaddr(i, n) hodo_var_array(&__hodo_v->i, &__hodo_size, false, (size_t)(n));
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static __always_inline u32 hodo_measure_##name(struct hodo_vars_##name *__hodo_v, proto)               \
	{                                                                                                      \
		u32 __hodo_size = sizeof(struct hodo_record_##name);                                           \
		struct hodo_record_##name *entry __maybe_unused = NULL;                                        \
	\
		tstruct                                                                                        \
		return __hodo_size;                                                                            \
	}
#include HODO_HEADER

/* -------------------------------------------------------- 5: describe */

#include "reset.h"
#define HODO_FIXED(i, ctype, t) [offsetof(__hodo_order, i)] = { #i, ctype, t },
#define HODO_VARIED(i, ctype, t)                                                                               \
	[sizeof(__hodo_order) + offsetof(__hodo_vars, i) / sizeof(struct hodo_var)] = { #i, ctype, t },
#define __field(t, i) HODO_FIXED(i, #t, HODO_SCALAR_TYPE(t))
#define __field_struct(t, i) HODO_FIXED(i, #t, HODO_TYPE_BYTES)
#define __array(t, i, n) HODO_FIXED(i, #t "[" __stringify(n) "]", HODO_ARRAY_TYPE(t))
#define __dynamic_array(t, i, n) HODO_VARIED(i, #t "[]", HODO_ARRAY_TYPE(t))
#define __string(i, s) HODO_VARIED(i, "char[]", HODO_TYPE_STR)
#define __string_len(i, s, n) HODO_VARIED(i, "char[]", HODO_TYPE_STR)
#define __vstring(i, fmt, va) HODO_VARIED(i, "char[]", HODO_TYPE_STR)
#define __bitmask(i, bits) HODO_VARIED(i, "unsigned long[]", HODO_TYPE_ARRAY | HODO_TYPE_U64)
#define __cpumask(i) HODO_VARIED(i, "cpumask_t", HODO_TYPE_ARRAY | HODO_TYPE_U64)
#define __sockaddr(i, n) HODO_VARIED(i, "struct sockaddr", HODO_TYPE_BYTES)
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static void hodo_describe_##name(struct hodo_event *__hodo_event)                                      \
	{                                                                                                      \
		typedef struct hodo_order_##name __hodo_order;                                                 \
		typedef struct hodo_vars_##name __hodo_vars;                                                   \
		enum { __hodo_n = sizeof(__hodo_order) + sizeof(__hodo_vars) / sizeof(struct hodo_var) };      \
		static const struct hodo_field __hodo_fields[__hodo_n] = { tstruct };                          \
	\
		static_assert(__hodo_n <= HODO_FIELDS_MAX, "too many fields");                                 \
		__hodo_event->fields = __hodo_fields;                                                          \
		__hodo_event->nfields = __hodo_n;                                                              \
	}
#include HODO_HEADER

/* ----------------------------------------------------------- 6: probe */

#include "reset.h"
#define __entry entry
#define __field(t, i)
#define __field_struct(t, i) __entry->__hodo_n_##i = sizeof(t);
#define __array(t, i, n) __entry->__hodo_n_##i = sizeof(__entry->i) / (HODO_IS_BYTE(t) ? 1 : sizeof(t));
#define HODO_VARIABLE(t, i) hodo_var_count(__entry, &__hodo_v.i, HODO_IS_CHAR(t) ? 0 : sizeof(t));
#include "variables.h"
#include "assign.h"
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static notrace void hodo_probe_##name(void *__data, proto)                                             \
	{                                                                                                      \
		HODO_EMIT(__hodo_e);                                                                           \
		struct hodo_vars_##name __hodo_v __attribute__((uninitialized));                               \
		struct hodo_record_##name *entry;                                                              \
	\
		entry = hodo_emit_begin(&__hodo_e, __data, hodo_measure_##name(&__hodo_v, args));              \
		if (unlikely(!entry))                                                                          \
			return;                                                                                \
		tstruct                                                                                        \
		{                                                                                              \
			assign;                                                                                \
		}                                                                                              \
		hodo_emit_end(&__hodo_e, __data);                                                              \
	}
#include HODO_HEADER

/* ------------------------------------------------------------- 7: event */

#include "assign.h"
#include "reset.h"
#undef TP_printk
#define __entry REC
#define TP_printk(fmt, args...) "\"" fmt "\", " __stringify(args)
#undef HODO_CLASS
#define HODO_CLASS(name, proto, args, tstruct, assign, print) static const char hodo_format_##name[] = print;

/* A probe that does not fit the tracepoint does not compile. */
#define HODO_DEFINE_EVENT(template, ev, form)                                                                  \
	static inline void hodo_check_##ev(void)                                                               \
	{                                                                                                      \
		check_trace_callback_type_##ev(hodo_probe_##template);                                         \
	}                                                                                                      \
	struct hodo_tracepoint hodo_tp_##ev = {                                                                \
		.event = {                                                                                     \
			.provider = __stringify(TRACE_SYSTEM),                                                 \
			.name = #ev,                                                                           \
			.kind = HODO_KIND_EVENT,                                                               \
			.line = __LINE__,                                                                      \
			.format = form,                                                                        \
			.file = __FILE__,                                                                      \
			.function = "",                                                                        \
			.object = "",                                                                          \
			.absent = true,                                                                        \
		},                                                                                             \
		.probe = hodo_probe_##template,                                                                \
		.describe = hodo_describe_##template,                                                          \
	};
#define HODO_EVENT(template, ev) HODO_DEFINE_EVENT(template, ev, hodo_format_##template)
#define HODO_EVENT_PRINT(template, ev, print)                                                                  \
	static const char hodo_format_of_##ev[] = print;                                                       \
	HODO_DEFINE_EVENT(template, ev, hodo_format_of_##ev)

#undef DEFINE_EVENT
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_WRITABLE
#define DEFINE_EVENT(template, ev, proto, args)                                                                \
	HODO_UNLESS(HODO_SKIP_CLASS_##template, HODO_UNLESS(HODO_SKIP_EVENT_##ev, HODO_EVENT))(template, ev)
#define DEFINE_EVENT_PRINT(template, ev, proto, args, print)                                                   \
	HODO_UNLESS(HODO_SKIP_CLASS_##template, HODO_UNLESS(HODO_SKIP_EVENT_##ev, HODO_EVENT_PRINT))           \
	(template, ev, PARAMS(print))
#define DEFINE_EVENT_FN(template, ev, proto, args, reg, unreg)                                                 \
	DEFINE_EVENT(template, ev, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_CONDITION(template, ev, proto, args, cond)                                                \
	DEFINE_EVENT(template, ev, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_WRITABLE(template, ev, proto, args, size)                                                 \
	DEFINE_EVENT(template, ev, PARAMS(proto), PARAMS(args))
#include HODO_HEADER
