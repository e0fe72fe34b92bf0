/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c - https://www.speedscope.app/file-format-schema.json: a profile for each thread, with each
 * start and end; or, for recordings with more slices than a browser can open, with the time of each path.
 */
#define _GNU_SOURCE
#include "call_tree.h"

#include <stdio.h>

struct speedscope {
	const struct hodo_call_tree *tree;
	struct hodo_json json; /* into the output */
	bool weights; /* samples, else */
	uint32_t frames[HODO_CALL_DEPTH_MAX + 2]; /* of a path */
};

static int put_event(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin)
{
	struct speedscope *s = data;
	struct hodo_text *out = hodo_json_value(&s->json, NULL);

	/* One piece: there are many. */
	hodo_text_add(out, begin ? "{\"type\":\"O\",\"at\":" : "{\"type\":\"C\",\"at\":");
	hodo_text_i64(out, at_ns - s->tree->totals.begin_ns);
	hodo_text_add(out, ",\"frame\":");
	hodo_text_u64(out, s->tree->nodes[slice->node].frame);
	hodo_text_char(out, '}');
	return out->error;
}

static int put_sample(void *data, uint32_t node, bool leave)
{
	struct speedscope *s = data;
	const struct hodo_call_node *n = &s->tree->nodes[node];

	if (leave)
		return 0;
	s->frames[n->depth - 1] = n->frame;
	if (n->self_ns && s->weights) {
		hodo_json_u64(&s->json, NULL, n->self_ns);
	} else if (n->self_ns) {
		hodo_json_array(&s->json, NULL);
		for (uint32_t i = 0; i < n->depth; i++)
			hodo_json_u64(&s->json, NULL, s->frames[i]);
		hodo_json_end(&s->json);
	}
	return s->json.text->error;
}

static int64_t root_ns(const struct hodo_call_tree *tree, uint32_t root)
{
	uint64_t ns = 0;

	for (uint32_t i = tree->nodes[root].child; i != HODO_CALL_NONE; i = tree->nodes[i].next)
		ns += tree->nodes[i].total_ns;
	return (int64_t)ns;
}

static void begin_profile(struct speedscope *s, const char *name, const char *type, int64_t ns)
{
	struct hodo_json *j = &s->json;

	hodo_json_line(j);
	hodo_json_object(j, NULL);
	hodo_json_string(j, "name", name);
	hodo_json_string(j, "type", type);
	hodo_json_string(j, "unit", "nanoseconds");
	hodo_json_u64(j, "startValue", 0);
	hodo_json_i64(j, "endValue", ns);
}

static int put_sampled(struct speedscope *s, uint32_t root)
{
	int err;

	hodo_json_array(&s->json, "samples");
	s->weights = false;
	err = hodo_call_tree_walk(s->tree, root, put_sample, s);
	hodo_json_end(&s->json);
	hodo_json_array(&s->json, "weights");
	s->weights = true;
	if (!err)
		err = hodo_call_tree_walk(s->tree, root, put_sample, s);
	hodo_json_end(&s->json);
	return err;
}

static int put_thread(struct speedscope *s, struct hodo_call_thread *thread, bool many)
{
	const struct hodo_timeline_totals *t = &s->tree->totals;
	char name[256], of[32] = "";
	int err;

	if (many)
		snprintf(of, sizeof(of), ", of %u", thread->track->pid);
	snprintf(name, sizeof(name), "%.200s (%u%s)", thread->track->name, thread->track->tid, of);
	if (s->tree->whole) {
		begin_profile(s, name, "evented", t->end_ns - t->begin_ns);
		hodo_json_array(&s->json, "events");
		err = hodo_call_thread_walk(thread, put_event, s);
		hodo_json_end(&s->json);
	} else {
		begin_profile(s, name, "sampled", root_ns(s->tree, thread->root));
		err = put_sampled(s, thread->root);
	}
	hodo_json_end(&s->json);
	return err;
}

static void put_frames(struct speedscope *s)
{
	struct hodo_json *j = &s->json;

	hodo_json_object(j, "shared");
	hodo_json_array(j, "frames");
	for (uint32_t i = 0; i < s->tree->nframes; i++) {
		const struct hodo_call_frame *f = &s->tree->frames[i];

		hodo_json_line(j);
		hodo_json_object(j, NULL);
		hodo_json_string(j, "name", f->name);
		if (f->file || f->object[0])
			hodo_json_string(j, "file", f->file ? f->file : f->object);
		if (f->file && f->line)
			hodo_json_u64(j, "line", f->line);
		hodo_json_end(j);
	}
	hodo_json_end(j);
	hodo_json_end(j);
}

static int write_speedscope(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct speedscope *s = state;
	struct hodo_json *j = &s->json;
	uint32_t shown = 0;
	bool many = false;
	int err = 0;

	s->tree = tree;
	*j = (struct hodo_json){ .text = e->out, .form = HODO_JSON_SCRIPT };
	for (uint32_t i = 1; i < tree->nthreads; i++)
		many |= tree->threads[i]->track->pid != tree->threads[0]->track->pid;
	hodo_json_object(j, NULL);
	hodo_json_string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	hodo_json_string(j, "exporter", "hodo");
	hodo_json_u64(j, "activeProfileIndex", 0);
	hodo_json_array(j, "profiles");
	for (uint32_t i = 0; i < tree->nthreads && !err; i++) {
		/* Threads without visible activity are left out; but there must be one. */
		if (!tree->threads[i]->total && (shown || i + 1 < tree->nthreads))
			continue;
		shown++;
		err = put_thread(s, tree->threads[i], many);
	}
	if (!shown) {
		begin_profile(s, "", "evented", 0);
		hodo_json_array(j, "events");
		hodo_json_end(j);
		hodo_json_end(j);
	}
	hodo_json_end(j);
	put_frames(s);
	hodo_json_end(j);
	hodo_text_char(e->out, '\n');
	if (!err && !tree->whole && e->warn)
		e->warn("more spans and calls than speedscope opens one by one: the file has the time of each path; "
			"--since and --until make it less");
	return err;
}

const struct hodo_export_format hodo_export_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.does = "flame graphs over time, by thread: https://www.speedscope.app",
	.state_bytes = sizeof(struct speedscope),
	.tree = &(const struct hodo_call_options){ .lines = true, .slices = true },
	.write = write_speedscope,
};
