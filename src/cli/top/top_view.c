/* SPDX-License-Identifier: MIT */
/* top_view.c - hodo top: which rows are shown, in which order, and how keys change that. */
#include "top.h"

#include <stdlib.h>
#include <string.h>

const char hodo_top_letters[HODO_TOP_COLUMNS + 1] = {
	[HODO_TOP_NAME] = 'N',    [HODO_TOP_PID] = '-',   [HODO_TOP_NUMBER] = 'I', [HODO_TOP_RATE] = 'R',
	[HODO_TOP_AVERAGE] = 'A', [HODO_TOP_TOTAL] = 'T', [HODO_TOP_BYTES] = 'B',  [HODO_TOP_LOST] = 'L',
	[HODO_TOP_STATE] = 'S',   [HODO_TOP_P50] = 'M', [HODO_TOP_P99] = 'P',    [HODO_TOP_MAX] = 'X',
	[HODO_TOP_ALL_P50] = '5', [HODO_TOP_ALL_P99] = '9', [HODO_TOP_ALL_MAX] = 'W', [HODO_TOP_OPEN] = 'O',
	[HODO_TOP_LAST] = 'V',    [HODO_TOP_LEAST] = 'D', [HODO_TOP_MOST] = 'U', [HODO_TOP_CPU] = 'C',
};
/* What a table can be sorted by, from left to right. */
static const char *const sortable[HODO_TOP_KINDS] = {
	[HODO_TOP_EVENTS] = "NRATBLS", [HODO_TOP_SPANS] = "NRATMPX59WO", [HODO_TOP_COUNTERS] = "NRATVDU",
	[HODO_TOP_THREADS] = "NIRATBC", [HODO_TOP_CPUS] = "IRATBL",
};

bool hodo_top_sortable(enum hodo_top_kind kind, enum hodo_top_column column)
{
	return strchr(sortable[kind], hodo_top_letters[column]) != NULL;
}

void hodo_top_view_init(struct hodo_top_view *v)
{
	memset(v, 0, sizeof(*v));
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++)
		v->sort[kind] = HODO_TOP_RATE;
	v->selected = HODO_TOP_NONE;
	v->interval_ns = 1000000000;
}

void hodo_top_view_free(struct hodo_top_view *v)
{
	free(v->order);
	v->order = NULL;
	v->n = 0;
}

void hodo_top_view_update(struct hodo_top_view *v, const struct hodo_top_model *m)
{
	free(v->order);
	v->n = hodo_top_order(m, v->kind, v->sort[v->kind], v->reverse[v->kind], v->filter, &v->order);
	for (uint32_t i = 0; i < v->n; i++) {
		if (v->order[i] == v->selected) {
			v->at = i;
			return;
		}
	}
	if (v->at >= v->n)
		v->at = v->n ? v->n - 1 : 0;
	v->selected = v->n ? v->order[v->at] : HODO_TOP_NONE;
}

/* --------------------------------------------------------------------------- keys */

static void set_kind(struct hodo_top_view *v, const struct hodo_top_model *m, enum hodo_top_kind kind)
{
	v->kind = kind;
	v->selected = HODO_TOP_NONE;
	v->at = v->first = 0;
	hodo_top_view_update(v, m);
}

static void move_to(struct hodo_top_view *v, int64_t at)
{
	if (at >= v->n)
		at = (int64_t)v->n - 1;
	v->at = at < 0 ? 0 : (uint32_t)at;
	v->selected = v->n ? v->order[v->at] : HODO_TOP_NONE;
}

static void sort_by(struct hodo_top_view *v, const struct hodo_top_model *m, int letter)
{
	if (!letter || !strchr(sortable[v->kind], letter))
		return;
	v->sort[v->kind] = (enum hodo_top_column)(strchr(hodo_top_letters, letter) - hodo_top_letters);
	v->reverse[v->kind] = false;
	/* The view follows the first row, not the selected one. */
	v->selected = HODO_TOP_NONE;
	v->at = v->first = 0;
	hodo_top_view_update(v, m);
}

static void sort_beside(struct hodo_top_view *v, const struct hodo_top_model *m, int step)
{
	const char *first = sortable[v->kind], *at = strchr(first, hodo_top_letters[v->sort[v->kind]]);

	at = at ? at : first; /* --sort may name a column of another table */
	if (at - first + step >= 0)
		sort_by(v, m, at[step]);
}

static void change_interval(struct hodo_top_view *v, bool longer)
{
	/* 0.1, 0.2, 0.5, 1, 2, 5, 10 s ... */
	int64_t step = HODO_TOP_INTERVAL_MIN_NS, before = step;
	int factor = 0;

	for (; longer ? step <= v->interval_ns : step < v->interval_ns; factor++) {
		before = step;
		step = factor % 3 == 1 ? step / 2 * 5 : step * 2;
	}
	step = longer ? step : before;
	v->interval_ns = step > HODO_TOP_INTERVAL_MAX_NS ? HODO_TOP_INTERVAL_MAX_NS : step;
}

