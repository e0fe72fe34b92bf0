/* SPDX-License-Identifier: MIT */
/*
 * firefox.c - the Firefox Profiler's processed profile, version 63, as its docs-developer/CHANGELOG-formats.md and
 * src/types/profile.ts say: https://github.com/firefox-devtools/profiler.
 *
 * Samples are the times that a thread spent in one path (weight type "tracing-ms"), one behind the other; or, of
 * recordings with more slices than a browser opens, the whole time of each path. Spans, events and marks are markers.
 */
#define _GNU_SOURCE
#include "firefox_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION       63
#define GECKO_VERSION 34 /* of what the browser itself writes, at that time */

enum column { STACK, TIME, WEIGHT };
enum category { CATEGORY_OTHER, CATEGORY_SPAN, CATEGORY_FUNCTION };

/* ------------------------------------------------------------------------ pieces */

void firefox_put_ms(struct hodo_export_out *out, int64_t ns)
{
	uint64_t left = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, part = left % 1000000;
	char digits[8] = ".";
	unsigned len = 7;

	if (ns < 0)
		hodo_export_put(out, "-", 1);
	hodo_export_put_u64(out, left / 1000000);
	if (!part)
		return;
	for (unsigned i = 6; i > 0; i--) {
		digits[i] = (char)('0' + part % 10);
		part /= 10;
	}
	while (digits[len - 1] == '0')
		len--;
	hodo_export_put(out, digits, len);
}

uint32_t firefox_string(struct firefox *f, const char *text)
{
	uint32_t i = hodo_strings_add(&f->strings, text);

	if (i != HODO_STRINGS_NONE)
		return i;
	f->out->error = f->out->error ? f->out->error : -ENOMEM;
	return 0;
}

void firefox_open(struct firefox *f, const char *name)
{
	hodo_export_puts(f->out, "],\"");
	hodo_export_puts(f->out, name);
	hodo_export_puts(f->out, "\":[");
	f->first = true;
}

void firefox_comma(struct firefox *f)
{
	if (!f->first)
		hodo_export_put(f->out, ",", 1);
	f->first = false;
}

static void put_json(struct firefox *f, const char *key, const char *text)
{
	hodo_export_puts(f->out, key);
	hodo_export_put_json(f->out, text, strlen(text));
}

/* A column in which all is the same. */
static void put_same(struct firefox *f, const char *name, const char *cell, uint64_t n)
{
	firefox_open(f, name);
	for (uint64_t i = 0; i < n; i++) {
		firefox_comma(f);
		hodo_export_puts(f->out, cell);
	}
}

static void put_cell(struct firefox *f, uint64_t value)
{
	firefox_comma(f);
	hodo_export_put_u64(f->out, value);
}

/* ----------------------------------------------------------------------- samples */

