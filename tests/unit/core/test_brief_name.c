/* SPDX-License-Identifier: MIT */
/* test_brief_name.c - short forms of C++ names. */
#include <stdlib.h>
#include <string.h>

#include <lib/random.h>
#include <lib/unit.h>

#include <core/symbol_name.h>

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
	const char *name, *want; /* NULL: unchanged */
} cases[] = {
	{ "Store<" STRING " >::put", "Store<string>::put" },
	{ STRING "::append(char const*)", "std::string::append(char const*)" },
	{ "f(" STRING " const&, std::vector<" STRING ", std::allocator<" STRING " > >&&)",
	  "f(string const&, vector<string>&&)" },
	{ "std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >::size",
	  "std::wstring::size" },
	{ "f(std::basic_string_view<char16_t, std::char_traits<char16_t> >)", "f(u16string_view)" },
	{ "std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, std::allocator<std::pair<int const, "
	  "std::vector<long, std::allocator<long> > > > >::operator[]", "std::map<int, vector<long>>::operator[]" },
	{ "std::__1::vector<int, std::__1::allocator<int> >::size", "std::vector<int>::size" },
	{ "std::unique_ptr<A, std::default_delete<A> >::get() const", "std::unique_ptr<A>::get() const" },
	/* What the author named is kept, and what is in front of it. */
	{ "std::vector<int, my::alloc<int> >::f", "std::vector<int, my::alloc<int>>::f" },
	{ "std::map<int, int, std::less<int>, my::alloc>::f", "std::map<int, int, less<int>, my::alloc>::f" },
	{ "Pool<int, std::allocator<int> >::f", "Pool<int, allocator<int>>::f" },
	{ "my::basic_string<char>::f", NULL },
	{ "std::set<int, std::less<int>::type>::f", "std::set<int, less<int>::type>::f" },
	/* Operators are not brackets. */
	{ "std::operator<< <std::char_traits<char> >", "std::operator<< <char_traits<char>>" },
	{ "ns::operator<(ns::A const&, std::less<int>)", "ns::operator<(ns::A const&, less<int>)" },
	{ "A::operator->() const", NULL },
	{ "A::operator()(std::less<int>)", "A::operator()(less<int>)" },
	{ "A<(1>0)>::f", NULL },
	{ "main::{lambda(int, std::vector<int, std::allocator<int> >)#1}::operator()",
	  "main::{lambda(int, vector<int>)#1}::operator()" },
	{ "f[abi:cxx11](std::string)", "f(string)" },
	{ "(anonymous namespace)::f(std::string)", "(anonymous namespace)::f(string)" },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", NULL },
	{ "main", NULL },
	{ "", NULL },
	/* Not understood: unchanged. */
	{ "std::vector<std::allocator<int>", NULL },
	{ "f(std::string", NULL },
	{ "f<std::string)>", NULL },
	{ "a>b std::x", NULL },
};

TEST(test_cases)
{
	char out[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *want = cases[i].want ? cases[i].want : cases[i].name;

		out[hodo_brief_name(cases[i].name, strlen(cases[i].name), out)] = 0;
		assert_string_equal(out, want);
	}
}

/* Any input: the result stays within its room, which ends with the memory, and is not longer than the name. */
TEST(test_hostile)
{
	static const char *const pieces[] = { "std::", "<", ">", "(", ")", ", ", "allocator<", "basic_", "char", "::",
					      "-", "operator", "{", "}", "[abi:", "]", " ", "less<", "__cxx11::", "x" };
	uint64_t random = 88172645463325252ull;

	for (unsigned round = 0; round < 20000; round++) {
		char name[1024] = "";
		char *in, *out;
		size_t len;

		for (unsigned i = xorshift(&random) % 80; i > 0; i--)
			strcat(name, pieces[xorshift(&random) % (sizeof(pieces) / sizeof(pieces[0]))]);
		len = strlen(name);
		in = malloc(len + 1);
		out = malloc(len + 1);
		memcpy(in, name, len);
		assert_true(hodo_brief_name(in, len, out) <= len);
		free(in);
		free(out);
	}
}
