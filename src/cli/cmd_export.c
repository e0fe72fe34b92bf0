/* SPDX-License-Identifier: MIT */
/* cmd_export.c - hodo export. */
#define _GNU_SOURCE
#include "cli.h"
#include <export/export.h>
#include <export/function_names.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help_head[] =
	"usage: hodo export --to FORMAT [options] [DIR]\n\n"
	"Writes a recording (hodo.data) in another format, beside it: hodo.data.SUFFIX.\n\n";
static const char help_tail[] =
	"\n"
	"  --to FORMAT        one of those above\n"
	"  -o, --output FILE  write FILE; -: standard output\n"
	"  -f, --force        replace the file if there is one\n"
	"  --since TIME       events from this time on, in seconds\n"
	"  --until TIME       events before this time\n"
	"  -q, --quiet        no warnings, no word about the file or lost events\n"
	"  -h, --help\n\n"
	"--since and --until count from the recording's begin (0.25), or since the epoch\n"
	"(1795000123.5) if they are 1000000000 or more.\n";

enum { OPT_TO = HODO_OPT_VERB };

struct args {
	const char *dir;
	const struct hodo_export_format *format;
	const char *output; /* NULL: beside the recording */
	const char *since, *until;
	bool force, quiet;
};

/* Where it goes. */
struct target {
	char *path;      /* NULL: standard output */
	char *temporary; /* what is written, and then becomes path; NULL: path itself */
	int fd;
	bool force, failed_write;
};

static bool quiet_warnings;

static const char *make_help(void)
{
	static char help[4096];
	size_t len = (size_t)snprintf(help, sizeof(help), "%s", help_head);

	for (unsigned i = 0; hodo_export_formats[i] && len < sizeof(help); i++)
		len += (size_t)snprintf(help + len, sizeof(help) - len, "  %-11s %s\n", hodo_export_formats[i]->name,
					hodo_export_formats[i]->does);
	if (len < sizeof(help))
		snprintf(help + len, sizeof(help) - len, "%s", help_tail);
	return help;
}

static int set_format(const char *verb, const char *name, struct args *a)
{
	char all[256] = "";

	a->format = hodo_export_format(name);
	if (a->format)
		return -1;
	for (unsigned i = 0; hodo_export_formats[i]; i++) {
		size_t len = strlen(all);

		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", hodo_export_formats[i]->name);
	}
	return hodo_usage(verb, "there is no format '%s', but %s", name, all);
}

/* The exit status to leave with, or -1 to go on. */
static int set_option(struct args *a, const char *verb, int c)
{
	switch (c) {
	case OPT_TO:
		return set_format(verb, optarg, a);
	case 'o':
		if (!*optarg)
			return hodo_usage(verb, "-o needs a file's name, or - for standard output");
		a->output = optarg;
		return -1;
	case HODO_OPT_SINCE:
		a->since = optarg;
		return -1;
	case HODO_OPT_UNTIL:
		a->until = optarg;
		return -1;
	case 'f':
		a->force = true;
		return -1;
	case 'q':
		a->quiet = true;
		return -1;
	case 'h':
		return 0;
	default:
		return HODO_EXIT_USAGE;
	}
}

static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "to", required_argument, NULL, OPT_TO },
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, 'f' },
		{ "since", required_argument, NULL, HODO_OPT_SINCE },
		{ "until", required_argument, NULL, HODO_OPT_UNTIL },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *help = make_help();
	int c;

	while ((c = hodo_getopt(argc, argv, ":o:fqh", options, help)) != -1) {
		int status = set_option(a, argv[0], c);

		if (status >= 0)
			return status;
	}
	if (!a->format)
		return hodo_usage(argv[0], "--to FORMAT is missing");
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	a->dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	return -1;
}

/* ------------------------------------------------------------------------ target */

/* What is not whole is not left behind. */
static char *volatile to_remove;

static void on_signal(int signal_number)
{
	if (to_remove)
		unlink(to_remove);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void watch_signals(char *temporary)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	to_remove = temporary;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			signal(signals[i], on_signal);
	}
}

/* hodo.data.SUFFIX, beside the recording. */
static char *path_beside(const char *dir, const char *suffix)
{
	size_t len = strlen(dir);
	char *path;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	/* "." and ".." and "/" have no name that a file's could be made of. */
	if (dir[len - 1] == '/' || (dir[len - 1] == '.' && (len == 1 || dir[len - 2] == '/' || dir[len - 2] == '.'))) {
		dir = HODO_DIR_DEFAULT;
		len = strlen(dir);
	}
	return asprintf(&path, "%.*s.%s", (int)len, dir, suffix) < 0 ? NULL : path;
}

static int open_standard(struct target *t, const struct hodo_export_format *f)
{
	if (f->binary && isatty(STDOUT_FILENO)) {
		hodo_error("export: %s is not for a terminal: write to a file or a pipe", f->name);
		return HODO_EXIT_FAILURE;
	}
	t->fd = STDOUT_FILENO;
	return 0;
}

