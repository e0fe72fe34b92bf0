/* SPDX-License-Identifier: MIT */
/*
 * identical_code.c - finds a plan taken for an earlier recording with the same functions: its slots serve as well as
 * those of a new one, so that any number of recordings of a process takes no more memory than the first.
 * Windows and functions determine what the slots of functions and landings do, but not what those of events
 * do.
 */
#include "engine.h"

static bool is_only_functions(const struct hodo_plan *head)
{
	return (head->windows.n || head->functions.n) && !head->events.n && !head->replacements.n;
}

/* The addresses of the slots do not matter. */
static bool has_same_windows(const struct hodo_engine_plan *a, const struct hodo_engine_plan *b)
{
	for (uint32_t i = 0; i < a->head->windows.n; i++) {
		const struct hodo_plan_window *x = &a->windows[i], *y = &b->windows[i];

		if (x->addr != y->addr || x->len != y->len || x->flags != y->flags || x->boundaries != y->boundaries ||
		    __builtin_memcmp(x->bytes, y->bytes, sizeof(x->bytes)) != 0)
			return false;
	}
	return true;
}

/* Whether everything planned was possible, and nothing was given up since. */
static bool is_whole(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & (HODO_ENGINE_REFUSED | HODO_ENGINE_HOT))
			return false;
	}
	return true;
}

static bool is_same(const struct hodo_engine_plan *a, const struct hodo_engine_plan *b)
{
	uint32_t n = a->head->functions.n;

	return !b->gone && is_only_functions(a->head) && is_only_functions(b->head) && b->head->functions.n == n &&
	       a->head->windows.n == b->head->windows.n &&
	       __builtin_memcmp(a->functions, b->functions, n * sizeof(*a->functions)) == 0 && has_same_windows(a, b) &&
	       is_whole(b);
}

struct hodo_engine_plan *hodo_engine_same(const struct hodo_engine_plan *fresh)
{
	bool fine = hodo_engine_guarded || !fresh->head->windows.n;

	for (uint32_t i = 0; i < hodo_engine_nplans && fine; i++) {
		if (is_same(fresh, &hodo_engine_plans[i]))
			return &hodo_engine_plans[i];
	}
	return 0;
}
