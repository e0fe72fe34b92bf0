/* SPDX-License-Identifier: MIT */
/*
 * exec.c - the exec functions and posix_spawn, which announce the image to come (images.c) and pass on to libc's.
 *
 * Exported under libc's own symbol versions, see libhodo.map.in. They run in signal handlers and vfork children: libc's
 * functions are looked up when the library starts. A static program keeps libc's.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include "images.h"
#include "sys.h"

#ifdef HODO_SPLIT
static struct {
	__typeof__(execve) *execve;
	__typeof__(execv) *execv;
	__typeof__(execvp) *execvp;
	__typeof__(execvpe) *execvpe;
	__typeof__(fexecve) *fexecve;
	__typeof__(posix_spawn) *posix_spawn, *posix_spawnp;
} libcs;

/* By initfirst the library's is the first constructor, musl aside: there another library's may call us before. */
void hodo_exec_prepare(void)
{
	if (libcs.execve)
		return;
	*(void **)&libcs.execv = dlsym(RTLD_NEXT, "execv");
	*(void **)&libcs.execvp = dlsym(RTLD_NEXT, "execvp");
	*(void **)&libcs.execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&libcs.fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&libcs.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&libcs.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	*(void **)&libcs.execve = dlsym(RTLD_NEXT, "execve");
}

/* -------------------------------------------------------------------- exec */

/* Each returns where it has failed, and nowhere else. */
#define EXEC(dir, path, call)                                                             \
	({                                                                               \
		struct hodo_announced hodo_image = hodo_image_announce(0, (dir), (path)); \
		hodo_exec_prepare();                                                      \
		(void)(call);                                                             \
		hodo_image_withdraw(hodo_image);                                          \
		-1;                                                                       \
	})

HODO_PUBLIC int execve(const char *path, char *const argv[], char *const envp[])
{
	return EXEC(AT_FDCWD, path, libcs.execve(path, argv, envp));
}

HODO_PUBLIC int execv(const char *path, char *const argv[])
{
	return EXEC(AT_FDCWD, path, libcs.execv(path, argv));
}

HODO_PUBLIC int execvp(const char *file, char *const argv[])
{
	return EXEC(HODO_IMAGE_SEARCHED, file, libcs.execvp(file, argv));
}

HODO_PUBLIC int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return EXEC(HODO_IMAGE_SEARCHED, file, libcs.execvpe(file, argv, envp));
}

HODO_PUBLIC int fexecve(int fd, char *const argv[], char *const envp[])
{
	return EXEC(fd, "", libcs.fexecve(fd, argv, envp));
}

/* glibc has it from 2.34 on, and does no more either. */
HODO_PUBLIC int execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return EXEC(dirfd, path,
		    errno = (int)-hodo_sys6(SYS_execveat, dirfd, (long)path, (long)argv, (long)envp, flags, 0));
}

/* ---------------------------------------------------- exec with a list of arguments */

/* The arguments from `first` on, and the null pointer behind them, into argv unless that is null. Their number. */
static size_t collect(char **argv, const char *first, va_list *list)
{
	size_t n = 0;

	for (const char *s = first; s; s = va_arg(*list, const char *), n++)
		if (argv)
			argv[n] = (char *)s;
	if (argv)
		argv[n] = 0;
	return n;
}

/* argv, of all arguments from `first` on; `again` is behind them. Both lists are to be ended. */
#define ARGUMENTS(first)                             \
	va_list list, again;                        \
	va_start(list, first);                      \
	va_copy(again, list);                       \
	char *argv[collect(0, first, &again) + 1];  \
	collect(argv, first, &list);                \
	va_end(list)

HODO_PUBLIC int execl(const char *path, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(again);
	return EXEC(AT_FDCWD, path, libcs.execv(path, argv));
}

HODO_PUBLIC int execlp(const char *file, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(again);
	return EXEC(HODO_IMAGE_SEARCHED, file, libcs.execvp(file, argv));
}

HODO_PUBLIC int execle(const char *path, const char *arg, ...)
{
	ARGUMENTS(arg);
	char *const *envp = va_arg(again, char *const *);

	va_end(again);
	return EXEC(AT_FDCWD, path, libcs.execve(path, argv, envp));
}

/* ------------------------------------------------------------------- spawn */

/* The child's number is known when it is its own image already, or none came to be. */
static int spawn(__typeof__(posix_spawn) *libc, int dir, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[],
		 char *const envp[])
{
	pid_t own = 0;
	int error = libc(pid ? pid : &own, path, actions, attributes, argv, envp);

	/* The actions may have changed the child's directory, and nobody can look into them. */
	if (error == 0 && actions && (dir != HODO_IMAGE_SEARCHED || strchr(path, '/')))
		dir = HODO_IMAGE_ELSEWHERE;
	if (error == 0)
		hodo_image_announce((uint32_t)(pid ? *pid : own), dir, path);
	return error;
}

HODO_PUBLIC int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	hodo_exec_prepare();
	return spawn(libcs.posix_spawn, AT_FDCWD, pid, path, actions, attributes, argv, envp);
}

HODO_PUBLIC int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	hodo_exec_prepare();
	return spawn(libcs.posix_spawnp, HODO_IMAGE_SEARCHED, pid, file, actions, attributes, argv, envp);
}
#else
void hodo_exec_prepare(void)
{
}
#endif
