/* SPDX-License-Identifier: MIT */
/*
 * out_dir.h - the directory of a recording: made, and an earlier one moved
 * aside, without ever touching what is not a recording.
 */
#ifndef HODO_RECORD_OUT_DIR_H
#define HODO_RECORD_OUT_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes the directory path and opens it. A recording that is already there is
 * moved to PATH.old, and one that stands at PATH.old is removed. The directory
 * is locked (flock) as long as the descriptor is open.
 *
 * Returns the descriptor; -EEXIST if something stands in the way that is not
 * a recording, or a recording that is being written (nothing was touched
 * then); another negative errno if the directory cannot be made. On error,
 * error holds a line for the user.
 */
int hodo_out_dir_open(const char *path, char *error, size_t size);

/*
 * Removes a recording with all its files; fd is open on the directory path.
 * -EEXIST if it holds anything else, and then nothing is removed.
 */
int hodo_out_dir_remove(int fd, const char *path);

/* Removes a part or a snapshot of the recording dirfd, likewise. */
int hodo_out_dir_remove_at(int dirfd, const char *name);

/* Names of directories in it that are recordings of their own, and of a part that is being made. */
#define HODO_OUT_PART "part-"
#define HODO_OUT_SNAPSHOT "snapshot-"
#define HODO_OUT_PART_NEW ".part.new"
/* And of the one with the symbols of traced programs. */
#define HODO_OUT_SYMBOLS ".symbols"
/* What the metadata of all our folders begins with. */
#define HODO_OUT_METADATA_HEAD "/* CTF 1.8 */\n/*@hodo "

/*
 * Makes a folder in dirfd: name, or NAME-2 and so on where that is taken. Its descriptor, or a negative errno; made
 * holds the name that was tried last.
 */
int hodo_out_dir_add(int dirfd, const char *name, char *made, size_t size);
/* Removes one with the files that are in process folders. 0 or negative errno. */
int hodo_out_dir_drop(int dirfd, const char *name);
/* The name of a process's folder, or of the kernel's. */
void hodo_out_dir_folder(char *name, size_t size, const char *comm, uint32_t pid, bool kernel);

/* Whether a file of this name holds packets. */
bool hodo_out_dir_is_stream(const char *name);
/* Whether a name is a part's or a snapshot's; a process may have it as well. */
bool hodo_out_dir_is_piece(const char *name);

#endif
