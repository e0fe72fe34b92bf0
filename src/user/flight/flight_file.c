/* SPDX-License-Identifier: MIT */
/* flight_file.c - the files of a flight recorder; see flight.h. */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "flight.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/process/process.h>

#ifndef FS_NOCOW_FL
#define FS_NOCOW_FL 0x00800000
#endif

#define SUFFIX ".flight"
#define NUMBER_MAX 10000u /* files of one name */
#define NAME_MAX_BYTES 256
#define PRUNE_MAX 16 /* files at a time */

/* -------------------------------------------------------------------- paths */

static bool add(char *path, const char *text)
{
	return hodo_fixed_text_add(path, HODO_FLIGHT_PATH_MAX, text);
}

static bool add_number(char *path, uint64_t n)
{
	return hodo_fixed_text_number(path, HODO_FLIGHT_PATH_MAX, n);
}

int hodo_flight_path_dir(char *path, const char *dir)
{
	bool whole = true;
	size_t len;
	long n;

	path[0] = 0;
	if (*dir != '/') {
		n = hodo_sys2(SYS_getcwd, path, HODO_FLIGHT_PATH_MAX);
		if (n <= 0)
			return n < 0 ? (int)n : -ENOENT;
		if (path[0] != '/') /* "(unreachable)…" */
			return -ENOENT;
		whole = add(path, "/");
	}
	whole = add(path, dir) && whole;
	for (len = __builtin_strlen(path); len > 1 && path[len - 1] == '/';)
		path[--len] = 0;
	return whole ? 0 : -ENAMETOOLONG;
}

/* "/COMM-PID" */
static void add_process(char *path)
{
	char comm[16] = "";

	hodo_process_name(comm);
	comm[sizeof(comm) - 1] = 0;
	for (char *c = comm; *c; c++) {
		bool safe = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
			    *c == '_' || *c == '+' || *c == '-' || (*c == '.' && c > comm);
		if (!safe)
			*c = '_';
	}
	add(path, "/");
	add(path, comm);
	add(path, "-");
	add_number(path, (uint64_t)hodo_sys0(SYS_getpid));
}

/*
 * Makes a new file: path, then mark and a number from *n on, then the suffix. bare: a number of 1 is left
 * out. Returns the descriptor, or negative errno.
 */
static int make_numbered(char *path, const char *mark, const char *suffix, bool bare, uint32_t *n)
{
	size_t stem = __builtin_strlen(path);

	for (; *n < NUMBER_MAX; ++*n) {
		long fd;

		path[stem] = 0;
		if (!bare || *n > 1) {
			add(path, mark);
			add_number(path, *n);
		}
		if (!add(path, suffix))
			return -ENAMETOOLONG;
		fd = hodo_sys4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd != -EEXIST)
			return (int)fd;
	}
	return -EEXIST;
}

/* --------------------------------------------------------------------- room */

static int write_zeros(int fd, uint64_t bytes)
{
	/* This table, which always stays zero, is large enough to need few calls. */
	const uint64_t step = sizeof(hodo_zero_views);
	int error = 0;

	for (uint64_t at = 0; at < bytes && !error; at += step)
		error = hodo_sys_file_write(fd, hodo_zero_views, bytes - at < step ? bytes - at : step, at);
	return error;
}

/*
 * Allocates the whole file at once: if it had a hole, SIGBUS would end a writer whose page does not fit on a
 * full disk.
 */
