/* SPDX-License-Identifier: MIT */
/* values.c - times and levels that options take, within bounds. */
#include "values.h"

#include <pack/compress.h>

#include "say.h"

int hodo_compress_level(const char *verb, const char *value, int *level)
{
	uint64_t n = HODO_COMPRESS_DEFAULT;

	if (value && (hodo_parse_number(value, HODO_COMPRESS_MAX, &n) < 0 || n == 0))
		return hodo_usage(verb, "--compress is a level from 1 (fast) to %u (small), not '%s'", HODO_COMPRESS_MAX,
				  value);
	*level = (int)n;
	return 0;
}

int hodo_set_time(int64_t *ns, const char *verb, const char *option, const char *text, enum hodo_time_form form,
		  int64_t min_ns, int64_t max_ns)
{
	char least[32], most[32];

	if (hodo_parse_time(text, form, ns) < 0 || (*ns == 0 && min_ns > 0))
		return hodo_usage(verb, "%s is a time such as %s (ns, us, ms, s, m, h, d), not '%s'", option,
				  form == HODO_TIME_BARE ? "10, 0.5, 100ms or 2m" : "10us, 5ms or 2m", text);
	if (*ns < min_ns || *ns > max_ns)
		return hodo_usage(verb, "%s is a time from %s to %s, not '%s'", option, hodo_time_text(min_ns, least),
				  hodo_time_text(max_ns, most), text);
	return 0;
}
