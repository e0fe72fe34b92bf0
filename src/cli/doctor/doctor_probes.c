/* SPDX-License-Identifier: MIT */
/* doctor_probes.c - where a program, a library or a process can have probes, and why not elsewhere. */
#define _GNU_SOURCE
#include <cli/say.h>
#include <cli/output/out.h>
#include "doctor.h"
#include <cli/output/table.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <probe/patch/whole_functions.h>

#include <plan/process_files.h>

/* Why some of an object's entries and exits are not by a jump. */
struct reason {
	const char *key, *text;
	struct hodo_probe_count entries, exits;
};

struct doctor_object {
	char *object;
	const char *refused, *refused_text; /* NULL: it is not */
	struct hodo_probe_survey survey;
	struct reason reasons[HODO_PROBE_REASONS];
	uint32_t nreasons;
};

/* --------------------------------------------------------------------- tables */

#define COUNT(name) HODO_MEMBER(struct hodo_probe_count, name), .as = HODO_AS_COUNT
static const struct hodo_column count_columns[] = {
	{ "jump", COUNT(jump) }, { "trap", COUNT(trap) }, { "none", COUNT(none) },
};
static const struct hodo_columns counts = { "counts", HODO_COLUMNS(count_columns) };
static const struct hodo_column rest_columns[] = { { "trap", COUNT(trap) }, { "none", COUNT(none) } };
static const struct hodo_columns rests = { "rests", HODO_COLUMNS(rest_columns) };

#define WHY(name) HODO_MEMBER(struct reason, name)
#define TEXT_COUNT .as = HODO_AS_COUNT, .flags = HODO_TEXT_ONLY
static const struct hodo_column reason_columns[] = {
	{ "entry_trap", "ENTRIES BY TRAP", WHY(entries.trap), TEXT_COUNT },
	{ "entry_none", "NOT", WHY(entries.none), TEXT_COUNT },
	{ "exit_trap", "EXITS BY TRAP", WHY(exits.trap), TEXT_COUNT },
	{ "exit_none", "NOT", WHY(exits.none), TEXT_COUNT },
	{ "reason", WHY(key) },
	{ "text", "BECAUSE", WHY(text) },
	{ "entries", HODO_INNER(struct reason, entries, &rests) },
	{ "exits", HODO_INNER(struct reason, exits, &rests) },
};
static const struct hodo_columns reasons = {
	"reasons", HODO_COLUMNS(reason_columns), .head = HODO_HEADING,
	.text = "entry_trap,entry_none,exit_trap,exit_none,text",
};

#define OBJECT(name) HODO_MEMBER(struct doctor_object, name)
static const struct hodo_column object_columns[] = {
	{ "functions", OBJECT(survey.functions), .as = HODO_AS_COUNT },
	{ "entry_jump", "ENTRIES BY JUMP", OBJECT(survey.entries.jump), TEXT_COUNT },
	{ "entry_trap", "TRAP", OBJECT(survey.entries.trap), TEXT_COUNT },
	{ "entry_none", "NOT", OBJECT(survey.entries.none), TEXT_COUNT },
	{ "exit_jump", "EXITS BY JUMP", OBJECT(survey.exits.jump), TEXT_COUNT },
	{ "exit_trap", "TRAP", OBJECT(survey.exits.trap), TEXT_COUNT },
	{ "exit_none", "NOT", OBJECT(survey.exits.none), TEXT_COUNT },
	{ "object", OBJECT(object) },
	{ "refused", OBJECT(refused) },
	{ "instructions", OBJECT(survey.instructions) },
	{ "entries", HODO_INNER(struct doctor_object, survey.entries, &counts) },
	{ "exits", HODO_INNER(struct doctor_object, survey.exits, &counts) },
	{ "reasons", HODO_ARRAY(struct doctor_object, reasons, nreasons, &reasons), .inlined = true },
};

static void put_refused(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct doctor_object *o = row;

	if (o->refused_text)
		hodo_text_printf(to, "  no probes: %s\n", o->refused_text);
}

