/* SPDX-License-Identifier: MIT */
/* top_frame.c - hodo top: the table as lines of text that fit a window. */
#define _GNU_SOURCE
#include "top.h"
#include "top_numbers.h"

#include <inttypes.h>
#include <string.h>
#include <wchar.h>

#include <base/vec.h>


#define WIDTH_MAX 1000
#define LINE_BYTES (4 * WIDTH_MAX + 64)
#define NAME_MIN 10
#define NAME_MIN_DENSE 16
#define WIDE 64     /* from this width on, numbers are written out */
#define HEIGHT_LOST 8 /* from this height on, losses have a separate line */

/* Columns of a terminal, the space before not counted: for wide and for narrow windows. */
static const struct {
	int wide, narrow;
} widths[HODO_TOP_COLUMNS] = {
	[HODO_TOP_NAME] = { NAME_MIN, NAME_MIN }, [HODO_TOP_PID] = { 7, 7 },    [HODO_TOP_NUMBER] = { 7, 7 },
	[HODO_TOP_RATE] = { 12, 7 },              [HODO_TOP_AVERAGE] = { 12, 10 }, [HODO_TOP_TOTAL] = { 15, 7 },
	[HODO_TOP_BYTES] = { 10, 8 },             [HODO_TOP_LOST] = { 10, 6 },  [HODO_TOP_STATE] = { 6, 6 },
	[HODO_TOP_P50] = { 8, 8 },                [HODO_TOP_P99] = { 8, 8 },    [HODO_TOP_MAX] = { 8, 8 },
	[HODO_TOP_ALL_P50] = { 8, 8 },            [HODO_TOP_ALL_P99] = { 8, 8 }, [HODO_TOP_ALL_MAX] = { 8, 8 },
	[HODO_TOP_OPEN] = { 6, 6 },               [HODO_TOP_LAST] = { 14, 8 },  [HODO_TOP_LEAST] = { 14, 8 },
	[HODO_TOP_MOST] = { 14, 8 },              [HODO_TOP_CPU] = { 5, 5 },
};

/* With many columns, numbers are short, and names have more room. */
static const bool dense[HODO_TOP_KINDS] = { [HODO_TOP_SPANS] = true, [HODO_TOP_COUNTERS] = true };

/* The priority of columns, by their letters. */
static const char *const priority[HODO_TOP_KINDS] = {
	[HODO_TOP_EVENTS] = "NRSTBLA", [HODO_TOP_SPANS] = "NRPMX9W5OTA", [HODO_TOP_COUNTERS] = "NVRUDTA",
	[HODO_TOP_THREADS] = "NRICTB-A", [HODO_TOP_CPUS] = "NRLTBA",
};

static const char *const help[] = {
	"up, down, k, j       select a row; page up, page down: by a page",
	"home, end, g, G      the first, the last row",
	"space                switch the selected event off or on",
	"e  s  v              events; spans; values of counters",
	"t  c                 threads; CPUs, where losses are",
	"< >, left, right     sort by the column beside",
	"N I R A T B L S      sort by name, number, rate, average,",
	"                     total, bytes, lost, state;",
	"M P X, 5 9 W         median, 99 %, longest; the same of all;",
	"O, V D U, C          open; last, least, most; part of a CPU",
	"r                    reverse the order",
	"/                    show only names that match a glob",
	"escape               show all again",
	"p                    pause the table; counting goes on",
	"z                    restart totals and averages",
	"+ -                  longer, shorter interval",
	"ctrl-L               redraw the screen",
	"q                    quit",
};
#define HELP_LINES (sizeof(help) / sizeof(*help))

/* -------------------------------------------------------------------------- texts */

int hodo_top_printable(char *to, size_t size, const char *from, int width)
{
	size_t len = strlen(from), n = 0;
	mbstate_t state = { 0 };
	int columns_used = 0;

	while (len > 0) {
		wchar_t wc;
		size_t bytes = mbrtowc(&wc, from, len, &state);
		int w;

		if (bytes == (size_t)-1 || bytes == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			bytes = 1;
			w = 0;
		} else {
			w = wcwidth(wc);
		}
		/* Marks without a width are refused, too: one of them reverses the direction of text. */
		if (columns_used + (w > 0 ? w : 1) > width || n + bytes + 1 > size)
			break;
		if (w > 0)
			memcpy(to + n, from, bytes);
		else
			to[n] = '?';
		n += w > 0 ? bytes : 1;
		columns_used += w > 0 ? w : 1;
		from += bytes;
		len -= bytes;
	}
	if (size > 0)
		to[n] = 0;
	return columns_used;
}

