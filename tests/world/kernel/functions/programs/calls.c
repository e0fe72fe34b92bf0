// SPDX-License-Identifier: MIT
/* calls N FILE - calls getppid N times, and reads /dev/zero as often; writes its process ID to FILE. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, fd = open("/dev/zero", O_RDONLY);
	FILE *f = argc > 2 ? fopen(argv[2], "w") : NULL;
	char byte;

	if (!f || fd < 0)
		return 1;
	fprintf(f, "%d %d\n", getpid(), n);
	fclose(f);
	for (int i = 0; i < n; i++)
		if (syscall(SYS_getppid) < 0 || read(fd, &byte, 1) != 1)
			return 1;
	return 0;
}
