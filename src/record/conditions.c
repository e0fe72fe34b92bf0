/* SPDX-License-Identifier: MIT */
/* conditions.c - triggers and rates: parses and sends them. */
#include "conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/quantity.h>
#include <core/condition.h>
#include <read/event/filter_compile.h>

#include <record/ring/shm.h>

#define TEXT_MAX 2560u
#define RATE_MAX 1000000000u
#define BURST_S 0.1 /* by default, that many seconds' worth of events may come in a row */

#define ACTIONS "snapshot, start, stop or exit"

/* ------------------------------------------------------------------- parts */

/* The text being parsed, and where the message for the user goes. */
struct input {
	const char *text;
	struct hodo_why *why;
};

static int wrong(const struct input *in, const char *at, const char *what)
{
	return hodo_why(in->why, -EINVAL, "%s at column %zu", what, (size_t)(at - in->text) + 1);
}

static const char *skip_spaces(const char *p)
{
	return p + strspn(p, " \t\n");
}

static size_t word_len(const char *p)
{
	return strcspn(p, " \t\n");
}

static bool is_word(const char *p, const char *word)
{
	return word_len(p) == strlen(word) && strncmp(p, word, strlen(word)) == 0;
}

/* Where an expression ends: before "->" outside of quotes, before a last "after N", or at the end of the
 * text. */
static const char *expression_end(const char *p)
{
	const char *end, *number;
	char quote = 0;

	for (end = p; *end; end++) {
		if (quote && *end == '\\' && end[1])
			end++;
		else if (quote)
			quote = *end == quote ? 0 : quote;
		else if (*end == '"' || *end == '\'')
			quote = *end;
		else if (end[0] == '-' && end[1] == '>')
			return end;
	}
	number = end;
	while (number > p && strchr(" \t\n", number[-1]))
		number--;
	for (end = number; number > p && number[-1] >= '0' && number[-1] <= '9'; number--)
		;
	if (number == end || number == p || !strchr(" \t\n", number[-1]))
		return end;
	while (number > p && strchr(" \t\n", number[-1]))
		number--;
	return number - p > 6 && strncmp(number - 5, "after", 5) == 0 && strchr(" \t\n)\"'", number[-6]) ? number - 5 :
													    end;
}

/* An integer from 1 on, followed only by one of ends. 0 if it is not valid. */
static uint64_t number_at(const char **p, const char *ends, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(*p, &end, 10);
	if (**p < '0' || **p > '9' || errno || v == 0 || v > max || (*end && !strchr(ends, *end)))
		return 0;
	*p = end;
	return v;
}

/* ------------------------------------------------------------------- adding */

static const char *event_flaw(const char *name)
{
	if (!name[0])
		return "expected an event";
	if (name[0] == '!' || strchr(name, ','))
		return "give one event, or one pattern";
	if (strcmp(name, "func") == 0 || strncmp(name, "func:", 5) == 0)
		return "functions take no conditions: name one of the program's events";
	return NULL;
}

/* The event of a condition, with which it begins. */
static int add_event(struct hodo_conditions *c, const struct input *in, const char *text, size_t len)
{
	char name[HODO_CONDITION_PATTERN_MAX] = "";
	const char *flaw = "the event's name is too long";

	if (len < sizeof(name)) {
		memcpy(name, text, len);
		flaw = event_flaw(name);
	}
	return flaw ? wrong(in, in->text, flaw) : hodo_pattern_add(&c->patterns, name, in->why);
}

static int add_expression(struct hodo_conditions *c, struct hodo_condition_asked *a, const struct input *in,
			  const char *from, const char *end)
{
	uint8_t code[HODO_FILTER_MAX];
	char expr[TEXT_MAX];
	size_t before = (size_t)(from - in->text), len = (size_t)(end - from);
	int err;

	/* Columns refer to the whole text. */
	memset(expr, ' ', before);
	memcpy(expr + before, from, len);
	expr[before + len] = 0;
	err = hodo_filter_compile_live(expr, code, sizeof(code), &a->filter_len, in->why);
	if (err)
		return err;
	a->filter = malloc(a->filter_len);
	if (!a->filter || hodo_pattern_add_fields(&c->fields, code, a->filter_len) < 0)
		return hodo_why_memory(in->why);
	memcpy(a->filter, code, a->filter_len);
	return 0;
}

