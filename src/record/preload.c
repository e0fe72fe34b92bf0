/* SPDX-License-Identifier: MIT */
/*
 * preload.c - see preload.h.
 *
 * The loader of a 32-bit program reports any library of LD_PRELOAD that it cannot load, on the program's standard
 * error. Only a library that it can load keeps it quiet, under the same text: so the text has $LIB in it, for which
 * glibc's loader puts another name in 32-bit programs than in 64-bit ones (cmake/HodoPreload.cmake makes the folder). A
 * system that cannot run 32-bit programs, and a libhodo that has no such folder beside it, get the plain path.
 */
#define _GNU_SOURCE
#include "preload.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <base/scope.h>

#define LOADER_32 "/lib/ld-linux.so.2"
#define FOLDER "hodo-preload/$LIB/"

/* Asks our own loader, which is that of 64-bit programs: it opens the file and, as that is not loaded, leaves it. */
static bool is_found(const char *path)
{
	void *loaded;

	dlerror();
	loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded)
		dlclose(loaded);
	return !dlerror();
}

/* The path of len bytes with the folder in it; false: there is none, or no memory. */
static bool add_path(struct hodo_text *text, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	HODO_AUTO_FREE char *found = NULL;

	if (asprintf(&found, "%.*s" FOLDER "%.*s", (int)dir, path, (int)(len - dir), path + dir) < 0) {
		found = NULL;
		return false;
	}
	/* Also by its plain name: for loaders that put nothing for $LIB. */
	if (access(found, R_OK) != 0 || !is_found(found))
		return false;
	hodo_text_printf(text, "%s%s", text->len ? ":" : "", found);
	return true;
}

void hodo_preload_text(struct hodo_text *text, const char *library)
{
	bool arranged = access(LOADER_32, F_OK) == 0;

	for (const char *path = library, *end; arranged && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		arranged = add_path(text, path, (size_t)(end - path));
	}
	if (arranged)
		return;
	text->len = 0;
	hodo_text_add(text, library);
}
