/* SPDX-License-Identifier: MIT */
/* names.h - functions of many kinds, in two files. */
#ifndef NAMES_H
#define NAMES_H

#include <stdexcept>
#include <string>
#include <vector>

#define KEEP   __attribute__((noinline, used))
#define MEMBER __attribute__((noinline))

namespace shop {
namespace inner {
template <typename T, int N> struct Shelf {
	T items[N];
	MEMBER T take(int i);
	MEMBER explicit Shelf(const T &first);
	MEMBER ~Shelf();
	template <typename U> MEMBER int count(const std::vector<U> &v) const;
};
}
KEEP int sell(const std::string &what, int n);
KEEP int refund(int n);
}

KEEP int second(int n);

#endif
