/* SPDX-License-Identifier: MIT */
/* options.c - parsing and --help of a verb by its table of options: see options.h. */
#include "options.h"

#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <base/near.h>
#include <base/scope.h>
#include <read/event/pattern.h>

#include "say.h"
#include "selection.h"
#include "values.h"
#include <cli/output/table.h>

#define OPTIONS_MAX 48
#define LONG_BASE   256 /* what getopt_long() returns for the first option; letters are below */

const char *const hodo_color_names[] = { "auto", "always", "never", NULL };

static bool is_end(const struct hodo_option *o)
{
	return !o->name && !o->help;
}

const char *hodo_option_choice(const struct hodo_option *o, unsigned i, const char **does)
{
	*does = "";
	if (o->choice)
		return o->choice(i, does);
	if (o->tables)
		return hodo_columns_key(o->tables, i);
	return o->choices ? o->choices[i] : NULL;
}

/* ------------------------------------------------------------------------ values */

/* Its name in messages: -m, --depth. */
static const char *spelled(const struct hodo_option *o, char buf[64])
{
	if (o->letter)
		snprintf(buf, 64, "-%c", o->letter);
	else
		snprintf(buf, 64, "--%s", o->name);
	return buf;
}

/* "auto, always or never" */
static const char *list_choices(const struct hodo_option *o, char buf[256])
{
	const char *names[32], *does;
	size_t len = 0;
	int n = 0;

	for (unsigned i = 0; n < 32 && (names[n] = hodo_option_choice(o, i, &does)); i++)
		n += *names[n] != 0;
	buf[0] = 0;
	for (int i = 0; i < n && len < 256; i++)
		len += (size_t)snprintf(buf + len, 256 - len, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ",
					names[i]);
	return buf;
}

static int refuse(const struct hodo_option *o, const char *verb, const char *value, size_t len)
{
	char name[64], choices[256];

	return hodo_usage(verb, "%s is %s, not '%.*s'", spelled(o, name),
			  o->wants ? o->wants : list_choices(o, choices), (int)(len < 400 ? len : 400), value);
}

/* The index of a word among the choices, or -1. */
static int place_of(const struct hodo_option *o, const char *word, size_t len)
{
	const char *name, *does;

	for (unsigned i = 0; len > 0 && (name = hodo_option_choice(o, i, &does)); i++)
		if (strlen(name) == len && memcmp(name, word, len) == 0)
			return (int)i;
	return -1;
}

static void store(const struct hodo_option *o, void *at, uint64_t n)
{
	if (o->bytes == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)n;
	else
		*(uint64_t *)at = n;
}

static int set_number(const struct hodo_option *o, const char *verb, void *at, const char *value)
{
	uint64_t n = 0, power = 1;
	int err = o->kind == HODO_OPTION_NUMBER ? hodo_parse_number(value, o->max, &n) : hodo_parse_size(value, &n);

	if (err < 0 || n < o->min || n > o->max)
		return refuse(o, verb, value, strlen(value));
	while (o->kind == HODO_OPTION_POWER && power < n)
		power <<= 1;
	store(o, at, o->kind == HODO_OPTION_POWER ? power : n);
	return 0;
}

static int set_time(const struct hodo_option *o, const char *verb, void *at, const char *value)
{
	enum hodo_time_form form = o->kind == HODO_OPTION_TIME ? HODO_TIME_WITH_UNIT : HODO_TIME_BARE;
	int64_t ns = 0;
	char name[64];
	int status = hodo_set_time(&ns, verb, spelled(o, name), value, form, (int64_t)o->min, (int64_t)o->max);

	store(o, at, (uint64_t)ns);
	return status;
}

static int set_choices(const struct hodo_option *o, const char *verb, uint32_t *bits, const char *value)
{
	for (;; value++) {
		size_t len = strcspn(value, ",");
		int place = place_of(o, value, len);

		if (place < 0)
			return refuse(o, verb, value, len);
		*bits |= 1u << place;
		value += len;
		if (!*value)
			return 0;
	}
}

static int set_each(const struct hodo_option *o, void *args, const char *value)
{
	HODO_AUTO_FREE char *copy = hodo_must(strdup(value));
	char *one = copy;

	for (;;) {
		size_t len = hodo_pattern_first(one);
		bool last = !one[len];
		int status;

		one[len] = '\0';
		status = o->set(args, one);
		if (status || last)
			return status;
		one += len + 1;
	}
}

