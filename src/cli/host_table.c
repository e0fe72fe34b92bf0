/* SPDX-License-Identifier: MIT */
#include "host_table.h"

#include <inttypes.h>

/* "+1.5ms", "-200us", "0". */
static void put_signed(struct hodo_text *to, int64_t ns)
{
	char buf[32];

	if (ns == 0) {
		hodo_text_char(to, '0');
		return;
	}
	hodo_text_char(to, ns < 0 ? '-' : '+');
	hodo_text_add(to, hodo_duration_plain(ns < 0 ? -(uint64_t)ns : (uint64_t)ns, buf));
}

static void put_offset(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	put_signed(to, ((const struct hodo_read_host *)row)->offset_ns);
}

static void put_drift(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	int64_t ppb = ((const struct hodo_read_host *)row)->drift_ppb;
	uint64_t n = ppb < 0 ? -(uint64_t)ppb : (uint64_t)ppb;

	hodo_text_printf(to, "%s%" PRIu64 ".%03" PRIu64 " ppm", ppb < 0 ? "-" : ppb > 0 ? "+" : "", n / 1000, n % 1000);
}

static void put_error(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_host *h = row;
	int64_t ns = h->error_ns;
	char buf[32];

	if (ns == 0)
		hodo_text_char(to, '0');
	else if (ns < 0)
		hodo_text_add(to, "not known");
	else
		hodo_text_printf(to, "±%s", hodo_duration_plain((uint64_t)ns, buf));
}

static struct hodo_cell error_cell(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	int64_t ns = ((const struct hodo_read_host *)row)->error_ns;

	return (struct hodo_cell){ .type = ns < 0 ? HODO_CELL_NULL : HODO_CELL_I64, .i = ns };
}

#define HOST(name) HODO_MEMBER(struct hodo_read_host, name)
static const struct hodo_column columns[] = {
	{ "host", "HOST", HODO_AS_TEXT, .most = 40, HOST(name) },
	{ "offset_ns", "OFFSET", HODO_AS_TEXT, 16, .put = put_offset, HOST(offset_ns) },
	{ "drift_ppb", "DRIFT", HODO_AS_TEXT, 14, .put = put_drift, HOST(drift_ppb) },
	{ "error_ns", "ERROR", HODO_AS_TEXT, 12, .put = put_error, .get = error_cell },
	{ "by", "KNOWN BY", HODO_AS_TEXT, 18, HOST(by) },
	{ "pairs", "MESSAGES", HODO_AS_COUNT, 10, HOST(pairs) },
	{ "processes", "PROCESSES", HODO_AS_ID, 9, HOST(processes) },
	{ "boot_id", "BOOT", HODO_AS_TEXT, 36, HOST(boot_id) },
};
const struct hodo_columns hodo_hosts_columns = { "hosts", HODO_COLUMNS(columns), .head = HODO_HEADING,
						 .text = "host,offset_ns,drift_ppb,error_ns,by,pairs,processes" };

struct hodo_table hodo_hosts_table(const struct hodo_read *r)
{
	struct hodo_table t = { .columns = &hodo_hosts_columns };
	const struct hodo_read_host *h = hodo_read_host(r, 0), **rows;
	uint32_t n = hodo_read_nhosts(r);

	if (!h || !h->by)
		return t;
	rows = hodo_must(calloc(n, sizeof(*rows)));
	for (uint32_t i = 0; i < n; i++)
		rows[i] = hodo_read_host(r, i);
	t.first = rows;
	t.n = n;
	return t;
}

void hodo_hosts_free(struct hodo_table *t)
{
	free((void *)(uintptr_t)t->first);
}
