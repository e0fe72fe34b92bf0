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
#include <hodo/trace_values.h>
#include <hodo/trace_meaning.h>

namespace hodo_detail_
{

/* ----------------------------------------------------------- descriptors */

template <size_t N> struct text_ {
	char s[N];
};
template <size_t N> constexpr HODO_OWN_ text_<N> make_text_(const char (&text)[N])
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

template <class... A, size_t N>
constexpr HODO_OWN_ auto make_desc_(list_<A...> values, unsigned kind, uint32_t line, const char (&text)[N])
{
	constexpr size_t n = sizeof...(A), room = texts_room_(list_<A...>{}, N) + are_labelled_(list_<A...>{});
	static_assert(n <= HODO_TRACE_FIELDS_MAX, "hodo: an event has at most 16 values");
	const unsigned flags = kind >> 8 | (are_labelled_(values) ? HODO_DESC_LABELLED : 0);
	desc_<n, room> d{ { sizeof(hodo_desc), HODO_ABI_VERSION, (uint8_t)kind, n, 0, line, sizeof(hodo_desc) + n + 1,
			    flags, sizeof(desc_<n, room>) },
			  { type_<wire_<A>>::id..., 0 },
			  {} };
	const bool bounded[] = { std::is_same<wire_<A>, hodo_str_>::value..., false };
	const auto texts = texts_<room>(values, text);

	for (size_t i = 0; i < n; i++)
		d.head.nlabels = (uint16_t)(d.head.nlabels | bounded[i] << i);
	for (size_t i = 0; i < room; i++)
		d.strings[i] = texts.s[i];
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
constexpr HODO_OWN_ labels_<sizeof...(V), N> make_labels_(uint32_t line, const char (&text)[N], V... values)
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

template <auto *State, auto *Desc> HODO_INLINED_ bool branch_()
{
	HODO_BRANCH_(State, Desc, on);
	return false;
on:
	return true;
}

/* --------------------------------------------------------------- capture */

#if HODO_JUMPS_

/* The values one after the other, as a site hands them over. */
template <class... T> struct __attribute__((packed)) values_ {};
template <class T, class... Rest> struct __attribute__((packed)) values_<T, Rest...> {
	T value;
	values_<Rest...> rest;
};
HODO_INLINED_ void put_(values_<> &) {}
template <class T, class... Rest, class W, class... More>
HODO_INLINED_ void put_(values_<T, Rest...> &to, const W &v, const More &...more)
{
	to.value = stored_(v);
	put_(to.rest, more...);
}

template <auto *State, class... W> HODO_INLINED_ void emit_made_(W... v)
{
	struct __attribute__((aligned(8))) : values_<stored_t_<W>...> {
	} values;

	put_(values, v...);
	HODO_BARRIER_((type_<W>::var || ... || false));
	HODO_JUMP_EVENT_(values, State);
	HODO_BARRIER_((type_<W>::var || ... || false));
}

/* The caller evaluates the values once, in order. What is made of them lives until the event is written. */
template <auto *State, class... A> HODO_INLINED_ void emit_(list_<A...>, param_<A>... v)
{
	emit_made_<State>(of_(given_<A>(v))...);
}

#else

template <class T> HODO_INLINED_ T fix_(hodo_builder_ &, const T &v) { return v; }
HODO_INLINED_ const void *fix_(hodo_builder_ &, const refused_ &) { return nullptr; }
HODO_INLINED_ uint16_t fix_(hodo_builder_ &b, char *const &v) { return hodo_take_cstr_(&b, v); }
HODO_INLINED_ uint16_t fix_(hodo_builder_ &b, const char *const &v) { return hodo_take_cstr_(&b, v); }
HODO_INLINED_ uint16_t fix_(hodo_builder_ &b, const hodo_str_ &v) { return hodo_take_str_(&b, &v); }
HODO_INLINED_ uint32_t fix_(hodo_builder_ &b, const hodo_bytes_ &v) { return hodo_take_bytes_(&b, v.data, v.n, 1); }
template <class T> HODO_INLINED_ uint32_t fix_(hodo_builder_ &b, const array_<T> &v)
{
	return hodo_take_bytes_(&b, v.data, v.n, sizeof(T));
}
template <class T, size_t N> HODO_INLINED_ uint32_t fix_(hodo_builder_ &b, const few_<T, N> &v)
{
	return hodo_take_bytes_(&b, v.data, v.n, sizeof(T));
}

template <class T> HODO_INLINED_ void put_(hodo_builder_ &b, char *base, size_t &at, const T &v)
{
	const auto fixed = fix_(b, v);
	static_assert(sizeof(fixed) == type_<T>::fixed, "hodo: layout");
	__builtin_memcpy(base + at, &fixed, sizeof(fixed));
	at += sizeof(fixed);
	if constexpr (type_<T>::var)
		hodo_builder_add_(&b, at);
}

/* Out of line and cold, so that the function with the site need not make room for the event on its stack. */
template <class... T>
__attribute__((noinline, cold, visibility("hidden"))) HODO_OWN_ HODO_PRESERVE_
void emit_made_(const hodo_ops *ops, hodo_state *state, T... v)
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

/* The caller evaluates the values once, in order. What is made of them lives until the event is written. */
template <class... A> HODO_INLINED_ void emit_(const hodo_ops *ops, hodo_state *state, list_<A...>, param_<A>... v)
{
	emit_made_(ops, state, of_(given_<A>(v))...);
}

#endif

/* What printf() would get. */
HODO_INLINED_ const char *format_made_(const hodo_str_ &v) { return v.data; }
HODO_INLINED_ const char *format_made_(const refused_ &) { return ""; }
template <class T> HODO_INLINED_ T format_made_(const T &v) { return v; }
template <class A> HODO_INLINED_ auto format_arg_(const A &v) { return format_made_(of_(given_(v))); }

} /* namespace hodo_detail_ */

#define HODO_STR(p, n) (hodo_detail_::str_of_((p), (size_t)(n)))
#define HODO_BYTES(p, n) (hodo_detail_::bytes_of_((p), (size_t)(n)))
#define HODO_ARRAY(p, n) (hodo_detail_::array_of_((p), (size_t)(n)))

#define HODO_PAREN_(a) (a)
/* list: the types of the values. */
#if HODO_JUMPS_
#define HODO_EMIT_LIST_(state, list, ...) \
	HODO_NONE_(0, ##__VA_ARGS__) hodo_detail_::emit_<(state)>(list{} HODO_EACH_(HODO_COMMA_, __VA_ARGS__))
#else
#define HODO_EMIT_LIST_(state, list, ...) \
	HODO_NONE_(0, ##__VA_ARGS__)      \
	hodo_detail_::emit_(hodo_ops_ptr_, (state), list{} HODO_EACH_(HODO_COMMA_, __VA_ARGS__))
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

/* Gives the list a name: GCC accepts no statement expression in a template argument. */
#define HODO_HOLD_(hold, tag, kind, text, ...)                                                       \
	HODO_TAG_(tag, kind, text);                                                                  \
	using tag##list_ = decltype(hodo_detail_::types_(HODO_LIST_(HODO_PAREN_, __VA_ARGS__)));     \
	HODO_CHECK_(tag##list_, __VA_ARGS__);                                                        \
	using hold = hodo_detail_::hold_<tag, tag##list_>

#define HODO_CHECK_COUNTER_(n)                                                    \
	using hodo_counter_ = decltype(hodo_detail_::types_((n)));                \
	static_assert(hodo_detail_::is_count_(hodo_counter_{}), HODO_COUNTS_)

#define HODO_SITE_(kind, text, ...) HODO_SITE_WITH_(, kind, text, __VA_ARGS__)
/* more: a statement that uses HODO_HERE_, the state and descriptor. */
#define HODO_HERE_ &hodo_hold_::state, &hodo_hold_::desc
#define HODO_SITE_WITH_(more, kind, text, ...)                                                             \
	do {                                                                                               \
		HODO_HOLD_(hodo_hold_, hodo_tag_, kind, text, __VA_ARGS__);                                \
		more                                                                                       \
		HODO_WHEN_(hodo_hold_::state, hodo_hold_::desc,                                                    \
			   HODO_EMIT_LIST_(&hodo_hold_::state, hodo_tag_list_, __VA_ARGS__));                      \
	} while (0)

struct hodo_span_ {
	hodo_state *hodo_end_ = nullptr; /* set when the start was taken */
	HODO_INLINED_ hodo_span_() {}
	hodo_span_(const hodo_span_ &) = delete;
	hodo_span_ &operator=(const hodo_span_ &) = delete;
	HODO_INLINED_ ~hodo_span_()
	{
		if (__builtin_expect(hodo_end_ != nullptr, 0)) {
			HODO_SPAN_END_(hodo_end_);
		}
	}
};

/* Compilers name it where the declaration has no block around it: after "if (x)". */
#define HODO_SPAN_NAME_ hodo_span_needs_a_block_around_it_
#define HODO_SPAN_I_(n, provider, name, text, args, ...) \
	HODO_SPAN_II_(HODO_PASTE_(HODO_SPAN_NAME_, n), provider, name, text, args, __VA_ARGS__)
#define HODO_SPAN_II_(span, provider, name, text, args, ...)                                               \
	hodo_span_ span;                                                                                   \
	do {                                                                                               \
		HODO_NOTED_(provider, name, __VA_ARGS__)                                                   \
		HODO_SPAN_BEGIN_(span, text, args, HODO_VALUES_(__VA_ARGS__));                             \
	} while (0)
#define HODO_SPAN_BEGIN_(...) HODO_SPAN_BEGIN_WITH_(, __VA_ARGS__)
/* first: what runs before the values are evaluated, if it is on. */
#define HODO_SPAN_BEGIN_WITH_(first, span, text, args, ...)                                                \
	do {                                                                                               \
		HODO_HOLD_(hodo_hold_, hodo_tag_, HODO_KIND_SPAN_BEGIN, text args "\0\0", __VA_ARGS__);    \
		HODO_HOLD_(hodo_end_hold_, hodo_end_tag_, HODO_KIND_SPAN_END, text "\0\0", );              \
		HODO_NO_SITE_(&hodo_end_hold_::state, &hodo_end_hold_::desc);                              \
		HODO_WHEN_(hodo_hold_::state, hodo_hold_::desc, first span.hodo_end_ = &hodo_end_hold_::state; \
			   HODO_EMIT_LIST_(&hodo_hold_::state, hodo_tag_list_, __VA_ARGS__));                      \
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

#define HODO_TP_DECAY_(pair) std::decay_t<HODO_TP_TYPE_(pair)>
#define HODO_TP_LIST_(...) hodo_detail_::list_<HODO_LIST_(HODO_TP_DECAY_, __VA_ARGS__)>
#define HODO_TP_DESC_(var, text, ...)                                                            \
	alignas(8) static constexpr auto var __attribute__((unused)) = hodo_detail_::make_desc_( \
		HODO_TP_LIST_(__VA_ARGS__){}, HODO_KIND_TRACEPOINT, __LINE__, text __FILE__ "\0")
#define HODO_TP_CHECK_(...)                                                    \
	using hodo_list_ __attribute__((unused)) = HODO_TP_LIST_(__VA_ARGS__); \
	HODO_CHECK_(hodo_list_, HODO_LIST_(HODO_TP_NAME_, __VA_ARGS__));
#define HODO_TP_EMIT_(id, ...)                                                        \
	{                                                                             \
		HODO_TP_CHECK_(__VA_ARGS__)                                           \
		HODO_CALL_(HODO_EMIT_LIST_, &hodo_tp_state_##id,                      \
			   hodo_list_ HODO_EACH_(HODO_TP_COMMA_NAME_, __VA_ARGS__)); \
	}

#if HODO_JUMPS_
namespace hodo_detail_
{
/* A parameter for the probes; if it is not recorded as it is, its address. */
template <class T, bool = is_number_<bare_<T>>> struct kept_ {
	using type = bare_<T>;
	template <class F> HODO_INLINED_ type from(F stored) const { return (type)stored; }
};
template <class T> struct kept_<T, false> {
	std::remove_reference_t<T> *at;
	using type = std::remove_reference_t<T> &;
	template <class F> HODO_INLINED_ type from(const F &) const { return *at; }
};
template <class T> HODO_INLINED_ kept_<T> keep_(std::remove_reference_t<T> &v)
{
	if constexpr (is_number_<bare_<T>>)
		return {};
	else
		return { &v };
}
}
#define HODO_TP_MEMBERS_(...) HODO_EACH_(HODO_TP_MEMBER_, __VA_ARGS__) HODO_EACH_(HODO_TP_KEPT_, __VA_ARGS__)
#define HODO_TP_MEMBER_(i, pair) hodo_detail_::stored_t_<hodo_detail_::wire_<HODO_TP_DECAY_(pair)>> f##i;
#define HODO_TP_KEPT_(i, pair) hodo_detail_::kept_<HODO_TP_TYPE_(pair)> k##i;
#define HODO_TP_HELD_(i, pair)                                                        \
	typename hodo_detail_::kept_<HODO_TP_TYPE_(pair)>::type HODO_TP_NAME_(pair) = \
		hodo_w_->k##i.from(hodo_w_->f##i);
#define HODO_TP_TAKE_(id, empty, ...)                \
	HODO_TP_CHECK_(__VA_ARGS__)                  \
	HODO_EACH_(HODO_TP_MADE_, __VA_ARGS__)       \
	struct hodo_tp_values_##id hodo_w_;          \
	HODO_EACH_(HODO_TP_FILL_, __VA_ARGS__)
#define HODO_TP_MADE_(i, pair)                                                    \
	auto &&hodo_g##i##_ = hodo_detail_::given_(HODO_TP_NAME_(pair));          \
	const auto hodo_m##i##_ = hodo_detail_::of_(hodo_g##i##_);
#define HODO_TP_FILL_(i, pair)                                                    \
	hodo_w_.f##i = hodo_detail_::stored_(hodo_m##i##_);                       \
	hodo_w_.k##i = hodo_detail_::keep_<HODO_TP_TYPE_(pair)>(HODO_TP_NAME_(pair));
#endif

#endif
