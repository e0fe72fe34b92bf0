/* SPDX-License-Identifier: MIT */
/* top_calls.h - hodo top: finds the row of the spans for a function's calls. */
#pragma once

#include "top.h"

struct hodo_live;
struct hodo_top_calls; /* of a process image */

struct hodo_top_calls *hodo_top_calls_new(struct hodo_top_model *m, struct hodo_live *live);
void hodo_top_calls_free(struct hodo_top_calls *calls); /* NULL is allowed */

/* The row; HODO_TOP_NONE: there is no room. address: in the function; bits: it is what a call's record has of one. */
uint32_t hodo_top_calls_row(struct hodo_top_calls *calls, const struct hodo_process *p, uint64_t address, bool bits);
