/* SPDX-License-Identifier: MIT */
/* record_probes.h - the probes of a recording, -e probe:…, as one plan after the other finds them in files. */
#ifndef HODO_CLI_RECORD_PROBES_H
#define HODO_CLI_RECORD_PROBES_H

#include <probe/build.h>
#include <probe/image.h>
#include <probe/spec.h>
#include <record/record.h>

struct hodo_record_probe {
	char *text;    /* with probe: in front */
	char *pattern; /* of its events */
	struct hodo_spec spec;
	bool found;    /* some process has it */
	bool said;     /* … that it has not; that places or values are missing */
	char *why;     /* it was not found where it was looked for; NULL: it was not looked for */
};

/* All zero: none. */
struct hodo_record_probes {
	struct hodo_record_probe *list;
	uint32_t n;
	struct hodo_pattern_list *patterns; /* the recording's: nobody else need say that they match nothing */
};

bool hodo_record_probe_is(const char *text);
/* 0; -EINVAL, and what is wrong in error; -ENOMEM. */
int hodo_record_probes_add(struct hodo_record_probes *p, const char *text, char error[HODO_SPEC_ERROR]);
/* By its text, with probe: in front or without, or by the name of its events. p->n: there is none. */
uint32_t hodo_record_probes_find(const struct hodo_record_probes *p, const char *text);
void hodo_record_probes_remove(struct hodo_record_probes *p, uint32_t i);
void hodo_record_probes_free(struct hodo_record_probes *p);

/* Whether some may be in the file. */
bool hodo_record_probes_mean(const struct hodo_record_probes *p, const char *path, const char *soname);
/* Adds those that are in a file to the target, which is to be planned. image NULL: `flaw` says why nothing can be in
 * it. 0 or -ENOMEM. */
int hodo_record_probes_take(struct hodo_record_probes *p, const char *path, const char *soname,
			    const struct hodo_probe_image *image, const char *flaw, struct hodo_probe_target *t);
/* After a plan for a process: which places are not to be had, and which values, once each. attached: nothing further is
 * to come that might have what was not found. */
void hodo_record_probes_look(struct hodo_record_probes *p, const struct hodo_probe_target *targets, uint32_t n,
			     bool attached);
/* At the end: those that were found nowhere. */
void hodo_record_probes_end(struct hodo_record_probes *p);

#endif