/* Adds a text to the line that is being put together, in at most so many columns. Returns how many it takes. */
static int put_cut(struct hodo_top_frame *f, const char *s, int width)
{
	char shown[LINE_BYTES];
	int used = hodo_top_printable(shown, sizeof(shown), s, width);

	hodo_text_add(&f->text, shown);
	return used;
}

/* From here on, the line is in its final form: printable, and no wider than the frame. */
static void add_line(struct hodo_top_frame *f, enum hodo_top_look look)
{
	char shown[LINE_BYTES];
	int left = f->width - hodo_top_printable(shown, sizeof(shown), hodo_text_string(&f->text), f->width);
	size_t len = strlen(shown);

	if (look != HODO_LOOK_TITLE && look != HODO_LOOK_HEAD && look != HODO_LOOK_SELECTED)
		for (left = 0; len > 0 && shown[len - 1] == ' ';)
			shown[--len] = 0;
	snprintf(shown + len, sizeof(shown) - len, "%*s", left, "");
	*hodo_must(hodo_vec_add(f->line, f->n)) = (struct hodo_top_line){ look, hodo_must(strdup(shown)) };
	f->text.len = 0;
}

/* ----------------------------------------------------------------------------- rows */

struct layout {
	bool shown[HODO_TOP_COLUMNS];
	int width[HODO_TOP_COLUMNS];
};

static void lay_out(struct layout *l, const struct hodo_top_model *m, const struct hodo_top_view *v, int width)
{
	enum hodo_top_kind kind = v->kind;
	int left = width, name = 0;

	memset(l, 0, sizeof(*l));
	for (const char *letter = priority[kind]; *letter; letter++) {
		enum hodo_top_column c = (enum hodo_top_column)(strchr(hodo_top_letters, *letter) - hodo_top_letters);
		int w = width < WIDE || (dense[kind] && c < HODO_TOP_STATE) ? widths[c].narrow : widths[c].wide;
		int with_space;

		w = c == HODO_TOP_NAME && dense[kind] && width >= WIDE ? NAME_MIN_DENSE : w;
		with_space = w + (c != HODO_TOP_NAME);

		if (with_space > left || (!v->columns && c == HODO_TOP_PID && m->images <= 1) ||
		    (v->columns && c != HODO_TOP_NAME && !(v->columns >> c & 1)))
			continue;
		l->shown[c] = true;
		l->width[c] = w;
		left -= with_space;
	}
	/* The rest goes to the names, as far as they need it. */
	for (uint32_t i = 0; i < m->table[kind].n; i++) {
		const char *s = m->table[kind].row[i].name;
		int len = s ? (int)strnlen(s, WIDTH_MAX) : 0;

		name = len > name ? len : name;
	}
	name -= l->width[HODO_TOP_NAME];
	if (name > 0)
		l->width[HODO_TOP_NAME] += left < name ? left : name;
}

static void put_cell(struct hodo_top_frame *f, const struct layout *l, enum hodo_top_column c, const char *s)
{
	char shown[LINE_BYTES];
	int left;

	if (!l->shown[c])
		return;
	left = l->width[c] - hodo_top_printable(shown, sizeof(shown), s, l->width[c]);
	hodo_text_add(&f->text, c == HODO_TOP_NAME ? "" : " ");
	if (c == HODO_TOP_NAME || c == HODO_TOP_STATE)
		hodo_text_printf(&f->text, "%s%*s", shown, left, "");
	else
		hodo_text_printf(&f->text, "%*s%s", left, "", shown);
}

static void add_head(struct hodo_top_frame *f, const struct layout *l, const struct hodo_top_view *v)
{
	static const char *const names[HODO_TOP_KINDS] = {
		[HODO_TOP_EVENTS] = "EVENT", [HODO_TOP_SPANS] = "SPAN", [HODO_TOP_COUNTERS] = "COUNTER",
		[HODO_TOP_THREADS] = "THREAD", [HODO_TOP_CPUS] = "CPU",
	};

	for (int c = 0; c < HODO_TOP_COLUMNS; c++) {
		/* CPUs have their number in the place of a name. */
		bool sorted = v->sort[v->kind] == (enum hodo_top_column)c ||
			      (v->kind == HODO_TOP_CPUS && c == HODO_TOP_NAME && v->sort[v->kind] == HODO_TOP_NUMBER);
		char title[32];

		snprintf(title, sizeof(title), "%s%s", sorted ? v->reverse[v->kind] ? "-" : "*" : "",
			 c == HODO_TOP_NAME ? names[v->kind] : hodo_top_columns.column[c].title);
		put_cell(f, l, (enum hodo_top_column)c, title);
	}
	add_line(f, HODO_LOOK_HEAD);
}

