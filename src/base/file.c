/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (64u << 10)

int hodo_file_open(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -ESTALE : -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ESTALE;
}

int hodo_file_make(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, geteuid() ? 0666 : 0600);

	return fd < 0 ? -errno : fd;
}

int hodo_dir_make(int dirfd, const char *name)
{
	return mkdirat(dirfd, name, geteuid() ? 0777 : 0700) < 0 ? -errno : 0;
}

int hodo_dirs_make(int dirfd, const char *path)
{
	char dir[PATH_MAX];
	int err = 0;

	for (const char *slash = strchr(path, '/'); slash && (!err || err == -EEXIST); slash = strchr(slash + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		err = hodo_dir_make(dirfd, dir);
	}
	return err == -EEXIST ? 0 : err;
}

int hodo_file_read(int fd, size_t max, struct hodo_text *text)
{
	ssize_t n;

	do {
		char *to = hodo_text_room(text, PIECE_BYTES);

		n = to ? read(fd, to, PIECE_BYTES) : 0;
		if (n > 0 && text->len + (size_t)n > max)
			return -EFBIG;
		if (n > 0)
			text->len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : text->error;
}

ssize_t hodo_file_read_at(int fd, void *to, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)to + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

uint64_t hodo_file_data_at(int fd, uint64_t at, uint64_t end)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? end : at; /* nothing but a hole up to the end; or it cannot be known */
	return (uint64_t)data < end ? (uint64_t)data : end;
}

int hodo_file_write(int fd, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n == 0 ? -EIO : -errno;
	}
	return 0;
}

ssize_t hodo_file_line(int dirfd, const char *path, char *to, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (n < 0)
		n = -errno;
	if (fd >= 0)
		close(fd);
	if (n > 0 && to[n - 1] == '\n')
		n--;
	to[n > 0 ? n : 0] = 0;
	return n;
}

bool hodo_file_own_dir(char dir[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	dir[len > 0 ? len : 0] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

int hodo_dir_open(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

DIR *hodo_dir_list(int dirfd, const char *name)
{
	int fd = hodo_dir_open(dirfd, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

const char *hodo_dir_next(DIR *dir)
{
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			return e->d_name;
	return NULL;
}
