/* SPDX-License-Identifier: MIT */
/* record_summary.c - hodo record's messages at the end: what was written and lost, and findings about
 * functions. */
#define _GNU_SOURCE
#include "record_options.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sym/recording_symbols.h>

#include <cli/recording.h>
#include <cli/say.h>
#include <cli/list/list.h>
#include <stats/lists.h>

#include "record_send.h"

#define WRONG_SHOWN 20u
#define HELD_SHOWN  10u
#define CHAIN_SHOWN 12u
#define ADDRESSES (HODO_CONTEXT_IP | HODO_CONTEXT_CALLSTACK | HODO_CONTEXT_STACK) /* of code, for which names are kept */
#define NAMES_LOOKED_AT_MAX 50000u /* to find similar ones */

static bool wrote_all(const struct hodo_recorder_stats *s)
{
	return s->processes == 0 || s->unwritten < s->processes;
}

void hodo_record_keep_symbols(const struct hodo_record_options *o, const struct hodo_recorder_stats *stats,
			      const struct hodo_roots *roots)
{
	bool wanted = o->functions.tracers || (o->context.flags & ADDRESSES);
	bool written = stats->snapshots || wrote_all(stats);
	char object[PATH_MAX];
	int err = wanted && written ? hodo_symbols_keep(o->out, roots->fd, roots->n, object) : 0;

	if (err && !o->args.quiet)
		hodo_tell_unkept(o->out, object, err);
}

static void put_parts(const struct hodo_recorder_stats *s)
{
	uint32_t removed = s->parts - s->parts_kept;

	if (removed)
		hodo_error("%" PRIu32 " part%s, %" PRIu32 " removed with %" PRIu64 " event%s, as --keep asks", s->parts,
			   hodo_plural(s->parts), removed, s->removed_events, hodo_plural(s->removed_events));
	else if (s->parts)
		hodo_error("%" PRIu32 " part%s", s->parts, hodo_plural(s->parts));
}

static void put_triggers(const struct hodo_conditions *conditions, const struct hodo_recorder_stats *stats, bool quiet)
{
	for (uint32_t i = 0; i < conditions->n && !quiet; i++) {
		const struct hodo_condition_asked *a = &conditions->asked[i];

		if (a->kind == HODO_CONDITION_RATE)
			continue;
		if (stats->met[i] == 0)
			hodo_error("trigger '%s' was never met", a->text);
		else
			hodo_error("trigger '%s' was met %" PRIu64 " time%s", a->text, stats->met[i],
				   hodo_plural(stats->met[i]));
	}
	if (stats->limited)
		hodo_error("%" PRIu64 " event%s not recorded: over the rate that --rate sets", stats->limited,
			   hodo_plural(stats->limited));
}

/* A start event has no $duration yet, so it is not recorded, and readers cannot tell how long its end took. */
static void put_filter(const struct hodo_record_options *o, const struct hodo_recorder_stats *stats)
{
	if (o->filter_times && stats->events && !o->args.quiet)
		hodo_error("--filter asked for $duration, which begins of spans do not have: ends without a recorded "
			   "begin are shown without a duration: '--overwrite --trigger' keeps both (hodo-filter(7))");
}

/* What else was written, or that nothing was: then the directory is removed. */
static void put_snapshots(const struct hodo_snapshots *o, const struct hodo_recorder_stats *s, const char *recording,
			  bool quiet)
{
	char events[32], bytes[32];

	if (s->snapshots && !quiet)
		hodo_error("%u snapshot%s, %s event%s, %s in %s/snapshot-%s%04u", s->snapshots, hodo_plural(s->snapshots),
			   hodo_grouped(s->snapshot_events, events), hodo_plural(s->snapshot_events),
			   hodo_human_bytes(s->snapshot_bytes, bytes), recording, s->snapshots == 1 ? "" : "0001 to -",
			   s->snapshots);
	if (s->snapshots || wrote_all(s))
		return;
	/* An empty directory would look like a recording in which nothing happened. */
	if (rmdir(recording) < 0)
		return;
	if (!quiet)
		hodo_error("nothing was written: %s: there is no %s for 'hodo print' to read",
			   o->on_crash ? "no signal killed a process, and no snapshot was requested" :
					 "no snapshot was requested", recording);
}

