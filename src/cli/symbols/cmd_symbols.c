/* SPDX-License-Identifier: MIT */
/* cmd_symbols.c - hodo symbols: programs and debug files by build-id, from and to other places. */
#include <cli/on_signal.h>
#include "symbols.h"

#include <string.h>

#include <http/url.h>

#define MAX_BYTES (4ull << 30)

/* The words may be in the wrong order. */
static bool is_recording(const char *word)
{
	struct hodo_read *r;

	if (hodo_http_is(word) || hodo_read_open(&r, word, NULL) != 0)
		return false;
	hodo_read_close(r);
	return true;
}

static int run(void *args)
{
	struct symbols_args *a = args;
	const char *action = a->args.n ? a->args.words[0] : "";
	bool pulls = strcmp(action, "pull") == 0;

	if (!pulls && strcmp(action, "push") != 0)
		return hodo_usage("symbols", "give 'pull' or 'push' first");
	if (a->args.n < 2)
		return hodo_usage("symbols", "'%s' takes a directory, or the address of a server", action);
	if (!pulls && a->store)
		return hodo_usage("symbols", "-o is where 'pull' writes: 'push' takes a directory without it");
	if (!pulls && a->max)
		return hodo_usage("symbols", "--max-size is for what 'pull' gets: leave it out");
	if (is_recording(a->args.words[1]))
		return hodo_usage("symbols", "'%s' is a recording: give the directory or server first, then recordings",
				  a->args.words[1]);
	a->max = a->max ? a->max : MAX_BYTES;
	/* On a signal, what is being written is removed before we end, and what has been done is reported. */
	hodo_stop_by_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return pulls ? symbols_pull(a) : symbols_push(a);
}

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "STORE", HODO_AT(struct symbols_args, store),
	  .wants = "the name of a directory", .words = HODO_WORD_FILE | HODO_WORD_NEW,
	  .help = "pull: write there (HODO_SYMBOLS, or ~/.cache/hodo/symbols)" },
	{ .name = "max-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", HODO_AT(struct symbols_args, max), .min = 1,
	  .max = 1ull << 40, .wants = "a size from 1 to 1T", .help = "pull: leave out files that are larger (4G)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

static const char *const actions[] = { "pull", "push", NULL };

const struct hodo_verb hodo_verb_symbols = {
	.name = "symbols", .does = "get symbols by build-id from elsewhere, or put them there",
	.usage = "pull [-o STORE] DIR|URL [RECORDING...]\npush DIR|URL [RECORDING|FILE|DIR...]",
	.about = "'pull' copies the symbols of the programs in a RECORDING (hodo.data) to this\n"
		 "machine, where all verbs find them. 'push' puts symbols where 'pull' finds\n"
		 "them: those of program, library or debug FILEs, of all in a DIR, or of what a\n"
		 "RECORDING recorded. URL is a debuginfod server, or for 'push' one that takes\n"
		 "files by PUT.\n",
	.options = options, .column = 22, .choices = actions, .words = HODO_WORD_DIR | HODO_WORD_FILE,
	.args_bytes = sizeof(struct symbols_args), .run = run,
};
