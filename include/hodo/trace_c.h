/* SPDX-License-Identifier: MIT */
/* hodo/trace_c.h - the part of hodo/trace.h that differs in C: types through _Generic. */
#ifndef HODO_TRACE_C_H
#define HODO_TRACE_C_H

#pragma GCC system_header

#define HODO_STR(p, n) ((struct hodo_str_){ (p), (size_t)(n) })
#define HODO_BYTES(p, n) ((struct hodo_bytes_){ (p), (size_t)(n) })

/* An array's struct type gives the type of its elements. X(name, C type, hodo type) */
#define HODO_ARRAY_TYPES_(X)               \
	X(bool, _Bool, HODO_TYPE_BOOL)     \
	X(i8, signed char, HODO_TYPE_I8)   \
	X(u8, unsigned char, HODO_TYPE_U8) \
	X(i16, short, HODO_TYPE_I16)       \
	X(u16, unsigned short, HODO_TYPE_U16) \
	X(i32, int, HODO_TYPE_I32)         \
	X(u32, unsigned, HODO_TYPE_U32)    \
	X(i64, long, HODO_TYPE_I64)        \
	X(u64, unsigned long, HODO_TYPE_U64) \
	HODO_ARRAY_FLOATS_(X)
#ifdef __KERNEL__ /* no floats, and no registers for them */
#define HODO_ARRAY_FLOATS_(X)
#define HODO_TYPE_FLOATS_
#else
#define HODO_ARRAY_FLOATS_(X)              \
	X(f32, float, HODO_TYPE_F32)       \
	X(f64, double, HODO_TYPE_F64)
