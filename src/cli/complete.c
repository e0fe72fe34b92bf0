/* SPDX-License-Identifier: MIT */
/*
 * complete.c - hodo --complete INDEX WORD...: candidates for word INDEX of a command line, for the shells'
 * scripts in completions/.
 *
 * Each line of output is a word, and after a tab its description; or a request to the shell: "@files",
 * "@dirs", "@programs", "@command N" (word N begins another command line), and "@nospace" (no blank after the
 * word). Nothing named on the command line is ever run: hodo list reads events from files, recordings and
 * processes, in a child process that has one second.
 */
#include <cli/list/list.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/file.h>
#include <pack/tree.h>
#include <record/record.h>

#define TIME_MAX_MS 1000 /* without HODO_COMPLETE_MS */
#define WORD_MAX    512
#define ENTRIES_MAX 4096u      /* of a directory that are examined */

struct line {
	const struct hodo_verb *verb;
	char **words;
	int n, index;
	const char *word; /* the typed part of the word to complete */
	/* From the other words: */
	bool kernel;
	const char *pid, *program, *recording;
	/* The position of that word: */
	const struct hodo_option *option; /* whose value it is; NULL: none's */
	bool dashes;                           /* after -- */
	unsigned position;                     /* behind the options */
};

/* --------------------------------------------------------------------------- output */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Offers it if it begins with the typed part; fixed: a prefix that is not compared. */
static void offer(const char *fixed, const char *typed, const char *word, const char *about)
{
	if (begins(word, typed))
		printf("%s%s\t%s\n", fixed, word, about);
}

/* ------------------------------------------------------------------- what hodo list says */

/* In a child: ends it when its time is over. */
static void limit_time(void)
{
	const char *text = getenv("HODO_COMPLETE_MS");
	struct itimerval timer = { 0 };
	uint64_t ms;

	if (!text || hodo_parse_number(text, 600000, &ms) < 0 || ms == 0)
		ms = TIME_MAX_MS;
	timer.it_value.tv_sec = (time_t)(ms / 1000);
	timer.it_value.tv_usec = (suseconds_t)(ms % 1000 * 1000);
	signal(SIGALRM, SIG_DFL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* What is listed, as words. */
struct listed {
	const char *fixed, *typed;
	char provider[WORD_MAX]; /* of the event before */
};

/* Offers what hodo list lists within the time. */
static void offer_list(struct hodo_list_args *a, void (*offer_row)(void *, const char *, const char *),
		       struct listed *l)
{
	pid_t pid;

	a->args.verb = &hodo_verb_list;
	a->args.quiet = true;
	a->offer = offer_row;
	a->offer_data = l;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		limit_time();
		close(STDERR_FILENO);
		exit(hodo_verb_list.run(a));
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* ---------------------------------------------------------------------------- events */

static bool is_plain(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.+-")] == 0;
}

static void offer_event(void *listed, const char *name, const char *about)
{
	struct listed *l = listed;
	size_t prefix = strcspn(name, ":");
	char all[WORD_MAX + 2];

	if (!is_plain(name) || !name[prefix] || strlen(name) >= WORD_MAX - 2)
		return;
	/* In the order of names: each provider once. */
	if (strncmp(l->provider, name, prefix) != 0 || l->provider[prefix]) {
		snprintf(l->provider, sizeof(l->provider), "%.*s", (int)prefix, name);
		snprintf(all, sizeof(all), "%s:*", l->provider);
		offer(l->fixed, l->typed, all, "all of them");
	}
	offer(l->fixed, l->typed, name, about);
}

static void offer_events(const struct line *l, const char *fixed, const char *typed)
{
	struct listed listed = { .fixed = fixed, .typed = typed };
	struct hodo_list_args a = { .kernel = l->kernel, .events = !l->kernel };
	char path[PATH_MAX];

	a.args.dir = l->pid ? l->pid : l->program ? path : l->recording ? l->recording : HODO_DIR_DEFAULT;
	a.args.look.columns = l->kernel ? NULL : "name,state,kind,fields,place,sites";
	if (a.args.dir != path || hodo_launch_find(l->program, path) != -ENOENT)
		offer_list(&a, offer_event, &listed);
}

static void offer_pid(void *listed, const char *pid, const char *about)
{
	struct listed *l = listed;

	offer(l->fixed, l->typed, pid, about);
}

static void offer_pids(const char *fixed, const char *typed)
{
	struct listed listed = { .fixed = fixed, .typed = typed };
	struct hodo_list_args a = { .pids = true };

	a.args.look.columns = "pid,comm";
	offer_list(&a, offer_pid, &listed);
}

/* ------------------------------------------------------------------------ recordings */

/* A process's folder, or a folder that contains such. */
static bool is_recording(const char *path)
{
	static const char suffix[] = HODO_PACKED_SUFFIX;
	size_t len = strlen(path), ending = sizeof(suffix) - 1;
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	char file[PATH_MAX];
	bool found = snprintf(file, sizeof(file), "%s/metadata", path) < PATH_MAX && access(file, F_OK) == 0;
	const char *name;

	found = found || (len > ending && strcmp(path + len - ending, suffix) == 0);
	d = found ? NULL : opendir(path);
	for (unsigned n = 0; !found && n < 64 && (name = hodo_dir_next(d)); n++)
		found = name[0] != '.' && snprintf(file, sizeof(file), "%s/%s/metadata", path, name) < PATH_MAX &&
			access(file, F_OK) == 0;
	return found;
}

/* Whether a shell reads the unquoted path as one literal word. */
static bool needs_no_quotes(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 0x80 && !isalnum((unsigned char)*c) && !strchr("_:.+-/,=%", *c))
			return false;
	return true;
}

/*
 * Recordings that the word can become; else directories on the way. Also directories if a name needs quotes:
 * the shell knows how to quote, and where the word already has quotes, but only for names that it looks up
 * itself.
 */
static void offer_recordings(const char *fixed, const char *typed)
{
	const char *slash = strrchr(typed, '/');
	char dir[PATH_MAX], path[PATH_MAX];
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	HODO_AUTO(hodo_text_free) struct hodo_text found = { 0 };
	bool plain = true;
	const char *name;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - typed + 1) : 0, typed);
	d = opendir(*dir ? dir : ".");
	for (unsigned n = 0; plain && n < ENTRIES_MAX && (name = hodo_dir_next(d)); n++) {
		if (name[0] == '.' || snprintf(path, sizeof(path), "%s%s", dir, name) >= PATH_MAX ||
		    !begins(path, typed) || !is_recording(path))
			continue;
		plain = needs_no_quotes(path);
		hodo_text_printf(&found, "%s%s\trecording\n", fixed, path);
	}
	fputs(plain && found.len ? hodo_text_string(&found) : "@dirs\n", stdout);
}

