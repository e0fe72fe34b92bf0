/* SPDX-License-Identifier: MIT */
/* complete_help.c - reads a verb's --help: its options, what their values are, and what stands behind them. */
#define _GNU_SOURCE
#include "complete.h"

#include <string.h>

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static unsigned kind_of(const char *word, size_t len)
{
	static const struct {
		const char *name;
		unsigned kind;
	} kinds[] = {
		{ "EVENT", HODO_WORD_EVENT }, { "PID", HODO_WORD_PID },      { "DIR", HODO_WORD_DIR },
		{ "FILE", HODO_WORD_FILE },   { "PATH", HODO_WORD_FILE },    { "CMD", HODO_WORD_COMMAND },
		{ "WHEN", HODO_WORD_VALUE },  { "KEY", HODO_WORD_VALUE },    { "WHAT", HODO_WORD_VALUE },
		{ "A", HODO_WORD_EVENT },     { "NAME", HODO_WORD_VALUE },   { "COLUMN", HODO_WORD_VALUE },
		{ "FORMAT", HODO_WORD_FORMAT },
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, word, len) == 0)
			return kinds[i].kind;
	return HODO_WORD_OTHER;
}

/* PID[,PID...] -> PID; tsc|monotonic has values itself. */
static unsigned kind_of_word(const char *word, int len)
{
	size_t name = strspn(word, CAPITALS);

	if (name == 0)
		return memchr(word, '|', (size_t)len) ? HODO_WORD_VALUE : HODO_WORD_OTHER;
	/* SIZE|TIME */
	return name < (size_t)len && word[name] == '|' ? HODO_WORD_OTHER : kind_of(word, name);
}

static bool has(const char *text, int len, const char *part)
{
	return memmem(text, (size_t)len, part, strlen(part)) != NULL;
}

/* "-e, --event EVENT[,EVENT...]", as far as two blanks. */
static void parse_head(struct hodo_help_option *o, const char *p, const char *end)
{
	if (p[0] == '-' && p[1] != '-') {
		o->letter = p[1];
		p += 2 + (p[2] == ',') + (p[2] == ',' && p[3] == ' ');
	}
	if (end - p > 2 && p[0] == '-' && p[1] == '-') {
		o->name = p;
		o->len = (int)strcspn(p + 2, " [=\n") + 2;
		p += o->len;
	}
	o->optional = p < end && p[0] == '[' && p[1] == '=';
	if (p >= end || (*p != ' ' && *p != '[' && *p != '='))
		return;
	p += o->optional ? 2 : *p == '=' || *p == ' ';
	p += *p == '\'';
	if (p >= end)
		return;
	o->word = p;
	o->word_len = (int)(end - p);
	o->kind = kind_of_word(p, o->word_len);
	o->list = has(p, o->word_len, ",");
}

static void append(char *text, size_t size, const char *more, size_t len)
{
	size_t have = strlen(text);

	if (have && have + 1 < size)
		text[have++] = ' ';
	len = len < size - have - 1 ? len : size - have - 1;
	memcpy(text + have, more, len);
	text[have + len] = 0;
}

/* Reads the option that begins at p, and the lines of text that belong to it. Where the next line begins. */
static const char *parse_option(struct hodo_help *h, const char *p)
{
	const char *line_end = strchrnul(p, '\n'), *end, *second;
	struct hodo_help_option *o = &h->option[h->options++];

	p += strspn(p, " ");
	end = memmem(p, (size_t)(line_end - p), "  ", 2);
	end = end ? end : line_end;
	memset(o, 0, sizeof(*o));
	/* "--since TIME, --until TIME" */
	second = p[1] == '-' ? memmem(p, (size_t)(end - p), ", --", 4) : NULL;
	parse_head(o, p, second ? second : end);
	if (second && h->options < HODO_HELP_OPTIONS) {
		memset(&h->option[h->options], 0, sizeof(*o));
		parse_head(&h->option[h->options++], second + 2, end);
	}
	p = end;
	for (;;) {
		p += strspn(p, " ");
		append(o->text, sizeof(o->text), p, (size_t)(line_end - p));
		p = *line_end ? line_end + 1 : line_end;
		/* Text of it is indented further than any option. */
		if (strspn(p, " ") < 8)
			return p;
		line_end = strchrnul(p, '\n');
	}
}