static int put_sample(struct firefox *f, uint32_t node, int64_t at_ns, int64_t ns)
{
	firefox_comma(f);
	if (f->column == STACK && node == HODO_CALL_NONE)
		hodo_export_puts(f->out, "null");
	else if (f->column == STACK)
		hodo_export_put_u64(f->out, f->stacks[node]);
	else
		firefox_put_ms(f->out, f->column == TIME ? at_ns - f->tree->totals.begin_ns
							  : node == HODO_CALL_NONE ? 0 : ns);
	f->nsamples++;
	return f->out->error;
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
	if (f->nopen == f->open_room) {
		uint32_t room = f->open_room ? 2 * f->open_room : 256;
		uint32_t *more = reallocarray(f->open, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->open = more;
		f->open_room = room;
	}
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

/* thread: NULL: what has no samples. */
static int put_samples(struct firefox *f, struct hodo_call_thread *thread)
{
	static const char *const names[] = { "stack", "time", "weight" };
	int64_t end_ns = f->tree->totals.end_ns;
	int err = 0;

	hodo_export_puts(f->out, ",\"samples\":{\"weightType\":\"tracing-ms\"");
	for (int k = STACK; k <= WEIGHT && !err; k++) {
		hodo_export_printf(f->out, "%s,\"%s\":[", k ? "]" : "", names[k]);
		f->first = true;
		f->column = k;
		f->nsamples = f->nopen = 0;
		f->at_ns = f->tree->totals.begin_ns;
		if (thread && f->tree->whole)
			err = hodo_call_thread_walk(thread, on_slice, f);
		else if (thread)
			err = hodo_call_tree_walk(f->tree, thread->root, on_node, f);
		/* Nothing goes on behind the last one; and there are two at least. */
		put_sample(f, HODO_CALL_NONE, f->at_ns, 0);
		put_sample(f, HODO_CALL_NONE, end_ns > f->at_ns ? end_ns : f->at_ns, 0);
	}
	hodo_export_printf(f->out, "],\"length\":%llu}", (unsigned long long)f->nsamples);
	return err;
}

/* ----------------------------------------------------------------------- threads */

static int put_thread(struct firefox *f, struct hodo_call_thread *thread, const struct firefox_owner *owner,
		      uint32_t index)
{
	const struct hodo_track *track = thread ? thread->track : owner->track;
	int err;

	hodo_export_puts(f->out, index ? ",\n{" : "\n{");
	put_json(f, "\"name\":", track->name);
	put_json(f, ",\"processName\":", track->process && track->process->comm ? track->process->comm : "");
	hodo_export_printf(f->out, ",\"pid\":\"%u\",\"tid\":", track->pid);
	if (thread)
		hodo_export_put_u64(f->out, track->tid);
	else
		hodo_export_printf(f->out, track == &owner->own ? "\"lost-%u\"" : "\"spans-%u\"",
				   track == &owner->own ? index : track->id);
	hodo_export_printf(f->out, ",\"isMainThread\":%s,\"processType\":\"default\",\"processStartupTime\":0,"
			   "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
			   "\"pausedRanges\":[],\"showMarkersInTimeline\":true",
			   thread && track->tid == track->pid ? "true" : "false");
	err = put_samples(f, thread);
	firefox_put_markers(f, thread, owner);
	hodo_export_puts(f->out, "}");
	return err;
}

static uint32_t main_thread(const struct firefox *f, uint32_t pid)
{
	uint32_t index = 0;

	for (uint32_t i = 0; i < f->tree->nthreads; i++) {
		const struct hodo_call_thread *t = f->tree->threads[i];

		if (!t->total && !t->user)
			continue;
		if (t->track->pid == pid)
			return index;
		index++;
	}
	return 0;
}

static int put_threads(struct firefox *f)
{
	uint32_t n = 0;
	int err = 0;

	hodo_export_puts(f->out, "{\"threads\":[");
	for (uint32_t i = 0; i < f->tree->nthreads && !err; i++) {
		struct hodo_call_thread *t = f->tree->threads[i];

		if (t->total || t->user)
			err = put_thread(f, t, t->user, n++);
	}
	for (const struct firefox_owner *o = f->async; o && !err; o = o->next)
		if (o->n)
			err = put_thread(f, NULL, o, n++);
	for (const struct firefox_owner *o = f->losses; o && !err; o = o->next)
		err = put_thread(f, NULL, o, n++);
	hodo_export_puts(f->out, "],\n\"counters\":[");
	f->first = true;
	for (const struct firefox_owner *o = f->counters; o; o = o->next) {
		bool first = f->first;

		if (!o->n)
			continue;
		hodo_export_puts(f->out, first ? "\n" : ",\n");
		firefox_put_counter(f, o, main_thread(f, o->track->pid));
		f->first = false;
	}
	hodo_export_puts(f->out, "]");
	return err;
}

/* ------------------------------------------------------------------------ tables */

static void put_stacks(struct firefox *f)
{
	const struct hodo_call_tree *t = f->tree;
	uint32_t n = 0;

	hodo_export_puts(f->out, ",\n\"shared\":{\"stackTable\":{\"frame\":[");
	f->first = true;
	for (uint32_t i = 0; i < t->nnodes; i++, n += t->nodes[i - 1].frame != HODO_CALL_NONE)
		if (t->nodes[i].frame != HODO_CALL_NONE)
			put_cell(f, t->nodes[i].frame);
	firefox_open(f, "prefix");
	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (t->nodes[i].frame == HODO_CALL_NONE)
			continue;
		if (t->nodes[t->nodes[i].parent].frame == HODO_CALL_NONE) {
			firefox_comma(f);
			hodo_export_puts(f->out, "null");
		} else {
			put_cell(f, f->stacks[t->nodes[i].parent]);
		}
	}
	hodo_export_printf(f->out, "],\"length\":%u},\n", n);
}

static void put_frame_cell(struct firefox *f, unsigned column, uint32_t i)
{
	const struct hodo_call_frame *frame = &f->tree->frames[i];
	uint32_t object;
	uint64_t offset;

	switch (column) {
	case 0: /* address in the file */
		object = hodo_call_objects_of(&f->objects, frame, &offset);
		firefox_comma(f);
		/* JavaScript has no larger integers. */
		if (object == HODO_CALL_NONE || offset >> 53)
			hodo_export_puts(f->out, "-1");
		else
			hodo_export_put_u64(f->out, offset);
		break;
	case 1:
		put_cell(f, frame->kind == HODO_CALL_FUNCTION ? CATEGORY_FUNCTION
			    : frame->kind == HODO_CALL_SPAN   ? CATEGORY_SPAN
							      : CATEGORY_OTHER);
		break;
	case 2:
		put_cell(f, i);
		break;
	default:
		firefox_comma(f);
		if (frame->line)
			hodo_export_put_u64(f->out, frame->line);
		else
			hodo_export_puts(f->out, "null");
	}
}

static void put_frames(struct firefox *f)
{
	static const char *const names[] = { "address", "category", "func", "line" };
	uint32_t n = f->tree->nframes;

	hodo_export_puts(f->out, "\"frameTable\":{\"length\":");
	hodo_export_put_u64(f->out, n);
	hodo_export_puts(f->out, ",\"inlineDepth\":[");
	f->first = true;
	for (uint32_t i = 0; i < n; i++)
		put_cell(f, 0);
	for (unsigned k = 0; k < 4; k++) {
		firefox_open(f, names[k]);
		for (uint32_t i = 0; i < n; i++)
			put_frame_cell(f, k, i);
	}
	put_same(f, "subcategory", "0", n);
	put_same(f, "nativeSymbol", "null", n);
	put_same(f, "innerWindowID", "0", n);
	put_same(f, "column", "null", n);
	hodo_export_puts(f->out, "]},\n");
}

static void put_functions(struct firefox *f)
{
	uint32_t n = f->tree->nframes, i;
	uint64_t offset;

	hodo_export_printf(f->out, "\"funcTable\":{\"length\":%u,\"name\":[", n);
	f->first = true;
	for (i = 0; i < n; i++)
		put_cell(f, firefox_string(f, f->tree->frames[i].name));
	put_same(f, "isJS", "false", n);
	put_same(f, "relevantForJS", "false", n);
	firefox_open(f, "resource");
	for (i = 0; i < n; i++) {
		uint32_t object = hodo_call_objects_of(&f->objects, &f->tree->frames[i], &offset);

		firefox_comma(f);
		hodo_export_put_i64(f->out, object == HODO_CALL_NONE ? -1 : (int64_t)object);
	}
	firefox_open(f, "source");
	for (i = 0; i < n; i++) {
		const char *file = f->tree->frames[i].file;

		firefox_comma(f);
		if (file)
			hodo_export_put_u64(f->out, hodo_strings_add(&f->sources, file));
		else
			hodo_export_puts(f->out, "null");
	}
	firefox_open(f, "lineNumber");
	for (i = 0; i < n; i++)
		put_frame_cell(f, 3, i);
	put_same(f, "columnNumber", "null", n);
	hodo_export_puts(f->out, "]},\n");
}

static void put_places(struct firefox *f)
{
	uint32_t n = f->objects.n;

	hodo_export_printf(f->out, "\"resourceTable\":{\"length\":%u,\"lib\":[", n);
	f->first = true;
	for (uint32_t i = 0; i < n; i++)
		put_cell(f, i);
	firefox_open(f, "name");
	for (uint32_t i = 0; i < n; i++)
		put_cell(f, firefox_string(f, basename(f->objects.objects[i]->path)));
	put_same(f, "host", "null", n);
	put_same(f, "type", "1", n); /* a library */
	hodo_export_puts(f->out, "]},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
				 "\"functionSize\":[]},\n");
	n = f->sources.n;
	hodo_export_printf(f->out, "\"sources\":{\"length\":%u,\"filename\":[", n);
	f->first = true;
	for (uint32_t i = 0; i < n; i++)
		put_cell(f, firefox_string(f, f->sources.text[i]));
	put_same(f, "id", "null", n);
	put_same(f, "startLine", "1", n);
	put_same(f, "startColumn", "1", n);
	put_same(f, "sourceMapURL", "null", n);
	hodo_export_puts(f->out, "]},\n\"stringArray\":[");
	f->first = true;
	for (uint32_t i = 0; i < f->strings.n; i++) {
		firefox_comma(f);
		hodo_export_put_json(f->out, f->strings.text[i], strlen(f->strings.text[i]));
	}
	hodo_export_puts(f->out, "]}");
}

/* A build-id as Breakpad writes it: its first 16 bytes, of which 8 are three numbers of the other byte order. */
static void put_breakpad_id(struct firefox *f, const struct hodo_read_object *o)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	hodo_export_puts(f->out, ",\"breakpadId\":\"");
	for (unsigned i = 0; i < 16 && o->build_id_len >= 16; i++)
		hodo_export_printf(f->out, "%02X", o->build_id[order[i]]);
	hodo_export_puts(f->out, o->build_id_len >= 16 ? "0\"" : "\"");
}

