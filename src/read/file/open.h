/* SPDX-License-Identifier: MIT */
/* open.h - opens what is to be followed (follow.c). */
#pragma once

#include <hodo/read.h>

/* The reader of a folder, without a look into it. */
int hodo_read_open_empty(struct hodo_read **reader, const char *path, const struct hodo_read_options *options);