static const char *const actions[] = {
	[HODO_CONDITION_SNAPSHOT] = "snapshot",
	[HODO_CONDITION_START] = "start",
	[HODO_CONDITION_STOP] = "stop",
	[HODO_CONDITION_EXIT] = "exit",
};

/* "-> ACTION" and "after N", both optional. */
static int add_action(struct hodo_condition_asked *a, const struct input *in, const char *p)
{
	a->kind = HODO_CONDITION_SNAPSHOT;
	if (p[0] == '-' && p[1] == '>') {
		int kind = HODO_CONDITION_EXIT;

		p = skip_spaces(p + 2);
		while (kind >= HODO_CONDITION_SNAPSHOT && !is_word(p, actions[kind]))
			kind--;
		if (kind < HODO_CONDITION_SNAPSHOT)
			return wrong(in, p, "expected " ACTIONS);
		a->kind = (enum hodo_condition_kind)kind;
		p = skip_spaces(p + word_len(p));
	}
	if (is_word(p, "after")) {
		p = skip_spaces(p + 5);
		a->after = (uint32_t)number_at(&p, " \t\n", UINT32_MAX);
		if (!a->after)
			return wrong(in, p, "expected a number from 1 on");
		p = skip_spaces(p);
	}
	return *p ? wrong(in, p, "expected 'if EXPR', '-> ACTION' or 'after N'") : 0;
}

static int parse_trigger(struct hodo_conditions *c, struct hodo_condition_asked *a, const struct input *in)
{
	const char *p = skip_spaces(in->text), *from;
	int err = add_event(c, in, p, word_len(p));

	p = skip_spaces(p + word_len(p));
	if (!err && p[0] == 'i' && p[1] == 'f' && strchr(" \t\n(", p[2])) {
		from = p + 2;
		p = expression_end(from);
		err = add_expression(c, a, in, from, p);
		p = skip_spaces(p);
	}
	return err ? err : add_action(a, in, p);
}

static int parse_rate(struct hodo_conditions *c, struct hodo_condition_asked *a, const struct input *in)
{
	const char *p = strrchr(in->text, '=');
	int err = p ? add_event(c, in, in->text, (size_t)(p - in->text)) :
		      hodo_why(in->why, -EINVAL, "expected EVENT=N/s");
	uint64_t n;
	double unit;
	size_t len;

	if (err)
		return err;
	if (p - in->text > 4 && strncmp(p - 4, ".end", 4) == 0)
		return wrong(in, p - 4, "the end of a span follows its begin: give the span's name");
	p++;
	n = number_at(&p, "/", RATE_MAX);
	if (n == 0)
		return wrong(in, p, "expected a number of events from 1 to 1000000000");
	if (*p != '/')
		return wrong(in, p, "expected '/s' (or /ms, /m, /h)");
	p++;
	len = strcspn(p, ":");
	unit = (double)hodo_time_unit_ns(p, len) / 1e9;
	if (unit == 0)
		return wrong(in, p, "expected ns, us, ms, s, m, h or d");
	p += len;
	a->kind = HODO_CONDITION_RATE;
	a->interval_s = unit / (double)n;
	a->burst = (uint64_t)(BURST_S / a->interval_s);
	if (a->burst == 0)
		a->burst = 1;
	if (*p == ':') {
		p++;
		a->burst = number_at(&p, "", RATE_MAX);
		if (a->burst == 0)
			return wrong(in, p, "expected how many events may come at once");
	}
	return 0;
}

/* Keeps the text of a parsed condition if there is room for it besides the others in CONFIG. */
static int keep(struct hodo_conditions *c, struct hodo_condition_asked *a, const struct input *in)
{
	size_t bytes = sizeof(struct hodo_condition) + a->filter_len + strlen(c->patterns.pattern[c->n].text) + 1;

	if (c->bytes + bytes > HODO_EXTRAS_MAX - sizeof(struct hodo_context_config))
		return hodo_why(in->why, -EINVAL,
				 "too many triggers: together their expressions are too long");
	a->text = strdup(in->text);
	if (!a->text)
		return hodo_why_memory(in->why);
	c->bytes += bytes;
	c->n++;
	return 0;
}

