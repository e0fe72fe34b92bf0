// SPDX-License-Identifier: MIT
/* functions_calls - functions that call each other a known number of times when a number is written to `run`. */
#include "run_param.h"

AS_IT_IS int fcalls_leaf(int n);
AS_IT_IS int fcalls_deep(int n);
AS_IT_IS int fcalls_top(int n);
AS_IT_IS int fcalls_left_out(int n);

AS_IT_IS int fcalls_leaf(int n)
{
	return n + 1;
}

/* n nested frames, all alive in the innermost one: the compiler makes neither a loop nor a tail call of them. */
AS_IT_IS int fcalls_deep(int n)
{
	int (*volatile deeper)(int) = fcalls_deep;

	return (n > 1 ? deeper(n - 1) : fcalls_leaf(n)) + 1;
}

AS_IT_IS int fcalls_left_out(int n)
{
	return n;
}

/* Three calls of the leaf, and five frames of the other function with a leaf inside. */
AS_IT_IS int fcalls_top(int n)
{
	n = fcalls_leaf(n) + fcalls_leaf(n) + fcalls_leaf(n) + fcalls_left_out(n);
	n += fcalls_deep(5);
	return n;
}

static int run_step(unsigned int i)
{
	return fcalls_top(i);
}