/* 0 or the exit status. */
static int set(const struct hodo_option *o, const char *verb, void *args, const char *value)
{
	void *at = (char *)args + o->at;
	char name[64];
	int place;

	switch (o->kind) {
	case HODO_OPTION_FLAG:
		*(bool *)at = true;
		return 0;
	case HODO_OPTION_BITS:
		*(uint32_t *)at |= (uint32_t)o->max;
		return 0;
	case HODO_OPTION_NAME:
		if (!*value)
			return hodo_usage(verb, "%s needs %s", spelled(o, name), o->wants);
		/* fall through */
	case HODO_OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case HODO_OPTION_NUMBER:
	case HODO_OPTION_SIZE:
	case HODO_OPTION_POWER:
		return set_number(o, verb, at, value);
	case HODO_OPTION_SECONDS:
	case HODO_OPTION_TIME:
		return set_time(o, verb, at, value);
	case HODO_OPTION_CHOICE:
		place = place_of(o, value, strlen(value));
		if (place < 0)
			return refuse(o, verb, value, strlen(value));
		*(unsigned *)at = (unsigned)place;
		return 0;
	case HODO_OPTION_CHOICES:
		return set_choices(o, verb, at, value);
	case HODO_OPTION_CALL:
		return o->set(args, value);
	case HODO_OPTION_EACH:
		return set_each(o, args, value);
	}
	return HODO_EXIT_USAGE;
}

/* ----------------------------------------------------------------------- parsing */

/* The table in getopt_long()'s form. */
struct parser {
	struct option longs[OPTIONS_MAX + 2];
	const struct hodo_option *of[OPTIONS_MAX];
	char letters[3 * OPTIONS_MAX];
};

/* Whether it takes a pid as a word: then -p, as in record and most other tools, is accepted and ignored. */
static bool takes_pid(const struct hodo_verb *verb)
{
	for (const struct hodo_option *o = verb->options; !is_end(o); o++)
		if (o->letter == 'p')
			return false;
	return (verb->word | verb->words) & HODO_WORD_PID;
}

static void make_parser(struct parser *p, const struct hodo_verb *verb)
{
	char *letter = p->letters;
	int n = 0;

	memset(p, 0, sizeof(*p));
	letter += sprintf(letter, "%s:h", verb->stops ? "+" : "");
	for (const struct hodo_option *o = verb->options; !is_end(o); o++) {
		if (!o->name)
			continue;
		assert(n < OPTIONS_MAX);
		if (o->letter)
			letter += sprintf(letter, "%c%s", o->letter, o->arg && !o->optional ? ":" : "");
		p->longs[n] = (struct option){ o->name, o->optional ? optional_argument : o->arg ? required_argument :
					       no_argument, NULL, LONG_BASE + n };
		p->of[n++] = o;
	}
	if (takes_pid(verb))
		*letter++ = 'p';
	p->longs[n] = (struct option){ "help", optional_argument, NULL, 'h' };
}

static const struct hodo_option *option_of(const struct parser *p, int c)
{
	if (c >= LONG_BASE)
		return p->of[c - LONG_BASE];
	for (int i = 0; p->of[i]; i++)
		if (p->of[i]->letter == c)
			return p->of[i];
	return NULL;
}

/* With the option that may have been meant, as by --colour or --limt=5. */
static int unknown_option(const char *verb, const struct parser *p, const char *word)
{
	char name[HODO_NEAR_BYTES];
	struct hodo_near near = { .wanted = name };

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (const struct option *o = p->longs; o->name; o++)
		hodo_near_look(&near, o->name);
	if (near.n == 0)
		return hodo_usage(verb, "unknown option '%s'", word);
	return hodo_say(HODO_EXIT_USAGE, "%s: unknown option '%s': did you mean --%s?", verb, word, near.name[0]);
}

/* Reports what getopt_long() refuses. */
static int refuse_option(const char *verb, const struct parser *p, const char *word, int c)
{
	if (c == ':')
		return hodo_usage(verb, "option '%s' needs a value", word);
	if (optopt >= LONG_BASE)
		return hodo_usage(verb, "option '%s' takes no value", word);
	if (optopt == 0)
		return unknown_option(verb, p, word);
	return hodo_usage(verb, "unknown option '-%c'", optopt);
}

