/* SPDX-License-Identifier: MIT */
#include "quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000

int hodo_parse_number(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || n > (max - digit) / 10 || digit > max)
			return -EINVAL;
		n = n * 10 + digit;
	}
	*number = n;
	return 0;
}

int hodo_parse_hex(const char *text, uint64_t *number)
{
	size_t len = strlen(text);

	if (len == 0 || len > 16 || strspn(text, "0123456789abcdefABCDEF") != len)
		return -EINVAL;
	*number = strtoull(text, NULL, 16);
	return 0;
}

int hodo_parse_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "kmgt";
	char digits[32];
	size_t len = strspn(text, "0123456789");
	const char *rest = text + len;
	unsigned shift = 0;
	uint64_t n;

	if (len == 0 || len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = 0;
	if (*rest) {
		const char *s = strchr(suffixes, *rest | 0x20);

		if (!s || !*s)
			return -EINVAL;
		shift = 10 * (unsigned)(s - suffixes + 1);
		rest++;
		if (rest[0] == 'i' && rest[1] == 'B')
			rest += 2;
		else if (rest[0] == 'B')
			rest++;
	}
	if (*rest || hodo_parse_number(digits, UINT64_MAX >> shift, &n) < 0)
		return -EINVAL;
	*bytes = n << shift;
	return 0;
}

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60 * 1000000000ll },
	{ "h", 3600 * 1000000000ll },
	{ "d", 24 * 3600 * 1000000000ll },
};
#define UNITS (sizeof(units) / sizeof(*units))

int64_t hodo_time_unit_ns(const char *name, size_t len)
{
	for (size_t i = 0; i < UNITS; i++)
		if (strlen(units[i].name) == len && memcmp(units[i].name, name, len) == 0)
			return units[i].ns;
	return 0;
}

int hodo_parse_time(const char *text, enum hodo_time_form form, int64_t *ns)
{
	unsigned __int128 value = 0; /* in 1e-9 of the unit */
	int64_t unit = form == HODO_TIME_BARE ? 1000000000 : 0;
	unsigned digits = 0, decimals = 0;

	for (; *text >= '0' && *text <= '9' && digits <= 19; text++, digits++)
		value = value * 10 + (unsigned)(*text - '0');
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9' && decimals < 9; text++, decimals++)
			value = value * 10 + (unsigned)(*text - '0');
		if (decimals == 0)
			return -EINVAL;
	}
	if (digits + decimals == 0)
		return -EINVAL;
	for (; decimals < 9; decimals++)
		value *= 10;
	if (*text)
		unit = hodo_time_unit_ns(text, strlen(text));
	if (unit == 0 || value / 1000000000 > (uint64_t)(INT64_MAX / unit))
		return -EINVAL;
	value = (value * (uint64_t)unit + 500000000) / 1000000000;
	if (value > INT64_MAX)
		return -EINVAL;
	*ns = (int64_t)value;
	return 0;
}

const char *hodo_time_text(int64_t ns, char buf[32])
{
	size_t i = UNITS - 1;

	while (i > 0 && (ns < units[i].ns || ns % units[i].ns))
		i--;
	snprintf(buf, 32, "%lld%s", (long long)(ns / units[i].ns), units[i].name);
	return buf;
}

const char *hodo_clock_text(int64_t ts_ns, char buf[32])
{
	int64_t ns = ts_ns % NS_PER_S;
	time_t second = (time_t)(ts_ns / NS_PER_S) - (ns < 0);
	char hms[16] = "??:??:??";
	struct tm tm;

	if (localtime_r(&second, &tm))
		strftime(hms, sizeof(hms), "%H:%M:%S", &tm);
	snprintf(buf, 32, "%s.%09u", hms, (unsigned)(ns < 0 ? ns + NS_PER_S : ns) % NS_PER_S);
	return buf;
}

const char *hodo_grouped(uint64_t n, char buf[32])
{
	char *p = buf + 31;
	unsigned digits = 0;

	*p = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	return p;
}

const char *hodo_duration(uint64_t ns, char buf[32])
{
	if (ns < 1000000)
		snprintf(buf, 32, "%3u.%03u us", (unsigned)(ns / 1000), (unsigned)(ns % 1000));
	else if (ns < 1000000000)
		snprintf(buf, 32, "%3u.%03u ms", (unsigned)(ns / 1000000), (unsigned)(ns / 1000 % 1000));
	else
		snprintf(buf, 32, "%3llu.%03u s ", (unsigned long long)(ns / 1000000000),
			 (unsigned)(ns / 1000000 % 1000));
	return buf;
}

const char *hodo_duration_plain(uint64_t ns, char buf[32])
{
	char *to = buf;

	hodo_duration(ns, buf);
	for (const char *from = buf; *from; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = 0;
	return buf;
}

const char *hodo_size_text(uint64_t n, char buf[32])
{
	static const char units[] = "KMGT";
	unsigned i = 0;

	for (; n && n % 1024 == 0 && i + 1 < sizeof(units); i++)
		n /= 1024;
	snprintf(buf, 32, "%" PRIu64 "%.1s", n, i ? &units[i - 1] : "");
	return buf;
}

const char *hodo_human_bytes(uint64_t n, char buf[32])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)n / 1024;
	unsigned i = 0;

	if (n < 1024) {
		snprintf(buf, 32, "%u B", (unsigned)n);
		return buf;
	}
	for (; v >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		v /= 1024;
	snprintf(buf, 32, "%.1f %s", v, units[i]);
	return buf;
}
