/* SPDX-License-Identifier: MIT */
/*
 * frames.h - reads a compressed file, a series of zstd frames, as the original bytes.
 *
 * The file is hostile: its contents decide how many bytes there are, within bounds, but never how much memory
 * is used. A damaged frame reads as zeros. docs/design/compressed.md describes such files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Larger frames are not read, nor files that expand by more than the ratio. */
#define HODO_FRAME_MAX   (16u << 20)
#define HODO_FRAME_RATIO 1024u
/* The suffix of such files' names. */
#define HODO_FRAMES_SUFFIX ".zst"

struct hodo_frames;

/* Reads frames of any number of files, in one thread. Initially all zero. */
struct hodo_frames_pool {
	void *decoder;
	uint8_t *in; /* a frame as it is in the file */
	size_t in_room;
	uint8_t *split; /* the contents of one, in planes */
	size_t split_room;
	struct hodo_frames *newest, *oldest; /* among those that keep a frame */
	uint64_t kept_bytes;
};

/* What is wrong with a file: the first bad place, how many bytes are unusable in total, and why. */
struct hodo_frames_fault {
	uint64_t at, bytes;
	const char *why; /* NULL: nothing is known to be wrong */
};

void hodo_frames_pool_free(struct hodo_frames_pool *pool);

/* If a name is a compressed file's, its length without the suffix, else 0. */
size_t hodo_frames_name(const char *name);

/* Finds the frames in these bytes of the file. 0 or a negative errno. Skips damaged parts. */
int hodo_frames_open(struct hodo_frames **frames, struct hodo_frames_pool *pool, int fd, uint64_t at, uint64_t bytes);
void hodo_frames_free(struct hodo_frames *f);
/* Frees the memory that only further reading needs. */
void hodo_frames_rest(struct hodo_frames *f);

uint64_t hodo_frames_size(const struct hodo_frames *f);
const struct hodo_frames_fault *hodo_frames_fault(const struct hodo_frames *f);
/* Reads len bytes from an offset, fewer only at the end; or a negative errno. fd: of the same file. */
ssize_t hodo_frames_read(struct hodo_frames *f, int fd, void *to, size_t len, uint64_t off);
/* The next offset, from off on, not known to be damaged; the size if there is none. */
uint64_t hodo_frames_data_at(const struct hodo_frames *f, uint64_t off);
