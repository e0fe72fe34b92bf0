/* SPDX-License-Identifier: MIT */
/*
 * preload.c - see preload.h.
 *
 * The loader of a 32-bit program reports each library of LD_PRELOAD that it cannot load on the program's
 * standard error. Only a loadable library under the same text avoids that: so the text contains $LIB, which
 * glibc's loader replaces by different names in 32-bit and 64-bit programs (cmake/HodoPreload.cmake makes the
 * folder). A system that cannot run 32-bit programs, and a libhodo without such a folder beside it, get the
 * plain path.
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

/* Asks our own loader, that of 64-bit programs: it opens the file but does not load it. */
static bool is_found(const char *path)
{
	void *loaded;

	dlerror();
	loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded)
		dlclose(loaded);
	return !dlerror();
}

/* Adds the path of len bytes with the folder in it; false: no folder, or no memory. */
static bool add_path(struct hodo_text *text, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	HODO_AUTO_FREE char *found = NULL;

	if (asprintf(&found, "%.*s" FOLDER "%.*s", (int)dir, path, (int)(len - dir), path + dir) < 0) {
		found = NULL;
		return false;
	}
	/* Also with its plain name, for loaders that do not expand $LIB. */
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
