/* SPDX-License-Identifier: MIT */
/*
 * compress.h - makes files of zstd frames, which frames.h and `zstd -d` read: docs/design/compressed.md.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HODO_COMPRESS_DEFAULT 1
#define HODO_COMPRESS_MAX     19

/* Makes frames for any number of files, in one thread. */
struct hodo_compressor;

/* NULL: no memory. level: 1 to HODO_COMPRESS_MAX. */
struct hodo_compressor *hodo_compressor_new(int level);
void hodo_compressor_free(struct hodo_compressor *c);

/*
 * Makes one frame of two pieces, together at most HODO_FRAME_MAX bytes; if the first, which may be empty, is
 * short, it can be read without the second. Returns its length, or a negative errno; it is at *frame until
 * the next one is made.
 */
ssize_t hodo_compress(struct hodo_compressor *c, const void *head, size_t head_len, const void *body, size_t len,
		      const uint8_t **frame);

/* The table of a file's frames at its end, for other readers. All zero: of an empty file. */
struct hodo_seek_table {
	struct hodo_seek_entry {
		uint32_t bytes, size;
	} *entries;
	uint32_t n;
};

int hodo_seek_table_add(struct hodo_seek_table *t, size_t bytes, size_t size);
/* The table as written to the file: its length, or -ENOMEM; the caller frees *table. */
ssize_t hodo_seek_table_make(const struct hodo_seek_table *t, uint8_t **table);
void hodo_seek_table_free(struct hodo_seek_table *t);
