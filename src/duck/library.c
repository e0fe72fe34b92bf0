/* SPDX-License-Identifier: MIT */
/* library.c - where DuckDB's library is, and its functions in it. */
#include "api.h"
#include "duck.h"

#include <base/file.h>
#include <base/scope.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "libduckdb.so"
#define OWN_PATH  "hodo/" FILE_NAME /* in our folder of libraries */

struct duck_api duck;

static const struct {
	const char *symbol;
	size_t at;
} functions[] = {
#define FUNCTION(result, name, parameters) { "duckdb_" #name, offsetof(struct duck_api, name) },
	DUCK_FUNCTIONS(FUNCTION)
};

/* dir/OWN_PATH, or the same in a folder of dir that is named after the machine. */
static void *open_below(const char *dir, bool deeper)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(dir);
	char path[PATH_MAX];
	void *library = NULL;

	if (snprintf(path, sizeof(path), "%s/" OWN_PATH, dir) < (int)sizeof(path) && access(path, R_OK) == 0)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (const char *name; !library && deeper && (name = hodo_dir_next(d));)
		if (strstr(name, "-linux-") && snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
			library = open_below(path, false);
	return library;
}

/* The one that is installed with this command, or lies in the folder in which that was built. */
static void *open_own(void)
{
	static const char *const beside[] = { "lib", "lib64" };
	char exe[PATH_MAX], path[PATH_MAX + 64];
	void *library = NULL;

	if (!hodo_file_own_dir(exe))
		return NULL;
	snprintf(path, sizeof(path), "%s/../duck/" FILE_NAME, exe);
	if (access(path, R_OK) == 0)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (unsigned i = 0; !library && i < sizeof(beside) / sizeof(*beside); i++) {
		snprintf(path, sizeof(path), "%s/../%s", exe, beside[i]);
		library = open_below(path, true);
	}
	return library;
}

static void *open_library(struct hodo_why *e)
{
	const char *given = getenv("HODO_DUCKDB");
	void *library;

	if (given && *given) {
		library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			hodo_why(e, 0, "HODO_DUCKDB=%s: cannot be loaded: %s: set it to the path of " FILE_NAME,
				 given, dlerror());
		return library;
	}
	library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = open_own();
	if (!library)
		hodo_why(e, 0, "DuckDB is not installed: set HODO_DUCKDB to the path of its " FILE_NAME ", or build hodo "
			 "where npm is");
	return library;
}

int hodo_duck_load(struct hodo_why *e)
{
	static bool loaded;
	const char *(*version)(void);
	void *library;

	if (loaded)
		return 0;
	library = open_library(e);
	if (!library)
		return -ENOENT;
	*(void **)&version = dlsym(library, "duckdb_library_version");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *symbol = dlsym(library, functions[i].symbol);

		if (!symbol)
			return hodo_why(e, -ENOSYS, "this " FILE_NAME " is DuckDB %s, and has no %s: set HODO_DUCKDB to "
					"that of DuckDB 1.4 or later", version ? version() : "without a version",
					functions[i].symbol);
		memcpy((char *)&duck + functions[i].at, &symbol, sizeof(symbol));
	}
	loaded = true;
	return 0;
}
