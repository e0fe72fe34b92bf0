// SPDX-License-Identifier: MIT
// throws_lib.cc - see throws.h.
#include "throws.h"

COUNT_AS(call, "over::call");
COUNT_AS(deep, "over::deep");
COUNT_AS(again, "over::again");

namespace over {

TRACED int call(int n, int (*back)(int), int arg)
{
	ENTER(call);
	int r = n > 0 ? call(n - 1, back, arg) + 1 : back(arg);

	LEAVE(call);
	return r;
}

TRACED int deep(int n)
{
	ENTER(deep);
	if (n == 0)
		throw there(n);
	int r = deep(n - 1) + 1;

	LEAVE(deep);
	return r;
}

TRACED int again(int n, int (*back)(int), int arg)
{
	ENTER(again);
	int r;

	try {
		r = n > 0 ? again(n - 1, back, arg) : back(arg);
	} catch (...) {
		throw;
	}
	LEAVE(again);
	return r;
}

}
