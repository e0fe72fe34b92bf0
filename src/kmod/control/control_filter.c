/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control_filter.c - events/PROVIDER/NAME/filter: an expression of hodo-filter(7), compiled by the core's
 * parser.
 *
 * A refused expression leaves the active filter unchanged; the file shows both, and the reason.
 */
#include "control_dir.h"

#include <core/filter.h>
#include <core/filter_parse.h>

#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Working memory of the compiler. */
struct work {
	struct hodo_filter_parser parser;
	struct hodo_filter bound;
	uint8_t code[HODO_FILTER_MAX];
	size_t len;
	char error[192];
};

static int refuse(struct work *w, const char *where, const char *what, const char *name, int name_len)
{
	scnprintf(w->error, sizeof(w->error), "%s%.*s at column %zu", what, name_len, name,
		  (size_t)(where - w->parser.expr) + 1);
	return -EINVAL;
}

/* Unknown names, and programs that no event of its kind can pass, are mistakes. */
static int check_program(struct work *w, const struct hodo_event *event)
{
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];

	for (unsigned int i = 0; i < event->nfields; i++) {
		names[i] = event->fields[i].name;
		types[i] = event->fields[i].type;
	}
	for (unsigned int i = 0; i < w->parser.names_n; i++) {
		const char *name = w->parser.names[i];
		size_t len = w->parser.names_len[i];
		unsigned int f;

		for (f = 0; f < event->nfields; f++)
			if (hodo_bounded_is(name, len, names[f]))
				break;
		if (f == event->nfields && name[0] != '$')
			return refuse(w, name, "the event has no field ", name, (int)min_t(size_t, len, 64));
	}
	if (hodo_filter_bind(&w->bound, w->code, w->len, event->nfields, types, names, NULL) != 0 ||
	    hodo_filter_never(&w->bound))
		return refuse(w, w->parser.expr, "no event can pass it", "", 0);
	return 0;
}

static int compile(struct work *w, const struct hodo_event *event, const char *expr)
{
	static const struct hodo_filter_lexer lexer = { .real = NULL };
	int err;

	w->parser.lexer = &lexer;
	err = hodo_filter_parse(&w->parser, expr, w->code, sizeof(w->code), &w->len, w->error, sizeof(w->error));
	if (err)
		return -EINVAL;
	return check_program(w, event);
}

/* The file's text about a refused expression: the expression, a mark below the column, and the reason. */
static char *refusal(const struct work *w, const char *expr)
{
	const char *number = strrchr(w->error, ' ');
	unsigned int column = 1;
	char *text, *p;

	if (number && kstrtouint(number + 1, 10, &column))
		column = 1;
	text = kasprintf(GFP_KERNEL, "# refused: %s\n#          %*s\n# %s\n", expr, (int)column, "^", w->error);
	for (p = text; p && *p; p++)
		if (*p != '\n' && !isprint(*p))
			*p = '?';
	return text;
}

/* The operation continues with the lock held; unused memory is freed. */
static int take(struct hodo_event *event, struct work *w, const char *expr, int wrong)
{
	char *text = NULL, *refused = NULL;
	uint8_t *code = NULL;
	int err = 0;

	if (wrong) {
		refused = refusal(w, expr);
	} else if (*expr) {
		text = kstrdup(expr, GFP_KERNEL);
		code = kmemdup(w->code, w->len, GFP_KERNEL);
		err = text && code ? 0 : -ENOMEM;
	}
	if (!err)
		err = hodo_control_trylock();
	if (err) {
		kfree(text);
		kfree(code);
		kfree(refused);
		return err;
	}
	kfree(event->filter_refused);
	event->filter_refused = refused;
	if (!wrong)
		err = hodo_event_filter(event, text, code, code ? (uint32_t)w->len : 0);
	mutex_unlock(&hodo_lock);
	return err ? err : wrong;
}

int hodo_control_filter_take(void *event, char *text)
{
	struct work *w;
	int err, wrong = 0;

	if (strlen(text) > HODO_FILTER_EXPR_MAX)
		return -EINVAL;
	w = kvmalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	if (strcmp(text, "0") == 0)
		*text = '\0';
	if (*text)
		wrong = compile(w, event, text);
	err = take(event, w, text, wrong);
	kvfree(w);
	return err;
}

int hodo_control_filter_show(struct seq_file *m, void *data)
{
	const struct hodo_event *event = data;
	int err = hodo_control_trylock();

	if (err)
		return err;
	seq_printf(m, "%s\n", event->filter ? event->filter : "none");
	if (event->filter_refused)
		seq_puts(m, event->filter_refused);
	mutex_unlock(&hodo_lock);
	return 0;
}
