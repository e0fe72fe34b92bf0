/* SPDX-License-Identifier: MIT */
/* cmd_unpack.c - hodo unpack: a packed or compressed recording as it was. */
#define _GNU_SOURCE
#include "cli.h"
#include <cli/output/output_aside.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pack/pack.h>

#define UNPACKED ".unpacked"

struct args {
	struct hodo_args args;
	const char *out; /* NULL: as default_out() has it */
};

/* FILE.hodo without its ending; else with another one. */
static int default_out(const char *path, char out[PATH_MAX])
{
	int len = (int)strlen(path), suffix = (int)strlen(HODO_PACKED_SUFFIX);
	bool packed;

	while (len > 1 && path[len - 1] == '/')
		len--;
	packed = len > suffix && path[len - 1 - suffix] != '/' &&
		 strncmp(path + len - suffix, HODO_PACKED_SUFFIX, (size_t)suffix) == 0;
	if (packed)
		len -= suffix;
	return snprintf(out, PATH_MAX, "%.*s%s", len, path, packed ? "" : UNPACKED) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Writes everything aside, then gives it its name, even if it is incomplete. 0 or a negative errno: file is
 * "" if the directory cannot be made. */
static int write_all(const struct hodo_tree *tree, const char *out, struct hodo_pack_totals *totals, char *file,
		     size_t size)
{
	HODO_AUTO_FREE char *aside = NULL;
	HODO_AUTO_CLOSE int fd = -1;
	int len = (int)strlen(out), err, placed;
	struct stat st;

	file[0] = '\0';
	if (lstat(out, &st) == 0)
		return -EEXIST;
	while (len > 1 && out[len - 1] == '/')
		len--;
	if (asprintf(&aside, "%.*s.%d.part", len, out, (int)getpid()) < 0)
		return -ENOMEM;
	hodo_aside_prepare();
	fd = hodo_aside_make(aside, geteuid() ? 0777 : 0700, true);
	if (fd < 0)
		return -errno;
	err = hodo_unpack(tree, fd, totals, file, size);
	placed = hodo_aside_place(aside, out, false);
	hodo_aside_over();
	if (placed)
		file[0] = '\0';
	return placed ? placed : err;
}

static int unpack(const struct hodo_tree *tree, const char *path, const char *out, bool quiet)
{
	const struct hodo_frames_fault *fault;
	const char *part;
	struct hodo_pack_totals totals;
	char file[512], bytes[32];
	int err = write_all(tree, out, &totals, file, sizeof(file));

	if (err == -EEXIST && !file[0])
		return hodo_error("%s exists: name another directory with -o", out);
	if (err && !file[0])
		return hodo_error("%s: cannot be made: %s: name another directory with -o", out, strerror(-err));
	if (err)
		return hodo_error("%s: %s: %s: %s is incomplete", path, file, strerror(-err), out);
	if (!quiet)
		hodo_error("%s in %s", hodo_human_bytes(totals.plain_bytes, bytes), out);
	for (uint32_t i = 0; (fault = hodo_tree_fault(tree, i, &part)) != NULL; i++)
		if (fault->why)
			return hodo_error("%s%s%s: a file at byte %llu %s: %llu bytes cannot be read, and are lost", path,
					  strcmp(part, ".") ? "/" : "", strcmp(part, ".") ? part : "",
					  (unsigned long long)fault->at, fault->why, (unsigned long long)fault->bytes);
	if (totals.damaged)
		return hodo_error("%s: %u file%s damaged: 'hodo recover %s' makes a sound recording of the rest", path,
				  totals.damaged, totals.damaged == 1 ? " is" : "s are", out);
	return 0;
}

static int run(void *args)
{
	const struct args *a = args;
	char path[PATH_MAX];
	struct hodo_tree *tree;
	const char *out = a->out ? a->out : path;
	int err, status;

	if (a->args.n == 0)
		return hodo_usage("unpack", "give a file that 'hodo pack' made, or a compressed recording");
	if (!a->out && default_out(a->args.words[0], path) < 0)
		return hodo_error("%s: %s: choose a shorter one with -o", a->args.words[0], strerror(ENAMETOOLONG));
	err = hodo_tree_open(&tree, a->args.words[0]);
	if (err == -ENOTDIR)
		return hodo_error("%s: not a packed recording: give a file that 'hodo pack' made",
				  a->args.words[0]);
	if (err == -EPROTONOSUPPORT)
		return hodo_error("%s: packed by a newer version: unpack it with tar and zstd", a->args.words[0]);
	if (err)
		return hodo_cannot_read(a->args.words[0], err);
	status = unpack(tree, a->args.words[0], out, a->args.quiet);
	hodo_tree_close(tree);
	return status;
}

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_TEXT, .arg = "DIR", HODO_AT(struct args, out),
	  .words = HODO_WORD_DIR | HODO_WORD_NEW, .help = "where to write (FILE without .hodo)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

const struct hodo_verb hodo_verb_unpack = {
	.name = "unpack", .does = "turn a packed recording into a directory", .undoes = "pack",
	.usage = "[options] FILE | DIR",
	.about = "Turns a file that 'hodo pack' made into a directory again, byte for byte. Turns\n"
		 "a compressed recording into one that other readers of CTF can read.\n",
	.options = options, .column = 20, .word = HODO_WORD_FILE | HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .run = run,
};