static void put_waits(const struct hodo_record_options *o, const struct hodo_recorder_stats *s)
{
	char time[32], size[32];

	if (s->waited_ns && !o->args.quiet)
		hodo_error("threads waited %s in total for room in their buffers: a larger -m (it was %s) "
			   "reduces that",
			   hodo_duration(s->waited_ns, time) + strspn(time, " "), hodo_human_bytes(o->ring_size, size));
}

#define ROOM_HINT 160u

/* How to keep events for which there was no room. */
static void put_room(const struct hodo_record_options *o, uint64_t room, bool overview, char to[ROOM_HINT])
{
	char hint[HODO_HINT], size[32];

	hodo_room_hint(room, !o->overwrite && !o->kernel && !o->wait_ns, hint);
	if (overview && hint[0] == '-')
		snprintf(to, ROOM_HINT, "'hodo record %.*s %.60s'%s", (int)(strstr(hint, " keeps") - hint), hint,
			 o->command[0], strstr(hint, " keeps"));
	else
		snprintf(to, ROOM_HINT, "%s (it was %s)%s", hint, hodo_size_text(o->ring_size, size),
			 o->wait_ns && o->wait_ns != HODO_WAIT_FOREVER ? ", so does a longer --wait" : "");
}

static void put_losses(const struct hodo_record_options *o, const struct hodo_recorder_stats *s, bool overview)
{
	const struct hodo_lost *l = &s->lost;
	char larger[ROOM_HINT], packet[128], size[32];
	const struct {
		uint64_t n;
		const char *how, *hint;
	} causes[] = {
		{ l->full, "the buffer was full", larger },
		{ l->too_large, "longer than a packet, or with a string over 65,535 bytes", packet },
		{ s->kernel ? l->busy : 0, "they happened while other events were being written, on several "
		 "CPUs",
		  "record fewer events with -e" },
		{ s->kernel ? 0 : l->busy, "threads without restartable sequences collided",
		  "'hodo doctor' says how to get them" },
		{ l->overwritten, "overwritten by newer ones, as --overwrite asks", larger },
		{ s->full ? l->unwritten : 0, "in the buffers when --max-size was reached", "a larger one keeps them" },
		{ s->full ? 0 : l->unwritten, "the output could not be written",
		  "make room, or choose another disk with -o" },
		{ l->damaged, "the program damaged its buffers", "look for stray writes in it" },
	};

	put_room(o, s->room, overview, larger);
	snprintf(packet, sizeof(packet), o->packet_size < HODO_PACKET_MAX ?
		 "a larger --packet-size (it was %s) takes up to 4M" : "record less in one event: no packet "
								       "can be larger than %s",
		 hodo_human_bytes(o->packet_size, size));
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].n)
			hodo_error("%" PRIu64 " event%s lost: %s: %s", causes[i].n, hodo_plural(causes[i].n),
				   causes[i].how, causes[i].hint);
}

/* --------------------------------------------------------------------- functions */

/* At once: one line a place. */
static void show_wrong(const struct hodo_stats_wrong *w, const struct hodo_read_event *e)
{
	bool called = w->chain.n > 1;

	hodo_error("%s[%u]: %s was called%s%s in a thread %s%s%s (%u): it is for '%s' only", e->process->comm, e->pid,
		   w->name, called ? " by " : "", called ? w->chain.name[1] : "",
		   w->role[0] ? "of role '" : "without a role", w->role, w->role[0] ? "'" : "", e->tid, w->wanted);
}

static int by_time(const void *a, const void *b)
{
	const struct hodo_stats_held *x = a, *y = b;

	return x->max_ns < y->max_ns ? 1 : x->max_ns > y->max_ns ? -1 : 0;
}

static void show_held(struct hodo_stats_lists *l)
{
	struct hodo_stats_held *held = l->held.entries;
	char buf[32];

	if (held)
		qsort(held, l->held.n, sizeof(*held), by_time);
	for (uint32_t i = 0; i < l->held.n && i < HELD_SHOWN; i++) {
		const char *longest = hodo_duration(held[i].max_ns, buf);
		size_t len;

		longest += strspn(longest, " ");
		len = strlen(longest);
		/* "1.092 s ": aligned with ms, in a table. */
		hodo_error("%s held the loop %s %" PRIu64 " time%s, for %.*s at most", held[i].callback, held[i].loop,
			   held[i].times, held[i].times == 1 ? "" : "s",
			   (int)(longest[len - 1] == ' ' ? len - 1 : len), longest);
	}
	if (l->held.n > HELD_SHOWN)
		hodo_error("%u more callbacks held a loop: 'hodo print' shows them", l->held.n - HELD_SHOWN);
}

