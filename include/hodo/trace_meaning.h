/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_meaning.h - the part of hodo/trace.h that says what C++ values mean: units of durations, in the fields'
 * names, and names of enumerators. Included by it; everything here runs in the compiler.
 */
#ifndef HODO_TRACE_MEANING_H
#define HODO_TRACE_MEANING_H

#pragma GCC system_header

/* HODO_ENUM_RANGE(type, least, greatest), at global scope: the type's enumerators are looked for among these values,
 * and among powers of two above them. */
template <class E> struct hodo_enum_range {
	static constexpr long long least = -16, greatest = 127;
};
#define HODO_ENUM_RANGE(type_, least_, greatest_)                                                        \
	template <> struct hodo_enum_range<type_> {                                                      \
		static_assert((long long)(least_) <= (long long)(greatest_),                             \
			      "hodo: HODO_ENUM_RANGE(type, least, greatest): least is above greatest");  \
		static_assert((greatest_) - (least_) < 1024, "hodo: at most 1,024 values are looked at"); \
		static constexpr long long least = least_, greatest = greatest_;                         \
	}

namespace hodo_detail_
{

/* A text of at most N bytes, being built. */
template <size_t N> struct made_ {
	char s[N + 1];
	size_t n;

	constexpr HODO_OWN_ void add(char c) { s[n < N ? n++ : n] = c; }
	constexpr HODO_OWN_ void text(const char *from, size_t len)
	{
		for (size_t i = 0; i < len; i++)
			add(from[i]);
	}
	constexpr HODO_OWN_ void number(long long value)
	{
		char digits[24] = {};
		size_t k = 0;
		unsigned long long left = value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;

		if (value < 0)
			add('-');
		do
			digits[k++] = (char)('0' + left % 10);
		while (left /= 10);
		while (k)
			add(digits[--k]);
	}
};

constexpr HODO_OWN_ bool is_word_(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* -------------------------------------------------------- names of enumerators */

template <class T, T... I> struct numbers_ {};
#ifdef __clang__
template <int N> using up_to_ = __make_integer_seq<numbers_, int, N>;
#else
template <int N> using up_to_ = numbers_<int, __integer_pack(N)...>;
#endif

/* Whether E may have any value of its underlying type, so that a list may hold any value for it. */
template <class E, class = void> constexpr bool is_fixed_ = false;
template <class E>
inline constexpr bool is_fixed_<E, std::enable_if_t<std::is_enum<E>::value, std::void_t<decltype(E{ 0 })>>> = true;

/* The values that are tried: a range, then powers of two above it. */
template <class E> struct looked_at_ {
	using U = std::underlying_type_t<E>;
	static constexpr int bits = std::is_same<U, bool>::value ? 1 : (int)sizeof(U) * 8 - std::is_signed<U>::value;
	static constexpr long long top = bits > 62 ? INT64_MAX : (1ll << bits) - 1;
	static constexpr long long bottom = std::is_signed<U>::value ? -top - 1 : 0;
	static constexpr long long least = hodo_enum_range<E>::least < bottom ? bottom : hodo_enum_range<E>::least;
	static constexpr long long greatest = hodo_enum_range<E>::greatest > top ? top : hodo_enum_range<E>::greatest;
	static constexpr int range = greatest < least ? 0 : (int)(greatest - least + 1);
	static constexpr HODO_OWN_ int first_bit()
	{
		int bit = 0;

		while (bit < 62 && (1ll << bit) <= greatest)
			bit++;
		return bit;
	}
	static constexpr int n = range + (first_bit() < bits && bits < 64 ? (bits > 62 ? 62 : bits) - first_bit() : 0);
	static constexpr HODO_OWN_ long long value(int i)
	{
		return i < range ? least + i : 1ll << (first_bit() + i - range);
	}
};

/* Adds "NAME=VALUE," if the token, by which the compiler writes a value of an enumeration, is an enumerator's name. */
template <size_t N>
constexpr HODO_OWN_ void add_enumerator_(made_<N> &to, const char *token, size_t len, long long value)
{
	size_t start = len;

	while (start && (is_word_(token[start - 1]) || (unsigned char)token[start - 1] >= 0x80))
		start--;
	if (start == len || (token[start] >= '0' && token[start] <= '9') || (start && token[start - 1] != ':'))
		return;
	to.text(token + start, len - start);
	to.add('=');
	to.number(value);
	to.add(',');
}

/* In "… V = {ns::Color::RED, (ns::Color)1}" of GCC, "… V = <…>" of Clang. */
template <class E, E... V> constexpr HODO_OWN_ auto find_enumerators_()
{
	const char *text = __PRETTY_FUNCTION__;
	made_<sizeof(__PRETTY_FUNCTION__) + sizeof...(V) * 24> found{};
	const long long values[] = { (long long)V..., 0 };
	size_t at = 0, value = 0, token = 0;
	int depth = 0;

	while (text[at] && !(text[at] == 'V' && text[at + 1] == ' ' && text[at + 2] == '=' &&
			     (text[at + 4] == '{' || text[at + 4] == '<')))
		at++;
	for (at = token = text[at] ? at + 5 : at; text[at] && depth >= 0; at++) {
		const char c = text[at];

		depth += (c == '(' || c == '<' || c == '{' || c == '[') -
			 (c == ')' || c == '>' || c == '}' || c == ']');
		if (depth > 0 || (depth == 0 && c != ','))
			continue;
		if (value < sizeof...(V))
			add_enumerator_(found, text + token, at - token, values[value++]);
		token = at + 2;
	}
	return found;
}

template <class E, int... I> constexpr HODO_OWN_ auto enumerators_(numbers_<int, I...>)
{
	constexpr auto found = find_enumerators_<E, (E)looked_at_<E>::value(I)...>();
	made_<found.n> exactly{};

	exactly.text(found.s, found.n);
	return exactly;
}
template <class E> constexpr auto enumerators_of_ = enumerators_<E>(up_to_<looked_at_<E>::n>{});

template <class T> constexpr bool has_labels_()
{
	if constexpr (is_fixed_<T>)
		return enumerators_of_<T>.n > 0;
	else
		return false;
}

/* ------------------------------------------------------------- of each field */

constexpr size_t UNIT_MAX_ = 44; /* for example, 1/3 s is "1_3s" */

/* A duration's unit, or nothing. */
template <class T> constexpr HODO_OWN_ auto unit_(list_<T>)
{
	made_<UNIT_MAX_> unit{};

	if constexpr (looks_<T>() == as_::duration) {
		constexpr long long num = T::period::num, den = T::period::den;
		constexpr struct {
			long long num, den;
			char name[4];
		} known[] = { { 1, 1000000000, "ns" }, { 1, 1000000, "us" }, { 1, 1000, "ms" }, { 1, 1, "s" },
			      { 60, 1, "min" },	       { 3600, 1, "h" },     { 86400, 1, "d" } };

		for (const auto &k : known)
			if (k.num == num && k.den == den)
				unit.text(k.name, k.name[1] ? k.name[2] ? 3 : 2 : 1);
		if (!unit.n) { /* 1/60 s: "1_60s" */
			unit.number(num);
			unit.text("_", den != 1);
			if (den != 1)
				unit.number(den);
			unit.add('s');
		}
	}
	return unit;
}

template <class T> constexpr HODO_OWN_ size_t unit_room_(list_<T> meant)
{
	const size_t n = unit_(meant).n;

	return n ? n + 1 : 0;
}

/* The names of the values of a number. Elements of an array have none: they are shown as numbers. */
template <class A, class T> constexpr HODO_OWN_ bool is_labelled_(list_<T>)
{
	if constexpr (type_<wire_<A>>::id < HODO_TYPE_STR)
		return has_labels_<T>();
	else
		return false;
}
template <class A, class T> constexpr HODO_OWN_ size_t labels_room_(list_<T> meant)
{
	if constexpr (is_labelled_<A>(list_<T>{}))
		return enumerators_of_<T>.n + 4;
	else
		return 0 * sizeof(meant);
}
template <class A, size_t N, class T> constexpr HODO_OWN_ void add_labels_(made_<N> &to, unsigned i, list_<T>)
{
	if constexpr (is_labelled_<A>(list_<T>{})) {
		to.number(i);
		to.add(':');
		to.text(enumerators_of_<T>.s, enumerators_of_<T>.n - 1); /* its last comma */
		to.add(';');
	}
}

/* --------------------------------------------------- names of fields, with units */

/* The end of the argument at p, as core/fields.c finds it. */
constexpr HODO_OWN_ size_t argument_(const char *p)
{
	size_t at = 0;

	for (int depth = 0; p[at]; at++) {
		const char c = p[at];

		if (c == '"' || c == '\'') {
			for (at++; p[at] && p[at] != c; at++)
				at += p[at] == '\\' && p[at + 1];
			if (!p[at])
				break;
		}
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (c == ',' && depth <= 0)
			break;
	}
	return at;
}

/* Whether the text begins with the word, apart from blanks; *at: what follows it. */
constexpr HODO_OWN_ bool begins_(const char *p, const char *word, size_t *at)
{
	size_t i = 0;

	for (; *word; word++, i++) {
		while (p[i] == ' ')
			i++;
		if (p[i] != *word)
			return false;
	}
	*at = i;
	return true;
}

/* Where the name ends in an argument of len bytes. With HODO_F, which may be expanded already: its first argument. */
constexpr HODO_OWN_ size_t name_end_(const char *p, size_t len)
{
	size_t at = 0;

	if (begins_(p, "HODO_F(", &at)) {
		at += argument_(p + at);
	} else if (begins_(p, "((void)\"\"\"", &at)) {
		while (p[at] && p[at] != '"')
			at++;
	} else {
		at = len;
	}
	at = at < len ? at : len;
	while (at && p[at - 1] == ' ')
		at--;
	return at;
}

/* Adds the argument, with its unit after the name, unless the name already ends with it. */
template <size_t N, size_t U>
constexpr HODO_OWN_ void add_argument_(made_<N> &to, const char *p, size_t len, const made_<U> &unit)
{
	const size_t end = name_end_(p, len), before = end < unit.n ? end : end - unit.n;
	bool there = !unit.n ||
		     (end >= unit.n && (!before || p[before - 1] == '_' || !is_word_(p[before - 1])));

	for (size_t i = 0; i < unit.n && there; i++)
		there = p[before + i] == unit.s[i];
	to.text(p, end);
	if (!there) { /* "wait_ms"; "f() ms", which becomes "f_ms" */
		to.add(end && !is_word_(p[end - 1]) ? ' ' : '_');
		to.text(unit.s, unit.n);
	}
	to.text(p + end, len - end);
}

/* A site's texts (hodo/abi.h): with units in the third, and labels as a seventh. */
template <size_t Room, class... A, size_t N>
constexpr HODO_OWN_ made_<Room> texts_(list_<A...>, const char (&text)[N])
{
	made_<Room> to{};
	size_t at = 0;
	unsigned i = 0;

	for (int nuls = 0; nuls < 2; at++) {
		nuls += !text[at];
		to.add(text[at]);
	}
	const auto add = [&](const made_<UNIT_MAX_> &unit) {
		const size_t len = argument_(text + at);

		add_argument_(to, text + at, len, unit);
		at += len;
		if (text[at] == ',')
			to.add(text[at++]);
	};
	(add(unit_(meant_<A>())), ...);
	to.text(text + at, N - at);
	(add_labels_<A>(to, i++, meant_<A>()), ...);
	return to;
}
template <class... A> constexpr HODO_OWN_ size_t texts_room_(list_<A...>, size_t n)
{
	return (n + ... + (unit_room_(meant_<A>()) + labels_room_<A>(meant_<A>())));
}
template <class... A> constexpr HODO_OWN_ bool are_labelled_(list_<A...>)
{
	return (is_labelled_<A>(meant_<A>()) || ... || false);
}

} /* namespace hodo_detail_ */

#endif
