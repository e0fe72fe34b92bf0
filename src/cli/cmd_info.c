/* SPDX-License-Identifier: MIT */
/* cmd_info.c - hodo info. */
#define _GNU_SOURCE
#include "cli.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo info [options] [DIR]\n\n"
	"Tells what a recording (hodo.data) is: when, how long, how large, which clock;\n"
	"and each process's program, events, losses. Reads only the packets' headers.\n\n"
	"  --json           one JSON object\n"
	"  --color WHEN     auto, always or never\n"
	"  --no-pager       also on a terminal\n"
	"  -q, --quiet      no warnings\n"
	"  -h, --help\n";

struct options {
	enum hodo_color color;
	bool json, quiet, no_pager;
};

/* Of a process, or of all. */
struct sums {
	uint64_t events, bytes, packets;
	uint32_t streams;
	int64_t begin_ns, end_ns; /* 0, 0: no packet */
};

static struct sums sum_process(const struct hodo_read_process *p)
{
	struct sums s = { .bytes = p->bytes, .streams = p->nstreams };

	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_stream *t = p->streams[i];

		if (!t->packets)
			continue;
		if (!s.packets || t->begin_ns < s.begin_ns)
			s.begin_ns = t->begin_ns;
		if (!s.packets || t->end_ns > s.end_ns)
			s.end_ns = t->end_ns;
		s.events += t->events;
		s.packets += t->packets;
	}
	return s;
}

static struct sums sum_all(const struct hodo_read *r)
{
	struct sums all = { 0 };

	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		struct sums s = sum_process(hodo_read_process(r, i));

		if (s.packets && (!all.packets || s.begin_ns < all.begin_ns))
			all.begin_ns = s.begin_ns;
		if (s.packets && (!all.packets || s.end_ns > all.end_ns))
			all.end_ns = s.end_ns;
		all.events += s.events;
		all.bytes += s.bytes;
		all.packets += s.packets;
		all.streams += s.streams;
	}
	return all;
}

static uint64_t duration(const struct sums *s)
{
	return s->end_ns > s->begin_ns ? (uint64_t)s->end_ns - (uint64_t)s->begin_ns : 0;
}

static const char *clock_name(const struct hodo_read_clock *c)
{
	return c->kind == HODO_CLOCK_TSC ? "tsc" : "monotonic";
}