static enum hodo_top_action enter_key(struct hodo_top_view *v, const struct hodo_top_model *m, int key)
{
	size_t len = strlen(v->entry);

	if (key == HODO_KEY_ENTER) {
		memcpy(v->filter, v->entry, sizeof(v->filter));
		v->entering = false;
		hodo_top_view_update(v, m);
	} else if (key == HODO_KEY_ESCAPE) {
		v->entering = false;
	} else if (key == HODO_KEY_BACKSPACE) {
		if (len == 0)
			v->entering = false;
		while (len > 0 && ((unsigned char)v->entry[--len] & 0xc0) == 0x80) /* a whole character of UTF-8 */
			;
		v->entry[len] = 0;
	} else if (key == 'U' - '@') {
		v->entry[0] = 0;
	} else if (key >= ' ' && key < 256 && key != 127 && len + 1 < sizeof(v->entry)) {
		v->entry[len] = (char)key;
		v->entry[len + 1] = 0;
	}
	return HODO_TOP_DRAW;
}

/* Moves in the table. False: not such a key. */
static bool move_key(struct hodo_top_view *v, const struct hodo_top_model *m, int key)
{
	int64_t page = v->page > 1 ? v->page - 1 : 1;

	switch (key) {
	case HODO_KEY_UP: case 'k': move_to(v, (int64_t)v->at - 1); return true;
	case HODO_KEY_DOWN: case 'j': move_to(v, (int64_t)v->at + 1); return true;
	case HODO_KEY_PAGE_UP: move_to(v, (int64_t)v->at - page); return true;
	case HODO_KEY_PAGE_DOWN: move_to(v, (int64_t)v->at + page); return true;
	case HODO_KEY_HOME: case 'g': move_to(v, 0); return true;
	case HODO_KEY_END: case 'G': move_to(v, v->n); return true;
	case HODO_KEY_LEFT: case '<': sort_beside(v, m, -1); return true;
	case HODO_KEY_RIGHT: case '>': sort_beside(v, m, 1); return true;
	}
	return false;
}

static enum hodo_top_action plain_key(struct hodo_top_view *v, const struct hodo_top_model *m, int key)
{
	if (key < 128)
		sort_by(v, m, key);
	switch (key) {
	case 'q': return HODO_TOP_QUIT;
	case '?': case 'h': v->help = true; break;
	case 't': set_kind(v, m, v->kind == HODO_TOP_THREADS ? HODO_TOP_EVENTS : HODO_TOP_THREADS); break;
	case 'c': set_kind(v, m, v->kind == HODO_TOP_CPUS ? HODO_TOP_EVENTS : HODO_TOP_CPUS); break;
	case 'e': set_kind(v, m, HODO_TOP_EVENTS); break;
	case 's': set_kind(v, m, v->kind == HODO_TOP_SPANS ? HODO_TOP_EVENTS : HODO_TOP_SPANS); break;
	case 'v': set_kind(v, m, v->kind == HODO_TOP_COUNTERS ? HODO_TOP_EVENTS : HODO_TOP_COUNTERS); break;
	case 'r':
		v->reverse[v->kind] = !v->reverse[v->kind];
		hodo_top_view_update(v, m);
		break;
	case 'p': v->paused = !v->paused; break;
	case 'z': return HODO_TOP_RESET;
	case '+': change_interval(v, true); break;
	case '-': change_interval(v, false); break;
	case '/':
		v->entering = true;
		memcpy(v->entry, v->filter, sizeof(v->entry));
		break;
	case HODO_KEY_ESCAPE:
		v->filter[0] = 0;
		hodo_top_view_update(v, m);
		break;
	case ' ': return HODO_TOP_SWITCH;
	case 'L' - '@': return HODO_TOP_REDRAW;
	}
	return HODO_TOP_DRAW;
}

static enum hodo_top_action help_key(struct hodo_top_view *v, int key)
{
	if (key == HODO_KEY_DOWN || key == 'j')
		v->help_first++; /* the frame limits it */
	else if ((key == HODO_KEY_UP || key == 'k') && v->help_first > 0)
		v->help_first--;
	else if (key != HODO_KEY_UP && key != 'k')
		v->help = false;
	return key == 'L' - '@' ? HODO_TOP_REDRAW : HODO_TOP_DRAW;
}

enum hodo_top_action hodo_top_view_key(struct hodo_top_view *v, const struct hodo_top_model *m, int key)
{
	v->message[0] = 0;
	if (v->entering)
		return enter_key(v, m, key);
	if (v->help)
		return help_key(v, key);
	if (move_key(v, m, key))
		return HODO_TOP_DRAW;
	return plain_key(v, m, key);
}
