/* SPDX-License-Identifier: MIT */
/*
 * pprof.c - profile.proto, in gzip: a sample for each path and thread, with calls and self time.
 *
 * A message is the concatenation of its pieces, so each sample is packed separately, and only the tree takes
 * memory.
 */
#define _GNU_SOURCE
#include "call_tree.h"
#include <export/deflate.h>
#include "pprof.pb-c.h"

#include <base/intern.h>
#include <errno.h>
#include <stdlib.h>

typedef Perftools__Profiles__Profile Profile;

#define PROFILE PERFTOOLS__PROFILES__PROFILE__INIT

struct pprof {
	const struct hodo_call_tree *tree;
	struct hodo_deflate deflate; /* into the output; its error is the format's */
	struct hodo_strings strings;
	uint64_t path[HODO_CALL_DEPTH_MAX + 2]; /* location ids, innermost last */
	Perftools__Profiles__Label labels[3], *label[3];
};

/* A piece of the profile. */
static void put(struct pprof *p, const Profile *piece)
{
	size_t len = perftools__profiles__profile__get_packed_size(piece);
	char *to = hodo_text_room(&p->deflate.in, len);

	if (to)
		p->deflate.in.len += perftools__profiles__profile__pack(piece, (uint8_t *)to);
}

/* The index of a text; pieces may refer to it before it is written. */
static int64_t text(struct pprof *p, const char *s)
{
	uint32_t i = hodo_strings_add_plain(&p->strings, s);

	if (i == HODO_STRINGS_NONE)
		hodo_text_fail(&p->deflate.in, -ENOMEM);
	return i;
}

static void put_head(struct pprof *p, const struct hodo_export *e)
{
	Perftools__Profiles__ValueType calls = PERFTOOLS__PROFILES__VALUE_TYPE__INIT, time = calls;
	Perftools__Profiles__ValueType *types[] = { &calls, &time };
	const struct hodo_read_process *process = hodo_read_process(e->reader, 0);
	Profile head = PROFILE;
	int64_t comment;

	text(p, "");
	calls.type = text(p, "calls");
	calls.unit = text(p, "count");
	time.type = text(p, "time");
	time.unit = text(p, "nanoseconds");
	head.n_sample_type = 2;
	head.sample_type = types;
	head.default_sample_type = time.type;
	head.time_nanos = p->tree->totals.begin_ns;
	head.duration_nanos = p->tree->totals.end_ns - p->tree->totals.begin_ns;
	comment = text(p, process && process->exe ? process->exe : "");
	head.n_comment = 1;
	head.comment = &comment;
	put(p, &head);
}

/* ---------------------------------------------------------------------- samples */

static int put_sample(void *data, uint32_t node, bool leave)
{
	struct pprof *p = data;
	const struct hodo_call_node *n = &p->tree->nodes[node];
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples = &sample;
	int64_t values[2] = { (int64_t)n->calls, (int64_t)n->self_ns };
	Profile piece = PROFILE;

	if (leave)
		return p->deflate.in.error;
	/* Filled from the end, so that the path follows the innermost. */
	p->path[HODO_CALL_DEPTH_MAX + 1 - n->depth] = (uint64_t)n->frame + 1;
	if (!n->calls && !n->self_ns)
		return 0;
	sample.n_location_id = n->depth;
	sample.location_id = &p->path[HODO_CALL_DEPTH_MAX + 1 - n->depth];
	sample.n_value = 2;
	sample.value = values;
	sample.n_label = 3;
	sample.label = p->label;
	piece.n_sample = 1;
	piece.sample = &samples;
	put(p, &piece);
	return p->deflate.in.error;
}

static int put_thread(struct pprof *p, const struct hodo_track *track, uint32_t root)
{
	for (unsigned i = 0; i < 3; i++) {
		p->labels[i] = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
		p->label[i] = &p->labels[i];
	}
	p->labels[0].key = text(p, "thread");
	p->labels[0].str = text(p, track->name);
	p->labels[1].key = text(p, "thread_id");
	p->labels[1].num = track->tid;
	p->labels[2].key = text(p, "process_id");
	p->labels[2].num = track->pid;
	return hodo_call_tree_walk(p->tree, root, put_sample, p);
}

/* -------------------------------------------------------------------- functions */

static void put_frame(struct pprof *p, uint32_t frame)
{
	const struct hodo_call_frame *f = &p->tree->frames[frame];
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *functions = &function;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations = &location;
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines = &line;
	Profile piece = PROFILE;

	function.id = location.id = line.function_id = (uint64_t)frame + 1;
	function.name = function.system_name = text(p, f->name[0] ? f->name : "?");
	function.filename = text(p, f->file ? f->file : "");
	function.start_line = line.line = f->line;
	if (f->mapped != HODO_CALL_NONE) {
		location.mapping_id = (uint64_t)f->mapped + 1;
		location.address = p->tree->objects[f->mapped]->base + f->address;
	}
	location.n_line = 1;
	location.line = &lines;
	piece.n_location = piece.n_function = 1;
	piece.location = &locations;
	piece.function = &functions;
	put(p, &piece);
}

static void put_mapping(struct pprof *p, uint32_t i)
{
	const struct hodo_read_object *o = p->tree->objects[i];
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mappings = &mapping;
	char id[HODO_CALL_BUILD_ID_TEXT];
	Profile piece = PROFILE;

	hodo_call_build_id(o, id);
	mapping.id = (uint64_t)i + 1;
	mapping.memory_start = o->start;
	mapping.memory_limit = o->end;
	mapping.filename = text(p, o->path);
	mapping.build_id = text(p, id);
	/* They already have names: viewers need not look for the file. */
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = &mappings;
	put(p, &piece);
}

static int write_pprof(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct pprof *p = state;
	int err = 0, ended;

	p->tree = tree;
	hodo_deflate_start(&p->deflate, e->out, Z_DEFAULT_COMPRESSION, true);
	put_head(p, e);
	for (uint32_t i = 0; i < p->tree->nroots && !err; i++)
		err = put_thread(p, p->tree->groups[i], p->tree->roots[i]);
	for (uint32_t i = 0; i < p->tree->nframes && !err; i++)
		put_frame(p, i);
	for (uint32_t i = 0; i < p->tree->nobjects && !err; i++)
		put_mapping(p, i);
	for (uint32_t i = 0; i < p->strings.map.n && !err; i++) {
		char *string = (char *)hodo_strings_at(&p->strings, i);
		Profile piece = PROFILE;

		piece.n_string_table = 1;
		piece.string_table = &string;
		put(p, &piece);
	}
	ended = hodo_deflate_end(&p->deflate);
	return err ? err : ended;
}

static void free_pprof(void *state)
{
	struct pprof *p = state;

	hodo_strings_free(&p->strings);
}

const struct hodo_export_format hodo_export_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.does = "calls and times by path: go tool pprof, Grafana Pyroscope",
	.binary = true,
	.state_bytes = sizeof(struct pprof),
	.tree = &(const struct hodo_call_options){ .group = HODO_CALL_BY_THREAD, .lines = true },
	.write = write_pprof,
	.free = free_pprof,
};
