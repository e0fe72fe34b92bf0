/* SPDX-License-Identifier: MIT */
/* live.c - adds probes to a running recording, and removes them: hodo probe add, list, remove. */
#include "planner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SDT "sdt:"

/*
 * If all events are recorded, so are these. hodo probe has already reported a pattern that matches nothing.
 */
static int record_events(struct hodo_planner *p, const char *pattern)
{
	struct hodo_pattern_list *list = p->probes->patterns;
	int err = list->included ? hodo_pattern_add(list, pattern, NULL) : 0;

	if (!err && list->n)
		list->pattern[list->n - 1].reported = true;
	return err;
}

static uint32_t find_sdt(const struct hodo_pattern_list *sdt, const char *name)
{
	uint32_t i = 0;

	name += strncmp(name, SDT, strlen(SDT)) == 0 ? strlen(SDT) : 0;
	while (i < sdt->n && strcmp(sdt->pattern[i].text, name) != 0)
		i++;
	return i;
}

static int add_sdt(struct hodo_planner *p, const char *name)
{
	if (find_sdt(p->sdt, name) < p->sdt->n)
		return -EEXIST;
	return hodo_pattern_add(p->sdt, name, NULL) < 0 ? -EINVAL : record_events(p, name);
}

/* hodo probe has already reported missing places and values. */
static int add_probe(struct hodo_planner *p, const char *text)
{
	struct hodo_why why;
	uint32_t last = p->probes->n;
	int err = hodo_planner_probes_add(p->probes, text, &why);

	if (!err && hodo_planner_probes_find(p->probes, p->probes->list[last].pattern) < last)
		err = -EEXIST;
	if (!err)
		err = record_events(p, p->probes->list[last].pattern);
	if (err && p->probes->n > last)
		hodo_planner_probes_remove(p->probes, last);
	else if (!err)
		p->probes->list[last].said = true;
	return err;
}

int hodo_planner_add_probe(struct hodo_planner *p, const char *text)
{
	if (p->fixed)
		return -EOPNOTSUPP;
	p->changes++;
	if (strncmp(text, SDT, strlen(SDT)) == 0)
		return add_sdt(p, text + strlen(SDT));
	return hodo_planner_probe_is(text) ? add_probe(p, text) : -EINVAL;
}

int hodo_planner_remove_probe(struct hodo_planner *p, const char *text)
{
	uint32_t i = hodo_planner_probes_find(p->probes, text);

	if (p->fixed)
		return -EOPNOTSUPP;
	p->changes++;
	if (i < p->probes->n) {
		hodo_planner_probes_remove(p->probes, i);
		return 0;
	}
	i = find_sdt(p->sdt, text);
	if (i == p->sdt->n)
		return -ENOENT;
	hodo_pattern_remove(p->sdt, i);
	return 0;
}

int hodo_planner_name_probe(const struct hodo_planner *p, uint32_t i, char *name, size_t size)
{
	bool is_probe = i < p->probes->n;

	if (p->fixed)
		return -EOPNOTSUPP;
	if (!is_probe && i - p->probes->n >= p->sdt->n)
		return -ENOENT;
	snprintf(name, size, "%s%s", is_probe ? "" : SDT,
		 is_probe ? p->probes->list[i].text : p->sdt->pattern[i - p->probes->n].text);
	return 0;
}
