/* SPDX-License-Identifier: MIT */
/* hodo_kinds.h - tracepoints with every kind of field that a header can declare. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hodo_kinds

#if !defined(HODO_KINDS_H) || defined(TRACE_HEADER_MULTI_READ)
#define HODO_KINDS_H

#include <linux/tracepoint.h>

#ifndef hodo_kinds_interlude
#define hodo_kinds_interlude()
#endif

#ifndef HODO_KINDS_TYPES
#define HODO_KINDS_TYPES
enum hodo_kinds_enum { HODO_KINDS_A, HODO_KINDS_B };
enum hodo_kinds_negative { HODO_KINDS_MINUS = -1 };
struct hodo_kinds_pair {
	u32 a;
	u16 b;
};
#endif

#ifdef CREATE_TRACE_POINTS
/* What a header contains only for the one file that creates its tracepoints. */
static inline int hodo_kinds_helper(int x)
{
	return x + 1;
}
#endif

/* All scalars. */
TRACE_EVENT(hodo_kinds_scalars,
	TP_PROTO(int x, const void *p),
	TP_ARGS(x, p),
	TP_STRUCT__entry(
		__field(s8, a)
		__field(u8, b)
		__field(short, c)
		__field(unsigned short, d)
		__field(int, e)
		__field(unsigned int, f)
		__field(long, g)
		__field(unsigned long long, h)
		__field(bool, i)
		__field(char, j)
		__field(const void *, k)
		__field(enum hodo_kinds_enum, l)
		__field(enum hodo_kinds_negative, m)
		__field_ext(size_t, n, 0)
		__field_struct(struct hodo_kinds_pair, o)
		__field_struct_ext(struct hodo_kinds_pair, q, 0)
	),
	TP_fast_assign(
		__entry->a = -x;
		__entry->b = x;
		__entry->c = -x;
		__entry->d = x;
		__entry->e = -x;
		__entry->f = x;
		__entry->g = -x;
		__entry->h = x;
		__entry->i = !!x;
		__entry->j = 'x';
		__entry->k = p;
		__entry->l = HODO_KINDS_B;
		__entry->m = HODO_KINDS_MINUS;
		__entry->n = x;
		__entry->o.a = x;
		__entry->o.b = 7;
		entry->q.a = hodo_kinds_helper(x);
		entry->q.b = 8;
	),
	TP_printk("e=%d %s", __entry->e, __print_symbolic(__entry->l, { HODO_KINDS_A, "a" }))
);

/* Arrays of constant length, between others of variable length: in the record, those of fixed size come first. */
TRACE_EVENT(hodo_kinds_arrays,
	TP_PROTO(const char *text, const u8 *bytes, unsigned int n),
	TP_ARGS(text, bytes, n),
	TP_STRUCT__entry(
		__dynamic_array(u16, shorts, n)
		__array(char, comm, 16)
		__string(one, text)
		__array(u8, mac, 6)
		__array(u32, words, 3)
		__dynamic_array(u8, bytes, n)
		__array(bool, flags, 2)
		__dynamic_array(char, chars, n)
		__field(int, last)
		__array(void *, none, 0)
	),
	TP_fast_assign(
		unsigned int i;

		for (i = 0; i < n; i++)
			((u16 *)__get_dynamic_array(shorts))[i] = 100 + i;
		memset(__entry->comm, 0, sizeof(__entry->comm));
		memcpy(__entry->comm, "swapper", 7);
		__assign_str(one, text);
		memcpy(__entry->mac, bytes, 6);
		for (i = 0; i < 3; i++)
			__entry->words[i] = i;
		memcpy(__get_dynamic_array(bytes), bytes, n);
		__entry->flags[0] = true;
		__entry->flags[1] = false;
		memcpy(__get_str(chars), bytes, __get_dynamic_array_len(chars));
		__entry->last = __get_dynamic_array_len(shorts);
	),
	TP_printk("%s", __get_str(one))
);

