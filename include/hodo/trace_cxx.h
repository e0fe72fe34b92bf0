/* SPDX-License-Identifier: MIT */
/* hodo/trace_cxx.h - the part of hodo/trace.h that differs in C++: types through templates. */
#ifndef HODO_TRACE_CXX_H
#define HODO_TRACE_CXX_H

#pragma GCC system_header

#ifdef __clang__
#define HODO_PRESERVE_ __attribute__((preserve_most))
#else
#define HODO_PRESERVE_
#endif
namespace hodo_detail_
{

template <class T> struct array_ {
	const void *data;
	size_t n;
};
template <class T> inline array_<std::remove_cv_t<T>> array_of_(T *data, size_t n) { return { data, n }; }
inline HODO_OWN_ hodo_str_ str_of_(const char *data, size_t n) { return { data, n }; }
inline HODO_OWN_ hodo_bytes_ bytes_of_(const void *data, size_t n) { return { data, n }; }

/* ----------------------------------------------------------------- types */

constexpr uint8_t int_id_(size_t size, bool is_signed)
{
	return size == 1 ? (is_signed ? HODO_TYPE_I8 : HODO_TYPE_U8)
	     : size == 2 ? (is_signed ? HODO_TYPE_I16 : HODO_TYPE_U16)
	     : size == 4 ? (is_signed ? HODO_TYPE_I32 : HODO_TYPE_U32)
	     : size == 8 ? (is_signed ? HODO_TYPE_I64 : HODO_TYPE_U64)
			 : HODO_TYPE_NONE;
}

template <class T, bool = std::is_enum<T>::value> struct under_ {
	using type = T;
};
template <class T> struct under_<T, true> {
	using type = std::underlying_type_t<T>;
};

/* id of a scalar type */
template <class T> constexpr uint8_t scalar_()
{
	using U = typename under_<T>::type;
	if constexpr (std::is_same<U, bool>::value)
		return HODO_TYPE_BOOL;
	else if constexpr (std::is_same<U, char>::value)
		return HODO_TYPE_CHAR;
	else if constexpr (std::is_integral<U>::value)
		return int_id_(sizeof(U), std::is_signed<U>::value);
	else if constexpr (std::is_same<U, float>::value)
		return HODO_TYPE_F32;
	else if constexpr (std::is_same<U, double>::value)
		return HODO_TYPE_F64;
	else if constexpr (std::is_pointer<U>::value || std::is_null_pointer<U>::value)
		return HODO_TYPE_PTR;
	else
		return HODO_TYPE_NONE;
}

template <class T> struct type_ {
	static constexpr uint8_t id = scalar_<T>();
	static constexpr size_t fixed = sizeof(T); /* bytes in the fixed part */
	static constexpr bool var = false;
};
template <uint8_t Id, size_t Fixed> struct var_type_ {
	static constexpr uint8_t id = Id;
	static constexpr size_t fixed = Fixed;
	static constexpr bool var = true;
};
template <> struct type_<char *> : var_type_<HODO_TYPE_STR, 2> {};
template <> struct type_<const char *> : var_type_<HODO_TYPE_STR, 2> {};
template <> struct type_<hodo_str_> : var_type_<HODO_TYPE_STR, 2> {};
template <> struct type_<hodo_bytes_> : var_type_<HODO_TYPE_BYTES, 4> {};
template <class T> struct type_<array_<T>> : var_type_<HODO_TYPE_ARRAY | scalar_<T>(), 4> {
	static_assert(scalar_<T>() != HODO_TYPE_NONE && scalar_<T>() != HODO_TYPE_PTR, HODO_CANNOT_);
};

template <class... T> struct list_ {};
template <class... A> list_<std::decay_t<A>...> types_(const A &...);

/* ----------------------------------------------------------- descriptors */

template <size_t N> struct text_ {
	char s[N];
};
template <size_t N> constexpr text_<N> make_text_(const char (&text)[N])
{
	text_<N> t{};
	for (size_t i = 0; i < N; i++)
		t.s[i] = text[i];
	return t;
}

template <size_t NTypes, size_t NText> struct desc_ {
	hodo_desc head;
	uint8_t types[NTypes + 1];
	char strings[NText];
};

template <class... T, size_t N>
constexpr desc_<sizeof...(T), N> make_desc_(list_<T...>, unsigned kind, uint32_t line, const char (&text)[N])
{
	static_assert(((type_<T>::id != HODO_TYPE_NONE) && ...), HODO_CANNOT_);
	static_assert(sizeof...(T) <= HODO_TRACE_FIELDS_MAX, "hodo: an event has at most 16 values");
	desc_<sizeof...(T), N> d{ { sizeof(hodo_desc), HODO_ABI_VERSION, (uint8_t)kind, sizeof...(T), 0, line,
				    sizeof(hodo_desc) + sizeof...(T) + 1, kind >> 8, sizeof(desc_<sizeof...(T), N>) },
				  { type_<T>::id..., 0 },
				  {} };
	const bool bounded[] = { std::is_same<T, hodo_str_>::value..., false };
	for (size_t i = 0; i < sizeof...(T); i++)
		d.head.nlabels = (uint16_t)(d.head.nlabels | bounded[i] << i);
	for (size_t i = 0; i < N; i++)
		d.strings[i] = text[i];
	return d;
}

/*
 * Descriptor and state of one place in the source. Hidden, so that they are
 * neither shared between objects nor of the unique kind, which would keep an
 * object from ever being unloaded.
 */
template <class Tag, class List> struct __attribute__((visibility("hidden"))) hold_ {
	alignas(8) static constexpr auto desc = make_desc_(List{}, Tag::kind_(), Tag::line_(), Tag::text_().s);
	static hodo_state state;
};
/* A span's end is not emitted by emit_() below. */
template <class Tag, class List>
hodo_state hold_<Tag, List>::state = { nullptr, nullptr, 0, 0, 0, 0, 0,
				       !HODO_JUMPS_ && Tag::kind_() != HODO_KIND_SPAN_END };

template <size_t NLabels, size_t NText> struct labels_ {
	hodo_desc head;
	int64_t values[NLabels];
	char strings[NText];
};
template <size_t N, class... V>
constexpr labels_<sizeof...(V), N> make_labels_(uint32_t line, const char (&text)[N], V... values)
{
	using L = labels_<sizeof...(V), N>;
	L d{ { sizeof(hodo_desc), HODO_ABI_VERSION, HODO_KIND_LABELS, 0, sizeof...(V), line,
	       sizeof(hodo_desc) + 8 * sizeof...(V), sizeof(hodo_desc), sizeof(L) },
	     { (int64_t)values... },
	     {} };
	for (size_t i = 0; i < N; i++)
		d.strings[i] = text[i];
	return d;
}
template <class Tag> struct __attribute__((visibility("hidden"))) hold_labels_ {
	static constexpr auto desc = Tag::make_();
};

template <auto *State, auto *Desc> inline __attribute__((always_inline)) bool branch_()
{
	HODO_BRANCH_(State, Desc, on);
	return false;
on:
	return true;
}

/* --------------------------------------------------------------- capture */

#if HODO_JUMPS_

/* The values one behind the other. */
template <class... T> struct __attribute__((packed)) values_ {};
template <class T, class... Rest> struct __attribute__((packed)) values_<T, Rest...> {
	T value;
	values_<Rest...> rest;
};
inline __attribute__((always_inline)) HODO_OWN_ void put_(values_<> &) {}
template <class T, class... Rest>
inline __attribute__((always_inline)) HODO_OWN_ void put_(values_<T, Rest...> &to, T v, Rest... rest)
{
	to.value = v;
	put_(to.rest, rest...);
}

/* By value: a text array decays, as in C. Evaluated by the caller, in order, once. */
template <auto *State, class... T> inline __attribute__((always_inline)) HODO_OWN_ void emit_(T... v)
{
	struct __attribute__((aligned(8))) : values_<T...> {
	} values;

	put_(values, v...);
	HODO_BARRIER_((type_<T>::var || ... || false));
	HODO_JUMP_EVENT_(values, State);
	HODO_BARRIER_((type_<T>::var || ... || false));
}

#else

template <class T> inline T fix_(hodo_builder_ &, const T &v) { return v; }
inline HODO_OWN_ uint16_t fix_(hodo_builder_ &b, char *const &v) { return hodo_take_cstr_(&b, v); }
inline HODO_OWN_ uint16_t fix_(hodo_builder_ &b, const char *const &v) { return hodo_take_cstr_(&b, v); }
inline HODO_OWN_ uint16_t fix_(hodo_builder_ &b, const hodo_str_ &v) { return hodo_take_str_(&b, &v); }
inline HODO_OWN_ uint32_t fix_(hodo_builder_ &b, const hodo_bytes_ &v) { return hodo_take_bytes_(&b, v.data, v.n, 1); }
template <class T> inline uint32_t fix_(hodo_builder_ &b, const array_<T> &v)
{
	return hodo_take_bytes_(&b, v.data, v.n, sizeof(T));
}

template <class T> inline __attribute__((always_inline)) void put_(hodo_builder_ &b, char *base, size_t &at, T v)
{
	const auto fixed = fix_(b, v);
	static_assert(sizeof(fixed) == type_<T>::fixed, "hodo: layout");
	__builtin_memcpy(base + at, &fixed, sizeof(fixed));
	at += sizeof(fixed);
	if constexpr (type_<T>::var)
		hodo_builder_add_(&b, at);
}

/* By value: a text array decays, as in C. Evaluated by the caller, in order, once. */
/* Out of line and cold, so that the function with the site need not make room for the event on its stack. */
template <class... T>
__attribute__((noinline, cold, visibility("hidden"))) HODO_OWN_ HODO_PRESERVE_
void emit_(const hodo_ops *ops, hodo_state *state, T... v)
{
	constexpr size_t fixed = (type_<T>::fixed + ... + 0);
	constexpr size_t nvar = ((size_t)type_<T>::var + ... + 0);
	alignas(8) char data[fixed / 8 * 8 + 8];
	hodo_piece pieces[2 * nvar + 1];
	hodo_builder_ b = { pieces, data, 0, 0, 0, 0 };
	size_t at = 0;

	(put_<T>(b, data, at, v), ...);
	if constexpr (fixed == 0) {
		ops->emit_fixed(state, "", 0);
	} else if constexpr (nvar == 0) {
		ops->emit_fixed(state, data, fixed);
	} else {
		const size_t n = (size_t)(b.piece - pieces);
		pieces[n].data = data + b.start;
		pieces[n].len = fixed - b.start;
		ops->emit_pieces(state, pieces, n + (fixed > b.start), b.total + fixed);
	}
	/* Keeps a frame pointer, and the calls above from becoming jumps: see hodo_state.outline. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory");
}

#endif

inline HODO_OWN_ const char *format_arg_(const hodo_str_ &v) { return v.data; }
template <class T> inline const T &format_arg_(const T &v) { return v; }

} /* namespace hodo_detail_ */

#define HODO_STR(p, n) (hodo_detail_::str_of_((p), (size_t)(n)))
#define HODO_BYTES(p, n) (hodo_detail_::bytes_of_((p), (size_t)(n)))
#define HODO_ARRAY(p, n) (hodo_detail_::array_of_((p), (size_t)(n)))

#define HODO_PAREN_(a) (a)
#if HODO_JUMPS_
#define HODO_EMIT_(state, ...) \
	HODO_NONE_(0, ##__VA_ARGS__) hodo_detail_::emit_<(state)>(HODO_LIST_(HODO_PAREN_, __VA_ARGS__))
#else
#define HODO_EMIT_(state, ...) \
	HODO_NONE_(0, ##__VA_ARGS__) hodo_detail_::emit_(hodo_ops_ptr_, (state)HODO_EACH_(HODO_COMMA_, __VA_ARGS__))
#define HODO_SPAN_END_(state)                                                                           \
	do {                                                                                            \
		hodo_emit_fixed_((state), "", 0);                                                       \
		__asm__ volatile("" : : : "memory"); /* no jump: the return address is the event's place */ \
	} while (0)
#endif
#define HODO_TP_STATE_INIT_ { nullptr, nullptr, 0, 0, 0, 0, 0, !HODO_JUMPS_ }

/* A local class can neither name `this` nor hold data or templates: it carries the texts, and the types,
 * which may depend on `this`, come from outside it. In a generic lambda, Clang 14 cannot deduce its `auto`s. */
#define HODO_TAG_(tag, kind, text)                                                               \
	struct tag {                                                                             \
		static constexpr unsigned kind_() { return kind; }                               \
		static constexpr uint32_t line_() { return __LINE__; }                           \
		static constexpr hodo_detail_::text_<sizeof(text __FILE__ "\0")> text_()         \
		{                                                                                \
			return hodo_detail_::make_text_(text __FILE__ "\0");                     \
		}                                                                                \
	}

/* The list under a name of its own: GCC takes no statement expression in a template's argument. */
#define HODO_HOLD_(hold, tag, kind, text, ...)                                                       \
	HODO_TAG_(tag, kind, text);                                                                  \
	using tag##list_ = decltype(hodo_detail_::types_(HODO_LIST_(HODO_PAREN_, __VA_ARGS__)));     \
	using hold = hodo_detail_::hold_<tag, tag##list_>

#define HODO_SITE_(kind, text, ...) HODO_SITE_WITH_(, kind, text, __VA_ARGS__)
/* more: a statement about HODO_HERE_, the state and descriptor. */
#define HODO_HERE_ &hodo_hold_::state, &hodo_hold_::desc
#define HODO_SITE_WITH_(more, kind, text, ...)                                                             \
	do {                                                                                               \
		HODO_HOLD_(hodo_hold_, hodo_tag_, kind, text, __VA_ARGS__);                                \
		more                                                                                       \
		HODO_WHEN_(hodo_hold_::state, hodo_hold_::desc, HODO_EMIT_(&hodo_hold_::state, __VA_ARGS__)); \
	} while (0)

struct hodo_span_ {
	hodo_state *hodo_end_ = nullptr; /* set when the begin was taken */
	hodo_span_() {}
	hodo_span_(const hodo_span_ &) = delete;
	hodo_span_ &operator=(const hodo_span_ &) = delete;
	~hodo_span_()
	{
		if (__builtin_expect(hodo_end_ != nullptr, 0)) {
			HODO_SPAN_END_(hodo_end_);
		}
	}
};

#define HODO_SPAN_I_(n, provider, name, text, args, ...) \
	HODO_SPAN_II_(HODO_PASTE_(hodo_span_, n), provider, name, text, args, __VA_ARGS__)
#define HODO_SPAN_II_(span, provider, name, text, args, ...)                                               \
	hodo_span_ span;                                                                                   \
	do {                                                                                               \
		HODO_NOTED_(provider, name, __VA_ARGS__)                                                   \
		HODO_SPAN_BEGIN_(span, text, args, HODO_VALUES_(__VA_ARGS__));                             \
	} while (0)
#define HODO_SPAN_BEGIN_(span, text, args, ...)                                                            \
	do {                                                                                               \
		HODO_HOLD_(hodo_hold_, hodo_tag_, HODO_KIND_SPAN_BEGIN, text args "\0\0", __VA_ARGS__);    \
		HODO_HOLD_(hodo_end_hold_, hodo_end_tag_, HODO_KIND_SPAN_END, text "\0\0", );              \
		HODO_NO_SITE_(&hodo_end_hold_::state, &hodo_end_hold_::desc);                              \
		HODO_WHEN_(hodo_hold_::state, hodo_hold_::desc, span.hodo_end_ = &hodo_end_hold_::state; \
			   HODO_EMIT_(&hodo_hold_::state, __VA_ARGS__));                                   \
	} while (0)

#define HODO_LABELS_I_(text, ...)                                                                          \
	do {                                                                                               \
		struct hodo_tag_ {                                                                         \
			static constexpr hodo_detail_::labels_<HODO_N_(__VA_ARGS__),                       \
							       sizeof(text __FILE__ "\0")> make_()         \
			{                                                                                  \
				return hodo_detail_::make_labels_(__LINE__, text __FILE__ "\0",            \
								  __VA_ARGS__);                            \
			}                                                                                  \
		};                                                                                         \
		using hodo_hold_ = hodo_detail_::hold_labels_<hodo_tag_>;                                  \
		__asm__ volatile(".Lhodo_%=:\n" HODO_RECORD_("0", "0", "0", HODO_NAME_(0) "-.")              \
				 :                                                                         \
				 : "i"(&hodo_hold_::desc));                                                \
	} while (0)

inline HODO_OWN_ __attribute__((format(printf, 1, 2))) void hodo_check_format_(const char *, ...) {}
#define HODO_FORMAT_ARG_(i, a) , hodo_detail_::format_arg_(a)
#define HODO_CHECK_FORMAT_(format, ...)                                                            \
	static_assert(!__builtin_strchr(format, '*'), HODO_STAR_);                                 \
	do {                                                                                       \
		if (0)                                                                             \
			hodo_check_format_(format HODO_EACH_(HODO_FORMAT_ARG_, __VA_ARGS__));    \
	} while (0)

/* -------------------------------------------------------- tracepoints' parts */

#define HODO_TP_DESC_(var, text, ...)                                                              \
	alignas(8) static constexpr auto var __attribute__((unused)) = hodo_detail_::make_desc_(   \
		hodo_detail_::list_<HODO_LIST_(HODO_TP_DECAY_, __VA_ARGS__)>{},                  \
		HODO_KIND_TRACEPOINT, __LINE__, text __FILE__ "\0")
#define HODO_TP_DECAY_(pair) std::decay_t<HODO_TP_TYPE_(pair)>
#define HODO_TP_VALUE_(pair) HODO_TP_DECAY_(pair)

#endif
