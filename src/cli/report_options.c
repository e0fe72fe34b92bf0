/* SPDX-License-Identifier: MIT */
/* report_options.c - --pair and --values, as they are written. */
#define _GNU_SOURCE
#include "report_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "thread,shard": what is the same at both ends. */
static int parse_keys(struct report_pair *p, const char *text)
{
	bool all = false;
	char *rest, *part;

	p->by = strdup(text);
	p->fields = strdup(text);
	if (!p->by || !p->fields)
		return -ENOMEM;
	rest = p->fields;
	while ((part = strsep(&rest, ",")) != NULL) {
		if (!*part)
			return -EINVAL;
		if (strcmp(part, "thread") == 0)
			p->key |= REPORT_KEY_THREAD;
		else if (strcmp(part, "cpu") == 0)
			p->key |= REPORT_KEY_CPU;
		else if (strcmp(part, "process") == 0)
			p->key |= REPORT_KEY_PROCESS;
		else if (strcmp(part, "all") == 0)
			all = true;
		else if (p->nfields == REPORT_KEY_FIELDS_MAX)
			return -EINVAL;
		else
			p->field[p->nfields++] = part;
	}
	/* A number that one process gave means another thing in the next, a CPU does not. */
	if (!all && p->nfields)
		p->key |= REPORT_KEY_PROCESS;
	return 0;
}

int report_pair_parse(struct report_pair *p, const char *text)
{
	size_t begin = strcspn(text, ", "), end;
	const char *second = text + begin, *by;

	*p = (struct report_pair){ .key = 0 };
	if (*second != ',')
		return -EINVAL;
	second += 1 + strspn(second + 1, " ");
	end = strcspn(second, ", ");
	by = second + end + strspn(second + end, " ");
	if (!begin || !end || (*by && strncmp(by, "by ", 3) != 0))
		return -EINVAL;
	p->begin = strndup(text, begin);
	p->end = strndup(second, end);
	if (!p->begin || !p->end)
		return -ENOMEM;
	if (!*by) {
		p->key = REPORT_KEY_THREAD;
		return 0;
	}
	by += 3;
	by += strspn(by, " ");
	return by[strcspn(by, " ")] ? -EINVAL : parse_keys(p, by);
}

int report_value_parse(struct report_value *v, const char *text)
{
	char *dot;

	v->event = strdup(text);
	if (!v->event)
		return -ENOMEM;
	dot = strrchr(v->event, '.'); /* events of spans have one, too */
	if (!dot || dot == v->event || !dot[1])
		return -EINVAL;
	*dot = 0;
	v->field = dot + 1;
	return 0;
}

void report_options_free(struct report_options *o)
{
	for (uint32_t i = 0; i < o->npairs; i++) {
		free(o->pairs[i].begin);
		free(o->pairs[i].end);
		free(o->pairs[i].by);
		free(o->pairs[i].fields);
	}
	for (uint32_t i = 0; i < o->nvalues; i++)
		free(o->values[i].event);
}