static void show_stack(const struct hodo_stats_lists *l)
{
	const struct hodo_stats_stack *stacks = l->stacks.entries, *deepest = stacks;
	HODO_AUTO(hodo_text_free) struct hodo_text chain = { 0 };
	char buf[32];

	for (uint32_t i = 1; i < l->stacks.n; i++)
		if (stacks[i].bytes > deepest->bytes)
			deepest = &stacks[i];
	if (!deepest || !deepest->bytes)
		return;
	for (uint32_t i = 0; i < deepest->chain.n && i <= CHAIN_SHOWN; i++)
		hodo_text_printf(&chain, "%s%s", i ? " < " : "", i < CHAIN_SHOWN ? deepest->chain.name[i] : "...");
	hodo_error("the deepest stack was %s, of thread %u (%s): %s", hodo_human_bytes(deepest->bytes, buf), deepest->tid,
		   deepest->comm, hodo_text_string(&chain));
}

/* Findings of the tracers thread, loop and stack: reads the recording once. */
static void put_findings(const char *recording)
{
	struct hodo_read *r = hodo_open(recording, true);
	struct hodo_symbols *symbols = r ? hodo_symbols_new(recording) : NULL;
	const struct hodo_read_event *e;
	struct hodo_stats_lists lists;
	uint64_t wrong = 0;

	if (symbols)
		hodo_symbols_shorten(symbols);
	hodo_stats_lists_start(&lists, symbols, NULL);
	while (symbols && hodo_read_next(r, &e) > 0) {
		if (e->cls->kind != HODO_KIND_FUNCTION)
			continue;
		hodo_stats_lists_event(&lists, e);
		if (lists.last_wrong && ++wrong <= WRONG_SHOWN)
			show_wrong(lists.last_wrong, e);
	}
	if (wrong > WRONG_SHOWN)
		hodo_error("%" PRIu64 " more calls in wrong threads: 'hodo print' shows them", wrong - WRONG_SHOWN);
	show_held(&lists);
	show_stack(&lists);
	hodo_stats_lists_free(&lists);
	hodo_symbols_free(symbols);
	hodo_read_close(r);
}

/* Names of one file's functions; C++ without parameters. Returns how many were looked at. */
static uint32_t see_file(struct hodo_pattern_list *list, const char *path, uint32_t max)
{
	const struct hodo_read_options silent = { .size = sizeof(silent) };
	const struct hodo_list_args functions = { .args.quiet = true, .functions = true };
	HODO_AUTO(hodo_list_free) struct hodo_list l = { 0 };
	uint32_t n;

	hodo_list_add_file(&l, path, path, &silent, &functions);
	n = l.nfunctions < max ? l.nfunctions : max;
	for (uint32_t i = 0; i < n; i++) {
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(l.functions[i].name, "("), l.functions[i].name);
		for (uint32_t p = 0; p < list->n && name[0]; p++)
			hodo_pattern_near(&list->pattern[p], name);
	}
	return n;
}

/* Files of all processes, each once. */
static void see_files(struct hodo_pattern_list *list, const struct hodo_read *reader)
{
	uint32_t left = NAMES_LOOKED_AT_MAX;
	const struct hodo_read_process *p;
	const char *last = "";

	for (uint32_t i = 0; (p = hodo_read_process(reader, i)) && left > 0; i++) {
		for (uint32_t j = 0; j < p->nobjects && left > 0; j++) {
			if (p->objects[j].functions == 0 || strcmp(p->objects[j].path, last) == 0)
				continue;
			last = p->objects[j].path;
			left -= see_file(list, last, left);
		}
	}
}

/* Reports that none of that many functions matches the patterns, with some similar names. found: with slots. */
static void put_unmatched(const char *recording, struct hodo_pattern_list *patterns, uint64_t found,
			  uint64_t unprepared)
{
	HODO_AUTO_READ struct hodo_read *reader = hodo_open(recording, true);
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };

	if (reader)
		see_files(patterns, reader);
	hodo_pattern_unknown(patterns, "", &text);
	hodo_error("none of %" PRIu64 " traceable functions matches %s%s", found + unprepared,
		   text.len && !text.error ? hodo_text_string(&text) : "what you asked for",
		   found ? ": 'hodo list --functions FILE' lists them" : "");
}

