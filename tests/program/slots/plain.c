/* SPDX-License-Identifier: MIT */
/* plain.c - calls w_work(), and does not know of tracing. */
#include <stdio.h>
#include "work.h"

int main(void)
{
	printf("%ld\n", w_work(30));
	return 0;
}
