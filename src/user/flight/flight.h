/* SPDX-License-Identifier: MIT */
/*
 * flight.h - what the parts of the in-process flight recorder share. All under the control lock.
 *
 * A process locks (flock) its file as long as the file is mapped: the mapping keeps the open file
 * description, and with it the lock, although no descriptor stays open. So a file that can be locked belongs
 * to a dead process, whatever its pid means here and now. Where files cannot be locked, the pid must do.
 */
#pragma once

#include <user/user.h>

/* flight.c; under the control lock, except for init (constructor) and start */
HODO_HIDDEN void hodo_flight_init(char *const *envp);
HODO_HIDDEN int hodo_flight_begin(enum hodo_start start); /* from the environment; -ENOTCONN: none is wanted */
HODO_HIDDEN int hodo_flight_copy(const char *why); /* a snapshot beside the file; its number or negative errno */
HODO_HIDDEN const char *hodo_flight_path(void);
HODO_HIDDEN void hodo_flight_clocks(void); /* notes the clocks; signal safe */
HODO_HIDDEN void hodo_flight_note_end(void);
extern HODO_HIDDEN bool hodo_flight_wanted; /* begin in this process and its fork children when possible */
HODO_HIDDEN void hodo_flight_objects(void); /* objects were loaded: their events may be the first */

#define HODO_FLIGHT_PATH_MAX 4096

/* flight_want.c: the options, if hodo_flight_wanted. */
struct hodo_flight_options;
struct hodo_flight_want {
	bool waiting;   /* for the program's first event */
	bool lazy;      /* not before the program has events */
	int bad;        /* negative errno: it is not possible */
	uint32_t keep;  /* files of dead processes */
	uint32_t clock; /* enum hodo_clock; 0: as the kernel has it */
	uint64_t bytes; /* per CPU, 2^n */
	uint32_t patterns, patterns_len;
	uint8_t text[HODO_CONFIG_TEXT_MAX];
	char dir[HODO_FLIGHT_PATH_MAX], env[HODO_FLIGHT_PATH_MAX]; /* env: from the environment, "" if none */
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
 * Makes DIR/COMM-PID.flight, or -2 and so on, locked and fully allocated. Returns the descriptor, or a
 * negative errno, and then leaves nothing.
 */
HODO_HIDDEN int hodo_flight_file_make(char *path, const char *dir, uint64_t bytes, bool *locked);
/*
 * Makes DIR/COMM-PID.N.snapshot, unlocked and unallocated, beside the flight recorder's file, from n on; n becomes
 * its number. Returns the descriptor, or a negative errno.
 */
HODO_HIDDEN int hodo_flight_file_snapshot(char *path, const char *file, uint64_t bytes, uint32_t *n);
/* Removes files of dead processes, oldest first, until keep are left; a limited number at a time. */
HODO_HIDDEN void hodo_flight_file_prune(const char *dir, uint32_t keep);
