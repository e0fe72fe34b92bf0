/* SPDX-License-Identifier: MIT */
/* cmd_prune.c - hodo prune: removes the oldest recordings of a directory. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <record/record.h>
#include <send/prune.h>

struct args {
	struct hodo_args args;
	uint64_t keep_bytes;
	int64_t keep_ns; /* 0: not given */
	bool dry_run;
};

struct pruning {
	const struct args *a;
	struct hodo_text text;
};

static void removed(void *arg, const char *path, uint64_t bytes, int err)
{
	struct pruning *p = arg;
	char size[32];

	if (err) {
		hodo_error("%s/%s stays: %s", p->a->args.dir, path, err == -EBUSY ? "it is being written" :
			   err == -EEXIST || err == -ENOTEMPTY ? "it holds files that are not the recording's" :
								 strerror(-err));
		return;
	}
	if (p->a->args.quiet)
		return;
	hodo_text_printf(&p->text, "%s ", p->a->dry_run ? "would remove" : "removed");
	hodo_text_plain(&p->text, path, strlen(path));
	hodo_text_printf(&p->text, ", %s\n", hodo_human_bytes(bytes, size));
}

/* Where other things live, a directory that looks like a recording's is not worth the risk. */
static bool is_root(const char *dir)
{
	struct stat st, root;

	return stat(dir, &st) == 0 && stat("/", &root) == 0 && st.st_dev == root.st_dev && st.st_ino == root.st_ino;
}

static void say(const struct args *a, const struct hodo_prune *p)
{
	char gone[32], kept[32];

	if (p->is_recording) {
		hodo_error("%s is a recording itself: name the directory that it is in", a->args.dir);
		return;
	}
	hodo_error("%s: %s %" PRIu64 " of %" PRIu64 " recordings and parts, %s; %s left", a->args.dir,
		   a->dry_run ? "would remove" : "removed", p->gone, p->gone + p->kept,
		   hodo_human_bytes(p->gone_bytes, gone), hodo_human_bytes(p->kept_bytes, kept));
}

static int run(void *args)
{
	struct args *a = args;
	struct pruning pruning = { .a = a };
	struct hodo_prune p = {
		.keep_bytes = a->keep_bytes ? a->keep_bytes : UINT64_MAX,
		.keep_ns = a->keep_ns ? a->keep_ns : INT64_MAX,
		.dry_run = a->dry_run, .removed = removed, .arg = &pruning,
	};
	struct hodo_out out;
	int err, status;

	if (a->args.n == 0)
		return hodo_usage("prune", "give the directory that has the recordings");
	if (!a->keep_bytes && !a->keep_ns)
		return hodo_usage("prune", "say what stays: --keep-size, --keep-age or both");
	if (is_root(a->args.dir))
		return hodo_usage("prune", "%s is the whole system: name the directory that has the recordings",
				  a->args.dir);
	err = hodo_prune(a->args.dir, &p);
	if (err) {
		hodo_text_free(&pruning.text);
		return hodo_cannot_read(a->args.dir, err);
	}
	hodo_out_start(&out, false);
	hodo_out_text(&out, &pruning.text);
	status = hodo_out_finish(&out);
	if (!a->args.quiet)
		say(a, &p);
	return status || !p.failed ? status : HODO_EXIT_FAILURE;
}

static const struct hodo_option options[] = {
	{ .name = "keep-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", HODO_AT(struct args, keep_bytes), .min = 1,
	  .max = UINT64_MAX, .wants = "a size such as 500M or 2G",
	  .help = "remove the oldest until they have SIZE at most" },
	{ .name = "keep-age", .kind = HODO_OPTION_TIME, .arg = "TIME", HODO_AT(struct args, keep_ns), .min = 1,
	  .max = INT64_MAX, .help = "remove what was last written more than TIME ago: 12h, 7d" },
	{ .name = "dry-run", .letter = 'n', HODO_AT(struct args, dry_run), .help = "only say what would be removed" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

const struct hodo_verb hodo_verb_prune = {
	.name = "prune", .does = "remove the oldest recordings of a directory", .undoes = "send",
	.undoing = "removes them",
	.usage = "[--keep-size SIZE] [--keep-age TIME] [options] DIR",
	.about = "Removes the oldest recordings, packed recordings and parts anywhere below DIR.\n"
		 "What is being written, and what is no recording, stays. Links are not followed.\n",
	.options = options, .column = 20, .word = HODO_WORD_DIR, .one = "one directory at a time",
	.args_bytes = sizeof(struct args), .run = run,
};
