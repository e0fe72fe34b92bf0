/* SPDX-License-Identifier: MIT */
/*
 * firefox.c - the Firefox Profiler's processed profile, version 63, as its docs-developer/CHANGELOG-formats.md and
 * src/types/profile.ts say: https://github.com/firefox-devtools/profiler.
 *
 * Samples are the times that a thread spent in one path (weight type "tracing-ms"), in sequence; or, for
 * recordings with more slices than a browser can open, the total time of each path. Spans, events and marks
 * are markers.
 */
#define _GNU_SOURCE
#include "firefox_impl.h"

#include <base/vec.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION       63
#define GECKO_VERSION 34 /* of what the browser itself writes, at that time */

enum column { STACK, TIME, WEIGHT };
enum category { CATEGORY_OTHER, CATEGORY_SPAN, CATEGORY_FUNCTION };

/* ----------------------------------------------------------------------- samples */

static int put_sample(struct firefox *f, uint32_t node, int64_t at_ns, int64_t ns)
{
	if (f->column == STACK && node == HODO_CALL_NONE)
		hodo_json_null(&f->json, NULL);
	else if (f->column == STACK)
		hodo_json_u64(&f->json, NULL, f->stacks[node]);
	else
		firefox_put_ms(f, NULL, f->column == TIME ? at_ns - f->tree->totals.begin_ns
						: node == HODO_CALL_NONE ? 0 : ns);
	f->nsamples++;
	return f->e->out->error;
}

static int on_slice(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin)
{
	struct firefox *f = data;
	int err = 0;

	if (at_ns > f->at_ns)
		err = put_sample(f, f->nopen ? f->open[f->nopen - 1] : HODO_CALL_NONE, f->at_ns, at_ns - f->at_ns);
	f->at_ns = at_ns;
	if (!begin) {
		f->nopen--;
		return err;
	}
	if (hodo_vec_reserve(f->open, f->open_room, f->nopen + 1) < 0)
		return -ENOMEM;
	f->open[f->nopen++] = slice->node;
	return err;
}

static int on_node(void *data, uint32_t node, bool leave)
{
	struct firefox *f = data;
	int64_t ns = (int64_t)f->tree->nodes[node].self_ns;
	int err;

	if (leave || !ns)
		return 0;
	err = put_sample(f, node, f->at_ns, ns);
	f->at_ns += ns;
	return err;
}

/* thread: NULL: no samples. */
static int put_samples(struct firefox *f, struct hodo_call_thread *thread)
{
	static const char *const names[] = { "stack", "time", "weight" };
	int64_t end_ns = f->tree->totals.end_ns;
	int err = 0;

	hodo_json_object(&f->json, "samples");
	hodo_json_string(&f->json, "weightType", "tracing-ms");
	for (int k = STACK; k <= WEIGHT && !err; k++) {
		hodo_json_array(&f->json, names[k]);
		f->column = k;
		f->nsamples = f->nopen = 0;
		f->at_ns = f->tree->totals.begin_ns;
		if (thread && f->tree->whole)
			err = hodo_call_thread_walk(thread, on_slice, f);
		else if (thread)
			err = hodo_call_tree_walk(f->tree, thread->root, on_node, f);
		/* Marks the end of the last one; there must be at least two. */
		put_sample(f, HODO_CALL_NONE, f->at_ns, 0);
		put_sample(f, HODO_CALL_NONE, end_ns > f->at_ns ? end_ns : f->at_ns, 0);
		hodo_json_end(&f->json);
	}
	hodo_json_u64(&f->json, "length", f->nsamples);
	hodo_json_end(&f->json);
	return err;
}

/* ----------------------------------------------------------------------- threads */

static int put_thread(struct firefox *f, struct hodo_call_thread *thread, const struct firefox_owner *owner,
		      uint32_t index)
{
	const struct hodo_track *track = thread ? thread->track : owner->track;
	struct hodo_json *j = &f->json;
	char name[160];
	int err;

	hodo_json_line(j);
	hodo_json_object(j, NULL);
	hodo_json_string(j, "name", track->name);
	hodo_json_string(j, "processName", track->process && track->process->comm ?
			 hodo_name_apart(f->e->reader, track->process, track->process->comm, name) : "");
	hodo_json_printf(j, "pid", "\"%u\"", firefox_pid(track));
	if (thread)
		hodo_json_u64(j, "tid", track->tid);
	else
		hodo_json_printf(j, "tid", owner->lost ? "\"lost-%u\"" : "\"spans-%u\"",
				 owner->lost ? index : track->id);
	hodo_json_bool(j, "isMainThread", thread && track->tid == track->pid);
	hodo_json_string(j, "processType", "default");
	hodo_json_u64(j, "processStartupTime", 0);
	hodo_json_null(j, "processShutdownTime");
	hodo_json_u64(j, "registerTime", 0);
	hodo_json_null(j, "unregisterTime");
	hodo_json_array(j, "pausedRanges");
	hodo_json_end(j);
	hodo_json_bool(j, "showMarkersInTimeline", true);
	err = put_samples(f, thread);
	firefox_put_markers(f, thread, owner);
	hodo_json_end(j);
	return err;
}