static const char *row_name(const struct hodo_top_row *row, enum hodo_top_kind kind, char buf[32])
{
	if (kind != HODO_TOP_CPUS)
		return row->name ? row->name : "?";
	snprintf(buf, 32, row->number == HODO_CPU_ANY ? "fallback" : "CPU %u", row->number);
	return buf;
}

static const char *cell_text(const struct hodo_top_model *m, const struct hodo_top_row *row, enum hodo_top_kind kind,
			     enum hodo_top_column c, int width, char buf[32])
{
	static const char *const states[] = { "gone", "off", "on", "mixed" };
	const struct hodo_table t = { .columns = &hodo_top_columns, .context = m };
	struct hodo_cell cell;

	switch (c) {
	case HODO_TOP_NAME: return row_name(row, kind, buf);
	case HODO_TOP_PID: return hodo_top_number_text(row->pid, buf);
	case HODO_TOP_NUMBER: return hodo_top_number_text(row->number, buf);
	case HODO_TOP_RATE: return hodo_top_rate_text(row->events.rate, width, buf);
	case HODO_TOP_AVERAGE: return hodo_top_rate_text(hodo_top_average(m, &row->events), width, buf);
	case HODO_TOP_TOTAL: return hodo_top_count_text(hodo_top_since_reset(&row->events), width, buf);
	case HODO_TOP_BYTES: return hodo_top_bytes_text(row->bytes.rate, width, buf);
	case HODO_TOP_LOST: return hodo_top_count_text(hodo_top_since_reset(&row->lost), width, buf);
	case HODO_TOP_STATE: return states[row->state];
	default:
		cell = hodo_cell_of(&t, &hodo_top_columns.column[c], row);
	}
	if (cell.type == HODO_CELL_NULL)
		return "-";
	if (c == HODO_TOP_CPU)
		return hodo_top_percent_text(cell.f, buf);
	if (c == HODO_TOP_OPEN)
		return hodo_top_count_text(cell.u, width, buf);
	return c >= HODO_TOP_LAST ? hodo_top_value_text(&cell, width, buf) : hodo_top_time_text(cell.u, buf);
}

static void add_row(struct hodo_top_frame *f, const struct layout *l, const struct hodo_top_model *m,
		    enum hodo_top_kind kind, const struct hodo_top_row *row, bool selected)
{
	char buf[32];

	for (int c = 0; c < HODO_TOP_COLUMNS; c++)
		if (l->shown[c])
			put_cell(f, l, (enum hodo_top_column)c,
				 cell_text(m, row, kind, (enum hodo_top_column)c, l->width[c], buf));
	add_line(f, selected ? HODO_LOOK_SELECTED :
		    row->lost.rate > 0 ? HODO_LOOK_LOSS :
		    kind == HODO_TOP_EVENTS && row->state != HODO_TOP_ON ? HODO_LOOK_OFF : HODO_LOOK_PLAIN);
}

/* -------------------------------------------------------------------- above, below */

