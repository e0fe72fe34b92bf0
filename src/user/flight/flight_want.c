/* SPDX-License-Identifier: MIT */
/* flight_want.c - which flight recorder is wanted: from the environment, or by hodo_flight_start(). */
#include <hodo/control.h>
#include "flight.h"
#include <user/libc/sys.h>
#include <user/process/process.h>

#define BYTES_DEFAULT (1u << 20)
#define KEEP_DEFAULT 64u
#define KEEP_MAX 1000000u
#define PATTERN_MAX (2 * HODO_NAME_MAX)
#define PATTERNS_MAX 1024u

struct hodo_flight_want hodo_flight_want;

/* Reads a number up to max. Returns where it ends; NULL: it is not a number. */
static const char *parse_number(const char *text, uint64_t max, uint64_t *n)
{
	if (!text || *text < '0' || *text > '9')
		return 0;
	for (*n = 0; *text >= '0' && *text <= '9'; text++) {
		*n = *n * 10 + (uint64_t)(*text - '0');
		if (*n > max)
			return 0;
	}
	return text;
}

/* Bytes with K, M, G; 0 if it is not valid. */
static uint64_t parse_bytes(const char *text)
{
	uint64_t n, unit = 1;

	text = parse_number(text, HODO_RING_MAX, &n);
	if (!text)
		return 0;
	if (*text) {
		const char c = *text++ | 32;

		unit = c == 'k' ? 1u << 10 : c == 'm' ? 1u << 20 : c == 'g' ? 1u << 30 : 0;
	}
	if (*text || !unit || n > HODO_RING_MAX / unit || n * unit < HODO_PAGE)
		return 0;
	return n * unit;
}

static void want_bytes(uint64_t bytes)
{
	uint64_t n = HODO_PAGE;

	while (n < bytes)
		n *= 2;
	hodo_flight_want.bytes = bytes ? n : BYTES_DEFAULT;
}

static void want_keep(const char *text)
{
	uint64_t n;
	const char *end = parse_number(text, KEEP_MAX, &n);

	hodo_flight_want.keep = end && !*end ? (uint32_t)n : KEEP_DEFAULT;
}

static bool add_pattern(const char *p, size_t len)
{
	struct hodo_flight_want *want = &hodo_flight_want;
	size_t bang = len > 0 && p[0] == '!';
	const char *colon = len > bang ? memchr(p + bang, ':', len - bang) : 0;
	size_t n = want->patterns_len;

	if (len == bang || len > PATTERN_MAX || (colon && (colon == p + bang || colon == p + len - 1)))
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)p[i] <= ' ' || p[i] == 127)
			return false;
	}
	if (want->patterns >= PATTERNS_MAX || n + len + 3 > sizeof(want->text))
		return false;
	__builtin_memcpy(want->text + n, p, len);
	n += len;
	if (!colon) { /* "kv" is "kv:*" */
		want->text[n++] = ':';
		want->text[n++] = '*';
	}
	want->text[n++] = 0;
	want->patterns++;
	want->patterns_len = (uint32_t)n;
	return true;
}

/* Comma-separated patterns, as in read/event/pattern.c. NULL or empty: none. */
static bool want_events(const char *patterns)
{
	hodo_flight_want.patterns = hodo_flight_want.patterns_len = 0;
	if (!patterns || !*patterns)
		return true;
	for (;;) {
		size_t n = 0;

		while (patterns[n] && patterns[n] != ',')
			n++;
		if (!add_pattern(patterns, n))
			return false;
		if (!patterns[n])
			return true;
		patterns += n + 1;
	}
}

static void want_clock(const char *name)
{
	if (name && __builtin_strncmp(name, "tsc", 4) == 0)
		hodo_flight_want.clock = HODO_CLOCK_TSC;
	else if (name && __builtin_strncmp(name, "monotonic", 10) == 0)
		hodo_flight_want.clock = HODO_CLOCK_MONOTONIC;
}

void hodo_flight_init(char *const *envp)
{
	const char *dir = hodo_environment(envp, HODO_FLIGHT_ENV);
	struct hodo_flight_want *want = &hodo_flight_want;

	if (!dir || !*dir)
		return;
	want->bad = hodo_flight_path_dir(want->env, dir);
	if (want->bad)
		want->env[0] = 0;
	__builtin_memcpy(want->dir, want->env, sizeof(want->dir));
	want->lazy = hodo_flight_wanted = true;
	want_keep(hodo_environment(envp, HODO_FLIGHT_KEEP_ENV));
	want_clock(hodo_environment(envp, HODO_CLOCK_ENV));
	want_bytes(parse_bytes(hodo_environment(envp, HODO_FLIGHT_SIZE_ENV)));
	if (!want_events(hodo_environment(envp, HODO_FLIGHT_EVENTS_ENV)))
		want->bad = -EINVAL;
}

int hodo_flight_want_start(const struct hodo_flight_options *o)
{
	struct hodo_flight_want *want = &hodo_flight_want;
	int error = 0;

	if (o->directory)
		error = hodo_flight_path_dir(want->dir, o->directory);
	else
		__builtin_memcpy(want->dir, want->env, sizeof(want->dir));
	if (!error && !want_events(o->events))
		error = -EINVAL;
	if (error)
		return error;
	if (!want->keep)
		want->keep = KEEP_DEFAULT;
	want_bytes(o->buffer_bytes);
	want->waiting = want->lazy = false;
	want->bad = 0;
	return 0;
}
