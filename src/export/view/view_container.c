/* SPDX-License-Identifier: MIT */
#include "view_container.h"

#include <base/scope.h>
#include <string.h>

#define VERSION        1u
/* The page is written once and passed around: a higher level costs little. */
#define LEVEL 4

static const char zeros[7];

static void base64_three(char *to, const unsigned char *from)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];

	for (unsigned i = 0; i < 4; i++)
		to[i] = digits[bits >> (18 - 6 * i) & 63];
}

static int put_base64(void *container, const void *data, size_t len)
{
	struct hodo_view_container *p = container;
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

/* Up to a multiple of 8. */
static void align(struct hodo_view_container *c, const char *with)
{
	hodo_view_put(c, with, -c->bytes & 7);
}

/* Writes what is left. 0, or the first error. */
static int end(struct hodo_view_container *c)
{
	int err = hodo_deflate_end(&c->deflate);

	if (!err)
		err = hodo_text_flush(&c->deflated);
	if (!err && c->nrest > 0) {
		char last[4];

		memset(c->rest + c->nrest, 0, 3 - c->nrest);
		base64_three(last, c->rest);
		memset(last + c->nrest + 1, '=', 3 - c->nrest);
		hodo_text_bytes(c->out, last, 4);
	}
	hodo_text_free(&c->deflated);
	return err ? err : c->out->error;
}

/* ----------------------------------------------------------------------- tables */

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 7) & ~7ull;
}

void hodo_view_table(struct hodo_view_container *c, const char *name, uint64_t rows)
{
	if (!c->head)
		return;
	c->rows = rows;
	hodo_json_object(c->head, name);
	hodo_json_u64(c->head, "n", rows);
	hodo_json_object(c->head, "columns");
}

void hodo_view_table_end(struct hodo_view_container *c)
{
	if (!c->head)
		return;
	hodo_json_end(c->head);
	hodo_json_end(c->head);
}

bool hodo_view_column(struct hodo_view_container *c, const char *name, const char *type, unsigned bytes, uint64_t n)
{
	if (!c->head) {
		align(c, zeros);
		return true;
	}
	hodo_json_object(c->head, name);
	hodo_json_string(c->head, "type", type);
	hodo_json_u64(c->head, "at", c->at);
	if (n != c->rows)
		hodo_json_u64(c->head, "n", n);
	hodo_json_end(c->head);
	c->at += aligned(n * bytes);
	return false;
}

int hodo_view_container(struct hodo_text *out, const char *id, void (*head)(struct hodo_json *head, void *data),
			void (*tables)(struct hodo_view_container *container, void *data), void *data)
{
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	struct hodo_json json = { .text = &text, .form = HODO_JSON_SCRIPT };
	struct hodo_view_container c = { .head = &json, .out = out, .deflated = HODO_TEXT_TO(put_base64, &c) };
	uint32_t start[2] = { VERSION };
	int err;

	hodo_json_object(&json, NULL);
	head(&json, data);
	hodo_json_object(&json, "tables");
	tables(&c, data);
	hodo_json_end(&json);
	hodo_json_end(&json);
	if (text.error)
		return text.error;
	start[1] = (uint32_t)aligned(text.len);
	c.head = NULL;
	hodo_text_printf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	hodo_deflate_start(&c.deflate, &c.deflated, LEVEL, false);
	hodo_view_put(&c, "HODOVIEW", 8);
	hodo_view_put(&c, start, sizeof(start));
	hodo_view_put(&c, text.data, text.len);
	align(&c, "       ");
	tables(&c, data);
	align(&c, zeros);
	err = end(&c);
	hodo_text_add(out, "</script>\n");
	return err;
}
