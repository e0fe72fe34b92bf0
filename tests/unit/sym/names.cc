// SPDX-License-Identifier: MIT
// names.cc - templates, lambdas, constructors, operators, functions with parts, a name that is also in names2.cc.
#include "names.h"

namespace shop {
namespace inner {
template <typename T, int N> T Shelf<T, N>::take(int i)
{
	if (i >= N)
		throw std::out_of_range("shelf");
	return items[i];
}

template <typename T, int N> Shelf<T, N>::Shelf(const T &first)
{
	for (int i = 0; i < N; i++)
		items[i] = first;
}

template <typename T, int N> Shelf<T, N>::~Shelf()
{
	asm volatile("" ::: "memory");
}

template <typename T, int N> template <typename U> int Shelf<T, N>::count(const std::vector<U> &v) const
{
	return static_cast<int>(v.size()) + N;
}
}

KEEP static bool operator<(const std::vector<int> &a, long b)
{
	asm volatile("" ::: "memory");
	return static_cast<long>(a.size()) < b;
}

__attribute__((cold, noinline)) static void complain(int n)
{
	asm volatile("" ::: "memory");
	throw std::runtime_error("refund " + std::to_string(n));
}

int refund(int n)
{
	if (n > 1000) {
		std::string why = "too much: " + std::to_string(n);
		complain(static_cast<int>(why.size()));
	}
	return -n;
}

int sell(const std::string &what, int n)
{
	inner::Shelf<std::string, 3> shelf(what);
	std::vector<int> v(static_cast<size_t>(n));
	auto price = [n](int each) __attribute__((noinline)) {
		asm volatile("" ::: "memory");
		return each * n;
	};

	return price(static_cast<int>(shelf.take(n % 3).size())) + shelf.count(v) + (v < 5L) + refund(n);
}
}

/* The same name as in names2.cc; each has a separate part where gcc splits off code that seldom runs. */
KEEP static int same(int n)
{
	asm volatile("" ::: "memory");
	if (__builtin_expect(n > 5000, 0))
		throw std::runtime_error(std::to_string(n) + " in the first file");
	return n + 1;
}

extern "C" KEEP int plain_c(int n)
{
	return same(n);
}

int main(int argc, char **)
{
	return shop::sell("bread", argc) + plain_c(argc) + second(argc) == 12345;
}
