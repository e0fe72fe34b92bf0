/* SPDX-License-Identifier: MIT */
/*
 * scope.h - local variables that own something, which is released at the end of their scope, however that is
 * left.
 *
 *	HODO_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
 *	if (fd < 0)
 *		return -errno;
 *
 * For other types, released through their address, such as a struct hodo_text, name the function:
 *
 *	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
 *
 * To pass ownership on, take it out of the variable first: hodo_take_fd(), or store NULL in it.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HODO_AUTO(function) __attribute__((cleanup(function)))
#define HODO_AUTO_CLOSE __attribute__((cleanup(hodo_scope_close)))       /* int: a descriptor, or negative */
#define HODO_AUTO_FREE __attribute__((cleanup(hodo_scope_free)))         /* a pointer, as of malloc() */
#define HODO_AUTO_FCLOSE __attribute__((cleanup(hodo_scope_fclose)))     /* FILE *, or NULL */
#define HODO_AUTO_CLOSEDIR __attribute__((cleanup(hodo_scope_closedir))) /* DIR *, or NULL */

static inline int hodo_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Negative: there is none. */
static inline void hodo_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

static inline void hodo_scope_close(const int *fd)
{
	hodo_close(*fd);
}

static inline void hodo_scope_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void hodo_scope_fclose(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

static inline void hodo_scope_closedir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
