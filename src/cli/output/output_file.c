/* SPDX-License-Identifier: MIT */
/* output_file.c - a file that a verb makes from a recording: see output_file.h. */
#define _GNU_SOURCE
#include "output_file.h"

#include <cli/recording.h>
#include <cli/say.h>
#include "output_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <sym/recording_symbols.h>

#define PROGRESS_NS 200000000

struct hodo_output {
	char *path;      /* NULL: standard output */
	char *real;      /* the target of path, if it exists and the user named it */
	char *temporary; /* written first, then renamed to path; NULL: path itself */
	int fd;
	bool force; /* what is there may be replaced */
	bool failed_write;
	uint64_t bytes;
	int64_t shown_ns; /* when progress was last shown; INT64_MAX: never */
	bool shown;
};

static void warn(const char *text)
{
	hodo_warning("%s", text);
}

static void say_nothing(const char *text)
{
}

void (*hodo_output_warn(bool quiet))(const char *text)
{
	return quiet ? say_nothing : warn;
}

/* ------------------------------------------------------------------- the file */

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

bool hodo_output_replaces(const struct hodo_output_args *a)
{
	return a->force || (!a->path && has_name(a->args.dir));
}

char *hodo_output_beside(const char *dir, const char *suffix)
{
	char *path;

	dir = has_name(dir) ? dir : HODO_DIR_DEFAULT;
	return asprintf(&path, "%.*s.%s", (int)length_of(dir), dir, suffix) < 0 ? NULL : path;
}

static int refuse_terminal(const struct hodo_output_args *a, const char *binary)
{
	return hodo_error("%s: %s is not for a terminal: write to a file or a pipe", a->args.verb->name, binary);
}

/* A user who may not read the recording may not read the output. */
static mode_t mode_like(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 ? 0600 | (st.st_mode & 066) : 0600;
}

/* Whether a regular file has what the verb writes, and not what somebody else put there under its name. */
static bool is_ours(const char *path, const struct hodo_output_args *a)
{
	const int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	HODO_AUTO_CLOSE int fd = a->is_ours ? open(path, how) : -1;

	return !a->is_ours || (fd >= 0 && a->is_ours(fd));
}

/*
 * Files are written aside and get their name when they are complete; anything else is written to directly, if
 * the user named it. A default file beside the recording was not named: it may have come with the recording,
 * and a link may lead anywhere.
 */
