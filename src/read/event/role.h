/* SPDX-License-Identifier: MIT */
/* role.h - what an event of a class is: an instant, a start, an end, a value, a call. */
#pragma once

#include <hodo/read.h>

struct hodo_class;
struct hodo_strings;

/* Determines the role of the events of a class of that process, whose base names are in bases. 0 or -ENOMEM. */
int hodo_read_role_settle(struct hodo_strings *bases, const struct hodo_read_process *process, struct hodo_class *c);
