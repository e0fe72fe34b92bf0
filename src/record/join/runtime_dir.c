/* SPDX-License-Identifier: MIT */
/*
 * runtime_dir.c - where sockets are.
 */
#include "runtime_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <hodo/abi.h>

#include <base/file.h>
#include <base/scope.h>

#include <record/write/names.h>
#include <proc/process.h>
#include "socket.h"

/* Another user could have made the directory in /tmp, or a link, before us: neither is ever used. */
static int make_private(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if ((st.st_mode & 077) != 0 && chmod(path, 0700) < 0)
		return -errno;
	return 0;
}

static int xdg_dir(char *path, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!xdg || xdg[0] != '/')
		return -ENOENT;
	if (snprintf(path, size, "%s/hodo", xdg) >= (int)size)
		return -ENAMETOOLONG;
	/* After su or sudo, it is often another user's. */
	if (stat(xdg, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return -EPERM;
	return make_private(path);
}

int hodo_runtime_dir(char *path, size_t size, size_t room)
{
	struct sockaddr_un address;

	if (xdg_dir(path, size) == 0 && strlen(path) + room <= sizeof(address.sun_path))
		return 0;
	if (snprintf(path, size, "/tmp/hodo-%u", (unsigned int)geteuid()) >= (int)size)
		return -ENAMETOOLONG;
	return make_private(path);
}

int hodo_runtime_dir_taken(const char *path, struct hodo_why *why)
{
	char user[64];
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	return hodo_why(why, 0, "%s %s %s", path,
			S_ISDIR(st.st_mode) ? "belongs to" : "is not a directory; it was made by",
			hodo_user_name(st.st_uid, user, sizeof(user)));
}

int hodo_runtime_dir_instead(char *path, size_t size, struct hodo_why *why)
{
	int err = hodo_runtime_dir_taken(path, why);

	if (err)
		return err;
	if (snprintf(path, size, "/tmp/hodo-%u-XXXXXX", (unsigned int)geteuid()) >= (int)size)
		return -ENAMETOOLONG;
	return mkdtemp(path) ? 0 : -errno;
}

/*
 * Whether "record-PID.sock", "join-PID.sock", or just a pid, where a process listens, belongs to a dead
 * process.
 */
static bool is_dead(const char *name)
{
	int pid, end = 0;

	return (sscanf(name, "record-%d.sock%n", &pid, &end) == 1 || sscanf(name, "join-%d.sock%n", &pid, &end) == 1 ||
		sscanf(name, "%d%n", &pid, &end) == 1) &&
	       end > 0 && !name[end] && pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

/* How many it removed. */
static uint32_t sweep(const char *dir)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(dir);
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uint32_t n = 0;

	/* The pid may be a live process in another pid namespace: so connect to the socket, too. */
	for (const char *name; (name = hodo_dir_next(d));)
		if (is_dead(name) && snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
		    socket_is_stale(path))
			n += unlink(path) == 0;
	return n;
}

/* Whether it is a directory made instead of /tmp/hodo-UID: its name is that and a hyphen and more. */
static bool is_instead(int tmp, const char *name, uid_t uid, uid_t called)
{
	char begin[32];
	struct stat st;
	int len = snprintf(begin, sizeof(begin), "hodo-%u-", (unsigned int)called);

	return strncmp(name, begin, (size_t)len) == 0 && strlen(name) < 64 &&
	       fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
}

void hodo_runtime_sweep(const char *dir)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir("/tmp");
	char path[96];

	sweep(dir);
	for (const char *name; (name = hodo_dir_next(d));) {
		if (!is_instead(dirfd(d), name, geteuid(), geteuid()))
			continue;
		snprintf(path, sizeof(path), "/tmp/%s", name);
		/* An empty one may belong to a process that is about to listen. */
		if (sweep(path) > 0)
			rmdir(path);
	}
}

/* --------------------------------------------------------------------- directories */

