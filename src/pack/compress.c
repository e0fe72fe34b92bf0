/* SPDX-License-Identifier: MIT */
/* compress.c - see compress.h. */
#include "compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <base/vec.h>

#include "frames.h"

#define SKIPPABLE_HEADER 8u
#define PADDING_MAGIC    0x184d2a50u
#define TABLE_MAGIC      0x184d2a5eu
#define TABLE_END_MAGIC  0x8f92eab1u
#define TABLE_END        9u
#define TABLE_ENTRY      8u

struct hodo_compressor {
	ZSTD_CCtx *context;
	uint8_t *out;
	size_t room;
};

struct hodo_compressor *hodo_compressor_new(int level)
{
	struct hodo_compressor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = ZSTD_createCCtx();
	if (!c->context) {
		free(c);
		return NULL;
	}
	ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1);
	return c;
}

void hodo_compressor_free(struct hodo_compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	free(c->out);
	free(c);
}

static void put_le32(uint8_t *p, uint32_t n)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> 8 * i);
}

static int make_room(struct hodo_compressor *c, size_t size)
{
	size_t room = ZSTD_compressBound(size) + size / HODO_FRAME_RATIO + 256;

	if (room <= c->room)
		return 0;
	free(c->out);
	c->out = malloc(room);
	c->room = c->out ? room : 0;
	return c->out ? 0 : -ENOMEM;
}

/* No byte may stand for more than HODO_FRAME_RATIO: behind a smaller frame follows one that is passed over. */
static size_t pad(uint8_t *out, size_t len, size_t size)
{
	size_t least = size / HODO_FRAME_RATIO + 1, padding;

	if (len >= least)
		return len;
	padding = least - len < SKIPPABLE_HEADER ? 0 : least - len - SKIPPABLE_HEADER;
	put_le32(out + len, PADDING_MAGIC);
	put_le32(out + len + 4, (uint32_t)padding);
	memset(out + len + SKIPPABLE_HEADER, 0, padding);
	return len + SKIPPABLE_HEADER + padding;
}

ssize_t hodo_compress(struct hodo_compressor *c, const void *head, size_t head_len, const void *body, size_t len,
		      const uint8_t **frame)
{
	ZSTD_inBuffer first = { head, head_len, 0 }, second = { body, len, 0 };
	ZSTD_outBuffer out = { NULL, 0, 0 };
	size_t left = 0;
	int err = make_room(c, head_len + len);

	if (err)
		return err;
	out.dst = c->out;
	out.size = c->room;
	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(c->context, head_len + len);
	if (head_len)
		left = ZSTD_compressStream2(c->context, &out, &first, ZSTD_e_flush);
	if (!left)
		left = ZSTD_compressStream2(c->context, &out, &second, ZSTD_e_end);
	/* There is room for all of it: what can be missing is memory. */
	if (left)
		return -ENOMEM;
	*frame = c->out;
	return (ssize_t)pad(c->out, out.pos, head_len + len);
}

int hodo_seek_table_add(struct hodo_seek_table *t, size_t bytes, size_t size)
{
	struct hodo_seek_entry e = { (uint32_t)bytes, (uint32_t)size };

	return hodo_vec_push(t->entries, t->n, e);
}

ssize_t hodo_seek_table_make(const struct hodo_seek_table *t, uint8_t **table)
{
	size_t len = TABLE_ENTRY * (size_t)t->n + TABLE_END;
	uint8_t *p = malloc(SKIPPABLE_HEADER + len);

	*table = p;
	if (!p)
		return -ENOMEM;
	put_le32(p, TABLE_MAGIC);
	put_le32(p + 4, (uint32_t)len);
	p += SKIPPABLE_HEADER;
	for (uint32_t i = 0; i < t->n; i++, p += TABLE_ENTRY) {
		put_le32(p, t->entries[i].bytes);
		put_le32(p + 4, t->entries[i].size);
	}
	put_le32(p, t->n);
	p[4] = 0; /* entries have no checksums: frames do */
	put_le32(p + 5, TABLE_END_MAGIC);
	return (ssize_t)(SKIPPABLE_HEADER + len);
}

void hodo_seek_table_free(struct hodo_seek_table *t)
{
	free(t->entries);
	*t = (struct hodo_seek_table){ 0 };
}
