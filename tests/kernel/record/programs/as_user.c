/* SPDX-License-Identifier: MIT */
/* as_user PROGRAM [ARGUMENT...] - runs it as somebody who may do nothing. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2 || setgid(65534) != 0 || setuid(65534) != 0)
		return 2;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
