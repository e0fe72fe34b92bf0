/* SPDX-License-Identifier: MIT */
/* probes.h - the probes of a recording, probe:PLACE, as successive plans find them in files. */
#pragma once

#include <base/why.h>
#include <probe/patch/build.h>
#include <probe/value/image.h>
#include <probe/text/spec.h>
#include <read/event/pattern.h>

struct hodo_planner_probe {
	char *text;    /* with probe: in front */
	char *pattern; /* of its events */
	struct hodo_spec spec;
	bool found;    /* some process has it */
	bool said;     /* reported that it is not found, or that places or values are missing */
	char *why;     /* why it was not found; NULL: not searched */
};

/* All zero: none. */
struct hodo_planner_probes {
	struct hodo_planner_probe *list;
	uint32_t n;
	struct hodo_pattern_list *patterns; /* the recording's: whether they match is reported here */
};

bool hodo_planner_probe_is(const char *text);
/* 0; -EINVAL, with the reason in why; -ENOMEM. */
int hodo_planner_probes_add(struct hodo_planner_probes *p, const char *text, struct hodo_why *why);
/* By its text, with or without probe:, or by the name of its events. p->n: none. */
uint32_t hodo_planner_probes_find(const struct hodo_planner_probes *p, const char *text);
void hodo_planner_probes_remove(struct hodo_planner_probes *p, uint32_t i);
void hodo_planner_probes_free(struct hodo_planner_probes *p);

/* Whether some may be in the file. */
bool hodo_planner_probes_may_be_in(const struct hodo_planner_probes *p, const char *path, const char *soname);
/* Adds the events of those in a file to the target, which will be planned. image NULL: `flaw` says why nothing can be
 * found in it. 0 or -ENOMEM. */
int hodo_planner_probes_resolve(struct hodo_planner_probes *p, const char *path, const char *soname,
			       const struct hodo_probe_image *image, const char *flaw, struct hodo_probe_target *t);
/* After a plan for a process: reports unavailable places and values, once each. attached: no further files
 * will come. */
void hodo_planner_probes_report(struct hodo_planner_probes *p, const struct hodo_probe_target *targets, uint32_t n,
				 bool attached, const struct hodo_reporter *r);
/* At the end: reports those that were found nowhere. */
void hodo_planner_probes_report_unfound(struct hodo_planner_probes *p, const struct hodo_reporter *r);
