/* SPDX-License-Identifier: MIT */
/* drain FROM TO - copies per_cpu/cpuN/trace_pipe_raw page by page until it is empty. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char page[4096];
	int from, to;
	ssize_t n;

	if (argc != 3)
		return 2;
	from = open(argv[1], O_RDONLY | O_NONBLOCK);
	to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (from < 0 || to < 0) {
		perror("drain");
		return 1;
	}
	while ((n = read(from, page, sizeof(page))) > 0) {
		if (n != (ssize_t)sizeof(page) || write(to, page, sizeof(page)) != n) {
			fprintf(stderr, "drain: %zd bytes\n", n);
			return 1;
		}
	}
	if (n < 0 && errno != EAGAIN) {
		perror("drain");
		return 1;
	}
	return close(to) ? 1 : 0;
}
