/* SPDX-License-Identifier: MIT */
/* nothing.c - a static program that does nothing; with the argument "wait", it waits for the end of its input. */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;

	if (argc == 2 && strcmp(argv[1], "wait") == 0)
		while (read(0, &byte, 1) > 0)
			;
	return 0;
}