static int add(struct hodo_conditions *c, const char *text, struct hodo_why *why,
	       int (*parse)(struct hodo_conditions *c, struct hodo_condition_asked *a, const struct input *in))
{
	const struct input in = { text, why };
	struct hodo_condition_asked *a = &c->asked[c->n];
	int err;

	if (c->n == HODO_CONDITIONS_MAX)
		return hodo_why(why, -EINVAL, "more than %u triggers and rates", HODO_CONDITIONS_MAX);
	if (strlen(text) >= TEXT_MAX)
		return hodo_why(why, -EINVAL, "longer than %u bytes", TEXT_MAX - 1);
	memset(a, 0, sizeof(*a));
	err = parse(c, a, &in);
	if (!err)
		err = keep(c, a, &in);
	if (err) {
		free(a->filter);
		memset(a, 0, sizeof(*a));
	}
	return err;
}

int hodo_conditions_add_trigger(struct hodo_conditions *c, const char *text, struct hodo_why *why)
{
	return add(c, text, why, parse_trigger);
}

int hodo_conditions_add_rate(struct hodo_conditions *c, const char *text, struct hodo_why *why)
{
	return add(c, text, why, parse_rate);
}

void hodo_conditions_free(struct hodo_conditions *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->asked[i].text);
		free(c->asked[i].filter);
	}
	hodo_pattern_free(&c->patterns);
	hodo_pattern_free(&c->fields);
	memset(c, 0, sizeof(*c));
}

bool hodo_conditions_have(const struct hodo_conditions *c, enum hodo_condition_kind kind)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->asked[i].kind == kind)
			return true;
	return false;
}

/* ------------------------------------------------------------------- sending */

static uint64_t ticks(double n)
{
	return n < 1 ? 1 : n > (double)HODO_CONDITION_TICKS_MAX ? HODO_CONDITION_TICKS_MAX : (uint64_t)n;
}

void hodo_conditions_pack(const struct hodo_conditions *c, uint64_t ticks_per_s, uint8_t *to)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct hodo_condition_asked *a = &c->asked[i];
		const char *pattern = c->patterns.pattern[i].text;
		struct hodo_condition head = {
			.kind = a->kind, .after = a->after, .pattern_len = (uint32_t)strlen(pattern) + 1,
			.filter_len = (uint32_t)a->filter_len,
		};

		if (a->kind == HODO_CONDITION_RATE) {
			head.interval_ticks = ticks(a->interval_s * (double)ticks_per_s);
			if (a->burst > 1)
				head.burst_ticks = ticks((double)(a->burst - 1) * a->interval_s * (double)ticks_per_s);
		}
		memcpy(to, &head, sizeof(head));
		to += sizeof(head);
		memcpy(to, pattern, head.pattern_len);
		to += head.pattern_len;
		if (a->filter_len)
			memcpy(to, a->filter, a->filter_len);
		to += a->filter_len;
	}
}

void hodo_conditions_see(struct hodo_conditions *c, const struct hodo_catalog *catalog, uint32_t first)
{
	hodo_pattern_see(&c->patterns, catalog, first);
	hodo_pattern_see_fields(&c->fields, catalog, first);
}

void hodo_conditions_count(const struct hodo_conditions *c, const uint8_t *shm, uint64_t met[HODO_CONDITIONS_MAX])
{
	for (uint32_t i = 0; i < c->n; i++)
		met[i] += hodo_shm_load64((const uint64_t *)(shm + HODO_SHM_MATCHED) + i);
}

static uint64_t believed(uint64_t n, uint64_t most)
{
	return n <= most ? n : 0;
}

uint64_t hodo_conditions_limited(const uint8_t *shm, uint64_t most)
{
	return believed(hodo_shm_load64(&((const struct hodo_shm *)shm)->limited), most);
}

uint64_t hodo_conditions_limited_event(const uint8_t *shm, uint16_t id, uint64_t most)
{
	return believed(hodo_shm_load64((const uint64_t *)(shm + HODO_SHM_LIMITED) + id), most);
}
