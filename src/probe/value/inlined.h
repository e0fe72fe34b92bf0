/* SPDX-License-Identifier: MIT */
/* inlined.h - where functions were inlined, by the debug information. */
#pragma once

#include "image.h"
#include <probe/text/names.h>

/* Calls each for the entry of every inlined copy of a matching function; die: the copy's debug information. 0
 * or what each returned. */
typedef int (*hodo_inlined_fn)(void *arg, uint64_t address, const char *function, Dwarf_Off die);
int hodo_inlined_each(const struct hodo_probe_image *i, const struct hodo_probe_name *names, hodo_inlined_fn each,
		      void *arg);