static void add_title(struct hodo_top_frame *f, const struct hodo_top_model *m, const struct hodo_top_view *v)
{
	int64_t s = (m->tick_ns - m->reset_ns) / 1000000000;
	char time[32], right[96];
	int len, left = f->width;

	snprintf(time, sizeof(time), "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
	if (f->width < WIDE)
		len = snprintf(right, sizeof(right), " %s%s", v->paused ? "paused " : "", time);
	else
		len = snprintf(right, sizeof(right), "  %severy %.4g s  %s", v->paused ? "paused  " : "",
			       (double)v->interval_ns / 1e9, time);
	left -= len;
	if (f->width >= WIDE) {
		hodo_text_add(&f->text, "hodo top: ");
		left -= 10;
	}
	if (left > 0)
		left -= put_cut(f, v->title ? v->title : "", left);
	hodo_text_printf(&f->text, "%*s%s", left > 0 ? left : 0, "", right);
	add_line(f, HODO_LOOK_TITLE);
}

static void put_cause(struct hodo_text *to, const char *name, uint64_t now, uint64_t base, bool *any)
{
	char buf[32];

	if (now > base)
		hodo_text_printf(to, "%s%s %s", *any ? ", " : ": ", name, hodo_grouped(now - base, buf));
	*any |= now > base;
}

static void add_lost(struct hodo_top_frame *f, const struct hodo_top_model *m)
{
	bool any = false;
	char buf[32];

	if (m->lost.total <= m->lost.base && m->limited <= m->limited_base) {
		hodo_text_add(&f->text, "nothing lost");
		add_line(f, HODO_LOOK_PLAIN);
		return;
	}
	hodo_text_printf(&f->text, "lost %s", hodo_grouped(hodo_top_since_reset(&m->lost), buf));
	hodo_text_printf(&f->text, " (%s/s)", hodo_top_rate_text(m->lost.rate, 12, buf));
	for (unsigned i = 0; i < hodo_top_causes.n; i++) {
		const struct hodo_column *c = &hodo_top_causes.column[i];
		uint64_t now = hodo_cell_of(NULL, c, &m->causes).u, base = hodo_cell_of(NULL, c, &m->causes_base).u;

		put_cause(&f->text, c->title, now, base, &any);
	}
	put_cause(&f->text, "over their rate", m->limited, m->limited_base, &any);
	add_line(f, m->lost.rate > 0 ? HODO_LOOK_LOSS : HODO_LOOK_PLAIN);
}

static void add_totals(struct hodo_top_frame *f, const struct hodo_top_model *m, bool with_lost)
{
	int number = f->width < WIDE ? 5 : 15;
	char buf[32];

	hodo_text_printf(&f->text, "%s%s/s", hodo_top_rate_text(m->events.rate, number, buf), f->width < WIDE ? "" : " events");
	if (with_lost)
		hodo_text_printf(&f->text, " lost %s",
				 hodo_top_count_text(hodo_top_since_reset(&m->lost), number, buf));
	hodo_text_printf(&f->text, "  %s/s", hodo_top_bytes_text(m->bytes.rate, f->width < WIDE ? 0 : 10, buf));
	hodo_text_printf(&f->text, "  total %s", hodo_top_count_text(hodo_top_since_reset(&m->events), number, buf));
	hodo_text_printf(&f->text, "  threads %u", m->table[HODO_TOP_THREADS].n);
	if (m->images > 1)
		hodo_text_printf(&f->text, "  processes %u", m->live);
	add_line(f, with_lost && m->lost.rate > 0 ? HODO_LOOK_LOSS : HODO_LOOK_PLAIN);
}

static void add_bottom(struct hodo_top_frame *f, const struct hodo_top_view *v)
{
	char shown[HODO_TOP_FILTER_MAX + 1];

	if (v->entering) {
		int width = hodo_top_printable(shown, sizeof(shown), v->entry, WIDTH_MAX);
		const char *from = v->entry;

		/* The end of the typed text stays visible. */
		for (; width > f->width - 10 && *from; width--)
			from++;
		hodo_text_printf(&f->text, "filter: %s_", from);
	} else if (v->message[0]) {
		hodo_text_add(&f->text, v->message);
	} else {
		if (v->filter[0]) {
			hodo_text_add(&f->text, "only ");
			put_cut(f, v->filter, f->width / 2);
			hodo_text_add(&f->text, "  ");
		}
		hodo_text_add(&f->text, "q quit  ? help  space on/off  / filter  s spans  v values  t threads  c CPUs  <> sort  p pause");
	}
	add_line(f, HODO_LOOK_BOTTOM);
}

static void add_help(struct hodo_top_frame *f, struct hodo_top_view *v, int height)
{
	uint32_t rows = height > 2 ? (uint32_t)height - 2 : 1;

	if (v->help_first + rows > HELP_LINES)
		v->help_first = rows < HELP_LINES ? (uint32_t)HELP_LINES - rows : 0;
	hodo_text_add(&f->text, "hodo top: keys");
	add_line(f, HODO_LOOK_TITLE);
	for (uint32_t i = 0; i < rows; i++) {
		if (v->help_first + i < HELP_LINES)
			hodo_text_add(&f->text, help[v->help_first + i]);
		add_line(f, HODO_LOOK_PLAIN);
	}
	hodo_text_add(&f->text, rows < HELP_LINES ? "up, down: more; any other key: back" : "any key: back");
	add_line(f, HODO_LOOK_BOTTOM);
}

/* ---------------------------------------------------------------------------- whole */

static void clear(struct hodo_top_frame *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->line[i].text);
	f->n = 0;
}

