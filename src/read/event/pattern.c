/* SPDX-License-Identifier: MIT */
/* pattern.c - a list of event patterns (-e). */
#include "pattern.h"

#include <errno.h>
#include <hodo/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/escape.h>
#include <core/filter.h>
#include <core/glob.h>

static const char *pattern_flaw(const struct hodo_pattern_list *list, const char *p, size_t len)
{
	size_t bang = len > 0 && p[0] == '!';
	const char *colon = memchr(p + bang, ':', len - bang);

	if (len == bang)
		return "an event pattern is empty";
	if (len > 2 * HODO_NAME_MAX)
		return "the event pattern is too long";
	if (colon && (colon == p + bang || colon == p + len - 1))
		return "an event pattern is PROVIDER:NAME";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)p[i] <= ' ' || (unsigned char)p[i] == 127)
			return "an event pattern cannot have spaces";
	if (list->n >= HODO_PATTERNS_MAX || list->bytes + len + 3 > HODO_CONFIG_TEXT_MAX)
		return "too many event patterns";
	return NULL;
}

size_t hodo_pattern_first(const char *list)
{
	return hodo_glob_first(list, strlen(list));
}

int hodo_pattern_add_others(struct hodo_pattern_list *list, const char *arg,
			    const char *(*flaw)(const struct hodo_pattern_list *list, const char *p, size_t len),
			    struct hodo_why *why)
{
	for (;;) {
		size_t len = hodo_pattern_first(arg);
		const char *wrong = flaw(list, arg, len);
		bool provider = flaw == pattern_flaw && !memchr(arg, ':', len);
		char shown[64 * HODO_ESCAPED_MAX], *text;

		if (wrong) {
			*hodo_escape_plain(shown, arg, len < 64 ? len : 63, false) = 0;
			return hodo_why(why, -EINVAL, "'%s': %s", shown, wrong);
		}
		if (asprintf(&text, "%.*s%s", (int)len, arg, provider ? ":*" : "") < 0)
			return hodo_why(why, -ENOMEM, "out of memory");
		if (hodo_vec_push(list->pattern, list->n, (struct hodo_pattern){ .text = text }) < 0) {
			free(text);
			return hodo_why(why, -ENOMEM, "out of memory");
		}
		list->included += text[0] != '!';
		list->bytes += strlen(text) + 1;
		if (!arg[len])
			return 0;
		arg += len + 1;
	}
}

int hodo_pattern_add(struct hodo_pattern_list *list, const char *arg, struct hodo_why *why)
{
	return hodo_pattern_add_others(list, arg, pattern_flaw, why);
}

static void free_pattern(struct hodo_pattern *p)
{
	free(p->near);
	free(p->text);
}

void hodo_pattern_remove(struct hodo_pattern_list *list, uint32_t i)
{
	struct hodo_pattern *p = &list->pattern[i];

	list->bytes -= strlen(p->text) + 1;
	list->included -= p->text[0] != '!';
	free_pattern(p);
	memmove(p, p + 1, (--list->n - i) * sizeof(*p));
}

void hodo_pattern_free(struct hodo_pattern_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free_pattern(&list->pattern[i]);
	free(list->pattern);
	memset(list, 0, sizeof(*list));
}

void hodo_pattern_pack(const struct hodo_pattern_list *list, uint8_t *to)
{
	for (uint32_t i = 0; i < list->n; i++) {
		size_t len = strlen(list->pattern[i].text) + 1;

		memcpy(to, list->pattern[i].text, len);
		to += len;
	}
}

void hodo_pattern_near(struct hodo_pattern *p, const char *name)
{
	if (!p->near)
		p->near = calloc(1, sizeof(*p->near));
	if (!p->near)
		return;
	p->near->wanted = p->text;
	hodo_near_look(p->near, name);
}

/* Of an event's name, ".begin" or ".end" of a span. */
static size_t suffix_of(const char *name)
{
	size_t len = strlen(name);

	if (len > 6 && strcmp(name + len - 6, ".begin") == 0)
		return 6;
	return len > 4 && strcmp(name + len - 4, ".end") == 0 ? 4 : 0;
}

/* As libhodo matches: a span's own name stands for its start and its end. */
static bool matches(const char *pattern, const char *name)
{
	size_t n = strlen(pattern), len = strlen(name), suffix = suffix_of(name);

	return hodo_glob_name(pattern, n, name, len) || (suffix && hodo_glob_name(pattern, n, name, len - suffix));
}

enum hodo_pattern_says hodo_pattern_says(const struct hodo_pattern_list *list, const char *name)
{
	bool included = list->included == 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const char *p = list->pattern[i].text;

		if (*p == '!' && matches(p + 1, name))
			return HODO_PATTERN_EXCLUDES;
		included |= *p != '!' && matches(p, name);
	}
	return included ? HODO_PATTERN_INCLUDES : HODO_PATTERN_NOTHING;
}

bool hodo_pattern_wants(const struct hodo_pattern_list *list, const char *name)
{
	return hodo_pattern_says(list, name) == HODO_PATTERN_INCLUDES;
}

int hodo_pattern_add_fields(struct hodo_pattern_list *list, const uint8_t *code, size_t len)
{
	const uint8_t *p = code + HODO_FILTER_HEADER;

	if (len < HODO_FILTER_HEADER)
		return 0;
	for (unsigned int i = code[3]; i > 0 && p < code + len && p[0] < code + len - p; i--, p += 1 + p[0]) {
		struct hodo_pattern *field;

		if (p[0] > 0 && p[1] == '$') /* no field */
			continue;
		field = hodo_vec_add(list->pattern, list->n);
		if (!field)
			return -ENOMEM;
		field->text = strndup((const char *)p + 1, p[0]);
		if (!field->text) {
			list->n--;
			return -ENOMEM;
		}
	}
	return 0;
}

void hodo_pattern_see_field(struct hodo_pattern_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct hodo_pattern *p = &list->pattern[i];

		p->matched |= strcmp(p->text, name) == 0;
		if (!p->matched)
			hodo_pattern_near(p, name);
	}
}

void hodo_pattern_see_event(struct hodo_pattern_list *list, const char *name)
{
	char span[2 * HODO_NAME_MAX + 2];

	snprintf(span, sizeof(span), "%.*s", (int)(strlen(name) - suffix_of(name)), name);
	for (uint32_t i = 0; i < list->n; i++) {
		struct hodo_pattern *p = &list->pattern[i];

		if (p->matched || p->text[0] == '!')
			continue;
		p->matched = matches(p->text, name);
		if (!p->matched)
			hodo_pattern_near(p, span);
	}
}

bool hodo_pattern_unknown(struct hodo_pattern_list *list, const char *what, struct hodo_text *out)
{
	bool any = false;

	for (uint32_t i = 0; i < list->n; i++) {
		struct hodo_pattern *p = &list->pattern[i];

		if (p->matched || p->reported || p->text[0] == '!')
			continue;
		hodo_text_printf(out, "%s'%s'", any ? "; " : what, p->text);
		for (unsigned j = 0; p->near && j < p->near->n; j++)
			hodo_text_printf(out, "%s%s", j ? ", " : " (near: ", p->near->name[j]);
		if (p->near && p->near->n)
			hodo_text_add(out, ")");
		p->reported = true;
		any = true;
	}
	return any;
}
