/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tracepoint_find.c - the kernel's tracepoints by name. */
#include "tracepoint_find.h"

#include <linux/string.h>

struct search {
	const char *name;
	struct tracepoint *found;
};

static void look(struct tracepoint *tp, void *arg)
{
	struct search *s = arg;

	if (strcmp(tp->name, s->name) == 0)
		s->found = tp;
}

struct tracepoint *hodo_tracepoint_find(const char *name)
{
	struct search s = { name, NULL };

	for_each_kernel_tracepoint(look, &s);
	return s.found;
}
