/* SPDX-License-Identifier: MIT */
/*
 * frames.h - a compressed file, a series of zstd frames, read as the bytes that it was made of.
 *
 * The file is hostile: what it holds decides how many bytes there are, within bounds, and never how much memory is
 * taken. A frame that is damaged reads as zeros. docs/design/compressed.md says what is in such a file.
 */
#ifndef HODO_PACK_FRAMES_H
#define HODO_PACK_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A frame that holds more is not read, and a file none of whose bytes may stand for more than so many. */
#define HODO_FRAME_MAX   (16u << 20)
#define HODO_FRAME_RATIO 1024u
/* What the names of such files end with. */
#define HODO_FRAMES_SUFFIX ".zst"

struct hodo_frames;

/* What reads frames, of any number of files: one thread's. All zero: as new. */
struct hodo_frames_pool {
	void *decoder;
	uint8_t *in; /* a frame as it is in the file */
	size_t in_room;
	uint8_t *split; /* what is in one, in planes */
	size_t split_room;
	struct hodo_frames *newest, *oldest; /* of those that keep a frame */
	uint64_t kept_bytes;
};

/* What is wrong with a file: the first such place in it, how many bytes of it cannot be used in all, and why. */
struct hodo_frames_fault {
	uint64_t at, bytes;
	const char *why; /* NULL: nothing is known to be wrong */
};

void hodo_frames_pool_free(struct hodo_frames_pool *pool);

/* Whether a name is a compressed file's; its length without the ending, or 0. */
size_t hodo_frames_name(const char *name);

/* Finds the frames in these bytes of the file. 0 or a negative errno. What is damaged is passed over. */
int hodo_frames_open(struct hodo_frames **frames, struct hodo_frames_pool *pool, int fd, uint64_t at, uint64_t bytes);
void hodo_frames_free(struct hodo_frames *f);
/* Gives back the memory that only reading on needs. */
void hodo_frames_rest(struct hodo_frames *f);

uint64_t hodo_frames_size(const struct hodo_frames *f);
const struct hodo_frames_fault *hodo_frames_fault(const struct hodo_frames *f);
/* Bytes from an offset: len, or fewer at the end alone; or a negative errno. fd: of the same file. */
ssize_t hodo_frames_read(struct hodo_frames *f, int fd, void *to, size_t len, uint64_t off);
/* Where there are bytes, at or behind off, that are not known to be damaged; the size if there are none. */
uint64_t hodo_frames_data_at(const struct hodo_frames *f, uint64_t off);

#endif
