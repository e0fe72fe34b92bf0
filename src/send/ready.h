/* SPDX-License-Identifier: MIT */
/* ready.h - whether a directory of this machine can take recordings: before one is made that would never arrive. */
#pragma once

#include <base/why.h>

#include "target.h"

/*
 * Makes the directory, and in it this host's. 0, also if it takes long to find out, or if the target is elsewhere; or a
 * negative errno, with a line for the user.
 */
int hodo_send_ready(const struct hodo_send_target *target, struct hodo_why *why);
