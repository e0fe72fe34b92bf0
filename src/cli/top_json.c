/* SPDX-License-Identifier: MIT */
/* top_json.c - hodo top --json: an interval as one line. */
#include "top.h"

#include <inttypes.h>

#include <hodo/abi.h>

#include "cli.h"

static void put_counts(FILE *f, const struct hodo_top_row *row)
{
	fprintf(f, "\"rate\":%.3f,\"count\":%" PRIu64 ",\"bytes\":%" PRIu64, row->events.rate, row->events.total,
		row->bytes.total);
}

static void put_events(FILE *f, const struct hodo_top_table *t)
{
	static const char *const on[] = {
		[HODO_TOP_GONE] = "null", [HODO_TOP_OFF] = "false", [HODO_TOP_ON] = "true", [HODO_TOP_MIXED] = "true",
	};

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hodo_top_row *row = &t->row[i];

		fprintf(f, "%s{\"name\":", i ? "," : "");
		hodo_put_json(f, row->name);
		fputc(',', f);
		put_counts(f, row);
		fprintf(f, ",\"limited\":%" PRIu64 ",\"on\":%s}", row->lost.total, on[row->state]);
	}
}

static void put_threads(FILE *f, const struct hodo_top_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hodo_top_row *row = &t->row[i];

		fprintf(f, "%s{\"pid\":%u,\"tid\":%u,\"comm\":", i ? "," : "", row->pid, row->number);
		hodo_put_json(f, row->name ? row->name : "");
		fputc(',', f);
		put_counts(f, row);
		fputc('}', f);
	}
}

static void put_cpus(FILE *f, const struct hodo_top_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hodo_top_row *row = &t->row[i];

		fprintf(f, "%s{\"cpu\":%" PRId64 ",", i ? "," : "",
			row->number == HODO_CPU_ANY ? -1 : (int64_t)row->number);
		put_counts(f, row);
		fprintf(f, ",\"lost\":%" PRIu64 "}", row->lost.total);
	}
}

void hodo_top_json(FILE *f, const struct hodo_top_model *m, int64_t real_ns)
{
	const struct hodo_session_lost *l = &m->causes;

	fprintf(f, "{\"ts\":%" PRId64 ",\"interval_ns\":%" PRId64 ",\"processes\":%u,\"events\":[", real_ns,
		m->interval_ns, m->live);
	put_events(f, &m->table[HODO_TOP_EVENTS]);
	fputs("],\"threads\":[", f);
	put_threads(f, &m->table[HODO_TOP_THREADS]);
	fputs("],\"cpus\":[", f);
	put_cpus(f, &m->table[HODO_TOP_CPUS]);
	fprintf(f, "],\"rate\":%.3f,\"recorded\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"limited\":%" PRIu64,
		m->events.rate, m->events.total, m->bytes.total, m->limited);
	fprintf(f, ",\"lost\":{\"full\":%" PRIu64 ",\"too_large\":%" PRIu64 ",\"busy\":%" PRIu64, l->full, l->too_large,
		l->busy);
	fprintf(f, ",\"overwritten\":%" PRIu64 ",\"unwritten\":%" PRIu64 ",\"damaged\":%" PRIu64 "}}\n", l->overwritten,
		l->unwritten, l->damaged);
}
