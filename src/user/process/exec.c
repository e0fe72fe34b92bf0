/* SPDX-License-Identifier: MIT */
/*
 * exec.c - the exec functions and posix_spawn, which announce the coming image (images.c) and then call
 * libc's.
 *
 * Exported under libc's own symbol versions, see libhodo.map.in. They run in signal handlers and vfork children: libc's
 * functions are looked up when the library starts. A static program keeps libc's.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include "images.h"
#include "root.h"
#include <user/libc/sys.h>

#ifdef HODO_SPLIT
static struct {
	__typeof__(execve) *execve;
	__typeof__(execv) *execv;
	__typeof__(execvp) *execvp;
	__typeof__(execvpe) *execvpe;
	__typeof__(fexecve) *fexecve;
	__typeof__(posix_spawn) *posix_spawn, *posix_spawnp;
} libcs;

/*
 * With initfirst the library's constructor runs first, except on musl, where another library's may call us
 * before.
 */
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

enum how { EXECVE, EXECV, EXECVP, EXECVPE, FEXECVE, EXECVEAT };
struct exec {
	enum how how;
	int dir;
	const char *path;
	char *const *argv;
	int flags; /* of execveat() */
};

/* Calls the libc function that was called; if the environment was changed, the variant that takes one. */
static void pass_on(const struct exec *x, char *const *envp, bool changed)
{
	switch (x->how) {
	case EXECV:
		if (!changed) {
			libcs.execv(x->path, x->argv);
			break;
		} /* fall through */
	case EXECVE:
		libcs.execve(x->path, x->argv, envp);
		break;
	case EXECVP:
		if (!changed) {
			libcs.execvp(x->path, x->argv);
			break;
		} /* fall through */
	case EXECVPE:
		libcs.execvpe(x->path, x->argv, envp);
		break;
	case FEXECVE:
		libcs.fexecve(x->dir, x->argv, envp);
		break;
	case EXECVEAT: /* glibc has it since 2.34, and does no more than this */
		errno = (int)-hodo_sys6(SYS_execveat, x->dir, (long)x->path, (long)x->argv, (long)envp, x->flags, 0);
		break;
	}
}

/* Returns only if it fails. */
static int announce(const struct exec *x, char *const *envp, bool changed)
{
	struct hodo_announced image = hodo_image_announce(0, x->dir, x->path);

	pass_on(x, envp, changed);
	hodo_image_withdraw(image);
	return -1;
}

/* A function of its own: it needs a large frame, and a signal's stack may be small. */
static __attribute__((noinline)) int exec_elsewhere(const struct exec *x, char *const *envp)
{
	struct hodo_root root;
	size_t n = hodo_root_change(&root, envp);
	char *changed[n + 1];

	if (n)
		hodo_root_environment(&root, envp, changed);
	return announce(x, n ? changed : envp, n);
}

static int exec(enum how how, int dir, const char *path, char *const *argv, char *const *envp)
{
	const struct exec x = { .how = how, .dir = dir, .path = path, .argv = argv };

	hodo_exec_prepare();
	return hodo_root_has_library() ? announce(&x, envp, false) : exec_elsewhere(&x, envp);
}

HODO_PUBLIC int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec(EXECVE, AT_FDCWD, path, argv, envp);
}

HODO_PUBLIC int execv(const char *path, char *const argv[])
{
	return exec(EXECV, AT_FDCWD, path, argv, __environ);
}

HODO_PUBLIC int execvp(const char *file, char *const argv[])
{
	return exec(EXECVP, HODO_IMAGE_SEARCHED, file, argv, __environ);
}

HODO_PUBLIC int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec(EXECVPE, HODO_IMAGE_SEARCHED, file, argv, envp);
}

HODO_PUBLIC int fexecve(int fd, char *const argv[], char *const envp[])
{
	return exec(FEXECVE, fd, "", argv, envp);
}

HODO_PUBLIC int execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	const struct exec x = { EXECVEAT, dirfd, path, argv, flags };

	return hodo_root_has_library() ? announce(&x, envp, false) : exec_elsewhere(&x, envp);
}

/* ---------------------------------------------------- exec with a list of arguments */

/*
 * Copies the arguments from `first` on, and the null pointer after them, into argv unless that is null.
 * Returns their number.
 */
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

/* argv, of all arguments from `first` on; `again` is past them. The caller must end both lists. */
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
	return exec(EXECV, AT_FDCWD, path, argv, __environ);
}

HODO_PUBLIC int execlp(const char *file, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(again);
	return exec(EXECVP, HODO_IMAGE_SEARCHED, file, argv, __environ);
}

HODO_PUBLIC int execle(const char *path, const char *arg, ...)
{
	ARGUMENTS(arg);
	char *const *envp = va_arg(again, char *const *);

	va_end(again);
	return exec(EXECVE, AT_FDCWD, path, argv, envp);
}

/* ------------------------------------------------------------------- spawn */

struct spawn {
	__typeof__(posix_spawn) *libc;
	int dir;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

/* When the child's pid is known, it already runs its image, or there is no child. */
static int spawn_with(const struct spawn *x, pid_t *pid, const char *path, char *const argv[], char *const envp[])
{
	pid_t own = 0;
	int error = x->libc(pid ? pid : &own, path, x->actions, x->attributes, argv, envp), dir = x->dir;

	/* The actions, which are opaque, may have changed the child's directory. */
	if (error == 0 && x->actions && (dir != HODO_IMAGE_SEARCHED || strchr(path, '/')))
		dir = HODO_IMAGE_ELSEWHERE;
	if (error == 0)
		hodo_image_announce((uint32_t)(pid ? *pid : own), dir, path);
	return error;
}

static __attribute__((noinline)) int spawn_elsewhere(const struct spawn *x, pid_t *pid, const char *path,
						     char *const argv[], char *const envp[])
{
	struct hodo_root root;
	size_t n = hodo_root_change(&root, envp);
	char *changed[n + 1];

	if (n)
		hodo_root_environment(&root, envp, changed);
	return spawn_with(x, pid, path, argv, n ? changed : envp);
}

/* The child has our root directory: no action changes that. */
static int spawn(const struct spawn *x, pid_t *pid, const char *path, char *const argv[], char *const envp[])
{
	return (hodo_root_has_library() ? spawn_with : spawn_elsewhere)(x, pid, path, argv, envp);
}

HODO_PUBLIC int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	hodo_exec_prepare();
	return spawn(&(struct spawn){ libcs.posix_spawn, AT_FDCWD, actions, attributes }, pid, path, argv, envp);
}

HODO_PUBLIC int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	hodo_exec_prepare();
	return spawn(&(struct spawn){ libcs.posix_spawnp, HODO_IMAGE_SEARCHED, actions, attributes }, pid, file, argv,
		     envp);
}
#else
void hodo_exec_prepare(void)
{
}
#endif
