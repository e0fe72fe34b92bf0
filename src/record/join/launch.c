/* SPDX-License-Identifier: MIT */
/*
 * launch.c - starts the command to be recorded.
 */
#include "launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <hodo/abi.h>

#include <base/file.h>
#include <base/scope.h>
#include <base/text.h>

#define TIMER_SLACK_NS 10000

void hodo_launch_prepare(struct hodo_launch *l, const sigset_t *blocked)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
	struct rlimit most;

	sigaction(SIGPIPE, &ignore, &l->pipe);
	sigaction(SIGXFSZ, &ignore, &l->xfsz);
	sigaction(SIGCHLD, &standard, &l->chld);
	sigprocmask(SIG_BLOCK, blocked, &l->mask);
	if (getrlimit(RLIMIT_NOFILE, &l->nofile) == 0) {
		most = l->nofile;
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
	l->timer_slack_ns = prctl(PR_GET_TIMERSLACK);
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
}

/* --------------------------------------------------------------- library */

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* libhodo.so in a directory, or under the name of its version, made absolute. */
static bool find_in(const char *dir, char *path)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(dir);
	char name[PATH_MAX + 64];

	snprintf(name, sizeof(name), "%s/libhodo.so", dir);
	if (is_file(name) && realpath(name, path))
		return true;
	for (const char *file; (file = hodo_dir_next(d));) {
		snprintf(name, sizeof(name), "%s/%.60s", dir, file);
		if (strncmp(file, "libhodo.so.", 11) == 0 && is_file(name) && realpath(name, path))
			return true;
	}
	return false;
}

/*
 * In the subdirectories of dir whose name contains the word: lib, lib64 beside our bin, then x86_64-linux-gnu
 * in them.
 */
static bool find_below(const char *dir, const char *word, bool deeper, char *path)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(dir);
	char sub[PATH_MAX];

	for (const char *name; (name = hodo_dir_next(d));)
		if (strstr(name, word) && snprintf(sub, sizeof(sub), "%s/%s", dir, name) < (int)sizeof(sub) &&
		    (find_in(sub, path) || (deeper && find_below(sub, "-linux-", false, path))))
			return true;
	return false;
}

static bool find_library(char *path)
{
	char exe[PATH_MAX], dir[PATH_MAX + 16];

	if (!hodo_file_own_dir(exe))
		return false;
	snprintf(dir, sizeof(dir), "%s/../user", exe); /* build tree */
	if (find_in(dir, path))
		return true;
	snprintf(dir, sizeof(dir), "%s/..", exe);
	return find_below(dir, "lib", true, path);
}

static int fail_long(struct hodo_why *why, const char *path)
{
	return hodo_why(why, -ENAMETOOLONG, "%s: path too long: set HODO_LIBRARY to a copy elsewhere", path);
}

int hodo_launch_library(char *path, size_t size, struct hodo_why *why)
{
	const char *given = getenv("HODO_LIBRARY");
	char found[PATH_MAX];

	if (given && *given && (!realpath(given, found) || !is_file(found)))
		return hodo_why(why, -ENOENT, "HODO_LIBRARY=%s: no such library: set it to the path of libhodo.so",
				given);
	if (!(given && *given) && !find_library(found))
		return hodo_why(why, -ENOENT, "libhodo.so is not installed beside this program: install it "
				"(libhodo0), or set HODO_LIBRARY to its path");
	/* The loader splits LD_PRELOAD at these, and has no way to quote them. */
	if (strpbrk(found, " :\t\n"))
		return hodo_why(why, -EINVAL, "%s: a path with a space or colon cannot be preloaded: set "
				"HODO_LIBRARY to a copy elsewhere", found);
	if (snprintf(path, size, "%s", found) >= (int)size)
		return fail_long(why, found);
	return 0;
}

int hodo_launch_add_functions(char *library, size_t size, struct hodo_why *why)
{
	const char *slash = strrchr(library, '/'), *name = slash ? slash + 1 : library;
	char path[PATH_MAX];

	if (strncmp(name, "libhodo.so", 10) != 0)
		return 0;
	if (snprintf(path, sizeof(path), "%.*slibhodo-func.so%s", (int)(name - library), library, name + 10) >=
	    (int)sizeof(path) || strlen(library) + strlen(path) + 2 > size)
		return fail_long(why, library);
	if (!is_file(path))
		return hodo_why(why, -ENOENT, "%s: no such library: functions cannot be traced without it; libhodo0 "
				"has it", path);
	strcat(library, ":");
	strcat(library, path);
	return 0;
}

/* --------------------------------------------------------------- command */

/* 0, -ENOENT, or -EACCES if it is there but cannot be run. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

void hodo_launch_signals(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		/* Scripts ignore SIGINT for what they start in the background, yet use it to stop it. */
		if (signals[i] == SIGINT || (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN))
			sigaddset(set, signals[i]);
	}
}

int hodo_launch_find(const char *command, char *found)
{
	char here[PATH_MAX], *path = found ? found : here;
	const char *at = getenv("PATH");
	char standard[256] = "";
	int result = -ENOENT;

	if (!*command)
		return -ENOENT;
	if (strchr(command, '/'))
		return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX ? check_file(command) : -ENOENT;
	if (!at) {
		confstr(_CS_PATH, standard, sizeof(standard));
		at = standard;
	}
	for (;; at++) {
		size_t len = strcspn(at, ":");

		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, at, len ? "/" : "", command) < PATH_MAX) {
			int err = check_file(path);
			struct stat st;

			if (err == 0)
				return 0;
			/* Directories with that name in PATH are skipped, as in a shell. */
			if (err == -EACCES && stat(path, &st) == 0 && S_ISREG(st.st_mode))
				result = -EACCES;
		}
		at += len;
		if (!*at)
			return result;
	}
}

