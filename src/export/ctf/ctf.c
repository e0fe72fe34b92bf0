/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - a CTF trace for other viewers, with process, thread and its name in each event. One trace for all
 * processes, on one clock. Calls are events with LTTng's names, and nest as in the timeline; all other events
 * are as recorded.
 */
#define _GNU_SOURCE
#include "ctf_impl.h"

#include <errno.h>
#include <string.h>

static int put_event(struct ctf *c, const struct hodo_read_event *e)
{
	uint32_t id = ctf_describe(c, e->cls);
	const struct ctf_event event = { e->cpu, e->ts_ns, id, e->pid, e->tid, e->comm };
	struct hodo_text *to;
	int err = 0;

	if (id == UINT32_MAX)
		return -ENOMEM;
	to = ctf_begin(c, &event, &err);
	if (to)
		ctf_values(to, e);
	return to ? to->error : err;
}

static int on_event(void *data, const struct hodo_read_event *e)
{
	struct ctf *c = data;

	c->at = e;
	if (e->cls->role == HODO_READ_ROLE_CALL_ENTRY || e->cls->role == HODO_READ_ROLE_CALL_EXIT)
		return 0; /* it is an end of a slice */
	return put_event(c, e);
}

/* On the CPU of its event. how: of an exit, else NULL. */
static int put_call(struct ctf *c, const struct hodo_slice *s, int64_t ts_ns, const char *how)
{
	const struct ctf_event event = { c->at ? c->at->cpu : -1, ts_ns, how ? CTF_FUNC_EXIT : CTF_FUNC_ENTRY,
					 s->track->pid, s->track->tid, s->track->name };
	struct hodo_text *to;
	int err = 0;

	to = ctf_begin(c, &event, &err);
	if (!to)
		return err;
	hodo_text_bytes(to, &s->place->start, sizeof(s->place->start));
	hodo_text_bytes(to, s->place->name, strlen(s->place->name) + 1);
	if (how)
		hodo_text_bytes(to, how, strlen(how) + 1);
	return to->error;
}

/* A late call stays a single event: its entry lies before what has been written. */
static int on_begin(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	bool call = s->kind == HODO_SLICE_CALL && (e || s->flags & HODO_SLICE_CONTINUED);

	s->user = call ? data : NULL;
	return call ? put_call(data, s, s->begin_ns, NULL) : 0;
}

static int on_end(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	uint32_t f = s->flags;

	(void)e;
	if (!s->user || f & HODO_SLICE_OPEN)
		return 0;
	return put_call(data, s, s->end_ns, f & HODO_SLICE_LEFT ? "left" : f & HODO_SLICE_END_LOST ? "exit lost" :
			f & HODO_SLICE_NO_EXIT ? "not seen" : f & HODO_SLICE_SPLIT ? "goes on" : "returned");
}

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	return ctf_lost(data, loss);
}

static int start(void *state, struct hodo_export *e)
{
	const struct hodo_read_process *p = hodo_read_process(e->reader, 0);
	int64_t begin_ns = hodo_read_begin_ns(e->reader);
	struct ctf *c = state;

	c->e = e;
	c->streams = (struct hodo_map)HODO_MAP(struct ctf_stream, key);
	c->classes = (struct hodo_map)HODO_MAP(struct ctf_class, address);
	/* A packet without losses may precede everything by a little. */
	c->base_s = begin_ns / 1000000000 - (begin_ns > 1000000000);
	/* Not the recording's own: a viewer that opens both would merge them into one trace. */
	for (unsigned i = 0; i < sizeof(c->uuid); i++)
		c->uuid[i] = (p ? p->uuid[i] : 0) ^ 0x5a;
	return ctf_describe_calls(c);
}

static int finish(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct ctf *c = state;
	int err = ctf_finish(c);

	(void)tree;
	c->text.len = 0;
	ctf_metadata(c, &c->text);
	if (!err)
		err = c->text.error ? c->text.error : e->file(e->folder, "metadata", c->text.data, c->text.len);
	return err;
}

static void drop(void *state)
{
	struct ctf *c = state;

	ctf_streams_free(c);
	hodo_map_free(&c->classes);
	hodo_strings_free(&c->descriptions);
	hodo_text_free(&c->text);
}

const struct hodo_export_format hodo_export_ctf = {
	.name = "ctf",
	.suffix = "ctf",
	.whole_names = true,
	.does = "CTF, process and thread in each event: Trace Compass, babeltrace2",
	.folder = true,
	.state_bytes = sizeof(struct ctf),
	.open = start,
	.timeline = { .event = on_event, .begin = on_begin, .end = on_end, .loss = on_loss },
	.write = finish,
	.free = drop,
};
