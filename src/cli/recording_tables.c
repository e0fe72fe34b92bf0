/* SPDX-License-Identifier: MIT */
/* recording_tables.c - the tables of a recording's events, processes and hosts. */
#include "recording_tables.h"
#include "selection.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* A rate over no time is meaningless. */
static struct hodo_cell per_second(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stat *s = t->context;
	double seconds = (double)s->duration_ns / 1e9;
	struct hodo_cell v = hodo_cell_u64(0);

	v.blank = seconds <= 0;
	if (!v.blank)
		v.u = (uint64_t)((double)((const struct hodo_stat_row *)row)->count / seconds + 0.5);
	return v;
}

static const struct hodo_column event[] = {
	{ "name", "EVENT", HODO_AS_TEXT, 0, HODO_IDENTITY, HODO_MEMBER(struct hodo_stat_row, name.data), .most = 60,
	  .style = HODO_NAME },
	{ "count", "COUNT", HODO_AS_COUNT, 15, 0, HODO_MEMBER(struct hodo_stat_row, count) },
	{ "per_second", "PER SECOND", HODO_AS_COUNT, 15, HODO_TEXT_ONLY, .get = per_second },
	{ "bytes", "SIZE", HODO_AS_BYTES, 11, 0, HODO_MEMBER(struct hodo_stat_row, bytes) },
	{ "limited", "OVER RATE", HODO_AS_COUNT, 15, HODO_IF_ANY, HODO_MEMBER(struct hodo_stat_row, limited) },
};
const struct hodo_columns hodo_stat_columns = { "events", HODO_COLUMNS(event), .sort = "count", .head = HODO_HEADING,
						.text = "name,count,per_second,bytes,limited",
						.diff = "count,per_second,bytes" };

static void make_rows(struct hodo_stat *s)
{
	s->rows = (struct hodo_map)HODO_MAP_BYTES(struct hodo_stat_row);
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);

		for (uint32_t k = 0; k < p->nclasses; k++) {
			const struct hodo_read_class *c = p->classes[k];
			struct hodo_stat_row *row;

			if (!c->count && !c->limited)
				continue;
			row = hodo_must(hodo_map_add_bytes(&s->rows, c->name, strlen(c->name), NULL));
			row->count += c->count;
			row->bytes += c->bytes;
			row->limited += c->limited;
		}
	}
	s->table = (struct hodo_table){ .columns = &hodo_stat_columns, .context = s, .first = s->rows.entries,
					.n = s->rows.n, .stride = sizeof(struct hodo_stat_row), .total = &s->total };
}

void hodo_stat_free(struct hodo_stat *s)
{
	hodo_table_free(&s->table);
	hodo_map_free(&s->rows);
}

int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r, const struct hodo_show *look)
{
	int err;

	*s = (struct hodo_stat){ .r = r, .totals.size = sizeof(s->totals) };
	err = hodo_read_count(r, &s->totals);
	if (err < 0)
		return err;
	s->duration_ns = (uint64_t)s->totals.end_ns - (uint64_t)s->totals.begin_ns;
	s->total = (struct hodo_stat_row){ { "total", 5 }, s->totals.events, s->totals.bytes,
					   hodo_read_limited(r, NULL) };
	make_rows(s);
	hodo_table_arrange(&s->table, look);
	return 0;
}

void hodo_stat_put_table(struct hodo_text *to, const struct hodo_stat *s, bool color)
{
	bool kernel = false;
	uint32_t n = 0;
	char whom[48];

	hodo_table_put(to, &s->table, color);
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);

		if (s->args && !hodo_selects_process(s->args, p))
			continue;
		kernel |= p->kernel != NULL;
		n++;
	}
	hodo_text_printf(to, "\nin %llu.%09llu s, %s\n", (unsigned long long)(s->duration_ns / 1000000000),
		(unsigned long long)(s->duration_ns % 1000000000),
		hodo_whom(kernel, n, whom));
}

/* --------------------------------------------------------------------- processes */

static void add_process(struct hodo_process_row *row, const struct hodo_read_process *p)
{
	row->bytes += p->bytes;
	row->streams += p->nstreams;
	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_stream *t = p->streams[i];

		if (!t->packets)
			continue;
		if (!row->packets || t->begin_ns < row->begin_ns)
			row->begin_ns = t->begin_ns;
		if (!row->packets || t->end_ns > row->end_ns)
			row->end_ns = t->end_ns;
		row->events += t->events - t->damaged;
		row->packets += t->packets;
	}
}

struct hodo_process_row hodo_process_row(const struct hodo_read *r, const struct hodo_read_process *p)
{
	static const char *const starts[] = { [HODO_START_EXEC] = "exec", [HODO_START_FORK] = "fork",
					      [HODO_START_ATTACH] = "attach" };
	struct hodo_process_row row = { .start = "" };

