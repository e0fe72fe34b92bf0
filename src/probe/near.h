/* SPDX-License-Identifier: MIT */
/* near.h - the names that are most like one that is not there. */
#ifndef HODO_PROBE_NEAR_H
#define HODO_PROBE_NEAR_H

#define HODO_NEAR_NAMES 3u
#define HODO_NEAR_BYTES 64u /* of a name, with its NUL; longer ones are not near anything */

struct hodo_near {
	const char *wanted;
	unsigned n;
	unsigned edits[HODO_NEAR_NAMES];
	char name[HODO_NEAR_NAMES][HODO_NEAR_BYTES]; /* nearest first */
	char text[HODO_NEAR_NAMES * HODO_NEAR_BYTES + 32];
};

void hodo_near_look(struct hodo_near *n, const char *name);
/* ": did you mean a, b or c?"; "" if nothing is near. */
const char *hodo_near_text(struct hodo_near *n);

#endif