static int take_room(int fd, uint64_t bytes)
{
	int flags = 0;
	long error;

	/* A copy-on-write file system does not use allocated room for a second write, unless told so while
	 * the file is empty; others do not know this flag. */
	if (hodo_sys3(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NOCOW_FL;
		hodo_sys3(SYS_ioctl, fd, FS_IOC_SETFLAGS, &flags);
	}
	/* If its process is killed before it is complete, it is still known as ours. */
	error = hodo_sys_file_write(fd, HODO_SHM_MAKING, sizeof(HODO_SHM_MAKING), 0);
	if (error)
		return (int)error;
	for (int i = 0; (error = hodo_sys4(SYS_fallocate, fd, 0, 0, bytes)) == -EINTR && i < 100; i++)
		;
	return error == -EOPNOTSUPP || error == -ENOSYS ? write_zeros(fd, bytes) : (int)error;
}

/* ------------------------------------------------------------------- making */

/*
 * Locks a new file. Until then it looks like a dead process's: a process that cleans up may have removed it
 * (-ESTALE), or be about to (-EWOULDBLOCK).
 */
static int lock_new(int fd, bool *locked)
{
	long error = hodo_sys2(SYS_flock, fd, LOCK_EX | LOCK_NB);
	struct stat st;

	*locked = error == 0;
	if (error == -EWOULDBLOCK)
		return -EWOULDBLOCK;
	error = hodo_sys2(SYS_fstat, fd, &st);
	return error ? (int)error : st.st_nlink == 0 ? -ESTALE : 0;
}

int hodo_flight_file_make(char *path, const char *dir, uint64_t bytes, bool *locked)
{
	int error = hodo_sys_file_limit(bytes);
	size_t stem;

	path[0] = 0;
	add(path, dir);
	add_process(path);
	stem = __builtin_strlen(path);
	for (uint32_t n = 1; !error; n++) {
		int fd;

		path[stem] = 0;
		fd = make_numbered(path, "-", SUFFIX, true, &n);
		if (fd < 0)
			return fd;
		HODO_INJECT(HODO_INJECT_FLIGHT);
		error = lock_new(fd, locked);
		if (!error) {
			error = take_room(fd, bytes);
			HODO_INJECT(HODO_INJECT_FLIGHT);
			if (!error)
				return fd;
			hodo_sys_file_remove(path);
		} else if (error == -ESTALE || error == -EWOULDBLOCK) {
			error = 0;
		}
		hodo_sys1(SYS_close, fd);
	}
	return error;
}

int hodo_flight_file_snapshot(char *path, const char *file, uint64_t bytes, uint32_t *n)
{
	size_t stem = __builtin_strlen(file) - (sizeof(SUFFIX) - 1);
	int error = hodo_sys_file_limit(bytes);

	__builtin_memcpy(path, file, stem);
	path[stem] = 0;
	return error ? error : make_numbered(path, ".", ".snapshot", false, n);
}

/* ------------------------------------------------------------------ pruning */

struct dead {
	int64_t seconds, ns; /* when it was last written */
	char name[NAME_MAX_BYTES];
};

static bool has_suffix(const char *name)
{
	size_t n = __builtin_strlen(name), suffix = sizeof(SUFFIX) - 1;

	return n > suffix && n < NAME_MAX_BYTES && __builtin_memcmp(name + n - suffix, SUFFIX, suffix) == 0;
}

/*
 * Other programs' files may have the same suffix, and files in a shared directory may be other users', which
 * only their owners remove. head: the beginning of the file.
 */
static bool is_ours(long fd, const struct stat *st, struct hodo_shm *head)
{
	const size_t magic = sizeof(head->magic);

	*head = (struct hodo_shm){ 0 };
	return S_ISREG(st->st_mode) && st->st_uid == (uid_t)hodo_sys0(SYS_geteuid) &&
	       hodo_sys4(SYS_pread64, fd, head, sizeof(*head), 0) >= (long)magic &&
	       (__builtin_memcmp(head->magic, HODO_SHM_MAGIC, magic) == 0 ||
		__builtin_memcmp(head->magic, HODO_SHM_MAKING, magic) == 0);
}

/* For a file whose process could not lock it. */
static bool lives_by_pid(const struct hodo_shm *head)
{
	return head->pid != 0 && !(head->flags & HODO_SHM_LOCKED) && hodo_sys2(SYS_kill, head->pid, 0) != -ESRCH;
}

/* Opens and locks the file if it is a flight recorder's, our user's, and its process is dead; else a negative
 * number. */
static long open_dead(long dir, const char *name, struct stat *st)
{
	long fd = hodo_sys4(SYS_openat, dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
	struct hodo_shm head;

	if (fd < 0)
		return fd;
	if (hodo_sys2(SYS_fstat, fd, st) == 0 && is_ours(fd, st, &head) &&
	    hodo_sys2(SYS_flock, fd, LOCK_EX | LOCK_NB) != -EWOULDBLOCK && !lives_by_pid(&head))
		return fd;
	hodo_sys1(SYS_close, fd);
	return -EBUSY;
}

struct survey {
	uint32_t files, dead;
	uint32_t kept; /* of the oldest */
	struct dead oldest[PRUNE_MAX];
};

static void count_file(long dir, const char *name, void *arg)
{
	((struct survey *)arg)->files += has_suffix(name);
}

static bool is_older(const struct dead *a, const struct dead *b)
{
	return a->seconds != b->seconds ? a->seconds < b->seconds : a->ns < b->ns;
}

/* Keeps the oldest ones, in order. */
static void look_at_file(long dir, const char *name, void *arg)
{
	struct survey *s = arg;
	struct dead d;
	struct stat st;
	long fd = has_suffix(name) ? open_dead(dir, name, &st) : -EINVAL;
	uint32_t at;

	if (fd < 0)
		return;
	hodo_sys1(SYS_close, fd);
	s->dead++;
	d.seconds = st.st_mtim.tv_sec;
	d.ns = st.st_mtim.tv_nsec;
	__builtin_memcpy(d.name, name, __builtin_strlen(name) + 1);
	for (at = s->kept; at > 0 && is_older(&d, &s->oldest[at - 1]); at--) {
		if (at < PRUNE_MAX)
			s->oldest[at] = s->oldest[at - 1];
	}
	if (at < PRUNE_MAX) {
		s->oldest[at] = d;
		s->kept += s->kept < PRUNE_MAX;
	}
}

/* Locked meanwhile: if two processes clean up at once, the later one must not remove what a third has made
 * under that name. */
static void remove_dead(long dir, const char *name)
{
	struct stat st;
	long fd = open_dead(dir, name, &st);

	if (fd < 0)
		return;
	if (hodo_sys2(SYS_fstat, fd, &st) == 0 && st.st_nlink > 0)
		hodo_sys3(SYS_unlinkat, dir, name, 0);
	hodo_sys1(SYS_close, fd);
}

void hodo_flight_file_prune(const char *path, uint32_t keep)
{
	static struct survey s; /* under the control lock */
	long dir = hodo_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (dir < 0)
		return;
	s.files = s.dead = s.kept = 0;
	hodo_sys_file_each(dir, count_file, &s);
	if (s.files > keep)
		hodo_sys_file_each(dir, look_at_file, &s);
	for (uint32_t i = 0; i < s.kept && s.dead > keep; i++, s.dead--)
		remove_dead(dir, s.oldest[i].name);
	hodo_sys1(SYS_close, dir);
}
