/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - Chrome's trace events, as JSON: one object a line.
 *
 * Times are microseconds with decimals since the recording's start: since the epoch, they would have more
 * digits than a double holds.
 */
#define _GNU_SOURCE
#include "hosts.h"
#include "export.h"
#include <read/event/runs.h>

#include <base/json.h>
#include <base/map.h>
#include <errno.h>
#include <math.h>
#include <read/text/text.h>
#include <stdio.h>

#define LARGE_BYTES (100ull << 20)
/* No process has such a pid: PID_MAX_LIMIT is 2^22. */
#define KERNEL_PID 2147483646u
#define CPUS_PID   2147483647u
#define LOST       "lost events"

/* A text as it appears in rows, made once: ,"name":"kv:get","cat":"kv" or a "key": */
struct piece {
	uint64_t address; /* of the text, which stays where it is */
	struct hodo_bytes json;
};

struct chrome {
	struct hodo_export *e;
	struct hodo_json json; /* into the output; each row is a value, added as text */
	int64_t begin_ns;
	uint64_t nlosses;
	struct hodo_map known; /* processes that have their names, by address */
	struct hodo_map pieces;
	struct hodo_arena memory; /* of these */
	bool large, not_finite; /* already warned */
};

/* ---------------------------------------------------------------------------- rows */

/* A row's process and thread. */
struct ids {
	uint32_t pid, tid;
};

static struct ids ids_of(const struct hodo_read_process *process, uint32_t pid, uint32_t tid)
{
	return (struct ids){ process->kernel ? KERNEL_PID - 2 * process->host : hodo_number_apart(process, pid),
			     hodo_number_apart(process, tid) };
}

static struct ids track_ids(const struct hodo_track *t)
{
	return t->kind == HODO_TRACK_CPU ? (struct ids){ CPUS_PID - 2 * t->kernel->host, (uint32_t)t->cpu }
					 : ids_of(t->process, t->pid, t->tid);
}

static struct hodo_bytes make_piece(struct chrome *c, const char *text, const char *category)
{
	struct hodo_text made = { 0 };
	struct hodo_json j = { .text = &made };
	struct hodo_bytes piece = { 0 };

	if (category) {
		hodo_text_char(&made, ',');
		hodo_json_string(&j, "name", text);
		hodo_json_bytes(&j, "cat", category, strcspn(category, ":"));
	} else {
		hodo_json_value(&j, text);
	}
	piece.data = hodo_arena_copy(&c->memory, made.data, made.len);
	piece.len = piece.data ? made.len : 0;
	hodo_text_fail(c->e->out, piece.data ? made.error : -ENOMEM);
	hodo_text_free(&made);
	return piece;
}

/* A name with its category; or a key, with category NULL, to be followed by the value. */
static void put_piece(struct chrome *c, const char *text, const char *category)
{
	bool is_new;
	struct piece *piece = hodo_map_add_u64(&c->pieces, (uintptr_t)text, &is_new);

	if (piece && is_new)
		piece->json = make_piece(c, text, category);
	if (piece)
		hodo_text_bytes(c->e->out, piece->json.data, piece->json.len);
	else
		hodo_text_fail(c->e->out, -ENOMEM);
}

/*
 * {"ph":"B","ts":1.234,"pid":1,"tid":1 and name and category; ends have them, too, so that readers can pair
 * them.
 */
static void begin_row(struct chrome *c, char phase, int64_t ts_ns, struct ids ids, const char *name,
		      const char *category)
{
	char *start, *o;

	hodo_json_line(&c->json);
	o = start = hodo_text_room(hodo_json_value(&c->json, NULL), 128);
	if (!o)
		return;
	o = stpcpy(o, "{\"ph\":\"");
	*o++ = phase;
	o = hodo_format_decimal(stpcpy(o, "\",\"ts\":"), ts_ns - c->begin_ns, 3);
	o = hodo_format_u64(stpcpy(o, ",\"pid\":"), ids.pid);
	o = hodo_format_u64(stpcpy(o, ",\"tid\":"), ids.tid);
	c->e->out->len += (size_t)(o - start);
	put_piece(c, name, category);
}

