/* SPDX-License-Identifier: MIT */
/* record_functions.c - hodo record's options for functions. */
#define _GNU_SOURCE
#include "record_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <probe/value/arguments.h>

#include <cli/say.h>

#define VERB "record"
#define ONE(tracer) (1u << HODO_TRACER_##tracer)

const char *const hodo_tracer_names[] = {
	[HODO_TRACER_RECORD] = "record", [HODO_TRACER_GRAPH] = "graph",     [HODO_TRACER_PROFILE] = "profile",
	[HODO_TRACER_STACK] = "stack",   [HODO_TRACER_LATENCY] = "latency", [HODO_TRACER_LOOP] = "loop",
	[HODO_TRACER_THREAD] = "thread", NULL,
};

int hodo_function_options_names(struct hodo_pattern_list *list, const char *option, const char *value)
{
	struct hodo_why why;

	return hodo_functions_add(list, value, &why) == 0 ? 0 : hodo_usage(VERB, "%s: %s", option, why.text);
}

int hodo_function_options_event(struct hodo_functions *f, struct hodo_pattern_list *events,
				const char *pattern)
{
	bool bang = pattern[0] == '!';
	struct hodo_why why;
	char *name;
	int err;

	if (strcmp(pattern + bang, "func") == 0) /* like a provider's name alone */
		pattern = bang ? "!func:*" : "func:*";
	if (strncmp(pattern + bang, "func:", 5) != 0)
		return hodo_pattern_add(events, pattern, &why) == 0 ? 0 :
		       hodo_usage(VERB, "-e %s", why.text);
	if (asprintf(&name, "%s%s", bang ? "!" : "", pattern + bang + 5) < 0)
		return hodo_no_memory();
	f->excluded |= bang;
	err = hodo_function_options_names(&f->patterns, "-e", name);
	free(name);
	return err;
}

/* Refuses options for functions if there are no functions. */
static int check_none(const struct hodo_functions *f)
{
	const char *option = f->depth_max ? "--depth" : f->limit_ns ? "--min-time" :
			     f->flags & HODO_FUNCTIONS_RETURNS ? "--returns" :
			     f->min_bytes ? "--min-size" : f->arguments.n ? "--args" : NULL;

	if (f->excluded)
		return hodo_usage(VERB, "-e '!func:...' leaves out functions, but there are none: add "
				  "--functions");
	if (option)
		return hodo_usage(VERB, "%s is for functions: add --functions", option);
	return 0;
}

static int check_tracers(const struct hodo_functions *f)
{
	uint32_t tracers = f->tracers, calls = tracers & (ONE(RECORD) | ONE(GRAPH) | ONE(LATENCY));
	const struct {
		bool wrong;
		const char *why;
	} rules[] = {
		{ calls & (calls - 1), "the tracers record, graph and latency write the same calls in "
		 "different ways: choose one" },
		{ (tracers & ONE(LOOP)) && !f->loops.n,
		  "--tracer loop needs to know the event loops' functions: name them with --loop" },
		{ f->loops.n && !(tracers & ONE(LOOP)), "--loop goes with --tracer loop" },
		{ (tracers & (ONE(LATENCY) | ONE(LOOP))) && !f->limit_ns,
		  "the tracers latency and loop need a limit, such as --min-time 10ms" },
		{ f->limit_ns && !(tracers & (ONE(GRAPH) | ONE(LATENCY) | ONE(LOOP))),
		  "--min-time goes with the tracers record, graph, latency and loop" },
		{ f->depth_max && !(tracers & (ONE(RECORD) | ONE(GRAPH))), "--depth goes with the tracers record and graph" },
		{ (f->flags & HODO_FUNCTIONS_ABORT) && !(tracers & ONE(THREAD)), "--abort goes with --tracer thread" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].wrong)
			return hodo_usage(VERB, "%s", rules[i].why);
	return 0;
}

/* With -k, the functions are the kernel's. */
static int check_kernel(const struct hodo_functions *f)
{
	const char *option = f->tracers & ~ONE(RECORD) ? (f->limit_ns ? "--min-time" : "--tracer") :
			     f->depth_max ? "--depth" : f->flags & HODO_FUNCTIONS_RETURNS ? "--returns" : NULL;

	if (f->tracers && option)
		return hodo_usage(VERB, "%s is for functions of programs, and -k traces the kernel's: leave "
				  "it out, and look at the times with hodo graph", option);
	return 0;
}

/* Do not report that the pattern matches nothing. */
static int add_event(struct hodo_pattern_list *events, const char *pattern)
{
	struct hodo_why why;

	if (hodo_pattern_add(events, pattern, &why) < 0)
		return hodo_usage(VERB, "-e %s", why.text);
	events->pattern[events->n - 1].reported = true; /* not the user's */
	return 0;
}

static int check_arguments(const struct hodo_functions *f, struct hodo_pattern_list *events, bool kernel)
{
	int err = 0;

	if (f->arguments.n > f->arguments.included)
		return hodo_usage(VERB, "--args: name the functions to include, not those to leave out");
	if (f->tracers != ONE(RECORD))
		return hodo_usage(VERB, "--args goes with the tracer record alone, and without --min-time");
	if (kernel)
		return hodo_usage(VERB, "--args is for functions of programs: for the kernel's, record -e "
				  "'kprobe:NAME(...)'");
	if (events->included > 0)
		err = add_event(events, HODO_PROBE_ARGS ":*");
	return !err && events->included > 0 ? add_event(events, HODO_PROBE_RESULT ":*") : err;
}

int hodo_function_options_check(struct hodo_functions *f, struct hodo_pattern_list *events, bool kernel)
{
	int err = 0;

	if (!f->all && !f->tracers && f->patterns.included == 0) {
		err = check_none(f);
		return err ? err : f->loops.n || (f->flags & HODO_FUNCTIONS_ABORT) ? check_tracers(f) : 0;
	}
	/* Patterns of -e select what is recorded: with only one for functions, there are no other events. */
	if (events->included > 0 || (!f->all && f->patterns.included > 0))
		err = add_event(events, "func:*");
	if (err)
		return err;
	if (!f->tracers)
		f->tracers = ONE(RECORD);
	/* A call's duration is known only at its end. */
	if (f->limit_ns && (f->tracers & ONE(RECORD)))
		f->tracers = (f->tracers & ~ONE(RECORD)) | ONE(GRAPH);
	err = check_tracers(f);
	/* A loop is recognised by its own call. */
	for (uint32_t i = 0; !err && f->patterns.included > 0 && i < f->loops.n; i++)
		err = hodo_function_options_names(&f->patterns, "--loop", f->loops.pattern[i].text);
	if (!err && f->arguments.n)
		err = check_arguments(f, events, kernel);
	if (!err && hodo_functions_check(f) < 0)
		err = hodo_usage(VERB, "too many functions are named: use * to name several at once");
	return err ? err : kernel ? check_kernel(f) : 0;
}