static const struct hodo_columns objects = {
	"objects", HODO_COLUMNS(object_columns), .head = HODO_HEADING,
	.text = "functions,entry_jump,entry_trap,entry_none,exit_jump,exit_trap,exit_none,object",
};

/* ------------------------------------------------------------------------ find */

/* The reasons found, in one object or in all together. */
static void add_reasons(struct doctor_object *to, const struct hodo_probe_survey *s)
{
	for (unsigned i = 0; i < HODO_PROBE_REASONS; i++) {
		const struct hodo_probe_count *e = &s->entry_reason[i], *x = &s->exit_reason[i];

		if (e->trap || e->none || x->trap || x->none)
			to->reasons[to->nreasons++] = (struct reason){ hodo_probe_reason_key(i),
								       hodo_probe_reason_text(i), *e, *x };
	}
}

static void add_survey(struct hodo_probe_survey *to, const struct hodo_probe_survey *s)
{
	for (unsigned i = 0; i < HODO_PROBE_REASONS; i++) {
		to->entry_reason[i].trap += s->entry_reason[i].trap;
		to->entry_reason[i].none += s->entry_reason[i].none;
		to->exit_reason[i].trap += s->exit_reason[i].trap;
		to->exit_reason[i].none += s->exit_reason[i].none;
	}
}

/* Surveys the file. 0 or a negative errno: of what is no ELF file, or cannot be read. */
static int survey(struct doctor_object *o, const char *path)
{
	enum hodo_probe_reason why;
	int err = hodo_probe_survey_file(&o->survey, path, &why);

	if (err == -EOPNOTSUPP) {
		o->refused = hodo_probe_reason_key(why);
		o->refused_text = hodo_probe_reason_text(why);
		return 0;
	}
	if (!err)
		add_reasons(o, &o->survey);
	return err;
}

static int add(struct doctor_probes *p, const char *path, const char *ours)
{
	struct doctor_object *o = hodo_must(hodo_vec_add(p->list, p->n));
	int err = survey(o, ours);

	o->object = hodo_must(strdup(path));
	if (err)
		free(p->list[--p->n].object);
	return err;
}

static int add_mapped(void *arg, const struct hodo_process_file *file)
{
	int err = file->ours ? add(arg, file->path, file->ours) : -ENOENT;

	if (err == -ENOMEM)
		exit(hodo_no_memory());
	if (err)
		hodo_warning("%s: %s: it is skipped", file->path,
			     file->ours ? strerror(-err) : "was replaced or removed");
	return 0;
}

int doctor_probes_file(struct doctor_probes *p, const char *path)
{
	int err = add(p, path, path);

	if (err == -ENOEXEC)
		return hodo_error("%s: is not a program or library: give one, or a process ID", path);
	return err ? hodo_cannot_read(path, err) : HODO_GO_ON;
}

void doctor_probes_process(struct doctor_probes *p, pid_t pid)
{
	/* The checks have already reported an unreadable process. */
	hodo_process_files(pid, add_mapped, p);
}

/* ---------------------------------------------------------------------- output */

void doctor_probes_put(struct doctor_probes *p, struct hodo_page *page, bool json)
{
	struct hodo_table t = { .columns = &objects, .first = p->list, .n = p->n, .stride = sizeof(*p->list),
				.below = put_refused };
	struct doctor_object *all = hodo_must(calloc(1, sizeof(*all)));
	struct hodo_table why = { .columns = &reasons, .first = all->reasons, .stride = sizeof(all->reasons[0]) };

	if (json) {
		hodo_table_put_json(&page->json, "objects", &t);
	} else if (p->n) {
		hodo_table_put(&page->text, &t, false);
		for (size_t i = 0; i < p->n; i++)
			add_survey(&all->survey, &p->list[i].survey);
		add_reasons(all, &all->survey);
		why.n = all->nreasons;
		if (why.n) {
			hodo_text_char(&page->text, '\n');
			hodo_table_put(&page->text, &why, false);
		}
	}
	free(all);
}

void doctor_probes_free(struct doctor_probes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i].object);
	free(p->list);
	*p = (struct doctor_probes){ 0 };
}