static int end_row(struct chrome *c)
{
	struct hodo_text *out = c->e->out;

	hodo_text_char(out, '}');
	if (!c->large && out->written + out->len > LARGE_BYTES) {
		c->large = true;
		c->e->warn("the file gets larger than 100 MiB, and what shows this format loads all of it into memory: "
			   "use --to perfetto, or --since and --until");
	}
	return out->error;
}

/* As a text: JavaScript's numbers are too small. */
static void put_hex(struct hodo_text *out, uint64_t v)
{
	char *o = hodo_text_room(out, HODO_FORMAT_INTEGER_MAX + 2);

	if (!o)
		return;
	o = hodo_format_hex(stpcpy(o, "\"0x"), v);
	*o++ = '"';
	out->len = (size_t)(o - out->data);
}

static void put_id(struct chrome *c, uint64_t id)
{
	hodo_text_add(c->e->out, ",\"id\":");
	put_hex(c->e->out, id);
}

/* A name for a process or a thread. */
static void put_name(struct chrome *c, const char *what, struct ids ids, const char *name)
{
	struct hodo_text *out = c->e->out;

	hodo_json_line(&c->json);
	hodo_text_printf(hodo_json_value(&c->json, NULL),
			 "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, ids.pid,
			 ids.tid);
	hodo_text_json(out, name, strlen(name), HODO_JSON_PLAIN);
	hodo_text_add(out, "}}");
}

/* ----------------------------------------------------------------------- arguments */

static void put_field(struct chrome *c, const struct hodo_read_event *event, uint32_t i)
{
	const struct hodo_read_class *cls = event->cls;
	const struct hodo_read_field *f = &cls->fields[i];
	const struct hodo_read_value *v = &event->values[i];
	const char *label = f->labels && v->type < HODO_TYPE_STR ? hodo_read_label(f->labels, v->i) : NULL;
	const char *key = f->name;

	/* Not twice the same key. */
	if (cls->kind == HODO_KIND_MARK && strcmp(key, "text") == 0)
		key = "field_text";
	else if (cls->ncontext > 0 && strcmp(key, "context") == 0)
		key = "field_context";
	if (v->type == HODO_TYPE_PTR && cls->kind == HODO_KIND_FUNCTION)
		label = hodo_symbols_name_at(c->e->symbols, event, v->u);
	put_piece(c, key, NULL);
	if (label)
		hodo_text_json(c->e->out, label, strlen(label), HODO_JSON_PLAIN);
	else if (v->type == HODO_TYPE_PTR)
		put_hex(c->e->out, v->u);
	else
		hodo_read_add_value_json(c->e->out, v, c->e->text->c);
}

static void put_args(struct chrome *c, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	struct hodo_text *out = c->e->out;
	bool mark = cls->kind == HODO_KIND_MARK, first = !mark && cls->nfields == 0;
	const char *text;
	size_t len;

	if (first && cls->ncontext == 0)
		return;
	hodo_text_add(out, ",\"args\":{");
	if (mark) {
		text = hodo_export_text(c->e, event, &len, hodo_read_text_mark);
		hodo_text_add(out, "\"text\":");
		hodo_text_json(out, text, len, HODO_JSON_PLAIN);
	}
	for (uint32_t i = 0; i < cls->nfields; i++) {
		if (mark || i > 0)
			hodo_text_char(out, ',');
		put_field(c, event, i);
	}
	if (cls->ncontext > 0) {
		text = hodo_export_text(c->e, event, &len, hodo_read_add_context_json);
		if (len > 0) /* a comma comes first */
			hodo_text_bytes(out, text + first, len - first);
	}
	hodo_text_char(out, '}');
}

/* -------------------------------------------------------------------------- tracks */

/* Whether it is the first time. */
static bool is_new(struct chrome *c, const void *key)
{
	bool is_new;

	if (hodo_map_add_u64(&c->known, (uintptr_t)key, &is_new))
		return is_new;
	hodo_text_fail(c->e->out, -ENOMEM);
	return false;
}

