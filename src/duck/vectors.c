/* SPDX-License-Identifier: MIT */
/* vectors.c - our columns as the library's: see duck_vector_fill(). */
#include "duck_impl.h"

#include <core/fields.h>
#include <errno.h>
#include <string.h>

static uint32_t row_of(const struct duck_fill *f, uint32_t i)
{
	return f->rows ? f->rows[f->from + i] : f->from + i;
}

static uint64_t *make_validity(duck_handle vector)
{
	duck.vector_ensure_validity_writable(vector);
	return duck.vector_get_validity(vector);
}

static void put_string(duck_handle vector, union duck_string *strings, uint64_t at, struct hodo_rows_bytes text,
		       bool copies)
{
	union duck_string *to = &strings[at];

	*to = (union duck_string){ .len = text.n };
	if (text.n <= DUCK_INLINE_MAX) {
		if (text.n)
			memcpy(to->inlined, text.data, text.n);
	} else if (copies) {
		duck.vector_assign_string_element_len(vector, at, text.data, text.n);
	} else {
		memcpy(to->far.prefix, text.data, sizeof(to->far.prefix));
		to->far.data = text.data;
	}
}

static void put_code(void *data, uint32_t i, uint32_t code, unsigned bytes)
{
	if (bytes == 1)
		((uint8_t *)data)[i] = (uint8_t)code;
	else if (bytes == 2)
		((uint16_t *)data)[i] = (uint16_t)code;
	else
		((uint32_t *)data)[i] = code;
}

static void fill_names(duck_handle vector, const struct duck_fill *f, const struct hodo_rows_values *v,
		       const struct duck_codes *codes)
{
	const uint32_t *names = v->data;
	void *data = duck.vector_get_data(vector);

	/* Nearly all: a batch with one name, or with few names in its order. */
	if (codes && codes->n == 1 && v->nvalid == f->batch->n) {
		memset(data, 0, (size_t)f->n * codes->bytes);
		return;
	}
	if (codes && codes->bytes == 1 && !f->rows && v->nvalid == f->batch->n) {
		for (uint32_t i = 0; i < f->n; i++)
			((uint8_t *)data)[i] = (uint8_t)codes->codes[names[f->from + i]];
		return;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i);
		bool has = hodo_rows_has(v, row);

		if (codes)
			put_code(data, i, has ? codes->codes[names[row]] : 0, codes->bytes);
		else
			put_string(vector, data, i, has ? hodo_rows_name(f->batch, names[row]) :
				   (struct hodo_rows_bytes){ 0 }, f->copies);
	}
}

static void fill_strings(duck_handle vector, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	const struct hodo_rows_bytes *texts = v->data;
	union duck_string *strings = duck.vector_get_data(vector);

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i);

		put_string(vector, strings, i, hodo_rows_has(v, row) ? texts[row] : (struct hodo_rows_bytes){ 0 },
			   f->copies);
	}
}

static void fill_fixed(void *to, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	if (!f->rows) {
		memcpy(to, (const char *)v->data + (size_t)f->from * v->bytes, (size_t)f->n * v->bytes);
		return;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i);

		switch (v->bytes) {
		case 1:
			((uint8_t *)to)[i] = ((const uint8_t *)v->data)[row];
			break;
		case 2:
			((uint16_t *)to)[i] = ((const uint16_t *)v->data)[row];
			break;
		case 4:
			((uint32_t *)to)[i] = ((const uint32_t *)v->data)[row];
			break;
		default:
			((uint64_t *)to)[i] = ((const uint64_t *)v->data)[row];
		}
	}
}

/* -------------------------------------------------------------------------- arrays */

static int make_room(duck_handle vector, uint64_t total)
{
	if (duck.list_vector_reserve(vector, total) != 0 || duck.list_vector_set_size(vector, total) != 0)
		return -ENOMEM;
	return 0;
}

/* Elements become those from `at` on of a list's; their number, in the library's words. */
static void put_elements(duck_handle vector, uint64_t at, const void *data, uint32_t n, uint32_t type)
{
	unsigned bytes = hodo_fields_element_size((uint8_t)type);
	uint8_t *to = (uint8_t *)duck.vector_get_data(duck.list_vector_get_child(vector)) + at * bytes;

	if (n)
		memcpy(to, data, (size_t)n * bytes);
}

static int fill_arrays(duck_handle vector, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	const struct hodo_rows_bytes *arrays = v->data;
	struct duck_list *lists = duck.vector_get_data(vector);
	uint64_t total = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i);

		lists[i] = (struct duck_list){ total, hodo_rows_has(v, row) ? arrays[row].n : 0 };
		total += lists[i].len;
	}
	if (make_room(vector, total) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		if (lists[i].len)
			put_elements(vector, lists[i].offset, arrays[row_of(f, i)].data, (uint32_t)lists[i].len,
				     v->type);
	return 0;
}

/* -------------------------------------------------------------------------- fields */

struct child {
	duck_handle vector;
	void *data;
	uint64_t *valid;
	uint64_t elements; /* of an array's lists */
};

