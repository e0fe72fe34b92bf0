/* SPDX-License-Identifier: MIT */
/* hints.c - what DuckDB's messages do not say: what to do about them in a recording's tables. */
#include "hints.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static void append(struct hodo_why *e, const char *format, const char *text)
{
	size_t len = strlen(e->text);

	snprintf(e->text + len, sizeof(e->text) - len, format, text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The first word:word outside of quotes, whose length goes to len; NULL: there is none. a::b is a cast. */
static const char *find_event(const char *sql, size_t *len)
{
	char quote = 0;

	for (const char *p = sql; *p; p++) {
		const char *begin = p, *end;

		if (quote) {
			quote = *p == quote ? 0 : quote;
			continue;
		}
		if (*p == '\'' || *p == '"')
			quote = *p;
		if (*p != ':' || p == sql || !is_word(p[-1]) || !is_word(p[1]))
			continue;
		while (begin > sql && is_word(begin[-1]))
			begin--;
		for (end = p + 1; is_word(*end);)
			end++;
		*len = (size_t)(end - begin);
		return begin;
	}
	return NULL;
}

void duck_hint_event(const char *sql, bool (*is_table)(void *data, const char *name), void *data, struct hodo_why *e)
{
	char name[128], pair[160];
	size_t len;
	const char *event = find_event(sql, &len);

	if (!event || len >= sizeof(name))
		return;
	memcpy(name, event, len);
	name[len] = 0;
	snprintf(pair, sizeof(pair), "%s.begin", name);
	if (is_table(data, name))
		append(e, ": write \"%s\", in double quotes", name);
	else if (is_table(data, pair))
		append(e, ": a span is in the table spans: FROM spans WHERE name = '%s'", name);
}

bool duck_hint_file(const struct hodo_why *e, char *path, size_t bytes)
{
	static const char suffix[] = ".parquet";
	const char *end = strstr(e->text, suffix), *begin = end;

	if (!end)
		return false;
	end += strlen(suffix);
	/* Quoted, or a word of its own. */
	while (begin > e->text && !strchr("'\"", begin[-1]) && !(begin[-1] == ' ' && *begin == '/'))
		begin--;
	if (begin == e->text || (size_t)(end - begin) >= bytes)
		return false;
	memcpy(path, begin, (size_t)(end - begin));
	path[end - begin] = 0;
	return true;
}

void duck_hint_folder(struct hodo_why *e, char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return;
	*slash = 0;
	if (access(path, F_OK) != 0)
		append(e, ": there is no directory %s: make it", path);
}
