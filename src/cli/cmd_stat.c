/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - hodo stat. */
#define _GNU_SOURCE
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: hodo stat [options] [DIR]\n\n"
	"Counts the events of a recording (hodo.data): how many of each, how often, how\n"
	"many bytes; then those that were lost, why, and what would have kept them.\n\n"
	"  --json           one JSON object\n"
	"  -q, --quiet      no warnings\n"
	"  -h, --help\n";

/* The classes of one name in all processes. */
struct row {
	const char *name;
	uint64_t count, bytes, limited;
};

struct stat {
	struct hodo_read *r;
	struct hodo_read_totals totals;
	struct row *rows;
	size_t nrows;
	size_t name_width;
	uint64_t limited; /* events over their rate */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->name, y->name);
}

static int make_rows(struct stat *s)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		n += hodo_read_process(s->r, i)->nclasses;
	s->rows = calloc(n ? n : 1, sizeof(*s->rows));
	if (!s->rows)
		return -1;
	n = 0;
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);

		for (uint32_t k = 0; k < p->nclasses; k++)
			if (p->classes[k]->count || p->classes[k]->limited)
				s->rows[n++] = (struct row){ p->classes[k]->name, p->classes[k]->count,
							     p->classes[k]->bytes, p->classes[k]->limited };
	}
	qsort(s->rows, n, sizeof(*s->rows), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(s->rows[kept - 1].name, s->rows[i].name) == 0) {
			s->rows[kept - 1].count += s->rows[i].count;
			s->rows[kept - 1].bytes += s->rows[i].bytes;
			s->rows[kept - 1].limited += s->rows[i].limited;
			continue;
		}
		s->rows[kept++] = s->rows[i];
		if (strlen(s->rows[i].name) > s->name_width)
			s->name_width = strlen(s->rows[i].name);
	}
	s->nrows = kept;
	qsort(s->rows, kept, sizeof(*s->rows), by_count);
	return 0;
}

static uint64_t duration_ns(const struct stat *s)
{
	return (uint64_t)s->totals.end_ns - (uint64_t)s->totals.begin_ns;
}

static void put_row(FILE *f, const struct stat *s, const char *name, uint64_t count, uint64_t bytes, uint64_t limited)
{
	double seconds = (double)duration_ns(s) / 1e9;
	char a[32], b[32], c[32];
	int width = (int)(s->name_width < 5 ? 5 : s->name_width > 60 ? 60 : s->name_width);
	int pad = width - (int)(strlen(name) > 60 ? 60 : strlen(name));

	hodo_put_plain(f, name);
	/* A rate over no time at all says nothing. */
	fprintf(f, "%*s  %15s  %15s  %11s", pad, "", hodo_grouped(count, a),
		seconds > 0 ? hodo_grouped((uint64_t)((double)count / seconds + 0.5), b) : "-",
		hodo_human_bytes(bytes, c));
	if (s->limited)
		fprintf(f, "  %15s", hodo_grouped(limited, a));
	fputc('\n', f);
}

static void put_text(FILE *f, const struct stat *s)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, NULL);
	int width = (int)(s->name_width < 5 ? 5 : s->name_width > 60 ? 60 : s->name_width);
	uint64_t ns = duration_ns(s);
	char buf[32], whom[48];
	bool kernel = false;

	fprintf(f, "%-*s  %15s  %15s  %11s", width, "EVENT", "COUNT", "PER SECOND", "SIZE");
	fputs(s->limited ? "        OVER RATE\n" : "\n", f);
	for (size_t i = 0; i < s->nrows; i++)
		put_row(f, s, s->rows[i].name, s->rows[i].count, s->rows[i].bytes, s->rows[i].limited);
	put_row(f, s, "total", s->totals.events, s->totals.bytes, s->limited);
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		kernel |= hodo_read_process(s->r, i)->kernel != NULL;
	fprintf(f, "\nin %llu.%09llu s, %s\n", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000), hodo_whom(kernel, hodo_read_nprocesses(s->r), whom));
	if (s->totals.damaged)
		fprintf(f, "%s events are damaged and not counted\n", hodo_grouped(s->totals.damaged, buf));
	if (!hodo_lost_all(&lost)) {
		fputs("no event was lost\n", f);
		return;
	}
	fprintf(f, "%s events were lost:\n", hodo_grouped(hodo_lost_all(&lost), buf));
	hodo_put_lost(f, s->r);
}

static void put_process_json(FILE *f, const struct stat *s, const struct hodo_read_process *p)
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

static void put_json(FILE *f, const struct stat *s)
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
		(unsigned long long)duration_ns(s));
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		if (i)
			fputc(',', f);
		put_process_json(f, s, hodo_read_process(s->r, i));
	}
	fputs("]}\n", f);
}

static int run(struct stat *s, const char *dir, bool json)
{
	char *data = NULL;
	size_t len;
	FILE *f;
	int err = hodo_read_count(s->r, &s->totals);

	if (err < 0) {
		hodo_error("%s: cannot be read: %s", dir, strerror(-err));
		return HODO_EXIT_FAILURE;
	}
	s->limited = hodo_read_limited(s->r, NULL);
	f = make_rows(s) < 0 ? NULL : open_memstream(&data, &len);
	if (!f) {
		hodo_error("out of memory");
		return HODO_EXIT_FAILURE;
	}
	if (json)
		put_json(f, s);
	else
		put_text(f, s);
	return hodo_out_stream(f, &data, &len);
}

int hodo_cmd_stat(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct stat s = { .totals.size = sizeof(s.totals) };
	bool json = false, quiet = false;
	const char *dir;
	int c, status;

	while ((c = hodo_getopt(argc, argv, ":qh", options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		json |= c == HODO_OPT_JSON;
		quiet |= c == 'q';
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	s.r = hodo_open(dir, quiet);
	if (!s.r)
		return HODO_EXIT_FAILURE;
	status = run(&s, dir, json);
	free(s.rows);
	hodo_read_close(s.r);
	return status;
}
