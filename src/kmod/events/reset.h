/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* reset.h - before each stage: no macro of an event means anything, but for those that stand for others. */
#undef TRACE_EVENT
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_SYSCALL
#undef TRACE_EVENT_NOP
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef TRACE_DEFINE_ENUM
#undef TRACE_DEFINE_SIZEOF
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_SYSCALL_CLASS
#undef DECLARE_EVENT_CLASS_NOP
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_WRITABLE
#undef DEFINE_EVENT_NOP
#undef DECLARE_TRACE
#undef DECLARE_TRACE_CONDITION
#undef DECLARE_TRACE_EVENT
#undef DECLARE_TRACE_EVENT_CONDITION
#undef DECLARE_TRACE_SYSCALL
#undef DECLARE_TRACE_WRITABLE
#undef TP_STRUCT__entry
#undef TP_fast_assign
#undef TP_printk
#undef __entry
#undef __field
#undef __field_ext
#undef __field_struct
#undef __field_struct_ext
#undef __array
#undef __dynamic_array
#undef __string
#undef __string_len
#undef __vstring
#undef __bitmask
#undef __cpumask
#undef __sockaddr
#undef __rel_dynamic_array
#undef __rel_string
#undef __rel_string_len
#undef __rel_bitmask
#undef __rel_cpumask
#undef __rel_sockaddr
#undef HODO_CLASS
#undef HODO_VARIABLE

#define TRACE_EVENT_NOP(...)
#define TRACE_EVENT_FLAGS(...)
#define TRACE_EVENT_PERF_PERM(...)
#define TRACE_DEFINE_ENUM(...)
#define TRACE_DEFINE_SIZEOF(...)
#define DECLARE_EVENT_CLASS_NOP(...)
#define DECLARE_EVENT_NOP(...)
#define DEFINE_EVENT_NOP(...)
#define DECLARE_TRACE(...)
#define DECLARE_TRACE_CONDITION(...)
#define DECLARE_TRACE_EVENT(...)
#define DECLARE_TRACE_EVENT_CONDITION(...)
#define DECLARE_TRACE_SYSCALL(...)
#define DECLARE_TRACE_WRITABLE(...)

#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...) args
#define TP_printk(...) ""

/* An event of its own is a class with one event. */
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                                 \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))  \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                                  \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg)                       \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                                 \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define TRACE_EVENT_SYSCALL(name, proto, args, tstruct, assign, print, reg, unreg)                             \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define DECLARE_EVENT_SYSCALL_CLASS(name, proto, args, tstruct, assign, print)                                 \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))

/* What a stage wants of classes is HODO_CLASS; of events, DEFINE_EVENT and DEFINE_EVENT_PRINT (stage_event.h). */
#define HODO_CLASS HODO_NOTHING
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                                         \
	HODO_UNLESS(HODO_SKIP_CLASS_##name, HODO_CLASS)                                                        \
	(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define DEFINE_EVENT(...)
#define DEFINE_EVENT_FN(...)
#define DEFINE_EVENT_PRINT(...)
#define DEFINE_EVENT_CONDITION(...)
#define DEFINE_EVENT_WRITABLE(...)

/* Fields that are declared in several ways. */
#define __field_ext(type, item, filter) __field(PARAMS(type), item)
#define __field_struct_ext(type, item, filter) __field_struct(PARAMS(type), item)
#define __rel_dynamic_array(type, item, len) __dynamic_array(PARAMS(type), item, PARAMS(len))
#define __rel_string(item, src) __string(item, PARAMS(src))
#define __rel_string_len(item, src, len) __string_len(item, PARAMS(src), PARAMS(len))
#define __rel_bitmask(item, bits) __bitmask(item, PARAMS(bits))
#define __rel_cpumask(item) __cpumask(item)
#define __rel_sockaddr(item, len) __sockaddr(item, PARAMS(len))
