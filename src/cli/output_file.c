/* SPDX-License-Identifier: MIT */
/* output_file.c - a file that a verb makes of a recording: see output_file.h. */
#define _GNU_SOURCE
#include "output_file.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>

/* ------------------------------------------------------------------- the file */

/* What is not whole is not left behind. */
static char *volatile to_remove;

static void on_signal(int signal_number)
{
	if (to_remove)
		unlink(to_remove);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Makes the file that is removed if a signal ends us; none comes in between. Its descriptor, or -1 and errno. */
static int create(char *temporary)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t held, before;
	int fd, error;

	sigemptyset(&held);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	error = errno;
	for (unsigned i = 0; fd >= 0 && i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			signal(signals[i], on_signal);
	}
	to_remove = fd >= 0 ? temporary : NULL;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

/* Without the slashes at its end. */
static size_t length_of(const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	return len;
}

/* "." and ".." and "/" have no name that a file's could be made of. */
static bool has_name(const char *dir)
{
	size_t len = length_of(dir), begin = len;

	while (begin > 0 && dir[begin - 1] != '/')
		begin--;
	return len > begin && strncmp(dir + begin, "..", len - begin) != 0;
}

char *hodo_output_beside(const char *dir, const char *suffix)
{
	char *path;

	dir = has_name(dir) ? dir : HODO_DIR_DEFAULT;
	return asprintf(&path, "%.*s.%s", (int)length_of(dir), dir, suffix) < 0 ? NULL : path;
}

static int refuse_terminal(const char *verb, const char *binary)
{
	return hodo_error("%s: %s is not for a terminal: write to a file or a pipe", verb, binary);
}

static int open_standard(struct hodo_output *t, const char *verb, const char *binary)
{
	if (binary && isatty(STDOUT_FILENO))
		return refuse_terminal(verb, binary);
	t->fd = STDOUT_FILENO;
	return 0;
}

static int create_aside(struct hodo_output *t)
{
	if (asprintf(&t->temporary, "%s.%d.part", t->real ? t->real : t->path, (int)getpid()) >= 0)
		return create(t->temporary);
	t->temporary = NULL;
	errno = ENOMEM;
	return -1;
}

/*
 * Files are written aside and get their name when they are whole; what is no file is written to as it is, if the user
 * named it. Nobody named what stands beside the recording: it may have come with it, and a link lead anywhere.
 */
static int open_path(struct hodo_output *t, const char *verb, const char *binary)
{
	struct stat st;

	if (stat(t->path, &st) == 0 && S_ISDIR(st.st_mode))
		return hodo_error("%s: is a directory: name a file with -o", t->path);
	if (t->beside && !t->forced && lstat(t->path, &st) == 0 && !S_ISREG(st.st_mode))
		return hodo_error("%s: is %s: give --force to replace it, or name another file with -o", t->path,
			   S_ISLNK(st.st_mode) ? "a symbolic link" : "no regular file");
	if (!t->beside && stat(t->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (t->fd >= 0 && binary && isatty(t->fd))
			return refuse_terminal(verb, binary);
	} else {
		if (lstat(t->path, &st) == 0 && !t->force)
			return hodo_error("%s exists: give --force to replace it, or name another file with -o", t->path);
		/* What a link that was named leads to is replaced, not the link. */
		t->real = t->beside ? NULL : realpath(t->path, NULL);
		t->fd = create_aside(t);
	}
	if (t->fd < 0) {
		hodo_error("%s: cannot be written: %s: name another file with -o", t->path, strerror(errno));
		free(t->temporary);
		free(t->real);
		t->temporary = t->real = NULL;
		return HODO_EXIT_FAILURE;
	}
	return 0;
}

int hodo_output_open(struct hodo_output *t, const char *verb, const char *path, const char *binary,
		     const struct hodo_output_args *args)
{
	/* Writing fails instead, and nothing half written is left behind. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* What stands beside the recording under its name was made from it, and can be again. */
	*t = (struct hodo_output){ .fd = -1, .beside = !args->path, .forced = args->force,
				   .force = args->force || (!args->path && has_name(args->args.dir)) };
	if (path && strcmp(path, "-") == 0)
		return open_standard(t, verb, binary);
	t->path = path ? strdup(path) : NULL;
	if (!t->path)
		return hodo_error("out of memory");
	return open_path(t, verb, binary);
}

int hodo_output_write(void *data, const void *bytes, size_t len)
{
	struct hodo_output *t = data;
	int err = hodo_file_write(t->fd, bytes, len);

	t->failed_write |= err < 0;
	return err;
}

/* Gives the file its name. 0 or a negative errno. */
static int put_in_place(struct hodo_output *t)
{
	const char *path = t->real ? t->real : t->path;

	if (t->force)
		return rename(t->temporary, path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, t->temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system has that. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(path, F_OK) == 0)
		return -EEXIST;
	return rename(t->temporary, path) < 0 ? -errno : 0;
}

int hodo_output_close(struct hodo_output *t, const char *dir, int err)
{
	const char *name = t->path ? t->path : "standard output";
	int status = 0;

	/* Some file systems report a full disk only now. */
	if (t->fd >= 0 && close(t->fd) < 0 && !err) {
		err = -errno;
		t->failed_write = true;
	}
	if (!err && t->temporary) {
		err = put_in_place(t);
		t->failed_write = err < 0;
	}
	if (err && t->temporary)
		unlink(t->temporary);
	to_remove = NULL;
	if (t->failed_write && err == -EPIPE && !t->path)
		err = 0; /* who read it has enough */
	if (err == -EEXIST)
		hodo_error("%s exists: give --force to replace it, or name another file with -o", name);
	else if (err && t->failed_write)
		hodo_error("%s: cannot be written: %s: name another file with -o", name, strerror(-err));
	else if (err)
		hodo_error("%s: cannot be read on: %s", dir, strerror(-err));
	status = err ? HODO_EXIT_FAILURE : 0;
	free(t->temporary);
	free(t->real);
	t->temporary = NULL;
	return status;
}
