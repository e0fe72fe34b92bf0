/* SPDX-License-Identifier: MIT */
/* rows.c - the rows of a recording: what is wanted, and which batch comes next. */
#include "rows.h"
#include "rows_impl.h"

#include <base/intern.h>
#include <base/map.h>
#include <read/event/runs.h>
#include <read/file/reader.h>

#include <errno.h>
#include <stdlib.h>

/* --------------------------------------------------------------------- batches */

static struct hodo_rows_batch *largest(struct hodo_rows *r)
{
	struct hodo_rows_batch *most = NULL;
	size_t bytes = 0;

	for (uint32_t i = 0; i < r->nbatches; i++) {
		size_t has = r->batches[i].n ? hodo_rows_batch_bytes(&r->batches[i]) : 0;

		if (has > bytes) {
			most = &r->batches[i];
			bytes = has;
		}
	}
	return most;
}

/* Takes the next event, or is at the end. */
static int step(struct hodo_rows *r)
{
	const struct hodo_read_event *e;
	int n;

	if (r->timeline)
		return hodo_timeline_next(r->timeline);
	n = r->events || r->samples || r->classes ? hodo_read_next(r->reader, &e) : 0;
	if (n > 0) {
		int err = rows_event(r, e);

		return err ? err : 1;
	}
	return n;
}

static void take_back(struct hodo_rows *r)
{
	struct hodo_rows_batch *b = r->given;

	if (!b)
		return;
	/* Many tables with few rows each would keep the memory of many rows each. */
	if (r->nbatches > 64)
		hodo_rows_batch_shrink(b);
	else
		hodo_rows_batch_clear(b);
	r->given = NULL;
}

int hodo_rows_take(struct hodo_rows *r, struct hodo_rows_batch *batch)
{
	struct hodo_rows_batch *b = r->given;
	struct hodo_rows_values *columns = b ? calloc(b->table->ncolumns, sizeof(*columns)) : NULL;

	if (!columns)
		return -ENOMEM;
	*batch = *b;
	for (uint32_t i = 0; i < b->table->ncolumns; i++)
		columns[i] = (struct hodo_rows_values){ .type = b->columns[i].type, .bytes = b->columns[i].bytes };
	/* The next one gets its room at once, and need not be copied as it grows. */
	*b = (struct hodo_rows_batch){ .number = b->number, .table = b->table, .names = b->names, .columns = columns,
				       .sorted = true, .room = b->room, .most = b->most };
	r->given = NULL;
	return 0;
}

int hodo_rows_next(struct hodo_rows *r, const struct hodo_rows_batch **batch)
{
	int n = 1;

	take_back(r);
	r->full = NULL;
	while (!r->ended && !r->full && !r->too_much) {
		n = step(r);
		if (n < 0)
			return n;
		r->ended = n == 0;
	}
	r->given = r->full ? r->full : largest(r);
	r->too_much = false;
	*batch = r->given;
	if (r->given && hodo_rows_batch_end(r->given) < 0)
		return -ENOMEM;
	return r->given ? 1 : 0;
}

/* ------------------------------------------------------------------ open and close */

static int start_timeline(struct hodo_rows *r)
{
	struct hodo_timeline_ops ops = { .event = rows_event, .begin = rows_slice_begin, .end = rows_slice_end,
					 .call = rows_slice_call, .no_cpus = !r->waits };
	bool fields = false;

	if (!r->spans && !r->calls && !r->waits)
		return 0;
	for (uint32_t i = SPANS_FIELDS; r->spans && i < r->spans->table->ncolumns; i++)
		fields |= hodo_rows_wants(r->spans, i);
	hodo_slice_rows_init(&r->slices, r->reader, fields);
	if (!r->events && !r->samples && !r->classes)
		ops.event = NULL;
	r->timeline = hodo_timeline_new(r->reader, r->places, &ops, r);
	if (!r->timeline)
		return -ENOMEM;
	if (r->flat) {
		r->takes = r->reader->takes;
		r->takes_data = r->reader->takes_data;
		r->takes_whole = r->reader->whole;
		r->reader->takes = NULL;
		r->reader->whole = false;
	}
	return hodo_timeline_start(r->timeline, r->since_ns, r->until_ns);
}