#define HODO_TYPE_FLOATS_ float: HODO_TYPE_F32, double: HODO_TYPE_F64,
#endif
#define HODO_ARRAY_DEF_(name, type, id)                                                            \
	struct hodo_array_##name##_ {                                                              \
		const void *data;                                                                  \
		size_t n;                                                                          \
	};                                                                                         \
	static inline HODO_OWN_ struct hodo_array_##name##_ hodo_array_of_##name##_(const void *data, size_t n) \
	{                                                                                          \
		return (struct hodo_array_##name##_){ data, n };                                   \
	}
HODO_ARRAY_TYPES_(HODO_ARRAY_DEF_)

#define HODO_ARRAY_PICK_(name, type, id) type: hodo_array_of_##name##_,
#define HODO_ARRAY(p, n)                                                                    \
	_Generic((p)[0], HODO_ARRAY_TYPES_(HODO_ARRAY_PICK_)                                \
			 char: hodo_array_of_i8_, long long: hodo_array_of_i64_,            \
			 unsigned long long: hodo_array_of_u64_)((p), (size_t)(n))

#define HODO_ARRAY_ID_(name, type, id) struct hodo_array_##name##_: HODO_TYPE_ARRAY | id,
#define HODO_TYPE_(x)                                                                                      \
	_Generic((x), _Bool: HODO_TYPE_BOOL, char: HODO_TYPE_CHAR, signed char: HODO_TYPE_I8,              \
		 unsigned char: HODO_TYPE_U8, short: HODO_TYPE_I16, unsigned short: HODO_TYPE_U16,         \
		 int: HODO_TYPE_I32, unsigned: HODO_TYPE_U32, long: HODO_TYPE_I64,                         \
		 unsigned long: HODO_TYPE_U64, long long: HODO_TYPE_I64,                                   \
		 unsigned long long: HODO_TYPE_U64, HODO_TYPE_FLOATS_                                      \
		 char *: HODO_TYPE_STR, const char *: HODO_TYPE_STR, struct hodo_str_: HODO_TYPE_STR,      \
		 struct hodo_bytes_: HODO_TYPE_BYTES, HODO_ARRAY_TYPES_(HODO_ARRAY_ID_)                    \
		 default: HODO_IS_POINTER_(x) ? HODO_TYPE_PTR : HODO_TYPE_NONE)
/* A float would be promoted on the way, which some people ask to be warned about. */
#define HODO_IS_POINTER_(x) \
	(__builtin_classify_type(_Generic((x), float: 0, default: (x))) == 5 /* pointer_type_class */)

#define HODO_TYPE_ITEM_(i, a) HODO_TYPE_(a),
#define HODO_TYPE_CHECK_(i, a) _Static_assert(HODO_TYPE_(a) != HODO_TYPE_NONE, HODO_CANNOT_);

/* What cannot be recorded at all gives its own error. */
#define HODO_CHECK_COUNTER_(n) _Static_assert(HODO_TYPE_(n) <= HODO_TYPE_F64, HODO_COUNTS_)

/* A descriptor: head, types, strings in one object. text lacks file and function; kind_ may have
 * HODO_DESC_* << 8 or-ed to it. */
#define HODO_DESC_(var, kind_, text, types_, bounded, count)                                                         \
	static const struct {                                                                                \
		struct hodo_desc head;                                                                       \
		uint8_t types[(count) + 1];                                                                  \
		char strings[sizeof(text __FILE__ "\0")];                                                    \
	} var __attribute__((unused, aligned(8))) = {                                                        \
		{ sizeof(struct hodo_desc), HODO_ABI_VERSION, (kind_) & 0xff, count, bounded, __LINE__,         \
		  sizeof(struct hodo_desc) + (count) + 1, (kind_) >> 8, sizeof(var) }, types_, text __FILE__ "\0" }
#define HODO_TYPES_(...) { HODO_EACH_(HODO_TYPE_ITEM_, __VA_ARGS__) 0 }
/* Which values are strings with a length. */
#define HODO_BOUNDED_(...) (0 HODO_EACH_(HODO_BOUNDED_BIT_, __VA_ARGS__))
#define HODO_BOUNDED_BIT_(i, a) | (_Generic((a), struct hodo_str_: 1, default: 0) << i)

/* ------------------------------------------------------------------ capture */

#if !HODO_JUMPS_
#define HODO_ARRAY_LEN_(name, type, id) struct hodo_array_##name##_: (uint32_t)0,
#define HODO_WIRE_T_(v)                                                                            \
	__typeof__(_Generic((v), char *: (uint16_t)0, const char *: (uint16_t)0,                   \
			    struct hodo_str_: (uint16_t)0, struct hodo_bytes_: (uint32_t)0,        \
			    HODO_ARRAY_TYPES_(HODO_ARRAY_LEN_) default: (v)))
/* Through the value's address, because every branch of _Generic must compile for every type. */
static inline HODO_OWN_ uint16_t hodo_fix_cstr_(struct hodo_builder_ *b, const void *value)
{
	return hodo_take_cstr_(b, *(const char *const *)value);
}
static inline HODO_OWN_ uint16_t hodo_fix_str_(struct hodo_builder_ *b, const void *value)
{
	return hodo_take_str_(b, (const struct hodo_str_ *)value);
}
static inline HODO_OWN_ uint32_t hodo_fix_bytes_(struct hodo_builder_ *b, const void *value, size_t size)
{
	const struct hodo_bytes_ *v = (const struct hodo_bytes_ *)value;

	return hodo_take_bytes_(b, v->data, v->n, size);
}

#define HODO_ARRAY_FIX_(name, type, id) \
	struct hodo_array_##name##_: hodo_fix_bytes_(&hodo_b_, hodo_p_, sizeof(type)),
#define HODO_FIX_(v)                                                                                       \
	_Generic((v), char *: hodo_fix_cstr_(&hodo_b_, hodo_p_), const char *: hodo_fix_cstr_(&hodo_b_, hodo_p_), \
		 struct hodo_str_: hodo_fix_str_(&hodo_b_, hodo_p_),                                       \
		 struct hodo_bytes_: hodo_fix_bytes_(&hodo_b_, hodo_p_, 1),                                \
		 HODO_ARRAY_TYPES_(HODO_ARRAY_FIX_) default: (v))

#endif

#define HODO_IS_VAR_(v) \
	((HODO_TYPE_(v) & HODO_TYPE_ARRAY) || HODO_TYPE_(v) == HODO_TYPE_STR || HODO_TYPE_(v) == HODO_TYPE_BYTES)
#define HODO_COUNT_VAR_(i, a) +HODO_IS_VAR_(hodo_v##i##_)
#define HODO_HOLD_(i, a) __extension__ __auto_type hodo_v##i##_ = (a);

/* Evaluates the values in order, once, and passes the event on; HODO_EMIT_HELD_: values that HODO_HOLD_ has
 * taken. */
#define HODO_EMIT_(state, ...)                                                                             \
	HODO_NONE_(0, ##__VA_ARGS__)                                                                       \
	do {                                                                                               \
		HODO_EACH_(HODO_HOLD_, __VA_ARGS__)                                                      \
		HODO_EMIT_HELD_(state, __VA_ARGS__)                                                        \
	} while (0)

#if HODO_JUMPS_

#define HODO_VALUE_(i, a) __typeof__(_Generic(hodo_v##i##_, default: hodo_v##i##_)) f##i;
#define HODO_VALUE_FILL_(i, a) hodo_w_.f##i = hodo_v##i##_;
#define HODO_EMIT_HELD_(state, ...)                                          \
	__extension__ struct __attribute__((packed, aligned(8))) {           \
		HODO_EACH_(HODO_VALUE_, __VA_ARGS__)                         \
	} hodo_w_;                                                           \
	enum { hodo_nvar_ = 0 HODO_EACH_(HODO_COUNT_VAR_, __VA_ARGS__) };    \
	HODO_EACH_(HODO_VALUE_FILL_, __VA_ARGS__)                            \
	HODO_BARRIER_(hodo_nvar_);                                           \
	HODO_JUMP_EVENT_(hodo_w_, state);                                    \
	HODO_BARRIER_(hodo_nvar_);

#else

#define HODO_WIRE_(i, a) HODO_WIRE_T_(hodo_v##i##_) f##i;
#define HODO_FILL_(i, a)                                                                          \
	{                                                                                         \
		const void *hodo_p_ = &hodo_v##i##_;                                              \
		(void)hodo_p_;                                                                    \
		hodo_w_.f##i = HODO_FIX_(hodo_v##i##_);                                           \
		if (HODO_IS_VAR_(hodo_v##i##_))                                                   \
			hodo_builder_add_(&hodo_b_, __builtin_offsetof(__typeof__(hodo_w_), f##i) + \
							    sizeof(hodo_w_.f##i));                \
	}

#define HODO_EMIT_HELD_(state, ...)                                                        \
	__extension__ struct __attribute__((packed, aligned(8))) {                                 \
		HODO_EACH_(HODO_WIRE_, __VA_ARGS__)                                                \
		char hodo_end_[0];                                                                 \
	} hodo_w_;                                                                                 \
	enum { hodo_nvar_ = 0 HODO_EACH_(HODO_COUNT_VAR_, __VA_ARGS__) };                          \
	struct hodo_piece hodo_pieces_[2 * hodo_nvar_ + 1];                                        \
	struct hodo_builder_ hodo_b_ = { hodo_pieces_, (const char *)&hodo_w_, 0, 0, 0, 0 };       \
	const size_t hodo_end_ = __builtin_offsetof(__typeof__(hodo_w_), hodo_end_);               \
	HODO_EACH_(HODO_FILL_, __VA_ARGS__)                                                        \
	if (hodo_nvar_ == 0) {                                                                     \
		HODO_EMIT_FIXED_(state, &hodo_w_, hodo_end_);                                      \
	} else {                                                                                   \
		size_t hodo_n_ = (size_t)(hodo_b_.piece - hodo_pieces_);                           \
		hodo_pieces_[hodo_n_].data = hodo_b_.base + hodo_b_.start;                         \
		hodo_pieces_[hodo_n_].len = hodo_end_ - hodo_b_.start;                             \
		HODO_EMIT_PIECES_(state, hodo_pieces_, hodo_n_ + (hodo_end_ > hodo_b_.start),      \
				  hodo_b_.total + hodo_end_);                                      \
	}
#define HODO_SPAN_END_(state)                                                                         \
	do {                                                                                          \
		HODO_EMIT_FIXED_((state), "", 0);                                                     \
		__asm__ volatile("" : : : "memory"); /* no tail call: its place is the return address */   \
	} while (0)

#endif

#if defined(__clang__) && !defined(__KERNEL__)
static inline HODO_OWN_ __attribute__((always_inline)) int hodo_branch_(struct hodo_state *state, const void *desc)
{
#ifdef __OPTIMIZE__
	HODO_BRANCH_(state, desc, hodo_on_);
	return 0;
hodo_on_:
	return 1;
#else
	(void)desc;
	return __atomic_load_n(&state->flag, __ATOMIC_RELAXED);
#endif
}
#ifndef __OPTIMIZE__ /* the record needs constants, which only the macro has */
#define hodo_branch_(state, desc) __extension__({ HODO_NO_SITE_(state, desc); hodo_branch_(state, desc); })
#endif
#endif

#define HODO_SITE_(kind, text, ...) HODO_SITE_WITH_(, kind, text, __VA_ARGS__)
/* more: a statement about HODO_HERE_, the state and descriptor. */
#define HODO_HERE_ &hodo_state_, &hodo_desc_
#define HODO_SITE_WITH_(more, kind, text, ...)                                                             \
	do {                                                                                               \
		HODO_EACH_(HODO_TYPE_CHECK_, __VA_ARGS__)                                                  \
		HODO_DESC_(hodo_desc_, kind, text, HODO_TYPES_(__VA_ARGS__), HODO_BOUNDED_(__VA_ARGS__),   \
			   HODO_N_(__VA_ARGS__));                                                          \
		HODO_STATE_(hodo_state_, hodo_desc_);                                                      \
		more                                                                                       \
		HODO_WHEN_(hodo_state_, hodo_desc_, HODO_EMIT_SITE_(&hodo_state_, __VA_ARGS__));           \
	} while (0)

/* -------------------------------------------------------------------- spans */

struct hodo_span_ {
	HODO_STATE_TYPE_ *hodo_end_; /* set when the start was tried */
};
static inline HODO_OWN_ void hodo_span_close_(struct hodo_span_ *span)
{
	if (__builtin_expect(span->hodo_end_ != 0, 0)) {
		HODO_SPAN_END_(span->hodo_end_);
	}
}

/* Compilers name it where the declaration has no block around it: after "if (x)". */
#define HODO_SPAN_NAME_ hodo_span_needs_a_block_around_it_
#define HODO_SPAN_I_(n, provider, name, text, args, ...) \
	HODO_SPAN_II_(HODO_PASTE_(HODO_SPAN_NAME_, n), provider, name, text, args, __VA_ARGS__)
#define HODO_SPAN_II_(span, provider, name, text, args, ...)                                               \
	struct hodo_span_ span __attribute__((cleanup(hodo_span_close_), unused)) = { 0 };                 \
	do {                                                                                               \
		HODO_NOTED_(provider, name, __VA_ARGS__)                                                   \
		HODO_SPAN_BEGIN_(span, text, args, HODO_VALUES_(__VA_ARGS__));                             \
	} while (0)
#define HODO_SPAN_BEGIN_(...) HODO_SPAN_BEGIN_WITH_(, __VA_ARGS__)
/* first: what runs before the values are evaluated, if it is on. */
#define HODO_SPAN_BEGIN_WITH_(first, span, text, args, ...)                                                \
	do {                                                                                               \
		HODO_EACH_(HODO_TYPE_CHECK_, __VA_ARGS__)                                                  \
		HODO_DESC_(hodo_desc_, HODO_KIND_SPAN_BEGIN, text args "\0\0", HODO_TYPES_(__VA_ARGS__),   \
			   HODO_BOUNDED_(__VA_ARGS__), HODO_N_(__VA_ARGS__));                              \
		HODO_DESC_(hodo_end_desc_, HODO_KIND_SPAN_END, text "\0\0", { 0 }, 0, 0);                     \
		HODO_STATE_(hodo_state_, hodo_desc_);                                                      \
		HODO_STATE_(hodo_end_state_, hodo_end_desc_);                                              \
		HODO_NO_SITE_(&hodo_end_state_, &hodo_end_desc_);                                          \
		HODO_WHEN_(hodo_state_, hodo_desc_, first span.hodo_end_ = &hodo_end_state_;                     \
			   HODO_EMIT_SITE_(&hodo_state_, __VA_ARGS__));                                    \
	} while (0)

/* ------------------------------------------------------------ labels, formats */

#define HODO_LABEL_(a) (int64_t)(a)
#define HODO_LABELS_I_(text, ...)                                                                          \
	do {                                                                                               \
		static const struct {                                                                      \
			struct hodo_desc head;                                                             \
			int64_t values[HODO_N_(__VA_ARGS__)];                                              \
			char strings[sizeof(text __FILE__ "\0")];                                          \
		} hodo_desc_ __attribute__((aligned(8))) = {                                               \
			{ sizeof(struct hodo_desc), HODO_ABI_VERSION, HODO_KIND_LABELS, 0,                 \
			  HODO_N_(__VA_ARGS__), __LINE__,                                                  \
			  sizeof(struct hodo_desc) + 8 * HODO_N_(__VA_ARGS__), sizeof(struct hodo_desc),   \
			  sizeof(hodo_desc_) },                                                            \
			{ HODO_LIST_(HODO_LABEL_, __VA_ARGS__) }, text __FILE__ "\0" };                    \
		HODO_LABELS_RECORD_(hodo_desc_);                                                           \
	} while (0)

/* Checked in code that never runs. HODO_STR counts as a string. */
static inline HODO_OWN_ const char *hodo_format_str_(struct hodo_str_ s) { return s.data; }
#define HODO_FORMAT_ARG_(i, a) \
	, _Generic((a), struct hodo_str_: "", default: (a))
static inline HODO_OWN_ __attribute__((format(printf, 1, 2))) void hodo_check_format_(const char *format, ...)
#ifdef __clang__
	__attribute__((diagnose_if(__builtin_strchr(format, '*'), HODO_STAR_, "error")))
#endif
	;
static inline HODO_OWN_ void hodo_check_format_(const char *format, ...) { (void)format; }
#ifdef __clang__
#define HODO_CHECK_STAR_(format)
#else
#define HODO_CHECK_STAR_(format) _Static_assert(!__builtin_strchr(format, '*'), HODO_STAR_);
#endif
#define HODO_CHECK_FORMAT_(format, ...)                                                            \
	HODO_CHECK_STAR_(format)                                                                   \
	do {                                                                                       \
		if (0)                                                                             \
			hodo_check_format_(format HODO_EACH_(HODO_FORMAT_ARG_, __VA_ARGS__));    \
	} while (0)

/* -------------------------------------------------------- tracepoints' parts */

#define HODO_TP_TYPE_ITEM_(i, pair) HODO_TYPE_(*(HODO_TP_TYPE_(pair) *)0),
#define HODO_TP_TYPE_CHECK_(i, pair) \
	_Static_assert(HODO_TYPE_(*(HODO_TP_TYPE_(pair) *)0) != HODO_TYPE_NONE, HODO_CANNOT_);
#define HODO_TP_DESC_(var, text, ...)                                                               \
	HODO_EACH_(HODO_TP_TYPE_CHECK_, __VA_ARGS__)                                              \
	HODO_DESC_(var, HODO_KIND_TRACEPOINT, text,                                                 \
		   HODO_TP_TYPES_(__VA_ARGS__), HODO_TP_BOUNDED_(__VA_ARGS__), HODO_N_(__VA_ARGS__))
#define HODO_TP_BOUNDED_(...) (0 HODO_EACH_(HODO_TP_BOUNDED_BIT_, __VA_ARGS__))
#define HODO_TP_BOUNDED_BIT_(i, pair) HODO_BOUNDED_BIT_(i, *(HODO_TP_TYPE_(pair) *)0)
#define HODO_TP_EMIT_(id, ...) \
	HODO_CALL_(HODO_EMIT_, &hodo_tp_state_##id HODO_EACH_(HODO_TP_COMMA_NAME_, __VA_ARGS__));
#define HODO_TP_TYPES_(...) { HODO_EACH_(HODO_TP_TYPE_ITEM_, __VA_ARGS__) 0 }
#define HODO_TP_STATE_INIT_ { 0 }

#endif
