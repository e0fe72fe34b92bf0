/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - Chrome's trace events, as JSON: one object a line.
 *
 * Times are microseconds with three decimals from the recording's begin: since the epoch they would have more digits
 * than a double holds.
 */
#define _GNU_SOURCE
#include "chrome_impl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGE_BYTES (100ull << 20)
/* No process has such a number: PID_MAX_LIMIT is 2^22. */
#define KERNEL_PID 2147483646u
#define CPUS_PID   2147483647u
#define ROW_ROOM   256u /* of what is neither a name nor an argument */

/* A span that is paired by an identifier and open. */
struct chrome_open {
	struct chrome_open *next; /* free ones */
	uint64_t id;
	int64_t ts_ns;
	uint32_t pid, tid;
	bool begun; /* its event was at hand */
};

static struct chrome_open *new_open(struct chrome *c)
{
	struct chrome_open *o = c->free;

	if (o)
		c->free = o->next;
	else
		o = hodo_arena_alloc(&c->memory, sizeof(*o));
	if (!o)
		return NULL;
	o->id = ++c->nids;
	o->begun = false;
	return o;
}

/* ---------------------------------------------------------------------------- rows */

static char *put_us(char *o, int64_t ns)
{
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns < 0)
		*o++ = '-';
	o = hodo_format_u64(o, n / 1000);
	*o++ = '.';
	*o++ = (char)('0' + n / 100 % 10);
	*o++ = (char)('0' + n / 10 % 10);
	*o++ = (char)('0' + n % 10);
	return o;
}

static char *put_text(char *o, const char *text)
{
	return stpcpy(o, text);
}

/* {"ph":"B","ts":1.234,"pid":1,"tid":1 */
static char *head(struct chrome *c, char *o, char phase, int64_t ts_ns, uint32_t pid, uint32_t tid)
{
	o = put_text(o, c->rows++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	*o++ = phase;
	o = put_us(put_text(o, "\",\"ts\":"), ts_ns - c->begin_ns);
	o = hodo_format_u64(put_text(o, ",\"pid\":"), pid);
	return hodo_format_u64(put_text(o, ",\"tid\":"), tid);
}

static void ids_of(const struct hodo_read_process *process, uint32_t pid, uint32_t tid, uint32_t *out_pid,
		   uint32_t *out_tid)
{
	*out_pid = process && process->kernel ? KERNEL_PID : pid;
	*out_tid = tid;
}

/* A whole row: names is ,"name":…,"cat":… ; event may be NULL: without its arguments. */
static int put_row(struct chrome *c, char phase, int64_t ts_ns, uint32_t pid, uint32_t tid,
		   const struct chrome_name *names, const char *more, const struct hodo_read_event *event)
{
	size_t room = ROW_ROOM + (names ? names->len : 0) + strlen(more);
	const struct chrome_class *k = event ? chrome_class(c, event->cls) : NULL;
	char *o, *start;

	if (event) {
		int err = k ? chrome_args_room(c, k, event, &room) : -ENOMEM;

		if (err)
			return err;
	}
	o = start = hodo_text_room(c->e->out, room);
	if (!o)
		return c->e->out->error;
	o = head(c, o, phase, ts_ns, pid, tid);
	if (names)
		o = (char *)mempcpy(o, names->text, names->len);
	o = put_text(o, more);
	if (event)
		o = chrome_args(c, o, k, event);
	*o++ = '}';
	c->e->out->len += (size_t)(o - start);
	if (!c->large && c->e->out->written + c->e->out->len > LARGE_BYTES) {
		c->large = true;
		c->e->warn("the file gets larger than 100 MiB, and what shows this format loads all of it into memory: "
			   "use --to perfetto, or --since and --until");
	}
	return 0;
}

/* A name for a process or a thread. */
static int put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	struct hodo_text *out = c->e->out;

	hodo_text_printf(out, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
			   c->rows++ ? ",\n" : "\n", what, pid, tid);
	hodo_text_json(out, name, strlen(name), HODO_JSON_SCRIPT);
	hodo_text_add(out, "}}");
	return out->error;
}

static int put_order(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, int32_t order)
{
	hodo_text_printf(c->e->out,
			   "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%d}}",
			   c->rows++ ? ",\n" : "\n", what, pid, tid, order);
	return c->e->out->error;
}

/* -------------------------------------------------------------------------- tracks */

/* Whether it is the first time. */
static int is_new(struct chrome *c, const void *key)
{
	bool new;

	return hodo_map_add_u64(&c->known, (uintptr_t)key, &new) ? new : -ENOMEM;
}