/* Texts, in each way of declaring them. */
DECLARE_EVENT_CLASS(hodo_kinds_texts,
	TP_PROTO(const char *text, const char *part, int len),
	TP_ARGS(text, part, len),
	TP_STRUCT__entry(
		__string(text, text)
		__string_len(part, part, len)
		__rel_string(again, text)
		__rel_string_len(rel, part, len)
		__string(empty, "")
	),
	TP_fast_assign(
		hodo_kinds_interlude();
		__assign_str(text);
		__assign_str(part);
		__assign_rel_str(again, text);
		__assign_rel_str_len(rel, part, len);
		__assign_str(empty, "");
	),
	TP_printk("%s %s", __get_str(text), __get_str(part))
);
DEFINE_EVENT(hodo_kinds_texts, hodo_kinds_text,
	TP_PROTO(const char *text, const char *part, int len), TP_ARGS(text, part, len));
DEFINE_EVENT_PRINT(hodo_kinds_texts, hodo_kinds_text_print,
	TP_PROTO(const char *text, const char *part, int len), TP_ARGS(text, part, len), TP_printk("own"));
DEFINE_EVENT_CONDITION(hodo_kinds_texts, hodo_kinds_text_condition,
	TP_PROTO(const char *text, const char *part, int len), TP_ARGS(text, part, len), TP_CONDITION(len));
DEFINE_EVENT_FN(hodo_kinds_texts, hodo_kinds_text_fn,
	TP_PROTO(const char *text, const char *part, int len), TP_ARGS(text, part, len), NULL, NULL);

/* Bits, addresses, formats. */
TRACE_EVENT_CONDITION(hodo_kinds_others,
	TP_PROTO(const unsigned long *bits, const struct sockaddr *addr, struct va_format *vaf),
	TP_ARGS(bits, addr, vaf),
	TP_CONDITION(bits),
	TP_STRUCT__entry(
		__bitmask(bits, 70)
		__rel_bitmask(none, 0)
		__cpumask(cpus)
		__rel_cpumask(cpus2)
		__sockaddr(addr, sizeof(*addr))
		__rel_sockaddr(addr2, sizeof(*addr))
		__vstring(message, vaf->fmt, vaf->va)
		__rel_dynamic_array(u64, longs, 2)
	),
	TP_fast_assign(
		__assign_bitmask(bits, bits, 70);
		__assign_rel_bitmask(none, bits, 0);
		__assign_cpumask(cpus, bits);
		__assign_rel_cpumask(cpus2, bits);
		__assign_sockaddr(addr, addr, sizeof(*addr));
		__assign_rel_sockaddr(addr2, addr, sizeof(*addr));
		__assign_vstr(message, vaf->fmt, vaf->va);
		((u64 *)__get_rel_dynamic_array(longs))[0] = 1;
		((u64 *)__get_rel_dynamic_array(longs))[1] = 2;
	),
	TP_printk("%s", __get_str(message))
);

/* Names that might clash: with types, with ours, with the metadata's language. */
TRACE_EVENT_FN(int,
	TP_PROTO(int event, int size, int record, u64 v),
	TP_ARGS(event, size, record, v),
	TP_STRUCT__entry(
		__field(int, event)
		__field(int, size)
		__field(int, record)
		__field(u64, stream)
		__array(char, string, 4)
		__string(src, NULL)
		__string(len, "len")
	),
	TP_fast_assign(
		__entry->event = event;
		__entry->size = size;
		__entry->record = record;
		__entry->stream = v;
		memcpy(__entry->string, "abcd", 4);
		__assign_str(src, NULL);
		__assign_str(len, "len");
	),
	TP_printk("\"%d\"\n", __entry->event),
	NULL, NULL
);

/* No fields: the event says only that it happened. */
TRACE_EVENT(hodo_kinds_nothing,
	TP_PROTO(int unused), TP_ARGS(unused), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));

/* A length that nobody can have intended. */
TRACE_EVENT(hodo_kinds_huge,
	TP_PROTO(int n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__dynamic_array(char, text, n)
		__dynamic_array(u32, numbers, n)
	),
	TP_fast_assign(
		memset(__get_str(text), 'x', n);
		memset(__get_dynamic_array(numbers), 0, __get_dynamic_array_len(numbers));
	),
	TP_printk("huge")
);

/* Not events for us: no event, or switched off in the header. */
DECLARE_TRACE(hodo_kinds_bare, TP_PROTO(int x), TP_ARGS(x));
TRACE_EVENT_NOP(hodo_kinds_off, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));

#endif

/* Made for tests/unit/kmod: the kernel's file has the same name. */
#include <trace/define_trace.h>