static void put_when(FILE *f, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	char text[64] = "?";
	struct tm tm;

	if (ns >= 0 && localtime_r(&s, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(f, "%s.%09lld", text, ns >= 0 ? (long long)(ns % 1000000000) : 0ll);
	if (ns >= 0 && localtime_r(&s, &tm) && strftime(text, sizeof(text), " %z", &tm))
		fputs(text, f);
	fputc('\n', f);
}

static void put_build_id(FILE *f, const struct hodo_read_object *o)
{
	for (uint32_t i = 0; i < o->build_id_len && i < sizeof(o->build_id); i++)
		fprintf(f, "%02x", o->build_id[i]);
}

/* Whether a library that came several times has been told of; those of long ago are not looked through. */
static bool was_told(const struct hodo_read_process *p, uint32_t i)
{
	const struct hodo_read_object *o = &p->objects[i];

	for (uint32_t k = i; k-- > 0 && i - k <= 64;)
		if (p->objects[k].functions == o->functions && strcmp(p->objects[k].path, o->path) == 0 &&
		    memcmp(p->objects[k].build_id, o->build_id, sizeof(o->build_id)) == 0)
			return true;
	return false;
}

/* Those with functions to trace; the others only carry names. */
static void put_objects(FILE *f, const struct hodo_read_process *p)
{
	char buf[32];

	for (uint32_t i = 0; i < p->nobjects; i++) {
		const struct hodo_read_object *o = &p->objects[i];

		if (!o->functions || was_told(p, i))
			continue;
		fprintf(f, "            %s function%s in ", hodo_grouped(o->functions, buf),
			o->functions == 1 ? "" : "s");
		hodo_put_plain(f, o->path);
		fputs(o->build_id_len ? ", build-id " : "", f);
		put_build_id(f, o);
		fputc('\n', f);
	}
}

static void put_snapshot(FILE *f, const struct hodo_read_process *p)
{
	if (!p->snapshot_why)
		return;
	fputs("            snapshot", f);
	if (p->snapshot_number)
		fprintf(f, " %u", p->snapshot_number);
	fputs(": ", f);
	hodo_put_plain(f, p->snapshot_why);
	fputs(", ", f);
	put_when(f, p->snapshot_ns);
}

static void put_process(FILE *f, const struct hodo_read *r, const struct hodo_read_process *p)
{
	struct hodo_read_lost lost = hodo_read_lost(r, p);
	struct sums s = sum_process(p);
	char a[32], b[32], c[32];

	fprintf(f, "%10u  %13s  %13s  %10s  %7u  ", p->pid, hodo_grouped(s.events, a),
		hodo_grouped(hodo_lost_all(&lost), b), hodo_human_bytes(s.bytes, c), p->nthreads);
	hodo_put_plain(f, *p->exe ? p->exe : p->comm);
	if (p->kernel) {
		fputc(' ', f);
		hodo_put_plain(f, p->kernel);
	}
	fputs(p->mode == HODO_MODE_OVERWRITE ? " (flight recorder)" : "", f);
	fputs(p->complete ? "\n" : " (not ended in order)\n", f);
	put_snapshot(f, p);
	put_objects(f, p);
	for (uint32_t i = 0; i < p->nwarnings; i++) {
		fputs("            warning: ", f);
		hodo_put_plain(f, p->warnings[i]);
		fputc('\n', f);
	}
}

static void put_parts(FILE *f, const struct hodo_read *r, bool color)
{
	char a[32], b[32];

	if (hodo_read_nparts(r))
		fprintf(f, "\n%s%-10s  %13s  %10s  %9s  %14s%s\n", hodo_style(color, HODO_HEADING), "PART", "EVENTS",
			"SIZE", "PROCESSES", "DURATION", hodo_style(color, HODO_PLAIN));
	for (uint32_t i = 0; i < hodo_read_nparts(r); i++) {
		const struct hodo_read_part *p = hodo_read_part(r, i);
		uint64_t ns = p->end_ns > p->begin_ns ? (uint64_t)p->end_ns - (uint64_t)p->begin_ns : 0;

		fprintf(f, "%-10s  %13s  %10s  %9u  %4llu.%09llu\n", p->name, hodo_grouped(p->events, a),
			hodo_human_bytes(p->bytes, b), p->processes, (unsigned long long)(ns / 1000000000),
			(unsigned long long)(ns % 1000000000));
	}
}

static void put_text(FILE *f, const struct hodo_read *r, bool color)
{
	struct hodo_read_lost lost = hodo_read_lost(r, NULL);
	struct sums s = sum_all(r);
	uint64_t ns = duration(&s);
	char a[32], b[32];

	if (s.packets) {
		fputs("begin     ", f);
		put_when(f, s.begin_ns);
	}
	fprintf(f, "duration  %llu.%09llu s\n", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000));
	fprintf(f, "events    %s, %s lost\n", hodo_grouped(s.events, a),
		hodo_grouped(hodo_lost_all(&lost), b));
	fprintf(f, "size      %s in %u streams\n", hodo_human_bytes(s.bytes, a), s.streams);
	if (hodo_read_nprocesses(r)) {
		const struct hodo_read_clock *c = &hodo_read_process(r, 0)->clock;

		fprintf(f, "clock     %s, %s ticks a second\n", clock_name(c), hodo_grouped(c->freq_hz, a));
	}
	if (hodo_read_limited(r, NULL))
		fprintf(f, "limited   %s events were over their rate and left out, as --rate asked\n",
			hodo_grouped(hodo_read_limited(r, NULL), a));
	fprintf(f, "\n%s%10s  %13s  %13s  %10s  %7s  PROGRAM%s\n", hodo_style(color, HODO_HEADING), "PID", "EVENTS",
		"LOST", "SIZE", "THREADS", hodo_style(color, HODO_PLAIN));
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		put_process(f, r, hodo_read_process(r, i));
	put_parts(f, r, color);
	if (hodo_lost_all(&lost)) {
		fprintf(f, "\n%s%s events were lost:%s\n", hodo_style(color, HODO_ALERT),
			hodo_grouped(hodo_lost_all(&lost), a), hodo_style(color, HODO_PLAIN));
		hodo_put_lost(f, r);
	}
}

static void put_sums_json(FILE *f, const struct sums *s, const struct hodo_read_lost *lost)
{
	fprintf(f,
		"\"begin_ns\":%lld,\"end_ns\":%lld,\"duration_ns\":%llu,\"bytes\":%llu,\"packets\":%llu,"
		"\"recorded\":%llu,\"discarded\":%llu,\"overwritten\":%llu,\"lost\":",
		(long long)s->begin_ns, (long long)s->end_ns, (unsigned long long)duration(s),
		(unsigned long long)s->bytes, (unsigned long long)s->packets, (unsigned long long)s->events,
		(unsigned long long)hodo_lost_discarded(lost), (unsigned long long)lost->overwritten);
	hodo_put_lost_json(f, lost);
}

static void put_stream_json(FILE *f, const struct hodo_read_stream *s)
{
	fputs("{\"name\":", f);
	hodo_put_json(f, s->name);
	fprintf(f, ",\"cpu\":%d,\"bytes\":%llu,\"packets\":%llu,\"events\":%llu,\"lost\":", s->cpu,
		(unsigned long long)s->bytes, (unsigned long long)s->packets, (unsigned long long)s->events);
	hodo_put_lost_json(f, &s->lost);
	fputc('}', f);
}

static void put_object_json(FILE *f, const struct hodo_read_object *o)
{
	fputs("{\"path\":", f);
	hodo_put_json(f, o->path);
	fputs(",\"build_id\":\"", f);
	put_build_id(f, o);
	fprintf(f, "\",\"functions\":%u,\"base\":%llu,\"start\":%llu,\"end\":%llu", o->functions,
		(unsigned long long)o->base, (unsigned long long)o->start, (unsigned long long)o->end);
	if (o->from_ns != INT64_MIN)
		fprintf(f, ",\"from_ns\":%lld", (long long)o->from_ns);
	if (o->until_ns != INT64_MAX)
		fprintf(f, ",\"until_ns\":%lld", (long long)o->until_ns);
	fputc('}', f);
}

static void put_process_json(FILE *f, const struct hodo_read *r, const struct hodo_read_process *p)
{
	struct hodo_read_lost lost = hodo_read_lost(r, p);
	struct sums s = sum_process(p);
	const char *start = p->start == HODO_START_EXEC ? "exec" : p->start == HODO_START_FORK ? "fork" :
			    p->start == HODO_START_ATTACH ? "attach" : "";

	fprintf(f, "{\"pid\":%u,\"ppid\":%u,\"uid\":%u,\"comm\":", p->pid, p->ppid, p->uid);
	hodo_put_json(f, p->comm);
	fputs(",\"exe\":", f);
	hodo_put_json(f, p->exe);
	if (p->kernel) {
		fputs(",\"kernel\":", f);
		hodo_put_json(f, p->kernel);
	}
	fprintf(f,
		",\"start\":\"%s\",\"mode\":\"%s\",\"complete\":%s,\"ring_bytes\":%llu,\"packet_bytes\":%"
		"llu,",
		start, p->mode == HODO_MODE_OVERWRITE ? "overwrite" : "discard",
		p->complete ? "true" : "false", (unsigned long long)p->ring_bytes,
		(unsigned long long)p->packet_bytes);
	fprintf(f, "\"clock\":{\"kind\":\"%s\",\"freq_hz\":%llu,\"offset_s\":%lld,\"offset_ticks\":%lld},",
		clock_name(&p->clock), (unsigned long long)p->clock.freq_hz, (long long)p->clock.offset_s,
		(long long)p->clock.offset_ticks);
	put_sums_json(f, &s, &lost);
	if (p->snapshot_why) {
		fprintf(f, ",\"snapshot\":{\"number\":%u,\"time_ns\":%lld,\"why\":", p->snapshot_number,
			(long long)p->snapshot_ns);
		hodo_put_json(f, p->snapshot_why);
		fputc('}', f);
	}
	fprintf(f, ",\"limited\":%llu", (unsigned long long)hodo_read_limited(r, p));
	fputs(",\"threads\":[", f);
	for (uint32_t i = 0; i < p->nthreads; i++) {
		fprintf(f, "%s{\"tid\":%u,\"comm\":", i ? "," : "", p->threads[i].tid);
		hodo_put_json(f, p->threads[i].comm);
		fputc('}', f);
	}
	fputs("],\"streams\":[", f);
	for (uint32_t i = 0; i < p->nstreams; i++) {
		fputs(i ? "," : "", f);
		put_stream_json(f, p->streams[i]);
	}
	fputs("],\"objects\":[", f);
	for (uint32_t i = 0; i < p->nobjects; i++) {
		fputs(i ? "," : "", f);
		put_object_json(f, &p->objects[i]);
	}
	fputs("],\"warnings\":[", f);
	for (uint32_t i = 0; i < p->nwarnings; i++) {
		fputs(i ? "," : "", f);
		hodo_put_json(f, p->warnings[i]);
	}
	fputs("]}", f);
}

static void put_parts_json(FILE *f, const struct hodo_read *r)
{
	for (uint32_t i = 0; i < hodo_read_nparts(r); i++) {
		const struct hodo_read_part *p = hodo_read_part(r, i);

		fprintf(f,
			"%s{\"name\":\"%s\",\"processes\":%u,\"bytes\":%llu,\"packets\":%llu,\"events\":%llu,"
			"\"begin_ns\":%lld,\"end_ns\":%lld}",
			i ? "," : "", p->name, p->processes, (unsigned long long)p->bytes,
			(unsigned long long)p->packets, (unsigned long long)p->events, (long long)p->begin_ns,
			(long long)p->end_ns);
	}
}

static void put_json(FILE *f, const struct hodo_read *r)
{
	struct hodo_read_lost lost = hodo_read_lost(r, NULL);
	struct sums s = sum_all(r);

	fputs("{\"version\":1,", f);
	put_sums_json(f, &s, &lost);
	fputs(",\"processes\":[", f);
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		fputs(i ? "," : "", f);
		put_process_json(f, r, hodo_read_process(r, i));
	}
	fputs("],\"parts\":[", f);
	put_parts_json(f, r);
	fprintf(f, "],\"limited\":%llu}\n", (unsigned long long)hodo_read_limited(r, NULL));
}

