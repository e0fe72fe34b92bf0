/* SPDX-License-Identifier: MIT */
/* stat_table.c - the table of a recording's events. */
#include "stat_table.h"

#include <errno.h>
#include <string.h>

/* A rate over no time at all says nothing. */
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

static const struct hodo_column columns[] = {
	{ "name", "EVENT", HODO_AS_TEXT, 0, HODO_IDENTITY, HODO_MEMBER(struct hodo_stat_row, name.data), .most = 60,
	  .style = HODO_NAME },
	{ "count", "COUNT", HODO_AS_COUNT, 15, 0, HODO_MEMBER(struct hodo_stat_row, count) },
	{ "per_second", "PER SECOND", HODO_AS_COUNT, 15, HODO_TEXT_ONLY, .get = per_second },
	{ "bytes", "SIZE", HODO_AS_BYTES, 11, 0, HODO_MEMBER(struct hodo_stat_row, bytes) },
	{ "limited", "OVER RATE", HODO_AS_COUNT, 15, HODO_IF_ANY, HODO_MEMBER(struct hodo_stat_row, limited) },
};
const struct hodo_columns hodo_stat_columns = { "events", HODO_COLUMNS(columns), .sort = "count", .head = HODO_HEADING,
						.text = "name,count,per_second,bytes,limited",
						.diff = "count,per_second,bytes" };

static int make_rows(struct hodo_stat *s)
{
	s->rows = (struct hodo_map)HODO_MAP_BYTES(struct hodo_stat_row);
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);

		for (uint32_t k = 0; k < p->nclasses; k++) {
			const struct hodo_read_class *c = p->classes[k];
			struct hodo_stat_row *row;

			if (!c->count && !c->limited)
				continue;
			row = hodo_map_add_bytes(&s->rows, c->name, strlen(c->name), NULL);
			if (!row)
				return -ENOMEM;
			row->count += c->count;
			row->bytes += c->bytes;
			row->limited += c->limited;
		}
	}
	s->table = (struct hodo_table){ .columns = &hodo_stat_columns, .context = s, .first = s->rows.entries,
					.n = s->rows.n, .stride = sizeof(struct hodo_stat_row), .total = &s->total };
	return 0;
}

void hodo_stat_free(struct hodo_stat *s)
{
	hodo_table_free(&s->table);
	hodo_map_free(&s->rows);
}

int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r, const struct hodo_look *look)
{
	int err;

	*s = (struct hodo_stat){ .r = r, .totals.size = sizeof(s->totals) };
	err = hodo_read_count(r, &s->totals);
	if (err < 0)
		return err;
	s->duration_ns = (uint64_t)s->totals.end_ns - (uint64_t)s->totals.begin_ns;
	s->total = (struct hodo_stat_row){ { "total", 5 }, s->totals.events, s->totals.bytes,
					   hodo_read_limited(r, NULL) };
	err = make_rows(s);
	return err ? err : hodo_table_arrange(&s->table, look);
}

void hodo_stat_put_table(struct hodo_text *to, const struct hodo_stat *s, bool color)
{
	bool kernel = false;
	char whom[48];

	hodo_table_put(to, &s->table, color);
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		kernel |= hodo_read_process(s->r, i)->kernel != NULL;
	hodo_text_printf(to, "\nin %llu.%09llu s, %s\n", (unsigned long long)(s->duration_ns / 1000000000),
		(unsigned long long)(s->duration_ns % 1000000000),
		hodo_whom(kernel, hodo_read_nprocesses(s->r), whom));
}
