/* SPDX-License-Identifier: MIT */
/*
 * host.c - a program with events that opens libraries with events, in all possible ways.
 *
 * Usage: host TIMES [HOW LIBRARY]...
 * HOW: open, new (in a new namespace), or the same and closed again: close, renew
 *
 * Each is called TIMES times; before, between and after these calls the program writes TIMES events. With SWITCH in the
 * environment another thread meanwhile switches their events, so that their code changes while they come and go.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/control.h>
#include <hodo/trace.h>

extern __typeof__(hodo_enable) hodo_enable __attribute__((weak));
extern __typeof__(hodo_disable) hodo_disable __attribute__((weak));
static atomic_bool over;

__attribute__((noinline)) void host_step(int n)
{
	HODO_EVENT(host, step, n);
}

static int use(const char *how, const char *library, int times)
{
	void *handle = strstr(how, "new") ? dlmopen(LM_ID_NEWLM, library, RTLD_NOW | RTLD_LOCAL) :
						 dlopen(library, RTLD_NOW | RTLD_LOCAL);
	int (*work)(int) = handle ? (int (*)(int))dlsym(handle, "plugin_work") : NULL;

	if (!work) {
		fprintf(stderr, "host: %s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < times; i++)
		work(i);
	return strcmp(how, "close") == 0 || strcmp(how, "renew") == 0 ? dlclose(handle) : 0;
}

static void *switch_events(void *unused)
{
	(void)unused;
	while (!over && &hodo_disable) {
		hodo_disable("plugin:*");
		hodo_enable("plugin:*");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 0, bad = 0;
	pthread_t thread;

	if (getenv("SWITCH"))
		pthread_create(&thread, NULL, switch_events, NULL);
	for (int i = 0; i < times; i++)
		host_step(i);
	for (int at = 2; at + 1 < argc; at += 2) {
		bad |= use(argv[at], argv[at + 1], times);
		for (int i = 0; i < times; i++)
			host_step(i);
	}
	over = true;
	if (getenv("SWITCH"))
		pthread_join(thread, NULL);
	return bad;
}
