/* SPDX-License-Identifier: MIT */
/*
 * out_dir.h - makes the directory of a recording and moves an earlier one aside, without ever touching what
 * is not a recording.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <base/why.h>

/*
 * Makes the directory path and opens it. Moves an existing recording to PATH.old, and removes one at
 * PATH.old. The directory is locked (flock) as long as the descriptor is open.
 *
 * Returns the descriptor; -EEXIST if there is something that is not a recording, or a recording being written
 * (then nothing was touched); another negative errno if the directory cannot be made. On error, error holds a
 * line for the user.
 */
int hodo_out_dir_open(const char *path, struct hodo_why *why);

/*
 * The same, but what was moved or would be removed can still be brought back, until it is settled that the new
 * recording is one. To begin with, all is 0.
 */
struct hodo_out_aside {
	char path[PATH_MAX];
	char older[PATH_MAX]; /* where the one at PATH.old is now; "": there was none */
	bool moved;           /* PATH to PATH.old */
};
int hodo_out_dir_open_aside(const char *path, struct hodo_out_aside *aside, struct hodo_why *why);
void hodo_out_dir_settle(struct hodo_out_aside *aside);
/* Removes the new one, if it could be opened, and brings the others back. fd: of the new one, or a negative errno. */
void hodo_out_dir_restore(struct hodo_out_aside *aside, int fd);

/*
 * Removes a recording with all its files; fd is open on the directory path.
 * -EEXIST if it holds anything else; then nothing is removed.
 */
int hodo_out_dir_remove(int fd, const char *path);
/* hodo_out_dir_remove() for the one of that name in parent. */
int hodo_out_dir_remove_in(int parent, int fd, const char *name);

/* hodo_out_dir_remove() for a part or a snapshot of the recording dirfd. */
int hodo_out_dir_remove_at(int dirfd, const char *name);

/* Names of directories in it that are themselves recordings, and of a part being made. */
#define HODO_OUT_PART "part-"
void hodo_out_dir_part(char name[32], uint32_t number);
#define HODO_OUT_SNAPSHOT "snapshot-"
#define HODO_OUT_PART_NEW ".part.new"
/* The name of the one with the symbols of traced programs. */
#define HODO_OUT_SYMBOLS ".symbols"
/* The beginning of the metadata in all our folders. */
#define HODO_OUT_METADATA_HEAD "/* CTF 1.8 */\n/*@hodo "

/*
 * Makes a folder in dirfd: name, or NAME-2 and so on if that is taken. Its descriptor, or a negative errno;
 * made holds the last name tried.
 */
int hodo_out_dir_add(int dirfd, const char *name, char *made, size_t size);
/* Removes such a folder with the files of process folders. 0 or negative errno. */
int hodo_out_dir_drop(int dirfd, const char *name);
/* The name of a process's folder, or of the kernel's. */
void hodo_out_dir_folder(char *name, size_t size, const char *comm, uint32_t pid, bool kernel);

/* Whether a folder in the directory fd has metadata of ours, or with pieces one of its parts or snapshots has. */
bool hodo_out_dir_has_metadata(int fd, bool pieces);
/* Whether the directory fd is a recording: it has such metadata, and nothing else is in it. */
bool hodo_out_dir_is_recording(int fd);

/* Whether a file with this name holds packets. */
bool hodo_out_dir_is_stream(const char *name);
/* Whether a name is a part's or a snapshot's; a process may also have it. */
bool hodo_out_dir_is_piece(const char *name);
