/* SPDX-License-Identifier: MIT */
/*
 * fuzz_replay.c - runs a libFuzzer function without libFuzzer: over each file
 * of the corpus unchanged, cut short at each of some lengths, and with bytes
 * changed, always in the same way. Fails if it finds no file.
 *
 * Usage: NAME [-1] PATH...     files, or folders searched to the bottom; -1:
 * unchanged only, to look at one finding.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define FILE_MAX_BYTES (16u << 20)
#define VARIATIONS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t seed;

/* In a block of exactly this size, so that a sanitizer or valgrind sees reads past the end. */
static void run_copy(const uint8_t *data, size_t len, unsigned int flips)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy) {
		fprintf(stderr, "fuzz_replay: out of memory\n");
		exit(1);
	}
	memcpy(copy, data, len);
	for (unsigned int i = 0; i < flips && len > 0; i++) {
		uint64_t r = xorshift(&seed);

		/* Half the changes in the first 256 bytes, where headers are. */
		size_t at = (r >> 32) % ((r & 1) && len > 256 ? 256 : len);

		copy[at] = (r & 2) ? (uint8_t)(r >> 8) : (uint8_t)(copy[at] ^ 1u << (r >> 8 & 7));
	}
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static int run_file(const char *path, int as_is)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(FILE_MAX_BYTES);
	size_t len;

	if (!f || !data) {
		fprintf(stderr, "fuzz_replay: %s: %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		free(data);
		return -1;
	}
	len = fread(data, 1, FILE_MAX_BYTES, f);
	if (ferror(f) || !feof(f)) {
		fprintf(stderr, "fuzz_replay: %s: cannot be read, or is over %u bytes\n", path, FILE_MAX_BYTES);
		fclose(f);
		free(data);
		return -1;
	}
	fclose(f);
	seed = 0x9e3779b97f4a7c15ull ^ len;
	run_copy(data, len, 0);
	for (unsigned int i = 0; !as_is && i < VARIATIONS; i++) {
		run_copy(data, len * i / VARIATIONS, 0);
		run_copy(data, len, 1 + i % 8);
	}
	free(data);
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(int argc, char **argv)
{
	int as_is = argc > 1 && strcmp(argv[1], "-1") == 0;
	unsigned int files = 0, bad = 0;
	FTSENT *entry;
	FTS *tree;

	if (argc < 2 + as_is) {
		fprintf(stderr, "usage: %s [-1] PATH...\n", argv[0]);
		return 2;
	}
	tree = fts_open(argv + 1 + as_is, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!tree) {
		fprintf(stderr, "fuzz_replay: %s\n", strerror(errno));
		return 1;
	}
	while ((entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F) {
			files++;
			bad += run_file(entry->fts_path, as_is) < 0;
		} else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR) {
			fprintf(stderr, "fuzz_replay: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
			bad++;
		}
	}
	fts_close(tree);
	printf("%u files\n", files);
	return files == 0 || bad != 0;
}
