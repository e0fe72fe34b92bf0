/* SPDX-License-Identifier: MIT */
/* record_off_cpu.c - hodo record --off-cpu: how to find out how long threads did not run. */
#include <string.h>

#include <cli/cli.h>
#include "record_options.h"

#define VERB    "record"
#define WHY_MAX 512

/* The best possible: the kernel's switches, which cost the program nothing; else CPU times. */
static void choose(struct hodo_record_options *o)
{
	char why[WHY_MAX];

	if (o->kernel) {
		o->off_cpu = HODO_OFF_CPU_SWITCHES;
	} else if (o->overwrite) {
		/* A flight recorder's snapshot has a single process: its events must contain it. */
		o->off_cpu = HODO_OFF_CPU_TIME;
	} else if (hodo_switches_check(why, sizeof(why)) == 0) {
		o->off_cpu = HODO_OFF_CPU_SWITCHES;
	} else {
		o->off_cpu = HODO_OFF_CPU_TIME;
		if (!o->args.quiet)
			hodo_warning("--off-cpu: %s; until then, events have their thread's CPU time, which "
				     "takes a system call for each, and calls of functions have none", why);
	}
}

static int check_switches(const struct hodo_record_options *o)
{
	char why[WHY_MAX];

	if (o->kernel)
		return 0;
	if (o->overwrite)
		return hodo_usage(VERB, "--off-cpu=switches needs a recording that is written all the time: "
				  "with --overwrite use cpu_time");
	if (hodo_switches_check(why, sizeof(why)) < 0)
		return hodo_error("--off-cpu=switches: %s; or --off-cpu=cpu_time", why);
	return 0;
}

int hodo_off_cpu_settle(struct hodo_record_options *o)
{
	char why[WHY_MAX];
	int status = 0;

	if (o->off_cpu == HODO_OFF_CPU_BEST)
		choose(o);
	else if (o->off_cpu == HODO_OFF_CPU_SWITCHES)
		status = check_switches(o);
	if (status)
		return status;
	if (o->off_cpu == HODO_OFF_CPU_TIME) {
		o->context.size = sizeof(o->context);
		o->context.flags |= HODO_CONTEXT_CPU_TIME;
	} else if (o->off_cpu && o->kernel &&
		   hodo_pattern_add(&o->kernel_patterns, "sched:sched_switch", why, sizeof(why)) < 0) {
		return hodo_no_memory();
	}
	return 0;
}

void hodo_off_cpu_begin(const struct hodo_record_options *o, struct hodo_recorder *s)
{
	char why[WHY_MAX];

	if (!s || o->off_cpu != HODO_OFF_CPU_SWITCHES || o->kernel)
		return;
	if (hodo_recorder_add_switches(s, why, sizeof(why)) < 0)
		hodo_error("--off-cpu: %s", why);
}

static void watch(void *recorder, pid_t pid)
{
	hodo_switches_watch(recorder, pid);
}

struct hodo_launch_before hodo_off_cpu_before(struct hodo_recorder *s)
{
	return (struct hodo_launch_before){ s ? watch : NULL, s };
}