void hodo_top_frame_free(struct hodo_top_frame *f)
{
	clear(f);
	free(f->line);
	hodo_text_free(&f->text);
	memset(f, 0, sizeof(*f));
}

/* Why a table is empty, and what to do. Returns how many lines, at most max. */
static uint32_t add_reason(struct hodo_top_frame *f, const struct hodo_top_model *m, const struct hodo_top_view *v,
			   uint32_t max)
{
	static const char *const reasons[HODO_TOP_KINDS][4] = {
		[HODO_TOP_EVENTS] = {
			"This program has no events of its own.",
			"hodo top --functions        shows how long its functions take",
			"hodo record -e probe:NAME   records the calls of one, with what it is given",
		},
		[HODO_TOP_SPANS] = { "No spans: HODO_SPAN, or HODO_BEGIN and HODO_END, make them." },
		[HODO_TOP_COUNTERS] = { "No counters: HODO_COUNTER makes them." },
		[HODO_TOP_THREADS] = { "No thread has had an event yet." },
		[HODO_TOP_CPUS] = { "No CPU has had an event yet." },
	};
	static const char *const nobody[] = { "Nothing has connected yet: programs do when they load "
					     "libhodo.",
					      NULL };
	static const char *const ended[] = { "It ended before anything was seen.", NULL };
	static const char *const filtered[] = { "No name matches the filter: escape shows all.", NULL };
	const char *const *line = m->table[v->kind].n ? filtered : m->images ? reasons[v->kind] : m->settled ? ended :
				  nobody;
	uint32_t n = 0;

	for (; n < max && line[n]; n++) {
		hodo_text_add(&f->text, line[n]);
		add_line(f, HODO_LOOK_PLAIN);
	}
	return n;
}

static void add_rows(struct hodo_top_frame *f, const struct hodo_top_model *m, struct hodo_top_view *v, int rows)
{
	uint32_t first = 0, n = v->n;
	struct layout l;

	lay_out(&l, m, v, f->width);
	add_head(f, &l, v);
	if (rows >= 0) {
		v->page = (uint32_t)rows;
		if (v->at < v->first)
			v->first = v->at;
		if (rows > 0 && v->at >= v->first + v->page)
			v->first = v->at - v->page + 1;
		if (v->first + v->page > v->n)
			v->first = v->n > v->page ? v->n - v->page : 0;
		first = v->first;
		n = v->n - first < v->page ? v->n : first + v->page;
	}
	if (rows < 0 && v->n == 0)
		add_reason(f, m, v, UINT32_MAX);
	for (uint32_t i = first; i < n; i++)
		add_row(f, &l, m, v->kind, &m->table[v->kind].row[v->order[i]], rows >= 0 && i == v->at);
	if (rows > 0 && v->n == 0)
		n = add_reason(f, m, v, v->page);
	for (uint32_t i = n - first; rows >= 0 && i < v->page; i++)
		add_line(f, HODO_LOOK_PLAIN);
}

/* After the table of events: spans and counters. */
static void add_sections(struct hodo_top_frame *f, const struct hodo_top_model *m, struct hodo_top_view *v)
{
	const enum hodo_top_kind kind = v->kind;

	for (v->kind = HODO_TOP_SPANS; v->kind <= HODO_TOP_COUNTERS; v->kind++) {
		if (m->table[v->kind].n == 0)
			continue;
		hodo_top_view_update(v, m);
		add_line(f, HODO_LOOK_PLAIN);
		add_rows(f, m, v, -1);
	}
	v->kind = kind;
	hodo_top_view_update(v, m);
}

void hodo_top_frame_build(struct hodo_top_frame *f, const struct hodo_top_model *m, struct hodo_top_view *v, int width,
			  int height)
{
	bool lost_line = height == 0 || height >= HEIGHT_LOST;
	int above = lost_line ? 5 : 3; /* and the head, and the bottom line */

	clear(f);
	f->width = width < WIDTH_MAX ? width : WIDTH_MAX;
	if (v->help && height > 0) {
		add_help(f, v, height);
		return;
	}
	add_title(f, m, v);
	add_totals(f, m, !lost_line);
	if (lost_line) {
		add_lost(f, m);
		add_line(f, HODO_LOOK_PLAIN);
	}
	add_rows(f, m, v, height == 0 ? -1 : height - above - 1 > 0 ? height - above - 1 : 0);
	if (height == 0 && v->sections)
		add_sections(f, m, v);
	if (height > 0)
		add_bottom(f, v);
}