/* One word of usage. joined: an alternative to the one before it. */
static void add_slot(struct hodo_help_line *l, const char *word, int len, bool joined)
{
	unsigned kind;

	word += *word == '[';
	kind = kind_of(word, strspn(word, CAPITALS));
	if (strspn(word, CAPITALS) == 0 || strncmp(word, "ARGUMENT", 8) == 0)
		return;
	if (joined && l->slots > 0)
		l->kind[l->slots - 1] |= kind;
	else if (l->slots < HODO_HELP_SLOTS)
		l->kind[l->slots++] = kind;
	l->repeats = len > 3 && has(word + len - 4, 4, "...");
	l->list = has(word, len, "[,");
}

/* What stands behind "hodo VERB". */
static void parse_usage(struct hodo_help *h, struct hodo_help_line *l, const char *p, const char *end)
{
	bool joined = false, value = false;

	memset(l, 0, sizeof(*l));
	while (p < end) {
		int len = (int)strcspn(p, " \n");
		bool bracket = *p == '[';
		const char *word = p + bracket;

		if (len == 0) {
			p++;
			continue;
		}
		p += len;
		if (strncmp(word, "--", 2) == 0 && (word[2] == ' ' || word[2] == ']')) {
			l->needs_dashes = !bracket;
		} else if (*word == '-') {
			const struct hodo_help_option *o = hodo_help_find(h, word);

			value = o && o->kind && !o->optional;
			l->needs = bracket ? l->needs : o;
		} else if (value) {
			value = false;
		} else if (*word == '|') {
			joined = true;
			continue;
		} else {
			add_slot(l, word, len - bracket, joined);
		}
		joined = false;
	}
}

static const char *next_line(const char *p)
{
	p = strchrnul(p, '\n');
	return *p ? p + 1 : p;
}

void hodo_help_parse(struct hodo_help *h, const char *text)
{
	const char *p;

	h->options = h->lines = 0;
	for (p = text; *p;) {
		size_t blanks = strspn(p, " ");

		if (blanks >= 2 && blanks <= 6 && p[blanks] == '-' && h->options < HODO_HELP_OPTIONS)
			p = parse_option(h, p);
		else
			p = next_line(p);
	}
	for (p = text; h->lines < HODO_HELP_LINES; p = next_line(p)) {
		const char *rest;

		if (strnlen(p, 12) < 12 || strncmp(p + 7, "hodo ", 5) != 0)
			break;
		rest = p + 12 + strcspn(p + 12, " \n");
		parse_usage(h, &h->line[h->lines++], rest, strchrnul(rest, '\n'));
	}
}

const struct hodo_help_option *hodo_help_find(const struct hodo_help *h, const char *word)
{
	int len = (int)strcspn(word, "= ]\n");

	for (unsigned i = 0; i < h->options; i++) {
		const struct hodo_help_option *o = &h->option[i];

		if (word[0] == '-' && word[1] != '-' && word[1] && o->letter == word[1])
			return o;
		if (word[0] == '-' && word[1] == '-' && o->len == len && memcmp(o->name, word, (size_t)len) == 0)
			return o;
	}
	return NULL;
}

static const char *begin_of_values(const char *text)
{
	for (const char *colon; (colon = strstr(text, ": ")); text = colon + 2)
		;
	return strncmp(text, "split by ", 9) == 0 ? text + 9 : text;
}

/*
 * "the table to begin with: events (the default), threads or cpus": words of small letters between commas, behind
 * the last colon; remarks in brackets do not count. Of "perf:COUNTER" and "stack[=BYTES]" what can be given so.
 */
const char *hodo_help_value(const struct hodo_help_option *o, const char *at, char *value, size_t size)
{
	bool own = o->word && strspn(o->word, CAPITALS) == 0;
	const char *p = at ? at : o->text;

	if (!at && own)
		p = o->word;
	else if (!at)
		p = begin_of_values(p);
	for (;;) {
		size_t len;

		p += strspn(p, ", |");
		if (strncmp(p, "or ", 3) == 0 || strncmp(p, "by ", 3) == 0)
			p += 3;
		if (own && p >= o->word + o->word_len)
			return NULL;
		len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_:-");
		if (len == 0 || len >= size)
			return NULL;
		memcpy(value, p, len);
		value[len] = 0;
		p += len;
		if (own)
			return p;
		p += *p == '[' ? strcspn(p, "]") + 1 : strspn(p, CAPITALS);
		if (strncmp(p, " (", 2) == 0)
			p += strcspn(p, ")") + 1;
		/* More words than one: text, not a value. */
		if (*p && *p != ',' && *p != ';' && *p != '.' && strncmp(p, " or ", 4) != 0)
			return NULL;
		return p;
	}
}
