/* SPDX-License-Identifier: MIT */
/* arguments.h - the arguments and results of traced functions, as events of a target (build.h). */
#pragma once

#include <base/why.h>
#include <probe/patch/build.h>
#include "resolve.h"

#define HODO_PROBE_ARGS   "args" /* providers */
#define HODO_PROBE_RESULT "result"

/*
 * For the target's functions that match the glob: args:FUNCTION at the entry, with the function's address and
 * its parameters, and result:FUNCTION at each exit, with the address and the result. Functions without
 * parameters, or without a result, have no such event. 0; -EINVAL: the file does not describe parameters,
 * with a line in why; -ENOMEM. In any case, hodo_probe_events_free() frees what was added.
 */
int hodo_probe_arguments_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const char *glob,
			     struct hodo_why *why);
