/* SPDX-License-Identifier: MIT */
/* distance.c - the edit distance of two names. */
#include "distance.h"

#include <string.h>

unsigned int hodo_edit_distance(const char *a, const char *b)
{
	unsigned int la = (unsigned int)strnlen(a, HODO_EDIT_DISTANCE_MAX);
	unsigned int lb = (unsigned int)strnlen(b, HODO_EDIT_DISTANCE_MAX);
	unsigned int rows[3][HODO_EDIT_DISTANCE_MAX + 1];

	for (unsigned int j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (unsigned int i = 1; i <= la; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned int j = 1; j <= lb; j++) {
			unsigned int best = above[j - 1] + (a[i - 1] != b[j - 1]);

			best = above[j] + 1 < best ? above[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
				best = above2[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[la % 3][lb];
}
