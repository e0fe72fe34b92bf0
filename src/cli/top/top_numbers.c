/* SPDX-License-Identifier: MIT */
#include "top_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <base/quantity.h>

const char *hodo_top_number_text(uint32_t n, char buf[32])
{
	snprintf(buf, 32, "%" PRIu32, n);
	return buf;
}

/* 1234567 as 1.23M, in 5 columns. */
static const char *scaled(double n, double unit, char buf[32])
{
	static const char suffix[] = " kMGTPE";
	int i = 0;

	for (; n >= unit - 0.5 && suffix[i + 1]; i++)
		n /= unit;
	if (i == 0)
		snprintf(buf, 32, n < 9.95 && n > 0 && unit == 1000 ? "%.1f" : "%.0f", n);
	else
		snprintf(buf, 32, "%.*f%c", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, suffix[i]);
	return buf;
}

const char *hodo_top_count_text(uint64_t n, int width, char buf[32])
{
	const char *grouped = hodo_grouped(n, buf);

	return (int)strlen(grouped) <= width ? grouped : scaled((double)n, 1000, buf);
}

const char *hodo_top_rate_text(double rate, int width, char buf[32])
{
	return rate > 0 && rate < 9.95 ? scaled(rate, 1000, buf) :
					 hodo_top_count_text((uint64_t)(rate + 0.5), width, buf);
}

const char *hodo_top_bytes_text(double n, int width, char buf[32])
{
	return width < 10 ? scaled(n, 1024, buf) : hodo_human_bytes((uint64_t)(n + 0.5), buf);
}

/* Three digits: what comes from a histogram is right to 1 %. */
const char *hodo_top_time_text(uint64_t ns, char buf[32])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = (double)ns;
	int i = 0;

	for (; n >= 999.5 && i < 3; i++)
		n /= 1000;
	snprintf(buf, 32, "%.*f %s", i == 0 ? 0 : n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, units[i]);
	return buf;
}

const char *hodo_top_percent_text(double part, char buf[32])
{
	snprintf(buf, 32, "%.0f%%", part * 100);
	return buf;
}

const char *hodo_top_value_text(const struct hodo_cell *value, int width, char buf[32])
{
	double n = hodo_cell_number(value);
	char number[48];
	uint64_t whole = value->u;

	if (value->type == HODO_CELL_F64) {
		hodo_number(n, number);
		if ((int)strlen(number) > width)
			snprintf(number, sizeof(number), "%.*g", width > 12 ? 6 : 3, n);
		snprintf(buf, 32, "%.31s", number);
		return buf;
	}
	if (value->type == HODO_CELL_I64 && value->i < 0)
		whole = -(uint64_t)value->i;
	else
		return hodo_top_count_text(whole, width, buf);
	snprintf(number, sizeof(number), "-%s", hodo_top_count_text(whole, width - 1, buf));
	memcpy(buf, number, strlen(number) + 1);
	return buf;
}
