/* SPDX-License-Identifier: MIT */
/*
 * cmd_send.c - hodo send: recordings, and what `hodo record --to` could not send, to where they are collected.
 *
 * The same command again goes on: what is there already, with the right checksum, is not sent.
 */
#define _GNU_SOURCE
#include "cli.h"
#include "record_send.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <base/file.h>
#include <pack/compress.h>
#include <pack/pack.h>
#include <read/hosts.h>
#include <send/send_link.h>

#define LEVEL 3

struct args {
	struct hodo_args args;
	const char *to;
	uint32_t level;
};

struct sending {
	const struct args *a;
	struct hodo_send_target target;
	struct hodo_link *link;
	uint64_t sent, bytes, there;
	bool at_target; /* what failed was there, and not what is sent */
	char why[512];
};

static bool go_on(void *arg)
{
	return !hodo_stopped;
}

/* A file to a path below the target. 0, or a negative errno; then `why` says more. */
static int send_file(struct sending *s, int fd, const char *path)
{
	const struct hodo_link_idle idle = { -1, go_on, NULL };
	off_t size = lseek(fd, 0, SEEK_END);
	int err = 0;

	if (!s->link)
		err = hodo_link_open(&s->link, &s->target, &idle, s->why, sizeof(s->why));
	if (!err)
		err = hodo_link_send(s->link, fd, path, s->why, sizeof(s->why));
	s->at_target = err < 0;
	s->there += err == 1;
	s->sent += err == 0;
	s->bytes += err == 0 ? (uint64_t)size : 0;
	return err < 0 ? err : 0;
}

/* ------------------------------------------------------------------- what was left unsent */

static int send_spool(struct sending *s, const char *path)
{
	struct hodo_spool spool;
	const struct hodo_spooled *f;
	int err = hodo_spool_open(&spool, path, false, s->why, sizeof(s->why));

	if (err)
		return err;
	while (!err && (f = hodo_spool_at(&spool, 0)) != NULL) {
		HODO_AUTO_CLOSE int fd = hodo_spool_file(&spool, f);

		err = fd < 0 ? hodo_fail_errno(s->why, sizeof(s->why), fd, "%s", f->path) : send_file(s, fd, f->path);
		if (!err)
			hodo_spool_remove(&spool, 0);
	}
	hodo_spool_close(&spool);
	return err;
}

/* ---------------------------------------------------------------------------- recordings */

struct source {
	const char *path;
	char where[256]; /* HOST/RECORDING */
};

static int temporary(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Packs a directory, or only what is below a folder of it, and sends the file as a part. */
static int send_packed(struct sending *s, const struct source *from, const char *dir, const char *below,
		       uint32_t number)
{
	HODO_AUTO_CLOSE int fd = temporary();
	struct hodo_pack_totals totals;
	char path[512], file[512];
	struct hodo_tree *tree;
	int err;

	if (fd < 0)
		return hodo_fail_errno(s->why, sizeof(s->why), fd, "a temporary file cannot be made");
	err = hodo_tree_open(&tree, dir);
	if (err)
		return hodo_fail_errno(s->why, sizeof(s->why), err, "%s", dir);
	err = hodo_pack_below(tree, below, fd, (int)s->a->level, &totals, file, sizeof(file));
	hodo_tree_close(tree);
	if (err)
		return hodo_fail_errno(s->why, sizeof(s->why), err, "%s/%s cannot be packed", dir, file);
	snprintf(path, sizeof(path), "%s/" HODO_OUT_PART "%08" PRIu32 HODO_PACKED_SUFFIX, from->where, number);
	return totals.files ? send_file(s, fd, path) : 0;
}

static int send_parts(struct sending *s, const struct source *from, const struct hodo_read *r)
{
	uint32_t number = 0;
	char dir[PATH_MAX];
	int err = 0;

	for (uint32_t i = 0; !err && i < hodo_read_nparts(r); i++) {
		const char *name = hodo_read_part(r, i)->name;

		if (snprintf(dir, sizeof(dir), "%s/%s", from->path, name) >= PATH_MAX)
			return hodo_fail_errno(s->why, sizeof(s->why), -ENAMETOOLONG, "%s", name);
		number = (uint32_t)strtoul(name + strlen(HODO_OUT_PART), NULL, 10);
		err = send_packed(s, from, dir, "", number);
	}
	/* The names of functions are beside the parts. */
	return err ? err : send_packed(s, from, from->path, HODO_OUT_SYMBOLS, number + 1);
}

static int send_one_file(struct sending *s, const struct source *from)
{
	HODO_AUTO_CLOSE int fd = open(from->path, O_RDONLY | O_CLOEXEC);
	char path[512];

	if (fd < 0)
		return hodo_fail_errno(s->why, sizeof(s->why), -errno, "%s", from->path);
	snprintf(path, sizeof(path), "%s/" HODO_OUT_PART "%08u" HODO_PACKED_SUFFIX, from->where, 1);
	return send_file(s, fd, path);
}

/* By what does not change: so that the same recording has the same name again. called: the path that the user gave. */
static void name_source(struct source *from, const char *called, const struct hodo_read *r)
{
	const struct hodo_read_process *first = hodo_read_nprocesses(r) ? hodo_read_process(r, 0) : NULL;
	char host[65], name[65];
	uint32_t number = 0;

	hodo_send_host(host);
	if (first && first->hostname && *first->hostname)
		hodo_send_word(host, first->hostname);
	if (first)
		memcpy(&number, first->uuid, sizeof(number));
	hodo_send_recording(name, called, hodo_read_begin_ns(r), number);
	snprintf(from->where, sizeof(from->where), "%s/%s", host, name);
}

static bool is_host(const char *folder)
{
	return strncmp(folder, HODO_HOST_FOLDER, strlen(HODO_HOST_FOLDER)) == 0;
}

/* Made by hodo merge: a folder of a process is in that of its host. */
static bool is_merged(const struct hodo_read *r)
{
	const struct hodo_read_process *first = hodo_read_nprocesses(r) ? hodo_read_process(r, 0) : NULL;

	return first && is_host(first->folder) && strchr(first->folder, '/');
}

static int send_recording(struct sending *s, const char *path, const char *called);

/* Each host's recording is one, and arrives as if that host had sent it. */
static int send_hosts(struct sending *s, const char *path, const char *called)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(AT_FDCWD, path);
	char dir[PATH_MAX];
	int err = d ? 0 : hodo_fail_errno(s->why, sizeof(s->why), -errno, "%s", path);

	for (const char *name; !err && (name = hodo_dir_next(d));) {
		if (!is_host(name))
			continue;
		if (snprintf(dir, sizeof(dir), "%s/%s", path, name) >= (int)sizeof(dir))
			return hodo_fail_errno(s->why, sizeof(s->why), -ENAMETOOLONG, "%s", name);
		err = send_recording(s, dir, called);
	}
	return err;
}

