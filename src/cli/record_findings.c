/* SPDX-License-Identifier: MIT */
/* record_findings.c - what is said at the end of a recording: what tracers found, names that come near. */
#include "record_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "list.h"
#include "report_lists.h"
#include <record/record.h>

#define WRONG_SHOWN 20u
#define HELD_SHOWN  10u
#define CHAIN_SHOWN 12u
#define NAMES_LOOKED_AT_MAX 50000u /* for such that come near */

/* At once: one line a place. */
static void show_wrong(const struct report_wrong *w, const struct hodo_read_event *e)
{
	bool called = w->chain.n > 1;

	hodo_error("%s[%u]: %s was called%s%s in a thread %s%s%s (%u): it is for '%s' only", e->process->comm, e->pid,
		   w->name, called ? " by " : "", called ? w->chain.name[1] : "",
		   w->role[0] ? "of role '" : "without a role", w->role, w->role[0] ? "'" : "", e->tid, w->wanted);
}

static int by_time(const void *a, const void *b)
{
	const struct report_held *x = a, *y = b;

	return x->max_ns < y->max_ns ? 1 : x->max_ns > y->max_ns ? -1 : 0;
}

static void show_held(struct report_lists *l)
{
	struct report_held *held = l->held.entries;
	char buf[32];

	if (held)
		qsort(held, l->held.n, sizeof(*held), by_time);
	for (uint32_t i = 0; i < l->held.n && i < HELD_SHOWN; i++) {
		const char *longest = hodo_duration(held[i].max_ns, buf);
		size_t len;

		longest += strspn(longest, " ");
		len = strlen(longest);
		/* "1.092 s ": aligned with ms, in a table. */
		hodo_error("%s held the loop %s %" PRIu64 " time%s, for %.*s at most", held[i].callback, held[i].loop,
			   held[i].times, held[i].times == 1 ? "" : "s",
			   (int)(longest[len - 1] == ' ' ? len - 1 : len), longest);
	}
	if (l->held.n > HELD_SHOWN)
		hodo_error("%u more callbacks held a loop: 'hodo print' shows them", l->held.n - HELD_SHOWN);
}

static void show_stack(const struct report_lists *l)
{
	const struct report_stack *stacks = l->stacks.entries, *deepest = stacks;
	HODO_AUTO(hodo_text_free) struct hodo_text chain = { 0 };
	char buf[32];

	for (uint32_t i = 1; i < l->stacks.n; i++)
		if (stacks[i].bytes > deepest->bytes)
			deepest = &stacks[i];
	if (!deepest || !deepest->bytes)
		return;
	for (uint32_t i = 0; i < deepest->chain.n && i <= CHAIN_SHOWN; i++)
		hodo_text_printf(&chain, "%s%s", i ? " < " : "", i < CHAIN_SHOWN ? deepest->chain.name[i] : "...");
	hodo_error("the deepest stack was %s, of thread %u (%s): %s", hodo_human_bytes(deepest->bytes, buf), deepest->tid,
		   deepest->comm, hodo_text_string(&chain));
}

void hodo_record_findings(const char *recording)
{
	struct hodo_read *r = hodo_open(recording, true);
	struct hodo_symbols *symbols = r ? hodo_symbols_new(recording) : NULL;
	const struct hodo_read_event *e;
	struct report_lists lists;
	uint64_t wrong = 0;

	report_lists_start(&lists, symbols, NULL);
	while (symbols && hodo_read_next(r, &e) > 0) {
		if (e->cls->kind != HODO_KIND_FUNCTION)
			continue;
		report_lists_event(&lists, e);
		if (lists.last_wrong && ++wrong <= WRONG_SHOWN)
			show_wrong(lists.last_wrong, e);
	}
	if (wrong > WRONG_SHOWN)
		hodo_error("%" PRIu64 " more calls in wrong threads: 'hodo print' shows them", wrong - WRONG_SHOWN);
	show_held(&lists);
	show_stack(&lists);
	report_lists_free(&lists);
	hodo_symbols_free(symbols);
	hodo_read_close(r);
}

/* ----------------------------------------------------------------- names that come near */

/* Names of one file's functions; C++ without parameters. Returns how many were looked at. */
static uint32_t see_file(struct hodo_pattern_list *list, const char *path, uint32_t max)
{
	const struct hodo_read_options silent = { .size = sizeof(silent) };
	HODO_AUTO(hodo_list_free) struct hodo_list l = { 0 };
	uint32_t n;

	hodo_list_add_file(&l, path, path, &silent, true);
	n = l.nfunctions < max ? l.nfunctions : max;
	for (uint32_t i = 0; i < n; i++) {
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(l.functions[i].name, "("), l.functions[i].name);
		for (uint32_t p = 0; p < list->n && name[0]; p++)
			hodo_pattern_near(&list->pattern[p], name);
	}
	return n;
}

/* Files of all processes, each once. */
static void see_files(struct hodo_pattern_list *list, const struct hodo_read *reader)
{
	uint32_t left = NAMES_LOOKED_AT_MAX;
	const struct hodo_read_process *p;
	const char *last = "";

	for (uint32_t i = 0; (p = hodo_read_process(reader, i)) && left > 0; i++) {
		for (uint32_t j = 0; j < p->nobjects && left > 0; j++) {
			if (p->objects[j].functions == 0 || strcmp(p->objects[j].path, last) == 0)
				continue;
			last = p->objects[j].path;
			left -= see_file(list, last, left);
		}
	}
}

void hodo_record_unmatched(const char *recording, const struct hodo_function_names *patterns, uint64_t found)
{
	HODO_AUTO(hodo_pattern_free) struct hodo_pattern_list list = {
		.pattern = calloc(patterns->n + 1, sizeof(*list.pattern))
	};
	HODO_AUTO_READ struct hodo_read *reader = hodo_open(recording, true);
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };

	for (const char *p = NULL; list.pattern && (p = hodo_function_names_next(patterns, p));) {
		list.pattern[list.n].text = strdup(p);
		list.n += list.pattern[list.n].text != NULL;
	}
	if (reader)
		see_files(&list, reader);
	hodo_pattern_unknown(&list, "", &text);
	hodo_error("none of %" PRIu64 " traceable functions matches %s: 'hodo list --functions FILE' lists them", found,
		   text.len && !text.error ? hodo_text_string(&text) : "what is asked for");
}