/* ------------------------------------------------------------------------- the word */

/* For "a,b,": the earlier entries are the prefix. */
static const char *last_of_list(const char *typed, const char *fixed, char *joined, size_t size)
{
	const char *comma = strrchr(typed, ',');

	snprintf(joined, size, "%s%.*s", fixed, comma ? (int)(comma - typed + 1) : 0, typed);
	return comma ? comma + 1 : typed;
}

static void offer_words(const struct line *l, unsigned words, const char *fixed, const char *typed)
{
	if (words & HODO_WORD_EVENT) {
		char with[WORD_MAX];

		snprintf(with, sizeof(with), "%s%s", fixed, *typed == '!' ? "!" : "");
		offer_events(l, with, typed + (*typed == '!'));
	}
	if (words & HODO_WORD_PID)
		offer_pids(fixed, typed);
	if (words & HODO_WORD_DIR)
		offer_recordings(fixed, typed);
	if (words & HODO_WORD_FILE)
		puts("@files");
}

static void offer_value(const struct line *l, const struct hodo_option *o, const char *fixed, const char *typed)
{
	char with[WORD_MAX];
	const char *name, *does;

	if (o->words & HODO_WORD_LIST) {
		typed = last_of_list(typed, fixed, with, sizeof(with));
		fixed = with;
	}
	for (unsigned i = 0; (name = hodo_option_choice(o, i, &does)); i++)
		if (*name)
			offer(fixed, typed, name, does);
	if (o->words & HODO_WORD_NEW)
		puts(o->words & HODO_WORD_DIR ? "@dirs" : "@files");
	else
		offer_words(l, o->words, fixed, typed);
}