static void put_libraries(struct firefox *f)
{
	hodo_export_puts(f->out, ",\n\"libs\":[");
	for (uint32_t i = 0; i < f->objects.n; i++) {
		const struct hodo_read_object *o = f->objects.objects[i];
		char id[HODO_CALL_BUILD_ID_TEXT];

		hodo_call_objects_id(o, id);
		hodo_export_puts(f->out, i ? ",\n{" : "\n{");
		put_json(f, "\"arch\":\"x86_64\",\"name\":", basename(o->path));
		put_json(f, ",\"path\":", o->path);
		put_json(f, ",\"debugName\":", basename(o->path));
		put_json(f, ",\"debugPath\":", o->path);
		put_breakpad_id(f, o);
		if (id[0])
			put_json(f, ",\"codeId\":", id);
		else
			hodo_export_puts(f->out, ",\"codeId\":null");
		hodo_export_puts(f->out, "}");
	}
	hodo_export_puts(f->out, "]");
}

static void put_meta(struct firefox *f)
{
	const struct hodo_read_process *p = hodo_read_process(f->e->reader, 0);

	hodo_export_puts(f->out, ",\n\"meta\":{\"interval\":0.001,\"startTime\":");
	firefox_put_ms(f->out, f->tree->totals.begin_ns);
	hodo_export_puts(f->out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	firefox_put_ms(f->out, f->tree->totals.end_ns - f->tree->totals.begin_ns);
	hodo_export_printf(f->out, ",\"version\":%d,\"preprocessedProfileVersion\":%d", GECKO_VERSION, VERSION);
	put_json(f, ",\"product\":", p && p->comm ? p->comm : "hodo");
	hodo_export_puts(f->out, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
				 "\"symbolicationNotSupported\":true,\"importedFrom\":\"hodo\","
				 "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
				 "\"platform\":\"Linux\",\"oscpu\":\"Linux\",\"extensions\":{\"id\":[],\"name\":[],"
				 "\"baseURL\":[],\"length\":0},\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
				 "\"threadCPUDelta\":\"ns\"},\"categories\":["
				 "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
				 "{\"name\":\"Span\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
				 "{\"name\":\"Function\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
				 "\"markerSchema\":[");
	firefox_put_schemas(f);
	hodo_export_puts(f->out, "]}}\n");
}

/* -------------------------------------------------------------------------- all */

static int put_all(struct firefox *f)
{
	uint32_t n = 0;
	int err = hodo_export_flush(&f->text_out);

	if (err)
		return err;
	f->stacks = calloc((size_t)f->tree->nnodes + 1, sizeof(*f->stacks));
	if (!f->stacks)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->tree->nnodes; i++)
		f->stacks[i] = f->tree->nodes[i].frame == HODO_CALL_NONE ? 0 : n++;
	err = put_threads(f);
	if (err)
		return err;
	put_stacks(f);
	put_frames(f);
	put_functions(f);
	put_places(f);
	put_libraries(f);
	put_meta(f);
	return f->out->error;
}