static uint32_t main_thread(const struct firefox *f, uint32_t pid)
{
	uint32_t index = 0;

	for (uint32_t i = 0; i < f->tree->nthreads; i++) {
		const struct hodo_call_thread *t = f->tree->threads[i];

		if (!t->total && !t->user)
			continue;
		if (firefox_pid(t->track) == pid)
			return index;
		index++;
	}
	return 0;
}

static int put_threads(struct firefox *f)
{
	uint32_t n = 0;
	int err = 0;

	hodo_json_array(&f->json, "threads");
	for (uint32_t i = 0; i < f->tree->nthreads && !err; i++) {
		struct hodo_call_thread *t = f->tree->threads[i];

		if (t->total || t->user)
			err = put_thread(f, t, t->user, n++);
	}
	for (const struct firefox_owner *o = f->owners; o && !err; o = o->next)
		if (o->track->kind == HODO_TRACK_ASYNC && o->n)
			err = put_thread(f, NULL, o, n++);
	for (const struct firefox_owner *o = f->owners; o && !err; o = o->next)
		if (o->lost)
			err = put_thread(f, NULL, o, n++);
	hodo_json_end(&f->json);
	hodo_json_line(&f->json);
	hodo_json_array(&f->json, "counters");
	for (const struct firefox_owner *o = f->owners; o; o = o->next) {
		if (o->track->kind != HODO_TRACK_COUNTER || !o->n)
			continue;
		hodo_json_line(&f->json);
		firefox_put_counter(f, o, main_thread(f, firefox_pid(o->track)));
	}
	hodo_json_end(&f->json);
	return err;
}

/* ------------------------------------------------------------------------ tables */

/* A column: constant, or written by put(). */
struct table_column {
	const char *name, *same;
	void (*put)(struct firefox *f, uint32_t row);
};

/* The last column has no name. */
static void put_table(struct firefox *f, const char *name, uint32_t n, const struct table_column *columns)
{
	hodo_json_line(&f->json);
	hodo_json_object(&f->json, name);
	hodo_json_u64(&f->json, "length", n);
	for (const struct table_column *c = columns; c->name; c++) {
		hodo_json_array(&f->json, c->name);
		for (uint32_t i = 0; i < n; i++) {
			if (c->put)
				c->put(f, i);
			else
				hodo_text_add(hodo_json_value(&f->json, NULL), c->same);
		}
		hodo_json_end(&f->json);
	}
	hodo_json_end(&f->json);
}

/* null: there is none. */
static void put_number(struct firefox *f, uint64_t n, bool is)
{
	if (is)
		hodo_json_u64(&f->json, NULL, n);
	else
		hodo_json_null(&f->json, NULL);
}

static void put_index(struct firefox *f, uint32_t i)
{
	hodo_json_u64(&f->json, NULL, i);
}

static void put_stack_frame(struct firefox *f, uint32_t i)
{
	hodo_json_u64(&f->json, NULL, f->tree->nodes[f->nodes[i]].frame);
}

static void put_stack_prefix(struct firefox *f, uint32_t i)
{
	uint32_t parent = f->tree->nodes[f->nodes[i]].parent;

	put_number(f, f->stacks[parent], f->tree->nodes[parent].depth != 0);
}

/* JavaScript has no larger integers. */
static void put_frame_address(struct firefox *f, uint32_t i)
{
	const struct hodo_call_frame *frame = &f->tree->frames[i];
	bool is = frame->mapped != HODO_CALL_NONE && !(frame->address >> 53);

	hodo_json_i64(&f->json, NULL, is ? (int64_t)frame->address : -1);
}

static void put_frame_category(struct firefox *f, uint32_t i)
{
	static const enum category of[] = { [HODO_CALL_SPAN] = CATEGORY_SPAN, [HODO_CALL_FUNCTION] = CATEGORY_FUNCTION,
					    [HODO_CALL_OTHER] = CATEGORY_OTHER };

	hodo_json_u64(&f->json, NULL, of[f->tree->frames[i].kind]);
}

