/* SPDX-License-Identifier: MIT */
/* frames_decode.c - decodes one frame of the file. */
#include "frames_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <base/file.h>
#include <base/vec.h>

#define PEEK_BYTES     1024u /* of the file, for the beginning of a frame */
#define WINDOW_LOG_MAX 24

static int make_decoder(struct hodo_frames_pool *pool)
{
	if (!pool->decoder) {
		pool->decoder = ZSTD_createDCtx();
		if (pool->decoder)
			ZSTD_DCtx_setParameter(pool->decoder, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	return pool->decoder ? 0 : -ENOMEM;
}

void hodo_frames_decoder_free(struct hodo_frames_pool *pool)
{
	ZSTD_freeDCtx(pool->decoder);
	free(pool->in);
	free(pool->split);
	*pool = (struct hodo_frames_pool){ 0 };
}

/* Reads that many bytes of the encoded frame from the file. 0 or a negative errno. */
static int fetch(struct hodo_frames_pool *pool, int fd, const struct frame *frame, size_t bytes)
{
	ssize_t n;

	if (hodo_vec_reserve(pool->in, pool->in_room, bytes) < 0)
		return -ENOMEM;
	n = hodo_file_read_at(fd, pool->in, bytes, frame->at);
	if (n >= 0 && (size_t)n < bytes)
		memset(pool->in, 0, bytes); /* the file shrank: damaged */
	return n < 0 ? (int)n : 0;
}

int hodo_frames_decode(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to)
{
	const struct hodo_planes *planes = &frame->planes;
	int err = make_decoder(pool);
	uint8_t *out = to;

	if (!err)
		err = fetch(pool, fd, frame, frame->bytes);
	if (!err && planes->record)
		err = hodo_vec_reserve(pool->split, pool->split_room, frame->size);
	if (err)
		return err;
	if (planes->record)
		out = pool->split;
	if (ZSTD_decompressDCtx(pool->decoder, out, frame->size, pool->in, frame->bytes) != frame->size)
		return 0;
	if (planes->record) {
		memcpy(to, out, planes->head);
		hodo_planes_join(to + planes->head, out + planes->head, frame->size - planes->head, planes->record);
	}
	return 1;
}

int hodo_frames_peek(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to, size_t len)
{
	size_t bytes = frame->bytes < PEEK_BYTES ? frame->bytes : PEEK_BYTES;
	ZSTD_outBuffer out = { to, len, 0 };
	ZSTD_inBuffer in = { NULL, bytes, 0 };
	int err = make_decoder(pool);

	if (frame->planes.record && len > frame->planes.head)
		return 0;
	if (!err)
		err = fetch(pool, fd, frame, bytes);
	if (err)
		return err;
	in.src = pool->in;
	ZSTD_DCtx_reset(pool->decoder, ZSTD_reset_session_only);
	while (out.pos < len && in.pos < in.size)
		if (ZSTD_isError(ZSTD_decompressStream(pool->decoder, &out, &in)))
			break;
	ZSTD_DCtx_reset(pool->decoder, ZSTD_reset_session_only);
	return out.pos == len;
}
