/* SPDX-License-Identifier: MIT */
/*
 * otlp_answer.c - reads the answer of a receiver, such as
 *
 *	{"partialSuccess":{"rejectedSpans":"3","errorMessage":"quota"}}
 *
 * JSON is searched for members of these names, not parsed: a string with a colon behind it is a member's name, and no
 * other member of such an answer has one of these. So nothing here recurses, or depends on what receivers add.
 */
#define _GNU_SOURCE
#include "otlp_answer.h"

#include "otlp_impl.h"

#include <base/escape.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Where the string ends whose first character is at p; NULL: it does not. */
static const char *string_end(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p : NULL;
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

/* 64 bits are a string in JSON that was made from protobuf, and a number where somebody writes it by hand. */
static uint64_t number_at(const char *p, const char *end)
{
	uint64_t n = 0;

	p += p < end && *p == '"';
	for (; p < end && isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (unsigned)(*p - '0'), &n))
			return INT64_MAX;
	return n;
}

static bool is(const char *name, const char *close, const char *member)
{
	size_t len = strlen(member);

	return (size_t)(close - name) == len && memcmp(name, member, len) == 0;
}

/* Escapes stay as they are written. */
static void take_member(struct hodo_otlp_answer *a, const char *name, const char *close, const char *value,
			const char *end)
{
	const char *last;

	if (is(name, close, "rejectedSpans") || is(name, close, "rejectedDataPoints") ||
	    is(name, close, "rejectedLogRecords")) {
		a->rejected = number_at(value, end);
	} else if (is(name, close, "errorMessage") && value < end && *value == '"') {
		last = string_end(value + 1, end);
		if (last)
			snprintf(a->why, sizeof(a->why), "%.*s", (int)(last - value - 1), value + 1);
	}
}

static void read_json(struct hodo_otlp_answer *a, const char *p, const char *end)
{
	const char *name, *close, *colon;

	while ((name = memchr(p, '"', (size_t)(end - p)))) {
		name++;
		close = string_end(name, end);
		if (!close)
			return;
		p = close + 1;
		colon = skip_space(p, end);
		if (colon < end && *colon == ':')
			take_member(a, name, close, skip_space(colon + 1, end), end);
	}
}

static void read_protobuf(struct hodo_otlp_answer *a, const void *data, size_t len)
{
	Otlp__Answer *answer = otlp__answer__unpack(NULL, len, data);
	const Otlp__PartialSuccess *partial = answer ? answer->partial_success : NULL;

	if (partial && partial->has_rejected && partial->rejected > 0) {
		a->rejected = (uint64_t)partial->rejected;
		snprintf(a->why, sizeof(a->why), "%s", partial->error_message ? partial->error_message : "");
	}
	if (answer)
		otlp__answer__free_unpacked(answer, NULL);
}

void hodo_otlp_answer_read(struct hodo_otlp_answer *answer, const char *type, const void *data, size_t len)
{
	const char *text = data;

	*answer = (struct hodo_otlp_answer){ 0 };
	if (!len)
		return;
	/* Some answer in the other form, or do not say in which. What is protobuf does not begin with '{'. */
	if (strcasestr(type, "json") || (!strcasestr(type, "protobuf") && *text == '{'))
		read_json(answer, text, text + len);
	else
		read_protobuf(answer, data, len);
	hodo_mask_unseen(answer->why);
}
