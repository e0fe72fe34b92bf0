/* SPDX-License-Identifier: MIT */
/* near.c - the names that may have been meant by one that is not there. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#include <base/distance.h>

void hodo_kprobe_near_add(struct hodo_kprobe_near *near, const char *name)
{
	size_t len = strlen(near->wanted), half = len / 2, other = strlen(name);
	uint32_t at = near->n;
	unsigned int d;

	half = half < 2 ? 2 : half;
	/* As much as that they differ in any case. */
	if (other > HODO_NAME_MAX || (len > other ? len - other : other - len) > half)
		return;
	d = hodo_edit_distance(near->wanted, name);
	if (d > half)
		return;
	for (uint32_t i = 0; i < near->n; i++)
		if (strcmp(near->name[i], name) == 0)
			return;
	while (at > 0 && near->distance[at - 1] > d)
		at--;
	if (at == HODO_KPROBE_NEAR)
		return;
	if (near->n < HODO_KPROBE_NEAR)
		near->n++;
	for (uint32_t i = near->n - 1; i > at; i--) {
		near->distance[i] = near->distance[i - 1];
		memcpy(near->name[i], near->name[i - 1], sizeof(near->name[i]));
	}
	near->distance[at] = d;
	memcpy(near->name[at], name, other + 1);
}

const char *hodo_kprobe_near_text(const struct hodo_kprobe_near *near, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < near->n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : ": near are ", near->name[i]);
	return text;
}