static void add_dir(struct hodo_runtime_dirs *dirs, const char *format, ...)
{
	char *dir = dirs->dir[dirs->n];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(dir, sizeof(dirs->dir[0]), format, args);
	va_end(args);
	for (uint32_t i = 0; i < dirs->n; i++)
		if (strcmp(dirs->dir[i], dir) == 0)
			return;
	dirs->n += dirs->n + 1 < HODO_RUNTIME_DIRS_MAX && dir[0] == '/' && len < (int)sizeof(dirs->dir[0]);
}

/* Directories of a user, perhaps with another uid in the process, made because /tmp/hodo-UID was taken. */
static void add_instead(struct hodo_runtime_dirs *dirs, pid_t pid, uid_t uid, uid_t called)
{
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int)pid);
	d = opendir(path);
	for (const char *name; (name = hodo_dir_next(d));)
		if (is_instead(dirfd(d), name, uid, called))
			add_dir(dirs, "/tmp/%s", name);
}

void hodo_runtime_dirs(pid_t pid, bool inner, struct hodo_runtime_dirs *dirs)
{
	static const char *const elsewhere[] = HODO_LISTEN_DIRS;
	uid_t users[4] = { geteuid(), geteuid(), geteuid(), geteuid() };
	const char *ours = getenv("XDG_RUNTIME_DIR");
	char xdg[sizeof(dirs->dir[0])];
	struct hodo_proc_status status;

	dirs->n = 0;
	/* A daemon that dropped its privileges still listens where it began. */
	if (hodo_proc_status(pid, &status) == 0)
		memcpy(users, (uid_t[]){ status.euid, status.uid, status.suid }, 3 * sizeof(*users));
	if (hodo_proc_environment(pid, "XDG_RUNTIME_DIR", xdg, sizeof(xdg)))
		add_dir(dirs, "%s/hodo", xdg);
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
		unsigned int uid = inner ? hodo_proc_inner_uid(pid, users[i]) : users[i];

		add_dir(dirs, "/run/user/%u/hodo", uid);
		add_dir(dirs, "/tmp/hodo-%u", uid);
		for (size_t k = 0; inner && k < sizeof(elsewhere) / sizeof(*elsewhere); k++)
			add_dir(dirs, "%s/hodo-%u", elsewhere[k], uid);
	}
	if (ours) /* some programs overwrite their environment */
		add_dir(dirs, "%s/hodo", ours);
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		add_instead(dirs, pid, users[i], inner ? hodo_proc_inner_uid(pid, users[i]) : users[i]);
}

/* ---------------------------------------------------------------------- recorders */

struct list {
	struct hodo_found_recorder *recorder;
	int n;
};

/* "record-PID.sock" */
static bool is_socket(const char *path, uint32_t *pid)
{
	const char *slash = strrchr(path, '/');
	int end = 0;

	return slash && sscanf(slash + 1, "record-%u.sock%n", pid, &end) == 1 && end > 0 && !slash[1 + end];
}

static void add(struct list *l, const char *path)
{
	struct hodo_found_recorder *r = &l->recorder[l->n];

	if (l->n == HODO_RECORDERS_MAX || strlen(path) >= sizeof(r->path) || !is_socket(path, &r->pid))
		return;
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->recorder[i].path, path) == 0)
			return;
	memcpy(r->path, path, strlen(path) + 1);
	l->n++;
}

static void add_all(struct list *l, const char *dir)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(dir);
	char path[512];

	for (const char *name; (name = hodo_dir_next(d));)
		if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
			add(l, path);
}

int hodo_recorders_find(pid_t pid, struct hodo_found_recorder *recorders)
{
	struct list l = { recorders, 0 };
	struct hodo_runtime_dirs dirs;
	char value[512];

	if (hodo_proc_environment(pid, HODO_RECORDER_ENV, value, sizeof(value)) && value[0] == '/') {
		size_t len = strlen(value);

		/* Without the abstract address, which is for processes that cannot reach the path. */
		if (len > HODO_RECORDER_SUFFIX && value[len - HODO_RECORDER_SUFFIX] == '#')
			value[len - HODO_RECORDER_SUFFIX] = 0;
		add(&l, value);
	}
	hodo_runtime_dirs(pid, false, &dirs);
	for (uint32_t i = 0; i < dirs.n; i++)
		add_all(&l, dirs.dir[i]);
	return l.n;
}
