/* SPDX-License-Identifier: MIT */
/*
 * refuse.c - a process that may not make memory executable after writing to it: it runs as before, and slots that
 * need such memory are not traced. Prints how many entries there were. 77: the kernel has no such policy.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include "slots.h"
#include "work.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int argc, char **argv)
{
	int error;

	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
		return 77;
	error = slots_on(0);
	if (w_work(30) != 12255)
		return 1;
	if (!error)
		slots_off();
	if (w_work(30) != 12255 || slots_differ(stdout, argc > 1 ? argv[1] : "exact"))
		return 1;
	printf("%lu entries\n", slots_total());
	return 0;
}
