/* SPDX-License-Identifier: MIT */
/* maps.h - what a process has mapped: /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/text.h>

struct hodo_proc_map {
	uint64_t start, end, offset, dev, inode;
	bool readable, writable, executable;
	/* As the kernel has it: "", a path (a newline in it is \012, and a file without a name has " (deleted)" behind
	 * it), [heap], or anything in brackets. Until the maps are closed. */
	const char *name;
};

struct hodo_proc_maps {
	struct hodo_text text; /* whole, until the first is taken */
	char *next;
};

/* Reads all of them at once. 0 or a negative errno; a process that has ended has none. Close it in any case. */
int hodo_proc_maps_open(struct hodo_proc_maps *m, pid_t pid);
/* Takes the next one; false: there are no more. What the kernel would not write is left out. */
bool hodo_proc_maps_next(struct hodo_proc_maps *m, struct hodo_proc_map *map);
void hodo_proc_maps_close(struct hodo_proc_maps *m);
