/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "selection.h"

#include <string.h>
#include <time.h>

#include <base/map.h>
#include <base/scope.h>
#include <read/event/event_filter.h>
#include <read/event/select.h>

#include "say.h"
#include "values.h"

#define EPOCH_MIN_NS 1000000000000000000ll /* 2001; no recording lasts for 31 years */
#define AROUND_NS    10000000ll
#define HALF_DAY_S   (12 * 3600)

struct hodo_selection {
	struct hodo_select select;
	uint64_t number; /* of the patterns and filters: hodo_selection_number() */
	uint64_t seen, taken;
	bool told; /* a name that is not in the recording was reported */
};

struct hodo_selection *hodo_selection_new(void)
{
	struct hodo_selection *s = hodo_must(calloc(1, sizeof(*s)));

	s->select.classes = (struct hodo_map)HODO_SELECT_CLASSES;
	return s;
}

void hodo_selection_free(struct hodo_selection *s)
{
	if (!s)
		return;
	hodo_select_end(&s->select);
	free(s);
}

/* ---------------------------------------------------------------------- options */

/* FNV-1a, the text's end included: other than hodo_hash_bytes(), the same in each run. */
static uint64_t add_number(uint64_t number, const char *text)
{
	for (bool more = true; more; text++) {
		more = *text;
		number = (number ^ (uint8_t)*text) * 0x100000001b3ull;
	}
	return number;
}

int hodo_selection_event(void *args, const char *pattern)
{
	struct hodo_args *a = args;
	struct hodo_why why = { "" };

	a->selection->number = add_number(a->selection->number ^ 'e', pattern);

	return hodo_pattern_add(&a->selection->select.events, pattern, &why) == 0 ? 0 :
	       hodo_usage(a->verb->name, "%s", why.text);
}

int hodo_selection_filter(void *args, const char *expr)
{
	struct hodo_args *a = args;
	struct hodo_selection *s = a->selection;
	struct hodo_why why = { "out of memory" };

	s->number = add_number(s->number ^ 'f', expr);
	if (s->select.filter)
		return hodo_usage(a->verb->name, "only one --filter can be given: join them with &&");
	return hodo_event_filter_new(&s->select.filter, expr, &why) == 0 ? 0 :
	       hodo_usage(a->verb->name, "--filter: %s", why.text);
}

/* ------------------------------------------------------------------------ times */

/*
 * "HH:MM:SS" and decimals, or that in brackets, as in hodo print: in local time, on the day nearest to the
 * recording's start.
 */
static bool parse_clock(const char *text, int64_t begin_ns, int64_t *ns)
{
	time_t day = (time_t)(begin_ns / 1000000000), at;
	unsigned hour, minute, second;
	char clock[32], decimals[32];
	int64_t part = 0;
	struct tm tm;
	int len = 0;

	text += text[0] == '[';
	snprintf(clock, sizeof(clock), "%.*s", (int)strcspn(text, "]"), text);
	if (sscanf(clock, "%2u:%2u:%2u%n", &hour, &minute, &second, &len) != 3 || hour > 23 || minute > 59 ||
	    second > 60)
		return false;
	if (clock[len]) {
		snprintf(decimals, sizeof(decimals), "0%s", clock + len);
		if (clock[len] != '.' || strlen(clock + len) > 10 ||
		    hodo_parse_time(decimals, HODO_TIME_BARE, &part) < 0)
			return false;
	}
	if (!localtime_r(&day, &tm))
		return false;
	tm.tm_hour = (int)hour;
	tm.tm_min = (int)minute;
	tm.tm_sec = (int)second;
	tm.tm_isdst = -1;
	at = mktime(&tm);
	if (at < day - HALF_DAY_S || at > day + HALF_DAY_S) {
		tm.tm_mday += at < day ? 1 : -1;
		tm.tm_isdst = -1;
		at = mktime(&tm);
	}
	*ns = (int64_t)at * 1000000000 + part;
	return true;
}

/* 0, or the exit status. */
static int set_end(int64_t *ns, const struct hodo_args *a, const char *option, const char *text, int64_t begin_ns)
{
	int status;

	if (!text || (strchr(text, ':') && parse_clock(text, begin_ns, ns)))
		return 0;
	status = hodo_set_time(ns, a->verb->name, option, text, HODO_TIME_BARE, 0, INT64_MAX);
	if (!status && *ns < EPOCH_MIN_NS && __builtin_add_overflow(*ns, begin_ns, ns))
		*ns = INT64_MAX;
	return status;
}

/* "TIME" or "TIME,SPAN"; in place of the comma ± or +-. */
static int set_around(struct hodo_args *a, int64_t begin_ns)
{
	static const char *const signs[] = { ",", "±", "+-" };
	HODO_AUTO_FREE char *text = hodo_must(strdup(a->around));
	int64_t at_ns = 0, span_ns = AROUND_NS;
	char *span = NULL;
	int status;

	for (unsigned i = 0; !span && i < sizeof(signs) / sizeof(signs[0]); i++) {
		span = strstr(text, signs[i]);
		if (span) {
			*span = 0;
			span += strlen(signs[i]);
		}
	}
	status = set_end(&at_ns, a, "--around", text, begin_ns);
	if (!status && span)
		status = hodo_set_time(&span_ns, a->verb->name, "--around TIME,SPAN", span, HODO_TIME_BARE, 0,
				       INT64_MAX);
	a->since_ns = at_ns > span_ns ? at_ns - span_ns : 0;
	if (__builtin_add_overflow(at_ns, span_ns, &a->until_ns))
		a->until_ns = INT64_MAX;
	return status;
}