static void need_process(struct chrome *c, const struct hodo_read_process *process, uint32_t pid)
{
	char name[160];

	if (is_new(c, process))
		put_name(c, "process_name", ids_of(process, pid, 0),
			 hodo_name_apart(c->e->reader, process, process->kernel ? "kernel" : process->comm, name));
}

static int on_track(void *data, struct hodo_track *track)
{
	struct chrome *c = data;
	struct ids ids = track_ids(track);
	char name[160];

	if (track->kind == HODO_TRACK_CPU) {
		/* Any address of the host's that is not a process's. */
		if (is_new(c, &track->kernel->host))
			put_name(c, "process_name", (struct ids){ ids.pid, 0 },
				 hodo_name_apart(c->e->reader, track->kernel, "CPUs", name));
		put_name(c, "thread_name", ids, track->name);
		hodo_json_line(&c->json);
		hodo_json_printf(&c->json, NULL, "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,"
				 "\"args\":{\"sort_index\":%d}}", ids.pid, ids.tid, track->cpu);
		return c->e->out->error;
	}
	need_process(c, track->process, track->pid);
	snprintf(name, sizeof(name), "%.40s (of %u)", track->name, track->pid);
	if (track->kind == HODO_TRACK_THREAD)
		put_name(c, "thread_name", ids, track->process->kernel && track->pid ? name : track->name);
	return c->e->out->error;
}

/* -------------------------------------------------------------------------- slices */

static const char *category_of(const struct hodo_slice *slice)
{
	return slice->kind == HODO_SLICE_CALL ? "func" : slice->cls ? slice->cls->name : "sched";
}

static void begin_slice_row(struct chrome *c, char phase, const struct hodo_slice *slice, struct ids ids)
{
	bool begin = phase == 'b' || phase == 's' || phase == 'B' || phase == 'X';

	begin_row(c, phase, begin ? slice->begin_ns : slice->end_ns, ids, slice->name, category_of(slice));
	if (slice->kind == HODO_SLICE_ASYNC)
		put_id(c, c->nlosses + slice->number);
}

static int end_async(struct chrome *c, const struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct ids from = track_ids(slice->began_on), to;

	/* An open slice has no end. */
	if (!slice->ended_on)
		return 0;
	to = track_ids(slice->ended_on);
	begin_slice_row(c, 'e', slice, to);
	put_args(c, event);
	end_row(c);
	if (from.pid == to.pid && from.tid == to.tid)
		return c->e->out->error;
	/* An arrow from the thread where it began to another one where it ended. */
	begin_slice_row(c, 's', slice, from);
	end_row(c);
	begin_slice_row(c, 'f', slice, to);
	hodo_text_add(c->e->out, ",\"bp\":\"e\"");
	return end_row(c);
}

static int put_running(struct chrome *c, const struct hodo_slice *slice)
{
	begin_slice_row(c, 'X', slice, track_ids(slice->track));
	hodo_text_add(c->e->out, ",\"dur\":");
	hodo_text_decimal(c->e->out, slice->end_ns - slice->begin_ns, 3);
	hodo_text_printf(c->e->out, ",\"args\":{\"pid\":%u,\"tid\":%llu,\"why it ended\":\"%s\"}", slice->pid,
			 (unsigned long long)slice->id, hodo_sched_why_text(slice->sched_why));
	return end_row(c);
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct chrome *c = data;
	bool async = slice->kind == HODO_SLICE_ASYNC;

	if (slice->kind == HODO_SLICE_RUNNING)
		return 0;
	begin_slice_row(c, async ? 'b' : 'B', slice, track_ids(async ? slice->began_on : slice->track));
	if (slice->flags & HODO_SLICE_CONTINUED)
		hodo_text_add(c->e->out, ",\"args\":{\"continued\":true}");
	else if (event && slice->kind != HODO_SLICE_CALL)
		put_args(c, event);
	return end_row(c);
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct chrome *c = data;

	if (slice->kind == HODO_SLICE_RUNNING)
		return put_running(c, slice);
	if (slice->kind == HODO_SLICE_ASYNC)
		return end_async(c, slice, event);
	if (slice->flags & HODO_SLICE_OPEN)
		return 0;
	begin_slice_row(c, 'E', slice, track_ids(slice->track));
	if (slice->flags & HODO_SLICE_LEFT)
		hodo_text_add(c->e->out, ",\"args\":{\"left\":true}");
	else if (slice->flags & HODO_SLICE_END_LOST)
		hodo_text_printf(c->e->out, ",\"args\":{\"%s\":true}", hodo_slice_end_lost(slice));
	else if (slice->kind == HODO_SLICE_SPAN && event && event->cls->nfields > 0)
		put_args(c, event);
	return end_row(c);
}

