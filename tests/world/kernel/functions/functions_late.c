// SPDX-License-Identifier: MIT
/* functions_late - one function, called when a number is written to `run`. */
#include "run_param.h"

AS_IT_IS int flate_step(int n);

AS_IT_IS int flate_step(int n)
{
	return n + 1;
}

static int run_step(unsigned int i)
{
	return flate_step(i);
}
