/* SPDX-License-Identifier: MIT */
/* record_functions.c - what hodo record is asked of functions, and what it reports of them at the end. */
#define _GNU_SOURCE
#include "record_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record_findings.h"

#define VERB "record"
#define ONE(tracer) (1u << HODO_TRACER_##tracer)

const char *const hodo_tracer_names[] = {
	[HODO_TRACER_RECORD] = "record", [HODO_TRACER_GRAPH] = "graph",     [HODO_TRACER_PROFILE] = "profile",
	[HODO_TRACER_STACK] = "stack",   [HODO_TRACER_LATENCY] = "latency", [HODO_TRACER_LOOP] = "loop",
	[HODO_TRACER_THREAD] = "thread", NULL,
};

int hodo_function_options_names(struct hodo_function_names *list, const char *option, const char *value)
{
	char why[200];

	return hodo_functions_add(list, value, why, sizeof(why)) == 0 ? 0 : hodo_usage(VERB, "%s: %s", option, why);
}

int hodo_function_options_event(struct hodo_function_options *o, struct hodo_pattern_list *events,
				const char *pattern)
{
	bool bang = pattern[0] == '!';
	char why[200];
	char *name;
	int err;

	if (strcmp(pattern + bang, "func") == 0) /* as a provider's name alone */
		pattern = bang ? "!func:*" : "func:*";
	if (strncmp(pattern + bang, "func:", 5) != 0)
		return hodo_pattern_add(events, pattern, why, sizeof(why)) == 0 ? 0 :
		       hodo_usage(VERB, "-e %s", why);
	if (asprintf(&name, "%s%s", bang ? "!" : "", pattern + bang + 5) < 0)
		return hodo_no_memory();
	o->excluded |= bang;
	err = hodo_function_options_names(&o->functions.patterns, "-e", name);
	free(name);
	return err;
}

static bool any_event_included(const struct hodo_pattern_list *events)
{
	for (uint32_t i = 0; i < events->n; i++)
		if (events->pattern[i].text[0] != '!')
			return true;
	return false;
}

/* Options that say something of functions, without functions. */
static int check_none(const struct hodo_function_options *o)
{
	const char *option = o->functions.depth_max ? "--depth" : o->functions.limit_ns ? "--min-time" :
			     o->functions.flags & HODO_FUNCTIONS_RETURNS ? "--returns" : NULL;

	if (o->excluded)
		return hodo_usage(VERB, "-e '!func:...' leaves out functions, and none are asked for: add"
				  " --functions");
	if (option)
		return hodo_usage(VERB, "%s is for functions, and none are asked for: add --functions", option);
	return 0;
}

static int check_tracers(const struct hodo_function_options *o)
{
	uint32_t tracers = o->functions.tracers, calls = tracers & (ONE(RECORD) | ONE(GRAPH) | ONE(LATENCY));

	if (calls & (calls - 1))
		return hodo_usage(VERB, "the tracers record, graph and latency write the same calls each in its way:"
				  " choose one");
	if ((tracers & ONE(LOOP)) && !o->functions.loops.n)
		return hodo_usage(VERB, "--tracer loop needs to know the event loops' functions: name them with"
				  " --loop");
	if (o->functions.loops.n && !(tracers & ONE(LOOP)))
		return hodo_usage(VERB, "--loop goes with --tracer loop");
	if ((tracers & (ONE(LATENCY) | ONE(LOOP))) && !o->functions.limit_ns)
		return hodo_usage(VERB, "the tracers latency and loop need a limit: --min-time 10ms, say");
	if (o->functions.limit_ns && !(tracers & (ONE(GRAPH) | ONE(LATENCY) | ONE(LOOP))))
		return hodo_usage(VERB, "--min-time goes with the tracers record, graph, latency and loop");
	if (o->functions.depth_max && !(tracers & (ONE(RECORD) | ONE(GRAPH))))
		return hodo_usage(VERB, "--depth goes with the tracers record and graph");
	if ((o->functions.flags & HODO_FUNCTIONS_ABORT) && !(tracers & ONE(THREAD)))
		return hodo_usage(VERB, "--abort goes with --tracer thread");
	return 0;
}

