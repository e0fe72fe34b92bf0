/* SPDX-License-Identifier: MIT */
/*
 * complete.c - hodo --complete INDEX WORD...: what word INDEX of a command line could be, for the shells' scripts
 * in completions/.
 *
 * Each line of output is a word, and behind a tab what it is; or, to be done by the shell, who knows how:
 * "@files", "@dirs", "@programs", "@command N" (word N begins a command line of its own), and "@nospace" (no blank
 * behind the word). Nothing that is named on the command line is ever run: events are read from files, recordings
 * and processes by hodo list, in a child of ours that has a second.
 */
#define _GNU_SOURCE
#include "complete.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <export/export.h>

#include "cli.h"

#define TIME_MAX_MS 1000 /* if HODO_COMPLETE_MS says nothing */
#define TEXT_MAX    (1u << 20) /* of what a child says */
#define WORD_MAX    512
#define ENTRIES_MAX 4096u      /* of a directory, looked at */

struct line {
	const struct hodo_help *help;
	char **words;
	int n, index;
	const char *word; /* what is there of the word to complete */
	/* By the words but that one: */
	bool kernel;
	const char *pid, *program, *recording;
	/* Where that word stands: */
	const struct hodo_help_option *option; /* whose value it is; NULL: none's */
	bool dashes;                           /* behind -- */
	unsigned position;                     /* behind the options */
};

/* --------------------------------------------------------------------------- output */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* If it goes on as what is there; fixed: what stands in front and is not looked at. */
static void offer(const char *fixed, const char *typed, const char *word, const char *about)
{
	if (begins(word, typed))
		printf("%s%s\t%s\n", fixed, word, about);
}

/* ------------------------------------------------------------------- what verbs say */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t time_max_ms(void)
{
	const char *text = getenv("HODO_COMPLETE_MS");
	uint64_t ms;

	return text && hodo_parse_number(text, 600000, &ms) == 0 ? (int64_t)ms : TIME_MAX_MS;
}

/* Reads until the end, or until there is no time or room any more. */
static char *read_all(int fd)
{
	int64_t end = now_ms() + time_max_ms();
	char *text = malloc(TEXT_MAX);
	size_t len = 0;

	while (text && len < TEXT_MAX - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = end - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			break;
		n = read(fd, text + len, TEXT_MAX - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (text)
		text[len] = 0;
	return text;
}

/* What a verb writes. NULL: out of memory, or no such verb. */
static char *output_of(char *const *argv)
{
	char *text = NULL;
	int fds[2], argc = 0;
	pid_t pid;

	while (argv[argc])
		argc++;
	if (!hodo_is_verb(argv[0]) || pipe(fds) < 0)
		return NULL;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		close(STDERR_FILENO);
		exit(hodo_run_verb(argc, (char **)(uintptr_t)argv));
	}
	close(fds[1]);
	if (pid > 0)
		text = read_all(fds[0]);
	close(fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return text;
}

/* ---------------------------------------------------------------------------- events */

static bool is_plain(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.+-")] == 0;
}

/* Where the shell would find it; NULL: nowhere. */
static const char *find_program(const char *name, char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return name;
	for (size_t len; at && *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)len, at, name) < PATH_MAX && access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

static char *list_events(const struct line *l)
{
	char path[PATH_MAX];
	const char *target = l->pid ? l->pid : l->program ? find_program(l->program, path) :
			     l->recording ? l->recording : HODO_DIR_DEFAULT;
	const char *const kernel[] = { "list", "-q", "-k", NULL };
	const char *const other[] = { "list", "-q", "--events", "--", target, NULL };

	return !target ? NULL : output_of((char *const *)(uintptr_t)(l->kernel ? kernel : other));
}

/* One blank where there are several. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (*p != ' ' || (to > text && to[-1] != ' '))
			*to++ = *p;
	to -= to > text && to[-1] == ' ';
	*to = 0;
}

/* One line of hodo list: the name, and its kind and fields. */
static void offer_event(const char *fixed, const char *typed, char *line, char provider[WORD_MAX])
{
	size_t len = strcspn(line, " ");
	char *about = line + len + strspn(line + len, " "), name[WORD_MAX];
	size_t prefix;

	if (!line[len] || len >= sizeof(name) - 2)
		return;
	memcpy(name, line, len);
	name[len] = 0;
	prefix = strcspn(name, ":");
	if (!is_plain(name) || !name[prefix])
		return;
	/* In the order of names: each provider once. */
	if (strncmp(provider, name, prefix) != 0 || provider[prefix]) {
		memcpy(provider, name, prefix);
		strcpy(provider + prefix, ":*");
		offer(fixed, typed, provider, "all of them");
		provider[prefix] = 0;
	}
	about[strcspn(about, "\"\t")] = 0;
	squeeze(about);
	offer(fixed, typed, name, about);
}

static void offer_events(const struct line *l, const char *fixed, const char *typed)
{
	char provider[WORD_MAX] = "", *text = list_events(l), *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		offer_event(fixed, typed, line, provider);
	free(text);
}

/* "    PID  EVENTS  PROGRAM", and so each line. */
static void offer_pids(const char *fixed, const char *typed)
{
	char *const argv[] = { (char *)"list", (char *)"-q", (char *)"--pids", NULL };
	char *text = output_of(argv), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *pid = line + strspn(line, " "), *end = pid + strspn(pid, "0123456789"), *about = end;

		if (end == pid || *end != ' ')
			continue;
		about += strspn(about, " ");
		about += strcspn(about, " ");
		about += strspn(about, " ");
		*end = 0;
		offer(fixed, typed, pid, about);
	}
	free(text);
}

/* ------------------------------------------------------------------------ recordings */

/* Itself one process's, or with such in it. */
static bool is_recording(const char *path)
{
	char file[PATH_MAX];
	bool found = snprintf(file, sizeof(file), "%s/metadata", path) < PATH_MAX && access(file, F_OK) == 0;
	DIR *d = found ? NULL : opendir(path);
	struct dirent *e;

	for (unsigned n = 0; d && !found && n < 64 && (e = readdir(d)); n++)
		found = e->d_name[0] != '.' && access(path, F_OK) == 0 &&
			snprintf(file, sizeof(file), "%s/%s/metadata", path, e->d_name) < PATH_MAX &&
			access(file, F_OK) == 0;
	if (d)
		closedir(d);
	return found;
}

/* Whether a shell takes the path, as it stands, for one word and for nothing but its letters. */
static bool needs_no_quotes(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 0x80 && !isalnum((unsigned char)*c) && !strchr("_:.+-/,=%", *c))
			return false;
	return true;
}