static int run(struct hodo_read *r, const char *dir, const struct options *o)
{
	char *data = NULL;
	size_t len;
	FILE *f;
	int err = hodo_read_scan(r);

	if (err < 0)
		return hodo_cannot_read(dir, err);
	f = open_memstream(&data, &len);
	if (!f)
		return hodo_no_memory();
	if (o->json)
		put_json(f, r);
	else
		put_text(f, r, hodo_use_color(o->color, STDOUT_FILENO));
	return hodo_out_page(f, &data, &len, !o->no_pager);
}

int hodo_cmd_info(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "color", required_argument, NULL, HODO_OPT_COLOR },
		{ "no-pager", no_argument, NULL, HODO_OPT_NO_PAGER },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options o = { 0 };
	struct hodo_read *r;
	const char *dir;
	int c, status;

	while ((c = hodo_getopt(argc, argv, ":qh", long_options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		if (c == HODO_OPT_COLOR && hodo_set_color(&o.color, argv[0], optarg))
			return HODO_EXIT_USAGE;
		o.json |= c == HODO_OPT_JSON;
		o.no_pager |= c == HODO_OPT_NO_PAGER;
		o.quiet |= c == 'q';
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	r = hodo_open(dir, o.quiet);
	if (!r)
		return HODO_EXIT_FAILURE;
	status = run(r, dir, &o);
	hodo_read_close(r);
	return status;
}
