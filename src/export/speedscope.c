/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c - https://www.speedscope.app/file-format-schema.json: a profile for each thread, with each begin and
 * end; or, of recordings with more slices than a browser opens, with the time of each path.
 */
#define _GNU_SOURCE
#include "call_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct speedscope {
	const struct hodo_call_tree *tree;
	struct hodo_text *out;
	struct hodo_call_thread *thread;
	bool weights; /* samples, else */
	bool first;
	uint32_t frames[HODO_CALL_DEPTH_MAX + 2]; /* of a path */
};

static void put_comma(struct speedscope *s)
{
	if (!s->first)
		hodo_text_char(s->out, ',');
	s->first = false;
}

static int put_event(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin)
{
	struct speedscope *s = data;

	hodo_text_add(s->out, s->first ? "{\"type\":\"" : ",{\"type\":\"");
	s->first = false;
	hodo_text_add(s->out, begin ? "O\",\"at\":" : "C\",\"at\":");
	hodo_text_i64(s->out, at_ns - s->tree->totals.begin_ns);
	hodo_text_add(s->out, ",\"frame\":");
	hodo_text_u64(s->out, s->tree->nodes[slice->node].frame);
	hodo_text_char(s->out, '}');
	return s->out->error;
}

static int put_sample(void *data, uint32_t node, bool leave)
{
	struct speedscope *s = data;
	const struct hodo_call_node *n = &s->tree->nodes[node];

	if (leave)
		return 0;
	s->frames[n->depth - 1] = n->frame;
	if (!n->self_ns)
		return 0;
	put_comma(s);
	if (s->weights) {
		hodo_text_u64(s->out, n->self_ns);
		return s->out->error;
	}
	for (uint32_t i = 0; i < n->depth; i++) {
		hodo_text_bytes(s->out, i ? "," : "[", 1);
		hodo_text_u64(s->out, s->frames[i]);
	}
	hodo_text_char(s->out, ']');
	return s->out->error;
}

static uint64_t root_ns(const struct hodo_call_tree *tree, uint32_t root)
{
	uint64_t ns = 0;

	for (uint32_t i = tree->nodes[root].child; i != HODO_CALL_NONE; i = tree->nodes[i].next)
		ns += tree->nodes[i].total_ns;
	return ns;
}

static int put_sampled(struct speedscope *s)
{
	int err;

	hodo_text_add(s->out, ",\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
	hodo_text_u64(s->out, root_ns(s->tree, s->thread->root));
	hodo_text_add(s->out, ",\"samples\":[");
	s->first = true;
	s->weights = false;
	err = hodo_call_tree_walk(s->tree, s->thread->root, put_sample, s);
	hodo_text_add(s->out, "],\"weights\":[");
	s->first = true;
	s->weights = true;
	if (!err)
		err = hodo_call_tree_walk(s->tree, s->thread->root, put_sample, s);
	hodo_text_add(s->out, "]}");
	return err;
}

static int put_evented(struct speedscope *s)
{
	const struct hodo_timeline_totals *t = &s->tree->totals;
	int err;

	hodo_text_add(s->out, ",\"type\":\"evented\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
	hodo_text_i64(s->out, t->end_ns - t->begin_ns);
	hodo_text_add(s->out, ",\"events\":[");
	s->first = true;
	err = hodo_call_thread_walk(s->thread, put_event, s);
	hodo_text_add(s->out, "]}");
	return err;
}

static int put_thread(struct speedscope *s, struct hodo_call_thread *thread, bool many)
{
	char name[256];
	int len = many ? snprintf(name, sizeof(name), "%.200s (%u, of %u)", thread->track->name, thread->track->tid,
				  thread->track->pid)
		       : snprintf(name, sizeof(name), "%.200s (%u)", thread->track->name, thread->track->tid);

	s->thread = thread;
	hodo_text_add(s->out, "{\"name\":");
	hodo_text_json(s->out, name, (size_t)len, HODO_JSON_SCRIPT);
	return s->tree->whole ? put_evented(s) : put_sampled(s);
}

static void put_frames(struct speedscope *s)
{
	hodo_text_add(s->out, "],\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < s->tree->nframes; i++) {
		const struct hodo_call_frame *f = &s->tree->frames[i];

		hodo_text_add(s->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		hodo_text_json(s->out, f->name, strlen(f->name), HODO_JSON_SCRIPT);
		if (f->file || f->object[0]) {
			const char *file = f->file ? f->file : f->object;

			hodo_text_add(s->out, ",\"file\":");
			hodo_text_json(s->out, file, strlen(file), HODO_JSON_SCRIPT);
		}
		if (f->file && f->line)
			hodo_text_printf(s->out, ",\"line\":%u", f->line);
		hodo_text_char(s->out, '}');
	}
	hodo_text_add(s->out, "]}}\n");
}

static int write_speedscope(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct speedscope *s = state;
	uint32_t shown = 0;
	bool many = false;
	int err = 0;

	s->tree = tree;
	s->out = e->out;
	for (uint32_t i = 1; i < s->tree->nthreads; i++)
		many |= s->tree->threads[i]->track->pid != s->tree->threads[0]->track->pid;
	hodo_text_add(s->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
				 "\"exporter\":\"hodo\",\"activeProfileIndex\":0,\"profiles\":[");
	for (uint32_t i = 0; i < s->tree->nthreads && !err; i++) {
		/* Who did nothing that shows is left out; but there has to be one. */
		if (!s->tree->threads[i]->total && (shown || i + 1 < s->tree->nthreads))
			continue;
		hodo_text_add(s->out, shown++ ? ",\n" : "\n");
		err = put_thread(s, s->tree->threads[i], many);
	}
	if (!shown)
		hodo_text_add(s->out, "{\"name\":\"\",\"type\":\"evented\",\"unit\":\"nanoseconds\","
					 "\"startValue\":0,\"endValue\":0,\"events\":[]}");
	put_frames(s);
	if (!err && !tree->whole && e->warn)
		e->warn("more spans and calls than speedscope opens one by one: the file has the time of each path; "
			"--since and --until make it less");
	return err;
}

static const struct hodo_call_options options = { .lines = true, .slices = true };

const struct hodo_export_format hodo_export_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.does = "flame graphs over time, by thread: https://www.speedscope.app",
	.state_bytes = sizeof(struct speedscope),
	.tree = &options,
	.write = write_speedscope,
};
