/* SPDX-License-Identifier: MIT */
/* frames.c - a compressed file, all of it hostile: reading in pieces gives the same as reading at once. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/fuzz.h>
#include <pack/frames.h>

#define READ_MAX (1u << 20)
#define PIECE    4093u

static void check(struct hodo_frames *f, int fd, uint64_t bytes)
{
	uint64_t size = hodo_frames_size(f), n = size < READ_MAX ? size : READ_MAX;
	uint8_t *whole = malloc(n + 1), piece[PIECE];

	fuzz_check(size <= bytes * HODO_FRAME_RATIO + HODO_FRAME_MAX, "more than can be");
	fuzz_check(hodo_frames_read(f, fd, whole, n, 0) == (ssize_t)n, "not all of it is read");
	for (uint64_t at = 0; at < n; at += PIECE) {
		size_t len = n - at < PIECE ? (size_t)(n - at) : PIECE;

		if (at % 3 == 0)
			hodo_frames_rest(f);
		fuzz_check(hodo_frames_read(f, fd, piece, len, at) == (ssize_t)len, "a piece is not read");
		fuzz_check(memcmp(piece, whole + at, len) == 0, "a piece differs");
		fuzz_check(hodo_frames_data_at(f, at) >= at, "data in front of where it was asked for");
	}
	fuzz_check(hodo_frames_fault(f)->bytes <= bytes, "more faults than bytes");
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_frames_pool pool = { 0 };
	struct hodo_frames *f;
	char path[32];
	int fd = folder_memory(path, data, len);

	fuzz_check(hodo_frames_open(&f, &pool, fd, 0, len) == 0, "it cannot be opened");
	check(f, fd, len);
	hodo_frames_free(f);
	hodo_frames_pool_free(&pool);
	close(fd);
	return 0;
}
