/* SPDX-License-Identifier: MIT */
/* cmd_pack.c - hodo pack: a recording as one file. */
#include "cli.h"
#include <cli/output/output_file.h>

#include <string.h>
#include <sys/file.h>

#include <pack/archive.h>
#include <pack/compress.h>
#include <pack/pack.h>

#define LEVEL_DEFAULT 6

struct args {
	struct hodo_output_args output;
	uint32_t level;
};

struct packing {
	const struct hodo_tree *tree;
	const char *dir;
	int level;
	struct hodo_pack_totals totals;
};

static int write_pack(void *data, int fd, struct hodo_written *w)
{
	struct packing *p = data;
	char file[512];
	int err = hodo_pack(p->tree, fd, p->level, &p->totals, file, sizeof(file));

	w->bytes = p->totals.packed_bytes;
	w->failed = p->totals.unwritten;
	if (err && !w->failed)
		hodo_error("%s/%s: %s", p->dir, file, strerror(-err));
	return err;
}

/* Its recorder keeps it locked. */
static bool is_being_written(const struct hodo_tree *t)
{
	int fd = hodo_tree_dirfd(t);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static int pack(const struct args *a, const struct hodo_tree *tree)
{
	const char *dir = a->output.args.dir;
	struct packing p = { .tree = tree, .dir = dir, .level = (int)a->level };
	int status;

	if (is_being_written(tree))
		return hodo_error("%s: it is being written: end that recording first", dir);
	status = hodo_output_file(&a->output, &HODO_PACKED_SUFFIX[1], write_pack, &p);
	if (!status && p.totals.skipped && !a->output.args.quiet)
		hodo_warning("%s: %u file%s not belong to a recording: left out", dir, p.totals.skipped,
			     p.totals.skipped == 1 ? " in it does" : "s in it do");
	if (!status && p.totals.damaged)
		return hodo_error("%s: %u file%s readable part is packed", dir, p.totals.damaged,
				  p.totals.damaged == 1 ? " is damaged: its" : "s are damaged: their");
	return status;
}

static int run(void *args)
{
	struct args *a = args;
	const char *dir = a->output.args.dir;
	HODO_AUTO_READ struct hodo_read *r = NULL;
	struct hodo_tree *tree;
	int err, status;

	if (a->output.path && strcmp(a->output.path, "-") == 0)
		return hodo_usage("pack", "-o must be a file, not standard output: it is not written from "
				  "start to end");
	/* What is no recording is not packed. */
	r = hodo_open(dir, a->output.args.quiet);
	if (!r)
		return HODO_EXIT_FAILURE;
	err = hodo_tree_open(&tree, dir);
	if (err)
		return hodo_cannot_read(dir, err);
	if (hodo_tree_dirfd(tree) >= 0)
		status = pack(a, tree);
	else
		status = hodo_error("%s: is already packed: 'hodo unpack' makes a directory of it", dir);
	hodo_tree_close(tree);
	return status;
}

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "FILE", HODO_AT(struct hodo_output_args, path),
	  .wants = "a file's name", .words = HODO_WORD_FILE | HODO_WORD_NEW,
	  .help = "write FILE (DIR.hodo)" },
	HODO_OPTION_FORCE,
	{ .name = "level", .letter = 'l', .kind = HODO_OPTION_NUMBER, .arg = "LEVEL", HODO_AT(struct args, level),
	  .min = 1, .max = HODO_COMPRESS_MAX, .wants = "a level from 1 (fast) to 19 (small)",
	  .help = "of compression, 1 to 19 (6)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

static const struct args defaults = { .output.is_ours = hodo_archive_is, .level = LEVEL_DEFAULT };

const struct hodo_verb hodo_verb_pack = {
	.name = "pack", .does = "make one file of a recording",
	.usage = "[options] [DIR]",
	.about = "Packs a recording (hodo.data) into one compressed file, DIR.hodo. Verbs that\n"
		 "read recordings take that file in place of DIR.\n",
	.options = options, .column = 19, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run,
};
