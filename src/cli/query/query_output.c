/* SPDX-License-Identifier: MIT */
/* query_output.c - rows of a statement on standard output: see query_output.h. */
#include "query_output.h"

#include <errno.h>
#include <string.h>

#include <base/csv.h>
#include <base/vec.h>

#define FLUSH_BYTES (128u << 10)
#define BLOCK_CELLS (1u << 16) /* of a table, whose widths are found together */
#define WIDTH_MAX   60u        /* columns are not made wider: what is longer moves the others */

static int flush(struct query_output *o, size_t bytes)
{
	int err = o->text.error;

	if (!err && o->text.len > bytes) {
		err = hodo_out_write(o->out, o->text.data, o->text.len) < 0 ? -EPIPE : 0;
		o->text.len = 0;
	}
	return err;
}

static const char *name_at(const struct query_output *o, uint32_t column)
{
	const char *name = o->names.data;

	while (column-- > 0)
		name += strlen(name) + 1;
	return name;
}

/* How many columns of a terminal a text takes, as far as characters are one each. */
static uint32_t width_of(const char *text, size_t len)
{
	uint32_t width = 0;

	for (size_t i = 0; i < len; i++)
		width += ((uint8_t)text[i] & 0xc0) != 0x80;
	return width;
}

static void put_padded(struct query_output *o, const char *text, size_t len, uint32_t column)
{
	uint32_t width = width_of(text, len);
	uint32_t pad = width < o->widths[column] ? o->widths[column] - width : 0;
	bool last = column + 1 == o->n;

	if (column)
		hodo_text_add(&o->text, "  ");
	if (o->numbers[column])
		hodo_text_printf(&o->text, "%*s", (int)pad, "");
	hodo_text_bytes(&o->text, text, len);
	if (!o->numbers[column] && !last)
		hodo_text_printf(&o->text, "%*s", (int)pad, "");
}

/* ------------------------------------------------------------------------- tables */

static void widen(struct query_output *o, uint32_t column, const char *text, size_t len)
{
	uint32_t width = width_of(text, len);

	width = width > WIDTH_MAX ? WIDTH_MAX : width;
	if (width > o->widths[column])
		o->widths[column] = width;
}

static void put_titles(struct query_output *o)
{
	struct hodo_text title = { 0 };

	hodo_text_add(&o->text, hodo_style(o->color, HODO_HEADING));
	for (uint32_t i = 0; i < o->n; i++) {
		title.len = 0;
		hodo_add_plain(&title, name_at(o, i));
		put_padded(o, title.data, title.len, i);
	}
	hodo_text_printf(&o->text, "%s\n", hodo_style(o->color, HODO_PLAIN));
	hodo_text_free(&title);
}

/* The rows that were kept. */
static int put_block(struct query_output *o, bool first)
{
	int err = o->cells.error;

	for (uint32_t i = 0; i < o->nends; i++) {
		size_t begin = i ? o->ends[i - 1] : 0;

		widen(o, i % o->n, o->cells.data + begin, o->ends[i] - begin);
	}
	if (first)
		put_titles(o);
	for (uint32_t i = 0; i < o->nends && !err; i++) {
		size_t begin = i ? o->ends[i - 1] : 0;

		put_padded(o, o->cells.data + begin, o->ends[i] - begin, i % o->n);
		if (i % o->n + 1 == o->n) {
			hodo_text_char(&o->text, '\n');
			err = flush(o, FLUSH_BYTES);
		}
	}
	o->cells.len = 0;
	o->nends = 0;
	return err;
}

static int keep_row(struct query_output *o, const struct hodo_duck_cell *cells)
{
	if (hodo_vec_reserve(o->ends, o->room, o->nends + o->n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->n; i++) {
		if (cells[i].null)
			hodo_text_add(&o->cells, "-");
		else
			hodo_text_plain(&o->cells, cells[i].text, cells[i].len);
		o->ends[o->nends++] = o->cells.len;
	}
	return o->nends >= BLOCK_CELLS ? put_block(o, o->rows * o->n < BLOCK_CELLS) : 0;
}

/* --------------------------------------------------------------------------- sink */

/* A title is as wide as it is when it is shown. */
static void widen_title(struct query_output *o, uint32_t column, const char *name)
{
	struct hodo_text title = { 0 };

	hodo_add_plain(&title, name);
	widen(o, column, title.data, title.len);
	hodo_text_free(&title);
}

static int take_columns(void *data, uint32_t n, const char *const *names, const bool *numbers)
{
	struct query_output *o = data;

	o->n = n;
	o->rows = 0;
	o->nends = 0;
	o->names.len = o->cells.len = 0;
	free(o->numbers);
	free(o->widths);
	o->numbers = calloc(n, sizeof(*o->numbers));
	o->widths = calloc(n, sizeof(*o->widths));
	if (!o->numbers || !o->widths)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		o->numbers[i] = numbers[i];
		hodo_text_bytes(&o->names, names[i], strlen(names[i]) + 1);
		widen_title(o, i, names[i]);
		if (o->form == HODO_DUCK_CSV) {
			hodo_text_add(&o->text, i ? "," : "");
			hodo_csv_text(&o->text, names[i], strlen(names[i]));
		}
	}
	if (o->form == HODO_DUCK_CSV)
		hodo_text_char(&o->text, '\n');
	return o->names.error;
}

static int take_row(void *data, uint32_t n, const struct hodo_duck_cell *cells)
{
	struct query_output *o = data;
	struct hodo_json json = { .text = &o->text };
	const char *name = o->names.data;

	if (o->form == HODO_DUCK_TEXT) {
		int err = keep_row(o, cells);

		o->rows++;
		return err;
	}
	if (o->form == HODO_DUCK_JSON)
		hodo_json_object(&json, NULL);
	for (uint32_t i = 0; i < n; i++, name += strlen(name) + 1) {
		if (o->form == HODO_DUCK_JSON)
			hodo_json_value(&json, name);
		else
			hodo_text_add(&o->text, i ? "," : "");
		hodo_text_bytes(&o->text, cells[i].text, cells[i].len);
	}
	if (o->form == HODO_DUCK_JSON)
		hodo_json_end(&json);
	hodo_text_char(&o->text, '\n');
	o->rows++;
	return flush(o, FLUSH_BYTES);
}

static int end_rows(void *data)
{
	struct query_output *o = data;
	int err = 0;

	if (o->form == HODO_DUCK_TEXT)
		err = put_block(o, o->rows * o->n < BLOCK_CELLS);
	return err ? err : flush(o, 0);
}

struct hodo_duck_sink query_output_sink(struct query_output *o)
{
	return (struct hodo_duck_sink){
		.form = o->form,
		.columns = take_columns,
		.row = take_row,
		.end = end_rows,
		.data = o,
	};
}

void query_output_start(struct query_output *o, struct hodo_out *out, enum hodo_duck_form form, bool color)
{
	*o = (struct query_output){ .out = out, .form = form, .color = color };
}

void query_output_end(struct query_output *o)
{
	hodo_text_free(&o->names);
	hodo_text_free(&o->text);
	hodo_text_free(&o->cells);
	free(o->numbers);
	free(o->widths);
	free(o->ends);
}