	if (p) {
		row.p = *p;
		if (p->start < sizeof(starts) / sizeof(starts[0]) && starts[p->start])
			row.start = starts[p->start];
		row.mode = p->mode == HODO_MODE_OVERWRITE ? "overwrite" : "discard";
		row.clock = p->clock.kind == HODO_CLOCK_TSC ? "tsc" : "monotonic";
		add_process(&row, p);
	}
	for (uint32_t i = 0; !p && i < hodo_read_nprocesses(r); i++)
		add_process(&row, hodo_read_process(r, i));
	row.duration_ns = row.end_ns > row.begin_ns ? (uint64_t)row.end_ns - (uint64_t)row.begin_ns : 0;
	row.lost = hodo_read_lost(r, p);
	row.discarded = hodo_lost_discarded(&row.lost);
	row.lost_all = hodo_lost_all(&row.lost);
	row.limited = hodo_read_limited(r, p);
	return row;
}

static void put_build_id(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_object *o = row;

	for (uint32_t i = 0; i < o->build_id_len && i < sizeof(o->build_id); i++)
		hodo_text_printf(to, "%02x", o->build_id[i]);
}

static void put_program(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_process *p = &((const struct hodo_process_row *)row)->p;

	hodo_add_plain(to, *p->exe ? p->exe : p->comm);
	if (p->kernel) {
		hodo_text_char(to, ' ');
		hodo_add_plain(to, p->kernel);
	}
	hodo_text_add(to, p->mode == HODO_MODE_OVERWRITE ? " (flight recorder)" : "");
	hodo_text_add(to, p->complete ? "" : " (interrupted)");
}

/* Whether a library that was loaded several times is already listed; only recent ones are compared. */
static bool was_listed(const struct hodo_read_process *p, uint32_t i)
{
	const struct hodo_read_object *o = &p->objects[i];

	for (uint32_t k = i; k-- > 0 && i - k <= 64;)
		if (p->objects[k].functions == o->functions && strcmp(p->objects[k].path, o->path) == 0 &&
		    memcmp(p->objects[k].build_id, o->build_id, sizeof(o->build_id)) == 0)
			return true;
	return false;
}

/* Objects with functions to trace; the others only carry names. */
void hodo_process_put_below(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_process *p = &((const struct hodo_process_row *)row)->p;
	char buf[32];

	if (p->snapshot_why) {
		hodo_text_add(to, "            snapshot");
		if (p->snapshot_number)
			hodo_text_printf(to, " %u", p->snapshot_number);
		hodo_text_add(to, ": ");
		hodo_add_plain(to, p->snapshot_why);
		hodo_text_add(to, ", ");
		hodo_put_when(to, p->snapshot_ns);
	}
	for (uint32_t i = 0; i < p->nobjects; i++) {
		const struct hodo_read_object *o = &p->objects[i];

		if (!o->functions || was_listed(p, i))
			continue;
		hodo_text_printf(to, "            %s function%s in ", hodo_grouped(o->functions, buf),
				 o->functions == 1 ? "" : "s");
		hodo_add_plain(to, o->path);
		hodo_text_add(to, o->build_id_len ? ", build-id " : "");
		put_build_id(to, t, o);
		hodo_text_char(to, '\n');
	}
	for (uint32_t i = 0; i < p->nwarnings; i++) {
		hodo_text_add(to, "            warning: ");
		hodo_add_plain(to, p->warnings[i]);
		hodo_text_char(to, '\n');
	}
}

#define LOST(name) HODO_MEMBER(struct hodo_read_lost, name)
static const struct hodo_column lost[] = {
	{ "full", .as = HODO_AS_COUNT, LOST(full) }, { "too_large", .as = HODO_AS_COUNT, LOST(too_large) },
	{ "busy", .as = HODO_AS_COUNT, LOST(busy) }, { "overwritten", .as = HODO_AS_COUNT, LOST(overwritten) },
	{ "unwritten", .as = HODO_AS_COUNT, LOST(unwritten) }, { "unknown", .as = HODO_AS_COUNT, LOST(unknown) },
	{ "damaged", .as = HODO_AS_COUNT, LOST(damaged) },
};
const struct hodo_columns hodo_lost_columns = { "lost", HODO_COLUMNS(lost) };

#define THREAD(name) HODO_MEMBER(struct hodo_read_thread, name)
static const struct hodo_column thread[] = { { "tid", THREAD(tid) }, { "comm", THREAD(comm) } };
static const struct hodo_columns threads = { "threads", HODO_COLUMNS(thread) };

/* Those that can be read, as the others are among the lost ones. */
static struct hodo_cell stream_events(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_read_stream *s = row;

	return hodo_cell_u64(s->events - s->damaged);
}

