/* SPDX-License-Identifier: MIT */
/*
 * inject LIBRARY PID - calls hodo_attach_process() as the recorder does, and prints the result:
 *
 *	ok LOADED STOPS STOPPED_NS LONGEST_NS
 *	refused ERRNO WHY
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <attach/attach.h>

int main(int argc, char **argv)
{
	struct hodo_attach_done done = { 0 };
	struct hodo_why why = { "" };
	int error, pidfd;
	pid_t pid;

	if (argc != 3) {
		fprintf(stderr, "usage: inject LIBRARY PID\n");
		return 2;
	}
	pid = atoi(argv[2]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		printf("refused %d %s\n", errno, strerror(errno));
		return 1;
	}
	error = hodo_attach_process(pid, pidfd, argv[1], NULL, &done, &why);
	if (error) {
		printf("refused %d %s\n", -error, why.text);
		return 1;
	}
	printf("ok %d %u %llu %llu\n", done.loaded, done.stops, (unsigned long long)done.stopped_ns,
	       (unsigned long long)done.longest_ns);
	return 0;
}