/* One line for each thing that the user should know. */
static void put_functions(struct hodo_record_options *o, const struct hodo_functions_seen *seen)
{
	struct hodo_functions *f = &o->functions;
	const struct {
		uint64_t n;
		const char *cause;
	} missing[] = {
		{ o->kernel ? seen->missed : 0,
		  "not seen: made by the kernel's own function tracing, or more at once than it can take: "
		  "record fewer functions" },
		{ o->kernel ? 0 : seen->missed,
		  "not seen: made by a signal handler that interrupted a tracer, or by a task that shares a "
		  "thread's storage (CLONE_VM): leave out what signal handlers call with -e '!func:...', or "
		  "keep it in mind when you look at times" },
		{ seen->deep, "not seen: nested deeper than a tracer stores: trace fewer functions, or "
		 "limit the recursion" },
		{ seen->threads, "not seen: in more threads than tracers store: use only --tracer record, "
		 "which has no such limit" },
		{ seen->profile_lost, "not in the profile: it has no room for more functions and threads: profile fewer"
				      " functions, with --functions=GLOB" },
	};
	const uint32_t tell = 1u << HODO_TRACER_THREAD | 1u << HODO_TRACER_LOOP | 1u << HODO_TRACER_STACK;

	if (!o->args.quiet && (f->tracers & tell))
		put_findings(o->out);
	if (seen->found == 0 && !o->unprepared)
		hodo_error("%s has no traceable functions: build it with the flags of `pkg-config --cflags --libs"
			   " hodo-functions` (gcc -pg -mfentry -minstrument-return=call), or clang's"
			   " -fxray-instrument, or -finstrument-functions",
			   o->command[0] ? o->command[0] : o->kernel ? "the kernel" : "what is recorded");
	else if (seen->on == 0 && (f->patterns.n || seen->found))
		put_unmatched(o->out, &f->patterns, seen->found, o->unprepared);
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		if (missing[i].n)
			hodo_error("%" PRIu64 " call%s %s", missing[i].n, missing[i].n == 1 ? "" : "s",
				   missing[i].cause);
}

/* ------------------------------------------------------------------------- whole */

/* --------------------------------------------------------------------- nothing */

/* The program of "libhodo was not loaded in PROGRAM, or …", if it is known where it was. */
static bool not_loaded_in(const char *why, char path[PATH_MAX])
{
	static const char before[] = "libhodo was not loaded in ";
	const char *at = strncmp(why, before, sizeof(before) - 1) == 0 ? why + sizeof(before) - 1 : NULL;
	const char *end = at ? strrchr(at, ',') : NULL;

	/* A backslash: its name is not all printable. */
	return end && at[0] == '/' && !memchr(at, '\\', (size_t)(end - at)) &&
	       snprintf(path, PATH_MAX, "%.*s", (int)(end - at), at) < PATH_MAX;
}

/* The folder of our libhodo, for the user to copy it. */
static const char *library_folder(char path[PATH_MAX])
{
	struct hodo_why why;
	char *slash;

	if (hodo_launch_library(path, PATH_MAX, &why) < 0 || !(slash = strrchr(path, '/')))
		return NULL;
	*slash = 0;
	return path;
}

static void put_no_environment(void)
{
	hodo_error("the program was started in a cleared environment, as by env -i or sudo, so libhodo was "
		   "not loaded: put hodo after that, as in 'env -i hodo record PROGRAM', or attach: 'hodo "
		   "record -p PID'");
}

static void put_other_root(void)
{
	char path[PATH_MAX];
	const char *folder = library_folder(path);

	if (folder)
		hodo_error("the program has another root directory (chroot, container), without libhodo: copy"
			   " %s/libhodo*.so* and %s/hodo-preload to the same place there", folder, folder);
}

static void put_static(void)
{
	hodo_error("a static program is recorded if libhodo is linked into it: `pkg-config --static --libs hodo`");
}

