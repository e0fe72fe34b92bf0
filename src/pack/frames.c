/* SPDX-License-Identifier: MIT */
/*
 * frames.c - see frames.h. Finds the frames of a file by their headers and those of their blocks (RFC 8878). It
 * ignores the table at the end of the file, which is for others: a file being written has none, and walking
 * needs no second check.
 */
#include "frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <base/file.h>
#include <base/vec.h>
#include <core/search.h>

#include "le.h"
#include "planes.h"

#define KEPT_MAX_BYTES  (256ull << 20) /* of all files of a pool */
#define PEEK_MAX        128u           /* of a frame's beginning */
#define PEEK_BYTES      1024u          /* of the file, for the beginning of a frame */
#define WINDOW_LOG_MAX  24
#define MAGIC           0xfd2fb528u
#define SKIPPABLE       0x184d2a50u
#define SKIPPABLE_MASK  0xfffffff0u
#define BLOCK_HEADER    3u
#define BLOCK_RLE       1u
#define BLOCK_RESERVED  3u
#define CHECKSUM        4u
#define NO_SIZE         UINT64_MAX
#define WINDOW          4096u
#define PROVE_RATIO     64u

struct frame {
	uint64_t at;    /* in the file */
	uint64_t off;   /* of its first byte in the original */
	uint32_t bytes; /* in the file */
	uint32_t size;
	struct hodo_planes planes; /* the order of its contents */
	bool damaged; /* found when it was read */
};

struct hodo_frames {
	struct hodo_frames_pool *pool;
	struct frame *frames;
	uint32_t n;
	uint32_t last; /* the one that was read last */
	uint64_t size;
	struct hodo_frames_fault fault;
	/* One decompressed frame. */
	uint8_t *kept;
	size_t kept_room;
	uint32_t kept_of;
	struct hodo_frames *newer, *older; /* among those that keep one */
};

size_t hodo_frames_name(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(HODO_FRAMES_SUFFIX) - 1;

	return len > suffix && strcmp(name + len - suffix, HODO_FRAMES_SUFFIX) == 0 ? len - suffix : 0;
}

/* ------------------------------------------------------------------------- one frame */

