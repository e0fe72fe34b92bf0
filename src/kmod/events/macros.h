/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * macros.h - the definitions of event macros in each stage of stages.h, HODO_STAGE; by default, except for
 * those defined by others, they expand to nothing. All are redefined without #undef, which the compiler
 * allows in a system header.
 */
#pragma GCC system_header

#define TRACE_EVENT_NOP(...)
#define TRACE_EVENT_FLAGS(...)
#define TRACE_EVENT_PERF_PERM(...)
#define TRACE_DEFINE_ENUM(...)
#define TRACE_DEFINE_SIZEOF(...)
#define DECLARE_EVENT_CLASS_NOP(...)
#define DECLARE_EVENT_NOP(...)
#define DEFINE_EVENT_NOP(...)
#define DEFINE_TRACE(...)
#define DEFINE_TRACE_FN(...)
#define DEFINE_TRACE_SYSCALL(...)
#define DECLARE_TRACE(...)
#define DECLARE_TRACE_CONDITION(...)
#define DECLARE_TRACE_EVENT(...)
#define DECLARE_TRACE_EVENT_CONDITION(...)
#define DECLARE_TRACE_SYSCALL(...)
#define DECLARE_TRACE_WRITABLE(...)

#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...) args
#define TP_printk(...) ""

/* A single event is a class with one event. */
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

/* A stage defines HODO_CLASS for classes; for events, DEFINE_EVENT and DEFINE_EVENT_PRINT. */
#define HODO_CLASS HODO_NOTHING
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                                         \
	HODO_UNLESS(HODO_SKIP_CLASS_##name, HODO_CLASS)                                                        \
	(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#define DEFINE_EVENT(...)
#define DEFINE_EVENT_FN(...)
#define DEFINE_EVENT_PRINT(...)
#define DEFINE_EVENT_CONDITION(...)
#define DEFINE_EVENT_WRITABLE(...)

/* Variable fields, in stages that only need the type of their elements. */
#define HODO_VARIABLE(t, i)
#define __dynamic_array(t, i, n) HODO_VARIABLE(t, i)
#define __string(i, s) __dynamic_array(char, i, 0)
#define __string_len(i, s, n) __dynamic_array(char, i, 0)
#define __vstring(i, fmt, va) __dynamic_array(char, i, 0)
#define __bitmask(i, bits) __dynamic_array(u64, i, 0)
#define __cpumask(i) __dynamic_array(u64, i, 0)
#define __sockaddr(i, n) __dynamic_array(u8, i, 0)

/* Fields with several forms of declaration. */
#define __field_ext(type, item, filter) __field(PARAMS(type), item)
#define __field_struct_ext(type, item, filter) __field_struct(PARAMS(type), item)
#define __rel_dynamic_array(type, item, len) __dynamic_array(PARAMS(type), item, PARAMS(len))
#define __rel_string(item, src) __string(item, PARAMS(src))
#define __rel_string_len(item, src, len) __string_len(item, PARAMS(src), PARAMS(len))
#define __rel_bitmask(item, bits) __bitmask(item, PARAMS(bits))
#define __rel_cpumask(item) __cpumask(item)
#define __rel_sockaddr(item, len) __sockaddr(item, PARAMS(len))

#if HODO_STAGE == 1 /* record */

#define __field(t, i) t i;
#define __field_struct(t, i)                                                                                   \
	u32 __hodo_n_##i;                                                                                      \
	t i;
#define __array(t, i, n)                                                                                       \
	HODO_COUNT(t) __hodo_n_##i;                                                                            \
	t i[n];
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_record_##name {                                                                            \
		tstruct                                                                                        \
	} __packed;

#elif HODO_STAGE == 2 /* order */

#define __field(t, i) char i;
#define __field_struct(t, i) char i;
#define __array(t, i, n) char i;
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_order_##name {                                                                             \
		tstruct                                                                                        \
	};

#elif HODO_STAGE == 3 /* variables */

#define __field(t, i)
#define __field_struct(t, i)
#define __array(t, i, n)
#define HODO_VARIABLE(t, i) struct hodo_var i;
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	struct hodo_vars_##name {                                                                              \
		tstruct                                                                                        \
	};

