/* SPDX-License-Identifier: MIT */
/*
 * cmd_send.c - hodo send: recordings, and what `hodo record --to` could not send, to where they are collected.
 *
 * The same command again goes on: what is there already, with the right checksum, is not sent.
 */
#define _GNU_SOURCE
#include "cli.h"
#include <cli/record/record_send.h>
#include "on_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <base/file.h>
#include <sym/recording_symbols.h>
#include <pack/compress.h>
#include <pack/pack.h>
#include <read/file/hosts.h>
#include <send/leftover.h>
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
	struct hodo_why why;
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
		err = hodo_link_open(&s->link, &s->target, &idle, &s->why);
	if (!err)
		err = hodo_link_send(s->link, fd, path, &s->why);
	s->at_target = err < 0;
	s->there += err == 1;
	s->sent += err == 0;
	s->bytes += err == 0 ? (uint64_t)size : 0;
	return err < 0 ? err : 0;
}

/* ------------------------------------------------------------------- what was left unsent */

static void add_symbols(void *arg, const char *part)
{
	hodo_symbols_keep(part, NULL, 0, NULL);
}

/* The recording beside DIR.unsent. */
static bool recording_of(const char *path, char recording[PATH_MAX])
{
	size_t len = strlen(path), suffix = strlen(HODO_SPOOL_SUFFIX);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len <= suffix || strncmp(path + len - suffix, HODO_SPOOL_SUFFIX, suffix) != 0)
		return false;
	return snprintf(recording, PATH_MAX, "%.*s", (int)(len - suffix), path) < PATH_MAX;
}