/* Each reason for unrecorded images, once. False: none that can be fixed here. */
static bool put_unrecorded(const struct hodo_recorder_stats *s)
{
	bool no_environment = false, other_root = false, is_static = false;
	char path[PATH_MAX];

	for (uint32_t i = 0; i < s->reasons; i++) {
		const char *why = s->unrecorded[i].why, *last = strrchr(why, ' ');

		if (last && strcmp(last, " static") == 0)
			is_static = true;
		else if (not_loaded_in(why, path) && access(path, F_OK) != 0)
			other_root = true;
		else if (strncmp(why, "libhodo was not loaded in ", 26) == 0)
			no_environment = true;
	}
	if (no_environment)
		put_no_environment();
	if (other_root)
		put_other_root();
	if (is_static)
		put_static();
	return no_environment || other_root || is_static;
}

static uint64_t count_classes(const struct hodo_read *r)
{
	const struct hodo_read_process *p;
	uint64_t n = 0;

	for (uint32_t i = 0; (p = hodo_read_process(r, i)); i++)
		n += p->nclasses;
	return n;
}

/* What has no events, and the options that name it. */
static void put_no_events(const struct hodo_record_options *o, const struct hodo_read *r)
{
	const struct hodo_read_process *p = hodo_read_process(r, 0);
	char what[64] = "what is recorded", which[32] = "";

	if (!o->command[0] && p && hodo_read_nprocesses(r) == 1) {
		snprintf(what, sizeof(what), "process %u", (unsigned)p->pid);
		snprintf(which, sizeof(which), " -p %u", (unsigned)p->pid);
	}
	hodo_error("%s has no events: 'hodo record%s --functions' records its functions, 'hodo record%s -e "
		   "probe:FUNCTION' the calls of one", o->command[0] ? o->command[0] : what, which, which);
}

/* Whether options say which events are wanted. */
static bool is_selected(const struct hodo_record_options *o)
{
	return o->patterns.n || o->sdt.n || o->filter_len || o->functions.tracers;
}

/* Why there are no events, and how to get some. */
static void put_nothing(const struct hodo_record_options *o, const struct hodo_recorder_stats *s)
{
	const struct hodo_read_options silent = { .size = sizeof(silent) };
	HODO_AUTO_READ struct hodo_read *r = NULL;
	char n[32], path[PATH_MAX];
	uint64_t there;

	/* What could not be written was already reported. */
	if (hodo_read_open(&r, o->out, &silent) < 0)
		return;
	there = count_classes(r);
	if (there)
		hodo_error("none of the %s event%s of %s%s happened: 'hodo list %s' lists %s", hodo_grouped(there, n),
			   there == 1 ? "" : "s", o->command[0] ? o->command[0] : "what is recorded",
			   is_selected(o) ? " that you asked for" : "", hodo_record_listed(o, path), there == 1 ? "it" : "them");
	else if (!put_unrecorded(s))
		put_no_events(o, r);
}

/* --------------------------------------------------------------------- summary */

void hodo_record_summary(struct hodo_record_options *o, const struct hodo_recorder_stats *s, bool stopped,
			 bool overview)
{
	char events[32], bytes[32], who[48];

	if (!o->args.quiet && wrote_all(s))
		hodo_error("%s event%s of %s, %s%s%s", hodo_grouped(s->events, events), hodo_plural(s->events),
			   hodo_whom(s->kernel, s->processes, who), hodo_human_bytes(s->bytes, bytes),
			   o->to.target ? "" : " in ", o->to.target ? "" : o->out); /* it does not stay there */
	/* Besides the kernel, any program is fine. */
	if (o->command[0] && !s->command && !s->command_refused && !s->kernel && !stopped && !o->args.quiet)
		hodo_error("%s itself was not recorded: it never loaded libhodo: is it static (then link it with"
			   " `pkg-config --static --libs hodo`), set-user-ID or of another architecture?",
			   o->command[0]);
	put_snapshots(&o->snapshots, s, o->out, o->args.quiet);
	if (!o->args.quiet)
		put_parts(s);
	put_triggers(&o->conditions, s, o->args.quiet);
	put_filter(o, s);
	put_waits(o, s);
	put_losses(o, s, overview);
	for (uint32_t i = 0; i < s->reasons; i++)
		hodo_error("%" PRIu64 " process image%s not recorded: %s", s->unrecorded[i].images,
			   s->unrecorded[i].images == 1 ? " was" : "s were", s->unrecorded[i].why);
	if (o->functions.tracers && s->processes > 0)
		put_functions(o, &s->functions);
	else if (!s->events && s->processes && !s->kernel && !o->args.quiet && wrote_all(s))
		put_nothing(o, s);
}
