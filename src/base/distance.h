/* SPDX-License-Identifier: MIT */
/* distance.h - the edit distance of two names, to suggest what was meant. */
#pragma once

#define HODO_EDIT_DISTANCE_MAX 64u /* characters of a name; the rest is ignored */

/* Edits (insert, drop, replace, swap of neighbours) that make a into b. */
unsigned int hodo_edit_distance(const char *a, const char *b);