static int open_path(struct hodo_output *t, const struct hodo_output_args *a, const char *binary)
{
	struct stat st;

	if (stat(t->path, &st) == 0 && S_ISDIR(st.st_mode))
		return hodo_error("%s: is a directory: name a file with -o", t->path);
	if (!a->path && !a->force && lstat(t->path, &st) == 0 && !S_ISREG(st.st_mode))
		return hodo_error("%s: is %s: give --force to replace it, or name another file with -o", t->path,
				  S_ISLNK(st.st_mode) ? "a symbolic link" : "not a regular file");
	if (!a->path && t->force && !a->force && lstat(t->path, &st) == 0 && !is_ours(t->path, a))
		return hodo_error("%s exists, and 'hodo %s' did not make it: give --force to replace it, or name another "
				  "file with -o", t->path, a->args.verb->name);
	if (a->path && stat(t->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (t->fd >= 0 && binary && isatty(t->fd))
			return refuse_terminal(a, binary);
	} else {
		if (lstat(t->path, &st) == 0 && !t->force)
			return hodo_error("%s exists: give --force to replace it, or name another file with -o", t->path);
		/* Replaces the target of a named link, not the link. */
		t->real = !a->path ? NULL : realpath(t->path, NULL);
		if (asprintf(&t->temporary, "%s.%d.part", t->real ? t->real : t->path, (int)getpid()) < 0)
			exit(hodo_no_memory());
		t->fd = hodo_aside_make(t->temporary, mode_like(a->args.dir), false);
	}
	return t->fd < 0 ? hodo_error("%s: cannot be written: %s: name another file with -o", t->path, strerror(errno)) : 0;
}

/* 0, or the exit status, having said why. */
static int open_output(struct hodo_output *t, const struct hodo_output_args *a, const char *suffix, const char *binary)
{
	hodo_aside_prepare();
	*t = (struct hodo_output){ .fd = STDOUT_FILENO, .shown_ns = INT64_MAX,
				   .force = hodo_output_replaces(a) };
	if (a->path ? strcmp(a->path, "-") == 0 : !*suffix)
		return binary && isatty(STDOUT_FILENO) ? refuse_terminal(a, binary) : 0;
	t->path = hodo_must(a->path ? strdup(a->path) : hodo_output_beside(a->args.dir, suffix));
	if (!a->args.quiet && isatty(STDERR_FILENO))
		t->shown_ns = hodo_now_ns();
	return open_path(t, a, binary);
}

void hodo_output_progress(struct hodo_output *t, const char *number, const char *what)
{
	int64_t now = hodo_now_ns();

	if (now <= t->shown_ns || now - t->shown_ns < PROGRESS_NS)
		return;
	/* The next message begins where this line does. */
	fprintf(stderr, "hodo: %s %s\033[K\r", number, what);
	fflush(stderr);
	t->shown_ns = now;
	t->shown = true;
}

static int write_output(void *output, const void *bytes, size_t len)
{
	struct hodo_output *t = output;
	int err = hodo_file_write(t->fd, bytes, len);
	char size[32];

	t->failed_write |= err < 0;
	t->bytes += len;
	hodo_output_progress(t, hodo_human_bytes(t->bytes, size), "written");
	return err;
}

/*
 * err: the result so far, 0 or a negative errno; dir: the recording, for messages. The exit status, after a
 * message.
 */
static int close_output(struct hodo_output *t, const char *dir, int err)
{
	const char *name = t->path ? t->path : "standard output";

	/* Some file systems report a full disk only now. */
	if (close(t->fd) < 0 && !err) {
		err = -errno;
		t->failed_write = true;
	}
	if (!err && t->temporary) {
		err = hodo_aside_place(t->temporary, t->real ? t->real : t->path, t->force);
		t->failed_write = err < 0;
	}
	if (err && t->temporary)
		unlink(t->temporary);
	hodo_aside_over();
	if (t->failed_write && err == -EPIPE && !t->path)
		return 0; /* the reader has had enough */
	if (err == -EEXIST)
		return hodo_error("%s exists: give --force to replace it, or name another file with -o", name);
	if (err && t->failed_write)
		return hodo_error("%s: cannot be written: %s: name another file with -o", name, strerror(-err));
	return err ? hodo_error("%s: cannot be read further: %s", dir, strerror(-err)) : 0;
}

static void free_output(struct hodo_output *t)
{
	free(t->temporary);
	free(t->real);
	free(t->path);
}

int hodo_output_file(const struct hodo_output_args *a, const char *suffix,
		     int (*write)(void *data, int fd, struct hodo_written *w), void *data)
{
	struct hodo_output t = { 0 };
	struct hodo_written w = { 0 };
	int status = open_output(&t, a, suffix, NULL), err;
	char size[32];

	if (!status) {
		err = write(data, t.fd, &w);
		t.failed_write = w.failed;
		status = close_output(&t, a->args.dir, err);
		if (!status && !a->args.quiet)
			hodo_error("%s in %s", hodo_human_bytes(w.bytes, size), t.path);
	}
	free_output(&t);
	return status;
}

int hodo_output_make(const struct hodo_output_args *a, const char *suffix, const char *binary, struct hodo_read *reader,
		     int (*write)(void *data, struct hodo_output *output, struct hodo_text *text,
				  struct hodo_symbols *symbols),
		     void *data)
{
	struct hodo_symbols *symbols = hodo_open_symbols(&a->args, a->args.dir);
	struct hodo_callers *callers = hodo_must(hodo_callers_new(symbols));
	struct hodo_output t = { 0 };
	struct hodo_text text = HODO_TEXT_TO(write_output, &t);
	int status = open_output(&t, a, suffix, binary);
	char size[32];

	if (!status) {
		int err;

		hodo_read_symbols(reader, hodo_function_name_at, symbols);
		hodo_read_code(reader, &hodo_callers_ops, callers);
		err = write(data, &t, &text, symbols);
		if (!err || t.failed_write)
			err = hodo_text_flush(&text);
		if (t.shown)
			fputs("\033[K", stderr);
		status = close_output(&t, a->args.dir, err);
		if (!status && !a->args.quiet && t.path)
			hodo_error("%s in %s", hodo_human_bytes(text.written, size), t.path);
	}
	hodo_text_free(&text);
	free_output(&t);
	hodo_callers_free(callers);
	hodo_symbols_free(symbols);
	return status;
}
