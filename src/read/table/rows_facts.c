/* SPDX-License-Identifier: MIT */
/* rows_facts.c - what is known of a recording as a whole: its hosts and processes, and what it lost. */
#include "rows_impl.h"

#include <base/escape.h>
#include <errno.h>
#include <read/file/identity.h>

static void put_u64(struct hodo_rows_batch *b, uint32_t column, uint64_t value)
{
	hodo_rows_i64(b, column, (int64_t)value);
}

static uint64_t lost_of(const struct hodo_read *reader, const struct hodo_read_process *p)
{
	struct hodo_read_lost l = hodo_read_lost(reader, p);

	return l.full + l.too_large + l.busy + l.unwritten + l.unknown + l.damaged + l.overwritten;
}

/* What the packets of a process say. */
struct figures {
	int64_t begin_ns, end_ns;
	uint64_t events, lost, damaged;
};

static struct figures figures_of(const struct hodo_rows *r, const struct hodo_read_process *p)
{
	const struct known_process *known = hodo_map_find(&r->known, &p);
	struct figures f = { INT64_MAX, INT64_MIN, 0, lost_of(r->reader, p), known ? known->damaged : 0 };

	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_stream *s = p->streams[i];

		f.events += s->events - s->damaged;
		if (s->packets && s->begin_ns < f.begin_ns)
			f.begin_ns = s->begin_ns;
		if (s->packets && s->end_ns > f.end_ns)
			f.end_ns = s->end_ns;
	}
	if (f.begin_ns == INT64_MAX)
		f.begin_ns = f.end_ns = p->complete ? p->end_ns : 0;
	return f;
}

static struct hodo_rows_bytes uuid_of(struct hodo_rows_batch *b, const struct hodo_read_process *p)
{
	char *text = hodo_rows_alloc(b, 2 * sizeof(p->uuid));

	if (text)
		hodo_format_bytes(text, p->uuid, sizeof(p->uuid));
	return (struct hodo_rows_bytes){ text, 2 * sizeof(p->uuid) };
}

/* By these it is known whether another recording has the same events. */
static struct hodo_rows_bytes numbers_of(struct hodo_rows *r, const struct hodo_read_process *p)
{
	const struct known_process *known = hodo_map_find(&r->known, &p);
	uint32_t n = known ? known->nnumbers : 0;

	return hodo_rows_copy(r->processes, n ? r->numbers.data + known->at : "", n, n);
}

static int put_process(struct hodo_rows *r, const struct hodo_read_process *p)
{
	struct hodo_rows_batch *b = r->processes;
	struct figures f = figures_of(r, p);
	int err = hodo_rows_begin(b, f.begin_ns);
	uint8_t *complete;

	if (err)
		return err;
	hodo_rows_put_name(b, PROCESSES_HOST, rows_host(r, p));
	hodo_rows_put_name(b, PROCESSES_PROCESS, rows_name(r, p->comm));
	hodo_rows_u32(b, PROCESSES_PID, p->pid);
	hodo_rows_u32(b, PROCESSES_PPID, p->ppid);
	hodo_rows_u32(b, PROCESSES_UID, p->uid);
	hodo_rows_put_name(b, PROCESSES_EXE, rows_name(r, p->exe));
	hodo_rows_put_name(b, PROCESSES_KERNEL, rows_name(r, p->kernel));
	hodo_rows_put_name(b, PROCESSES_RECORDING, rows_name(r, r->recording));
	hodo_rows_put_name(b, PROCESSES_FOLDER, rows_name(r, p->folder));
	hodo_rows_put_bytes(b, PROCESSES_UUID, uuid_of(b, p));
	hodo_rows_i64(b, PROCESSES_END, p->complete ? p->end_ns : f.end_ns);
	complete = hodo_rows_at(b, PROCESSES_COMPLETE);
	if (complete)
		*complete = p->complete;
	put_u64(b, PROCESSES_EVENTS, f.events);
	put_u64(b, PROCESSES_LOST, f.lost);
	put_u64(b, PROCESSES_DAMAGED, f.damaged);
	hodo_rows_put_bytes(b, PROCESSES_NUMBERS, numbers_of(r, p));
	return rows_end(r, b);
}

static bool same_host(const struct hodo_read_process *a, const struct hodo_read_process *b)
{
	return strcmp(a->hostname ? a->hostname : "", b->hostname ? b->hostname : "") == 0;
}

