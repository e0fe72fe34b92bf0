/* SPDX-License-Identifier: MIT */
/* test_cksum.c - the same as cksum(1), whatever the length. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lib/unit.h>

#include <send/cksum.h>

static void check(size_t bytes)
{
	static char data[600000];
	unsigned int theirs;
	unsigned long size;
	char command[64];
	uint32_t sum;
	uint64_t len;
	FILE *said;
	int fd = memfd_create("data", 0);

	for (size_t i = 0; i < bytes; i++)
		data[i] = (char)(i * 131 + i / 251);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	snprintf(command, sizeof(command), "cksum < /proc/%d/fd/%d", (int)getpid(), fd);
	said = popen(command, "r");
	assert_int_equal(fscanf(said, "%u %lu", &theirs, &size), 2);
	pclose(said);
	assert_int_equal(hodo_cksum(fd, &sum, &len), 0);
	assert_int_equal(sum, theirs);
	assert_int_equal(len, bytes);
	assert_int_equal(size, bytes);
	close(fd);
}

TEST(the_sum_is_that_of_cksum)
{
	static const size_t sizes[] = { 0, 1, 255, 256, 65537, 262144, 262145, 524288, 600000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		check(sizes[i]);
}

TEST(what_cannot_be_read_has_none)
{
	uint32_t sum;
	uint64_t len;

	assert_int_equal(hodo_cksum(-1, &sum, &len), -EBADF);
}
