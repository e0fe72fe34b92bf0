/* SPDX-License-Identifier: MIT */
/* near.h - the names most similar to a missing one: what the user may have meant. */
#pragma once

#define HODO_NEAR_NAMES 3u
#define HODO_NEAR_BYTES 128u /* of a name, with its NUL; longer ones are not similar to anything */

struct hodo_near {
	const char *wanted;
	unsigned n;
	unsigned edits[HODO_NEAR_NAMES];
	char name[HODO_NEAR_NAMES][HODO_NEAR_BYTES]; /* nearest first */
	char text[HODO_NEAR_NAMES * HODO_NEAR_BYTES + 32];
};

/* Keeps the name if it is among the nearest: up to a third of the wanted one's letters, plus one, may differ, and
 * "ns::get" is near "get". */
void hodo_near_look(struct hodo_near *n, const char *name);
/* ": did you mean a, b or c?"; "" if nothing is near. */
const char *hodo_near_text(struct hodo_near *n);
