/* SPDX-License-Identifier: MIT */
/* listener_socket.c - where the thread that listens (serve.c) has its socket, which only its user and root reach. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "listen.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/process/process.h>
#include "talk.h"

struct hodo_listener hodo_listener;

/* $XDG_RUNTIME_DIR at the start, "" if it cannot be used */
static char runtime[sizeof(hodo_listener.address.sun_path)];

void hodo_listener_init(char *const *envp)
{
	const char *xdg = hodo_environment(envp, "XDG_RUNTIME_DIR");

	if (xdg && __builtin_strlen(xdg) < sizeof(runtime))
		hodo_fixed_text_add(runtime, sizeof(runtime), xdg);
}

/* A directory that only we own, or none: another user could have made it, or a link, before us. */
static long private_dir(const char *path)
{
	struct stat st;
	long error = hodo_sys3(SYS_mkdirat, AT_FDCWD, path, 0700);

	if (error && error != -EEXIST)
		return error;
	error = hodo_sys4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	if (error)
		return error;
	if ((st.st_mode & S_IFMT) != S_IFDIR || st.st_uid != (uid_t)hodo_sys0(SYS_geteuid))
		return -EPERM;
	return (st.st_mode & 077) ? hodo_sys3(SYS_fchmodat, AT_FDCWD, path, 0700) : 0;
}

static bool runtime_dir(char *path, size_t size)
{
	struct stat st;

	if (runtime[0] != '/' || hodo_sys4(SYS_newfstatat, AT_FDCWD, runtime, &st, 0) != 0 ||
	    (st.st_mode & S_IFMT) != S_IFDIR || st.st_uid != (uid_t)hodo_sys0(SYS_geteuid) || (st.st_mode & 022))
		return false;
	path[0] = 0;
	return hodo_fixed_text_add(path, size - sizeof("/4294967295"), runtime) &&
	       hodo_fixed_text_add(path, size - sizeof("/4294967295"), "/hodo") && private_dir(path) == 0;
}

/* If somebody else owns that one: one with an unpredictable name, as in hodo. */
static long instead(char *path, size_t size)
{
	uint32_t number;

	if (hodo_sys3(SYS_getrandom, &number, sizeof(number), 0) != sizeof(number))
		return -EPERM;
	hodo_fixed_text_add(path, size, "-");
	hodo_fixed_text_number(path, size, number);
	hodo_listener.own_dir = true;
	return hodo_sys3(SYS_mkdirat, AT_FDCWD, path, 0700);
}

static long dir_in(char *path, size_t size, const char *where)
{
	path[0] = 0;
	hodo_fixed_text_add(path, size, where);
	hodo_fixed_text_add(path, size, "/hodo-");
	hodo_fixed_text_number(path, size, (uint32_t)hodo_sys0(SYS_geteuid));
	return private_dir(path);
}

/* Where a root directory has no /tmp, or nobody may write there; hodo looks there too (runtime_dir.c). */
static long dir_elsewhere(char *path, size_t size)
{
	static const char where[][12] = HODO_LISTEN_DIRS;
	long error = -ENOENT;

	hodo_listener.own_dir = true;
	for (unsigned i = 0; error && i < sizeof(where) / sizeof(*where); i++)
		error = dir_in(path, size, where[i]);
	return error;
}

static long socket_path(char *path, size_t size)
{
	long error;

	if (!runtime_dir(path, size)) {
		error = dir_in(path, size, "/tmp");
		if (error == -EPERM)
			error = instead(path, size);
		else if (error && dir_elsewhere(path, size) == 0)
			error = 0;
		if (error)
			return error;
	}
	hodo_fixed_text_add(path, size, "/");
	hodo_fixed_text_number(path, size, (uint32_t)hodo_sys0(SYS_getpid));
	return 0;
}

void hodo_listener_remove(void)
{
	char *path = hodo_listener.address.sun_path, *slash = 0;

	if (!path[0])
		return;
	hodo_sys_file_remove(path);
	for (char *c = path; hodo_listener.own_dir && *c; c++)
		slash = *c == '/' ? c : slash;
	if (slash) {
		*slash = 0;
		hodo_sys3(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
	}
	path[0] = 0;
}

void hodo_listener_leave(void)
{
	struct hodo_listener *l = &hodo_listener;
	uint32_t listens = HODO_LISTENER_LISTENS;
	long fd;

	hodo_cas_seq(&l->state, &listens, HODO_LISTENER_LEAVES);
	if (hodo_load_seq(&l->state) != HODO_LISTENER_LEAVES)
		return;
	/* Wakes the listener. */
	fd = hodo_sys_socket_new();
	if (fd < 0)
		return;
	hodo_sys3(SYS_connect, fd, &l->address, sizeof(l->address));
	hodo_sys1(SYS_close, fd);
}

long hodo_listener_bind(void)
{
	long fd, error;

	hodo_listener.own_dir = false;
	error = socket_path(hodo_listener.address.sun_path, sizeof(hodo_listener.address.sun_path));
	if (error)
		return error;
	fd = hodo_sys_socket_new();
	if (fd < 0)
		return fd;
	hodo_listener.address.sun_family = AF_UNIX;
	/* Left by a process that had our pid. */
	hodo_sys_file_remove(hodo_listener.address.sun_path);
	error = hodo_sys3(SYS_bind, fd, &hodo_listener.address, sizeof(hodo_listener.address));
	if (!error)
		error = hodo_sys3(SYS_fchmodat, AT_FDCWD, hodo_listener.address.sun_path, 0600);
	if (!error)
		error = hodo_sys2(SYS_listen, fd, HODO_LISTENER_CLIENTS);
	if (!error)
		return fd;
	hodo_sys1(SYS_close, fd);
	hodo_listener_remove();
	return error;
}
