/* SPDX-License-Identifier: MIT */
/* record_limits.c - how much hodo record is asked to write, and in which parts. */
#include "record_limits.h"

#include <inttypes.h>
#include <string.h>

#include "cli.h"

#define VERB "record"
#define ROTATE_MIN_NS 1000000
#define KEEP_MAX 1000000u

/* 30s, 0.5s, 5m, 2h: small letters, while sizes have capital ones. 0 or -1. */
static int parse_time(const char *text, uint64_t *ns)
{
	size_t len = strlen(text);
	char number[32];
	int64_t value, unit;

	if (len < 2 || len > sizeof(number) || !strchr("smh", text[len - 1]))
		return -1;
	unit = text[len - 1] == 'm' ? 60 : text[len - 1] == 'h' ? 3600 : 1;
	memcpy(number, text, len - 1);
	number[len - 1] = 0;
	if (number[len - 2] == 's' || hodo_parse_seconds(number, &value) < 0 || value > INT64_MAX / 3600)
		return -1;
	*ns = (uint64_t)(value * unit);
	return *ns >= ROTATE_MIN_NS ? 0 : -1;
}

/* A size must say its unit: 30 alone could be a time. */
static int set_rotate(struct hodo_limits *l, const char *value)
{
	size_t len = strlen(value);
	bool time = len > 0 && strchr("smh", value[len - 1]);
	uint64_t n;

	if (time && parse_time(value, &n) == 0) {
		if (l->rotate_ns)
			return hodo_usage(VERB, "--rotate can be given one time, and one size, not two times");
		l->rotate_ns = n;
		return 0;
	}
	if (time || (len > 0 && value[len - 1] <= '9') || hodo_parse_size(value, &n) < 0 || n == 0)
		return hodo_usage(VERB, "--rotate is a size such as 64M, or a time such as 30s or 5m, not '%s'", value);
	if (l->rotate_bytes)
		return hodo_usage(VERB, "--rotate can be given one size, and one time, not two sizes");
	l->rotate_bytes = n;
	return 0;
}

int hodo_limit_options_set(struct hodo_limits *l, enum hodo_limit_option option, const char *value)
{
	uint64_t n;

	switch (option) {
	case HODO_LIMIT_MAX_SIZE:
		if (hodo_parse_size(value, &l->max_bytes) < 0 || l->max_bytes == 0)
			return hodo_usage(VERB, "--max-size is a size such as 500M or 2G, not '%s'", value);
		return 0;
	case HODO_LIMIT_ROTATE:
		return set_rotate(l, value);
	case HODO_LIMIT_KEEP:
		if (hodo_parse_number(value, KEEP_MAX, &n) < 0 || n == 0)
			return hodo_usage(VERB, "--keep is a number of parts from 1 on, not '%s'", value);
		l->keep = (uint32_t)n;
		return 0;
	case HODO_LIMIT_OPTIONS:
		break;
	}
	return HODO_EXIT_USAGE;
}

int hodo_limit_options_check(const struct hodo_limits *l, bool overwrite, uint32_t packet_size)
{
	const char *option = l->rotate_bytes || l->rotate_ns ? "--rotate" : l->max_bytes ? "--max-size" : NULL;
	char size[32];

	if (l->keep && !l->rotate_bytes && !l->rotate_ns)
		return hodo_usage(VERB, "--keep is for the parts that --rotate makes: add --rotate 64M, say");
	if (option && overwrite)
		return hodo_usage(VERB, "%s is for what is written all along, and --overwrite keeps the newest events in"
				  " memory: say how many with -m, or leave out --overwrite", option);
	/* A packet goes into one part, and there is to be one at least. */
	if (l->max_bytes && l->max_bytes < packet_size)
		return hodo_usage(VERB, "--max-size must hold a packet, which may have %s: a larger one, or a smaller -m",
				  hodo_human_bytes(packet_size, size));
	if (l->rotate_bytes && l->rotate_bytes < packet_size)
		return hodo_usage(VERB, "--rotate must hold a packet, which may have %s: a larger one, or a smaller -m",
				  hodo_human_bytes(packet_size, size));
	return 0;
}

void hodo_limit_options_tell(const struct hodo_session_stats *s)
{
	uint32_t removed = s->parts - s->parts_kept;

	if (removed)
		hodo_error("%" PRIu32 " part%s, %" PRIu32 " removed with %" PRIu64 " event%s, as --keep asks", s->parts,
			   s->parts == 1 ? "" : "s", removed, s->removed_events, s->removed_events == 1 ? "" : "s");
	else if (s->parts)
		hodo_error("%" PRIu32 " part%s", s->parts, s->parts == 1 ? "" : "s");
}