/* AddressSanitizer's library must be loaded first, and otherwise ends the program. */
static void allow_preload_beside_asan(void)
{
	const char *options = getenv("ASAN_OPTIONS");
	char *value = NULL;

	if (asprintf(&value, "%s%sverify_asan_link_order=0", options ? options : "",
		     options && *options ? ":" : "") < 0 ||
	    setenv("ASAN_OPTIONS", value, 1) < 0)
		_exit(126);
}

/* ---------------------------------------------------------------------- LD_PRELOAD */

/*
 * The loader of a 32-bit program reports each library of LD_PRELOAD that it cannot load on the program's
 * standard error. Only a loadable library under the same text avoids that: so the text contains $LIB, which
 * glibc's loader replaces by different names in 32-bit and 64-bit programs (cmake/HodoPreload.cmake makes the
 * folder). A system that cannot run 32-bit programs, and a libhodo without such a folder beside it, get the
 * plain path.
 */
#define LOADER_32 "/lib/ld-linux.so.2"
#define FOLDER "hodo-preload/$LIB/"

/* Asks our own loader, that of 64-bit programs: it opens the file but does not load it. */
static bool is_found(const char *path)
{
	void *loaded;

	dlerror();
	loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded)
		dlclose(loaded);
	return !dlerror();
}

/* Adds the path of len bytes with the folder in it; false: no folder, or no memory. */
static bool add_path(struct hodo_text *text, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	HODO_AUTO_FREE char *found = NULL;

	if (asprintf(&found, "%.*s" FOLDER "%.*s", (int)dir, path, (int)(len - dir), path + dir) < 0) {
		found = NULL;
		return false;
	}
	/* Also with its plain name, for loaders that do not expand $LIB. */
	if (access(found, R_OK) != 0 || !is_found(found))
		return false;
	hodo_text_printf(text, "%s%s", text->len ? ":" : "", found);
	return true;
}

/* Makes LD_PRELOAD's text for library, one path or two separated by a colon. */
static void preload_text(struct hodo_text *text, const char *library)
{
	bool arranged = access(LOADER_32, F_OK) == 0;

	for (const char *path = library, *end; arranged && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		arranged = add_path(text, path, (size_t)(end - path));
	}
	if (arranged)
		return;
	text->len = 0;
	hodo_text_add(text, library);
}

/* Puts library before those already preloaded. */
static void set_environment(const char *library, const char *socket)
{
	const char *preload = getenv("LD_PRELOAD");
	struct hodo_text text = { 0 };

	allow_preload_beside_asan();
	preload_text(&text, library);
	if (preload && *preload)
		hodo_text_printf(&text, ":%s", preload);
	if (text.error || setenv("LD_PRELOAD", hodo_text_string(&text), 1) < 0 ||
	    setenv(HODO_RECORDER_ENV, socket, 1) < 0)
		_exit(126);
}

/* Until the other end is closed. */
static void wait_for_close(int fd)
{
	char c;

	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
}

static void run(const struct hodo_launch *l, char **argv, const char *library, const char *socket, int fd)
{
	int err;

	if (library && socket)
		set_environment(library, socket);
	sigaction(SIGPIPE, &l->pipe, NULL);
	sigaction(SIGXFSZ, &l->xfsz, NULL);
	sigaction(SIGCHLD, &l->chld, NULL);
	setrlimit(RLIMIT_NOFILE, &l->nofile);
	if (l->timer_slack_ns > 0)
		prctl(PR_SET_TIMERSLACK, l->timer_slack_ns);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

int hodo_launch_start(const struct hodo_launch *l, char **argv, const char *library, const char *socket,
		      const struct hodo_launch_before *before, pid_t *pid)
{
	int pipe_fd[2], hold[2], err = 0;
	ssize_t n;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(hold, O_CLOEXEC) < 0) {
		err = errno;
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		return -err;
	}
	*pid = fork();
	if (*pid == 0) {
		close(hold[1]);
		wait_for_close(hold[0]);
		run(l, argv, library, socket, pipe_fd[1]);
	}
	if (*pid < 0)
		err = errno;
	close(pipe_fd[1]);
	close(hold[0]);
	if (*pid > 0 && before && before->call)
		before->call(before->arg, *pid);
	close(hold[1]);
	if (*pid > 0) {
		/* Closed by a successful exec, else it has the error. */
		while ((n = read(pipe_fd[0], &err, sizeof(err))) < 0 && errno == EINTR)
			;
		if (n != (ssize_t)sizeof(err))
			err = 0;
		else
			waitpid(*pid, NULL, 0);
	}
	close(pipe_fd[0]);
	return -err;
}

int hodo_launch_die(int signal)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	struct rlimit none = { 0, 0 };
	sigset_t set;

	/*
	 * The command has dumped core, and ours would overwrite it. A pipe as core_pattern ignores the limit.
	 */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(signal, &standard, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), signal);
	return 128 + signal;
}