static int put_process(struct chrome *c, const struct hodo_read_process *process, uint32_t pid)
{
	int new = is_new(c, process);

	return new <= 0 ? new : put_name(c, "process_name", pid, 0, process->kernel ? "kernel" : process->comm);
}

static int on_track(void *data, struct hodo_track *track)
{
	struct chrome *c = data;
	uint32_t pid, tid;
	char name[64];
	int err;

	if (track->kind == HODO_TRACK_CPU) {
		err = is_new(c, c);
		if (err > 0)
			err = put_name(c, "process_name", CPUS_PID, 0, "CPUs");
		if (!err)
			err = put_name(c, "thread_name", CPUS_PID, (uint32_t)track->cpu, track->name);
		return err ? err : put_order(c, "thread_sort_index", CPUS_PID, (uint32_t)track->cpu, track->cpu);
	}
	ids_of(track->process, track->pid, track->tid, &pid, &tid);
	err = put_process(c, track->process, pid);
	if (err || track->kind != HODO_TRACK_THREAD)
		return err;
	if (!track->process->kernel || track->pid == 0)
		return put_name(c, "thread_name", pid, tid, track->name);
	snprintf(name, sizeof(name), "%.40s (of %u)", track->name, track->pid);
	return put_name(c, "thread_name", pid, tid, name);
}

/* -------------------------------------------------------------------------- slices */

static int begin_async(struct chrome *c, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	const struct chrome_name *names = chrome_name(c, slice);
	struct chrome_open *open = new_open(c);
	char id[32];

	if (!names || !open)
		return -ENOMEM;
	slice->user = open;
	open->ts_ns = slice->begin_ns;
	open->begun = event != NULL;
	ids_of(slice->track->process, slice->pid, event ? event->tid : 0, &open->pid, &open->tid);
	snprintf(id, sizeof(id), ",\"id\":\"0x%llx\"", (unsigned long long)open->id);
	return put_row(c, 'b', slice->begin_ns, open->pid, open->tid, names, id, event);
}

/* An arrow from the thread where it began to another one where it ended. */
static int put_arrow(struct chrome *c, const struct chrome_open *open, const struct chrome_name *names, int64_t end_ns,
		     uint32_t pid, uint32_t tid, const char *id)
{
	char ending[64];
	int err;

	if (!open->begun || (pid == open->pid && tid == open->tid))
		return 0;
	err = put_row(c, 's', open->ts_ns, open->pid, open->tid, names, id, NULL);
	snprintf(ending, sizeof(ending), "%s,\"bp\":\"e\"", id);
	return err ? err : put_row(c, 'f', end_ns, pid, tid, names, ending, NULL);
}

static int end_async(struct chrome *c, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	const struct chrome_name *names = chrome_name(c, slice);
	struct chrome_open *open = slice->user;
	uint32_t pid, tid;
	char id[32];
	int err = names ? 0 : -ENOMEM;

	/* What is not over has no end. */
	if (!err && !(slice->flags & HODO_SLICE_OPEN)) {
		ids_of(slice->track->process, slice->pid, event ? event->tid : open->tid, &pid, &tid);
		snprintf(id, sizeof(id), ",\"id\":\"0x%llx\"", (unsigned long long)open->id);
		err = put_row(c, 'e', slice->end_ns, pid, tid, names, id, event);
		if (!err)
			err = put_arrow(c, open, names, slice->end_ns, pid, tid, id);
	}
	open->next = c->free;
	c->free = open;
	return err;
}

