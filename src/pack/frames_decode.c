/* SPDX-License-Identifier: MIT */
/* frames_decode.c - one frame, from the file to what it was made of. */
#include "frames_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <base/file.h>

#define PEEK_BYTES     1024u /* of the file, for what begins a frame */
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
	*pool = (struct hodo_frames_pool){ 0 };
}

/* Reads so many bytes of the frame as it is in the file. 0 or a negative errno. */
static int fetch(struct hodo_frames_pool *pool, int fd, const struct frame *frame, size_t bytes)
{
	ssize_t n;

	if (pool->in_room < bytes) {
		free(pool->in);
		pool->in = malloc(bytes);
		pool->in_room = pool->in ? bytes : 0;
		if (!pool->in)
			return -ENOMEM;
	}
	n = hodo_file_read_at(fd, pool->in, bytes, frame->at);
	if (n >= 0 && (size_t)n < bytes)
		memset(pool->in, 0, bytes); /* the file shrank: damaged */
	return n < 0 ? (int)n : 0;
}

int hodo_frames_decode(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to)
{
	int err = make_decoder(pool);

	if (!err)
		err = fetch(pool, fd, frame, frame->bytes);
	if (err)
		return err;
	return ZSTD_decompressDCtx(pool->decoder, to, frame->size, pool->in, frame->bytes) == frame->size;
}

int hodo_frames_peek(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to, size_t len)
{
	size_t bytes = frame->bytes < PEEK_BYTES ? frame->bytes : PEEK_BYTES;
	ZSTD_outBuffer out = { to, len, 0 };
	ZSTD_inBuffer in = { NULL, bytes, 0 };
	int err = make_decoder(pool);

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