int hodo_function_options_check(struct hodo_function_options *o, struct hodo_pattern_list *events)
{
	struct hodo_functions *f = &o->functions;
	char why[200];
	int err;

	if (!o->all && !f->tracers && f->patterns.included == 0) {
		f->tracers = 0;
		err = check_none(o);
		return err ? err : o->functions.loops.n || (f->flags & HODO_FUNCTIONS_ABORT) ? check_tracers(o) : 0;
	}
	/* Patterns of -e name what is recorded: with one for functions alone, there are no other events. */
	if (any_event_included(events) || (!o->all && f->patterns.included > 0)) {
		if (hodo_pattern_add(events, "func:*", why, sizeof(why)) < 0)
			return hodo_usage(VERB, "-e %s", why);
		events->pattern[events->n - 1].reported = true; /* not the user's */
	}
	if (!f->tracers)
		f->tracers = ONE(RECORD);
	/* How long a call takes is known at its end only. */
	if (o->functions.limit_ns && (f->tracers & ONE(RECORD)))
		f->tracers = (f->tracers & ~ONE(RECORD)) | ONE(GRAPH);
	err = check_tracers(o);
	/* A loop is known by its own call. */
	for (const char *p = f->loops.text; !err && f->patterns.included > 0 && p < f->loops.text + f->loops.len;
	     p += strlen(p) + 1)
		err = hodo_function_options_names(&f->patterns, "--loop", p);
	if (!err && hodo_functions_check(f) < 0)
		err = hodo_usage(VERB, "too many functions are named: use * to name several at once");
	return err;
}

int hodo_function_options_kernel(struct hodo_function_options *o)
{
	const struct hodo_functions *f = &o->functions;
	const char *option = f->tracers & ~ONE(RECORD) ? (f->limit_ns ? "--min-time" : "--tracer") :
			     f->depth_max ? "--depth" : f->flags & HODO_FUNCTIONS_RETURNS ? "--returns" : NULL;

	o->kernel = true;
	if (f->tracers && option)
		return hodo_usage(VERB, "%s is for functions of programs, and with -k they are the kernel's: record them"
				  " without it, then look at the times with hodo graph", option);
	return 0;
}

/* ------------------------------------------------------------------- the end */

static void put_count(uint64_t n, const char *what, const char *cause, const char *hint)
{
	if (n)
		hodo_error("%" PRIu64 " %s%s %s: %s", n, what, n == 1 ? "" : "s", cause, hint);
}

void hodo_function_options_report(const struct hodo_function_options *o, const struct hodo_functions_seen *seen,
				const char *program, const char *recording, bool quiet)
{
	if (!quiet && (o->functions.tracers & (ONE(THREAD) | ONE(LOOP) | ONE(STACK))))
		hodo_record_findings(recording);
	if (seen->found == 0)
		hodo_error("%s has no traceable functions: build it with the flags of `pkg-config --cflags --libs"
			   " hodo-functions` (gcc -pg -mfentry -minstrument-return=call), or clang's"
			   " -fxray-instrument, or -finstrument-functions", program);
	else if (seen->on == 0)
		hodo_record_unmatched(recording, &o->functions.patterns, seen->found);
	if (o->kernel)
		put_count(seen->missed, "call", "not seen: made by the kernel's own tracing of functions, or more at once than"
			   " it takes", "record fewer functions");
	else
		put_count(seen->missed, "call", "not seen: made by a signal handler that interrupted a tracer",
			   "leave out with -e '!func:...' what signal handlers call, or look at times with that in mind");
	put_count(seen->deep, "call", "not seen: deeper than a tracer keeps", "trace fewer functions, or bound the"
		   " recursion");
	put_count(seen->threads, "call", "not seen: in more threads than tracers keep",
		   "use --tracer record alone, which has no such limit");
	put_count(seen->profile_lost, "call", "not in the profile: it has no room for more functions and threads",
		   "profile fewer functions, with --functions=GLOB");
}
