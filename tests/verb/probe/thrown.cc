// SPDX-License-Identifier: MIT
// thrown.cc - a C++ program for events.py; exceptions leave some of its calls. It prints how many calls returned.
#include <cstdio>
#include <stdexcept>
#include <string>

#define APART __attribute__((noinline, noclone, noipa))

static volatile long sink;

namespace shop {
struct basket {
	long count = 0;
	std::string owner = "somebody";
	APART long add(int n, const std::string &what);
};

APART long basket::add(int n, const std::string &what)
{
	if (n % 3 == 0)
		throw std::runtime_error(what);
	count += n;
	sink = sink + count;
	return count;
}
} // namespace shop

APART static long outer(shop::basket &b, int n)
{
	long sum = 0;

	try {
		sum = b.add(n, "three");
	} catch (const std::exception &) {
		sum = -1;
	}
	sink = sink + sum;
	return sum;
}

int main()
{
	shop::basket b;
	int returned = 0;

	for (int i = 1; i <= 30; i++)
		returned += outer(b, i) >= 0;
	std::printf("%d\n", returned);
	return 0;
}
