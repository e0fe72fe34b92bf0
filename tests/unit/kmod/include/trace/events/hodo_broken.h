/* SPDX-License-Identifier: MIT */
/* hodo_broken.h - tracepoints of which a module can use only some. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hodo_broken

#if !defined(HODO_BROKEN_H) || defined(TRACE_HEADER_MULTI_READ)
#define HODO_BROKEN_H

#include <linux/tracepoint.h>

TRACE_EVENT(hodo_broken_good,
	TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));

/* Private struct: in TP_fast_assign. */
TRACE_EVENT(hodo_broken_private,
	TP_PROTO(struct hodo_nobody_knows *p), TP_ARGS(p), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = p->x;), TP_printk("%d", __entry->x));

/* In the record. */
TRACE_EVENT(hodo_broken_field,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_STRUCT__entry(
		__field(int, x)
		__field_struct(struct hodo_nobody_knows, p)
	),
	TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));

/* A class that cannot be used, nor can its events. */
DECLARE_EVENT_CLASS(hodo_broken_class,
	TP_PROTO(int x), TP_ARGS(x),
	TP_STRUCT__entry(
		__string(name, hodo_nobody_declared(x))
	),
	TP_fast_assign(__assign_str(name, hodo_nobody_declared(x));), TP_printk("%s", __get_str(name)));
DEFINE_EVENT(hodo_broken_class, hodo_broken_one, TP_PROTO(int x), TP_ARGS(x));
DEFINE_EVENT(hodo_broken_class, hodo_broken_two, TP_PROTO(int x), TP_ARGS(x));

/* Another caller of that function; the compiler complains only once. */
TRACE_EVENT(hodo_broken_caller,
	TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(const void *, p)),
	TP_fast_assign(__entry->p = hodo_nobody_declared(x);), TP_printk("%p", __entry->p));

/* The print format is not compiled. */
TRACE_EVENT(hodo_broken_printer,
	TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%s", hodo_nobody_declared(__entry->x)));

/* Compiles, but the kernel does not export the function. */
int nobody_exports_this(int x);
TRACE_EVENT(hodo_broken_symbol,
	TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = nobody_exports_this(x);), TP_printk("%d", __entry->x));

/* More fields than an event can have: 33. */
#define HODO_BROKEN_8(x) __field(int, x##1) __field(int, x##2) __field(int, x##3) __field(int, x##4)                   \
	__field(int, x##5) __field(int, x##6) __field(int, x##7) __field(int, x##8)
TRACE_EVENT(hodo_broken_many,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_STRUCT__entry(
		HODO_BROKEN_8(a) HODO_BROKEN_8(b) HODO_BROKEN_8(c) HODO_BROKEN_8(d)
		__field(int, x)
	),
	TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));

#endif

#include <trace/define_trace.h>
