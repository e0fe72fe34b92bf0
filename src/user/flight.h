/* SPDX-License-Identifier: MIT */
/*
 * flight.h - the files of a flight recorder without anybody else: their names, their room, and which of them are
 * of processes that have ended. All under the control lock.
 *
 * A file is locked (flock) by its process as long as it is mapped: the mapping keeps the open file
 * description, and with it the lock, although no descriptor stays open. So a file that can be locked is a dead
 * process's, whatever its pid means by now and here. Where files cannot be locked, the pid has to do.
 */
#ifndef HODO_USER_FLIGHT_H
#define HODO_USER_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user.h"

#define HODO_FLIGHT_PATH_MAX 4096

/* A path that is put together piece by piece; too long a one is remembered. */
struct hodo_flight_path {
	size_t len;
	bool cut;
	char s[HODO_FLIGHT_PATH_MAX];
};
HODO_HIDDEN void hodo_flight_path_add(struct hodo_flight_path *p, const char *text);
HODO_HIDDEN void hodo_flight_path_number(struct hodo_flight_path *p, uint64_t n);
/* dir, made absolute by the working directory. 0 or negative errno. */
HODO_HIDDEN int hodo_flight_path_dir(struct hodo_flight_path *p, const char *dir);

/*
 * Makes DIR/COMM-PID.flight, or -2 and so on, locked and with all its room. The descriptor, or a negative errno and
 * nothing is left. path: DIR; becomes the file's.
 */
HODO_HIDDEN int hodo_flight_file_make(struct hodo_flight_path *path, uint64_t bytes, bool *locked);

/* Likewise without room: DIR/COMM-PID.N.snapshot beside the flight recorder's file, from n on; its number in n. */
HODO_HIDDEN int hodo_flight_file_snapshot(struct hodo_flight_path *path, uint64_t bytes, uint32_t *n);

/* Removes files of dead processes, oldest first, until keep are left. Some at a time. */
HODO_HIDDEN void hodo_flight_file_prune(const char *dir, uint32_t keep);

/* 0, or the negative errno that a file of so many bytes would meet; it must not raise SIGXFSZ. */
HODO_HIDDEN int hodo_flight_file_limit(uint64_t bytes);

#endif
