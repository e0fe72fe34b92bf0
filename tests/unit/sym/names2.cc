// SPDX-License-Identifier: MIT
// names2.cc - a static function of the same name as one in names.cc.
#include "names.h"

KEEP static int same(int n)
{
	asm volatile("" ::: "memory");
	if (__builtin_expect(n > 6000, 0))
		throw std::runtime_error(std::to_string(n) + " in the second file");
	return n + 2;
}

int second(int n)
{
	return same(n);
}
