/* SPDX-License-Identifier: MIT */
/* stat_table.c - the table of a recording's events. */
#include "stat_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct hodo_stat_row *)a)->name, ((const struct hodo_stat_row *)b)->name);
}

static int by_count(const void *a, const void *b)
{
	const struct hodo_stat_row *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->name, y->name);
}

static int make_rows(struct hodo_stat *s)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		n += hodo_read_process(s->r, i)->nclasses;
	s->rows = calloc(n ? n : 1, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	n = 0;
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);

		for (uint32_t k = 0; k < p->nclasses; k++)
			if (p->classes[k]->count || p->classes[k]->limited)
				s->rows[n++] = (struct hodo_stat_row){ p->classes[k]->name, p->classes[k]->count,
								       p->classes[k]->bytes,
								       p->classes[k]->limited };
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

uint64_t hodo_stat_duration_ns(const struct hodo_stat *s)
{
	return (uint64_t)s->totals.end_ns - (uint64_t)s->totals.begin_ns;
}

void hodo_stat_free(struct hodo_stat *s)
{
	free(s->rows);
	s->rows = NULL;
}

int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r)
{
	int err;

	*s = (struct hodo_stat){ .r = r, .totals.size = sizeof(s->totals) };
	err = hodo_read_count(r, &s->totals);
	if (err < 0)
		return err;
	s->limited = hodo_read_limited(r, NULL);
	return make_rows(s);
}

static int name_width(const struct hodo_stat *s)
{
	return (int)(s->name_width < 5 ? 5 : s->name_width > 60 ? 60 : s->name_width);
}

static void put_row(FILE *f, const struct hodo_stat *s, const struct hodo_stat_row *row, const char *color)
{
	double seconds = (double)hodo_stat_duration_ns(s) / 1e9;
	char a[32], b[32], c[32];
	int pad = name_width(s) - (int)(strlen(row->name) > 60 ? 60 : strlen(row->name));

	fputs(color, f);
	hodo_put_plain(f, row->name);
	/* A rate over no time at all says nothing. */
	fprintf(f, "%s%*s  %15s  %15s  %11s", hodo_style(*color, HODO_PLAIN), pad, "", hodo_grouped(row->count, a),
		seconds > 0 ? hodo_grouped((uint64_t)((double)row->count / seconds + 0.5), b) : "-",
		hodo_human_bytes(row->bytes, c));
	if (s->limited)
		fprintf(f, "  %15s", hodo_grouped(row->limited, a));
	fputc('\n', f);
}

void hodo_stat_put_table(FILE *f, const struct hodo_stat *s, size_t max, bool color)
{
	struct hodo_stat_row total = { "total", s->totals.events, s->totals.bytes, s->limited };
	size_t n = max && s->nrows > max ? max : s->nrows;
	uint64_t ns = hodo_stat_duration_ns(s);
	char buf[32], whom[48];
	bool kernel = false;

	fprintf(f, "%s%-*s  %15s  %15s  %11s%s%s\n", hodo_style(color, HODO_HEADING), name_width(s), "EVENT", "COUNT",
		"PER SECOND", "SIZE", s->limited ? "        OVER RATE" : "", hodo_style(color, HODO_PLAIN));
	for (size_t i = 0; i < n; i++)
		put_row(f, s, &s->rows[i], hodo_style(color, HODO_NAME));
	if (n < s->nrows)
		fprintf(f, "... %s more: 'hodo stat' tells of all\n", hodo_grouped(s->nrows - n, buf));
	put_row(f, s, &total, "");
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		kernel |= hodo_read_process(s->r, i)->kernel != NULL;
	fprintf(f, "\nin %llu.%09llu s, %s\n", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000), hodo_whom(kernel, hodo_read_nprocesses(s->r), whom));
}

void hodo_stat_put_losses(FILE *f, const struct hodo_stat *s, bool color)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, NULL);
	char buf[32];

	if (s->totals.damaged)
		fprintf(f, "%s%s events are damaged and not counted%s\n", hodo_style(color, HODO_ALERT),
			hodo_grouped(s->totals.damaged, buf), hodo_style(color, HODO_PLAIN));
	if (!hodo_lost_all(&lost)) {
		fputs("no event was lost\n", f);
		return;
	}
	fprintf(f, "%s%s events were lost:%s\n", hodo_style(color, HODO_ALERT),
		hodo_grouped(hodo_lost_all(&lost), buf), hodo_style(color, HODO_PLAIN));
	hodo_put_lost(f, s->r);
}
