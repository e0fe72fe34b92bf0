/* SPDX-License-Identifier: MIT */
/* parts.h - the folders of a recording. */
#pragma once

struct hodo_read;

/* Opens the directory as a process folder; or all folders in it. 0 or a negative errno. */
int hodo_read_open_single(struct hodo_read *r);
int hodo_read_open_all(struct hodo_read *r);
