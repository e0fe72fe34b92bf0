/* SPDX-License-Identifier: MIT */
/* near.h - the names that are most like one that is not there: what a user may have meant. */
#ifndef HODO_BASE_NEAR_H
#define HODO_BASE_NEAR_H

#define HODO_NEAR_NAMES 3u
#define HODO_NEAR_BYTES 128u /* of a name, with its NUL; longer ones are not near anything */

struct hodo_near {
	const char *wanted;
	unsigned n;
	unsigned edits[HODO_NEAR_NAMES];
	char name[HODO_NEAR_NAMES][HODO_NEAR_BYTES]; /* nearest first */
	char text[HODO_NEAR_NAMES * HODO_NEAR_BYTES + 32];
};

/* Keeps the name if it is one of the nearest: up to a third of the wanted one's letters, and one, may differ. */
void hodo_near_look(struct hodo_near *n, const char *name);
/* ": did you mean a, b or c?"; "" if nothing is near. */
const char *hodo_near_text(struct hodo_near *n);

#endif