static int send_recording(struct sending *s, const char *path, const char *called)
{
	HODO_AUTO_READ struct hodo_read *r = hodo_open(path, true);
	struct source from = { .path = path };
	HODO_AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!r)
		return -EBADF; /* it has been said */
	if (dir >= 0 && flock(dir, LOCK_SH | LOCK_NB) < 0)
		return hodo_fail(s->why, sizeof(s->why), -EBUSY, "it is being written: end that recording first");
	if (is_merged(r))
		return dir >= 0 ? send_hosts(s, path, called) :
				  hodo_fail(s->why, sizeof(s->why), -EINVAL, "it is of several hosts, whose recordings arrive "
					    "one by one: 'hodo unpack' it, and send that");
	name_source(&from, called, r);
	if (dir < 0)
		return send_one_file(s, &from);
	return hodo_read_nparts(r) ? send_parts(s, &from, r) : send_packed(s, &from, path, "", 1);
}

/* -------------------------------------------------------------------------------- the verb */

/* What becomes of the rest. */
static const char *advice(const struct sending *s, int err)
{
	/* What was said says what to do. */
	if ((err == -ECHILD && !s->target.ssh) || err == -EINVAL)
		return "";
	/* No link was made: of a directory of this machine, that is for ever. */
	if (s->at_target && !s->link && !s->target.ssh)
		return ": name another directory with --to";
	return s->sent ? ": mend that, and the same command sends the rest" : ": mend that, and give the same command again";
}

static int tell(const struct sending *s, const char *path, int err)
{
	char bytes[32], sent[64] = "nothing was sent";

	if (s->sent)
		snprintf(sent, sizeof(sent), "%" PRIu64 " part%s sent", s->sent, s->sent == 1 ? " was" : "s were");
	if (err == -ECANCELED)
		hodo_error("interrupted: %s: the same command sends the rest", sent);
	else if (err && err != -EBADF)
		hodo_error("%s: %s: %s%s", s->at_target ? s->a->to : path, s->why, sent, advice(s, err));
	else if (!err && !s->a->args.quiet)
		hodo_error("%" PRIu64 " part%s, %s, sent to %s; %" PRIu64 " %s there already", s->sent,
			   s->sent == 1 ? "" : "s", hodo_human_bytes(s->bytes, bytes), s->a->to, s->there,
			   s->there == 1 ? "was" : "were");
	return err ? HODO_EXIT_FAILURE : 0;
}

static int run(void *args)
{
	const struct args *a = args;
	struct sending s = { .a = a };
	int err = 0, i, status;

	if (!a->to)
		return hodo_usage("send", "say where: --to ssh://HOST/DIR, or --to DIR");
	if (a->args.n == 0)
		return hodo_usage("send", "give recordings, or the directory of unsent parts of one");
	status = hodo_send_to("send", a->to, &s.target);
	if (status)
		return status;
	hodo_stop_by_signals();
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < a->args.n && !err; i++)
		err = hodo_spool_is(a->args.words[i]) ? send_spool(&s, a->args.words[i]) :
							send_recording(&s, a->args.words[i], a->args.words[i]);
	status = tell(&s, a->args.words[i - 1], err);
	hodo_link_close(s.link);
	return hodo_stopped ? hodo_launch_die(hodo_stopped) : status;
}

static const struct hodo_option options[] = {
	{ .name = "to", .kind = HODO_OPTION_NAME, .arg = "TARGET", HODO_AT(struct args, to),
	  .words = HODO_WORD_FILE | HODO_WORD_NEW, .wants = "ssh://[USER@]HOST[:PORT]/DIR, or a directory",
	  .help = "ssh://[USER@]HOST[:PORT]/DIR, or a directory" },
	{ .name = "level", .letter = 'l', .kind = HODO_OPTION_NUMBER, .arg = "LEVEL", HODO_AT(struct args, level),
	  .min = 1, .max = HODO_COMPRESS_MAX, .wants = "a level from 1 (fast) to 19 (small)",
	  .help = "of compression, 1 to 19 (3)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

static const struct args defaults = { .level = LEVEL };

const struct hodo_verb hodo_verb_send = {
	.name = "send", .does = "send recordings to where many are collected",
	.usage = "--to TARGET [options] PATH...",
	.about = "Sends recordings, packed, or what 'hodo record --to' could not send\n"
		 "(DIR.unsent). They arrive as TARGET/HOST/RECORDING/part-NNNNNNNN.hodo, each\n"
		 "whole or not at all. What is there already is not sent again.\n",
	.options = options, .column = 21, .word = HODO_WORD_DIR, .words = HODO_WORD_DIR,
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run,
};