static void put_cell(struct child *c, const struct duck_fill *f, const struct hodo_rows_cell *cell, uint32_t i)
{
	uint32_t type = f->members[cell->member].type;
	const struct duck_codes *codes = f->member_codes ? &f->member_codes[cell->member] : NULL;

	c->valid[i / 64] |= 1ull << i % 64;
	if (type == HODO_ROWS_NAME && codes) {
		put_code(c->data, i, codes->codes[cell->u], codes->bytes);
	} else if (type == HODO_ROWS_NAME) {
		put_string(c->vector, c->data, i, hodo_rows_name(f->batch, (uint32_t)cell->u), f->copies);
	} else if (type & HODO_TYPE_ARRAY) {
		((struct duck_list *)c->data)[i] = (struct duck_list){ c->elements, cell->n };
		put_elements(c->vector, c->elements, cell->data, cell->n, type);
		c->elements += cell->n;
	} else if (type >= HODO_TYPE_STR) {
		put_string(c->vector, c->data, i, (struct hodo_rows_bytes){ cell->data, cell->n }, f->copies);
	} else {
		unsigned bytes = hodo_fields_fixed_size((uint8_t)type);

		if (bytes == 8)
			((uint64_t *)c->data)[i] = cell->u;
		else if (bytes == 4)
			((uint32_t *)c->data)[i] = (uint32_t)cell->u;
		else if (bytes == 2)
			((uint16_t *)c->data)[i] = (uint16_t)cell->u;
		else
			((uint8_t *)c->data)[i] = (uint8_t)cell->u;
	}
}

/* A child without any value: all of its rows are null, and nothing in them is read as an address. */
static void open_child(struct child *c, duck_handle vector, const struct duck_fill *f, uint32_t member)
{
	uint32_t type = f->members[member].type;
	size_t bytes = sizeof(union duck_string);

	c->vector = vector;
	c->data = duck.vector_get_data(vector);
	c->valid = make_validity(vector);
	c->elements = 0;
	memset(c->valid, 0, (f->n + 63) / 64 * sizeof(*c->valid));
	if (type == HODO_ROWS_NAME && f->member_codes)
		bytes = f->member_codes[member].bytes;
	if (type >= HODO_TYPE_STR)
		memset(c->data, 0, f->n * bytes);
}

static bool is_array(uint32_t type)
{
	return type != HODO_ROWS_NAME && (type & HODO_TYPE_ARRAY);
}

/* Room for the elements of all arrays. */
static int reserve_arrays(struct child *children, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	const struct hodo_rows_bytes *rows = v->data;

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i), n = hodo_rows_has(v, row) ? rows[row].n : 0;
		const struct hodo_rows_cell *cell = n ? rows[row].data : NULL;

		for (; n > 0; n--, cell++) {
			uint32_t type = f->members[cell->member].type, child = f->children[cell->member];

			if (is_array(type) && child != UINT32_MAX)
				children[child].elements += cell->n;
		}
	}
	for (uint32_t i = 0; i < f->nchildren; i++) {
		if (children[i].elements && make_room(children[i].vector, children[i].elements) < 0)
			return -ENOMEM;
		children[i].elements = 0;
	}
	return 0;
}

static int fill_fields(duck_handle vector, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	const struct hodo_rows_bytes *rows = v->data;
	struct child children[HODO_ROWS_MEMBERS_MAX];
	bool arrays = false;

	for (uint32_t i = 0; i < f->nchildren; i++) {
		open_child(&children[i], duck.struct_vector_get_child(vector, i), f, f->member_of[i]);
		arrays |= is_array(f->members[f->member_of[i]].type);
	}
	/* There is no struct without members: one that has none of ours has one that is null. */
	if (f->nchildren == 0)
		memset(make_validity(duck.struct_vector_get_child(vector, 0)), 0, (f->n + 63) / 64 * sizeof(uint64_t));
	if (!v->data)
		return 0;
	if (arrays && reserve_arrays(children, f, v) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = row_of(f, i), n = hodo_rows_has(v, row) ? rows[row].n : 0;
		const struct hodo_rows_cell *cell = n ? rows[row].data : NULL;

		for (; n > 0; n--, cell++)
			if (f->children[cell->member] != UINT32_MAX)
				put_cell(&children[f->children[cell->member]], f, cell, i);
	}
	return 0;
}

/* ------------------------------------------------------------------------ the whole */

static void fill_validity(duck_handle vector, const struct duck_fill *f, const struct hodo_rows_values *v)
{
	uint64_t *valid = make_validity(vector);

	if (!f->rows && v->data) {
		memcpy(valid, v->valid + f->from / 64, (f->n + 63) / 64 * sizeof(*valid));
		return;
	}
	memset(valid, 0, (f->n + 63) / 64 * sizeof(*valid));
	for (uint32_t i = 0; v->data && i < f->n; i++)
		valid[i / 64] |= (uint64_t)hodo_rows_has(v, row_of(f, i)) << i % 64;
}

int duck_vector_fill(duck_handle vector, const struct duck_fill *f, uint32_t column, const struct duck_codes *codes)
{
	const struct hodo_rows_values *v = &f->batch->columns[column];

	if (v->nvalid < f->batch->n)
		fill_validity(vector, f, v);
	if (v->type == HODO_ROWS_FIELDS)
		return fill_fields(vector, f, v);
	if (!v->data) {
		/* A list's places are looked at even where it is null. */
		if (v->type != HODO_ROWS_NAME && v->type >= HODO_TYPE_STR)
			memset(duck.vector_get_data(vector), 0, f->n * sizeof(struct duck_list));
		return 0;
	}
	if (v->type == HODO_ROWS_NAME)
		fill_names(vector, f, v, codes);
	else if (v->type & HODO_TYPE_ARRAY)
		return fill_arrays(vector, f, v);
	else if (v->type >= HODO_TYPE_STR)
		fill_strings(vector, f, v);
	else
		fill_fixed(duck.vector_get_data(vector), f, v);
	return 0;
}
