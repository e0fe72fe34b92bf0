/* SPDX-License-Identifier: MIT */
/* library_copies.h - copies of libhodo in the root directories of programs that a recorded one starts there. */
#ifndef HODO_CLI_RECORD_LIBRARY_COPIES_H
#define HODO_CLI_RECORD_LIBRARY_COPIES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <record/record.h>

struct hodo_attach_copy;

struct hodo_copies {
	const char *library; /* what LD_PRELOAD has outside; stays the caller's */
	struct hodo_reporter reporter;
	struct hodo_attach_copy *list;
	uint32_t n;
};

/* hodo_recorder_config.copy; arg: a struct hodo_copies. */
int hodo_copies_make(void *arg, pid_t pid, char *paths, size_t size);
/* Removes them; but where programs go on that may load them once more, it says so. */
void hodo_copies_end(struct hodo_copies *c);

#endif