/*
 * Those that the word can become; else directories, to get there. So it is too if one's name needs quotes: the shell
 * knows which, and where the word has some already, but only of what it looks up itself.
 */
static void offer_recordings(const char *fixed, const char *typed)
{
	const char *slash = strrchr(typed, '/');
	char dir[PATH_MAX], path[PATH_MAX], *found = NULL, *grown;
	bool plain = true;
	size_t len = 0;
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - typed + 1) : 0, typed);
	d = opendir(*dir ? dir : ".");
	for (unsigned n = 0; d && plain && n < ENTRIES_MAX && (e = readdir(d)); n++) {
		if (e->d_name[0] == '.' || e->d_type == DT_REG ||
		    snprintf(path, sizeof(path), "%s%s", dir, e->d_name) >= PATH_MAX || !begins(path, typed) ||
		    !is_recording(path))
			continue;
		plain = needs_no_quotes(path) && (grown = realloc(found, len + strlen(path) + 1));
		if (!plain)
			break;
		found = grown;
		len += strlen(strcpy(found + len, path)) + 1;
	}
	if (d)
		closedir(d);
	if (!plain || !len)
		puts("@dirs");
	for (const char *p = found; plain && p < found + len; p += strlen(p) + 1)
		offer(fixed, typed, p, "recording");
	free(found);
}

/* ------------------------------------------------------------------------- the word */

/* For "a,b,": what is there already stands in front. */
static const char *last_of_list(const char *typed, const char *fixed, char *joined, size_t size)
{
	const char *comma = strrchr(typed, ',');

	snprintf(joined, size, "%s%.*s", fixed, comma ? (int)(comma - typed + 1) : 0, typed);
	return comma ? comma + 1 : typed;
}

static void offer_kinds(const struct line *l, unsigned kinds, const char *fixed, const char *typed)
{
	if (kinds & HODO_WORD_EVENT) {
		char with[WORD_MAX];

		snprintf(with, sizeof(with), "%s%s", fixed, *typed == '!' ? "!" : "");
		offer_events(l, with, typed + (*typed == '!'));
	}
	if (kinds & HODO_WORD_PID)
		offer_pids(fixed, typed);
	if (kinds & HODO_WORD_DIR)
		offer_recordings(fixed, typed);
	if (kinds & HODO_WORD_FILE)
		puts("@files");
}