/* Files are written aside and get their name when they are whole; what is no file is written to as it is. */
static int open_path(struct target *t, const struct hodo_export_format *f)
{
	struct stat st;
	char *real;

	if (stat(t->path, &st) == 0 && S_ISDIR(st.st_mode)) {
		hodo_error("%s: is a directory: name a file with -o", t->path);
		return HODO_EXIT_FAILURE;
	}
	if (stat(t->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		t->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (t->fd >= 0 && f->binary && isatty(t->fd)) {
			hodo_error("export: %s is not for a terminal: write to a file or a pipe", f->name);
			return HODO_EXIT_FAILURE;
		}
	} else {
		if (lstat(t->path, &st) == 0 && !t->force) {
			hodo_error("%s exists: give --force to replace it, or name another file with -o", t->path);
			return HODO_EXIT_FAILURE;
		}
		real = realpath(t->path, NULL); /* what a link leads to is replaced, not the link */
		if (real) {
			free(t->path);
			t->path = real;
		}
		if (asprintf(&t->temporary, "%s.%d.part", t->path, (int)getpid()) < 0) {
			t->temporary = NULL;
			errno = ENOMEM;
			t->fd = -1;
		} else {
			t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		}
	}
	if (t->fd < 0) {
		hodo_error("%s: cannot be written: %s: name another file with -o", t->path, strerror(errno));
		return HODO_EXIT_FAILURE;
	}
	if (t->temporary)
		watch_signals(t->temporary);
	return 0;
}

/* 0 or the exit status, told. */
static int open_target(struct target *t, const struct args *a)
{
	const char *suffix = a->format->suffix;

	signal(SIGPIPE, SIG_IGN);
	t->force = a->force;
	t->fd = -1;
	if (a->output ? strcmp(a->output, "-") == 0 : !*suffix)
		return open_standard(t, a->format);
	t->path = a->output ? strdup(a->output) : path_beside(a->dir, suffix);
	if (!t->path) {
		hodo_error("out of memory");
		return HODO_EXIT_FAILURE;
	}
	return open_path(t, a->format);
}

static int write_all(void *data, const void *bytes, size_t len)
{
	struct target *t = data;
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = write(t->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			t->failed_write = true;
			return -errno;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Gives the file its name. 0 or a negative errno. */
static int put_in_place(struct target *t)
{
	if (t->force)
		return rename(t->temporary, t->path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, t->temporary, AT_FDCWD, t->path, RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system has that. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(t->path, F_OK) == 0)
		return -EEXIST;
	return rename(t->temporary, t->path) < 0 ? -errno : 0;
}

/* err: what happened so far, 0 or a negative errno. The exit status. */
static int close_target(struct target *t, const struct args *a, int err)
{
	const char *name = t->path ? t->path : "standard output";
	int status = 0;

	/* Some file systems tell of a full disk only now. */
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
		hodo_error("%s: cannot be read on: %s", a->dir, strerror(-err));
	status = err ? HODO_EXIT_FAILURE : 0;
	free(t->temporary);
	return status;
}

/* --------------------------------------------------------------------------- run */

static void warn(const char *text)
{
	if (!quiet_warnings)
		hodo_warning("%s", text);
}

static int export(struct hodo_export *e, struct target *t, const struct args *a)
{
	struct hodo_callers *callers = hodo_callers_new(e->symbols);
	struct hodo_export_out out;
	char size[32];
	int err, status;

	hodo_export_out_init(&out, write_all, t);
	e->out = &out;
	e->warn = warn;
	hodo_read_symbols(e->reader, hodo_function_name_at, e->symbols);
	if (callers)
		hodo_read_code(e->reader, &hodo_callers_ops, callers);
	err = callers ? a->format->run(e) : -ENOMEM;
	if (!err || t->failed_write)
		err = hodo_export_flush(&out);
	status = close_target(t, a, err);
	if (!status && !a->quiet) {
		if (t->path)
			hodo_error("%s in %s", hodo_human_bytes(out.written, size), t->path);
		hodo_tell_lost(e->reader);
	}
	hodo_export_out_free(&out);
	hodo_callers_free(callers);
	return status;
}

int hodo_cmd_export(int argc, char **argv)
{
	struct args a = { 0 };
	struct target t = { .fd = -1 };
	struct hodo_export e = { 0 };
	int64_t since_ns, until_ns;
	int status = parse_args(argc, argv, &a);

	if (status >= 0)
		return status;
	quiet_warnings = a.quiet;
	e.reader = hodo_open(a.dir, a.quiet);
	if (!e.reader)
		return HODO_EXIT_FAILURE;
	status = hodo_parse_range(e.reader, a.since, a.until, argv[0], &since_ns, &until_ns);
	if (status == 0) {
		hodo_read_limit(e.reader, since_ns, until_ns);
		e.symbols = hodo_symbols_new(a.dir);
		if (!e.symbols) {
			hodo_error("out of memory");
			status = HODO_EXIT_FAILURE;
		}
	}
	if (status == 0)
		status = open_target(&t, &a);
	if (status == 0)
		status = export(&e, &t, &a);
	hodo_symbols_free(e.symbols);
	hodo_read_close(e.reader);
	free(t.path);
	return status;
}
