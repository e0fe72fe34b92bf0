/* SPDX-License-Identifier: MIT */
#include "deflate.h"

#include <errno.h>

#define OUT_BYTES (64u << 10)

static int deflate_some(struct hodo_deflate *d, const void *data, size_t len, int flush)
{
	int got;

	d->z.next_in = (Bytef *)(uintptr_t)data;
	d->z.avail_in = (uInt)len;
	do {
		char *to = hodo_text_room(d->out, OUT_BYTES);

		if (!to)
			return d->out->error;
		d->z.next_out = (Bytef *)to;
		d->z.avail_out = OUT_BYTES;
		got = deflate(&d->z, flush);
		d->out->len += OUT_BYTES - d->z.avail_out;
	} while (d->z.avail_out == 0 && got == Z_OK);
	return got == Z_STREAM_ERROR ? -EINVAL : 0;
}

static int take(void *deflate, const void *data, size_t len)
{
	return deflate_some(deflate, data, len, Z_NO_FLUSH);
}

void hodo_deflate_start(struct hodo_deflate *d, struct hodo_text *out, int level, bool gzip)
{
	*d = (struct hodo_deflate){ .in = HODO_TEXT_TO(take, d), .out = out };
	if (deflateInit2(&d->z, level, Z_DEFLATED, gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		d->in.error = -ENOMEM;
}

int hodo_deflate_end(struct hodo_deflate *d)
{
	int err = hodo_text_flush(&d->in);

	if (!err)
		err = deflate_some(d, NULL, 0, Z_FINISH);
	deflateEnd(&d->z);
	hodo_text_free(&d->in);
	return err;
}
