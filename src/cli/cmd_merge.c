/* SPDX-License-Identifier: MIT */
/* cmd_merge.c - hodo merge: recordings of several hosts on one timeline. */
#define _GNU_SOURCE
#include "cli.h"
#include "recording_tables.h"
#include <cli/output/output_aside.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <merge/merge.h>

#define OUT_DEFAULT "hodo.merged"
#define WARNINGS_MAX 20u

struct args {
	struct hodo_args args;
	const char *out, *reference;
	struct hodo_merge *merge;
	bool copy, one_way;
	unsigned warnings;
};

static int set_pair(void *args, const char *value)
{
	struct args *a = args;
	int err;

	if (!a->merge)
		a->merge = hodo_must(hodo_merge_new());
	err = hodo_messages_pair(&a->merge->messages, value);
	if (err == -ENOMEM)
		return hodo_no_memory();
	return err ? hodo_usage("merge", "--pair is EVENT.FIELD=EVENT.FIELD, the event that sends before the one that "
				"receives, not '%s'", value) : 0;
}

static void drop(void *args)
{
	hodo_merge_free(((struct args *)args)->merge);
}

static void warn(void *data, const char *text)
{
	struct args *a = data;

	if (!a->args.quiet && a->warnings++ < WARNINGS_MAX)
		hodo_warning("%s", text);
}

/* ------------------------------------------------------------------------------ read */

/* "NAME=DIR", unless there is a directory of that name. *name: NULL: the host's own. */
static const char *split_name(char *word, const char **name)
{
	char *equals = strchr(word, '=');

	*name = NULL;
	if (!equals || equals == word || memchr(word, '/', (size_t)(equals - word)) || access(word, F_OK) == 0)
		return word;
	*equals = 0;
	*name = word;
	return equals + 1;
}

/* By the word, the directory, or the host's name. 0, or the exit status. */
static int find_reference(const struct args *a)
{
	struct hodo_merge *m = a->merge;

	for (uint32_t i = 0; a->reference && i < m->n; i++) {
		const struct hodo_merge_recording *r = &m->recording[i];

		if (strcmp(r->path, a->reference) != 0 && strcmp(r->host, a->reference) != 0)
			continue;
		m->reference = i;
		return 0;
	}
	return a->reference ? hodo_error("--reference %s: none of the recordings has that name, or is of that host",
					 a->reference) : 0;
}

static int fail(const struct args *a)
{
	const char *why = a->merge->why.text;

	return hodo_error("%s", why[0] ? why : "out of memory");
}

/* The recording that a directory is, if it is one of them; NULL: none. */
static const char *recording_at(const struct hodo_merge *m, const struct stat *dir)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct stat st;

		if (stat(m->recording[i].path, &st) == 0 && st.st_dev == dir->st_dev && st.st_ino == dir->st_ino)
			return m->recording[i].path;
	}
	return NULL;
}

/*
 * Whether the output would be in one of the recordings, which stay as they are: looks at each directory above it, as
 * the file system knows them, whatever links lead there. 0, or the exit status.
 */
static int check_out(const struct hodo_merge *m, const char *out)
{
	HODO_AUTO_FREE char *copy = hodo_must(strdup(out));
	HODO_AUTO_CLOSE int fd = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat here, last = { 0 };
	const char *inside = NULL;

	/* What cannot be opened cannot be written to, which is said then. */
	while (!inside && fd >= 0 && fstat(fd, &here) == 0 &&
	       (here.st_dev != last.st_dev || here.st_ino != last.st_ino)) {
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		inside = recording_at(m, &here);
		last = here;
		close(fd);
		fd = up;
	}
	return inside ? hodo_error("%s: it would be in %s, which is to stay as it is: name another directory with -o", out,
				   inside) : 0;
}

/* 0, or the exit status. */
static int read_all(struct args *a, const char *out)
{
	struct hodo_merge *m = a->merge;
	struct stat st;
	int status;

	if (lstat(out, &st) == 0)
		return hodo_error("%s exists: name another directory with -o", out);

	m->reporter = (struct hodo_reporter){ warn, a };
	m->messages.one_way = a->one_way;
	for (int i = 0; i < a->args.n; i++) {
		const char *name, *path = split_name(a->args.words[i], &name);

		if (hodo_merge_add(m, path, name) < 0)
			return fail(a);
	}
	status = check_out(m, out);
	if (!status)
		status = find_reference(a);
	if (!status && hodo_merge_check(m) < 0)
		return fail(a);
	for (uint32_t i = 0; i < m->n && !status; i++)
		if (hodo_merge_read(m, i) < 0)
			return fail(a);
	if (status || hodo_merge_solve(m) < 0)
		return status ? status : fail(a);
	if (a->warnings > WARNINGS_MAX)
		hodo_warning("%u more warnings like these", a->warnings - WARNINGS_MAX);
	if (m->ambiguous && !a->args.quiet)
		hodo_warning("%llu messages have the key of another one, and are not used",
			     (unsigned long long)m->ambiguous);
	return 0;
}

/* ----------------------------------------------------------------------------- write */

