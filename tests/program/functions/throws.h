/* SPDX-License-Identifier: MIT */
/* throws.h - between throws.cc and its library: each throws through the other. */
#ifndef THROWS_H
#define THROWS_H

#include "counts.h"
#include <stdexcept>

namespace over {

struct there : std::runtime_error {
	int depth;
	explicit there(int d) : std::runtime_error("there"), depth(d) {}
};

/* Calls back n frames deep, and lets exceptions pass. */
__attribute__((visibility("default"))) int call(int n, int (*back)(int), int arg);
/* Throws `there` from n frames deep. */
__attribute__((visibility("default"))) int deep(int n);
/* Catches what back throws, and throws it again. */
__attribute__((visibility("default"))) int again(int n, int (*back)(int), int arg);

}

#endif
