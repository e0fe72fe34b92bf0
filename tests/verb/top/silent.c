/* SPDX-License-Identifier: MIT */
/* silent.c - a program without events; with an argument it waits until its standard input ends. */
#include <stdio.h>

int main(int argc, char **argv)
{
	while (argc > 1 && getchar() != EOF)
		;
	return 0;
}
