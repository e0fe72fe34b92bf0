/* SPDX-License-Identifier: MIT */
/*
 * frames_impl.h - frames_find.c finds frames, frames_decode.c decompresses one, frames.c reads their
 * contents.
 */
#pragma once

#include <stdbool.h>

#include "frames.h"
#include "planes.h"

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

/* Fills in frames, their number, size and fault. 0 or a negative errno. */
int hodo_frames_find(struct hodo_frames *f, int fd, uint64_t at, uint64_t bytes);
/* Notes unusable bytes of the file. */
void hodo_frames_blame(struct hodo_frames *f, uint64_t at, uint64_t bytes, const char *why);

/* Decodes a whole frame: size bytes. 1; 0: damaged; or a negative errno. */
int hodo_frames_decode(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to);
/*
 * Decodes only the frame's beginning, a packet's header, which the recorder puts into a separate block. 1; 0:
 * not possible; or a negative errno.
 */
int hodo_frames_peek(struct hodo_frames_pool *pool, int fd, const struct frame *frame, uint8_t *to, size_t len);
void hodo_frames_decoder_free(struct hodo_frames_pool *pool);
