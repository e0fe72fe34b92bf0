/* SPDX-License-Identifier: MIT */
/* result.c - the rows of a result, chunk by chunk, as text, JSON or CSV. */
#include "duck_impl.h"
#include "value.h"

#include <errno.h>
#include <stdlib.h>

struct reader {
	const struct hodo_duck_sink *sink;
	struct hodo_why *e;
	uint32_t n;
	struct duck_value_type *types;
	const char **names;
	bool *numbers;
	struct hodo_text text;          /* of a row's cells */
	struct hodo_duck_cell *cells;
	size_t *ends;
};

static int put_rows(struct reader *r, duck_handle chunk)
{
	uint64_t rows = duck.data_chunk_get_size(chunk);
	int err = 0;

	for (uint64_t row = 0; row < rows && !err; row++) {
		r->text.len = 0;
		for (uint32_t i = 0; i < r->n; i++) {
			duck_handle vector = duck.data_chunk_get_vector(chunk, i);

			r->cells[i].null = !duck_value_put(&r->text, vector, &r->types[i], row, r->sink->form);
			r->ends[i] = r->text.len;
		}
		/* The text has moved as it grew. */
		hodo_text_string(&r->text);
		for (uint32_t i = 0; i < r->n; i++) {
			size_t begin = i ? r->ends[i - 1] : 0;

			r->cells[i].text = r->text.data + begin;
			r->cells[i].len = r->ends[i] - begin;
		}
		err = r->text.error ? r->text.error : r->sink->row(r->sink->data, r->n, r->cells);
	}
	return err;
}

static int read_types(struct reader *r, struct duck_result *result)
{
	for (uint32_t i = 0; i < r->n; i++) {
		duck_handle type = duck.column_logical_type(result, i);
		bool known = duck_value_type(&r->types[i], type, 0);

		duck.destroy_logical_type(&type);
		r->names[i] = duck.column_name(result, i);
		r->numbers[i] = duck_value_is_number(&r->types[i]);
		if (!known)
			return hodo_why(r->e, -ENOTSUP, "the column \"%s\" is of a type that is not shown: ask for "
					"\"%s\"::VARCHAR", r->names[i], r->names[i]);
	}
	return r->sink->columns ? r->sink->columns(r->sink->data, r->n, r->names, r->numbers) : 0;
}

int duck_result_put(struct duck_result *result, const struct hodo_duck_sink *sink, struct hodo_why *e)
{
	struct reader r = { .sink = sink, .e = e, .n = (uint32_t)duck.column_count(result) };
	duck_handle chunk;
	int err;

	r.types = calloc(r.n, sizeof(*r.types));
	r.names = calloc(r.n, sizeof(*r.names));
	r.numbers = calloc(r.n, sizeof(*r.numbers));
	r.cells = calloc(r.n, sizeof(*r.cells));
	r.ends = calloc(r.n, sizeof(*r.ends));
	if (!r.types || !r.names || !r.numbers || !r.cells || !r.ends)
		err = hodo_why(e, -ENOMEM, "no memory");
	else
		err = read_types(&r, result);
	while (!err && (chunk = duck.fetch_chunk(*result))) {
		uint64_t n = duck.data_chunk_get_size(chunk);

		err = put_rows(&r, chunk);
		duck.destroy_data_chunk(&chunk);
		if (n == 0)
			break;
	}
	if (!err && sink->end)
		err = sink->end(sink->data);
	for (uint32_t i = 0; r.types && i < r.n; i++)
		duck_value_type_free(&r.types[i]);
	free(r.types);
	free(r.names);
	free(r.numbers);
	free(r.cells);
	free(r.ends);
	hodo_text_free(&r.text);
	return err;
}
