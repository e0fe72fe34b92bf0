/* SPDX-License-Identifier: MIT */
/*
 * spans.c - opens, calls and closes libraries of span_lib.c.
 *
 * Usage: spans [NAME=LIBRARY | NAME | NAME=]...
 *
 * These open NAME, call NAME_work() 100 times, close NAME. What was not opened is a part of the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define UNTRACED __attribute__((no_instrument_function))
#define OPEN_MAX 8

static struct library {
	char name[32];
	void *handle;
} libraries[OPEN_MAX];

UNTRACED static struct library *find(const char *name)
{
	for (int i = 0; i < OPEN_MAX; i++) {
		if (strcmp(libraries[i].name, name) == 0)
			return &libraries[i];
	}
	return NULL;
}

UNTRACED static int call(const char *name)
{
	struct library *l = find(name);
	char symbol[64];
	int (*work)(int);

	snprintf(symbol, sizeof(symbol), "%s_work", name);
	work = (int (*)(int))dlsym(l ? l->handle : RTLD_DEFAULT, symbol);
	for (int i = 0; work && i < 100; i++)
		work(i);
	return work ? 0 : 1;
}

UNTRACED static int change(const char *name, const char *path)
{
	struct library *l = find(*path ? "" : name);
	void *handle = l ? l->handle : NULL;

	if (!l)
		return 1;
	memset(l, 0, sizeof(*l));
	if (!*path)
		return dlclose(handle);
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return l->handle ? 0 : 1;
}

UNTRACED int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *path = strchr(argv[i], '=');

		if (path)
			*path++ = 0;
		if (path ? change(argv[i], path) : call(argv[i])) {
			fprintf(stderr, "spans: %s: %s\n", argv[i], dlerror());
			return 1;
		}
	}
	return 0;
}