static void offer_value(const struct line *l, const struct hodo_help_option *o, const char *fixed, const char *typed)
{
	char value[64], with[WORD_MAX];
	const char *at = NULL;

	if (o->list)
		typed = last_of_list(typed, fixed, with, sizeof(with));
	fixed = o->list ? with : fixed;
	while ((o->kind & HODO_WORD_VALUE) && (at = hodo_help_value(o, at, value, sizeof(value))))
		offer(fixed, typed, value, "");
	for (unsigned i = 0; (o->kind & HODO_WORD_FORMAT) && hodo_export_formats[i]; i++)
		offer(fixed, typed, hodo_export_formats[i]->name, hodo_export_formats[i]->does);
	/* What is written is not there yet. */
	if (o->letter == 'o')
		puts(o->kind & HODO_WORD_DIR ? "@dirs" : "@files");
	else
		offer_kinds(l, o->kind, fixed, typed);
}

static void offer_options(const struct line *l)
{
	char name[64];

	for (unsigned i = 0; i < l->help->options; i++) {
		const struct hodo_help_option *o = &l->help->option[i];

		snprintf(name, sizeof(name), "%.*s", o->len, o->name ? o->name : "");
		offer("", l->word, name, o->text);
		if (o->optional) {
			snprintf(name, sizeof(name), "%.*s=", o->len, o->name);
			offer("", l->word, name, o->text);
		}
		snprintf(name, sizeof(name), "-%c", o->letter);
		if (o->letter && l->word[1] != '-')
			offer("", l->word, name, o->text);
	}
	offer("", l->word, "--help=all", "all options");
}

/* Whether the line of usage is the one that these words follow. */
static bool applies(const struct line *l, const struct hodo_help_line *u, bool seen[HODO_HELP_OPTIONS])
{
	return (!u->needs || seen[u->needs - l->help->option]) && (!u->needs_dashes || l->dashes);
}

/* What can stand at a position behind the options. */
static unsigned kinds_at(const struct line *l, bool seen[HODO_HELP_OPTIONS], unsigned position, bool *list)
{
	bool special = false;
	unsigned kinds = 0;

	*list = false;
	for (unsigned i = 0; i < l->help->lines; i++) {
		const struct hodo_help_line *u = &l->help->line[i];

		special |= u->needs && u->slots && applies(l, u, seen) && l->help->lines > 1;
	}
	for (unsigned i = 0; i < l->help->lines; i++) {
		const struct hodo_help_line *u = &l->help->line[i];
		unsigned at = position < u->slots ? position : u->repeats && u->slots ? u->slots - 1 : u->slots;

		if (l->help->lines > 1 && (!applies(l, u, seen) || (special && !u->needs)))
			continue;
		kinds |= at < u->slots ? u->kind[at] : 0;
		*list |= at < u->slots && at == u->slots - 1 && u->list;
	}
	return kinds;
}

/* ------------------------------------------------------------------------ the words */

/* What the recording, program or process is that the line is about. */
static void note(struct line *l, unsigned kinds, const char *word)
{
	if (kinds & HODO_WORD_COMMAND)
		l->program = l->program ? l->program : word;
	else if ((kinds & HODO_WORD_PID) && !l->pid && *word && strspn(word, "0123456789") == strcspn(word, ","))
		l->pid = strndup(word, strcspn(word, ","));
	else if ((kinds & (HODO_WORD_DIR | HODO_WORD_FILE)) && !l->recording)
		l->recording = word;
}

static void note_option(struct line *l, const struct hodo_help_option *o, const char *value)
{
	l->kernel |= o->letter == 'k';
	if (value && (o->kind & HODO_WORD_PID))
		note(l, HODO_WORD_PID, value);
}

