/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe.h - what TRACE_EVENT expands to in the stages of stages.h: measuring a record, and filling it in.
 *
 * A record is encoded as in <hodo/abi.h>: first the fixed part, a packed struct made of __field and __array;
 * then the variable fields, in order, each preceded by its count:
 *
 *	__field			the scalar
 *	__field_struct		BYTES: u32 size, the struct
 *	__array of char		STR: u16 size, the chars; the text ends at its first NUL
 *	__array of u8, s8	BYTES: u32 size, the bytes
 *	__array, others		ARRAY: u32 count, the elements
 *	__string, __vstring	STR
 *	__dynamic_array		as __array
 *	__bitmask, __cpumask	ARRAY of u64
 *	__sockaddr		BYTES
 *
 * A record is measured before room is taken for it, and nothing is measured twice: place, source and length
 * of each variable field are kept in a struct hodo_var, and no more than that is copied, whatever happens to
 * the source meanwhile. A text that shrinks leaves its NUL inside.
 */
#pragma once

#include <hodo/abi.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

/* The place of a variable field in the record being written. */
struct hodo_var {
	const void *src; /* of a text */
	u32 at;		 /* of its bytes, after the count; in the record */
	u32 len;	 /* bytes */
};

/* No packet fits such a record: it is refused and counted. */
#define HODO_VAR_REFUSED HODO_PACKET_MAX

static __always_inline void hodo_var_place(struct hodo_var *v, u32 *size, u32 count_size, u32 len)
{
	v->src = NULL;
	v->at = *size + count_size;
	v->len = len;
	*size += count_size + len;
}

/* len: in bytes, from the event's source; it may be anything. */
static __always_inline void hodo_var_array(struct hodo_var *v, u32 *size, bool text, size_t len)
{
	if (unlikely(len > (text ? HODO_STR_MAX : HODO_VAR_REFUSED)))
		len = HODO_VAR_REFUSED;
	hodo_var_place(v, size, text ? 2 : 4, len);
}

static __always_inline void hodo_var_text_len(struct hodo_var *v, u32 *size, const void *src, size_t len)
{
	if (unlikely(!src)) {
		src = HODO_NULL_TEXT;
		len = HODO_NULL_TEXT_LEN;
	}
	if (unlikely(len > HODO_STR_MAX))
		len = HODO_STR_MAX;
	hodo_var_place(v, size, 2, len);
	v->src = src;
}

static __always_inline void hodo_var_text(struct hodo_var *v, u32 *size, const void *src)
{
	hodo_var_text_len(v, size, src, src ? strlen(src) : 0);
}

/* The field's count, before its bytes. element: size of one; 0: a text. */
static __always_inline void hodo_var_count(void *record, const struct hodo_var *v, u32 element)
{
	if (element) {
		u32 count = v->len / element;

		__builtin_memcpy(record + v->at - 4, &count, 4);
	} else {
		u16 count = v->len;

		__builtin_memcpy(record + v->at - 2, &count, 2);
	}
}

/* A text, or data from any source whose length cannot change. */
static __always_inline void hodo_var_copy(void *record, const struct hodo_var *v, const void *src, size_t len)
{
	__builtin_memcpy(record + v->at, src, len < v->len ? len : v->len);
}

#define HODO_IS_CHAR(t) __builtin_types_compatible_p(t, char)
#define HODO_IS_BYTE(t) (sizeof(t) == 1 && !HODO_IS_CHAR(t) && !__builtin_types_compatible_p(t, _Bool))
/* __builtin_classify_type() of a pointer. */
#define HODO_IS_POINTER(t) (__builtin_classify_type(*(t *)NULL) == 5)

/*
 * enum hodo_type of a scalar by its size and sign; HODO_TYPE_NONE: not a scalar. An enum counts as its
 * integer.
 */
#define HODO_INTEGER_TYPE(t)                                                                                   \
	(sizeof(t) == 1	  ? HODO_TYPE_U8 - is_signed_type(t)                                                   \
	 : sizeof(t) == 2 ? HODO_TYPE_U16 - is_signed_type(t)                                                  \
	 : sizeof(t) == 4 ? HODO_TYPE_U32 - is_signed_type(t)                                                  \
	 : sizeof(t) == 8 ? HODO_TYPE_U64 - is_signed_type(t)                                                  \
			  : HODO_TYPE_NONE)
#define HODO_SCALAR_TYPE(t)                                                                                    \
	(HODO_IS_POINTER(t)			    ? HODO_TYPE_PTR                                            \
	 : __builtin_types_compatible_p(t, _Bool) ? HODO_TYPE_BOOL                                           \
	 : HODO_IS_CHAR(t)			    ? HODO_TYPE_CHAR                                           \
						    : HODO_INTEGER_TYPE(t))
#define HODO_ARRAY_TYPE(t)                                                                                     \
	(HODO_IS_CHAR(t) ? HODO_TYPE_STR : HODO_IS_BYTE(t) ? HODO_TYPE_BYTES : (HODO_TYPE_ARRAY | HODO_SCALAR_TYPE(t)))
/* Type of the count before an array of t. */
#define HODO_COUNT(t) __typeof__(__builtin_choose_expr(HODO_IS_CHAR(t), (u16)0, (u32)0))

#define HODO_LONGS(bits) (((size_t)(bits) + 63) / 64)

/* Skipped classes and events have HODO_SKIP_CLASS_name, HODO_SKIP_EVENT_name defined as one argument and a comma. */
#define HODO_SECOND_(a, b, ...) b
#define HODO_SECOND(...) HODO_SECOND_(__VA_ARGS__)
#define HODO_UNLESS(skip, yes) HODO_SECOND(skip HODO_NOTHING, yes, ~)
#define HODO_NOTHING(...)
