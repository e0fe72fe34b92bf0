/* SPDX-License-Identifier: MIT */
/*
 * host.c - opens and closes plugins while a thread traces: host CYCLES PLUGIN OTHER.
 * dlopen.py knows what the trace must have.
 */
#include <hodo/trace.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int stop;

static void *busy(void *arg)
{
	for (int i = 0; !stop; i++) {
		HODO_EVENT(host, busy, i);
		usleep(100);
	}
	return NULL;
}

static void *open_and_work(const char *path, int n)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_work") : NULL;

	if (!work) {
		fprintf(stderr, "host: %s\n", dlerror());
		exit(1);
	}
	work(n);
	return plugin;
}

int main(int argc, char **argv)
{
	int cycles = argc == 4 ? atoi(argv[1]) : 0;
	pthread_t thread;
	void *a, *b;

	if (argc != 4)
		return 2;
	pthread_create(&thread, NULL, busy, NULL);
	for (int i = 0; i < cycles; i++)
		dlclose(open_and_work(argv[2], i));
	HODO_EVENT(host, conflict);
	a = open_and_work(argv[2], 1000001);
	b = open_and_work(argv[3], 1000002); /* refused while the first one is open */
	dlclose(a);
	dlclose(b);
	HODO_EVENT(host, alone);
	dlclose(open_and_work(argv[3], 1000003)); /* alone: its own definition counts */
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