static int put_running(struct chrome *c, const struct hodo_slice *slice)
{
	const struct chrome_name *names_of = chrome_name(c, slice);
	char more[192], us[32];

	*put_us(us, slice->end_ns - slice->begin_ns) = 0;
	snprintf(more, sizeof(more), ",\"dur\":%s,\"args\":{\"pid\":%u,\"tid\":%llu,\"why it ended\":\"%s\"}", us,
		 slice->pid, (unsigned long long)slice->id, hodo_sched_why_text(slice->sched_why));
	return names_of ? put_row(c, 'X', slice->begin_ns, CPUS_PID, (uint32_t)slice->track->cpu, names_of, more, NULL)
			: -ENOMEM;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct chrome *c = data;
	const struct chrome_name *names;
	uint32_t pid, tid;

	if (slice->kind == HODO_SLICE_RUNNING)
		return 0;
	if (slice->kind == HODO_SLICE_ASYNC)
		return begin_async(c, slice, event);
	names = chrome_name(c, slice);
	ids_of(slice->track->process, slice->track->pid, slice->track->tid, &pid, &tid);
	return names ? put_row(c, 'B', slice->begin_ns, pid, tid, names,
			       slice->flags & HODO_SLICE_CONTINUED ? ",\"args\":{\"continued\":true}" : "",
			       slice->kind == HODO_SLICE_SPAN ? event : NULL) : -ENOMEM;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct chrome *c = data;
	uint32_t pid, tid;

	if (slice->kind == HODO_SLICE_RUNNING)
		return put_running(c, slice);
	if (slice->kind == HODO_SLICE_ASYNC)
		return end_async(c, slice, event);
	if (slice->flags & HODO_SLICE_OPEN)
		return 0;
	ids_of(slice->track->process, slice->track->pid, slice->track->tid, &pid, &tid);
	if (slice->flags & HODO_SLICE_LEFT)
		return put_row(c, 'E', slice->end_ns, pid, tid, NULL, ",\"args\":{\"left\":true}", NULL);
	return put_row(c, 'E', slice->end_ns, pid, tid, NULL, "",
		       slice->kind == HODO_SLICE_SPAN && event && event->cls->nfields > 0 ? event : NULL);
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct chrome *c = data;
	const struct chrome_class *k = chrome_class(c, event->cls);
	uint32_t pid, tid;

	(void)depth;
	ids_of(track->process, track->pid, track->tid, &pid, &tid);
	return k ? put_row(c, 'i', event->ts_ns, pid, tid, &k->name, ",\"s\":\"t\"", event) : -ENOMEM;
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct chrome *c = data;
	const struct chrome_class *k = chrome_class(c, event->cls);
	char args[64], *o = stpcpy(args, ",\"args\":{\"value\":");
	uint32_t pid, tid;

	if (!isfinite(value)) {
		if (!c->not_finite)
			c->e->warn("a counter has values that are no finite numbers, which this format has not: left out");
		c->not_finite = true;
		return 0;
	}
	/* A number alone: the context is no value over time. */
	if (event->values[0].type < HODO_TYPE_STR)
		o = hodo_read_put_value_json(o, &event->values[0], c->e->c);
	else
		*o++ = '0';
	strcpy(o, "}");
	ids_of(track->process, track->pid, event->tid, &pid, &tid);
	return k ? put_row(c, 'C', event->ts_ns, pid, tid, &k->name, args, NULL) : -ENOMEM;
}

/* Where events are missing: a span of the process. */
static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	static char lost[] = ",\"name\":\"lost events\",\"cat\":\"lost\"";
	static const struct chrome_name names = { .text = lost, .len = sizeof(lost) - 1 };
	struct chrome *c = data;
	char id[32], more[192];
	uint32_t pid, tid;
	int err;

	ids_of(loss->process, loss->process->pid, 0, &pid, &tid);
	err = put_process(c, loss->process, pid);
	snprintf(id, sizeof(id), ",\"id\":\"0x%llx\"", (unsigned long long)++c->nids);
	snprintf(more, sizeof(more),
		 "%s,\"args\":{\"cpu\":%d,\"discarded\":%llu,\"overwritten\":%llu,\"damaged\":%llu}", id,
		 loss->stream->cpu, (unsigned long long)loss->discarded, (unsigned long long)loss->overwritten,
		 (unsigned long long)loss->damaged);
	if (!err)
		err = put_row(c, 'b', loss->from_ns, pid, tid, &names, more, NULL);
	return err ? err : put_row(c, 'e', loss->until_ns, pid, tid, &names, id, NULL);
}

static int open_chrome(void *state, struct hodo_export *e)
{
	struct chrome *c = state;

	c->e = e;
	c->begin_ns = hodo_read_begin_ns(e->reader);
	c->classes = (struct hodo_map)HODO_MAP(struct chrome_class, address);
	c->names = (struct hodo_map)HODO_MAP(struct chrome_name, address);
	c->known = (struct hodo_map)HODO_MAP(struct chrome_known, address);
	hodo_text_printf(e->out, "{\"displayTimeUnit\":\"ns\","
			 "\"otherData\":{\"recorder\":\"hodo\",\"begin_ns\":\"%lld\"},\"traceEvents\":[",
			 (long long)c->begin_ns);
	return e->out->error;
}

static int end_chrome(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	(void)state, (void)tree;
	hodo_text_add(e->out, "\n]}\n");
	return e->out->error;
}

const struct hodo_export_format hodo_export_chrome = {
	.name = "chrome",
	.suffix = "json",
	.does = "trace events as JSON: about:tracing, other viewers; large",
	.state_bytes = sizeof(struct chrome),
	.open = open_chrome,
	.timeline = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant,
		      .counter = on_counter, .loss = on_loss },
	.write = end_chrome,
	.free = chrome_free,
};
