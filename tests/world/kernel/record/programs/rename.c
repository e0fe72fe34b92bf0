/* SPDX-License-Identifier: MIT */
/* rename N - changes its name N times. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	char name[16];

	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "name-%ld", i);
		if (prctl(PR_SET_NAME, name) != 0)
			return 1;
	}
	return 0;
}
