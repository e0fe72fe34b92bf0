/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - hodo stat. */
#define _GNU_SOURCE
#include "stat_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo stat [options] [DIR]\n\n"
	"Counts the events of a recording (hodo.data): how many of each, how often, how\n"
	"many bytes; then those that were lost, why, and what would have kept them.\n\n"
	"  --json           one JSON object\n"
	"  --color WHEN     auto, always or never\n"
	"  --no-pager       also on a terminal\n"
	"  -q, --quiet      no warnings\n"
	"  -h, --help\n";

struct options {
	const char *dir;
	enum hodo_color color;
	bool json, quiet, no_pager;
};

static void put_process_json(FILE *f, const struct hodo_stat *s, const struct hodo_read_process *p)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, p);
	uint64_t recorded = 0;

	for (uint32_t i = 0; i < p->nclasses; i++)
		recorded += p->classes[i]->count;
	fprintf(f, "{\"pid\":%u,\"ppid\":%u,\"comm\":", p->pid, p->ppid);
	hodo_put_json(f, p->comm);
	fputs(",\"exe\":", f);
	hodo_put_json(f, p->exe);
	fprintf(f, ",\"recorded\":%llu,\"discarded\":%llu,\"overwritten\":%llu,\"complete\":%s,\"lost\":",
		(unsigned long long)recorded, (unsigned long long)hodo_lost_discarded(&lost),
		(unsigned long long)lost.overwritten, p->complete ? "true" : "false");
	hodo_put_lost_json(f, &lost);
	fputc('}', f);
}

static void put_json(FILE *f, const struct hodo_stat *s)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, NULL);

	fputs("{\"version\":1,\"events\":[", f);
	for (size_t i = 0; i < s->nrows; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		hodo_put_json(f, s->rows[i].name);
		fprintf(f, ",\"count\":%llu,\"bytes\":%llu,\"limited\":%llu}", (unsigned long long)s->rows[i].count,
			(unsigned long long)s->rows[i].bytes, (unsigned long long)s->rows[i].limited);
	}
	fprintf(f,
		"],\"recorded\":%llu,\"discarded\":%llu,\"overwritten\":%llu,\"limited\":%llu,"
		"\"duration_ns\":%llu,\"processes\":[",
		(unsigned long long)s->totals.events, (unsigned long long)hodo_lost_discarded(&lost),
		(unsigned long long)lost.overwritten, (unsigned long long)s->limited,
		(unsigned long long)hodo_stat_duration_ns(s));
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		if (i)
			fputc(',', f);
		put_process_json(f, s, hodo_read_process(s->r, i));
	}
	fputs("]}\n", f);
}

static int run(struct hodo_stat *s, struct hodo_read *r, const struct options *o)
{
	char *data = NULL;
	size_t len;
	FILE *f;
	int err = hodo_stat_count(s, r);
	bool color = hodo_use_color(o->color, STDOUT_FILENO);

	if (err < 0)
		return hodo_cannot_read(o->dir, err);
	f = open_memstream(&data, &len);
	if (!f)
		return hodo_no_memory();
	if (o->json) {
		put_json(f, s);
	} else {
		hodo_stat_put_table(f, s, 0, color);
		hodo_stat_put_losses(f, s, color);
	}
	return hodo_out_page(f, &data, &len, !o->no_pager);
}

int hodo_cmd_stat(int argc, char **argv)
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
	struct hodo_stat s = { 0 };
	struct hodo_read *r;
	int c, status;

	while ((c = hodo_getopt(argc, argv, ":qh", long_options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?' || (c == HODO_OPT_COLOR && hodo_set_color(&o.color, argv[0], optarg)))
			return HODO_EXIT_USAGE;
		o.json |= c == HODO_OPT_JSON;
		o.no_pager |= c == HODO_OPT_NO_PAGER;
		o.quiet |= c == 'q';
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	o.dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	r = hodo_open(o.dir, o.quiet);
	if (!r)
		return HODO_EXIT_FAILURE;
	status = run(&s, r, &o);
	hodo_stat_free(&s);
	hodo_read_close(r);
	return status;
}