static void tell(const struct firefox *f)
{
	char line[200];

	if (!f->e->warn)
		return;
	if (!f->tree->whole)
		f->e->warn("more spans and calls than the profiler opens one by one: the file has the time of each "
			   "path; --since and --until make it less");
	if (f->markers_left_out || f->texts_left_out) {
		snprintf(line, sizeof(line), "%llu markers, and what %llu others say, are too many for one file: "
			 "--since and --until make it less", (unsigned long long)f->markers_left_out,
			 (unsigned long long)f->texts_left_out);
		f->e->warn(line);
	}
	if (f->tree->running)
		f->e->warn("which thread ran on which CPU has no place in a Firefox profile: --to perfetto has it");
}

static int run(struct hodo_export *e)
{
	struct firefox f = { .e = e, .out = e->out };
	struct hodo_call_options o = { .group = HODO_CALL_BY_THREAD, .lines = true, .slices = true,
				       .also = firefox_ops, .extra = firefox_extra, .data = &f };
	struct hodo_call_tree *tree = NULL;
	int err = firefox_markers_open(&f);

	if (!err)
		err = firefox_losses(&f);
	if (!err)
		err = hodo_call_tree_read(&tree, e, &o);
	f.tree = tree;
	if (!err)
		err = put_all(&f);
	if (!err)
		tell(&f);
	firefox_markers_free(&f);
	hodo_strings_free(&f.strings);
	hodo_strings_free(&f.sources);
	hodo_strings_free(&f.types);
	hodo_strings_free(&f.type_names);
	hodo_call_objects_free(&f.objects);
	free(f.stacks);
	free(f.open);
	hodo_call_tree_free(tree);
	return err;
}

const struct hodo_export_format hodo_export_firefox = {
	.name = "firefox",
	.suffix = "firefox.json",
	.does = "samples and markers of each thread: https://profiler.firefox.com",
	.run = run,
};