static int send_spool(struct sending *s, const char *path)
{
	struct hodo_spool spool;
	const struct hodo_spooled *f;
	char recording[PATH_MAX];
	int err = hodo_spool_open(&spool, path, false, &s->why);

	if (err)
		return err;
	if (recording_of(path, recording)) {
		err = hodo_leftover_take(&spool, recording, (int)s->a->level, add_symbols, NULL, &s->why);
		err = err < 0 ? err : 0;
	}
	while (!err && (f = hodo_spool_at(&spool, 0)) != NULL) {
		HODO_AUTO_CLOSE int fd = hodo_spool_file(&spool, f);

		err = fd < 0 ? hodo_why_errno(&s->why, fd, "%s", f->path) : send_file(s, fd, f->path);
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

static bool is_part(const char *name)
{
	return strncmp(name, HODO_OUT_PART, strlen(HODO_OUT_PART)) == 0;
}

static int temporary(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int send_as_part(struct sending *s, const struct source *from, int fd, uint32_t number)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" HODO_OUT_PART "%08" PRIu32 HODO_PACKED_SUFFIX, from->where, number);
	return send_file(s, fd, path);
}

/* Packs a recording, a part of it, or its symbols, and sends the file as a part. */
static int send_packed(struct sending *s, const struct source *from, const struct hodo_tree *tree, const char *below,
		       uint32_t number)
{
	int (*pack)(const struct hodo_tree *tree, const char *below, int fd, int level, struct hodo_pack_totals *totals,
		    char *file, size_t size) = is_part(below) ? hodo_pack_part : hodo_pack_below;
	HODO_AUTO_CLOSE int fd = temporary();
	struct hodo_pack_totals totals;
	char file[512];
	int err;

	if (fd < 0)
		return hodo_why_errno(&s->why, fd, "a temporary file cannot be made");
	err = pack(tree, below, fd, (int)s->a->level, &totals, file, sizeof(file));
	if (err)
		return hodo_why_errno(&s->why, err, "%s/%s cannot be packed", from->path, file);
	return totals.files ? send_as_part(s, from, fd, number) : 0;
}

/* One that is packed already goes as it is. */
static int send_part(struct sending *s, const struct source *from, const struct hodo_tree *tree, const char *name)
{
	uint32_t number = (uint32_t)strtoul(name + strlen(HODO_OUT_PART), NULL, 10);
	HODO_AUTO_CLOSE int fd = -1;
	char path[PATH_MAX];

	if (hodo_tree_dirfd(tree) < 0 || !hodo_tree_packs(tree, name))
		return send_packed(s, from, tree, name, number);
	snprintf(path, sizeof(path), "%s" HODO_PACKED_SUFFIX, name);
	fd = hodo_file_open(hodo_tree_dirfd(tree), path);
	return fd < 0 ? hodo_why_errno(&s->why, fd, "%s/%s", from->path, path) :
			send_as_part(s, from, fd, number);
}

/* The parts of a directory that has packed ones are these: one may have nothing but symbols. */
static int send_parts(struct sending *s, const struct source *from, const struct hodo_tree *tree,
		      const struct hodo_read *r)
{
	uint32_t number = 0;
	const char *name;
	int err = 0;

	for (uint32_t i = 0; !err && (name = hodo_tree_part(tree, i)) != NULL; i++)
		err = send_part(s, from, tree, name);
	for (uint32_t i = 0; !err && i < hodo_read_nparts(r); i++) {
		name = hodo_read_part(r, i)->name;
		number = (uint32_t)strtoul(name + strlen(HODO_OUT_PART), NULL, 10);
		if (hodo_tree_dirfd(tree) < 0 || !hodo_tree_packs(tree, name))
			err = send_part(s, from, tree, name);
	}
	/* The names of functions are beside the parts. */
	return err ? err : send_packed(s, from, tree, HODO_OUT_SYMBOLS, number + 1);
}

static int send_one_file(struct sending *s, const struct source *from)
{
	HODO_AUTO_CLOSE int fd = open(from->path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? hodo_why_errno(&s->why, -errno, "%s", from->path) :
			send_as_part(s, from, fd, 1);
}

/* The last name of a path. false: it is too long for a word. */
static bool base_name(char name[65], const char *path)
{
	size_t len = strlen(path), begin;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (begin = len; begin > 0 && path[begin - 1] != '/'; begin--)
		;
	return snprintf(name, 65, "%.*s", (int)(len - begin), path + begin) < 65;
}

/* Whether a directory has the name that a recording gets where it is collected: it begins with a time. */
static bool is_collected(const char *name)
{
	static const char form[] = "00000000T000000Z-";
	size_t i = 0;

	for (; form[i]; i++)
		if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return hodo_send_is_word(name);
}

/*
 * By what does not change: so that the same recording has the same name again, also where it is sent on to. called: the
 * path that the user gave.
 */
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
	if (!base_name(name, called) || !is_collected(name))
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
	int err = d ? 0 : hodo_why_errno(&s->why, -errno, "%s", path);

	for (const char *name; !err && (name = hodo_dir_next(d));) {
		if (!is_host(name))
			continue;
		if (snprintf(dir, sizeof(dir), "%s/%s", path, name) >= (int)sizeof(dir))
			return hodo_why_errno(&s->why, -ENAMETOOLONG, "%s", name);
		err = send_recording(s, dir, called);
	}
	return err;
}

static int send_recording(struct sending *s, const char *path, const char *called)
{
	HODO_AUTO_READ struct hodo_read *r = hodo_open(path, true);
	struct source from = { .path = path };
	HODO_AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct hodo_tree *tree;
	int err;

	if (!r)
		return -EBADF; /* it has been said */
	if (dir >= 0 && flock(dir, LOCK_SH | LOCK_NB) < 0)
		return hodo_why(&s->why, -EBUSY, "it is being written: end that recording first");
	if (is_merged(r))
		return dir >= 0 ? send_hosts(s, path, called) :
				  hodo_why(&s->why, -EINVAL, "it is of several hosts, whose recordings arrive one by "
					   "one: 'hodo unpack' it, and send that");
	name_source(&from, called, r);
	if (dir < 0 && !hodo_read_nparts(r))
		return send_one_file(s, &from);
	err = hodo_tree_open(&tree, path);
	if (err)
		return hodo_why_errno(&s->why, err, "%s", path);
	err = hodo_read_nparts(r) ? send_parts(s, &from, tree, r) : send_packed(s, &from, tree, "", 1);
	hodo_tree_close(tree);
	return err;
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
		hodo_error("%s: %s: %s%s", s->at_target ? s->a->to : path, s->why.text, sent, advice(s, err));
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
