/* SPDX-License-Identifier: MIT */
/*
 * frames_find.c - finds the frames of a file by their headers and those of their blocks (RFC 8878). It
 * ignores the table at the end of the file, which is for others: a file being written has none, and walking
 * needs no second check.
 */
#include "frames_impl.h"

#include <stdlib.h>
#include <string.h>

#include <base/file.h>
#include <base/vec.h>

#define MAGIC           0xfd2fb528u
#define SKIPPABLE       0x184d2a50u
#define SKIPPABLE_MASK  0xfffffff0u
#define HEADER_MAX      18u
#define BLOCK_HEADER    3u
#define BLOCK_RLE       1u
#define BLOCK_RESERVED  3u
#define CHECKSUM        4u
#define NO_SIZE         UINT64_MAX
#define WINDOW          4096u
#define PROVE_RATIO     64u

void hodo_frames_blame(struct hodo_frames *f, uint64_t at, uint64_t bytes, const char *why)
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

static uint64_t little_endian(const uint8_t *p, size_t len)
{
	uint64_t n = 0;

	while (len--)
		n = n << 8 | p[len];
	return n;
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
	found->size = size ? little_endian(p + len - size, size) + (size == 2 ? 256 : 0) : NO_SIZE;
	if (dictionary && little_endian(p + len - size - dictionary, dictionary))
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
		block = (uint32_t)little_endian(p, BLOCK_HEADER);
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
	magic = (uint32_t)little_endian(p, len);
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
	if (!to || hodo_frames_decode(w->f->pool, w->fd, &frame, to) <= 0)
		found->bytes = 0;
	free(to);
}

static struct found find_at(struct walk *w, uint64_t at)
{
	const uint8_t *p = bytes_at(w, at, 8);
	struct found found = { 0 };
	uint32_t magic = p ? (uint32_t)little_endian(p, 4) : 0;

	if (magic == MAGIC) {
		found = frame_at(w, at);
		prove(w, at, &found);
	}
	if ((magic & SKIPPABLE_MASK) == SKIPPABLE) {
		found.skippable = true;
		found.bytes = 8 + little_endian(p + 4, 4);
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
			hodo_frames_blame(f, at, found->bytes, found->why);
		return 0;
	}
	if (f->size + found->size > (at + found->bytes - w->begin) * HODO_FRAME_RATIO + HODO_FRAME_MAX) {
		hodo_frames_blame(f, at, w->end - at, "claims to hold more than 1,024 times its size");
		return 1;
	}
	frame.bytes = (uint32_t)found->bytes;
	frame.size = (uint32_t)found->size;
	f->size += found->size;
	return hodo_vec_push(f->frames, f->n, frame);
}

int hodo_frames_find(struct hodo_frames *f, int fd, uint64_t at, uint64_t bytes)
{
	struct walk w = { .f = f, .fd = fd, .begin = at, .end = at + bytes, .blocks_left = bytes,
			  .proof_left = bytes * PROVE_RATIO + HODO_FRAME_MAX };
	struct hodo_planes planes = { 0 }; /* of the frame at at */
	int err = 0;

	while (!err && at < w.end) {
		struct found found = find_at(&w, at);

		if (!found.bytes && !w.err) {
			uint64_t next = w.blocks_left ? search(&w, at) : w.end;

			hodo_frames_blame(f, at, next - at, next == w.end ? "is cut short" : "is damaged");
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
