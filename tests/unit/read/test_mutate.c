/* SPDX-License-Identifier: MIT */
/*
 * test_mutate.c - thousands of variants of sound recordings, with flipped bits,
 * changed bytes, shortened files and repeated parts. Each variant must be readable
 * to its end, and the walks over it must agree.
 */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <errno.h>

#include <lib/random.h>

#define VARIANTS 3000

static uint64_t seed = 0x9e3779b97f4a7c15ull;

struct file {
	const char *path;
	uint8_t *data;
	size_t len;
	bool damaged;
};

static size_t mutate(uint8_t *dst, const struct file *f)
{
	size_t len = f->len;

	memcpy(dst, f->data, len);
	if (xorshift(&seed) % 8 == 0)
		len = xorshift(&seed) % (len + 1);
	if (xorshift(&seed) % 16 == 0 && len > 64) {
		size_t from = xorshift(&seed) % (len - 32), to = xorshift(&seed) % (len - 32);

		memmove(dst + to, dst + from, 1 + xorshift(&seed) % 32);
	}
	for (unsigned n = xorshift(&seed) % 5; n > 0 && len > 0; n--) {
		size_t at = xorshift(&seed) % (xorshift(&seed) % 2 && len > 300 ? 300 : len);

		if (xorshift(&seed) % 2)
			dst[at] ^= (uint8_t)(1u << xorshift(&seed) % 8);
		else
			dst[at] = xorshift(&seed) % 2 ? 0xff : (uint8_t)xorshift(&seed);
	}
	return len;
}

static unsigned run(const char *top, struct file *files, unsigned nfiles)
{
	uint8_t *dst = malloc(1 << 20);
	unsigned opened = 0;

	assert_non_null(dst);
	for (unsigned i = 0; i < VARIANTS; i++) {
		struct file *f = &files[xorshift(&seed) % nfiles];
		struct hodo_read *r;

		folder_write(f->path, dst, mutate(dst, f));
		f->damaged = true;
		if (help_open_error(top) == 0) {
			r = help_open(top);
			help_walk(r);
			hodo_read_close(r);
			opened++;
		}
		/* Now and then a second file stays damaged. */
		for (unsigned k = 0; k < nfiles; k++) {
			if (!files[k].damaged || xorshift(&seed) % 4 == 0)
				continue;
			folder_write(files[k].path, files[k].data, files[k].len);
			files[k].damaged = false;
		}
	}
	free(dst);
	return opened;
}

TEST(test_all)
{
	static const char *const names[] = { "all/kvd-412/cpu0",      "all/kvd-412/cpu1",
					     "all/kvd-412/fallback",  "all/kvd-412/metadata",
					     "all/odd_name-500/cpu0", "all/odd_name-500/metadata" };
	struct file files[6] = { 0 };

	gen_all(folder_path("all"));
	for (unsigned i = 0; i < 6; i++) {
		files[i].path = strdup(folder_path(names[i]));
		files[i].data = folder_read(files[i].path, &files[i].len);
	}
	/* Damage to one of two processes leaves the other readable. */
	assert_true(run(folder_path("all"), files, 6) > VARIANTS * 9 / 10);
	for (unsigned i = 0; i < 6; i++) {
		free((char *)files[i].path);
		free(files[i].data);
	}
}

TEST(test_random)
{
	static const char *const names[] = { "rand/rand-77/cpu0", "rand/rand-77/metadata" };
	struct file files[2] = { 0 };

	gen_random(folder_path("rand"), 5);
	for (unsigned i = 0; i < 2; i++) {
		files[i].path = strdup(folder_path(names[i]));
		files[i].data = folder_read(files[i].path, &files[i].len);
	}
	assert_true(run(folder_path("rand"), files, 2) > VARIANTS / 2);
	for (unsigned i = 0; i < 2; i++) {
		free((char *)files[i].path);
		free(files[i].data);
	}
}
