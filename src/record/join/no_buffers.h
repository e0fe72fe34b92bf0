/* SPDX-License-Identifier: MIT */
/* no_buffers.h - why a joining process has no buffers to hand over, and what to do about it. */
#pragma once

#include <stddef.h>

#include <base/why.h>
#include <hodo/abi.h>

/* Writes the reason to why, and returns it. */
const char *hodo_no_buffers_why(const struct hodo_msg_failed *m, struct hodo_why *why);
