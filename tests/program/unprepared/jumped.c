/* SPDX-License-Identifier: MIT */
/* jumped.c - for each character of its standard input, jumps into the middle of odd_sum() 100,000 times (odd.S). */
#include <stdio.h>

int odd_jump(int x, const char *to);
int odd_sum(int x);

int main(void)
{
	const char *second = (const char *)odd_sum + 2;

	for (int c; (c = getchar()) != EOF;) {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += odd_jump(i, second) - odd_sum(i);
		printf("%ld\n", sum);
		fflush(stdout);
	}
	return 0;
}