static void put_frame_line(struct firefox *f, uint32_t i)
{
	put_number(f, f->tree->frames[i].line, f->tree->frames[i].line != 0);
}

static void put_function_name(struct firefox *f, uint32_t i)
{
	hodo_json_u64(&f->json, NULL, firefox_string(f, f->tree->frames[i].name));
}

static void put_function_resource(struct firefox *f, uint32_t i)
{
	uint32_t object = f->tree->frames[i].mapped;

	hodo_json_i64(&f->json, NULL, object == HODO_CALL_NONE ? -1 : (int64_t)object);
}

static void put_function_source(struct firefox *f, uint32_t i)
{
	const char *file = f->tree->frames[i].file;

	put_number(f, file ? hodo_strings_add(&f->sources, file) : 0, file);
}

static void put_object_name(struct firefox *f, uint32_t i)
{
	hodo_json_u64(&f->json, NULL, firefox_string(f, basename(f->tree->objects[i]->path)));
}

static void put_source_name(struct firefox *f, uint32_t i)
{
	hodo_json_u64(&f->json, NULL, firefox_string(f, hodo_strings_at(&f->sources, i)));
}

static void put_tables(struct firefox *f, uint32_t nstacks)
{
	static const struct table_column stacks[] = {
		{ .name = "frame", .put = put_stack_frame }, { .name = "prefix", .put = put_stack_prefix }, { 0 },
	};
	/* A frame is a function: it does not occur again with another line. */
	static const struct table_column frames[] = {
		{ .name = "address", .put = put_frame_address }, { .name = "inlineDepth", .same = "0" },
		{ .name = "category", .put = put_frame_category }, { .name = "subcategory", .same = "0" },
		{ .name = "func", .put = put_index }, { .name = "nativeSymbol", .same = "null" },
		{ .name = "innerWindowID", .same = "0" }, { .name = "line", .put = put_frame_line },
		{ .name = "column", .same = "null" }, { 0 },
	};
	static const struct table_column functions[] = {
		{ .name = "name", .put = put_function_name }, { .name = "isJS", .same = "false" },
		{ .name = "relevantForJS", .same = "false" }, { .name = "resource", .put = put_function_resource },
		{ .name = "source", .put = put_function_source }, { .name = "lineNumber", .put = put_frame_line },
		{ .name = "columnNumber", .same = "null" }, { 0 },
	};
	static const struct table_column resources[] = {
		{ .name = "lib", .put = put_index }, { .name = "name", .put = put_object_name },
		{ .name = "host", .same = "null" }, { .name = "type", .same = "1" /* a library */ }, { 0 },
	};
	static const struct table_column symbols[] = {
		{ .name = "libIndex" }, { .name = "address" }, { .name = "name" }, { .name = "functionSize" }, { 0 },
	};
	static const struct table_column sources[] = {
		{ .name = "filename", .put = put_source_name }, { .name = "id", .same = "null" },
		{ .name = "startLine", .same = "1" }, { .name = "startColumn", .same = "1" },
		{ .name = "sourceMapURL", .same = "null" }, { 0 },
	};

	hodo_json_line(&f->json);
	hodo_json_object(&f->json, "shared");
	put_table(f, "stackTable", nstacks, stacks);
	put_table(f, "frameTable", f->tree->nframes, frames);
	put_table(f, "funcTable", f->tree->nframes, functions);
	put_table(f, "resourceTable", f->tree->nobjects, resources);
	put_table(f, "nativeSymbols", 0, symbols);
	put_table(f, "sources", f->sources.map.n, sources);
	hodo_json_line(&f->json);
	hodo_json_array(&f->json, "stringArray");
	for (uint32_t i = 0; i < f->strings.map.n; i++)
		hodo_json_string(&f->json, NULL, hodo_strings_at(&f->strings, i));
	hodo_json_end(&f->json);
	hodo_json_end(&f->json);
}

/* A build-id as Breakpad writes it: its first 16 bytes, of which 8 are three numbers of the other byte order. */
static void put_breakpad_id(struct hodo_json *j, const struct hodo_read_object *o)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char id[34] = "";

	for (unsigned i = 0; i < 16 && o->build_id_len >= 16; i++)
		sprintf(id + 2 * i, "%02X", o->build_id[order[i]]);
	hodo_json_string(j, "breakpadId", id[0] ? strcat(id, "0") : "");
}

