/* SPDX-License-Identifier: MIT */
/* file.c - reads and writes files and directories without errno and stdio. */
#include <fcntl.h>
#include <sys/resource.h>
#include "sys.h"
#include "libc.h"

long hodo_sys_file_read(long dir, const char *path, void *to, size_t size)
{
	long fd = hodo_sys4(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return fd;
	n = hodo_sys3(SYS_read, fd, to, size);
	hodo_sys1(SYS_close, fd);
	return n;
}

long hodo_sys_file_line(long dir, const char *path, char *text, size_t size)
{
	long n = hodo_sys_file_read(dir, path, text, size - 1);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	return n;
}

int hodo_sys_file_write(long fd, const void *data, uint64_t len, uint64_t at)
{
	while (len > 0) {
		long n = hodo_sys4(SYS_pwrite64, fd, data, len, at);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		data = (const char *)data + n;
		len -= (uint64_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

void hodo_sys_file_remove(const char *path)
{
	hodo_sys3(SYS_unlinkat, AT_FDCWD, path, 0);
}

int hodo_sys_file_limit(uint64_t bytes)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	hodo_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
	return limit.rlim_cur < bytes ? -EFBIG : 0;
}

void hodo_sys_file_each(long dir, void (*each)(long dir, const char *name, void *arg), void *arg)
{
	char *buffer = hodo_map(HODO_PAGE); /* too large for small stacks: a fork child's first event comes here */
	long n;

	if (!buffer)
		return;
	hodo_sys3(SYS_lseek, dir, 0, SEEK_SET);
	while ((n = hodo_sys3(SYS_getdents64, dir, buffer, HODO_PAGE)) > 0) {
		/* d_ino, d_off, d_reclen, d_type, d_name */
		for (long at = 0; at < n; at += *(uint16_t *)(buffer + at + 16))
			each(dir, buffer + at + 19, arg);
	}
	hodo_sys2(SYS_munmap, buffer, HODO_PAGE);
}
