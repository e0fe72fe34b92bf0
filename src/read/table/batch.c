/* SPDX-License-Identifier: MIT */
/* batch.c - rows of one table, column by column: see batch.h. */
#include "batch.h"

#include <base/escape.h>
#include <core/fields.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM_FIRST 64u
#define LARGE_PAGE (2u << 20)

static uint32_t bytes_of(uint32_t type)
{
	if (type == HODO_ROWS_NAME)
		return sizeof(uint32_t);
	return type < HODO_TYPE_STR ? hodo_fields_fixed_size((uint8_t)type) : sizeof(struct hodo_rows_bytes);
}

int hodo_rows_batch_init(struct hodo_rows_batch *b, uint32_t number, const struct hodo_rows_table *table,
			 const bool *wanted, const struct hodo_strings *names)
{
	*b = (struct hodo_rows_batch){ .number = number, .table = table, .names = names, .sorted = true };
	b->columns = calloc(table->ncolumns, sizeof(*b->columns));
	if (!b->columns)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->ncolumns; i++) {
		b->columns[i].type = table->columns[i].type;
		b->columns[i].bytes = i == 0 || !wanted || wanted[i] ? bytes_of(table->columns[i].type) : 0;
	}
	return 0;
}

/* A fault for each small page is a tenth of the time that rows take. Without large ones: as it was. */
static void use_large_pages(void *data, size_t bytes)
{
	uintptr_t from = ((uintptr_t)data + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
	uintptr_t until = ((uintptr_t)data + bytes) & ~(uintptr_t)(LARGE_PAGE - 1);

	if (from < until)
		madvise((void *)from, until - from, MADV_HUGEPAGE);
}

/* New room of the bits is zeroed: no row there has a value yet. */
static int grow_column(const struct hodo_rows_batch *b, struct hodo_rows_values *v, uint32_t from, uint32_t room)
{
	uint64_t *valid = realloc(v->valid, room / 8);
	void *data;

	if (!valid)
		return -ENOMEM;
	v->valid = valid;
	memset((char *)valid + from / 8, 0, (room - from) / 8);
	data = b->zeroed && from == 0 ? calloc(room, v->bytes) : realloc(v->data, (size_t)room * v->bytes);
	if (!data)
		return -ENOMEM;
	if (b->zeroed && from)
		memset((char *)data + (size_t)from * v->bytes, 0, (size_t)(room - from) * v->bytes);
	use_large_pages(data, (size_t)room * v->bytes);
	v->data = data;
	return 0;
}

int hodo_rows_values_make(struct hodo_rows_batch *b, struct hodo_rows_values *v)
{
	int err = grow_column(b, v, 0, b->room);

	if (err)
		b->error = err;
	return err;
}

static void set_valid(struct hodo_rows_values *v, uint32_t from, uint32_t until)
{
	v->nvalid += until - from;
	for (; from < until && from % 64; from++)
		v->valid[from / 64] |= 1ull << from % 64;
	for (; until - from >= 64; from += 64)
		v->valid[from / 64] = ~0ull;
	for (; from < until; from++)
		v->valid[from / 64] |= 1ull << from % 64;
}

static void end_run(struct hodo_rows_batch *b, struct hodo_rows_values *v)
{
	uint32_t from = v->from, until = v->until;

	v->from = v->until = 0;
	if (from == until || (!v->data && hodo_rows_values_make(b, v) < 0))
		return;
	for (uint32_t i = from; i < until; i++)
		((uint32_t *)v->data)[i] = v->repeated;
	set_valid(v, from, until);
}

void hodo_rows_begin_run(struct hodo_rows_batch *b, struct hodo_rows_values *v, uint32_t value)
{
	/* Events of several threads take turns. */
	if (v->data && v->until - v->from == 1) {
		((uint32_t *)v->data)[v->from] = v->repeated;
		v->valid[v->from / 64] |= 1ull << v->from % 64;
		v->nvalid++;
	} else {
		end_run(b, v);
	}
	v->repeated = value;
	v->from = b->n;
	v->until = b->n + 1;
}

int hodo_rows_batch_end(struct hodo_rows_batch *b)
{
	for (uint32_t i = 0; i < b->table->ncolumns; i++)
		end_run(b, &b->columns[i]);
	return b->error;
}

int hodo_rows_batch_grow(struct hodo_rows_batch *b)
{
	uint32_t room = b->room ? 4 * b->room : ROOM_FIRST;

	if (b->room < b->most && room > b->most)
		room = (b->most + 63) / 64 * 64;

	for (uint32_t i = 0; i < b->table->ncolumns; i++)
		if (b->columns[i].data && grow_column(b, &b->columns[i], b->room, room) < 0)
			return -ENOMEM;
	b->room = room;
	return 0;
}

void hodo_rows_batch_clear(struct hodo_rows_batch *b)
{
	for (uint32_t i = 0; i < b->table->ncolumns; i++) {
		struct hodo_rows_values *v = &b->columns[i];

		if (v->nvalid)
			memset(v->valid, 0, (b->n + 63) / 64 * 8);
		if (b->zeroed && v->nvalid)
			memset(v->data, 0, (size_t)b->n * v->bytes);
		v->nvalid = v->from = v->until = 0;
	}
	b->n = 0;
	b->used = 0;
	b->sorted = true;
	hodo_arena_clear(&b->memory);
}

void hodo_rows_batch_shrink(struct hodo_rows_batch *b)
{
	for (uint32_t i = 0; b->columns && i < b->table->ncolumns; i++) {
		free(b->columns[i].data);
		free(b->columns[i].valid);
		b->columns[i].data = b->columns[i].valid = NULL;
		b->columns[i].nvalid = b->columns[i].from = b->columns[i].until = 0;
	}
	hodo_arena_free(&b->memory);
	b->n = b->room = 0;
	b->used = 0;
	b->sorted = true;
}

void hodo_rows_batch_free(struct hodo_rows_batch *b)
{
	hodo_rows_batch_shrink(b);
	free(b->columns);
	b->columns = NULL;
}

size_t hodo_rows_batch_bytes(const struct hodo_rows_batch *b)
{
	size_t row = 0;

	for (uint32_t i = 0; i < b->table->ncolumns; i++)
		row += b->columns[i].data ? b->columns[i].bytes : 0;
	return b->used + row * b->n;
}

void *hodo_rows_alloc(struct hodo_rows_batch *b, size_t len)
{
	void *memory = hodo_arena_alloc(&b->memory, len);

	b->used += len;
	if (!memory)
		b->error = -ENOMEM;
	return memory;
}

struct hodo_rows_bytes hodo_rows_copy(struct hodo_rows_batch *b, const void *data, size_t len, uint32_t n)
{
	void *to = hodo_rows_alloc(b, len ? len : 1);

	if (to && len)
		memcpy(to, data, len);
	return (struct hodo_rows_bytes){ to, n };
}

struct hodo_rows_bytes hodo_rows_utf8(struct hodo_rows_batch *b, const void *text, uint32_t len)
{
	const uint8_t *p = text, *end = p + len;
	char *to;

	while (p < end && *p < 0x80)
		p++;
	/* Most are ASCII, and need no more room than they have. */
	if (p == end)
		return hodo_rows_copy(b, text, len, len);
	to = hodo_rows_alloc(b, 2 * (size_t)len);
	return (struct hodo_rows_bytes){ to, to ? (uint32_t)(hodo_escape_utf8(to, text, len, 0) - to) : 0 };
}