#define STREAM(name) HODO_MEMBER(struct hodo_read_stream, name)
static const struct hodo_column stream[] = {
	{ "name", STREAM(name) }, { "cpu", STREAM(cpu) }, { "bytes", STREAM(bytes) }, { "packets", STREAM(packets) },
	{ "events", .get = stream_events }, { "lost", HODO_INNER(struct hodo_read_stream, lost, &hodo_lost_columns) },
};
static const struct hodo_columns streams = { "streams", HODO_COLUMNS(stream) };

#define OBJECT(name) HODO_MEMBER(struct hodo_read_object, name)
static const struct hodo_column object[] = {
	{ "path", OBJECT(path) }, { "build_id", .put = put_build_id }, { "functions", OBJECT(functions) },
	{ "base", OBJECT(base) }, { "start", OBJECT(start) }, { "end", OBJECT(end) },
	{ "from_ns", .flags = HODO_OPTIONAL, OBJECT(from_ns) }, { "until_ns", .flags = HODO_OPTIONAL, OBJECT(until_ns) },
};
static const struct hodo_columns objects = { "objects", HODO_COLUMNS(object) };

#define ROW(name) HODO_MEMBER(struct hodo_process_row, name)
static const struct hodo_column clock_column[] = {
	{ "kind", ROW(clock) }, { "freq_hz", ROW(p.clock.freq_hz) }, { "offset_s", ROW(p.clock.offset_s) },
	{ "offset_ticks", ROW(p.clock.offset_ticks) },
};
static const struct hodo_columns clocks = { "clock", HODO_COLUMNS(clock_column) };

static const struct hodo_column snapshot[] = {
	{ "number", ROW(p.snapshot_number) }, { "time_ns", ROW(p.snapshot_ns) }, { "why", ROW(p.snapshot_why) },
};
static const struct hodo_columns snapshots = { "snapshot", HODO_COLUMNS(snapshot) };

static const struct hodo_column process[] = {
	{ "host", "HOST", .most = 24, .flags = HODO_OPTIONAL, ROW(p.hostname) },
	{ "pid", "PID", HODO_AS_ID, 10, ROW(p.pid) },
	{ "ppid", .as = HODO_AS_ID, ROW(p.ppid) },
	{ "uid", .as = HODO_AS_ID, ROW(p.uid) },
	{ "comm", ROW(p.comm) },
	{ "exe", ROW(p.exe) },
	{ "program", .flags = HODO_TEXT_ONLY, .put = put_program },
	{ "kernel", .flags = HODO_OPTIONAL, ROW(p.kernel) },
	{ "start", ROW(start) },
	{ "mode", ROW(mode) },
	{ "complete", .as = HODO_AS_FLAG, ROW(p.complete) },
	{ "ring_bytes", .as = HODO_AS_BYTES, ROW(p.ring_bytes) },
	{ "packet_bytes", .as = HODO_AS_BYTES, ROW(p.packet_bytes) },
	{ "clock", ROW(clock), .of = &clocks },
	{ "begin_ns", .as = HODO_AS_SECONDS, ROW(begin_ns) },
	{ "end_ns", .as = HODO_AS_SECONDS, ROW(end_ns) },
	{ "duration_ns", .as = HODO_AS_SECONDS, ROW(duration_ns) },
	{ "bytes", "SIZE", HODO_AS_BYTES, 10, ROW(bytes) },
	{ "packets", .as = HODO_AS_COUNT, ROW(packets) },
	{ "recorded", "EVENTS", HODO_AS_COUNT, 13, ROW(events), .also = "events" },
	{ "discarded", .as = HODO_AS_COUNT, ROW(discarded) },
	{ "overwritten", .as = HODO_AS_COUNT, ROW(lost.overwritten) },
	{ "lost", NULL, HODO_AS_COUNT, 13, ROW(lost_all),
	  HODO_INNER(struct hodo_process_row, lost, &hodo_lost_columns) },
	{ "snapshot", .flags = HODO_OPTIONAL, ROW(p.snapshot_why), .of = &snapshots },
	{ "limited", .as = HODO_AS_COUNT, ROW(limited) },
	{ "threads", "THREADS", HODO_AS_ID, 7, ROW(p.nthreads),
	  HODO_ARRAY(struct hodo_process_row, p.threads, p.nthreads, &threads) },
	{ "streams", .as = HODO_AS_ID, ROW(p.nstreams),
	  HODO_POINTERS(struct hodo_process_row, p.streams, p.nstreams, &streams) },
	{ "objects", .as = HODO_AS_ID, ROW(p.nobjects),
	  HODO_ARRAY(struct hodo_process_row, p.objects, p.nobjects, &objects) },
	{ "warnings", .as = HODO_AS_ID, ROW(p.nwarnings),
	  HODO_POINTERS(struct hodo_process_row, p.warnings, p.nwarnings, &hodo_texts) },
};
const struct hodo_columns hodo_process_columns = { "processes", HODO_COLUMNS(process), .head = HODO_HEADING,
						   .text = "pid,recorded,lost,bytes,threads,program" };

/* ------------------------------------------------------------------------ hosts */

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
