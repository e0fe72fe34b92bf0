/* SPDX-License-Identifier: MIT */
/* unrecorded.c - process images that belong to a recording but are not in it. */
#include "unrecorded.h"

#include <stdio.h>
#include <string.h>

#include <record/write/names.h>
#include <record/session.h>

#define TOLD_MAX 20u

static uint32_t find(const struct hodo_recorder_stats *t, const char *why)
{
	uint32_t i = 0;

	while (i < t->reasons && strcmp(t->unrecorded[i].why, why) != 0)
		i++;
	return i;
}

/* Adds that many images to the reason. */
static const struct hodo_unrecorded *count(struct hodo_recorder *s, const char *why, const char *other, uint64_t images)
{
	struct hodo_recorder_stats *t = &s->total;
	uint32_t i = find(t, why);

	if (i == t->reasons && other && i >= HODO_UNRECORDED_REASONS / 2) {
		why = other;
		i = find(t, why);
	}
	if (i == HODO_UNRECORDED_REASONS)
		i--;
	else if (i == t->reasons)
		snprintf(t->unrecorded[t->reasons++].why, sizeof(t->unrecorded[i].why), "%s",
			 i == HODO_UNRECORDED_REASONS - 1 ? "other reasons" : why);
	t->unrecorded[i].images += images;
	return &t->unrecorded[i];
}

void hodo_unrecorded_count(struct hodo_recorder *s, const char *why, const char *other, uint64_t images)
{
	count(s, why, other, images);
}

void hodo_unrecorded_add(struct hodo_recorder *s, pid_t pid, const char *why)
{
	struct hodo_recorder_stats *t = &s->total;
	const struct hodo_unrecorded *u = count(s, why, NULL, 1);

	t->refused++;
	t->command_refused |= pid > 0 && pid == s->command;
	/* For each reason: one that others can cause at will must not hide the rest. */
	if (u->images <= TOLD_MAX)
		hodo_report(&s->config.reporter, "process %d is not recorded: %s", (int)pid, why);
	else if (u->images == TOLD_MAX + 1)
		hodo_report(&s->config.reporter, "more processes are not recorded: %s", u->why);
}

void hodo_unrecorded_text(const struct hodo_recorder *s, struct hodo_text *t)
{
	for (uint32_t i = 0; i < s->total.reasons; i++) {
		hodo_text_printf(t, "/*@unrecorded images=%llu why=",
				 (unsigned long long)s->total.unrecorded[i].images);
		hodo_name_encode(t, s->total.unrecorded[i].why);
		hodo_text_add(t, "*/\n");
	}
}
