/* SPDX-License-Identifier: MIT */
/* view_container.c - see view_container.h. */
#include "view_container.h"

#include <string.h>

#define VERSION        1u
/* The page is written once and sent around: a level more costs little here. */
#define LEVEL 4

static void base64_three(char *to, const unsigned char *from)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];

	for (unsigned i = 0; i < 4; i++)
		to[i] = digits[bits >> (18 - 6 * i) & 63];
}

static int put_base64(void *packer, const void *data, size_t len)
{
	struct hodo_view_packer *p = packer;
	const unsigned char *bytes = data;
	char *to = hodo_text_room(p->out, 4 * ((len + 5) / 3)), *end = to;

	if (!to)
		return p->out->error;
	while (len > 0 && p->nrest > 0) {
		p->rest[p->nrest++] = *bytes++;
		len--;
		if (p->nrest < 3)
			continue;
		base64_three(end, p->rest);
		end += 4;
		p->nrest = 0;
	}
	for (; len >= 3; len -= 3, bytes += 3, end += 4)
		base64_three(end, bytes);
	while (len > 0) {
		p->rest[p->nrest++] = *bytes++;
		len--;
	}
	p->out->len += (size_t)(end - to);
	return 0;
}

void hodo_view_pack_start(struct hodo_view_packer *p, struct hodo_text *out)
{
	*p = (struct hodo_view_packer){ .out = out, .deflated = HODO_TEXT_TO(put_base64, p) };
	hodo_deflate_start(&p->deflate, &p->deflated, LEVEL, false);
}

void hodo_view_pack(struct hodo_view_packer *p, const void *bytes, size_t len)
{
	p->bytes += len;
	hodo_text_bytes(&p->deflate.in, bytes, len);
}

void hodo_view_pack_align(struct hodo_view_packer *p)
{
	hodo_view_pack(p, "\0\0\0\0\0\0\0", -p->bytes & 7);
}

int hodo_view_pack_end(struct hodo_view_packer *p)
{
	int err = hodo_deflate_end(&p->deflate);

	if (!err)
		err = hodo_text_flush(&p->deflated);
	if (!err && p->nrest > 0) {
		char last[4];

		memset(p->rest + p->nrest, 0, 3 - p->nrest);
		base64_three(last, p->rest);
		memset(last + p->nrest + 1, '=', 3 - p->nrest);
		hodo_text_bytes(p->out, last, 4);
	}
	hodo_text_free(&p->deflated);
	return err ? err : p->out->error;
}

/* ----------------------------------------------------------------------- tables */

static uint64_t rows_of(const struct hodo_view_table *t, const struct hodo_view_column *c)
{
	return c->own_n ? c->own_n : t->n;
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 7) & ~7ull;
}

void hodo_view_tables_json(struct hodo_json *j, const struct hodo_view_table *tables, unsigned n)
{
	uint64_t at = 0;

	hodo_json_object(j, "tables");
	for (unsigned i = 0; i < n; i++) {
		hodo_json_object(j, tables[i].name);
		hodo_json_u64(j, "n", tables[i].n);
		hodo_json_object(j, "columns");
		for (const struct hodo_view_column *c = tables[i].columns; c->name; c++) {
			hodo_json_object(j, c->name);
			hodo_json_string(j, "type", c->type);
			hodo_json_u64(j, "at", at);
			if (c->own_n)
				hodo_json_u64(j, "n", c->own_n);
			hodo_json_end(j);
			at += aligned(rows_of(&tables[i], c) * c->bytes);
		}
		hodo_json_end(j);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

void hodo_view_container(struct hodo_view_packer *p, const char *json, size_t len,
			 const struct hodo_view_table *tables, unsigned n)
{
	uint32_t head[2] = { VERSION, (uint32_t)aligned(len) };

	hodo_view_pack(p, "HODOVIEW", 8);
	hodo_view_pack(p, head, sizeof(head));
	hodo_view_pack(p, json, len);
	hodo_view_pack(p, "        ", -len & 7);
	for (unsigned i = 0; i < n; i++) {
		for (const struct hodo_view_column *c = tables[i].columns; c->name; c++) {
			c->put(p, tables[i].data, tables[i].n);
			hodo_view_pack_align(p);
		}
	}
}