static int write_aside(struct args *a, const char *aside, const char *out, struct hodo_merge_written *written)
{
	HODO_AUTO_CLOSE int fd = hodo_aside_make(aside, geteuid() ? 0777 : 0700, true);
	int err = 0, status = 0;

	if (fd < 0)
		return hodo_error("%s: cannot be made: %s: name another directory with -o", out, strerror(errno));
	hodo_aside_say("hodo: interrupted: nothing was written\n");
	for (uint32_t i = 0; i < a->merge->n && !status; i++) {
		int why = hodo_merge_write(a->merge, i, fd, a->copy, written);

		if (why == -ENOSPC || why == -EDQUOT)
			status = hodo_error("%s: %s: make room, or name a directory on another disk with -o", out,
					    strerror(-why));
		else if (why)
			status = fail(a);
	}
	if (!status)
		err = hodo_aside_place(aside, out, false);
	if (err)
		status = hodo_error("%s: cannot be made: %s: name another directory with -o", out, strerror(-err));
	if (status)
		hodo_aside_remove(aside);
	hodo_aside_over();
	return status;
}

static int write_all(struct args *a, const char *out, struct hodo_merge_written *written)
{
	HODO_AUTO_FREE char *aside = NULL;
	int len = (int)strlen(out);

	while (len > 1 && out[len - 1] == '/')
		len--;
	if (asprintf(&aside, "%.*s.%d.part", len, out, (int)getpid()) < 0)
		return hodo_no_memory();
	hodo_aside_prepare();
	return write_aside(a, aside, out, written);
}

/* What was found, as hodo info shows it. */
static int show(const struct args *a, const char *out, const struct hodo_merge_written *written)
{
	HODO_AUTO_READ struct hodo_read *r = hodo_open(out, true);
	struct hodo_table hosts;
	struct hodo_page page;
	char bytes[32], copied[32];

	if (!r)
		return HODO_EXIT_FAILURE;
	hosts = hodo_hosts_table(r);
	hodo_page_begin(&page, &a->args);
	if (a->args.look.json)
		hodo_table_put_json(&page.json, "hosts", &hosts);
	else
		hodo_table_put(&page.text, &hosts, a->args.look.color);
	hodo_hosts_free(&hosts);
	if (!a->args.quiet)
		hodo_error("%u recording%s, %s in %s, of which %s were copied", a->merge->n, a->merge->n == 1 ? "" : "s",
			   hodo_human_bytes(written->bytes, bytes), out, hodo_human_bytes(written->copied, copied));
	return hodo_page_end(&page);
}

static int run(void *args)
{
	struct args *a = args;
	const char *out = a->out ? a->out : OUT_DEFAULT;
	struct hodo_merge_written written = { 0 };
	int status;

	if (a->args.n == 0)
		return hodo_usage("merge", "give the recordings, such as those of two hosts");
	if (!a->merge)
		a->merge = hodo_must(hodo_merge_new());
	a->args.no_pager = true; /* a table of as many lines as there are recordings */
	status = read_all(a, out);
	if (!status)
		status = write_all(a, out, &written);
	return status ? status : show(a, out, &written);
}

static const struct hodo_columns *const tables[] = { &hodo_hosts_columns, NULL };

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "DIR", HODO_AT(struct args, out),
	  .wants = "the name of a directory", .words = HODO_WORD_DIR | HODO_WORD_NEW,
	  .help = "where to write (" OUT_DEFAULT ")" },
	{ .name = "pair", .kind = HODO_OPTION_CALL, .arg = "SENT=RECEIVED", .set = set_pair,
	  .help = "messages: EVENT.FIELD[,FIELD...] on both sides,\n"
		  "'net:send.seq=net:recv.seq'; several times" },
	{ .name = "one-way", HODO_AT(struct args, one_way),
	  .help = "spans do not wait for what they send" },
	{ .name = "reference", .kind = HODO_OPTION_NAME, .arg = "HOST|DIR", HODO_AT(struct args, reference),
	  .wants = "a host, or one of the recordings", .help = "whose times stay as they are (the first)" },
	{ .name = "copy", HODO_AT(struct args, copy), .help = "share no file with the recordings" },
	HODO_OPTION_JSON("one JSON object"),
	HODO_OPTION_COLOR,
	HODO_OPTION_QUIET("no warnings"),
	{ 0 },
};

const struct hodo_verb hodo_verb_merge = {
	.name = "merge", .does = "put recordings of several hosts on one timeline",
	.usage = "[options] [HOST=]DIR...",
	.about = "Makes one recording of several hosts, containers or boots, with the times of the\n"
		 "first. Offset and drift of clocks come from messages that both sides recorded\n"
		 "(HODO_SPAN_CONTEXT, --pair), else from what NTP or PTP said of the wall clocks.\n"
		 "Streams are not copied where that can be avoided.\n",
	.options = options, .tables = tables, .column = 24, .word = HODO_WORD_DIR, .words = HODO_WORD_DIR,
	.args_bytes = sizeof(struct args), .run = run, .drop = drop,
};