static int set_times(struct hodo_args *a, int64_t begin_ns)
{
	int status;

	a->since_ns = INT64_MIN;
	a->until_ns = INT64_MAX;
	if (a->around && (a->since || a->until))
		return hodo_usage(a->verb->name, "--around replaces --since and --until: leave out either");
	if (a->around)
		return set_around(a, begin_ns);
	status = set_end(&a->since_ns, a, "--since", a->since, begin_ns);
	return status ? status : set_end(&a->until_ns, a, "--until", a->until, begin_ns);
}

/* ------------------------------------------------------------------------ events */

struct hodo_select *hodo_selection_of(const struct hodo_args *a)
{
	struct hodo_select *s = &a->selection->select;

	s->host = a->host;
	s->process = a->process;
	s->thread = a->thread;
	s->any_thread = a->verb->selects & HODO_SELECT_ANY_THREAD;
	s->whole = a->verb->selects & HODO_SELECT_SPANS && !a->each_event;
	return s;
}

bool hodo_selects_process(const struct hodo_args *a, const struct hodo_read_process *process)
{
	const struct hodo_select only = { .host = a->host, .process = process->kernel ? NULL : a->process };

	return hodo_select_has_thread(&only, process, process->pid, 0, "");
}

static int takes(void *args, const struct hodo_read_event *e)
{
	struct hodo_args *a = args;
	struct hodo_selection *s = a->selection;
	bool shown = e->ts_ns >= a->since_ns && e->ts_ns < a->until_ns; /* else it is outside the range */
	int taken;

	if (a->verb->selects & HODO_SELECT_ALL_CALLS && e->cls->kind == HODO_KIND_FUNCTION)
		return 1;
	s->seen += shown;
	taken = hodo_select_takes(&s->select, e);
	s->taken += shown && taken > 0 && (!s->select.any_thread || hodo_select_whose(&s->select, e));
	return taken;
}

/* ---------------------------------------------------------------- what there is */

static void tell_unknown(void *args, enum hodo_select_kind kind, const char *names)
{
	struct hodo_args *a = args;

	if (kind == HODO_SELECT_HOST)
		hodo_warning("no host matches %s: 'hodo info %s' lists the hosts", names, a->dir);
	else
		hodo_warning("%s %s: 'hodo list %s' lists what there is",
			     kind == HODO_SELECT_EVENTS ? "no event matches" :
			     a->selection->select.events.n ? "--filter: no event that -e names has a field or label" :
						      "--filter: no event has a field or label", names, a->dir);
	a->selection->told = true;
}

/* Reports names that are not in the recording. */
static void check_names(struct hodo_args *a, const struct hodo_read *r)
{
	const struct hodo_select_unknown unknown = { tell_unknown, a };

	if (hodo_select_check(r, hodo_selection_of(a), &unknown) < 0)
		exit(hodo_no_memory());
}

bool hodo_selection_given(const struct hodo_args *a)
{
	return a->host || a->thread || a->process || a->since || a->until || a->around || a->selection->select.filter ||
	       a->selection->select.events.n;
}

uint64_t hodo_selection_number(const struct hodo_args *a)
{
	const char *const texts[] = { a->process, a->thread, a->since, a->until, a->around };
	uint64_t number = a->selection->number;

	if (!hodo_selection_given(a))
		return 0;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		number = add_number(number + i, texts[i] ? texts[i] : "");
	return number ? number : 1;
}

bool hodo_selection_names(const struct hodo_args *a)
{
	return a->selection->select.events.included > 0;
}

int hodo_selection_apply(struct hodo_args *a, struct hodo_read *r)
{
	int err = 0, status = set_times(a, hodo_read_begin_ns(r));

	if (status)
		return status;
	hodo_read_limit(r, a->since_ns, a->until_ns);
	if (!hodo_selection_given(a))
		return 0;
	if (!a->quiet)
		check_names(a, r);
	if (a->selection->select.filter || a->host || a->thread || a->process)
		err = hodo_read_spans(r);
	hodo_select_hosts(r, a->host);
	if (!err)
		err = hodo_read_choose(r, takes, a, hodo_selection_of(a)->whole);
	return err ? hodo_no_memory() : 0;
}

void hodo_selection_end(const struct hodo_args *a)
{
	const struct hodo_selection *s = a->selection;

	if (!s || a->quiet || s->taken || s->told || !hodo_selection_given(a))
		return;
	if (s->seen || a->host)
		hodo_warning("%s: no event matches the options: 'hodo stat %s' lists the events",
			     a->dir, a->dir);
	else if (!a->since && !a->until && !a->around)
		hodo_warning("%s: the recording has no events", a->dir);
	else if (!(a->verb->selects & HODO_SELECT_ALL_CALLS))
		hodo_warning("%s: there are no events at that time: 'hodo info %s' says when the recording "
			     "was made", a->dir, a->dir);
}