static void offer_option(const struct line *l, const char *long_name, char letter, const char *help)
{
	char name[64], about[400];

	snprintf(about, sizeof(about), "%s", help + strspn(help, "\n"));
	for (char *c = about; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	snprintf(name, sizeof(name), "--%s", long_name);
	offer("", l->word, name, about);
	snprintf(name, sizeof(name), "-%c", letter);
	if (letter && l->word[1] != '-')
		offer("", l->word, name, about);
}

static void offer_options(const struct line *l)
{
	char name[64];

	for (const struct hodo_option *o = l->verb->options; o->name || o->help; o++) {
		if (!o->name)
			continue;
		offer_option(l, o->name, o->letter, o->help ? o->help : o[1].help);
		snprintf(name, sizeof(name), "%s=", o->name);
		if (o->optional)
			offer_option(l, name, 0, o->help);
	}
	offer_option(l, "help", 'h', "");
	offer_option(l, "help=all", 0, "all options");
}

/* HODO_WORD_*: what is possible at a position after the options. */
static unsigned words_at(const struct line *l, bool dashes, unsigned position)
{
	const struct hodo_verb *v = l->verb;

	if (dashes && v->word_dashes)
		return v->word_dashes;
	return position > 0 ? v->words : l->kernel && v->word_k ? v->word_k : v->word;
}

/* ------------------------------------------------------------------------ the words */

/* Notes the recording, program or process of the command line. */
static void note(struct line *l, unsigned words, const char *word)
{
	if (words & HODO_WORD_COMMAND)
		l->program = l->program ? l->program : word;
	else if ((words & HODO_WORD_PID) && !l->pid && *word && strspn(word, "0123456789") == strcspn(word, ","))
		l->pid = strndup(word, strcspn(word, ","));
	else if ((words & (HODO_WORD_DIR | HODO_WORD_FILE)) && !l->recording)
		l->recording = word;
}

static void note_option(struct line *l, const struct hodo_option *o, const char *value)
{
	l->kernel |= o->letter == 'k';
	if (value && (o->words & HODO_WORD_PID))
		note(l, HODO_WORD_PID, value);
}

/*
 * Walks the words after the verb. Returns the index of a word that begins a nested command before ours, or 0.
 */
static int walk(struct line *l)
{
	const struct hodo_option *pending = NULL;
	bool dashes = false;
	unsigned position = 0;

	for (int i = 2; i < l->n; i++) {
		const char *word = l->words[i], *equals = strchr(word, '=');
		const struct hodo_option *o = dashes || pending ? NULL : hodo_option_find(l->verb, word);

		if (i == l->index) {
			l->option = pending;
			l->dashes = dashes;
			l->position = position;
			pending = NULL;
		} else if (pending) {
			note_option(l, pending, word);
			pending = NULL;
		} else if (!dashes && strcmp(word, "--") == 0) {
			dashes = true;
		} else if (o) {
			const char *value = word[1] == '-' ? (equals ? equals + 1 : NULL) : word[2] ? word + 2 : NULL;

			note_option(l, o, value);
			pending = o->arg && !o->optional && !value ? o : NULL;
		} else if (dashes || word[0] != '-') {
			unsigned words = words_at(l, dashes, position++);

			note(l, words, word);
			if (words & HODO_WORD_COMMAND)
				return i < l->index ? i : 0;
		}
	}
	return 0;
}

static void complete_word(struct line *l)
{
	const char *equals = strchr(l->word, '='), *typed = l->word, *word = l->word;
	const struct hodo_option *o = NULL;
	char fixed[WORD_MAX] = "";
	unsigned words;

	if (!l->option && !l->dashes && word[0] == '-' && (equals || (word[1] && word[1] != '-' && word[2])))
		o = hodo_option_find(l->verb, word);
	if (o && o->arg) {
		typed = l->word[1] == '-' ? equals + 1 : l->word + 2;
		snprintf(fixed, sizeof(fixed), "%.*s", (int)(typed - l->word), l->word);
		offer_value(l, o, fixed, typed);
	} else if (l->option) {
		offer_value(l, l->option, "", l->word);
	} else if (!l->dashes && l->word[0] == '-') {
		offer_options(l);
	} else {
		words = words_at(l, l->dashes, l->position);
		for (unsigned i = 0; l->position == 0 && l->verb->choices && l->verb->choices[i]; i++)
			offer("", l->word, l->verb->choices[i], "");
		if (words & HODO_WORD_COMMAND)
			puts("@programs");
		if (words & HODO_WORD_LIST)
			typed = last_of_list(l->word, "", fixed, sizeof(fixed));
		offer_words(l, words, fixed, typed);
	}
}

static int complete_verb(struct line *l)
{
	int command = walk(l);

	if (command)
		printf("@command %d\n", command);
	else
		complete_word(l);
	free((char *)(uintptr_t)l->pid);
	return 0;
}

static int complete_first(const char *typed, bool programs)
{
	bool any = false;

	for (const struct hodo_verb *const *v = hodo_verbs; *v; v++) {
		any |= begins((*v)->name, typed);
		offer("", typed, (*v)->name, (*v)->does);
	}
	if (!programs)
		return 0;
	offer("", typed, "help", "show a verb's options");
	if (*typed == '-') {
		offer("", typed, "--help", "list the verbs");
		offer("", typed, "--version", "print the version");
	} else if (!any) {
		puts("@programs");
	}
	return 0;
}

int hodo_complete(int argc, char **argv)
{
	uint64_t index;
	struct line l = { .words = argv + 1, .n = argc - 1 };
	HODO_AUTO_FREE char **words = NULL;

	if (argc < 2 || hodo_parse_number(argv[0], INT_MAX, &index) < 0 || index == 0 || index > (uint64_t)l.n)
		return HODO_EXIT_USAGE;
	l.index = (int)index;
	l.word = l.index < l.n ? l.words[l.index] : "";
	/* It may be missing at the end. */
	if (l.index == l.n) {
		words = hodo_must(calloc((size_t)l.n + 1, sizeof(*words)));
		memcpy(words, argv + 1, (size_t)l.n * sizeof(*words));
		words[l.n++] = (char *)"";
		l.words = words;
	}
	if (l.index == 1)
		return complete_first(l.word, true);
	if (strcmp(l.words[1], "help") == 0)
		return l.index == 2 ? complete_first(l.word, false) : 0;
	l.verb = hodo_verb_find(l.words[1]);
	if (l.verb)
		return complete_verb(&l);
	if (strcmp(l.words[1], "--") == 0)
		puts(l.index == 2 ? "@programs" : "@command 2");
	else if (l.words[1][0] != '-')
		puts("@command 1");
	return 0;
}
