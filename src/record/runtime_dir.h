/* SPDX-License-Identifier: MIT */
/*
 * runtime_dir.h - where our sockets are: $XDG_RUNTIME_DIR/hodo, else /tmp/hodo-UID.
 */
#ifndef HODO_RECORD_RUNTIME_DIR_H
#define HODO_RECORD_RUNTIME_DIR_H

#include <stddef.h>

/*
 * Makes the directory if need be, sees to it that it is ours alone (a
 * directory, no link, our user's, mode 0700) and writes its path to path.
 * room: bytes that names below it will need, slash and NUL included, of what
 * a socket's address can hold.
 * 0 or negative errno: -EPERM if what is there belongs to another or is open to others.
 */
int hodo_runtime_dir(char *path, size_t size, size_t room);

#endif
