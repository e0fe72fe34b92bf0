/* SPDX-License-Identifier: MIT */
#include "compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <base/vec.h>

#include "frames.h"
#include "le.h"
#include "planes.h"

#define SKIPPABLE_HEADER 8u
#define PADDING_MAGIC    0x184d2a50u
#define TABLE_MAGIC      0x184d2a5eu
#define TABLE_END_MAGIC  0x8f92eab1u
#define TABLE_END        9u
#define TABLE_ENTRY      8u
#define LEVEL_FAST       2  /* zstd's fastest strategy: up to this one */
#define SHORT_MATCH      5  /* bytes: all of a call except its time often occurs before */
#define PLANES_MIN       16384u
#define TRIAL            8192u
#define CLEARLY_LESS     8u /* an eighth: then the result for a piece holds for the whole */
#define CALL             8u  /* bytes */

struct hodo_compressor {
	ZSTD_CCtx *context;
	ZSTD_CCtx *trial;
	uint8_t *out;
	size_t room;
	uint8_t *split; /* the bytes in planes */
	size_t split_room;
};

static ZSTD_CCtx *make_context(int level)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (!context)
		return NULL;
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
	if (level <= LEVEL_FAST)
		ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, SHORT_MATCH);
	return context;
}

struct hodo_compressor *hodo_compressor_new(int level)
{
	struct hodo_compressor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = make_context(level);
	c->trial = make_context(1);
	if (!c->context || !c->trial) {
		hodo_compressor_free(c);
		return NULL;
	}
	ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1);
	return c;
}

void hodo_compressor_free(struct hodo_compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	ZSTD_freeCCtx(c->trial);
	free(c->out);
	free(c->split);
	free(c);
}

/* Compressed size of a piece in planes; record 0: unchanged. SIZE_MAX: no memory. */
static size_t try_planes(struct hodo_compressor *c, const uint8_t *piece, uint32_t record)
{
	size_t n;

	if (record)
		hodo_planes_split(c->split, piece, TRIAL, record);
	n = ZSTD_compress2(c->trial, c->out, c->room, record ? c->split : piece, TRIAL);
	return ZSTD_isError(n) ? SIZE_MAX : n;
}

/*
 * The record size with which planes compress better; 0: they do not. A piece is tried with the size that its
 * bytes suggest, and with that of a call.
 */
static uint32_t choose_planes(struct hodo_compressor *c, const uint8_t *body, size_t len)
{
	const uint8_t *piece = body + (len - TRIAL) / 2;
	uint32_t best = 0;
	size_t least;

	if (len < PLANES_MIN)
		return 0;
	least = try_planes(c, piece, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t record = i == 0 ? CALL : hodo_planes_guess(piece, TRIAL);
		size_t n = record && record != best ? try_planes(c, piece, record) : SIZE_MAX;

		if (n < least - least / CLEARLY_LESS) {
			least = n;
			best = record;
		}
	}
	return best;
}

/* No byte may expand to more than HODO_FRAME_RATIO bytes: a skippable frame pads a smaller one. */
static size_t pad(uint8_t *out, size_t len, size_t size)
{
	size_t least = size / HODO_FRAME_RATIO + 1, padding;

	if (len >= least)
		return len;
	padding = least - len < SKIPPABLE_HEADER ? 0 : least - len - SKIPPABLE_HEADER;
	hodo_put_le32(out + len, PADDING_MAGIC);
	hodo_put_le32(out + len + 4, (uint32_t)padding);
	memset(out + len + SKIPPABLE_HEADER, 0, padding);
	return len + SKIPPABLE_HEADER + padding;
}

ssize_t hodo_compress(struct hodo_compressor *c, const void *head, size_t head_len, const void *body, size_t len,
		      const uint8_t **frame)
{
	size_t most = HODO_PLANES_MARK + ZSTD_compressBound(head_len + len) + (head_len + len) / HODO_FRAME_RATIO + 256;
	ZSTD_inBuffer first = { head, head_len, 0 }, second = { body, len, 0 };
	struct hodo_planes planes = { (uint32_t)head_len, 0 };
	ZSTD_outBuffer out = { NULL, 0, 0 };
	size_t left = 0;

	if (hodo_vec_reserve(c->out, c->room, most) < 0 || hodo_vec_reserve(c->split, c->split_room, len) < 0)
		return -ENOMEM;
	planes.record = choose_planes(c, body, len);
	out.dst = c->out;
	out.size = c->room;
	if (planes.record) {
		hodo_planes_write_mark(c->out, planes);
		out.pos = HODO_PLANES_MARK;
		hodo_planes_split(c->split, body, len, planes.record);
		second.src = c->split;
	}
	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(c->context, head_len + len);
	if (head_len)
		left = ZSTD_compressStream2(c->context, &out, &first, ZSTD_e_flush);
	if (!left)
		left = ZSTD_compressStream2(c->context, &out, &second, ZSTD_e_end);
	/* There is room for all of it: only memory can be missing. */
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
	hodo_put_le32(p, TABLE_MAGIC);
	hodo_put_le32(p + 4, (uint32_t)len);
	p += SKIPPABLE_HEADER;
	for (uint32_t i = 0; i < t->n; i++, p += TABLE_ENTRY) {
		hodo_put_le32(p, t->entries[i].bytes);
		hodo_put_le32(p + 4, t->entries[i].size);
	}
	hodo_put_le32(p, t->n);
	p[4] = 0; /* entries have no checksums; frames do */
	hodo_put_le32(p + 5, TABLE_END_MAGIC);
	return (ssize_t)(SKIPPABLE_HEADER + len);
}

void hodo_seek_table_free(struct hodo_seek_table *t)
{
	free(t->entries);
	*t = (struct hodo_seek_table){ 0 };
}
