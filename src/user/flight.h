/* SPDX-License-Identifier: MIT */
/*
 * flight.h - what the parts of a flight recorder without anybody else share. All under the control lock.
 *
 * A file is locked (flock) by its process as long as it is mapped: the mapping keeps the open file
 * description, and with it the lock, although no descriptor stays open. So a file that can be locked is a dead
 * process's, whatever its pid means by now and here. Where files cannot be locked, the pid has to do.
 */
#ifndef HODO_USER_FLIGHT_H
#define HODO_USER_FLIGHT_H

#include "user.h"

#define HODO_FLIGHT_PATH_MAX 4096

/* flight_want.c: what is wanted, if hodo_flight_wanted. */
struct hodo_flight_options;
struct hodo_flight_want {
	bool waiting;   /* for the first event that the program has */
	bool lazy;      /* not before the program has events */
	int bad;        /* negative errno: there can be none */
	uint32_t keep;  /* files of dead processes */
	uint64_t bytes; /* a CPU, 2^n */
	uint32_t patterns, patterns_len;
	uint8_t text[HODO_CONFIG_TEXT_MAX];
	char dir[HODO_FLIGHT_PATH_MAX], env[HODO_FLIGHT_PATH_MAX]; /* env: what the environment says, "" if nothing */
};
extern HODO_HIDDEN struct hodo_flight_want hodo_flight_want;
/* Options that were checked; 0 or negative errno. */
HODO_HIDDEN int hodo_flight_want_start(const struct hodo_flight_options *options);

/* flight_clock.c */
static inline struct hodo_flight *hodo_flight_of(uint8_t *shm)
{
	return (struct hodo_flight *)(shm + HODO_SHM_FLIGHT_HEAD);
}
HODO_HIDDEN void hodo_flight_clocks_begin(struct hodo_flight *f); /* notes the first ones */
HODO_HIDDEN void hodo_flight_note_clocks(struct hodo_flight *f);

/* flight_file.c: files, in paths of HODO_FLIGHT_PATH_MAX bytes. */
/* dir, made absolute by the working directory. 0 or negative errno. */
HODO_HIDDEN int hodo_flight_path_dir(char *path, const char *dir);
/*
 * Makes DIR/COMM-PID.flight, or -2 and so on, locked and with all its room. The descriptor, or a negative errno and
 * nothing is left.
 */
HODO_HIDDEN int hodo_flight_file_make(char *path, const char *dir, uint64_t bytes, bool *locked);
/* Likewise without room: DIR/COMM-PID.N.snapshot beside the flight recorder's file, from n on; its number in n. */
HODO_HIDDEN int hodo_flight_file_snapshot(char *path, const char *file, uint64_t bytes, uint32_t *n);
/* Removes files of dead processes, oldest first, until keep are left. Some at a time. */
HODO_HIDDEN void hodo_flight_file_prune(const char *dir, uint32_t keep);

#endif
