/* SPDX-License-Identifier: MIT */
#include "near.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "distance.h"

/* The wanted name with what it is in: "ns::get" for "get". */
static bool has_tail(const char *name, size_t own, const char *wanted, size_t len)
{
	return len > 0 && own > len + 2 && memcmp(name + own - len - 2, "::", 2) == 0 &&
	       memcmp(name + own - len, wanted, len) == 0;
}

void hodo_near_look(struct hodo_near *n, const char *name)
{
	size_t len = strlen(n->wanted), most = len < 4 ? 1 : len / 3 + 1;
	size_t own = strnlen(name, HODO_NEAR_BYTES);
	unsigned edits, at;

	bool tail = own < HODO_NEAR_BYTES && has_tail(name, own, n->wanted, len);

	if (own == HODO_NEAR_BYTES || (!tail && (own + most < len || len + most < own)))
		return;
	edits = tail ? 1 : hodo_edit_distance(n->wanted, name);
	if (edits > most)
		return;
	for (at = 0; at < n->n; at++)
		if (strcmp(n->name[at], name) == 0)
			return;
	for (at = 0; at < n->n && n->edits[at] <= edits; at++)
		;
	if (at == HODO_NEAR_NAMES)
		return;
	n->n += n->n < HODO_NEAR_NAMES;
	for (unsigned i = n->n - 1; i > at; i--) {
		n->edits[i] = n->edits[i - 1];
		memcpy(n->name[i], n->name[i - 1], HODO_NEAR_BYTES);
	}
	n->edits[at] = edits;
	memcpy(n->name[at], name, own + 1);
}

const char *hodo_near_text(struct hodo_near *n)
{
	size_t len = 0;

	n->text[0] = 0;
	for (unsigned i = 0; i < n->n; i++)
		len += (size_t)snprintf(n->text + len, sizeof(n->text) - len, "%s%s",
					i == 0 ? ": did you mean " : i + 1 == n->n ? " or " : ", ", n->name[i]);
	if (n->n)
		snprintf(n->text + len, sizeof(n->text) - len, "?");
	return n->text;
}
