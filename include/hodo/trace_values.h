/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_values.h - the part of hodo/trace.h that makes fields of C++ values (docs/cxx.md). Included by it.
 *
 * Types are recognised by their members, not by their names. So this needs no header of the standard library, and
 * records similar types of other libraries in the same way.
 */
#ifndef HODO_TRACE_VALUES_H
#define HODO_TRACE_VALUES_H

#pragma GCC system_header

/* Inlined even without the optimiser: what an event calls must not appear as a function of the program. */
#define HODO_INLINED_ inline HODO_OWN_ __attribute__((always_inline))

namespace hodo_detail_
{

/* ------------------------------------------------------ what a site takes */

template <class T> struct array_ {
	const void *data;
	size_t n;
};
/* At most N numbers that are stored nowhere else. */
template <class T, size_t N> struct few_ {
	T data[N];
	size_t n;
};
/* For a value that cannot be recorded; that gives its own error. */
struct refused_ {};

template <class T> HODO_INLINED_ array_<std::remove_cv_t<T>> array_of_(T *data, size_t n) { return { data, n }; }
HODO_INLINED_ hodo_str_ str_of_(const char *data, size_t n) { return { data, n }; }
HODO_INLINED_ hodo_bytes_ bytes_of_(const void *data, size_t n) { return { data, n }; }

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

template <class T> constexpr bool has_labels_();

/* id of a scalar type */
template <class T> constexpr uint8_t scalar_()
{
	using U = typename under_<T>::type;
	if constexpr (std::is_same<U, bool>::value || std::is_same<U, char>::value) {
		if constexpr (has_labels_<T>())
			return int_id_(1, std::is_same<U, char>::value && std::is_signed<U>::value);
		else
			return std::is_same<U, bool>::value ? HODO_TYPE_BOOL : HODO_TYPE_CHAR;
	} else if constexpr (std::is_integral<U>::value)
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
template <class T> struct type_<array_<T>> : var_type_<HODO_TYPE_ARRAY | scalar_<T>(), 4> {};
template <class T, size_t N> struct type_<few_<T, N>> : type_<array_<T>> {};
template <> struct type_<refused_> : type_<const void *> {};

template <class... T> struct list_ {};
template <class... A> list_<std::remove_volatile_t<A>...> types_(const A &...);

/* ------------------------------------------------------- what a type offers */

template <class T> const T &some_();
template <class R, class C, class O, bool N> O order_of_(R (C::*)(O) const noexcept(N));
template <class T> using bare_ = std::remove_cv_t<std::remove_reference_t<T>>;

/* The element that data() points to, where there is size(). */
template <class T, class = void> struct element_ {
	using type = void;
};
template <class T> struct element_<T, std::void_t<decltype(*some_<T>().data()), decltype(size_t(some_<T>().size()))>> {
	using type = bare_<decltype(*some_<T>().data())>;
};
template <class T> constexpr bool is_letter_ = std::is_same<T, char>::value;
#ifdef __cpp_char8_t
template <> inline constexpr bool is_letter_<char8_t> = true;
#endif
/* A pointer to char may be a text or not; for those in an array, nothing tells which. */
template <class T>
constexpr bool is_element_ = scalar_<T>() != HODO_TYPE_NONE && type_<std::remove_cv_t<T>>::id != HODO_TYPE_STR;

#define HODO_OFFERS_(name, ...)                                      \
	template <class T, class = void> constexpr bool name = false; \
	template <class T> constexpr bool name<T, std::void_t<__VA_ARGS__>> = true;
HODO_OFFERS_(is_given_, decltype(hodo_value<T>::of(some_<T>())))
HODO_OFFERS_(has_length_, decltype(some_<T>().length()))
HODO_OFFERS_(has_native_, typename T::string_type, decltype(some_<T>().native()))
HODO_OFFERS_(is_duration_, typename T::rep, decltype(T::period::num), decltype(T::period::den),
	     decltype(some_<T>().count()))
HODO_OFFERS_(is_time_, typename T::duration, decltype(some_<T>().time_since_epoch()))
HODO_OFFERS_(is_optional_, decltype(some_<T>().has_value()), decltype(*some_<T>()))
HODO_OFFERS_(is_atomic_, std::enable_if_t<std::is_enum<decltype(order_of_(&T::load))>::value>)
HODO_OFFERS_(is_error_, decltype(int(some_<T>().value())), decltype(some_<T>().category().name()))
HODO_OFFERS_(is_owner_, typename T::element_type,
	     std::enable_if_t<std::is_pointer<decltype(some_<T>().get())>::value>)

enum class as_ { none, given, site, scalar, wide, twice, function, letters, array, text, path, data, duration, time,
		 optional, atomic, error, owner };

template <class T> constexpr bool is_site_ = false;
template <> inline constexpr bool is_site_<hodo_str_> = true;
template <> inline constexpr bool is_site_<hodo_bytes_> = true;
template <class T> inline constexpr bool is_site_<array_<T>> = scalar_<T>() != HODO_TYPE_NONE;

template <class T> constexpr as_ class_is_()
{
	using E = typename element_<T>::type;

	if constexpr (is_letter_<E> && has_length_<T>)
		return as_::text;
	else if constexpr (has_native_<T>)
		return as_::path;
	else if constexpr (!std::is_void<E>::value)
		return is_element_<E> ? as_::data : as_::none;
	else
		return is_duration_<T> ? as_::duration : is_time_<T> ? as_::time : is_error_<T> ? as_::error
		     : is_optional_<T> ? as_::optional : is_atomic_<T> ? as_::atomic : is_owner_<T> ? as_::owner
		     : as_::none;
}

template <class T> constexpr as_ array_is_()
{
	using E = std::remove_cv_t<std::remove_extent_t<T>>;

	if constexpr (is_letter_<E>)
		return as_::letters;
	else
		return is_element_<E> && std::extent<T>::value ? as_::array : as_::none;
}

/* Decided by its members. */
template <class T> constexpr as_ looks_()
{
	if constexpr (is_given_<T>)
		return as_::given;
	else if constexpr (is_site_<T>)
		return as_::site;
	else if constexpr (std::is_function<T>::value)
		return as_::function;
	else if constexpr (std::is_array<T>::value)
		return array_is_<T>();
	else if constexpr (std::is_class<T>::value)
		return class_is_<T>();
	else if constexpr (scalar_<T>() != HODO_TYPE_NONE)
		return as_::scalar;
	else if constexpr (std::is_floating_point<T>::value)
		return as_::wide;
	else
		return std::is_same<T, __int128>::value || std::is_same<T, unsigned __int128>::value ? as_::twice
												      : as_::none;
}

/* ------------------------------------------------------------------ values */

/* What HODO_VALUE makes of the value, a reference or a new value; otherwise the value itself. */
template <class A> HODO_INLINED_ decltype(auto) given_(const A &a)
{
	if constexpr (is_given_<A>)
		return hodo_value<A>::of(a);
	else
		return static_cast<const A &>(a);
}

template <class A> HODO_INLINED_ auto of_(const A &a);

/* A value inside another one, or made from it, by an expression of type T. A pointer into a temporary is refused. */
template <class T> struct nested_ {
	using given = decltype(given_(some_<bare_<T>>()));
	using made = decltype(of_(some_<bare_<given>>()));
	template <class U> static constexpr bool passes_ = !std::is_reference<U>::value && std::is_class<U>::value;
	using type = std::conditional_t<type_<made>::var && (passes_<T> || passes_<given>), refused_, made>;
};
template <class T> constexpr bool is_refused_ = std::is_same<T, refused_>::value;
template <class T> constexpr bool is_few_ = false;
template <class T, size_t N> inline constexpr bool is_few_<few_<T, N>> = true;

HODO_INLINED_ hodo_str_ text_of_(const void *data, size_t n) { return { data ? (const char *)data : "", n }; }

/* Nothing: no pointer, no text, no elements. */
template <class W> HODO_INLINED_ auto maybe_(bool there, W value)
{
	if constexpr (!type_<W>::var && type_<W>::id != HODO_TYPE_PTR)
		return few_<W, 1>{ { value }, there };
	else
		return value;
}

template <class A> HODO_INLINED_ auto optional_of_(const A &a)
{
	using W = typename nested_<decltype(*a)>::type;

	if constexpr (is_refused_<W> || is_few_<W>) {
		return refused_{};
	} else {
		const bool there = a.has_value();

		return maybe_<W>(there, there ? of_(given_(*a)) : W{});
	}
}

/* Loads once, with relaxed order, which is 0 in every implementation. */
template <class A> HODO_INLINED_ auto atomic_of_(const A &a)
{
	using order = decltype(order_of_(&A::load));

	if constexpr (is_refused_<typename nested_<decltype(a.load(order{}))>::type>)
		return refused_{};
	else
		return of_(given_(a.load(static_cast<order>(0))));
}

template <class A> HODO_INLINED_ auto path_of_(const A &a)
{
	if constexpr (is_refused_<typename nested_<decltype(a.native())>::type>)
		return refused_{};
	else
		return of_(a.native());
}

template <class A> HODO_INLINED_ auto class_of_(const A &a)
{
	constexpr as_ as = class_is_<A>();

	if constexpr (as == as_::text)
		return text_of_(a.data(), a.size());
	else if constexpr (as == as_::path)
		return path_of_(a);
	else if constexpr (as == as_::data)
		return array_<typename element_<A>::type>{ a.data(), size_t(a.size()) };
	else if constexpr (as == as_::duration)
		return of_(a.count());
	else if constexpr (as == as_::time)
		return of_(a.time_since_epoch());
	else if constexpr (as == as_::optional)
		return optional_of_(a);
	else if constexpr (as == as_::atomic)
		return atomic_of_(a);
	else if constexpr (as == as_::error)
		return int(a.value());
	else
		return static_cast<const volatile void *>(a.get());
}

/* The value as a site takes it. */
template <class A> HODO_INLINED_ auto of_(const A &a)
{
	constexpr as_ as = looks_<std::remove_volatile_t<A>>();

	if constexpr (as == as_::none)
		return refused_{};
	else if constexpr (as == as_::wide)
		return (std::conditional_t<sizeof(A) < sizeof(float), float, double>)a;
	else if constexpr (as == as_::twice)
		return few_<uint64_t, 2>{ { (uint64_t)a, (uint64_t)(a >> 64) }, 2 };
	else if constexpr (as == as_::function)
		return &a;
	else if constexpr (as == as_::letters)
		return str_of_((const char *)a, std::extent<A>::value ? std::extent<A>::value : SIZE_MAX);
	else if constexpr (as == as_::array)
		return array_<std::remove_cv_t<std::remove_extent_t<A>>>{ (const void *)a, std::extent<A>::value };
	else if constexpr (std::is_class<A>::value && as != as_::site)
		return class_of_(a);
	else
		return static_cast<std::remove_volatile_t<A>>(a);
}

/* What a site takes for an A. */
template <class A> using wire_ = decltype(of_(given_(some_<A>())));

/* How it is stored among a site's values. */
template <class W> HODO_INLINED_ const W &stored_(const W &made) { return made; }
template <class T, size_t N> HODO_INLINED_ array_<T> stored_(const few_<T, N> &made) { return { made.data, made.n }; }
HODO_INLINED_ const void *stored_(const refused_ &) { return nullptr; }
template <class W> using stored_t_ = bare_<decltype(stored_(some_<W>()))>;

/* How it is passed there: numbers by value, so that a constant member needs no definition. */
template <class A>
constexpr bool is_number_ = !std::is_class<A>::value && !std::is_union<A>::value && !std::is_array<A>::value &&
			    !std::is_function<A>::value;
template <class A> using param_ = std::conditional_t<is_number_<A>, A, const A &>;

/* Whether it is one number, or gives its own error. */
template <class A> constexpr HODO_OWN_ bool is_count_(list_<A>)
{
	return is_refused_<wire_<A>> || type_<wire_<A>>::id <= HODO_TYPE_F64;
}

/* What is recorded of a value inside another one: a duration, an enumeration. */
template <class A> constexpr auto meant_()
{
	constexpr as_ as = looks_<A>();

	if constexpr (as == as_::given)
		return meant_<bare_<decltype(given_(some_<A>()))>>();
	else if constexpr (as == as_::time)
		return meant_<typename A::duration>();
	else if constexpr (as == as_::optional)
		return meant_<bare_<decltype(*some_<A>())>>();
	else if constexpr (as == as_::atomic)
		return meant_<bare_<decltype(some_<A>().load(decltype(order_of_(&A::load)){}))>>();
	else
		return list_<A>{};
}

/* ------------------------------------------------------------------- errors */

/* The first of them that cannot be recorded, or void. */
template <class L> struct first_refused_ {
	using type = void;
};
template <class A, class... Rest>
struct first_refused_<list_<A, Rest...>>
	: std::conditional_t<is_refused_<wire_<A>>, under_<A, false>, first_refused_<list_<Rest...>>> {};
template <class L> using first_refused_t_ = typename first_refused_<L>::type;

/*
 * These give the shortest errors that name the type: with GCC, a call that must not be made; with Clang, a conversion
 * at the place of the value, outside of our macros. Neither leaves code.
 */
#ifdef __clang__
struct value_ {
	HODO_INLINED_ value_() {}
	template <class T> HODO_INLINED_ value_(const T &)
	{
		static_assert(!is_refused_<wire_<std::remove_volatile_t<T>>>, HODO_CANNOT_);
	}
};
HODO_INLINED_ void check_(value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {},
			  value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {}, value_ = {},
			  value_ = {}, value_ = {}) {}
#define HODO_CHECK_(list, ...)                             \
	do {                                               \
		if (0)                                     \
			hodo_detail_::check_(__VA_ARGS__); \
	} while (0)
#else
template <class T> __attribute__((error(HODO_CANNOT_))) void value_of();
#define HODO_CHECK_(list, ...)                                                          \
	if constexpr (!std::is_void<hodo_detail_::first_refused_t_<list>>::value)       \
		hodo_detail_::value_of<hodo_detail_::first_refused_t_<list>>()
#endif

} /* namespace hodo_detail_ */

/*
 * HODO_VALUE(type, name, expression), at global scope: a value of the type is recorded as the expression, where `name`
 * stands for the value.
 */
#define HODO_VALUE(type_, name_, ...)                                                                    \
	template <> struct hodo_value<type_> {                                                           \
		static HODO_INLINED_ auto of(const type_ &name_) -> decltype((__VA_ARGS__))              \
		{                                                                                        \
			return __VA_ARGS__;                                                              \
		}                                                                                        \
	}

#endif
