/* SPDX-License-Identifier: MIT */
#include "leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <record/record.h>

struct numbers {
	uint32_t *number;
	uint32_t n;
};

/* The numbers of the parts in a directory, in order. */
static int list(struct numbers *list, int fd)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	int err = 0;

	for (const char *name; !err && (name = hodo_dir_next(d));) {
		uint32_t number = 0;
		char expected[32];

		if (strncmp(name, HODO_OUT_PART, strlen(HODO_OUT_PART)) == 0)
			number = (uint32_t)strtoul(name + strlen(HODO_OUT_PART), NULL, 10);
		hodo_out_dir_part(expected, number);
		if (number && strcmp(name, expected) == 0)
			err = hodo_vec_push(list->number, list->n, number);
	}
	hodo_order_sort(list->number, list->n, hodo_order_u32);
	return err;
}

int hodo_leftover_take(struct hodo_spool *s, const char *recording, int level,
		       void (*prepare)(void *arg, const char *part), void *arg, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(AT_FDCWD, recording);
	struct numbers parts = { 0 };
	char where[160], name[32], dir[PATH_MAX];
	int err, taken = 0;

	/* Its recorder holds a lock, also while nobody sends. */
	if (fd < 0 || !hodo_spool_noted(s, where, sizeof(where)) || flock(fd, LOCK_SH | LOCK_NB) < 0)
		return 0;
	err = list(&parts, fd);
	for (uint32_t i = 0; i < parts.n && !err; i++) {
		hodo_out_dir_part(name, parts.number[i]);
		if (snprintf(dir, sizeof(dir), "%s/%s", recording, name) >= (int)sizeof(dir)) {
			err = -ENAMETOOLONG;
			break;
		}
		if (prepare)
			prepare(arg, dir);
		err = hodo_spool_add_part(s, dir, where, parts.number[i], level);
		if (err) {
			hodo_why_errno(why, err, "%s cannot be packed to be sent", dir);
			break;
		}
		hodo_out_dir_remove_at(fd, name);
		taken++;
	}
	free(parts.number);
	if (taken)
		rmdir(recording); /* unless there is something else */
	return err ? err : taken;
}