/* Goes through the words behind the verb. The index of a word that begins a command in front of ours, or 0. */
static int walk(struct line *l, bool seen[HODO_HELP_OPTIONS])
{
	const struct hodo_help_option *pending = NULL;
	bool dashes = false, list;
	unsigned position = 0;

	for (int i = 2; i < l->n; i++) {
		const struct hodo_help_option *o = dashes || pending ? NULL : hodo_help_find(l->help, l->words[i]);
		const char *word = l->words[i], *equals = strchr(word, '=');
		unsigned kinds;

		if (i == l->index) {
			l->option = pending;
			l->dashes = dashes;
			l->position = position;
			pending = NULL;
		} else if (pending) {
			note_option(l, pending, word);
			pending = NULL;
		} else if (!dashes && strcmp(word, "--") == 0) {
			l->dashes = dashes = true;
		} else if (o) {
			const char *value = word[1] == '-' ? (equals ? equals + 1 : NULL) : word[2] ? word + 2 : NULL;

			seen[o - l->help->option] = true;
			note_option(l, o, value);
			pending = o->kind && !o->optional && !value ? o : NULL;
		} else if (dashes || word[0] != '-') {
			kinds = kinds_at(l, seen, position++, &list);
			note(l, kinds, word);
			if (kinds & HODO_WORD_COMMAND)
				return i < l->index ? i : 0;
		}
	}
	return 0;
}

static void complete_word(struct line *l, bool seen[HODO_HELP_OPTIONS])
{
	const char *equals = strchr(l->word, '='), *typed = l->word, *word = l->word;
	const struct hodo_help_option *o = NULL;
	char fixed[WORD_MAX] = "";
	unsigned kinds;
	bool list;

	if (!l->option && !l->dashes && word[0] == '-' && (equals || (word[1] && word[1] != '-' && word[2])))
		o = hodo_help_find(l->help, word);
	if (o && o->kind) {
		typed = l->word[1] == '-' ? equals + 1 : l->word + 2;
		snprintf(fixed, sizeof(fixed), "%.*s", (int)(typed - l->word), l->word);
		offer_value(l, o, fixed, typed);
	} else if (l->option) {
		offer_value(l, l->option, "", l->word);
	} else if (!l->dashes && l->word[0] == '-') {
		offer_options(l);
	} else {
		kinds = kinds_at(l, seen, l->position, &list);
		if (kinds & HODO_WORD_COMMAND)
			puts("@programs");
		if (list)
			typed = last_of_list(l->word, "", fixed, sizeof(fixed));
		offer_kinds(l, kinds & ~(unsigned)HODO_WORD_COMMAND, fixed, typed);
	}
}

static int complete_verb(struct line *l)
{
	bool seen[HODO_HELP_OPTIONS] = { false };
	char *const argv[] = { l->words[1], (char *)"--help=all", NULL };
	struct hodo_help help;
	char *text = output_of(argv);
	int command;

	if (!text)
		return HODO_EXIT_FAILURE;
	hodo_help_parse(&help, text);
	l->help = &help;
	command = walk(l, seen);
	if (command)
		printf("@command %d\n", command);
	else
		complete_word(l, seen);
	free((char *)(uintptr_t)l->pid);
	free(text);
	return 0;
}

static int complete_first(const char *typed, bool programs)
{
	const char *does;
	bool any = false;

	for (unsigned i = 0; hodo_verb(i, &does); i++) {
		any |= begins(hodo_verb(i, &does), typed);
		offer("", typed, hodo_verb(i, &does), does);
	}
	if (!programs)
		return 0;
	offer("", typed, "help", "tell of a verb");
	if (*typed == '-') {
		offer("", typed, "--help", "list the verbs");
		offer("", typed, "--version", "tell the version");
	} else if (!any) {
		puts("@programs");
	}
	return 0;
}

int hodo_complete(int argc, char **argv)
{
	uint64_t index;
	struct line l = { .words = argv + 1, .n = argc - 1 };

	if (argc < 2 || hodo_parse_number(argv[0], INT_MAX, &index) < 0 || index == 0 || index > (uint64_t)l.n)
		return HODO_EXIT_USAGE;
	l.index = (int)index;
	l.word = l.index < l.n ? l.words[l.index] : "";
	/* It may be missing at the end. */
	if (l.index == l.n) {
		l.words = calloc((size_t)l.n + 1, sizeof(*l.words));
		if (!l.words)
			return HODO_EXIT_FAILURE;
		memcpy(l.words, argv + 1, (size_t)l.n * sizeof(*l.words));
		l.words[l.n++] = (char *)"";
	}
	if (l.index == 1)
		return complete_first(l.word, true);
	if (strcmp(l.words[1], "help") == 0)
		return l.index == 2 ? complete_first(l.word, false) : 0;
	if (hodo_is_verb(l.words[1]))
		return complete_verb(&l);
	if (strcmp(l.words[1], "--") == 0)
		puts(l.index == 2 ? "@programs" : "@command 2");
	else if (l.words[1][0] != '-')
		puts("@command 1");
	return 0;
}
