/* SPDX-License-Identifier: MIT */
/* cmd_recover.c - hodo recover. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <record/record.h>

struct args {
	struct hodo_args args;
	const char *out; /* NULL: as default_out() has it */
};

static void report(void *arg, const char *line)
{
	if (!*(const bool *)arg)
		hodo_warning("%s", line);
}

static void put_summary(const struct hodo_recover *r, const char *out)
{
	const struct {
		uint64_t n;
		const char *cause;
	} lost[] = {
		{ r->lost.overwritten, "newer ones overwrote them in the buffers: larger buffers keep them"
				       " (HODO_FLIGHT_SIZE, or -m)" },
		{ r->lost.damaged, "the buffers were damaged" },
		{ r->torn, "the files were damaged, or cut short" },
		{ r->lost.full, "the buffers were full" },
		{ r->lost.too_large, "larger than a packet" },
		{ r->lost.busy, "threads without restartable sequences collided" },
	};
	char events[32], processes[32], bytes[32];

	hodo_error("%s event%s of %s process%s in %s, %s", hodo_grouped(r->events, events), r->events == 1 ? "" : "s",
		   hodo_grouped(r->processes, processes), r->processes == 1 ? "" : "es", out,
		   hodo_human_bytes(r->bytes, bytes));
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++)
		if (lost[i].n)
			hodo_error("%s event%s lost: %s", hodo_grouped(lost[i].n, events), lost[i].n == 1 ? "" : "s",
				   lost[i].cause);
}

/* PATH.recovered for a recording, without the slashes at its end. */
static int default_out(const char *path, enum hodo_recover_kind kind, char out[PATH_MAX])
{
	int len = (int)strlen(path);

	if (kind != HODO_RECOVER_RECORDING)
		return snprintf(out, PATH_MAX, "%s", HODO_DIR_DEFAULT);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (snprintf(out, PATH_MAX, "%.*s.recovered", len, path) >= PATH_MAX) {
		hodo_error("%s: %s: choose a shorter one with -o", path, strerror(ENAMETOOLONG));
		return -1;
	}
	return 0;
}

/* A source that is also the destination would be moved away while it is read. */
static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int recover(char **paths, const enum hodo_recover_kind *kinds, int n, const char *out, bool quiet)
{
	struct hodo_recover r = { .reporter = { report, &quiet } };
	struct hodo_why why;
	HODO_AUTO_CLOSE int fd = hodo_out_dir_open(out, &why);
	int err = 0, good = 0;

	if (fd < 0)
		return hodo_error("%s", why.text);
	r.out_fd = fd;
	for (int i = 0; i < n; i++) {
		err = hodo_recover_add(&r, paths[i], kinds[i], &why);
		if (err)
			hodo_error("%s: %s", paths[i], why.text);
		good += !err;
	}
	if (r.processes == 0) {
		/* Nothing was recovered: what was there before must not give way to nothing. */
		hodo_out_dir_remove(fd, out);
		if (!r.failed && good)
			hodo_error("%s: there is nothing to recover: nothing had been recorded", paths[0]);
	} else if (!quiet) {
		put_summary(&r, out);
	}
	if (r.failed && quiet)
		hodo_error("%s: %s of it could be recovered: leave out -q to see why", paths[0],
			   r.processes ? "not all" : "nothing");
	return r.processes > 0 && good == n && !r.failed ? 0 : HODO_EXIT_FAILURE;
}

static int run(void *args)
{
	const struct args *a = args;
	struct hodo_why why;
	char **paths = a->args.words, path[PATH_MAX];
	int n = a->args.n;
	HODO_AUTO_FREE enum hodo_recover_kind *kinds = hodo_must(calloc((size_t)n + 1, sizeof(*kinds)));
	const char *out = a->out ? a->out : path;

	if (n == 0)
		return hodo_usage("recover", "give a path: the directory of HODO_FLIGHT, a file in it, or a "
				  "recording");
	for (int i = 0; i < n; i++)
		if (hodo_recover_kind(paths[i], &kinds[i], &why) < 0)
			return hodo_error("%s: %s", paths[i], why.text);
	if (!a->out && default_out(paths[0], kinds[0], path) < 0)
		return HODO_EXIT_FAILURE;
	for (int i = 0; i < n; i++)
		if (is_same(paths[i], out))
			return hodo_error("%s: it cannot be read and written at the same time: choose "
					  "another directory with -o",
					  out);
	return recover(paths, kinds, n, out, a->args.quiet);
}

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_TEXT, .arg = "DIR", HODO_AT(struct args, out),
	  .words = HODO_WORD_DIR | HODO_WORD_NEW,
	  .help = "where to write (hodo.data; for a recording PATH.recovered)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

const struct hodo_verb hodo_verb_recover = {
	.name = "recover", .does = "recover what a dead process or an interrupted recording left",
	.usage = "[options] PATH...",
	.about = "Makes a recording of what a dead process or an interrupted recording left.\n"
		 "PATH is a directory with a flight recorder's files (HODO_FLIGHT), one such file,\n"
		 "a snapshot of one, or a recording whose recorder was killed. PATH itself is\n"
		 "never changed.\n",
	.options = options, .column = 20, .word = HODO_WORD_FILE, .words = HODO_WORD_FILE,
	.args_bytes = sizeof(struct args), .run = run,
};
