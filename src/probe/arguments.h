/* SPDX-License-Identifier: MIT */
/* arguments.h - the arguments and results of functions that are traced, as events of a target (build.h). */
#ifndef HODO_PROBE_ARGUMENTS_H
#define HODO_PROBE_ARGUMENTS_H

#include "build.h"
#include "resolve.h"

#define HODO_PROBE_ARGS   "args" /* providers */
#define HODO_PROBE_RESULT "result"

/*
 * For those of the target's functions that the glob names: args:FUNCTION in front of the entry, with the function's
 * address and its parameters, and result:FUNCTION in front of each exit, with the address and what it returns. Those
 * without parameters, or without a result, have no such event. 0; -EINVAL: the file does not say what parameters are,
 * in one line in error; -ENOMEM. hodo_probe_events_free() frees what was added in any case.
 */
int hodo_probe_arguments_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const char *glob,
			     char error[HODO_SPEC_ERROR]);

#endif
