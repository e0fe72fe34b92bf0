/* SPDX-License-Identifier: MIT */
#include "frames_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/search.h>

#define KEPT_MAX_BYTES (256ull << 20) /* of all files of a pool */
#define PEEK_MAX       128u           /* of a frame's beginning */

size_t hodo_frames_name(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(HODO_FRAMES_SUFFIX) - 1;

	return len > suffix && strcmp(name + len - suffix, HODO_FRAMES_SUFFIX) == 0 ? len - suffix : 0;
}

/* ------------------------------------------------------------------------- the pool */

static void unlink_kept(struct hodo_frames *f)
{
	struct hodo_frames_pool *pool = f->pool;

	*(f->newer ? &f->newer->older : &pool->newest) = f->older;
	*(f->older ? &f->older->newer : &pool->oldest) = f->newer;
	f->newer = f->older = NULL;
}

static void link_kept(struct hodo_frames *f)
{
	struct hodo_frames_pool *pool = f->pool;

	f->older = pool->newest;
	*(pool->newest ? &pool->newest->newer : &pool->oldest) = f;
	pool->newest = f;
}

void hodo_frames_rest(struct hodo_frames *f)
{
	if (!f || !f->kept)
		return;
	unlink_kept(f);
	f->pool->kept_bytes -= f->kept_room;
	free(f->kept);
	f->kept = NULL;
	f->kept_room = 0;
	f->kept_of = UINT32_MAX;
}

/* Makes room to keep a frame, dropping what others keep. */
static int make_room(struct hodo_frames *f, size_t size)
{
	struct hodo_frames_pool *pool = f->pool;

	f->kept_of = UINT32_MAX;
	if (f->kept && f->kept_room >= size) {
		unlink_kept(f);
		link_kept(f);
		return 0;
	}
	hodo_frames_rest(f);
	while (pool->oldest && pool->kept_bytes + size > KEPT_MAX_BYTES)
		hodo_frames_rest(pool->oldest);
	f->kept = malloc(size);
	if (!f->kept)
		return -ENOMEM;
	f->kept_room = size;
	pool->kept_bytes += size;
	link_kept(f);
	return 0;
}

void hodo_frames_pool_free(struct hodo_frames_pool *pool)
{
	while (pool->oldest)
		hodo_frames_rest(pool->oldest);
	hodo_frames_decoder_free(pool);
}

/* ------------------------------------------------------------------------- the bytes */

int hodo_frames_open(struct hodo_frames **frames, struct hodo_frames_pool *pool, int fd, uint64_t at, uint64_t bytes)
{
	struct hodo_frames *f = calloc(1, sizeof(*f));
	int err = f ? 0 : -ENOMEM;

	*frames = f;
	if (f) {
		f->pool = pool;
		f->kept_of = UINT32_MAX;
		err = hodo_frames_find(f, fd, at, bytes);
	}
	if (err) {
		hodo_frames_free(f);
		*frames = NULL;
	}
	return err;
}

void hodo_frames_free(struct hodo_frames *f)
{
	if (!f)
		return;
	hodo_frames_rest(f);
	free(f->frames);
	free(f);
}

uint64_t hodo_frames_size(const struct hodo_frames *f)
{
	return f->size;
}

const struct hodo_frames_fault *hodo_frames_fault(const struct hodo_frames *f)
{
	return &f->fault;
}

/* Decodes a whole frame. A damaged one gives zeros. */
static int decode(struct hodo_frames *f, int fd, struct frame *frame, uint8_t *to)
{
	uint64_t mark = frame->planes.record ? HODO_PLANES_MARK : 0;
	int got = frame->damaged ? 0 : hodo_frames_decode(f->pool, fd, frame, to);

	if (got)
		return got < 0 ? got : 0;
	if (!frame->damaged)
		hodo_frames_blame(f, frame->at - mark, frame->bytes + mark, "is damaged");
	frame->damaged = true;
	memset(to, 0, frame->size);
	return 0;
}

/* off must be inside one of them. */
static uint32_t frame_of(const struct hodo_frames *f, uint64_t off)
{
	uint32_t last = f->last;

	if (off >= f->frames[last].off && off - f->frames[last].off < f->frames[last].size)
		return last;
	return hodo_search(i, f->n, f->frames[i].off > off) - 1;
}

/* Reads some of the bytes, from one frame. How many, or a negative errno. */
static ssize_t read_some(struct hodo_frames *f, int fd, uint8_t *to, size_t len, uint64_t off)
{
	uint32_t i = frame_of(f, off);
	struct frame *frame = &f->frames[i];
	size_t from = (size_t)(off - frame->off);
	int got = 0;

	f->last = i;
	if (len > frame->size - from)
		len = frame->size - from;
	if (f->kept_of != i) {
		if (from == 0 && len == frame->size)
			got = decode(f, fd, frame, to);
		else if (from == 0 && len <= PEEK_MAX && !frame->damaged)
			got = hodo_frames_peek(f->pool, fd, frame, to, len);
		if (got || (from == 0 && len == frame->size))
			return got < 0 ? got : (ssize_t)len;
		got = make_room(f, frame->size);
		if (!got)
			got = decode(f, fd, frame, f->kept);
		if (got)
			return got;
		f->kept_of = i;
	}
	memcpy(to, f->kept + from, len);
	return (ssize_t)len;
}

ssize_t hodo_frames_read(struct hodo_frames *f, int fd, void *to, size_t len, uint64_t off)
{
	size_t done = 0;

	if (off >= f->size)
		return 0;
	if (len > f->size - off)
		len = (size_t)(f->size - off);
	while (done < len) {
		ssize_t n = read_some(f, fd, (uint8_t *)to + done, len - done, off + done);

		if (n < 0)
			return n;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

uint64_t hodo_frames_data_at(const struct hodo_frames *f, uint64_t off)
{
	if (off >= f->size)
		return f->size;
	for (uint32_t i = frame_of(f, off); i < f->n && f->frames[i].damaged; i++)
		off = f->frames[i].off + f->frames[i].size;
	return off;
}