#elif HODO_STAGE == 4 /* measure */

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
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static __always_inline u32 hodo_measure_##name(struct hodo_vars_##name *__hodo_v, proto)               \
	{                                                                                                      \
		u32 __hodo_size = sizeof(struct hodo_record_##name);                                           \
		struct hodo_record_##name *entry __maybe_unused = NULL;                                        \
	\
		tstruct                                                                                        \
		return __hodo_size;                                                                            \
	}

#elif HODO_STAGE == 5 /* describe */

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

#elif HODO_STAGE == 6 /* event */

#define __entry REC
#define TP_printk(fmt, args...) "\"" fmt "\", " __stringify(args)
#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static void hodo_probe_##name(void *__data, proto);                                                    \
	static const char hodo_format_##name[] = print;

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

#elif HODO_STAGE == 7 /* probe */

#define __entry entry
#define __field(t, i)
#define __field_struct(t, i) __entry->__hodo_n_##i = sizeof(t);
#define __array(t, i, n) __entry->__hodo_n_##i = sizeof(__entry->i) / (HODO_IS_BYTE(t) ? 1 : sizeof(t));
#define HODO_VARIABLE(t, i) hodo_var_count(__entry, &__hodo_v.i, HODO_IS_CHAR(t) ? 0 : sizeof(t));

/* What TP_fast_assign uses to fill variable fields. */
#define __get_dynamic_array(i) ((void *)__entry + __hodo_v.i.at)
#define __get_dynamic_array_len(i) (__hodo_v.i.len)
#define __get_str(i) ((char *)__get_dynamic_array(i))
#define __get_bitmask(i) __get_str(i)
#define __get_cpumask(i) __get_str(i)
#define __get_sockaddr(i) ((struct sockaddr *)__get_dynamic_array(i))
#define __get_rel_dynamic_array(i) __get_dynamic_array(i)
#define __get_rel_dynamic_array_len(i) __get_dynamic_array_len(i)
#define __get_rel_str(i) __get_str(i)
#define __get_rel_bitmask(i) __get_bitmask(i)
#define __get_rel_cpumask(i) __get_cpumask(i)
#define __get_rel_sockaddr(i) __get_sockaddr(i)

/* Up to 6.9 the source is given a second time; we copy what was measured. */
#define __assign_str(i, ...) hodo_var_copy(__entry, &__hodo_v.i, __hodo_v.i.src, __hodo_v.i.len)
#define __assign_str_len(i, ...) __assign_str(i)
#define __assign_vstr(i, fmt, va) hodo_vstring_copy(__get_str(i), __hodo_v.i.len, fmt, va)
#define __assign_bitmask(i, src, bits) hodo_var_copy(__entry, &__hodo_v.i, src, HODO_LONGS(bits) * 8)
#define __assign_cpumask(i, src) __assign_bitmask(i, src, nr_cpumask_bits)
#define __assign_sockaddr(i, src, n) hodo_var_copy(__entry, &__hodo_v.i, src, n)
#define __assign_rel_str(i, ...) __assign_str(i)
#define __assign_rel_str_len(i, ...) __assign_str(i)
#define __assign_rel_bitmask(i, src, bits) __assign_bitmask(i, src, bits)
#define __assign_rel_cpumask(i, src) __assign_cpumask(i, src)
#define __assign_rel_sockaddr(i, src, n) __assign_sockaddr(i, src, n)

#define __perf_addr(a) (a)
#define __perf_count(c) (c)
#define __perf_task(t) (t)

#define HODO_CLASS(name, proto, args, tstruct, assign, print)                                                  \
	static notrace void hodo_probe_##name(void *__data, proto)                                             \
	{                                                                                                      \
		HODO_EMIT(__hodo_e);                                                                           \
		struct hodo_vars_##name __hodo_v __attribute__((uninitialized));                               \
		struct hodo_record_##name *entry;                                                              \
	\
		hodo_tracepoint_enter();                                                                       \
		entry = hodo_emit_begin(&__hodo_e, __data, hodo_measure_##name(&__hodo_v, args));              \
		if (likely(entry)) {                                                                           \
			tstruct                                                                                \
			{                                                                                      \
				assign;                                                                        \
			}                                                                                      \
			hodo_emit_end(&__hodo_e, __data);                                                      \
		}                                                                                              \
		hodo_tracepoint_leave();                                                                       \
	}

#endif
#undef HODO_STAGE