/* The kernel's folder, which may know when threads did not run. */
static const struct hodo_read_process *find_kernel(const struct hodo_read *reader)
{
	const struct hodo_read_process *p;

	for (uint32_t i = 0; (p = hodo_read_process(reader, i)); i++)
		if (p->kernel)
			return p;
	return NULL;
}

static int make_batches(struct hodo_rows *r, const struct hodo_rows_source *source)
{
	const bool *columns = source->columns;
	uint32_t first = columns ? source->number : 0, end = columns ? first + 1 : hodo_rows_ntables(r->schema);
	struct hodo_rows_batch **const known[HODO_ROWS_FIXED] = {
		&r->events, &r->spans, &r->calls, &r->waits, &r->samples, &r->losses, &r->processes, &r->hosts,
	};
	int err = 0;

	r->batches = calloc(end - first, sizeof(*r->batches));
	if (!r->batches)
		return -ENOMEM;
	for (uint32_t i = first; i < end && !err; i++) {
		const struct hodo_rows_table *table = hodo_rows_table(r->schema, i);
		struct hodo_rows_batch *b = &r->batches[r->nbatches];

		if (source->wants && !source->wants(source->data, table->name))
			continue;
		err = hodo_rows_batch_init(b, i, table, columns, &r->names);
		b->most = r->batch_rows;
		b->room = r->flat ? (r->batch_rows + 63) / 64 * 64 : 0; /* one alone need not begin small */
		b->zeroed = r->flat;
		if (i < HODO_ROWS_FIXED)
			*known[i] = b;
		r->classes |= i >= HODO_ROWS_FIXED;
		r->nbatches++;
	}
	return err;
}

int hodo_rows_open(struct hodo_rows **rows, const struct hodo_rows_source *source)
{
	struct hodo_rows *r = calloc(1, sizeof(*r));
	int err;

	*rows = r;
	if (!r)
		return -ENOMEM;
	r->schema = source->schema;
	r->reader = source->reader;
	r->places = source->places;
	r->recording = source->recording;
	r->flat = source->flat;
	r->since_ns = source->since_ns;
	r->until_ns = source->until_ns;
	r->plans = (struct hodo_map)HODO_MAP_KEPT(uint64_t);
	r->texts = (struct hodo_map)HODO_MAP(struct known_text, address);
	r->threads = (struct hodo_map)HODO_MAP(struct thread_name, tid);
	r->known = (struct hodo_map)HODO_MAP(struct known_process, process);
	r->kernel = find_kernel(r->reader);
	r->text = hodo_read_text_new();
	r->batch_rows = source->batch_rows ? source->batch_rows : HODO_ROWS_BATCH;
	r->pending_max = source->pending_bytes ? source->pending_bytes : HODO_ROWS_PENDING;
	err = r->text ? make_batches(r, source) : -ENOMEM;
	/* How long threads did not run is found out with the start events, which costs time. */
	if (!err && r->spans && hodo_rows_wants(r->spans, SPANS_OFF_CPU) && hodo_off_cpu_recorded(r->reader))
		err = hodo_read_spans(r->reader);
	if (!err)
		err = rows_facts(r);
	if (!err)
		err = start_timeline(r);
	if (err) {
		hodo_rows_close(r);
		*rows = NULL;
	}
	return err;
}

void hodo_rows_close(struct hodo_rows *r)
{
	if (!r)
		return;
	if (r->takes) {
		r->reader->takes = r->takes;
		r->reader->whole = r->takes_whole;
	}
	hodo_timeline_free(r->timeline);
	hodo_slice_rows_free(&r->slices);
	hodo_map_free(&r->threads);
	hodo_map_free(&r->known);
	hodo_text_free(&r->numbers);
	for (uint32_t i = 0; i < r->nbatches; i++)
		hodo_rows_batch_free(&r->batches[i]);
	free(r->batches);
	hodo_map_free(&r->plans);
	hodo_map_free(&r->texts);
	hodo_strings_free(&r->names);
	hodo_read_text_free(r->text);
	hodo_text_free(&r->scratch);
	free(r);
}