/* HODO_GO_ON or the exit status. */
static int parse(const struct hodo_verb *verb, int argc, char **argv, struct hodo_args *args)
{
	struct parser p;
	int c, status;

	make_parser(&p, verb);
	args->verb = verb;
	args->command = -1;
	for (int i = argc - 1; i > 0; i--) /* getopt_long() puts them in another order */
		if (strcmp(argv[i], "--") == 0)
			args->command = argc - i - 1;
	optind = opterr = 0;
	while ((c = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1) {
		args->words = argv + optind;
		if (c == 'h' && (!optarg || strcmp(optarg, "all") == 0)) {
			hodo_verb_help(stdout, verb, optarg != NULL);
			return 0;
		}
		if (c == 'h')
			return hodo_usage(verb->name, "option '%s' takes no value", argv[optind - 1]);
		if (c == 'p' && takes_pid(verb))
			continue;
		status = c == '?' || c == ':' ? refuse_option(verb->name, &p, argv[optind - 1], c) :
						set(option_of(&p, c), verb->name, args, optarg);
		if (status)
			return status;
	}
	args->words = argv + optind;
	args->n = argc - optind;
	if (verb->one && args->n > 1)
		return hodo_usage(verb->name, "%s, not '%s' too", verb->one, args->words[1]);
	args->dir = args->n ? args->words[0] : HODO_DIR_DEFAULT;
	return HODO_GO_ON;
}

int hodo_verb_run(const struct hodo_verb *verb, int argc, char **argv)
{
	struct hodo_args *args = hodo_must(calloc(1, verb->args_bytes));
	int status;

	if (verb->defaults)
		memcpy(args, verb->defaults, verb->args_bytes);
	args->look.limit = UINT64_MAX;
	args->selection = verb->selects ? hodo_selection_new() : NULL;
	status = parse(verb, argc, argv, args);
	if (status == HODO_GO_ON && verb->tables)
		status = hodo_show_make(args, verb->tables);
	if (status == HODO_GO_ON)
		status = verb->run(args);
	if (status == 0)
		hodo_selection_end(args);
	if (verb->drop)
		verb->drop(args);
	hodo_selection_free(args->selection);
	free(args->look.fail_ifs);
	free(args);
	return status;
}

const struct hodo_option *hodo_option_find(const struct hodo_verb *verb, const char *word)
{
	size_t len = strcspn(word, "=");

	if (word[0] != '-' || !word[1])
		return NULL;
	for (const struct hodo_option *o = verb->options; !is_end(o); o++)
		if (o->name && (word[1] != '-' ? o->letter == word[1] :
				strlen(o->name) + 2 == len && strncmp(o->name, word + 2, len - 2) == 0))
			return o;
	return NULL;
}

/* -------------------------------------------------------------------------- help */

static void put_row(FILE *f, unsigned column, const char *head, const char *lines)
{
	int width = fprintf(f, "%s", head);

	if (*lines && *lines != '\n')
		fprintf(f, "%*s", width + 2 < (int)column ? (int)column - width : 2, "");
	for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		fprintf(f, "%.*s", (int)len, lines);
		if (lines[len])
			fprintf(f, "\n%*s", (int)column, "");
	}
	fputc('\n', f);
}

/* "-e, --event EVENT", or two options that share a line. */
static void make_head(char head[128], const struct hodo_option *o)
{
	int len = o->letter ? sprintf(head, "-%c, ", o->letter) : 0;

	for (const struct hodo_option *p = o; len < 128 && (p == o || !p[-1].help); p++)
		len += snprintf(head + len, 128 - (size_t)len, "%s--%s%s%s%s", p == o ? "" : ", ", p->name,
				!p->arg ? "" : p->optional ? "[=" : " ", p->arg ? p->arg : "", p->optional ? "]" : "");
}

static void put_option(FILE *f, const struct hodo_verb *verb, const struct hodo_option *o)
{
	int indent = verb->aligned && !o->letter ? 6 : 2;
	char row[136], head[128];

	make_head(head, o);
	snprintf(row, sizeof(row), "%*s%s", indent, "", head);
	put_row(f, verb->column, row, o->help ? o->help : o[1].help);
}

static void put_usage(FILE *f, const struct hodo_verb *verb)
{
	const char *line = verb->usage;

	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		fprintf(f, "%s hodo %s %.*s\n", line == verb->usage ? "usage:" : "      ", verb->name, (int)len, line);
	}
	fprintf(f, "\n%s\n", verb->about);
}

/* For an option whose choices have descriptions. */
static void put_choices(FILE *f, const struct hodo_option *o)
{
	const char *name, *does;

	for (unsigned i = 0; o->choice && (name = o->choice(i, &does)); i++)
		fprintf(f, "  %-10s  %s\n", name, does);
	if (o->choice)
		fputc('\n', f);
}

void hodo_verb_help(FILE *f, const struct hodo_verb *verb, bool all)
{
	const struct hodo_option *o = verb->options, *last = o;
	unsigned more = 0;

	for (; !is_end(last) && last->name; last++)
		;
	put_usage(f, verb);
	for (o = verb->options; o < last; o++)
		put_choices(f, o);
	for (o = verb->options; o < last; o++)
		if (o == verb->options || o[-1].help)
			put_option(f, verb, o);
	put_row(f, verb->column, "  -h, --help", is_end(last) ? "" : "this; --help=all: all options");
	for (o = last; !is_end(o); o++) {
		more += o->name != NULL;
		if (all && o->name)
			put_option(f, verb, o);
		else if (all)
			fprintf(f, "\n%s\n", o->help);
	}
	if (verb->notes)
		fprintf(f, "\n%s", verb->notes);
	if (more && !all)
		fprintf(f, "\n%u more options: 'hodo %s --help=all'; all in full: 'man hodo-%s'.\n", more, verb->name,
			verb->name);
}

void hodo_verb_heads(FILE *f, const struct hodo_verb *verb)
{
	bool all = false;
	char head[128];

	for (const struct hodo_option *o = verb->options;; o++) {
		if (!o->name && !all)
			fputs("-h, --help\n", f);
		all |= !o->name;
		if (is_end(o))
			return;
		if (o->name && (o == verb->options || o[-1].help))
			make_head(head, o);
		else if (o->name)
			continue;
		fprintf(f, "%s\n", o->name ? head : o->help);
	}
}