static int make_decoder(struct hodo_frames_pool *pool)
{
	if (!pool->decoder) {
		pool->decoder = ZSTD_createDCtx();
		if (pool->decoder)
			ZSTD_DCtx_setParameter(pool->decoder, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	return pool->decoder ? 0 : -ENOMEM;
}

static void decoder_free(struct hodo_frames_pool *pool)
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

/* Decodes a whole frame: size bytes. 1; 0: damaged; or a negative errno. */
static int decode_frame(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to)
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

/*
 * Decodes only the frame's beginning, a packet's header, which the recorder puts into a separate block. 1; 0:
 * not possible; or a negative errno.
 */
static int peek(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to, size_t len)
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

/* ------------------------------------------------------------------------- finding */

/* Notes unusable bytes of the file. */
static void blame(struct hodo_frames *f, uint64_t at, uint64_t bytes, const char *why)
{
	if (!f->fault.why) {
		f->fault.why = why;
		f->fault.at = at;
	}
	f->fault.bytes += bytes;
}

struct walk {
	struct hodo_frames *f;
	int fd;
	uint64_t begin, end; /* in the file */
	uint8_t window[WINDOW];
	uint64_t window_at;
	size_t window_len;
	uint64_t blocks_left; /* a sound file has at most a third as many as bytes */
	uint64_t proof_left;  /* bytes that may still be decompressed as proof */
	int err;
};

/* What is at some place. */
struct found {
	struct hodo_planes planes; /* if it is a mark */
	uint64_t bytes; /* its size in the file; 0: nothing complete */
	uint64_t size;  /* decompressed size; NO_SIZE: not given */
	bool skippable;
	const char *why; /* why it cannot be used */
};

/* The file's bytes, at most WINDOW; NULL: there are not as many, or they cannot be read. */
static const uint8_t *bytes_at(struct walk *w, uint64_t at, size_t len)
{
	if (at > w->end || w->end - at < len)
		return NULL;
	if (at < w->window_at || at + len > w->window_at + w->window_len) {
		uint64_t left = w->end - at;
		ssize_t n = hodo_file_read_at(w->fd, w->window, left < WINDOW ? left : WINDOW, at);

		w->window_at = at;
		w->window_len = n < 0 ? 0 : (size_t)n;
		if (n < 0)
			w->err = (int)n;
	}
	return len <= w->window_len ? w->window + (at - w->window_at) : NULL;
}

/* Length of a frame's header; 0: not valid. size: the frame's claimed contents. */
static size_t frame_header(struct walk *w, uint64_t at, struct found *found, bool *checksum)
{
	static const uint8_t dictionary_bytes[] = { 0, 1, 2, 4 }, size_bytes[] = { 0, 2, 4, 8 };
	const uint8_t *p = bytes_at(w, at, 5);
	size_t window, dictionary, size, len;
	uint8_t flags;

	if (!p)
		return 0;
	flags = p[4];
	window = flags & 0x20 ? 0 : 1;
	dictionary = dictionary_bytes[flags & 3];
	size = flags >> 6 || window ? size_bytes[flags >> 6] : 1;
	len = 5 + window + dictionary + size;
	p = bytes_at(w, at, len);
	if (!p || flags & 0x08)
		return 0;
	found->size = size ? hodo_get_le(p + len - size, size) + (size == 2 ? 256 : 0) : NO_SIZE;
	if (dictionary && hodo_get_le(p + len - size - dictionary, dictionary))
		found->why = "needs a dictionary";
	*checksum = flags & 4;
	return len;
}

static struct found frame_at(struct walk *w, uint64_t at)
{
	struct found found = { 0 };
	bool checksum = false, last = false;
	size_t header = frame_header(w, at, &found, &checksum);
	uint64_t to = at + header;

	while (header && !last && w->blocks_left) {
		const uint8_t *p = bytes_at(w, to, BLOCK_HEADER);
		uint32_t block;

		if (!p)
			return found;
		block = (uint32_t)hodo_get_le(p, BLOCK_HEADER);
		last = block & 1;
		if ((block >> 1 & 3) == BLOCK_RESERVED)
			return found;
		to += BLOCK_HEADER + ((block >> 1 & 3) == BLOCK_RLE ? 1 : block >> 3);
		w->blocks_left--;
	}
	to += checksum ? CHECKSUM : 0;
	if (last && to <= w->end)
		found.bytes = to - at;
	return found;
}

/* Whether the frame is followed by the end of the file, or another frame, as far as there are bytes. */
static bool is_followed(struct walk *w, uint64_t at)
{
	uint64_t left = w->end - at;
	size_t len = left < 4 ? (size_t)left : 4;
	const uint8_t *p = len ? bytes_at(w, at, len) : NULL;
	uint32_t mask = (uint32_t)(0xffffffffull >> 8 * (4 - len)), magic;

	if (!p)
		return true;
	magic = (uint32_t)hodo_get_le(p, len);
	return magic == (MAGIC & mask) || (magic & SKIPPABLE_MASK) == (SKIPPABLE & SKIPPABLE_MASK & mask);
}

/*
 * If a block's length is damaged, the blocks lead anywhere, even past complete frames. So a frame with
 * nothing recognised after it must prove itself, as long as that is in proportion to the file.
 */
static void prove(struct walk *w, uint64_t at, struct found *found)
{
	struct frame frame = { .at = at, .bytes = (uint32_t)found->bytes, .size = (uint32_t)found->size };
	uint8_t *to;

	if (!found->bytes || found->bytes > 2ull * HODO_FRAME_MAX || found->size > HODO_FRAME_MAX ||
	    found->size > w->proof_left || is_followed(w, at + found->bytes))
		return;
	w->proof_left -= found->size;
	to = malloc(frame.size + 1);
	if (!to || decode_frame(w->f->pool, w->fd, &frame, to) <= 0)
		found->bytes = 0;
	free(to);
}

static struct found find_at(struct walk *w, uint64_t at)
{
	const uint8_t *p = bytes_at(w, at, 8);
	struct found found = { 0 };
	uint32_t magic = p ? (uint32_t)hodo_get_le(p, 4) : 0;

	if (magic == MAGIC) {
		found = frame_at(w, at);
		prove(w, at, &found);
	}
	if ((magic & SKIPPABLE_MASK) == SKIPPABLE) {
		found.skippable = true;
		found.bytes = 8 + hodo_get_le(p + 4, 4);
		if (found.bytes > w->end - at)
			found.bytes = 0;
		p = found.bytes == HODO_PLANES_MARK ? bytes_at(w, at, HODO_PLANES_MARK) : NULL;
		if (p)
			hodo_planes_read_mark(p, &found.planes);
	}
	return found;
}

/* Where the found frame begins: with its mark, if it has one after `from`. */
static uint64_t with_mark(struct walk *w, uint64_t from, uint64_t at)
{
	const uint8_t *p = at - from >= HODO_PLANES_MARK ? bytes_at(w, at - HODO_PLANES_MARK, HODO_PLANES_MARK) : NULL;
	struct hodo_planes planes;

	return p && hodo_planes_read_mark(p, &planes) ? at - HODO_PLANES_MARK : at;
}

/* The next place after `at` where a frame may begin, or the end. */
static uint64_t search(struct walk *w, uint64_t at)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint64_t from = at + 1;

	for (at++; at + sizeof(magic) <= w->end;) {
		const uint8_t *p = bytes_at(w, at, sizeof(magic)), *hit;
		size_t len;

		if (!p)
			break;
		len = w->window_len - (size_t)(at - w->window_at);
		hit = memmem(p, len, magic, sizeof(magic));
		if (hit)
			return with_mark(w, from, at + (uint64_t)(hit - p));
		at += len - (sizeof(magic) - 1);
	}
	return w->end;
}

/* Takes a complete frame. 0, -ENOMEM, or 1: neither it nor any later one is used. */
static int take(struct walk *w, uint64_t at, struct found *found, const struct hodo_planes *planes)
{
	struct hodo_frames *f = w->f;
	struct frame frame = { .at = at, .off = f->size, .planes = *planes };

	if (!found->why && found->size == NO_SIZE)
		found->why = "does not say how much is in it";
	if (!found->why && (found->size > HODO_FRAME_MAX || found->bytes > 2ull * HODO_FRAME_MAX))
		found->why = "holds more than 16 MiB";
	if (!found->why && planes->record && planes->head > found->size)
		found->why = "holds less than its header says";
	if (found->why || found->size == 0) {
		if (found->why)
			blame(f, at, found->bytes, found->why);
		return 0;
	}
	if (f->size + found->size > (at + found->bytes - w->begin) * HODO_FRAME_RATIO + HODO_FRAME_MAX) {
		blame(f, at, w->end - at, "claims to hold more than 1,024 times its size");
		return 1;
	}
	frame.bytes = (uint32_t)found->bytes;
	frame.size = (uint32_t)found->size;
	f->size += found->size;
	return hodo_vec_push(f->frames, f->n, frame);
}

/* Fills in frames, their number, size and fault. 0 or a negative errno. */
static int find_frames(struct hodo_frames *f, int fd, uint64_t at, uint64_t bytes)
{
	struct walk w = { .f = f, .fd = fd, .begin = at, .end = at + bytes, .blocks_left = bytes,
			  .proof_left = bytes * PROVE_RATIO + HODO_FRAME_MAX };
	struct hodo_planes planes = { 0 }; /* of the frame at at */
	int err = 0;

	while (!err && at < w.end) {
		struct found found = find_at(&w, at);

		if (!found.bytes && !w.err) {
			uint64_t next = w.blocks_left ? search(&w, at) : w.end;

			blame(f, at, next - at, next == w.end ? "is cut short" : "is damaged");
			found.bytes = next - at;
		} else if (found.bytes && !found.skippable) {
			err = take(&w, at, &found, &planes);
		}
		planes = found.planes;
		at += found.bytes;
		err = err ? err : w.err;
	}
	return err < 0 ? err : 0;
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
	decoder_free(pool);
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
		err = find_frames(f, fd, at, bytes);
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
	int got = frame->damaged ? 0 : decode_frame(f->pool, fd, frame, to);

	if (got)
		return got < 0 ? got : 0;
	if (!frame->damaged)
		blame(f, frame->at - mark, frame->bytes + mark, "is damaged");
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
			got = peek(f->pool, fd, frame, to, len);
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