/* -------------------------------------------------------------------------- points */

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct chrome *c = data;

	begin_row(c, 'i', event->ts_ns, track_ids(track), event->cls->name, event->cls->name);
	hodo_text_add(c->e->out, ",\"s\":\"t\"");
	put_args(c, event);
	return end_row(c);
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct chrome *c = data;

	if (!isfinite(value)) {
		if (!c->not_finite)
			c->e->warn("a counter has infinite values or NaNs, for which this format has no form: left out");
		c->not_finite = true;
		return 0;
	}
	begin_row(c, 'C', event->ts_ns, ids_of(track->process, track->pid, event->tid), event->cls->name,
		  event->cls->name);
	hodo_text_add(c->e->out, ",\"args\":{\"value\":");
	/* Only a number: the context is not a value over time. */
	if (event->values[0].type < HODO_TYPE_STR)
		hodo_read_add_value_json(c->e->out, &event->values[0], c->e->text->c);
	else
		hodo_text_char(c->e->out, '0');
	hodo_text_char(c->e->out, '}');
	return end_row(c);
}

/* Where events are missing: a span of the process. */
static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct chrome *c = data;
	struct ids ids = ids_of(loss->process, loss->process->pid, 0);
	struct hodo_json args = { .text = c->e->out };

	need_process(c, loss->process, loss->process->pid);
	begin_row(c, 'b', loss->from_ns, ids, LOST, "lost");
	put_id(c, ++c->nlosses);
	hodo_text_add(c->e->out, ",\"args\":");
	hodo_json_object(&args, NULL);
	hodo_export_loss(&args, loss);
	hodo_json_end(&args);
	end_row(c);
	begin_row(c, 'e', loss->until_ns, ids, LOST, "lost");
	put_id(c, c->nlosses);
	return end_row(c);
}

static int open_chrome(void *state, struct hodo_export *e)
{
	struct chrome *c = state;

	c->e = e;
	c->json.text = e->out;
	c->begin_ns = hodo_read_begin_ns(e->reader);
	c->known = (struct hodo_map){ .entry_bytes = sizeof(uint64_t), .key_bytes = sizeof(uint64_t) };
	c->pieces = (struct hodo_map)HODO_MAP(struct piece, address);
	hodo_json_object(&c->json, NULL);
	hodo_json_string(&c->json, "displayTimeUnit", "ns");
	hodo_json_object(&c->json, "otherData");
	hodo_json_string(&c->json, "recorder", "hodo");
	hodo_json_printf(&c->json, "begin_ns", "\"%lld\"", (long long)c->begin_ns);
	hodo_json_end(&c->json);
	hodo_json_array(&c->json, "traceEvents");
	return e->out->error;
}

static int end_chrome(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct chrome *c = state;

	hodo_json_line(&c->json);
	hodo_json_end(&c->json);
	hodo_json_end(&c->json);
	hodo_text_char(e->out, '\n');
	return e->out->error;
}

static void free_chrome(void *state)
{
	struct chrome *c = state;

	hodo_map_free(&c->known);
	hodo_map_free(&c->pieces);
	hodo_arena_free(&c->memory);
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
	.free = free_chrome,
};
