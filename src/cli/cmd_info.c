/* SPDX-License-Identifier: MIT */
/* cmd_info.c - hodo info. */
#include "recording_tables.h"

static struct hodo_cell part_time(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_read_part *p = row;

	return hodo_cell_u64(p->end_ns > p->begin_ns ? (uint64_t)p->end_ns - (uint64_t)p->begin_ns : 0);
}

#define PART(name) HODO_MEMBER(struct hodo_read_part, name)
static const struct hodo_column part_columns[] = {
	{ "name", "PART", HODO_AS_TEXT, 10, PART(name) },
	{ "processes", .as = HODO_AS_ID, .width = 9, PART(processes) },
	{ "bytes", "SIZE", HODO_AS_BYTES, 10, PART(bytes) },
	{ "packets", PART(packets) },
	{ "events", .as = HODO_AS_COUNT, .width = 13, PART(events) },
	{ "begin_ns", PART(begin_ns) },
	{ "end_ns", PART(end_ns) },
	{ "duration_ns", NULL, HODO_AS_SECONDS, 14, HODO_TEXT_ONLY, .get = part_time },
};
static const struct hodo_columns parts = { "parts", HODO_COLUMNS(part_columns), .head = HODO_HEADING,
					   .text = "name,events,bytes,processes,duration_ns" };

struct info {
	const struct hodo_read *r;
	struct hodo_process_row all, *rows;
	const struct hodo_read_part **part;
	struct hodo_table processes, parts, hosts;
};

static void put_text(struct hodo_text *to, const struct info *info, bool color)
{
	const struct hodo_process_row *s = &info->all;
	char a[32], b[32];

	if (s->packets) {
		hodo_text_add(to, "begin     ");
		hodo_put_when(to, s->begin_ns);
	}
	hodo_text_printf(to, "duration  %llu.%09llu s\n", (unsigned long long)(s->duration_ns / 1000000000),
			 (unsigned long long)(s->duration_ns % 1000000000));
	hodo_text_printf(to, "events    %s, %s lost\n", hodo_grouped(s->events, a), hodo_grouped(s->lost_all, b));
	hodo_text_printf(to, "size      %s in %u stream%s\n", hodo_human_bytes(s->bytes, a), s->streams,
			 s->streams == 1 ? "" : "s");
	if (info->processes.n)
		hodo_text_printf(to, "clock     %s, %s ticks a second\n", info->rows[0].clock,
				 hodo_grouped(info->rows[0].p.clock.freq_hz, a));
	if (s->limited)
		hodo_text_printf(to, "limited   %s event%s exceeded %s rate and %s left out, as --rate asked\n",
				 hodo_grouped(s->limited, a), s->limited == 1 ? "" : "s",
				 s->limited == 1 ? "its" : "their", s->limited == 1 ? "was" : "were");
	hodo_text_char(to, '\n');
	if (info->hosts.n) {
		hodo_table_put(to, &info->hosts, color);
		hodo_text_char(to, '\n');
	}
	hodo_table_put(to, &info->processes, color);
	if (info->parts.n) {
		hodo_text_char(to, '\n');
		hodo_table_put(to, &info->parts, color);
	}
	if (s->lost_all) {
		hodo_text_char(to, '\n');
		hodo_put_lost(to, info->r, color);
	}
	if (hodo_read_unrecorded(info->r, 0)) {
		hodo_text_char(to, '\n');
		hodo_put_unrecorded(to, info->r, color);
	}
	hodo_put_unended(to, info->r, color);
}

static void put_json(struct hodo_json *j, const struct info *info)
{
	const struct hodo_table all = { .columns = &hodo_process_columns,
					.chosen = "begin_ns,end_ns,duration_ns,bytes,packets,recorded,discarded,"
						  "overwritten,lost" };

	hodo_put_members(j, &all, &info->all, 0, 0);
	if (info->hosts.n)
		hodo_table_put_json(j, "hosts", &info->hosts);
	hodo_table_put_json(j, "processes", &info->processes);
	hodo_table_put_json(j, "parts", &info->parts);
	hodo_json_u64(j, "limited", info->all.limited);
	hodo_put_json_unrecorded(j, info->r);
}

static void fill(struct info *info, const struct hodo_show *look)
{
	uint32_t nparts = hodo_read_nparts(info->r), n = hodo_read_nprocesses(info->r);

	info->rows = hodo_must(calloc(n + 1, sizeof(*info->rows)));
	info->part = hodo_must(calloc(nparts + 1, sizeof(*info->part)));
	for (uint32_t i = 0; i < n; i++)
		info->rows[i] = hodo_process_row(info->r, hodo_read_process(info->r, i));
	for (uint32_t i = 0; i < nparts; i++)
		info->part[i] = hodo_read_part(info->r, i);
	info->all = hodo_process_row(info->r, NULL);
	info->processes = (struct hodo_table){ .columns = &hodo_process_columns, .first = info->rows, .n = n,
					       .stride = sizeof(*info->rows), .below = hodo_process_put_below };
	info->parts = (struct hodo_table){ .columns = &parts, .first = info->part, .n = nparts };
	info->hosts = hodo_hosts_table(info->r);
	hodo_table_arrange(&info->processes, look);
	if (info->hosts.n && !look->json && !look->columns)
		info->processes.chosen = "host,pid,recorded,lost,bytes,threads,program";
}

static int run(void *args)
{
	const struct hodo_args *a = args;
	HODO_AUTO_READ struct hodo_read *r = hodo_open(a->dir, a->quiet);
	struct info info = { .r = r };
	struct hodo_page page;
	int err;

	if (!r)
		return HODO_EXIT_FAILURE;
	err = hodo_read_scan(r);
	if (err)
		return hodo_cannot_read(a->dir, err);
	fill(&info, &a->look);
	hodo_page_begin(&page, a);
	if (a->look.json)
		put_json(&page.json, &info);
	else
		put_text(&page.text, &info, a->look.color);
	hodo_table_free(&info.processes);
	hodo_hosts_free(&info.hosts);
	free(info.rows);
	free(info.part);
	return hodo_page_end(&page);
}

static const struct hodo_columns *const tables[] = { &hodo_process_columns, NULL };

static const struct hodo_option options[] = {
	HODO_OPTION_COLUMNS("these columns for processes; help lists them", tables),
	HODO_OPTION_SORT("sort processes by this column", tables),
	HODO_OPTIONS_SHOWN("one JSON object"),
	HODO_OPTION_QUIET("no warnings"),
	{ 0 },
};

const struct hodo_verb hodo_verb_info = {
	.name = "info", .does = "describe a recording: processes, clock, duration, size",
	.usage = "[options] [DIR]",
	.about = "Describes a recording (hodo.data): when, how long, how large, which clock; and\n"
		 "the program, events and losses of each process. Reads only packet headers.\n",
	.options = options, .tables = tables, .column = 19, .word = HODO_WORD_DIR, .one = HODO_ONE_RECORDING,
	.args_bytes = sizeof(struct hodo_args), .run = run,
};