static void put_libraries(struct firefox *f)
{
	struct hodo_json *j = &f->json;

	hodo_json_line(j);
	hodo_json_array(j, "libs");
	for (uint32_t i = 0; i < f->tree->nobjects; i++) {
		const struct hodo_read_object *o = f->tree->objects[i];
		char id[HODO_CALL_BUILD_ID_TEXT];

		hodo_call_build_id(o, id);
		hodo_json_line(j);
		hodo_json_object(j, NULL);
		hodo_json_string(j, "arch", "x86_64");
		hodo_json_string(j, "name", basename(o->path));
		hodo_json_string(j, "path", o->path);
		hodo_json_string(j, "debugName", basename(o->path));
		hodo_json_string(j, "debugPath", o->path);
		put_breakpad_id(j, o);
		hodo_json_string(j, "codeId", id[0] ? id : NULL);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_meta(struct firefox *f)
{
	static const char constant[] = "\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		"\"symbolicationNotSupported\":true,\"importedFrom\":\"hodo\",\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"platform\":\"Linux\",\"oscpu\":\"Linux\","
		"\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Span\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Function\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";
	const struct hodo_read_process *p = hodo_read_process(f->e->reader, 0);
	struct hodo_json *j = &f->json;

	hodo_json_line(j);
	hodo_json_object(j, "meta");
	hodo_json_printf(j, "interval", "0.001");
	firefox_put_ms(f, "startTime", f->tree->totals.begin_ns);
	hodo_json_u64(j, "profilingStartTime", 0);
	firefox_put_ms(f, "profilingEndTime", f->tree->totals.end_ns - f->tree->totals.begin_ns);
	hodo_json_u64(j, "version", GECKO_VERSION);
	hodo_json_u64(j, "preprocessedProfileVersion", VERSION);
	hodo_json_string(j, "product", p && p->comm ? p->comm : "hodo");
	hodo_text_add(hodo_json_value(j, NULL), constant);
	hodo_json_array(j, "markerSchema");
	firefox_put_schemas(f, j);
	hodo_json_end(j);
	hodo_json_end(j);
}

/* -------------------------------------------------------------------------- all */

static void warn(const struct firefox *f)
{
	char line[200];

	if (!f->e->warn)
		return;
	if (!f->tree->whole)
		f->e->warn("more spans and calls than the profiler opens one by one: the file has the time of each "
			   "path; select less with --since and --until");
	if (f->markers_left_out || f->texts_left_out) {
		snprintf(line, sizeof(line), "%llu markers, and the texts of %llu others, are left out, too many for one file: "
			 "select less with --since and --until", (unsigned long long)f->markers_left_out,
			 (unsigned long long)f->texts_left_out);
		f->e->warn(line);
	}
	if (f->tree->running)
		f->e->warn("which thread ran on which CPU has no place in a Firefox profile: --to perfetto has it");
}

static int write_firefox(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct firefox *f = state;
	uint32_t n = 0;
	int err = f->text.error;

	f->tree = tree;
	if (err)
		return err;
	f->stacks = calloc((size_t)f->tree->nnodes + 1, sizeof(*f->stacks));
	f->nodes = calloc((size_t)f->tree->nnodes + 1, sizeof(*f->nodes));
	if (!f->stacks || !f->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->tree->nnodes; i++) {
		if (f->tree->nodes[i].depth == 0)
			continue;
		f->nodes[n] = i;
		f->stacks[i] = n++;
	}
	f->json = (struct hodo_json){ .text = f->e->out, .form = HODO_JSON_SCRIPT };
	hodo_json_object(&f->json, NULL);
	err = put_threads(f);
	if (err)
		return err;
	put_tables(f, n);
	put_libraries(f);
	put_meta(f);
	hodo_json_end(&f->json);
	hodo_text_char(f->e->out, '\n');
	if (!f->e->out->error)
		warn(f);
	return f->e->out->error;
}

static void free_firefox(void *state)
{
	struct firefox *f = state;

	firefox_markers_free(f);
	hodo_strings_free(&f->strings);
	hodo_strings_free(&f->sources);
	hodo_strings_free(&f->type_names);
	free(f->stacks);
	free(f->nodes);
	free(f->open);
}

const struct hodo_export_format hodo_export_firefox = {
	.name = "firefox",
	.suffix = "firefox.json",
	.does = "samples and markers of each thread: https://profiler.firefox.com",
	.state_bytes = sizeof(struct firefox),
	.open = firefox_markers_open,
	.tree = &firefox_options,
	.write = write_firefox,
	.free = free_firefox,
};