/* Of all processes of the i-th one's host. Recordings have one host, or as many as were merged: few. */
static int put_host(struct hodo_rows *r, uint32_t first)
{
	const struct hodo_read_process *of = hodo_read_process(r->reader, first), *p;
	struct figures all = { INT64_MAX, INT64_MIN, 0, 0, 0 };
	struct hodo_rows_batch *b = r->hosts;
	const char *kernel = NULL;
	uint32_t n = 0;
	int err;

	for (uint32_t i = 0; (p = hodo_read_process(r->reader, i)); i++) {
		struct figures f;

		if (i < first && same_host(p, of))
			return 0; /* it has its row */
		if (!same_host(p, of))
			continue;
		f = figures_of(r, p);
		all.begin_ns = f.begin_ns < all.begin_ns ? f.begin_ns : all.begin_ns;
		all.end_ns = f.end_ns > all.end_ns ? f.end_ns : all.end_ns;
		all.events += f.events;
		all.lost += f.lost;
		all.damaged += f.damaged;
		n++;
		kernel = p->kernel ? p->kernel : kernel;
	}
	err = hodo_rows_begin(b, all.begin_ns);
	if (err)
		return err;
	hodo_rows_put_name(b, HOSTS_HOST, rows_host(r, of));
	hodo_rows_put_name(b, HOSTS_RECORDING, rows_name(r, r->recording));
	hodo_rows_i64(b, HOSTS_END, all.end_ns);
	hodo_rows_u32(b, HOSTS_PROCESSES, n);
	hodo_rows_put_name(b, HOSTS_KERNEL, rows_name(r, kernel));
	put_u64(b, HOSTS_EVENTS, all.events);
	put_u64(b, HOSTS_LOST, all.lost);
	put_u64(b, HOSTS_DAMAGED, all.damaged);
	return rows_end(r, b);
}

static int note_damaged(struct hodo_rows *r, const struct hodo_read_loss *loss)
{
	struct known_process *known = hodo_map_add(&r->known, &loss->process, NULL);

	if (known)
		known->damaged += loss->damaged;
	return known ? 0 : -ENOMEM;
}

static int note_numbers(void *rows, const struct hodo_read_numbers *n)
{
	struct hodo_rows *r = rows;
	struct known_process *known = hodo_map_add(&r->known, &n->process, NULL);
	const char *name = n->stream->name;

	if (!known)
		return -ENOMEM;
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789")])
		return 0; /* none of ours */
	if (!known->nnumbers)
		known->at = r->numbers.len;
	hodo_text_printf(&r->numbers, "%s%s:%llu-%llu", known->nnumbers ? " " : "", name, (unsigned long long)n->from,
			 (unsigned long long)n->to);
	known->nnumbers = (uint32_t)(r->numbers.len - known->at);
	return r->numbers.error;
}

static int found_loss(void *rows, const struct hodo_read_loss *loss)
{
	struct hodo_rows *r = rows;
	struct hodo_rows_batch *b = r->losses;
	int err = loss->damaged ? note_damaged(r, loss) : 0;

	if (err || !b)
		return err;
	if (r->until_ns != 0 && (loss->until_ns < r->since_ns || loss->from_ns >= r->until_ns))
		return 0;
	err = hodo_rows_begin(b, loss->from_ns);
	if (err)
		return err;
	hodo_rows_put_name(b, LOSSES_HOST, rows_host(r, loss->process));
	hodo_rows_put_name(b, LOSSES_PROCESS, rows_name(r, loss->process->comm));
	hodo_rows_u32(b, LOSSES_PID, loss->process->pid);
	hodo_rows_u32(b, LOSSES_CPU, (uint32_t)loss->stream->cpu);
	hodo_rows_i64(b, LOSSES_END, loss->until_ns);
	put_u64(b, LOSSES_DISCARDED, loss->discarded);
	put_u64(b, LOSSES_OVERWRITTEN, loss->overwritten);
	put_u64(b, LOSSES_DAMAGED, loss->damaged);
	return rows_end(r, b);
}

int rows_facts(struct hodo_rows *r)
{
	const struct hodo_read_process *p;
	int err = 0;

	if (r->processes && hodo_rows_wants(r->processes, PROCESSES_NUMBERS))
		err = hodo_read_numbers(r->reader, note_numbers, r);
	/* What is damaged shows when all events are read; the headers say the rest. */
	if (!err && (r->losses || (r->processes && hodo_rows_wants(r->processes, PROCESSES_DAMAGED)) ||
		     (r->hosts && hodo_rows_wants(r->hosts, HOSTS_DAMAGED))))
		err = hodo_read_losses(r->reader, found_loss, r);
	else if (!err && (r->processes || r->hosts))
		err = hodo_read_scan(r->reader);
	for (uint32_t i = 0; !err && (p = hodo_read_process(r->reader, i)); i++) {
		if (r->processes)
			err = put_process(r, p);
		if (r->hosts && !err)
			err = put_host(r, i);
	}
	return err;
}
