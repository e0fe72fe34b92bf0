/* SPDX-License-Identifier: MIT */
/* values.h - values of options that several verbs take. */
#pragma once

#include <base/quantity.h>

/* An option's time, within bounds. 0, or the exit status after a message. */
int hodo_set_time(int64_t *ns, const char *verb, const char *option, const char *text, enum hodo_time_form form,
		  int64_t min_ns, int64_t max_ns);
/* The value of --compress, which is optional: a level for pack/compress.h. 0, or HODO_EXIT_USAGE after a
 * message. */
int hodo_compress_level(const char *verb, const char *value, int *level);
